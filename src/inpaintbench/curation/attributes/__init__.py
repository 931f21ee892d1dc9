"""Attribute leaves, measured on clips: one number or word per clip, to which thresholds are applied later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.curation.attributes.base import AttributeLeaf

ATTRIBUTES: Catalogue[type[AttributeLeaf]] = Catalogue(
    "attribute",
    {
        "camera_motion": "inpaintbench.curation.attributes.camera_motion:CameraMotion",
        "camera_motion_per_frame": "inpaintbench.curation.attributes.camera_motion:CameraMotionPerFrame",
        "camera_motion_per_second": "inpaintbench.curation.attributes.camera_motion:CameraMotionPerSecond",
        "camera_motion_confidence": "inpaintbench.curation.attributes.camera_motion:CameraMotionConfidence",
        "camera_speed": "inpaintbench.curation.attributes.scene_motion:CameraSpeed",
        "residual_motion": "inpaintbench.curation.attributes.scene_motion:ResidualMotion",
        "residual_confidence": "inpaintbench.curation.attributes.scene_motion:ResidualConfidence",
        "moving_object_fraction": "inpaintbench.curation.attributes.scene_motion:MovingObjectFraction",
        "water_suggestion": "inpaintbench.curation.attributes.scene_motion:WaterSuggestion",
        "cut_score": "inpaintbench.curation.attributes.changes:CutScore",
        "transition_fraction": "inpaintbench.curation.attributes.changes:TransitionFraction",
        "still_fraction": "inpaintbench.curation.attributes.changes:StillFraction",
        "blank_fraction": "inpaintbench.curation.attributes.levels:BlankFraction",
        "foreground_fraction": "inpaintbench.curation.attributes.detections:ForegroundFraction",
        "scenery_object_fraction": "inpaintbench.curation.attributes.detections:SceneryObjectFraction",
        "text_overlay_fraction": "inpaintbench.curation.attributes.detections:TextOverlayFraction",
        "static_overlay": "inpaintbench.curation.attributes.overlays:StaticOverlay",
        "letterbox": "inpaintbench.curation.attributes.overlays:Letterbox",
        "sharpness": "inpaintbench.curation.attributes.levels:Sharpness",
        "exposure": "inpaintbench.curation.attributes.levels:Exposure",
        "clipped_fraction": "inpaintbench.curation.attributes.levels:ClippedFraction",
        "noise": "inpaintbench.curation.attributes.levels:Noise",
        "flicker": "inpaintbench.curation.attributes.levels:Flicker",
        "perceptual_hash": "inpaintbench.curation.attributes.hashes:PerceptualHash",
        "copy_hashes": "inpaintbench.curation.attributes.hashes:CopyHashes",
        "warp_valid_share": "inpaintbench.curation.attributes.changes:WarpValidShare",
    },
    base="inpaintbench.curation.attributes.base:AttributeLeaf",
)
