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
        "camera_path": "inpaintbench.masks.axes.clips:CameraPath",
        "speed": "inpaintbench.masks.axes.clips:Speed",
        "hole_duration": "inpaintbench.masks.axes.spoiling:HoleDuration",
        "whole_frames": "inpaintbench.masks.axes.spoiling:WholeFrames",
        "known_noise": "inpaintbench.masks.axes.spoiling:KnownNoise",
        "known_compression": "inpaintbench.masks.axes.spoiling:KnownCompression",
        "known_blur": "inpaintbench.masks.axes.spoiling:KnownBlur",
        "resolution": "inpaintbench.masks.axes.clips:Resolution",
        "mask_error": "inpaintbench.masks.axes.spoiling:MaskError",
    },
    base="inpaintbench.masks.axes.base:Axis",
)
