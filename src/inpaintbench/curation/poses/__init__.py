"""Readers of pose annotations in the files that their makers published."""

from inpaintbench.catalogue import Catalogue

POSE_READERS = Catalogue(
    "pose reader",
    {
        "bbc_pose": "inpaintbench.curation.poses.bbc_pose:BbcPoseReader",
        "coco": "inpaintbench.curation.poses.coco:CocoReader",
        "flic": "inpaintbench.curation.poses.flic:FlicReader",
        "lsp": "inpaintbench.curation.poses.lsp:LspReader",
        "mpii": "inpaintbench.curation.poses.mpii:MpiiReader",
        "synchronic": "inpaintbench.curation.poses.synchronic:SynchronicReader",
    },
)
