"""One correction for everything that was looked at: simultaneous intervals and adjusted p of many effects over the same sources.

An effect is any number that can be made again without one source: a difference between slices, a lead of a method, a
coefficient of a regression. Whoever shows many and tells of the clearest has chosen it by its luck; here the bound is what the
clearest of all reaches by chance (max-T of Westfall and Young, Resampling-Based Multiple Testing, 1993). Chance is drawn by
flipping the sign of what each source adds to every effect (wild cluster bootstrap of scores: Kline and Santos, Journal of
Econometric Methods, 2012), so that whatever effects have in common, they have in the draws. `bench/claims.py` measures how often
it speaks where there is nothing, and how often it finds what is there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import ENOUGH_SOURCES, students_t
from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.types import item_rng

special = lazily("scipy.special")  # a fifth of a second

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
    estimates: Array, without_each: Array, *, alike: Sequence[object], shares: Array | None = None,
    first: npt.NDArray[np.bool_] | None = None, seed: int = 0,
) -> Simultaneous:  # fmt: skip
    """Intervals and p of effects that were all looked at.

    The standard error is the jackknife's over sources. With few sources it is a chance number itself, and the clearest of many
    effects would be one whose error came out small. So errors of effects of one kind are drawn towards their common size, on the
    scale of logarithms, by as much of their spread as chance alone gives errors of so many sources (Smyth, Statistical
    Applications in Genetics and Molecular Biology, 2004, in its linear form); every draw does the same, from its own spread.

    A source with most of the items moves an estimate towards itself and hides in it. With ``shares`` every draw is fitted again
    as the study was, from what each source adds to an estimate made without it (MacKinnon, Nielsen and Webb, Journal of Applied
    Econometrics, 2023), and no interval is narrower than that of Student's t with Kish's degrees of freedom.

    Args:
        estimates: ``float64[K]``.
        without_each: ``float64[S, K]``, the estimates without one source each, at least two; equal to the estimate where a
            source has no part in it.
        alike: kind of each effect; those of one kind are in one unit and rest on designs of about one size.
        shares: ``float64[S, K]``, what each source counts for in an estimate, 0..1 and 1 together: its share of the items of a
            mean, its leverage on a slope. NaN throughout an effect, or None for all: those that have a part in it count alike.
        first: effects that were declared before anything was seen. They are corrected for each other alone, with
            ``FIRST_SHARE`` of the error; the others for all, with the rest of it until one of these is told. None, or all of
            them: all are corrected for all.
        seed: of the drawn flips.
    """
    signs = _signs(len(without_each), seed)
    pulls = difference(estimates, without_each)
    there = pulls != 0
    counts = np.maximum(there.sum(axis=0), 1)
    alike_all = np.ones(len(estimates), np.bool_) if shares is None else np.isnan(shares).any(axis=0)
    parts = there / counts if shares is None else np.where(alike_all, there / counts, shares)
    pulls = np.where(there & alike_all, pulls - pulls.sum(axis=0) / counts, pulls)
    # Errors that are drawn together are as sure as those of about twice as many sources.
    degrees = _degrees(parts)
    rarity = 2 * degrees
    errors, tops = np.zeros(len(estimates)), np.zeros((2, len(signs)))
    early = np.zeros(len(estimates), np.bool_) if first is None else first
    kinds = np.unique([f"{kind!r}" for kind in alike], return_inverse=True)[1]
    for kind in range(kinds.max(initial=-1) + 1):
        known = np.flatnonzero((kinds == kind) & pulls.any(axis=0))
        if len(known):
            errors[known], drawn = _of_kind(pulls[:, known], parts[:, known], signs)
            drawn = _normal(drawn, rarity[known])
            for family in (0, 1):
                own = drawn[:, early[known] == bool(family)]
                tops[family] = np.maximum(tops[family], own.max(axis=1, initial=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(estimates == 0, 0.0, np.abs(estimates) / errors)
    scores = _normal(ratios, rarity)
    own, every = np.sort(tops[1]), np.sort(tops.max(axis=0))
    p, levels = _exceeded(every, scores), (LEVEL, LEVEL)
    if early.any() and not early.all():
        declared = np.minimum(1, _exceeded(own, scores) / FIRST_SHARE)
        least = float(declared[early].min())
        rest = np.minimum(np.maximum(p, least), p / (1 - FIRST_SHARE))
        p = np.where(early, declared, np.minimum(1, rest))
        opened = least < 1 - LEVEL
        levels = (LEVEL if opened else 1 - (1 - LEVEL) * (1 - FIRST_SHARE), 1 - (1 - LEVEL) * FIRST_SHARE)
    bounds = [_bound(sizes, level) for sizes, level in zip((every, own), levels, strict=True)]
    # Of few sources that count unequally even a single estimate strays farther than flips of their signs can show.
    narrowest = np.where(alike_all, 0.0, special.stdtrit(degrees, (1 + LEVEL) / 2))
    reach = np.maximum(_students(np.where(early, bounds[not early.all()], bounds[0]), rarity), narrowest)
    p = np.where(alike_all, p, np.maximum(p, 2 * special.stdtr(degrees, -ratios)))
    return Simultaneous(errors, reach * errors, p)


def difference(values: npt.ArrayLike, others: npt.ArrayLike) -> Array:
    """Values less others, 0 where that is rounding alone: means of equal values differ by their order of summation."""
    first, second = np.asarray(values, np.float64), np.asarray(others, np.float64)
    apart = first - second
    return np.where(np.abs(apart) <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, apart)


def _degrees(shares: Array) -> Array:
    """Degrees of freedom of each effect, at least 1: Kish's effective number of sources less one."""
    return np.asarray(np.maximum(1.0, shares.sum(axis=0) ** 2 / np.maximum((shares**2).sum(axis=0), 1e-300) - 1))


