"""The eight presets of DEVIL's blobs: every combination of low and high size, pose change and displacement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError

# (width, height) in pixels that the presets' lengths refer to.
CANVAS = (1920, 1080)

Range = tuple[float, float]


@dataclass(frozen=True)
class BlobPreset:
    """Parameters of one kind of blob: ranges are (lowest, highest), lengths in pixels of the canvas, speeds per frame."""

    control_points: tuple[int, int]
    head_speed: Range
    """Distance between control points of the first shape."""
    head_acceleration: Range
    brush_width: tuple[int, int]
    start_gap: int
    """Least distance of the first shape's control points from every edge of the canvas."""
    acceleration_probability: float
    """Probability of a random acceleration, per control point and frame."""
    acceleration_limit: float
    centroid_distance: float | None
    """Distance from the centroid beyond which control points are pulled back; None = never."""
    centroid_pull: float
    """Acceleration per pixel beyond ``centroid_distance``."""
    start_speed: Range = (0, 3)
    kick_speed: Range = (1, 1)
    """Size of the rare acceleration common to all control points."""

    def require_room(self, canvas: tuple[int, int]) -> None:
        """Raise ``InputError`` if no point of a canvas (width, height) is ``start_gap`` away from every edge."""
        if min(canvas) <= 2 * self.start_gap:
            raise InputError(
                f"a canvas of {canvas[0]} x {canvas[1]} has no room for a blob that starts {self.start_gap} px from every edge, "
                f"both sides must be above {2 * self.start_gap}"
            )


_SMALL_STIFF = BlobPreset(
    control_points=(10, 22),
    head_speed=(10, 35),
    head_acceleration=(0, 50),
    brush_width=(75, 150),
    start_gap=400,
    acceleration_probability=0.05,
    acceleration_limit=0.05,
    centroid_distance=300,
    centroid_pull=1.0,
)
_SMALL_LIMBER = BlobPreset(
    control_points=(10, 22),
    head_speed=(10, 25),
    head_acceleration=(0, 50),
    brush_width=(50, 125),
    start_gap=400,
    acceleration_probability=0.8,
    acceleration_limit=1.0,
    centroid_distance=150,
    centroid_pull=1.0,
)
_LARGE_STIFF = BlobPreset(
    control_points=(7, 13),
    head_speed=(50, 80),
    head_acceleration=(0, 70),
    brush_width=(205, 375),
    start_gap=300,
    acceleration_probability=0.05,
    acceleration_limit=0.5,
    centroid_distance=None,
    centroid_pull=1.0,
)
_LARGE_LIMBER = BlobPreset(
    control_points=(7, 13),
    head_speed=(50, 70),
    head_acceleration=(0, 60),
    brush_width=(150, 300),
    start_gap=300,
    acceleration_probability=0.8,
    acceleration_limit=1.5,
    centroid_distance=300,
    centroid_pull=0.75,
)


def _fast(preset: BlobPreset, *, start_speed: Range) -> BlobPreset:
    return replace(preset, start_speed=start_speed, kick_speed=(1, 3))


# Name -> parameters, in the order of the published preset list (low before high; size, pose, displacement).
PRESETS: Mapping[str, BlobPreset] = {
    "size-low_pose-low_displacement-low": _SMALL_STIFF,
    "size-low_pose-low_displacement-high": _fast(_SMALL_STIFF, start_speed=(5, 8)),
    "size-low_pose-high_displacement-low": _SMALL_LIMBER,
    "size-low_pose-high_displacement-high": _fast(_SMALL_LIMBER, start_speed=(9, 15)),
    "size-high_pose-low_displacement-low": _LARGE_STIFF,
    "size-high_pose-low_displacement-high": _fast(_LARGE_STIFF, start_speed=(5, 8)),
    "size-high_pose-high_displacement-low": _LARGE_LIMBER,
    "size-high_pose-high_displacement-high": _fast(_LARGE_LIMBER, start_speed=(9, 15)),
}


def find_preset(name: str) -> BlobPreset:
    """Look up the preset ``name``.

    Raises:
        UnknownNameError: not one of ``PRESETS``; the text suggests the nearest name.
    """
    if name not in PRESETS:
        raise UnknownNameError(unknown_name("blob preset", name, PRESETS))
    return PRESETS[name]
