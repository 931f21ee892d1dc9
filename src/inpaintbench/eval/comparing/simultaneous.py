"""One correction for everything that was looked at: simultaneous intervals and adjusted p of many effects over the same sources.

An effect is any number that can be made again without one source: a difference between slices, a lead of a method, a
coefficient of a regression. Whoever shows many and tells of the clearest has chosen it by its luck; here the bound is what the
clearest of all reaches by chance (max-T of Westfall and Young, Resampling-Based Multiple Testing, 1993). Chance is drawn by
flipping the sign of what each source adds to every effect (wild cluster bootstrap of scores: Kline and Santos, Journal of
Econometric Methods, 2012), so that whatever effects have in common, they have in the draws. `bench/claims.py` measures how often
it speaks where there is nothing, and how often it finds what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import polygamma

from inpaintbench.types import item_rng

Array = npt.NDArray[np.float64]

# Confidence level of all intervals together.
LEVEL = 0.95
# Sources up to which every flip is taken, 2^11 of them, since flipping all changes no size; drawn beyond, about as many.
MOST_ENUMERATED_SOURCES = 12
DRAWN_FLIPS = 1999
# Share of the 5 % that effects declared first have, until one of them is told: then all of it goes to the others too (fallback
# procedure: Wiens, Pharmaceutical Statistics, 2003). They lose little by it, and what is very clear elsewhere is still told.
FIRST_SHARE = 0.8


class Simultaneous(NamedTuple):
    """What can be told of each of many effects, in their order."""

    errors: Array
    """Standard errors, ``float64[K]``; see ``simultaneous``."""
    reach: Array
    """Half the widths of intervals that hold all effects together in 95 % of studies."""
    p: Array
    """Two-sided, corrected for all that was looked at."""


def simultaneous(
    estimates: Array, without_each: Array, *, alike: Sequence[object], first: npt.NDArray[np.bool_] | None = None, seed: int = 0
) -> Simultaneous:
    """Intervals and p of effects that were all looked at.

    The standard error is the jackknife's over sources. With few sources it is a chance number itself, and the clearest of many
    effects would be one whose error came out small. So errors of effects of one kind are drawn towards their common size, on the
    scale of logarithms, by as much of their spread as chance alone gives errors of so many sources (Smyth, Statistical
    Applications in Genetics and Molecular Biology, 2004, in its linear form); every draw does the same.

    Args:
        estimates: ``float64[K]``.
        without_each: ``float64[S, K]``, the estimates without one source each, at least two; equal to the estimate where a
            source has no part in it.
        alike: kind of each effect; those of one kind are in one unit and rest on designs of about one size.
        first: effects that were declared before anything was seen. They are corrected for each other alone, with
            ``FIRST_SHARE`` of the error; the others for all, with the rest of it until one of these is told. None, or all of
            them: all are corrected for all.
        seed: of the drawn flips.
    """
    signs = _signs(len(without_each), seed)
    pulls = difference(estimates, without_each)
    there = pulls != 0
    counts = np.maximum(there.sum(axis=0), 1)
    pulls = np.where(there, pulls - pulls.sum(axis=0) / counts, 0.0)
    errors, tops = np.zeros(len(estimates)), np.zeros((2, len(signs)))
    early = np.zeros(len(estimates), np.bool_) if first is None else first
    kinds = np.unique([f"{kind!r}" for kind in alike], return_inverse=True)[1]
    for kind in range(kinds.max(initial=-1) + 1):
        known = np.flatnonzero((kinds == kind) & pulls.any(axis=0))
        if len(known):
            errors[known], drawn = _of_kind(pulls[:, known], counts[known], signs)
            for family in (0, 1):
                own = drawn[:, early[known] == bool(family)]
                tops[family] = np.maximum(tops[family], own.max(axis=1, initial=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(estimates == 0, 0.0, np.abs(estimates) / errors)
    own, every = np.sort(tops[1]), np.sort(tops.max(axis=0))
    p, levels = _exceeded(every, ratios), (LEVEL, LEVEL)
    if early.any() and not early.all():
        declared = np.minimum(1, _exceeded(own, ratios) / FIRST_SHARE)
        least = float(declared[early].min())
        rest = np.minimum(np.maximum(p, least), p / (1 - FIRST_SHARE))
        p = np.where(early, declared, np.minimum(1, rest))
        opened = least < 1 - LEVEL
        levels = (LEVEL if opened else 1 - (1 - LEVEL) * (1 - FIRST_SHARE), 1 - (1 - LEVEL) * FIRST_SHARE)
    bounds = [float(np.quantile(sizes, level, method="higher")) for sizes, level in zip((every, own), levels, strict=True)]
    return Simultaneous(errors, np.where(early, bounds[not early.all()], bounds[0]) * errors, p)


def difference(values: npt.ArrayLike, others: npt.ArrayLike) -> Array:
    """Values less others, 0 where that is rounding alone: means of equal values differ by their order of summation."""
    first, second = np.asarray(values, np.float64), np.asarray(others, np.float64)
    apart = first - second
    return np.where(np.abs(apart) <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, apart)


def _of_kind(pulls: Array, counts: Array, signs: Array) -> tuple[Array, Array]:
    """Standard errors of effects of one kind, and their sizes in every draw, in standard errors of the draw."""
    squares, moved, share = (pulls**2).sum(axis=0), signs @ pulls, (counts - 1) / counts
    logs = np.log(share * squares)
    spread, chance = float(logs.var(ddof=1)) if len(logs) > 1 else 0.0, float(polygamma(1, (counts - 1) / 2).mean())
    own = 1 - min(1.0, chance / spread) if spread > 0 else 0.0

    def errors(logs: Array) -> Array:
        drawn: Array = np.exp((own * logs + (1 - own) * logs.mean(axis=-1, keepdims=True)) / 2)
        return drawn

    # A mean moves its own residuals; where all of an effect turns one way none are left.
    left = np.maximum(squares - moved**2 / counts, 1e-9 * squares)
    return errors(logs), np.asarray(share * np.abs(moved) / errors(np.log(share * left)), np.float64)


def _exceeded(sizes: Array, ratios: Array) -> Array:
    """How often a draw reaches each ratio, the study itself counted as one of them (Phipson and Smyth, 2010)."""
    reached = len(sizes) - np.searchsorted(sizes, ratios * (1 - 1e-12))
    return np.asarray((1 + reached) / (1 + len(sizes)), np.float64)


@lru_cache(maxsize=16)
def _signs(count: int, seed: int) -> Array:
    """``float64[flips, count]`` of -1 and 1."""
    if count <= MOST_ENUMERATED_SOURCES:
        flipped = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    else:
        flipped = item_rng(seed, "flips of sources", str(count)).integers(0, 2, size=(DRAWN_FLIPS, count))
    return 1 - 2 * flipped.astype(np.float64)
