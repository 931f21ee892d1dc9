"""Whole comparison studies, simulated and judged, many at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from inpaintbench.annotate.statistics.davidson import Design, Ints, Reals, fit, probabilities

# Votes, and rows of all jackknife fits, that are held in memory at once.
CHUNK_VOTES, CHUNK_FITS = 400_000, 200_000


@dataclass(frozen=True)
class World:
    """Assumed differences between raters and between sources; standard deviations in log units."""

    source_spread: float = 0.3
    """Spread of a method's strength between sources."""
    bias_spread: float = 0.3
    """Spread of raters' bias towards one side."""
    tie_spread: float = 0.5
    """Spread of raters' log nu, their readiness to call a tie."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A study to be simulated."""

    strengths: Reals
    log_nu: float
    raters: int
    sources: int
    world: World
    apart: tuple[tuple[int, int], ...]
    standard_errors_apart: float
    """By which a method leads another for certain."""
    seed: int

    @property
    def pairs(self) -> Ints:
        """``int64[pairs, 2]``: the better method first."""
        return np.array(list(combinations(range(len(self.strengths)), 2)), np.int64)

    @property
    def tasks(self) -> int:
        """Pairs of all sources."""
        return len(self.pairs) * self.sources


def power(setting: Setting, votes: int, *, studies: int) -> float:
    """Share of so many simulated studies that have enough with ``votes`` votes.

    The first votes of a study are the same whatever their number, so that more votes tell more, and the first studies are the
    same whatever theirs.
    """
    both = np.concatenate([setting.pairs, setting.pairs[:, ::-1]])
    design = Design(len(setting.strengths), both[:, 0], both[:, 1], np.zeros(len(both), np.int64))
    effects = _effects(setting, studies)
    fits_at_once = max(1, CHUNK_FITS // (setting.sources * len(design.first)))
    at_once = max(1, min(studies, CHUNK_VOTES // votes, fits_at_once))
    apart = []
    for start in range(0, studies, at_once):
        some = _Effects(*(effect[start : start + at_once] for effect in effects))
        apart.append(_told_apart(setting, design, _counts(setting, votes, some, first_study=start)))
    return float(np.concatenate(apart).mean())


class _Effects(NamedTuple):
    strengths: Reals
    """``float64[studies, sources, methods]``."""
    bias: Reals
    """``float64[studies, raters]``."""
    log_nu: Reals


def _effects(setting: Setting, studies: int) -> _Effects:
    """Effects of sources and raters: the same whatever the number of votes, so that numbers of votes compare fairly."""
    world, methods = setting.world, len(setting.strengths)
    bias_rng, tie_rng, source_rng = np.random.default_rng(setting.seed).spawn(3)
    return _Effects(
        setting.strengths + source_rng.normal(0, world.source_spread, (studies, setting.sources, methods)),
        bias_rng.normal(0, world.bias_spread, (studies, setting.raters)),
        tie_rng.normal(setting.log_nu, world.tie_spread, (studies, setting.raters)),
    )


def _counts(setting: Setting, votes: int, effects: _Effects, *, first_study: int) -> Reals:
    """``float64[studies, sources, rows, 3]``: every task gets its votes in turn; sides and raters are drawn."""
    pairs, studies = setting.pairs, len(effects.bias)
    turns, draws = np.empty((studies, setting.tasks), np.int64), np.empty((studies, votes, 3))
    for number in range(studies):
        rng = np.random.default_rng([setting.seed, first_study + number])
        turns[number], draws[number] = rng.permutation(setting.tasks), rng.random((votes, 3))
    # The last, unfinished round of votes goes to some tasks only.
    task = np.tile(turns, (1, votes // setting.tasks + 1))[:, :votes]
    source, pair = task // len(pairs), task % len(pairs)
    swapped = (draws[..., 0] < 0.5).astype(np.int64)
    rater = (draws[..., 1] * setting.raters).astype(np.int64)
    study = np.arange(studies)[:, None]
    lead = effects.strengths[study, source, pairs[pair, 0]] - effects.strengths[study, source, pairs[pair, 1]]
    shares = probabilities(np.where(swapped, -lead, lead) + effects.bias[study, rater], effects.log_nu[study, rater])
    outcome = (draws[..., 2, None] > np.cumsum(shares, axis=-1)[..., :2]).sum(axis=-1)
    rows = 2 * len(pairs)
    place = ((study * setting.sources + source) * rows + swapped * len(pairs) + pair) * 3 + outcome
    counts = np.bincount(place.ravel(), minlength=studies * setting.sources * rows * 3).astype(np.float64)
    return counts.reshape(studies, setting.sources, rows, 3)


def _told_apart(setting: Setting, design: Design, counts: Reals) -> Reals:
    """``float64[studies]``: 1 where all differences that matter are certain."""
    studies, sources = counts.shape[:2]
    total = counts.sum(axis=1)
    fitted = fit(design, total)
    left = fit(design, (total[:, None] - counts).reshape(studies * sources, -1, 3), start=fitted)
    better, worse = np.array(setting.apart).T
    lead = fitted.strengths[:, better] - fitted.strengths[:, worse]
    strengths = left.strengths.reshape(studies, sources, -1)
    moved = strengths[..., better] - strengths[..., worse] - lead[:, None]
    errors = np.sqrt((sources - 1) / sources * np.square(moved).sum(axis=1))
    apart: Reals = (lead > setting.standard_errors_apart * errors).all(axis=1).astype(np.float64)
    return apart
