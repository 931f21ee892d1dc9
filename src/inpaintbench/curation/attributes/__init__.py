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
        "camera_motion_per_frame": "inpaintbench.curation.attributes.camera_motion_per_frame:CameraMotionPerFrame",
        "camera_motion_per_second": "inpaintbench.curation.attributes.camera_motion_per_second:CameraMotionPerSecond",
        "camera_motion_confidence": "inpaintbench.curation.attributes.camera_motion_confidence:CameraMotionConfidence",
        "camera_speed": "inpaintbench.curation.attributes.camera_speed:CameraSpeed",
        "residual_motion": "inpaintbench.curation.attributes.residual_motion:ResidualMotion",
        "residual_confidence": "inpaintbench.curation.attributes.residual_confidence:ResidualConfidence",
        "moving_object_fraction": "inpaintbench.curation.attributes.moving_object_fraction:MovingObjectFraction",
        "water_suggestion": "inpaintbench.curation.attributes.water_suggestion:WaterSuggestion",
        "cut_score": "inpaintbench.curation.attributes.cut_score:CutScore",
        "transition_fraction": "inpaintbench.curation.attributes.transition_fraction:TransitionFraction",
        "still_fraction": "inpaintbench.curation.attributes.still_fraction:StillFraction",
        "blank_fraction": "inpaintbench.curation.attributes.blank_fraction:BlankFraction",
        "foreground_fraction": "inpaintbench.curation.attributes.foreground_fraction:ForegroundFraction",
        "scenery_object_fraction": "inpaintbench.curation.attributes.scenery_object_fraction:SceneryObjectFraction",
        "text_overlay_fraction": "inpaintbench.curation.attributes.text_overlay_fraction:TextOverlayFraction",
        "static_overlay": "inpaintbench.curation.attributes.static_overlay:StaticOverlay",
        "letterbox": "inpaintbench.curation.attributes.letterbox:Letterbox",
        "sharpness": "inpaintbench.curation.attributes.sharpness:Sharpness",
        "exposure": "inpaintbench.curation.attributes.exposure:Exposure",
        "clipped_fraction": "inpaintbench.curation.attributes.clipped_fraction:ClippedFraction",
        "noise": "inpaintbench.curation.attributes.noise:Noise",
        "flicker": "inpaintbench.curation.attributes.flicker:Flicker",
        "perceptual_hash": "inpaintbench.curation.attributes.perceptual_hash:PerceptualHash",
        "copy_hashes": "inpaintbench.curation.attributes.copy_hashes:CopyHashes",
        "warp_valid_share": "inpaintbench.curation.attributes.warp_valid_share:WarpValidShare",
    },
    base="inpaintbench.curation.attributes.base:AttributeLeaf",
)
