"""Generator of DEVIL's occlusion masks: one blob that drifts, bounces and changes its shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks import measure
from inpaintbench.masks.blob_motion import CANVAS, PRESETS, Streams, Trajectory, find_preset, trajectory
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import AtLeastOne, Side, Whole
from inpaintbench.types import Hole
from inpaintbench.view import ItemView

Behaviour = Literal["as-published", "corrected"]

# Number of published masks of one preset.
PUBLISHED_MASKS = 1000
# Least displacement of the centroid of a corrected blob over 90 frames at 832x480; with less it would look static.
LEAST_DISPLACEMENT_PIXELS = 0.02 * measure.REFERENCE_SIZE[0]
_MOST_DRAWS = 200
# Of the frames that a blob is checked in, to save time; it divides the lag of the pose measurement.
_CHECK_STEP = 5
_CHECKED_FRAMES = (*range(0, measure.REFERENCE_FRAMES, _CHECK_STEP), measure.REFERENCE_FRAMES - 1)

# Rasterisation of blobs: strokes drawn without anti-aliasing on a canvas, resampled by nearest neighbour.
#
# Only the bounding box of a stroke is read, resampled and erased; the pixels equal those of drawing on an empty canvas and
# resizing all of it with Pillow.

Points = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Patch(NamedTuple):
    """Bounding box of a stroke on a canvas; all other pixels are 0."""

    pixels: npt.NDArray[np.uint8]
    """``uint8[h, w]``, 1 inside the stroke."""
    left: int
    top: int


class Sampling(NamedTuple):
    """Row and column of the canvas for every row and column of a frame."""

    rows: Indices
    """``int64[H]``, ascending."""
    columns: Indices
    """``int64[W]``, ascending."""


class Canvas:
    """Canvas of (width, height) pixels that draws strokes one at a time, each on an empty canvas.

    Strokes are drawn at their position: moved to the corner of a smaller canvas, single pixels would change, because Pillow
    computes the sides of a thick line in single precision.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        # Mode "L" draws the same pixels as mode "1", whose arrays store True as 255, which breaks arithmetic on their bytes.
        self._image = Image.new("L", size)
        self._draw = ImageDraw.Draw(self._image)

    def stroke(self, points: Points, *, brush_width: int) -> Patch:
        """Draw lines of ``brush_width`` through ``float64[n, 2]`` (x, y) control points, and a disc on each."""
        radius = brush_width // 2 - 1
        # Without `joint` each pair of neighbours is an independent line, as in DEVIL.
        self._draw.line(points.ravel().tolist(), fill=1, width=brush_width)
        for disc in np.hstack([points - radius, points + radius]).tolist():
            self._draw.ellipse(disc, fill=1)
        # The pixels that a stroke can touch: left, top, right and bottom.
        margin = brush_width // 2 + 2
        first = np.maximum(points.min(axis=0).astype(int) - margin, 0).tolist()
        end = np.minimum(points.max(axis=0).astype(int) + margin + 1, self.size).tolist()
        box = (first[0], first[1], end[0], end[1])
        pixels = np.asarray(self._image.crop(box))
        self._image.paste(0, box)
        return Patch(pixels, left=box[0], top=box[1])


def render(points: Points, *, brush_width: int, canvas: tuple[int, int], order: Sequence[int], width: int, height: int) -> Hole:
    """Render the hole ``bool[len(order), height, width]`` whose frame t has the control points ``points[order[t]]``."""
    hole = np.zeros((len(order), height, width), np.bool_)
    surface, grid = Canvas(canvas), sampling(canvas=canvas, width=width, height=height)
    first_shown: dict[int, int] = {}
    for frame, moment in enumerate(order):
        if moment in first_shown:
            hole[frame] = hole[first_shown[moment]]
        else:
            resample(surface.stroke(points[moment], brush_width=brush_width), grid=grid, frame=hole[frame])
            first_shown[moment] = frame
    return hole


def resample(patch: Patch, *, grid: Sampling, frame: npt.NDArray[np.bool_]) -> None:
    """Resample the patch into ``frame``, ``bool[H, W]``, which is False everywhere."""
    height, width = patch.pixels.shape
    first_row, end_row = np.searchsorted(grid.rows, (patch.top, patch.top + height))
    first_column, end_column = np.searchsorted(grid.columns, (patch.left, patch.left + width))
    rows = grid.rows[first_row:end_row] - patch.top
    columns = grid.columns[first_column:end_column] - patch.left
    frame.view(np.uint8)[first_row:end_row, first_column:end_column] = patch.pixels[rows][:, columns]


