"""A picture at several sizes, one round of the search for patches to copy, and the vote of overlapping patches.

Both are written twice, in plain numpy here and in loops for numba in ``compiled.py``. They count in whole numbers and try the
same candidates in the same order, so they give the same bytes. A round looks only at what the round before left behind, so the
order of pixels does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

# `uint8[H, W, 3]`.
Picture = npt.NDArray[np.uint8]
# `bool[H, W]`.
Pixels = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.int32]
# Red, green, blue and one that stays 0: even steps in memory.
CHANNELS = 4
# Share of the pixels of a smaller size around which there must be a whole patch; fewer patches would be copied all over.
_LEAST_SOURCES = 0.1
# Position of no source.
NOWHERE = -1


@dataclass
class Level:
    """One size. A position counts pixels row by row over the picture and a margin of half a patch around it."""

    height: int
    width: int
    half: int
    """Half a patch, rounded down: the margin."""
    colours: npt.NDArray[np.int16]
    """``int16[positions, 4]``, 0 in the margin; those of hole pixels are what is filled in."""
    missing: npt.NDArray[np.bool_]
    """``bool[positions]``, True = hole."""
    inside: npt.NDArray[np.bool_]
    """``bool[positions]``, False = margin."""
    valid: npt.NDArray[np.bool_]
    """``bool[positions]``, True where a patch lies in the picture and touches no hole."""
    sources: Positions
    """Positions where ``valid`` is True, in order."""
    layers: list[Positions]
    """Hole positions by their distance from what is known, nearest first."""

    @property
    def stride(self) -> int:
        """Pixels in a row with its margins."""
        return self.width + 2 * self.half

    @property
    def targets(self) -> Positions:
        """All hole positions, in order."""
        return np.flatnonzero(self.missing).astype(np.int32)

    def picture(self) -> Picture:
        """``uint8[H, W, 3]``."""
        half = self.half
        whole = self.colours[: len(self.missing)].reshape(-1, self.stride, CHANNELS)
        return whole[half : half + self.height, half : half + self.width, :3].astype(np.uint8)


def levels_of(picture: Picture, hole: Pixels, *, patch_pixels: int, levels: int) -> list[Level]:
    """The picture and its halves, largest first, for as long as a smaller one still has patches to copy and a hole to fill.

    ``picture``: ``uint8[H, W, 3]``; ``hole``: ``bool[H, W]``. Empty where even the picture itself has too few whole patches.
    """
    found: list[Level] = []
    while len(found) < levels and hole.any():
        level = _level(picture, hole, half=patch_pixels // 2)
        if len(level.sources) < max(1, _LEAST_SOURCES * hole.size if found else 1):
            break
        found.append(level)
        # Means of what is known in blocks of 2 x 2; hole where less than half a block is.
        count = _in_blocks((~hole).astype(np.int32))
        least = np.maximum(count, 1)[..., None]
        means = (2 * _in_blocks(np.where(hole[..., None], np.int32(0), picture)) + least) // (2 * least)
        picture, hole = means.astype(np.uint8), 2 * count < _in_blocks(np.ones(hole.shape, np.int32))
    return found


def _level(picture: Picture, hole: Pixels, *, half: int) -> Level:
    height, width = hole.shape
    margin = [(half, half), (half, half)]
    inside = np.pad(np.ones_like(hole), margin)
    missing = np.pad(hole, margin)
    broken = cv2.dilate((missing | ~inside).view(np.uint8), np.ones((2 * half + 1, 2 * half + 1), np.uint8), borderValue=(1.0,))
    valid = (broken == 0).ravel()
    # What is read beyond the last patch in a straight line has no weight but must be there.
    colours = np.zeros((inside.size + 8 * (half + 1), CHANNELS), np.int16)
    colours[: inside.size].reshape(*inside.shape, CHANNELS)[half : half + height, half : half + width, :3] = picture
    distance = cv2.distanceTransform(np.pad(hole, 1, mode="edge").view(np.uint8), cv2.DIST_C, 3)[1:-1, 1:-1]
    depth = np.pad(np.rint(distance).astype(np.int32), margin).ravel()
    positions = np.flatnonzero(depth)
    by_depth = positions[np.argsort(depth[positions], kind="stable")]
    ends = np.cumsum(np.bincount(depth[positions]))
    return Level(
        height=height,
        width=width,
        half=half,
        colours=colours,
        missing=missing.ravel(),
        inside=inside.ravel(),
        valid=valid,
        sources=np.flatnonzero(valid).astype(np.int32),
        layers=[part.astype(np.int32) for part in np.split(by_depth, ends) if len(part)],
    )


def _in_blocks(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Sums over blocks of 2 x 2, those at the far borders perhaps of less."""
    even = np.pad(numbers, [(0, numbers.shape[0] % 2), (0, numbers.shape[1] % 2), (0, 0)][: numbers.ndim])
    return np.asarray(even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2])


# `int16[positions, 4]`: how much a colour of a pixel counts where patches are compared.
Weights = npt.NDArray[np.int16]
# The cost of no source at all.
WORST = np.iinfo(np.int32).max
# What sets the random numbers of two pixels, and of two draws for one pixel, apart.
PIXEL_STEP, DRAW_STEP = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
# Patches compared at once: with 7x7 pixels their differences are about 3 MB, which stays in the processor's cache.
_CHUNK = 4096


