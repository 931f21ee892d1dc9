"""Pairs of factors that hurt together: found on one half of the sources, confirmed on the other, or not told.

There are too many pairs to look at all of them and still believe the clearest. So one half of the sources, drawn by the hash of
their names, proposes one pair for each method, and the other half, which nobody has looked at, decides on these few alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inpaintbench.claims import jackknife_error, too_few
from inpaintbench.eval.comparing.columns import Array, Columns, Inside
from inpaintbench.eval.comparing.factor_effects import regression_on
from inpaintbench.eval.comparing.factors import Factor, Factors, Step, factors_of, source_numbers
from inpaintbench.eval.comparing.simultaneous import simultaneous
from inpaintbench.eval.diagnosis.records import Together
from inpaintbench.eval.results.quantity import Quantity, first_shown
from inpaintbench.eval.values.permutation import LEVEL

if TYPE_CHECKING:
    from inpaintbench.eval.results.tables import Results

# Size of an effect in standard errors from which the first half proposes it.
_LEAST_RATIO = 2.0


class _Crossed(NamedTuple):
    """Columns whose last coefficient is what two factors do beyond the sum of each."""

    one: Factor
    other: Factor
    beside: Array
    """``float64[rows, k]``: what else is held constant."""
    columns: tuple[Array, ...]
    """Of items: the one, the other, their product. Of pairs, whose difference is what the one does: the other."""
    step: Step | None
    """Whose pairs the rows are; None where they are items."""


def _candidates(factors: Factors) -> Iterator[_Crossed]:
    for (one, x), (other, z) in combinations(factors.columns, 2):
        rest = [values for factor, values in factors.columns if factor not in (one, other)]
        yield _Crossed(one, other, np.column_stack([factors.beside, *rest]), (x, z, x * z), None)
    for step in factors.steps:
        for other, z in factors.columns:
            one = step.factor._replace(step=f"{step.low_level} to {step.high_level}")
            yield _Crossed(one, other, np.zeros((len(step.low), 0)), (z[step.low],), step)


def together(results: Results) -> list[Together]:
    """Pairs that hurt together by the quantity that a page opens with, the primary one where it was measured."""
    quantity = first_shown(results.quantities, results.protocol)
    factors = factors_of(results)
    if not quantity.ranked or quantity.of_sets or not factors.columns:
        return []
    columns = Columns(results, quantity, source_numbers(results))
    first = _first_half(results)
    if too_few(int(first.sum())) or too_few(int((~first).sum())):
        return []
    proposed = [(method, found) for method in results.contenders if (found := _proposed(factors, columns, method, first))]
    confirmed = [(method, crossed, own) for method, crossed in proposed if (own := _last(crossed, columns, method, ~first))]
    if not confirmed:
        return []
    among = simultaneous(
        np.array([own.value for _, _, own in confirmed]),
        np.stack([own.without for _, _, own in confirmed], axis=1)[~first],
        shares=np.stack([own.shares for _, _, own in confirmed], axis=1)[~first],
        alike=[crossed.step is None for _, crossed, _ in confirmed],
    )
    return [
        Together(crossed.one, crossed.other, quantity, method, own.value, float(reach), float(p), own.n_sources)
        for (method, crossed, own), reach, p in zip(confirmed, among.reach, among.p, strict=True)
        if p < LEVEL and _harms(own.value, quantity)
    ]


def _first_half(results: Results) -> Inside:
    """``bool[sources]``: the half that proposes."""
    names = sorted(set(results.sources.values()))
    order = sorted(range(len(names)), key=lambda at: hashlib.sha256(names[at].encode()).digest())
    first = np.zeros(len(names), np.bool_)
    first[order[: len(names) // 2]] = True
    return first


def _harms(value: float, quantity: Quantity) -> bool:
    return value < 0 if quantity.higher_is_better else value > 0


class _Last(NamedTuple):
    """The last coefficient, with what it stands beside."""

    value: float
    without: Array
    """``float64[sources]``, as the next."""
    shares: Array
    alone: tuple[float, ...]
    """What the two do by themselves; of pairs the step alone, since the other is the same on both sides."""
    n_sources: int


def _last(crossed: _Crossed, columns: Columns, method: str, half: Inside) -> _Last | None:
    """What both do together in one half of the sources; None where that is not defined, with all of them or without any one."""
    values, sources, weights = columns.finite(method), columns.sources, columns.weights[method]
    if step := crossed.step:
        values, weights = values[step.high] - values[step.low], (weights[step.low] + weights[step.high]) / 2
        sources = sources[step.low]
    regression = regression_on(crossed.beside, crossed.columns, sources, columns.n_sources)
    there = half[sources] & ~np.isnan(values) & ~np.isnan(regression.columns).any(axis=1)
    last, n_sources = regression.columns.shape[1] - 1, len(np.unique(sources[there]))
    if too_few(n_sources):
        return None
    fit = regression.fit(values[:, None], there, weights)
    if not fit.tells[last]:
        return None
    own = fit.coefficients[:, 0].tolist()
    shares, alone = fit.shares[:, last], tuple(own[:1] if step else own[-3:-1])
    return _Last(own[-1], fit.without[:, last, 0], shares, alone, n_sources)


def _proposed(factors: Factors, columns: Columns, method: str, half: Inside) -> _Crossed | None:
    """The pair that is clearest to hurt more than the sum of two that each hurt; None where none is clear."""
    best, most = None, _LEAST_RATIO
    for crossed in _candidates(factors):
        found = _last(crossed, columns, method, half)
        if found and all(_harms(value, columns.quantity) for value in (found.value, *found.alone)):
            error = jackknife_error(found.without[half].tolist())
            ratio = abs(found.value) / error if error > 0 else 0.0
            if ratio > most:
                best, most = crossed, ratio
    return best
