"""The search and the vote in loops that numba compiles; ``search.py`` says what they do and gives the same bytes.

Only to be imported where numba is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.exemplar.search import CHANNELS, DRAW_STEP, PIXEL_STEP, WORST, Draws, Level, Match, Positions, Weights
from inpaintbench.lazily import compiled

# Numbers that a vector instruction takes at once: lines of patches are as long as a multiple of it.
_LANES = 16
_ALL_BITS = 0xFFFFFFFFFFFFFFFF
Array = npt.NDArray[Any]


def search(level: Level, weights: Weights, match: Match, targets: Positions, draws: Draws) -> None:
    """``search.search``."""
    side = 2 * level.half + 1
    line = -(-side * CHANNELS // _LANES) * _LANES
    keys = [(draws.key + number * DRAW_STEP) & _ALL_BITS for number in range(len(draws.radii) + draws.anywhere)]
    best = match.best.copy()
    _search(
        targets, level.colours.reshape(-1), weights.reshape(-1), level.valid, level.sources, match.best, best, match.cost,
        draws.steps(level.stride), np.array(draws.radii, np.int64), np.array(keys, np.uint64), level.stride, side, line,
    )  # fmt: skip
    match.best = best


def vote(level: Level, match: Match, targets: Positions, scale: int) -> npt.NDArray[np.int16]:
    """``search.vote``."""
    voted = np.zeros((len(targets), CHANNELS), np.int16)
    _vote(targets, level.colours, match.best, match.cost, level.stride, level.half, scale, voted)
    return voted


@compiled
def _read(colours: Array, weights: Array, target: int, stride: int, side: int, line: int, patch: Array) -> None:
    """Copy the patch around a pixel into ``patch[0]``, the weights of its colours into ``patch[1]``; lines end without weight."""
    first = (target - (side // 2) * (stride + 1)) * 4
    for row in range(side):
        start = first + row * stride * 4
        own, weight = patch[0, row * line : (row + 1) * line], patch[1, row * line : (row + 1) * line]
        colour_line, weight_line = colours[start : start + line], weights[start : start + line]
        for i in range(line):
            own[i] = colour_line[i]
        for i in range(line):
            weight[i] = weight_line[i]
        weight[side * 4 :] = 0


@compiled
def _difference(colours: Array, patch: Array, source: Any, stride: int, side: int, line: int, limit: Any) -> int:
    """The cost of one source; as soon as a row brings it to ``limit``, what it is until then."""
    total = np.int32(0)
    first = (source - (side // 2) * (stride + 1)) * 4
    for row in range(side):
        own, weight = patch[0, row * line : (row + 1) * line], patch[1, row * line : (row + 1) * line]
        other = colours[first + row * stride * 4 : first + row * stride * 4 + line]
        for i in range(line):
            apart = np.int32(own[i]) - np.int32(other[i])
            total = np.int32(total + np.int32(np.int32(apart * apart) * np.int32(weight[i])))
        if total >= limit:
            break
    return int(total)


@compiled
def _drawn(target: int, key: Any) -> Any:
    number = np.uint64(target) * np.uint64(PIXEL_STEP) + key
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@compiled
def _candidate(
    number: int, target: int, place: Any, before: Array, steps: Array, radii: Array, keys: Array, sources: Array, stride: int
) -> int:
    """The candidate of that number for a pixel whose best is ``place`` so far; -1 = none."""
    if number < len(steps):
        given = before[target + steps[number]]
        return int(given - steps[number]) if given >= 0 else -1
    number -= len(steps)
    drawn = _drawn(target, keys[number])
    if number < len(radii):
        # A place drawn within the radius of the best so far.
        span = np.uint64(2 * radii[number] + 1)
        down = np.int64((drawn >> np.uint64(32)) * span >> np.uint64(32)) - radii[number]
        right = np.int64((drawn & np.uint64(0xFFFFFFFF)) * span >> np.uint64(32)) - radii[number]
        return int(place + down * stride + right) if place >= 0 else -1
    return int(sources[np.int64((drawn >> np.uint64(32)) * np.uint64(len(sources)) >> np.uint64(32))])


@compiled
def _among(one: Any, others: Array) -> bool:
    for other in others:  # noqa: SIM110 - a plain loop is what numba compiles best
        if other == one:
            return True
    return False


@compiled
def _search(
    targets: Array, colours: Array, weights: Array, valid: Array, sources: Array, before: Array, best: Array, cost: Array,
    steps: Array, radii: Array, keys: Array, stride: int, side: int, line: int,
) -> None:  # fmt: skip
    """Write the ``best`` and ``cost`` of each target."""
    patch = np.zeros((2, side * line), np.int16)
    tried = np.zeros(len(steps) + len(keys), np.int64)
    for target in targets:
        _read(colours, weights, target, stride, side, line, patch)
        place = np.int64(before[target])
        least = np.int64(WORST)
        if place >= 0:
            least = np.int64(_difference(colours, patch, place, stride, side, line, WORST))
        for number in range(len(steps) + len(keys)):
            other = np.int64(_candidate(number, target, place, before, steps, radii, keys, sources, stride))
            tried[number] = other
            # Neighbours mostly have the same to offer.
            if other != place and 0 <= other < len(valid) and valid[other] and not _among(other, tried[:number]):
                found = np.int64(_difference(colours, patch, other, stride, side, line, least))
                if found < least:
                    place, least = other, found
        best[target], cost[target] = place, least


@compiled
def _vote(targets: Array, colours: Array, best: Array, cost: Array, stride: int, half: int, scale: int, voted: Array) -> None:
    """Write the weighted mean of what the patches over each target have there."""
    for number in range(len(targets)):
        red = green = blue = weight = np.int64(0)
        for row in range(-half, half + 1):
            for column in range(-half, half + 1):
                step = row * stride + column
                source = best[targets[number] - step]
                if source >= 0:
                    fit = 256 * scale // (scale + np.int64(cost[targets[number] - step])) + 1
                    red += fit * colours[source + step, 0]
                    green += fit * colours[source + step, 1]
                    blue += fit * colours[source + step, 2]
                    weight += fit
        voted[number, 0] = (2 * red + weight) // (2 * weight)
        voted[number, 1] = (2 * green + weight) // (2 * weight)
        voted[number, 2] = (2 * blue + weight) // (2 * weight)
