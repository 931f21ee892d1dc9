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
    },
    base="inpaintbench.masks.axes.base:Axis",
)
