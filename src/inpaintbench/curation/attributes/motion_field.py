"""Motion of the camera and of the scene in a clip: optical flow split into a camera and the rest, for leaves that share it.

A few pairs of frames, a fixed time apart, are shrunk and joined by DIS optical flow in both directions. The camera is the
similarity (turn, uniform scale and shift) that most points of the view agree with, one point from each cell so that no strongly
textured region outvotes the rest. It is the similarity that the largest group of points agrees with, not the mean: water takes
part in no such group, because its points disagree with each other. A more general model (affine, homography) would explain
water below a shore as a tilted plane, and does so on clips whose camera is known.

What the flow holds beyond the camera is the *residual*. It holds what moves by itself, and also the parallax of a camera that
travels through the scene, which two frames alone cannot tell from motion; ``parallax`` says how much it looks like that.

Where a view has no texture its flow is interpolated from elsewhere; such pixels are not *read*. Where the flow leads to pixels
that look different the change is *unexplained*: running water changes its look, solid things keep theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma, item_rng

Mask = npt.NDArray[np.bool_]
Frame = npt.NDArray[np.uint8]

# Pixels of the longer side at which flow is measured: 8 ms a flow, and still a tenth of a pixel exact.
WORKING_SIDE = 256
# A side is not shrunk below this, the smallest that the flow's patches fit in.
LEAST_SIDE = 16
# Between the frames of a pair: slow cameras show, and water no longer looks the same.
LAG_SECONDS = 0.15
PAIRS = 10
# Twice the RMS derivative, in grey levels a pixel, in the direction in which a neighbourhood varies least.
LEAST_TEXTURE = 0.7
# Such derivatives that noise of one grey level is taken for, with a margin: 0.9 on average.
NOISE_TEXTURE = 1.8
# Noise is read from the smoothest fifth of the view; the second is that quantile of the absolute normal distribution.
NOISE_QUANTILE, NOISE_QUANTILE_SIGMAS = 0.2, 0.2533
# Pixels between a point and where the flow there and back takes it, for points that may vote on the camera.
LARGEST_DISAGREEMENT = 0.5
# A pixel moves by itself where its residual exceeds the first plus the second times the camera's displacement.
MOVING_PIXELS, MOVING_SHARE = 0.35, 0.05
# Half a patch of the flow: nearer to the edge it holds what is not in the view.
EDGE_PIXELS = 4
# Side of the neighbourhood from which pixels that are not read take their motion.
FILL_PIXELS = 15
# Neighbourhood of `unexplained`, and the grey levels that noise alone may differ by.
LOOK_PIXELS, LOOK_FLOOR = 9, 3.0


@dataclass(frozen=True)
class PairMotion:
    """The motion from one frame to another, at the working size; maps are ``[H, W]``, vectors are in working pixels."""

    camera: Map
    """``float32[H, W, 2]``, (x, y): where the camera alone would take a pixel."""
    residual: Map
    """``float32[H, W, 2]``, (x, y): what the flow holds beyond that."""
    seen: Mask
    """Still well inside the view after the camera moved."""
    moving: Map
    """Share of a pixel's neighbourhood that moves by itself, 0..1, judged by the pixels that are read."""
    unexplained: Map
    """Difference of looks along the flow, as a share of the local contrast: 0 for solid things, around 0.5 for running water."""
    agreement: float
    """Share of the votes that agree with the camera within half a pixel, 0..1."""
    read: float
    """Share of the view that has texture enough to be read, 0..1."""


@dataclass(frozen=True)
class MotionField:
    """The pairs of one clip of which the camera is known; there is at least one."""

    pairs: tuple[PairMotion, ...]
    asked: int
    """Pairs that were looked at."""
    lag_seconds: float
    width: int
    """Working pixels across the view."""

    def view_widths_a_second(self, pixels: float) -> float:
        """A displacement of working pixels within a pair as a speed."""
        return pixels / self.width / self.lag_seconds


def motion_field(luma: Luma, *, fps: float) -> MotionField:
    """The motion of a clip; that of the last two clips is remembered by content, so leaves that share it pay once.

    Args:
        luma: ``uint8[T, H, W]``.

    Raises:
        NotMeasurable: the clip has one frame, or no pair of frames has texture that agrees on a camera.
    """
    if len(luma) < 2:
        raise NotMeasurable("the clip has one frame, motion needs two")
    lag, starts = pair_starts(len(luma), fps=fps)
    height, width = luma.shape[1:]
    scale = min(1.0, WORKING_SIDE / max(height, width))
    size = (max(round(width * scale), LEAST_SIDE), max(round(height * scale), LEAST_SIDE))
    looked_at = (luma[index] for start in starts for index in (start, start + lag))
    small = np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in looked_at])
    motions = _pairs(small.tobytes(), small.shape)
    if not motions:
        raise NotMeasurable(f"in none of {len(starts)} pairs of frames does the view have texture that agrees on a camera")
    return MotionField(pairs=motions, asked=len(starts), lag_seconds=lag / fps, width=small.shape[2])


