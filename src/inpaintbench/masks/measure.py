"""Measurements of hole tracks: size, motion and change of shape, compared with the labels of presets.

The definitions reproduce the published table from the published masks: DEVIL (CVPR 2022), eight mask presets at 832x480 over
90 frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import regions
from inpaintbench.masks.blob_motion import CANVAS, find_preset
from inpaintbench.types import Hole

# Distance in time of two holes whose shapes are compared.
POSE_LAG_FRAMES = 10

Interval = tuple[float, float]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MaskMeasurements:
    """Measurements of one hole track; ``None`` where undefined, with the reason in ``reasons``."""

    frames: int
    hole_fraction: float
    """Mean over frames of the share of hole pixels, 0..1."""
    centroid_speed_pixels_per_frame: float | None
    """Mean distance between the centroids of neighbouring frames."""
    centroid_displacement_pixels: float | None
    """Largest distance of a centroid from the first one."""
    pose_change: float | None
    """1 - intersection over union of the holes 10 frames apart, centroids aligned; mean over frames 0, 10, 20 ...; 0..1."""
    union_coverage: float
    """Share of pixels that are missing in at least one frame, 0..1."""
    empty_frames: int
    """Number of frames without hole pixels; the motion is measured over the others."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Name of an undefined measurement -> reason."""


class Intervals(NamedTuple):
    """Ranges of 90 % of the published masks of one preset, 5th to 95th percentile."""

    hole_fraction: Interval
    centroid_speed_pixels_per_frame: Interval
    centroid_displacement_pixels: Interval


# (width, height) that the pixel figures of `EXPECTED_INTERVALS` are for.
REFERENCE_SIZE = (832, 480)
REFERENCE_FRAMES = 90

# Preset -> intervals over the first 40 published masks at 832x480, 90 frames.
EXPECTED_INTERVALS: Mapping[str, Intervals] = {
    "size-low_pose-low_displacement-low": Intervals((0.013, 0.031), (0.0, 1.04), (0, 93)),
    "size-low_pose-low_displacement-high": Intervals((0.013, 0.031), (1.97, 3.36), (173, 284)),
    "size-low_pose-high_displacement-low": Intervals((0.016, 0.035), (0.53, 1.31), (15, 107)),
    "size-low_pose-high_displacement-high": Intervals((0.017, 0.032), (3.71, 5.78), (167, 450)),
    "size-high_pose-low_displacement-low": Intervals((0.065, 0.146), (0.01, 0.99), (1, 86)),
    "size-high_pose-low_displacement-high": Intervals((0.063, 0.142), (1.62, 2.87), (118, 253)),
    "size-high_pose-high_displacement-low": Intervals((0.069, 0.143), (0.79, 1.69), (35, 118)),
    "size-high_pose-high_displacement-high": Intervals((0.064, 0.130), (2.85, 5.14), (141, 408)),
}

# Hole fraction; the intervals of the low presets end at 0.035, those of the high ones begin at 0.063.
SIZE_THRESHOLD = 0.047
# Pose change; 95 % of the first 40 published masks of every low preset are below 0.122, of every high preset above 0.124.
POSE_THRESHOLD = 0.123
# At the reference size and length; the boundary between the intervals of the low and the high presets.
DISPLACEMENT_THRESHOLD_PIXELS = 118

_REASONS = {
    "centroid_speed_pixels_per_frame": "no two neighbouring frames have a hole",
    "centroid_displacement_pixels": "fewer than two frames have a hole",
    "pose_change": f"no two compared frames, {POSE_LAG_FRAMES} apart, have a hole",
}


def measure(hole: Hole, *, pose_lag_frames: int = POSE_LAG_FRAMES) -> MaskMeasurements:
    """Measure ``hole``, ``bool[T, H, W]`` with at least one frame.

    ``pose_lag_frames`` is the distance in time of two holes whose shapes are compared.
    """
    fractions = regions.hole_fraction(hole)
    path = centroid_path(hole)
    values = {
        "centroid_speed_pixels_per_frame": _mean_defined(np.hypot(*np.diff(path, axis=0).T)),
        "centroid_displacement_pixels": displacement(path),
        "pose_change": _mean_defined(_pose_changes(hole, path, pose_lag_frames)),
    }
    return MaskMeasurements(
        frames=len(hole),
        hole_fraction=float(fractions.mean()),
        centroid_speed_pixels_per_frame=values["centroid_speed_pixels_per_frame"],
        centroid_displacement_pixels=values["centroid_displacement_pixels"],
        pose_change=values["pose_change"],
        union_coverage=float(hole.any(axis=0).mean()),
        empty_frames=int((fractions == 0).sum()),
        reasons={name: _REASONS[name] for name, value in values.items() if value is None},
    )