@dataclass(frozen=True)
class Draws:
    """Candidates of a round besides the source that a pixel has already.

    Candidates come in this order: what the neighbours ``reaches`` pixels to the left, right, top and bottom have, moved along;
    one place drawn within each distance of ``radii`` of the best so far; ``anywhere`` places drawn from all.
    """

    reaches: tuple[int, ...]
    radii: tuple[int, ...]
    anywhere: int
    key: int
    """Key of the random numbers, below 2^64."""

    def steps(self, stride: int) -> Positions:
        """Steps from a pixel to each neighbour, ``int32[4 x reaches]``."""
        steps = [step for reach in self.reaches for step in (-reach, reach, -reach * stride, reach * stride)]
        return np.array(steps, np.int32)


@dataclass
class Match:
    """Source of each pixel of the hole, and how badly the patches around the two differ."""

    best: Positions
    """``int32[positions]``, ``NOWHERE`` where there is none."""
    cost: npt.NDArray[np.int32]
    """``int32[positions]``: weighted squared differences summed over the patch and its colours."""

    @classmethod
    def none(cls, level: Level) -> Match:
        """No pixel has a source."""
        shape = level.missing.shape
        return cls(np.full(shape, NOWHERE, np.int32), np.full(shape, WORST, np.int32))


def search(level: Level, weights: Weights, match: Match, targets: Positions, draws: Draws) -> None:
    """One round for the pixels ``targets``: costs are counted anew, and better candidates taken, in place."""
    before = match.best
    best, around = before[targets], patch_steps(level)
    cost = _costs(level, weights, targets, best, around)

    def improve(candidates: Positions) -> None:
        """Take the candidates that may be copied and cost less, in place."""
        within = (candidates >= 0) & (candidates < len(level.valid)) & (candidates != best)
        chosen = np.flatnonzero(within)
        chosen = chosen[level.valid[candidates[chosen]]]
        costs = _costs(level, weights, targets[chosen], candidates[chosen], around)
        better = costs < cost[chosen]
        best[chosen[better]], cost[chosen[better]] = candidates[chosen[better]], costs[better]

    for step in draws.steps(level.stride):
        given = before[targets + step]
        improve(np.where(given == NOWHERE, NOWHERE, given - step))
    for number, radius in enumerate(draws.radii):
        drawn = random_numbers(targets, draws.key, number)
        span = np.uint64(2 * radius + 1)
        down = ((drawn >> np.uint64(32)) * span >> np.uint64(32)).astype(np.int32) - np.int32(radius)
        right = ((drawn & np.uint64(0xFFFFFFFF)) * span >> np.uint64(32)).astype(np.int32) - np.int32(radius)
        near = best + down * np.int32(level.stride) + right
        improve(np.where(best == NOWHERE, NOWHERE, near))
    for number in range(draws.anywhere):
        drawn = random_numbers(targets, draws.key, len(draws.radii) + number)
        chosen = (drawn >> np.uint64(32)) * np.uint64(len(level.sources)) >> np.uint64(32)
        improve(level.sources[chosen.astype(np.intp)])
    match.best = before.copy()
    match.best[targets], match.cost[targets] = best, cost


def vote(level: Level, match: Match, targets: Positions, scale: int) -> npt.NDArray[np.int16]:
    """``int16[targets, 4]``: the mean of what the patches over a pixel have there, weighted by how well they fit.

    A patch of cost 0 has the weight 256, one of cost ``scale`` (1 up) half of it.
    """
    total = np.zeros((len(targets), level.colours.shape[1]), np.int64)
    weight = np.zeros(len(targets), np.int64)
    for step in patch_steps(level):
        source = match.best[targets - step]
        has = source != NOWHERE
        fit = 256 * scale // (scale + match.cost[targets - step][has].astype(np.int64)) + 1
        total[has] += fit[:, None] * level.colours[source[has] + step]
        weight[has] += fit
    return ((2 * total + weight[:, None]) // (2 * weight[:, None])).astype(np.int16)


def patch_steps(level: Level) -> Positions:
    """Steps from a pixel to all pixels of the patch around it, row by row."""
    reach = np.arange(-level.half, level.half + 1, dtype=np.int32)
    return np.asarray((reach[:, None] * np.int32(level.stride) + reach).ravel(), np.int32)


def random_numbers(targets: Positions, key: int, draw: int) -> npt.NDArray[np.uint64]:
    """``uint64[targets]``, the same for a pixel whatever else is asked for (SplitMix64's finaliser: Steele and others, 2014)."""
    numbers = targets.astype(np.uint64) * np.uint64(PIXEL_STEP) + np.uint64((key + draw * DRAW_STEP) & 0xFFFFFFFFFFFFFFFF)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _costs(level: Level, weights: Weights, targets: Positions, sources: Positions, around: Positions) -> npt.NDArray[np.int32]:
    """``int32[targets]``; the worst possible for a source that is ``NOWHERE``."""
    costs = np.full(len(targets), WORST, np.int32)
    has = np.flatnonzero(sources != NOWHERE)
    for start in range(0, len(has), _CHUNK):
        part = has[start : start + _CHUNK]
        here, there = targets[part, None] + around, sources[part, None] + around
        difference = (level.colours[here] - level.colours[there]).astype(np.int32)
        costs[part] = np.einsum("npc,npc,npc->n", difference, difference, weights[here].astype(np.int32))
    return costs
