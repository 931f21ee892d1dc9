"""Catalogue of axes: properties in which the items of one clip differ, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.masks.axes.base import Axis

AXES: Catalogue[type[Axis]] = Catalogue(
    "axis",
    {
        "size": "inpaintbench.masks.axes.presets:Size",
        "pose": "inpaintbench.masks.axes.presets:Pose",
        "displacement": "inpaintbench.masks.axes.presets:Displacement",
        "camera_path": "inpaintbench.masks.axes.camera_path:CameraPath",
        "speed": "inpaintbench.masks.axes.speed:Speed",
        "hole_duration": "inpaintbench.masks.axes.hole_duration:HoleDuration",
        "whole_frames": "inpaintbench.masks.axes.whole_frames:WholeFrames",
        "known_noise": "inpaintbench.masks.axes.known_noise:KnownNoise",
        "known_compression": "inpaintbench.masks.axes.known_compression:KnownCompression",
        "known_blur": "inpaintbench.masks.axes.known_blur:KnownBlur",
        "resolution": "inpaintbench.masks.axes.resolution:Resolution",
        "mask_error": "inpaintbench.masks.axes.mask_error:MaskError",
    },
    base="inpaintbench.masks.axes.base:Axis",
)
