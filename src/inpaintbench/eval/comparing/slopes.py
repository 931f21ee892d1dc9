"""Least squares over items of which those of one source resemble each other, with the same coefficients without each source.

Scores of one film share its difficulty. So a column that differs within films is judged within them, where that cancels, and one
that is its film's between them: generalised least squares with a random intercept for each source, ``b = (X'UX)^-1 X'Uy`` with
``U^-1 = W^-1 + r`` within a source (Fuller and Battese, Journal of the American Statistical Association, 1973). How much they
resemble each other, ``r``, is estimated from the values; an estimate that is off makes errors larger and no claim wrong, since
these leave out whole sources (cluster jackknife CV3 of MacKinnon, Nielsen and Webb, Journal of Econometrics, 2023). It needs sums
alone, from which a source's part is taken, and nothing is fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Inside = npt.NDArray[np.bool_]

# Share of the largest eigenvalue below which a direction of the columns counts as absent: they are of about unit size.
_ABSENT = 1e-9
_ROUNDING = 1e-11


class Fit(NamedTuple):
    """Columns of values on the columns of a regression."""

    coefficients: Array
    """``float64[columns, values]``."""
    without: Array
    """``float64[sources, columns, values]``, without each source; of sources without an item as with all."""
    expected: Array
    """``float64[items, values]``, what the other sources let expect of each item; NaN of items that are left out."""
    shares: Array
    """``float64[sources, columns]``: leverage of each source on a coefficient, 1 together: its part of what no other column says
    of that one (theorem of Frisch and Waugh)."""
    tells: Inside
    """``bool[columns]``: the coefficient is defined, with all sources and without any one."""


class Regression:
    """Columns on which values are regressed."""

    def __init__(self, columns: Array, sources: Places, n_sources: int) -> None:
        """Take columns ``float64[items, p]``, the constant among them, and the numbers of sources, 0..``n_sources`` - 1."""
        self.columns, self.sources, self.n_sources = columns, sources, n_sources

    def fit(self, values: Array, there: Inside, weights: Array, *, resemblance: float | None = None) -> Fit:
        """Regress values over the items that are ``there``.

        Args:
            values: ``float64[items, k]``, of one kind: ``resemblance`` is the same for all.
            there: ``bool[items]``.
            weights: ``float64[items]``, of the items.
            resemblance: variance of what items of a source share, in units of the rest of an item of weight 1; None: as the
                values have it.
        """
        x, y, w, own = self.columns[there], values[there], weights[there, None], self.sources[there]
        by_source = _BySource(own, self.n_sources)
        if resemblance is None:
            resemblance = _resemblance(x, y, w, by_source)
        sizes = by_source.sums(np.ones_like(w), w)[:, 0, 0]
        common = np.sqrt(resemblance / (1 + resemblance * sizes))[:, None]
        of_x, of_y = (common * by_source.sums(w, side)[:, 0] for side in (x, y))
        squares = by_source.sums(w * x, x) - of_x[:, :, None] * of_x[:, None]
        products = by_source.sums(w * x, y) - of_x[:, :, None] * of_y[:, None]
        left = squares.sum(axis=0) - np.concatenate([np.zeros_like(squares[:1]), squares])
        inverses = np.linalg.pinv(left, rcond=_ABSENT, hermitian=True)
        whole, inverse = squares.sum(axis=0), inverses[0]
        coefficients = inverse @ products.sum(axis=0)
        # What is smaller than the rounding of the values is none.
        least = _ROUNDING * np.abs(y).max(axis=0, initial=0)
        coefficients[np.abs(coefficients) <= least] = 0.0
        present = np.isin(np.arange(self.n_sources), own)[:, None, None]
        without = inverses[1:] @ (products.sum(axis=0) - products)
        without = np.where(present & (np.abs(without - coefficients) > least), without, coefficients)
        expected = np.full(values.shape, np.nan)
        expected[there] = np.einsum("ip,ipk->ik", x, without[own])
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = ((squares @ inverse) * inverse).sum(axis=1) / np.diagonal(inverse @ whole @ inverse)
        tells = np.abs(inverses @ left - np.eye(len(whole))).max(axis=(0, 2)) < 1e-6
        return Fit(coefficients, without, expected, shares, tells)


def regression_on(beside: Array, columns: Sequence[Array], sources: Places, n_sources: int) -> Regression:
    """The regression on a constant, on what is held constant, and on the columns of factors, these last."""
    return Regression(np.column_stack([np.ones(len(sources)), beside, *columns]), sources, n_sources)


class _BySource:
    """Sums over the items of each source."""

    def __init__(self, sources: Places, n_sources: int) -> None:
        self.order = np.argsort(sources, kind="stable")
        starts = np.searchsorted(sources[self.order], np.arange(n_sources + 1))
        self.parts = [(at, slice(starts[at], starts[at + 1])) for at in np.flatnonzero(np.diff(starts)).tolist()]
        self.n_sources = n_sources

    def sums(self, left: Array, right: Array) -> Array:
        """``left.T @ right`` of each source, ``float64[sources, p, k]``."""
        sums = np.zeros((self.n_sources, left.shape[1], right.shape[1]))
        left, right = left[self.order], right[self.order]
        for source, part in self.parts:
            sums[source] = left[part].T @ right[part]
        return sums


def _resemblance(x: Array, y: Array, w: Array, by_source: _BySource) -> float:
    """Median over the values of the variance between sources in units of that within, from residuals of least squares without
    either (analysis of variance of unequal groups); 0 where nothing tells it."""
    root = np.sqrt(w)
    rest = y - x @ np.linalg.lstsq(x * root, y * root, rcond=None)[0]
    sizes = by_source.sums(np.ones_like(w), w)[:, 0, 0]
    groups, total = np.count_nonzero(sizes), sizes.sum()
    sums = by_source.sums(w, rest)[:, 0]
    between = (sums**2 / np.maximum(sizes, 1e-300)[:, None]).sum(axis=0)
    within = (w * rest**2).sum(axis=0) - between
    typical = (total - (sizes**2).sum() / total) / max(groups - 1, 1)
    known = within > 1e-12 * between
    if len(y) <= groups or not known.any() or typical <= 0:
        return 0.0
    ratios = (between[known] / (groups - 1)) / (within[known] / (len(y) - groups))
    return float(np.median(np.maximum(0.0, (ratios - 1) / typical)))


def of_same_items(rows: Sequence[tuple[Array, Array]]) -> list[list[int]]:
    """Places of rows of values and weights, those with equal weights and the same values missing together."""
    alike: dict[bytes, list[int]] = {}
    for place, (values, weights) in enumerate(rows):
        alike.setdefault(np.isnan(values).tobytes() + weights.tobytes(), []).append(place)
    return list(alike.values())
