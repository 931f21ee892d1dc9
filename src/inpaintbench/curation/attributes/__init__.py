"""What is measured on a clip: one number or word per clip, to which thresholds are applied later."""

from inpaintbench.catalogue import Catalogue

ATTRIBUTES = Catalogue(
    "attribute",
    {
        "camera_motion": "inpaintbench.curation.attributes.camera_motion:CameraMotion",
        "camera_motion_per_frame": "inpaintbench.curation.attributes.camera_motion_per_frame:CameraMotionPerFrame",
        "cut_score": "inpaintbench.curation.attributes.cut_score:CutScore",
    },
)