def _normal(ratios: Array, degrees: Array) -> Array:
    """Sizes of Student's t with these degrees of freedom as those of a normal number that is as rare.

    Effects that rest on few sources stray far by chance alone; without it these would set the bound of all others. Closed form by
    Wallace, Annals of Mathematical Statistics, 1959, exact to 2 % from five degrees on, to 7 % with two.
    """
    sizes = np.sqrt(degrees * np.log1p(ratios**2 / degrees)) * (8 * degrees + 1) / (8 * degrees + 3)
    return np.asarray(sizes, np.float64)


def _students(sizes: Array, degrees: Array) -> Array:
    """The inverse of ``_normal``."""
    with np.errstate(over="ignore"):
        ratios = np.sqrt(degrees * np.expm1((sizes * (8 * degrees + 3) / (8 * degrees + 1)) ** 2 / degrees))
    return np.asarray(ratios, np.float64)


def _of_kind(pulls: Array, shares: Array, signs: Array) -> tuple[Array, Array]:
    """Standard errors of effects of one kind, and their sizes in every draw, in standard errors of the draw."""
    counts = np.maximum(np.count_nonzero(shares, axis=0), 2)
    squares, moved, count_share = (pulls**2).sum(axis=0), signs @ pulls, (counts - 1) / counts
    chance = float(special.polygamma(1, _degrees(shares) / 2).mean())

    def errors(squares: Array) -> Array:
        logs = np.log(count_share * squares)
        if logs.shape[-1] == 1:
            return np.asarray(np.exp(logs / 2))
        spread = np.maximum(logs.var(axis=-1, ddof=1, keepdims=True), 1e-12)
        own = 1 - np.minimum(1.0, chance / spread)
        return np.asarray(np.exp((own * logs + (1 - own) * logs.mean(axis=-1, keepdims=True)) / 2))

    # A mean moves its own residuals, most of all that of a source that counts for much of it: the jackknife of a draw is
    # (sign pull - share moved) / (1 - share). Where all of an effect turns one way none are left.
    scale = 1 / np.maximum(1 - shares, 1e-6)
    left = ((pulls * scale) ** 2).sum(axis=0) - 2 * moved * (signs @ (pulls * shares * scale**2))
    left += moved**2 * ((shares * scale) ** 2).sum(axis=0)
    return errors(squares), np.asarray(np.abs(moved) / errors(np.maximum(left, 1e-9 * squares)), np.float64)


def _exceeded(sizes: Array, ratios: Array) -> Array:
    """How often a draw reaches each ratio, the study itself counted as one of them (Phipson and Smyth, 2010)."""
    reached = len(sizes) - np.searchsorted(sizes, ratios * (1 - 1e-12))
    return np.asarray((1 + reached) / (1 + len(sizes)), np.float64)


