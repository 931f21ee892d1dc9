"""Holes filled with patches of the same picture, from coarse to fine.

Patches are matched by random draws that good matches spread to their neighbours (Barnes and others, "PatchMatch", 2009), in each
size of the picture (Wexler, Shechtman and Irani, "Space-time completion of video", 2007). In each, the hole first grows shut from
its border, guided by the size before; then overlapping patches vote and are matched again.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import Any, Literal, get_args

import numpy as np

from inpaintbench.errors import InputError, MissingExtraError
from inpaintbench.eval.exemplar.levels import NOWHERE, Level, Picture, Pixels, levels_of
from inpaintbench.eval.exemplar.repeats import continue_repeats
from inpaintbench.eval.exemplar.search import Draws, Match, Weights
from inpaintbench.types import content_id

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
        keys = _keys(seed, number)
        match = Match.none(level)
        if coarser is not None:
            _guess(level, match, *coarser)
        _grow(code, level, match, keys, number=number, coarsest=coarser is None)
        _settle(code, level, match, keys, number=number, turns=iterations if number else 1)
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


def _settle(code: Any, level: Level, match: Match, keys: Iterator[int], *, number: int, turns: int) -> None:
    """Let patches vote, and match them to what that gives."""
    targets, weights = level.targets, _weights(level)
    radii = (max(level.height, level.width) // 32, 2)
    for _ in range(turns):
        draws = Draws((1, 2), radii, 1, next(keys)) if number else Draws((1,), (), 0, next(keys))
        code.search(level, weights, match, targets, draws)
        level.colours[targets] = code.vote(level, match, targets, max(1, int(np.median(match.cost[targets]))))


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


def _keys(seed: int, number: int) -> Iterator[int]:
    """Keys of the random numbers of one round after another, below 2^64."""
    return (int(content_id("exemplar", seed, number, turn), 16) for turn in count())


def select_backend(backend: Backend) -> Literal["numpy", "numba"]:
    """The backend behind ``auto``.

    Raises:
        InputError: there is no such backend. MissingExtraError: numba was asked for and is not installed.
    """
    if backend not in get_args(Backend):
        raise InputError(f"there is no exemplar backend {backend!r}: choose one of {', '.join(get_args(Backend))}")
    if backend == "auto":
        return "numba" if _installed("numba") else "numpy"
    if backend == "numba" and not _installed("numba"):
        raise MissingExtraError("filling from exemplars with numba", "masks")
    return backend


@lru_cache
def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
