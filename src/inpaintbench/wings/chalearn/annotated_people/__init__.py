"""Readers of pose annotations in the files that their makers published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.wings.chalearn.annotated_people.base import PoseReader

POSE_READERS: Catalogue[type[PoseReader]] = Catalogue(
    "pose reader",
    {
        "bbc_pose": "inpaintbench.wings.chalearn.annotated_people.matlab:BbcPoseReader",
        "coco": "inpaintbench.wings.chalearn.annotated_people.plain:CocoReader",
        "flic": "inpaintbench.wings.chalearn.annotated_people.matlab:FlicReader",
        "lsp": "inpaintbench.wings.chalearn.annotated_people.matlab:LspReader",
        "mpii": "inpaintbench.wings.chalearn.annotated_people.matlab:MpiiReader",
        "synchronic": "inpaintbench.wings.chalearn.annotated_people.plain:SynchronicReader",
    },
    base="inpaintbench.wings.chalearn.annotated_people.base:PoseReader",
)