def _bound(sizes: Array, level: float) -> float:
    """The size beyond which ``_exceeded`` is below 1 - ``level``: an interval leaves 0 out where the p says so, and nowhere else.

    Of so few flips that no size would do, the largest.

    Args:
        sizes: of the draws, ascending.
        level: confidence level, 0..1.
    """
    most = math.ceil((1 - level) * (1 + len(sizes)) - 1e-9) - 2  # draws that may reach it, the study itself being one more
    return float(sizes[len(sizes) - 1 - max(most, 0)])


@lru_cache(maxsize=16)
def _signs(count: int, seed: int) -> Array:
    """``float64[flips, count]`` of -1 and 1."""
    if count <= MOST_ENUMERATED_SOURCES:
        flipped = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    else:
        flipped = item_rng(seed, "flips of sources", str(count)).integers(0, 2, size=(DRAWN_FLIPS, count))
    return 1 - 2 * flipped.astype(np.float64)


# Share of studies that are to find what is there.
POWER = 0.8
# Beyond it nobody plans; where so many do not do, none are said to.
MOST_FILMS = 10_000


class Deviations(NamedTuple):
    """Standard deviations of an effect, in its unit."""

    films: float
    """Of what it is in each film, between films."""
    clips: float
    """Of what it is in each clip of a film, between them."""
    masks: float
    """Of one difference around what its clip has: masks and what else chance draws."""


class Design(NamedTuple):
    """How much is measured, and how much is looked at."""

    clips: float
    """Of a film."""
    masks: float
    """Of a clip: differences that the effect is the mean of, such as pairs of an axis."""
    effects: int
    """Looked at together; see ``effects_of``."""
    declared: float = FIRST_SHARE
    """Share of the 5 % that they have: the primary quantity's beside others, or 1 where there is no other."""


class Needed(NamedTuple):
    """What finds an effect."""

    effect: float
    films: int | None
    """None where more than ``MOST_FILMS`` would have to be."""


def effects_of(axes: int, methods: int) -> int:
    """Number of effects of so many axes of two levels: of each on each method and on each lead of one over another."""
    leads = methods * (methods - 1) // 2
    return axes * (methods + leads) + leads


def power_of(effect: float, films: int, deviations: Deviations, design: Design) -> float:
    """Share of studies, 0..1, that tell an effect of a true size and get its sign right; 0 with too few films for any claim."""
    if films < ENOUGH_SOURCES:
        return 0.0
    error = _error(films, deviations, design)
    if error == 0:
        return float(effect != 0)
    degrees = (films - 1) * (1 if design.effects == 1 else 2)
    # Standard errors by which an effect has to differ from 0.
    bound = students_t((1 - (1 - LEVEL) * design.declared) ** (1 / design.effects), degrees)
    # Of a t that lies off by the effect in standard errors: the share beyond the bound on that side.
    return 1 - float(special.nctdtr(degrees, abs(effect) / error, bound))


def least_effect(films: int, deviations: Deviations, design: Design, *, power: float = POWER) -> float | None:
    """The least size that a share ``power`` of studies of so many films tells; None with too few films for any claim."""
    if films < ENOUGH_SOURCES:
        return None
    error = _error(films, deviations, design)
    low, high = 0.0, 1.0
    while error and power_of(high * error, films, deviations, design) < power:
        low, high = high, 2 * high
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if error and power_of(middle * error, films, deviations, design) < power else (low, middle)
    return high * error


def needed(effect: float, deviations: Deviations, design: Design, *, power: float = POWER) -> Needed:
    """The fewest films that find an effect in a share ``power`` of studies.

    Raises:
        InputError: an effect of no size, or a power that is no share.
    """
    if not effect > 0 or not 0 < power < 1:
        raise InputError(f"an effect of {effect:g} or a power of {power:g} is out of range (above 0, 0..1)")
    low, high = ENOUGH_SOURCES - 1, ENOUGH_SOURCES
    while power_of(effect, high, deviations, design) < power:
        low, high = high, 2 * high
        if low >= MOST_FILMS:
            return Needed(effect, None)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(effect, middle, deviations, design) < power else (low, middle)
    return Needed(effect, high)


def _error(films: int, deviations: Deviations, design: Design) -> float:
    """Standard error of the mean over films."""
    of_clip = deviations.clips**2 + deviations.masks**2 / design.masks
    return math.sqrt((deviations.films**2 + of_clip / design.clips) / films)