def pair_starts(frames: int, *, fps: float) -> tuple[int, list[int]]:
    """Return how many frames the second frame of a pair comes after the first, and the first frames, spread over the clip."""
    lag = min(max(round(fps * LAG_SECONDS), 1), frames - 1)
    return lag, sorted({round(place) for place in np.linspace(0, frames - 1 - lag, PAIRS).tolist()})


def parallax(field: MotionField) -> float:
    """Return how much the residual looks like parallax, 0..1: how far it points along the camera's displacement or against it.

    0 where directions are as mixed as chance makes them (a mean absolute cosine of 2 / pi) or the camera stands still.
    """
    cosines, weights = [], []
    for pair in field.pairs:
        lengths = np.linalg.norm(pair.camera, axis=2), np.linalg.norm(pair.residual, axis=2)
        weight = pair.seen * pair.moving * (lengths[0] > MOVING_PIXELS)
        products = np.abs(np.sum(pair.camera * pair.residual, axis=2)) / np.maximum(lengths[0] * lengths[1], 1e-6)
        cosines.append(float((products * weight).sum()))
        weights.append(float(weight.sum()))
    mixed = 2 / np.pi
    mean = sum(cosines) / sum(weights) if sum(weights) else mixed
    return float(np.clip((mean - mixed) / (1 - mixed), 0, 1))


