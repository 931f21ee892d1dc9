"""Holes filled with patches of the same picture, from coarse to fine.

Patches are matched by random draws that good matches spread to their neighbours (Barnes and others, "PatchMatch", 2009), in each
size of the picture (Wexler, Shechtman and Irani, "Space-time completion of video", 2007). In each, the hole first grows shut from
its border, guided by the size before; then overlapping patches vote and are matched again.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import count
from typing import Any, Literal, get_args

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import lazily
from inpaintbench.eval.exemplar.search import NOWHERE, Draws, Level, Match, Picture, Pixels, Weights, levels_of
from inpaintbench.types import content_id

# Pictures that repeat themselves: the shifts under which they do, and holes continued along them.
#
# A period longer than a patch cannot be seen from patches alone. It shows in the whole picture (as shifts do in He and Sun,
# "Statistics of patch offsets for image completion", 2012).

# Rows and columns.
Shift = tuple[int, int]
Mismatches = npt.NDArray[np.float64]
# How far shifts are looked for, as a share of the sides.
_REACH = 0.25
# Share of the pixels that must be known on both sides of a shift.
_LEAST_PAIRS = 0.1
# Mean squared difference under a shift and somewhere on the way to it, as shares of that of pixels with nothing in common: at
# most the one, so that it is a repeat (0 for an exact one), and at least the other, so that it is no smooth picture.
_LIKE, _UNLIKE = 0.01, 0.1
# Most shifts that a hole is continued along, shortest first.
_SHIFTS = 8
# Fifteen places between no shift and a shift, as shares of it.
_ON_THE_WAY = np.linspace(0, 1, 17)[1:-1]


def continue_repeats(picture: Picture, hole: Pixels) -> tuple[Picture, Pixels]:
    """Picture with holes copied from whole periods away, ``uint8[H, W, 3]``, and the hole that is left, ``bool[H, W]``.

    Both are as given where the picture does not repeat itself.
    """
    rest, filled = hole.copy(), picture.copy()
    steps = [(sign * down, sign * right) for down, right in shifts_of(picture, hole) for sign in (1, -1)]
    left = -1
    while steps and left != (left := int(np.count_nonzero(rest))):
        for step in steps:
            # Rows and columns of what has a counterpart a step away, and of those counterparts.
            here = tuple(slice(max(0, -way), -way if way > 0 else None) for way in step)
            there = tuple(slice(max(0, way), way if way < 0 else None) for way in step)
            gained = rest[here] & ~rest[there]
            filled[here][gained] = filled[there][gained]
            rest[here] &= ~gained
    return filled, rest


def shifts_of(picture: Picture, hole: Pixels) -> list[Shift]:
    """The shortest shifts under which what is known repeats itself, at most eight, none a multiple of another.

    Pictures of nature have none. ``picture``: ``uint8[H, W, 3]``; ``hole``: ``bool[H, W]``, not all hole.
    """
    known = ~hole
    unlike = 2 * float(picture[known].var(axis=0).sum())
    if unlike == 0:
        return []
    mismatches, middle = _mismatches(picture, known)
    # Shifts beside which none of the eight neighbours fits better; a shift up is the opposite of one down.
    whole = np.concatenate([mismatches[1:2, ::-1], mismatches])
    least = cv2.erode(whole, np.ones((3, 3), np.uint8))[-len(mismatches) :]
    down, right = np.nonzero((mismatches <= _LIKE * unlike) & (mismatches <= least + _LIKE * unlike / 1000))
    there = (down > 0) | (right > middle)  # of a shift and its opposite one is enough
    down, right = down[there], right[there] - middle
    on_the_way = [
        mismatches[np.rint(down * share).astype(np.intp), np.rint(right * share).astype(np.intp) + middle]
        for share in _ON_THE_WAY
    ]
    left = np.max(on_the_way, axis=0) >= _UNLIKE * unlike
    down, right = down[left], right[left]
    found: list[Shift] = []
    for index in np.lexsort((right, down, down**2 + right**2)):
        shift = (int(down[index]), int(right[index]))
        is_multiple = any(
            shift[0] * one[1] == shift[1] * one[0]
            and all(part % way == 0 if way else part == 0 for part, way in zip(shift, one, strict=True))
            for one in found
        )
        if len(found) < _SHIFTS and not is_multiple:
            found.append(shift)
    return found


def _mismatches(picture: Picture, known: Pixels) -> tuple[Mismatches, int]:
    """Mean squared differences, summed over the colours, ``float64[shifts down from 0, shifts to the left and right]``, and the
    column of no shift.

    Infinite where too few pairs tell. Sums over all known pairs of a shift are products of spectra.
    """
    from scipy import fft

    height, width = known.shape
    down, right = (int(side * _REACH) for side in (height, width))
    size = [fft.next_fast_len(height + down, real=True), fft.next_fast_len(width + right, real=True)]
    colours = np.where(known, np.moveaxis(picture - picture[known].mean(axis=0), 2, 0), 0.0)
    mask, squares = (fft.rfft2(one, size) for one in (known.astype(np.float64), (colours**2).sum(axis=0)))

    def by_shift(spectrum: npt.NDArray[np.float64]) -> Mismatches:
        sums = fft.irfft2(spectrum, size)[: down + 1]
        both: Mismatches = np.concatenate([sums[:, sums.shape[1] - right :], sums[:, : right + 1]], axis=1)
        return both

    pairs = by_shift(np.abs(mask) ** 2)
    alike = sum(np.abs(fft.rfft2(colour, size)) ** 2 for colour in colours)
    total = by_shift(2 * (np.conj(mask) * squares).real - 2 * alike)
    enough = pairs >= _LEAST_PAIRS * known.size
    return np.where(enough, total / np.maximum(pairs, 1), np.inf), right


Backend = Literal["auto", "numpy", "numba"]
# How much pixels count while a hole grows shut: those that are known, those filled before, and what the coarser size gave.
_KNOWN, _GROWN, _GUESSED = 8, 4, 1
# Draws from all sources for pixels that found none with the others.
_DRAWS_FOR_THE_LOST = 4
# Modules of one interface.
_CODE = {"numpy": "search", "numba": "compiled"}


def fill(
    picture: Picture,
    hole: Pixels,
    *,
    seed: int = 0,
    patch_pixels: int = 7,
    levels: int = 5,
    iterations: int = 2,
    backend: Backend = "auto",
) -> Picture | None:
    """The picture with its hole filled from what is known of it, ``uint8[H, W, 3]``; None where it has no whole patch to copy.

    A picture that repeats itself is continued exactly. Every run gives the same bytes, with either backend.

    Args:
        picture: ``uint8[H, W, 3]``; what lies in the hole does not matter.
        hole: ``bool[H, W]``, neither empty nor everything.
        seed: another one gives another filling.
        patch_pixels: side of a patch, odd.
        levels: sizes of the picture, each half of the one before, at most; fewer where patches run out.
        iterations: votes and new matches in each size but the full one, which has one.
        backend: ``numba``, plain ``numpy``, or ``auto``: numba where it is installed.

    Raises:
        InputError: there is no such backend. MissingExtraError: numba was asked for and is not installed.
    """
    code = importlib.import_module(f"inpaintbench.eval.exemplar.{_CODE[select_backend(backend)]}")
    blank = np.where(hole[..., None], np.uint8(0), picture)
    repeated, rest = continue_repeats(blank, hole)
    if not rest.any():
        return repeated
    sizes = levels_of(repeated, rest, patch_pixels=patch_pixels, levels=levels)
    coarser: tuple[Level, Match] | None = None
    for number, level in reversed(list(enumerate(sizes))):
        # Keys of the random numbers of one round after another, below 2^64.
        keys = (int(content_id("exemplar", seed, number, turn), 16) for turn in count())
        match = Match.none(level)
        if coarser is not None:
            _guess(level, match, *coarser)
        _grow(code, level, match, keys, number=number, coarsest=coarser is None)
        # Patches vote, and are matched to what that gives.
        targets, weights = level.targets, _weights(level)
        radii = (max(level.height, level.width) // 32, 2)
        for _ in range(iterations if number else 1):
            draws = Draws((1, 2), radii, 1, next(keys)) if number else Draws((1,), (), 0, next(keys))
            code.search(level, weights, match, targets, draws)
            level.colours[targets] = code.vote(level, match, targets, max(1, int(np.median(match.cost[targets]))))
        coarser = level, match
    return sizes[0].picture() if sizes else None


def _grow(code: Any, level: Level, match: Match, keys: Iterator[int], *, number: int, coarsest: bool) -> None:
    """Fill the hole layer by layer, each pixel with the middle of the best patch found for it."""
    targets = level.targets
    weights = _weights(level)
    weights[targets, :3] = 0 if coarsest else _GUESSED
    far = max(level.height, level.width) // 4
    reaches = (1, 2) if coarsest or number else (1,)
    radii = (far, far // 4, 4, 1) if coarsest else (4, 1) if number else (3,)
    # Where a coarser size said where to look, looking once is enough, and in the full size nearby.
    anywhere = (4, 1) if coarsest else (4,) if number else (0,)
    for layer in level.layers:
        for places in anywhere:
            code.search(level, weights, match, layer, Draws(reaches, radii, places, next(keys)))
        lost = layer[match.best[layer] == NOWHERE]
        if len(lost):
            code.search(level, weights, match, lost, Draws((), (), _DRAWS_FOR_THE_LOST, next(keys)))
        level.colours[layer] = level.colours[match.best[layer]]
        weights[layer, :3] = _GROWN


def _weights(level: Level) -> Weights:
    """Weights by which all pixels count alike, the margin and the fourth channel not at all."""
    weights = np.zeros_like(level.colours)
    weights[: len(level.inside), :3] = np.where(level.inside, np.int16(_KNOWN), np.int16(0))[:, None]
    return weights


def _guess(level: Level, match: Match, coarse: Level, found: Match) -> None:
    """Start from what the next coarser size found: its matches, one pixel there being four here, else its colours; in place."""
    targets = level.targets
    row, column = (part - level.half for part in np.divmod(targets, level.stride))
    above = (row // 2 + coarse.half) * coarse.stride + column // 2 + coarse.half
    source = found.best[above]
    down, right = (part - coarse.half for part in np.divmod(source, coarse.stride))
    down, right = 2 * down + row % 2, 2 * right + column % 2
    fits = (source != NOWHERE) & (down < level.height) & (right < level.width)
    place = np.where(fits, (down + level.half) * level.stride + right + level.half, 0).astype(np.int32)
    fits &= level.valid[place]
    level.colours[targets] = np.where(fits[:, None], level.colours[place], coarse.colours[above])
    match.best[targets] = np.where(fits, place, NOWHERE)


def select_backend(backend: Backend) -> str:
    """The backend behind ``auto``.

    Raises:
        InputError: there is no such backend. MissingExtraError: numba was asked for and is not installed.
    """
    return lazily.select_backend(backend, get_args(Backend), kind="exemplar", task="filling from exemplars")
