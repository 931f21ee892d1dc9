"""Least squares over items, with the same coefficients without each source.

``b = (X'WX)^-1 X'Wy`` needs sums alone, so leaving out a source takes its part from them, and nothing is fitted again. The
standard error from these is the cluster jackknife (CV3 of MacKinnon, Nielsen and Webb, Journal of Econometrics, 2023), which
errs to the safe side where few clusters are unequal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Share of the largest eigenvalue below which a direction of the columns counts as absent: they are of about unit size.
_ABSENT = 1e-9
_ROUNDING = 1e-11


class Fit(NamedTuple):
    """A column of values, or several, on the columns of a regression."""

    coefficients: Array
    """``float64[columns, values]``."""
    without: Array
    """``float64[sources, columns, values]``, without each source; of sources without an item as with all."""
    expected: Array
    """``float64[items, values]``, what the other sources let expect of each item."""


class Regression:
    """Columns on which values are regressed; solved once for all values that are of the same items."""

    def __init__(self, columns: Array, sources: npt.NDArray[np.int64], n_sources: int) -> None:
        """Take columns ``float64[items, p]``, the constant among them, and the numbers of sources, 0..``n_sources`` - 1."""
        self.columns, self.n_sources = columns, n_sources
        self.sources = sources
        self._solved: dict[bytes, tuple[Array, Array, Array]] = {}

    def tells(self, column: int, there: npt.NDArray[np.bool_], weights: Array) -> bool:
        """Return whether a coefficient is defined by these items, and by those that are left without any one source."""
        whole, inverse, squares = self._inverses(there, weights)
        left = squares.sum(axis=0)[None] - squares
        projected = np.einsum("sp,spq->sq", inverse[:, column], left)
        unit = np.eye(self.columns.shape[1])[column]
        own = np.append(projected, (whole @ squares.sum(axis=0))[column][None], axis=0)
        return bool(np.abs(own - unit).max() < 1e-6)

    def shares(self, column: int, there: npt.NDArray[np.bool_], weights: Array) -> Array:
        """Leverage of each source on a coefficient, ``float64[sources]``, 1 together: its part of the squares of what of the
        column no other says (theorem of Frisch and Waugh)."""
        whole, _, squares = self._inverses(there, weights)
        own = whole[:, column]
        return np.asarray((squares @ own) @ own / own[column], np.float64)

    def fit(self, values: Array, there: npt.NDArray[np.bool_], weights: Array) -> Fit:
        """Regress ``values``, ``float64[items, k]``, over the items that are ``there``, weighted by ``weights``."""
        whole, inverses, _ = self._inverses(there, weights)
        x, y, own = self.columns[there], values[there], self.sources[there]
        products = self._sums(x * weights[there, None], y, own)
        total = products.sum(axis=0)
        # What is smaller than the rounding of the values is none; the columns are of about unit size.
        least = _ROUNDING * np.abs(y).max(axis=0, initial=0)
        coefficients = whole @ total
        coefficients[np.abs(coefficients) <= least] = 0.0
        present = np.isin(np.arange(self.n_sources), own)[:, None, None]
        without = inverses @ (total[None] - products)
        without = np.where(present & (np.abs(without - coefficients) > least), without, coefficients)
        expected = np.full(values.shape, np.nan)
        expected[there] = np.einsum("ip,ipk->ik", x, without[own])
        return Fit(coefficients, without, expected)

    def _inverses(self, there: npt.NDArray[np.bool_], weights: Array) -> tuple[Array, Array, Array]:
        """Inverse of X'WX, those without each source, and the part of each source in it."""
        key = there.tobytes() + weights.tobytes()
        if key not in self._solved:
            x = self.columns[there]
            squares = self._sums(x * weights[there, None], x, self.sources[there])
            total = squares.sum(axis=0)
            inverses = np.linalg.pinv(total[None] - squares, rcond=_ABSENT, hermitian=True)
            # Quantities come one after the other, each of the same items but for a few methods.
            self._solved = {key: (np.linalg.pinv(total, rcond=_ABSENT, hermitian=True), inverses, squares)}
        return self._solved[key]

    def _sums(self, left: Array, right: Array, sources: npt.NDArray[np.int64]) -> Array:
        """``left.T @ right`` over the items of each source, ``float64[sources, p, k]``."""
        sums = np.zeros((self.n_sources, left.shape[1], right.shape[1]))
        order = np.argsort(sources, kind="stable")
        starts = np.searchsorted(sources[order], np.arange(self.n_sources + 1))
        for source in np.flatnonzero(np.diff(starts)):
            part = order[starts[source] : starts[source + 1]]
            sums[source] = left[part].T @ right[part]
        return sums