@lru_cache(maxsize=16)
def sampling(*, canvas: tuple[int, int], width: int, height: int) -> Sampling:
    """Sampling of the canvas by a frame of ``width`` x ``height``: scaled to cover it, nearest neighbour, centre crop."""
    across, down = cover_size(canvas, width=width, height=height)
    left, top = (across - width) // 2, (down - height) // 2
    columns = _nearest(canvas[0], across)[left : left + width]
    rows = _nearest(canvas[1], down)[top : top + height]
    return Sampling(rows, columns)


def cover_size(canvas: tuple[int, int], *, width: int, height: int) -> tuple[int, int]:
    """Smallest (width, height) with the aspect ratio of the canvas, rounded up, that covers the frame; in exact integers."""
    if width * canvas[1] >= height * canvas[0]:
        return width, -(-canvas[1] * width // canvas[0])
    return -(-canvas[0] * height // canvas[1]), height


def _nearest(length: int, size: int) -> Indices:
    """Source index of each of ``size`` positions when Pillow resizes ``length`` pixels by nearest neighbour."""
    # By resizing a row of indices: Pillow accumulates steps, so that no closed formula rounds as it does.
    row = Image.fromarray(np.arange(length, dtype=np.int32)[None])
    indices: Indices = np.asarray(row.resize((size, 1), Image.Resampling.NEAREST))[0].astype(np.int64)
    return indices


class DevilBlobs(Generator):
    """One moving blob of a named preset. Source: DEVIL (CVPR 2022) with the constants of its released masks.

    ``as-published`` gives mask number ``index`` of the preset. All presets share one list of 1000 seeds, steps are cut to
    whole pixels (over a third of the low-displacement blobs stand still until something kicks them, and some for ever), and
    ``rng`` is not used: the number fixes the mask.

    ``corrected`` draws from ``rng`` alone, so masks are independent, and moves by fractions of a pixel. That carries blobs
    farther, and labels should be true rather than intended, so a blob is drawn again until, over its first 90 frames,
    measurement confirms its three labels and, played either way, its centroid displacement is within the interval of the
    published masks of its preset, at least 2 % of the width, and at least 1 % of it in the first half. The blob does not
    depend on the size or length of the clip.

    ``paired`` draws the blobs of all eight presets from one stream of random numbers, with which each of them is as above: place,
    direction and shape correspond, and presets that differ in one attribute give holes that differ in it alone. Those who cannot
    are drawn again together, so paired blobs are the eighth or so of all blobs that fit every preset.
    """

    name = "devil_blobs"
    deviations = (
        Deviation(
            "rasteriser",
            "lines and discs of Pillow 7",
            "those of the Pillow that is installed, along the same control points",
            "about 0.1 % of a hole's pixels, 32 to 385 a frame of 1920x1080 (Pillow 13 against 7.2)",
            {"behaviour": "as-published"},
        ),
    )
    version = "1"
    needs = ()
    same_draw: tuple[str, ...] = ("reverse",)

    def __init__(
        self,
        *,
        preset: str,
        behaviour: Behaviour = "corrected",
        index: Whole = 0,
        reverse: bool = False,
        canvas: tuple[Side, Side] = CANVAS,
        base_frames: AtLeastOne = 90,
        paired: bool = False,
    ) -> None:
        """``preset``: a name of ``PRESETS``; ``reverse``: play in reverse time; ``canvas``: (width, height) of the drawing;
        ``paired``: with the random numbers that all presets share.
        """
        known_name("mask behaviour", behaviour, get_args(Behaviour))
        if behaviour == "as-published" and not 0 <= index < PUBLISHED_MASKS:
            raise InputError(f"mask index {index} is outside 0..{PUBLISHED_MASKS - 1}, the masks that were published")
        if base_frames < 1:
            raise InputError(f"base_frames is {base_frames}, a mask has at least 1 frame")
        if paired and behaviour != "corrected":
            raise InputError("paired blobs are corrected ones; published masks of one index already share their seed")
        if paired:
            self.same_draw = (*self.same_draw, "preset")
        self.paired = paired
        self.preset_name, self.preset = preset, find_preset(preset)
        self.behaviour, self.index, self.reverse = behaviour, index, reverse
        self.canvas, self.base_frames = (canvas[0], canvas[1]), base_frames
        self.preset.require_room(self.canvas)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw a hole ``bool[view.frames, view.height, view.width]``; in clips longer than the mask it plays to and fro.

        Raises:
            Rejected: no blob of 200 matches the labels of its preset (possible on unusual canvases only).
        """
        points, brush_width = self.trajectory(rng)
        order = playing_order(view.frames, base_frames=self.base_frames, reverse=self.reverse)
        size = {"width": view.width, "height": view.height}
        return Drawn(render(points, brush_width=brush_width, canvas=self.canvas, order=order, **size))

    def trajectory(self, rng: np.random.Generator) -> Trajectory:
        """Draw the control points of ``base_frames`` frames, in forward time."""
        if self.behaviour == "as-published":
            legacy = np.random.RandomState(published_seeds()[self.index])
            return trajectory(self.preset, legacy, frames=self.base_frames, whole_pixels=True, canvas=self.canvas)
        frames = max(self.base_frames, measure.REFERENCE_FRAMES)
        if self.paired:
            drawn = _in_streams(
                self.preset_name, _fitting_all(int(rng.integers(2**63)), frames, self.canvas), frames, self.canvas
            )
            return Trajectory(drawn.points[: self.base_frames], drawn.brush_width)
        for _ in range(_MOST_DRAWS):
            drawn = trajectory(self.preset, rng, frames=frames, whole_pixels=False, canvas=self.canvas)
            if _keeps_promise(self.preset_name, drawn, self.canvas):
                return Trajectory(drawn.points[: self.base_frames], drawn.brush_width)
        raise Rejected(f"no blob like {self.preset_name} in {_MOST_DRAWS} draws on a canvas of {self.canvas}")


# The versions of a clip ask for the same one after the other, and looking for it takes ten times as long as drawing.
@lru_cache(maxsize=4096)
def _fitting_all(seed: int, frames: int, canvas: tuple[int, int]) -> tuple[int, ...]:
    """Seeds of ``Streams`` with which the blobs of all presets keep their promise.

    Raises:
        Rejected: none in 200 draws.
    """
    rng = np.random.default_rng(seed)
    for _ in range(_MOST_DRAWS):
        seeds = tuple(rng.integers(2**63, size=len(Streams._fields)).tolist())
        # Those that wander far fail most often, and stand last.
        if all(_keeps_promise(name, _in_streams(name, seeds, frames, canvas), canvas) for name in reversed(list(PRESETS))):
            return seeds
    raise Rejected(f"no blob that fits all presets in {_MOST_DRAWS} draws on a canvas of {canvas}")


def _in_streams(preset: str, seeds: tuple[int, ...], frames: int, canvas: tuple[int, int]) -> Trajectory:
    streams = Streams(*map(np.random.default_rng, seeds))
    return trajectory(PRESETS[preset], streams, frames=frames, whole_pixels=False, canvas=canvas)


def _keeps_promise(preset: str, blob: Trajectory, canvas: tuple[int, int]) -> bool:
    """True if a blob, rendered at the reference size, matches the labels of its preset and is not static."""
    hole = render(
        blob.points,
        brush_width=blob.brush_width,
        canvas=canvas,
        order=_CHECKED_FRAMES,
        width=canvas[0] * measure.REFERENCE_SIZE[0] // CANVAS[0],
        height=canvas[1] * measure.REFERENCE_SIZE[1] // CANVAS[1],
    )
    path = measure.centroid_path(hole)
    if not (_moves_enough(preset, path) and _moves_enough(preset, path[::-1])):
        return False
    # Excluding the last frame, which is not a whole step after the one before it, keeps the pose pairs of all 90 frames.
    measured = replace(
        measure.measure(hole[:-1], pose_lag_frames=measure.POSE_LAG_FRAMES // _CHECK_STEP), frames=measure.REFERENCE_FRAMES
    )
    width, height = measure.REFERENCE_SIZE
    return not measure.check_labels(preset, measured, width=width, height=height)


def _moves_enough(preset: str, path: measure.FloatArray) -> bool:
    """True if the displacement is in the preset's interval, and the centroid starts to move in the first half."""
    total, half = measure.displacement(path), measure.displacement(path[: (len(path) + 1) // 2])
    if total is None or half is None or half < LEAST_DISPLACEMENT_PIXELS / 2:
        return False
    least, most = measure.EXPECTED_INTERVALS[preset].centroid_displacement_pixels
    return max(least, LEAST_DISPLACEMENT_PIXELS) <= total <= most


@lru_cache(maxsize=1)
def published_seeds() -> tuple[int, ...]:
    """Seeds of the published masks 0 ... 999, the same for every preset."""
    return tuple(np.random.RandomState(0).randint(0, 2**32, size=PUBLISHED_MASKS, dtype=np.int64).tolist())


def playing_order(frames: int, *, base_frames: int, reverse: bool) -> list[int]:
    """Index into a mask of ``base_frames`` for each of ``frames``: 0, 1 ... last, last - 1 ... 0, 1 ...

    ``reverse`` starts at the last one. Source: DEVIL's pairing of masks with longer clips.
    """
    period = max(1, 2 * (base_frames - 1))
    indices = (min(step, period - step) for step in (frame % period for frame in range(frames)))
    return [base_frames - 1 - index if reverse else index for index in indices]
