"""Readers of pose annotations in the files that their makers published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.curation.poses.base import PoseReader

POSE_READERS: Catalogue[type[PoseReader]] = Catalogue(
    "pose reader",
    {
        "bbc_pose": "inpaintbench.curation.poses.bbc_pose:BbcPoseReader",
        "coco": "inpaintbench.curation.poses.coco:CocoReader",
        "flic": "inpaintbench.curation.poses.flic:FlicReader",
        "lsp": "inpaintbench.curation.poses.lsp:LspReader",
        "mpii": "inpaintbench.curation.poses.mpii:MpiiReader",
        "synchronic": "inpaintbench.curation.poses.synchronic:SynchronicReader",
    },
    base="inpaintbench.curation.poses.base:PoseReader",
)