@lru_cache(maxsize=2)
def _pairs(pixels: bytes, shape: tuple[int, ...]) -> tuple[PairMotion, ...]:
    frames = np.frombuffer(pixels, np.uint8).reshape(shape)
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)  # DIS gives other flow on more threads
    try:
        motions = [_pair(frames[index], frames[index + 1], number=index // 2) for index in range(0, len(frames), 2)]
    finally:
        cv2.setNumThreads(threads)
    return tuple(pair for pair in motions if pair is not None)


def _pair(first: Frame, second: Frame, *, number: int) -> PairMotion | None:
    """The motion from ``first`` to ``second``; None where no camera is agreed on."""
    dis: Any = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    flow, back = dis.calc(first, second, None), dis.calc(second, first, None)
    texture = np.sqrt(np.maximum(cv2.cornerMinEigenVal(first.astype(np.float32), 7, ksize=3), 0)).astype(np.float32)
    # Noise from the difference of two Laplacians (Immerkaer, CVIU 64 (2), 1996), which smooth shading does not enter. A quantile
    # of float32 depends on the version of numpy in its seventh digit.
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6
    differences = np.abs(cv2.filter2D(first, cv2.CV_32F, kernel)).astype(np.float64)
    noise = float(np.quantile(differences, NOISE_QUANTILE)) / NOISE_QUANTILE_SIGMAS
    textured = texture > max(LEAST_TEXTURE, NOISE_TEXTURE * noise)
    # Where following the flow and then the flow back leads to the start again, inside the view.
    returns = (np.linalg.norm(flow + _sampled(back, flow), axis=2) < LARGEST_DISAGREEMENT) & _inside(flow)
    votes = np.where(returns & textured, texture, 0)
    fit = fit_camera(flow, votes, number=number)
    if fit is None:
        return None
    (turn, shift), agreement = fit
    places = places_of(*first.shape)
    moved = turn * places + shift - places
    camera = np.stack([moved.real, moved.imag], axis=2).astype(np.float32)
    residual = flow - camera
    seen = _inside(camera, margin=EDGE_PIXELS)
    read = textured & seen
    limit = MOVING_PIXELS + MOVING_SHARE * np.linalg.norm(camera, axis=2)
    moves = (np.linalg.norm(residual, axis=2) > limit) & read
    # Single pixels are errors of the flow.
    cleaned = cv2.medianBlur(moves.astype(np.uint8), 5).astype(np.float32) * read
    size = (FILL_PIXELS, FILL_PIXELS)
    share_moving = np.asarray(cv2.blur(cleaned, size) / (cv2.blur(read.astype(np.float32), size) + 0.05), np.float32)
    return PairMotion(
        camera=camera, residual=residual, seen=seen, moving=share_moving,
        unexplained=_unexplained(first, second, flow), agreement=agreement, read=float(textured.mean()),
    )  # fmt: skip


def _unexplained(first: Frame, second: Frame, flow: Map) -> Map:
    size, pixels = (LOOK_PIXELS, LOOK_PIXELS), first.astype(np.float32)
    change = cv2.blur(np.abs(_sampled(second.astype(np.float32), flow) - pixels), size)
    mean = cv2.blur(pixels, size)
    contrast = np.sqrt(np.maximum(cv2.blur(np.square(pixels), size) - np.square(mean), 0))
    return np.asarray(change / (contrast + LOOK_FLOOR), np.float32)


def _sampled(values: Map, flow: Map) -> Map:
    """``values`` where the flow leads from each pixel."""
    columns, rows = grid(*flow.shape[:2])
    sampled = cv2.remap(values, columns + flow[..., 0], rows + flow[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(sampled, np.float32)


def _inside(displacement: Map, *, margin: int = 0) -> Mask:
    """Return where a displacement leads to a place at least ``margin`` pixels inside the view."""
    height, width = displacement.shape[:2]
    columns, rows = grid(height, width)
    x, y = columns + displacement[..., 0], rows + displacement[..., 1]
    return np.asarray((np.minimum(x, y) >= margin) & (x <= width - 1 - margin) & (y <= height - 1 - margin))


Map = npt.NDArray[np.float32]
Points = npt.NDArray[np.complex128]

# Side in pixels of the cells of which each has one vote.
CELL = 8
LEAST_VOTES = 12
# Share of the votes that a camera needs; pairs with less, such as those across a cut, count as unknown.
LEAST_AGREEMENT = 0.15
TRIALS = 300
INLIER_PIXELS = 0.5
SCALES = (0.8, 1.25)
# Mean displacement up to which a camera stands still: flow is no more exact, and moving water would be read into it.
STILL_PIXELS = 0.03
# Pixels within which votes count about fully in the last refinement.
FINEST_RESIDUAL = 0.05


def fit_camera(flow: Map, votes: Map, *, number: int) -> tuple[tuple[complex, complex], float] | None:
    """The camera between two frames, from the flow where it can be believed.

    Args:
        flow: ``float32[H, W, 2]``, in pixels.
        votes: ``float32[H, W]``, how well textured the pixels are that may vote, 0 for those that may not.
        number: of the pair, which decides its random draws.

    Returns:
        Factor and shift, about the middle of the view in complex numbers, and the share of the votes that agree, 0..1; None
        where too few vote or agree.
    """
    # The best textured pixel of each cell that has one.
    down, across = votes.shape[0] // CELL, votes.shape[1] // CELL
    blocks = votes[: down * CELL, : across * CELL].reshape(down, CELL, across, CELL)
    cells = blocks.transpose(0, 2, 1, 3).reshape(down, across, -1)
    row, column = np.nonzero(cells.max(axis=2))
    best = cells.argmax(axis=2)[row, column]
    rows, columns = row * CELL + best // CELL, column * CELL + best % CELL
    if len(rows) < LEAST_VOTES:
        return None
    origin = places_of(*votes.shape)[rows, columns]
    target = origin + flow[rows, columns, 0] + 1j * flow[rows, columns, 1]
    model = _refined(origin, target, _most_agreed(origin, target, number=number))
    if np.abs(model[0] * origin + model[1] - origin).mean() < STILL_PIXELS:
        model = (1 + 0j, 0j)
    agreement = float(np.mean(np.abs(model[0] * origin + model[1] - target) < INLIER_PIXELS))
    return (model, agreement) if agreement >= LEAST_AGREEMENT else None


def agreed_similarity(origin: Points, target: Points) -> tuple[tuple[complex, complex], npt.NDArray[np.float64]]:
    """The similarity (factor, shift) that most of at least two points agree on, and how far each is off, ``float64[n]``."""
    turn, shift = _refined(origin, target, _most_agreed(origin, target, number=0))
    return (turn, shift), np.abs(turn * origin + shift - target)


def _most_agreed(origin: Points, target: Points, *, number: int) -> tuple[complex, complex]:
    """RANSAC: of the similarities through two points each, the one that most points lie near."""
    rng = item_rng(0, "motion field", str(number))
    point, other = rng.integers(len(origin), size=(2, TRIALS))
    apart = np.abs(origin[point] - origin[other]) > CELL
    point, other = point[apart], other[apart]
    turns = (target[other] - target[point]) / (origin[other] - origin[point])
    # Standing still is tried too, and answers where all others are absurd.
    sound = (np.abs(turns) > SCALES[0]) & (np.abs(turns) < SCALES[1])
    turns, shifts = np.append(turns[sound], 1), np.append((target[point] - turns * origin[point])[sound], 0)
    errors = np.abs(turns[:, None] * origin + shifts[:, None] - target)
    best = int(np.maximum(1 - np.square(errors / INLIER_PIXELS), 0).sum(axis=1).argmax())
    return complex(turns[best]), complex(shifts[best])


def _refined(origin: Points, target: Points, model: tuple[complex, complex]) -> tuple[complex, complex]:
    """Least squares with Geman-McClure weights that narrow from a pixel to ``FINEST_RESIDUAL``."""
    turn, shift = model
    for width in np.geomspace(1, FINEST_RESIDUAL, 8).tolist():
        weights = 1 / np.square(1 + np.square(np.abs(turn * origin + shift - target) / width)) + 1e-9
        weights /= weights.sum()
        middle, aim = (weights * origin).sum(), (weights * target).sum()
        turn = (weights * np.conj(origin - middle) * (target - aim)).sum() / (weights * np.square(np.abs(origin - middle))).sum()
        shift = aim - turn * middle
    return complex(turn), complex(shift)


@lru_cache(maxsize=2)
def grid(height: int, width: int) -> tuple[Map, Map]:
    """Column and row of every pixel, ``float32[H, W]`` each."""
    columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return columns, rows


def places_of(height: int, width: int) -> Points:
    """Pixel centres from the middle of the view, x + iy."""
    columns, rows = grid(height, width)
    places: Points = (columns - (width - 1) / 2) + 1j * (rows.astype(np.float64) - (height - 1) / 2)
    return places
