"""Krippendorff's alpha of counts: how many raters gave which value to which unit.

With ``s(n) = sum over pairs of values of n_c n_k d(c, k) / (N - 1)`` for counts ``n`` of sum ``N``, alpha is one less the sum of
``s`` of all units over ``s`` of their totals (Krippendorff, Content Analysis, 2004, chapter 11, put in counts). Squared distances
``d``: 0 or 1 on a nominal scale; of the numbers on an interval scale; of the mean ranks on an ordinal one, which are those of the
totals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.questions.base import Scale

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
# Numbers held at once while replicates are drawn.
_CHUNK = 4_000_000


class Measure(NamedTuple):
    """How far values lie from each other."""

    scale: Scale
    numbers: Floats
    """``[values]``, centred; read on interval scales."""
    alike: tuple[int, ...] = ()
    """Places of values that chance gives equally often; on nominal scales."""


class Blocks(NamedTuple):
    """What is resampled: kinds of units, or clusters of units."""

    totals: Floats
    """``[blocks, values]``."""
    within: Floats
    """``[blocks, 1]``, sum of ``s`` of the units; on an ordinal scale ``[blocks, values * values]``, before distances."""
    times: Counts
    """``[blocks]``, how many blocks are of this kind."""


def unit_blocks(counts: Counts, measure: Measure) -> Blocks:
    """Every unit a block; units with equal counts are one kind. ``counts`` is ``[units, values]``, each unit has two or more."""
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    return Blocks(kinds.astype(np.float64), _within(kinds.astype(np.float64), measure), times.astype(np.int64))


def cluster_blocks(counts: Counts, measure: Measure, *, clusters: Counts) -> Blocks:
    """Every cluster a block; ``clusters`` says for each unit which, counted from 0."""
    each = counts.astype(np.float64)
    within = _within(each, measure)
    found = [np.zeros((int(clusters.max()) + 1, columns)) for columns in (each.shape[1], within.shape[1])]
    np.add.at(found[0], clusters, each)
    np.add.at(found[1], clusters, within)
    return Blocks(found[0], found[1], np.ones(len(found[0]), np.int64))


def alphas(blocks: Blocks, measure: Measure, *, times: Floats) -> Floats:
    """``[replicates]``, alpha where block ``b`` is taken ``times[replicate, b]`` times; NaN where nothing varies."""
    totals, within = times @ blocks.totals, times @ blocks.within
    if measure.scale == "ordinal":
        distances = _distances(_mean_ranks(totals))
        within = np.einsum("rij,rij->r", within.reshape(distances.shape), distances)[:, None]
        expected = np.einsum("ri,rj,rij->r", totals, totals, distances) / np.maximum(totals.sum(axis=1) - 1, 1)
    else:
        expected = _spread(totals, measure)
    varies = np.count_nonzero(totals, axis=1) > 1
    alpha: Floats = np.where(varies, 1 - within[:, 0] / np.where(varies, expected, 1.0), np.nan)
    return alpha


def replicates(blocks: Blocks, measure: Measure, *, count: int, rng: np.random.Generator) -> Floats:
    """``[count]``, alphas of as many draws of as many blocks, with replacement."""
    total = int(blocks.times.sum())
    step = max(1, _CHUNK // (len(blocks.times) + blocks.within.shape[1]))
    drawn = [
        alphas(
            blocks, measure, times=rng.multinomial(total, blocks.times / total, size=min(step, count - start)).astype(np.float64)
        )
        for start in range(0, count, step)
    ]
    return np.concatenate(drawn)


def _within(counts: Floats, measure: Measure) -> Floats:
    if measure.scale != "ordinal":
        return _spread(counts, measure._replace(alike=()))[:, None]
    pairs = counts[:, :, None] * counts[:, None, :] / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]
    return np.asarray(pairs.reshape(len(counts), -1), np.float64)


def _spread(counts: Floats, measure: Measure) -> Floats:
    """``s`` of each row, without going over pairs."""
    if measure.alike:
        counts = counts.copy()
        counts[:, measure.alike] = counts[:, measure.alike].mean(axis=1, keepdims=True)
    number = counts.sum(axis=1)
    if measure.scale == "nominal":
        pairs = number**2 - (counts**2).sum(axis=1)
    else:
        pairs = 2 * (number * (counts @ measure.numbers**2) - (counts @ measure.numbers) ** 2)
    spread: Floats = pairs / np.maximum(number - 1, 1)
    return spread


def _mean_ranks(totals: Floats) -> Floats:
    return np.cumsum(totals, axis=1) - totals / 2


def _distances(places: Floats) -> Floats:
    squared: Floats = (places[:, :, None] - places[:, None, :]) ** 2
    return squared