def centroid_path(hole: Hole) -> FloatArray:
    """Centroid (row, column) of each frame of ``hole``, ``float64[T, 2]`` in pixels; NaN where a frame has no hole."""
    # Summing the bounding rectangle of all holes gives the same, and is cheaper.
    union = np.asarray(hole.any(axis=0))
    rows, columns = regions.box_of(union) or (slice(0, 1), slice(0, 1))
    return np.add(regions.centroids(hole[:, rows, columns]), (rows.start, columns.start), dtype=np.float64)


def displacement(path: FloatArray) -> float | None:
    """Largest distance of a centroid of ``path`` from the first one, in pixels; None with fewer than two centroids."""
    defined = path[~np.isnan(path[:, 0])]
    return float(np.hypot(*(defined - defined[0]).T).max()) if len(defined) > 1 else None


def labels_of(preset: str) -> dict[str, str]:
    """Labels in the name of a preset, e.g. ``{"size": "low", "pose": "high", "displacement": "low"}``.

    Raises:
        UnknownNameError: no such preset.
    """
    find_preset(preset)
    labels = {}
    for part in preset.split("_"):
        label, level = part.split("-")
        labels[label] = level
    return labels


def level_limits(*, frames: int, width: int, height: int) -> dict[str, tuple[str, float]]:
    """Label of a hole -> the measurement that decides on it, and the least value that is ``high``; sizes in pixels."""
    farthest = DISPLACEMENT_THRESHOLD_PIXELS * displacement_scale(frames=frames, width=width, height=height)
    return {
        "size": ("hole_fraction", SIZE_THRESHOLD),
        "pose": ("pose_change", POSE_THRESHOLD),
        "displacement": ("centroid_displacement_pixels", farthest),
    }


def measured_labels(measurements: MaskMeasurements, *, width: int, height: int) -> dict[str, str | None]:
    """Labels by measurement, ``low`` or ``high``, for size, pose and displacement of a hole; None where not measurable.

    ``width`` and ``height`` of the hole are in pixels.
    """
    labels: dict[str, str | None] = {}
    for label, (name, limit) in level_limits(frames=measurements.frames, width=width, height=height).items():
        value = getattr(measurements, name)
        labels[label] = None if value is None else ("high" if value >= limit else "low")
    return labels


def check_labels(preset: str, measurements: MaskMeasurements, *, width: int, height: int) -> dict[str, str]:
    """Labels of ``preset`` that the measurements contradict -> a sentence; empty when all agree.

    Raises:
        UnknownNameError: no such preset.
    """
    measured = measured_labels(measurements, width=width, height=height)
    return {
        label: f"{label} is {promised} by preset but {measured[label] or 'not measurable'} by measurement"
        for label, promised in labels_of(preset).items()
        if measured[label] != promised
    }


def within_intervals(measurements: MaskMeasurements, preset: str) -> bool:
    """True if size, speed and displacement of a hole of 832x480, 90 frames, lie in the intervals of its preset.

    Each interval alone holds 90 % of the masks; all three together hold fewer.

    Raises:
        UnknownNameError: no such preset.
    """
    find_preset(preset)
    for name, (low, high) in EXPECTED_INTERVALS[preset]._asdict().items():
        value = getattr(measurements, name)
        if value is None or not low <= value <= high:
            return False
    return True


def displacement_scale(*, frames: int, width: int, height: int) -> float:
    """Expected displacement of a blob in a clip of this size and length, relative to 832x480 and 90 frames.

    The canvas is scaled to cover the clip; displacement grows with time up to 90 frames, where masks play in reverse.
    """
    size = _cover(width, height) / _cover(*REFERENCE_SIZE)
    return size * min(1.0, (frames - 1) / (REFERENCE_FRAMES - 1))


def _cover(width: int, height: int) -> float:
    return max(width / CANVAS[0], height / CANVAS[1])


def _mean_defined(values: FloatArray) -> float | None:
    """Mean of all numbers that are not NaN (a frame without a hole has no centroid); None without any."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def _pose_changes(hole: Hole, centroids: FloatArray, lag: int) -> FloatArray:
    """1 - IoU of the holes of frames 0 and lag, lag and 2 lag ...; NaN where either is empty.

    The later one is shifted back by the motion of its centroid, rounded; pixels that leave the frame are lost.
    """
    changes = []
    motion = centroids[lag::lag] - centroids[:-lag:lag]
    for before, after, moved in zip(hole[:-lag:lag], hole[lag::lag], motion, strict=True):
        if np.isnan(moved).any():
            changes.append(np.nan)
            continue
        steps = list(zip(np.rint(moved).astype(int).tolist(), before.shape, strict=True))
        target = before[tuple(slice(max(0, -step), min(length, length - step)) for step, length in steps)]
        shifted = after[tuple(slice(max(0, step), min(length, length + step)) for step, length in steps)]
        intersection = int(np.count_nonzero(target & shifted))
        union = int(np.count_nonzero(before)) + int(np.count_nonzero(shifted)) - intersection
        changes.append(1.0 - intersection / union)
    return np.array(changes, np.float64)
