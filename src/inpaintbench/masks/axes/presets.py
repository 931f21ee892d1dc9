"""Axes of DEVIL's blobs: one attribute of the preset flipped, the others and the random numbers kept."""

from __future__ import annotations

from typing import Any

from inpaintbench.masks.axes.base import Axis, known_level
from inpaintbench.masks.measure import labels_of


def paired_blob(preset: str, **drawn: Any) -> dict[str, Any]:
    """Parameters of ``devil_blobs`` with which all presets take the same random numbers; others say what is ``drawn``."""
    return {"preset": preset, "paired": True, **drawn}


class PresetAxis(Axis):
    """One attribute of a blob's preset, low or high; what it draws is rendered by the generator ``devil_blobs``.

    Blobs that are drawn ``paired`` with the same seed and stream take the same random numbers in every preset, and these
    are such that all eight blobs have the labels of their presets by measurement.
    """

    levels = ("low", "high")
    changes = "preset"

    def flipped(self, preset: str, level: str) -> str:
        """The preset that has ``level`` on this axis, and the levels of ``preset`` on the other two.

        Raises:
            UnknownNameError: no such preset or level.
        """
        labels = labels_of(preset) | {self.name: known_level(self, level)}
        return "_".join(f"{name}-{label}" for name, label in labels.items())


class Size(PresetAxis):
    """Size of the blob: about 2 % and about 10 % of the frame."""

    name = "size"
    version = "1"
    property = "size of the hole"


class Pose(PresetAxis):
    """Change of the blob's shape over time: stiff and limber."""

    name = "pose"
    version = "1"
    property = "change of the hole's shape"


class Displacement(PresetAxis):
    """How far the blob wanders: below and above 14 % of the width in 90 frames."""

    name = "displacement"
    version = "1"
    property = "displacement of the hole"
