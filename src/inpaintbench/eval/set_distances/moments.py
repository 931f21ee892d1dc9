"""Mean and covariance of vectors that come item by item."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.eval.set_distances.feature_sets import Matrix, Vectors


class Moments:
    """Mean and covariance of vectors that come in parts, in any order.

    Up to d vectors are kept as they are; beyond, they are folded into sums of vectors and of outer products (d x d), both taken
    about one centre, so that a large common offset costs no digits.

    Args:
        centre: about which sums are taken, ``float64[d]``; by default the mean of the vectors folded first. Those of one centre
            merge by sums alone.
    """

    def __init__(self, *, centre: Matrix | None = None) -> None:
        self._rows: list[Matrix] = []
        self._waiting = self._folded = 0
        self._given_centre = centre
        self._centre = self._sum = self._outer = np.zeros(0)

    @property
    def n(self) -> int:
        """How many vectors."""
        return self._waiting + self._folded

    @property
    def d(self) -> int:
        """Their length; 0 before the first."""
        return self._rows[0].shape[1] if self._rows else len(self._centre)

    @property
    def rows(self) -> Matrix | None:
        """The vectors themselves, ``float64[n, d]``, unless they have been folded."""
        if self._folded:
            return None
        return np.concatenate(self._rows) if self._rows else np.zeros((0, 0))

    def add(self, features: Vectors) -> None:
        """Take ``float[n, d]`` into account.

        Raises:
            NotMeasurable: not two-dimensional, not finite, or of another length than before.
        """
        feature_sets.check(features)
        self._check_length(features.shape[1])
        for begin in range(0, len(features), features.shape[1]):
            part = np.array(features[begin : begin + features.shape[1]], np.float64)
            self._rows.append(part)
            self._waiting += len(part)
            if self._waiting > self.d or (self._folded and self._waiting > feature_sets.BLOCK_ROWS):
                self.fold()

    def merge(self, other: Moments) -> None:
        """Take the vectors of ``other`` into account too; ``other`` stays as it is.

        Chan, Golub and LeVeque, COMPSTAT 1982, for the sums that were folded.

        Raises:
            NotMeasurable: they have another length.
        """
        if not other.n:
            return
        self._check_length(other.d)
        if other._folded:
            self.fold()
            if not self._folded:
                self._start(other._centre)
            gap = other._centre - self._centre
            if gap.any():
                cross = np.outer(other._sum, gap)
                self._outer += cross + cross.T + other._folded * np.outer(gap, gap)
            self._outer += other._outer
            self._sum += other._sum + other._folded * gap
            self._folded += other._folded
        for part in other._rows:
            self.add(part)

    def equals(self, other: Moments) -> bool:
        """Whether both were made of as many vectors and hold exactly the same numbers, as those of equal sets do."""
        if (self.n, self.d, bool(self._folded)) != (other.n, other.d, bool(other._folded)):
            return False
        if not self._folded:
            return all(np.array_equal(*parts) for parts in zip(self._blocks(), other._blocks(), strict=True))
        self.fold()
        other.fold()
        sums = ((one._centre, one._sum, one._outer) for one in (self, other))
        return all(np.array_equal(*parts) for parts in zip(*sums, strict=True))

    def mean(self) -> Matrix:
        """``float64[d]``."""
        rows = self.rows
        if rows is not None:
            return np.asarray(rows.mean(axis=0))
        self.fold()
        return self._centre + self._sum / self._folded

    def centred(self) -> Matrix | None:
        """The vectors less their mean, ``float64[n, d]``, unless they have been folded."""
        rows = self.rows
        return None if rows is None else rows - rows.mean(axis=0)

    def covariance(self, *, ddof: int) -> Matrix:
        """``float64[d, d]``, sums of products over ``n - ddof``."""
        centred = self.centred()
        if centred is not None:
            return np.asarray(centred.T @ centred / (self.n - ddof))
        self.fold()
        products = self._outer - np.outer(self._sum, self._sum) / self._folded
        return np.asarray(products / (self._folded - ddof))

    def fold(self) -> None:
        """Keep sums alone, however few vectors there are."""
        if not self._waiting:
            return
        rows = np.concatenate(self._rows)
        if not self._folded:
            self._start(rows.mean(axis=0) if self._given_centre is None else self._given_centre)
        shifted = rows - self._centre
        self._sum += shifted.sum(axis=0)
        self._outer += shifted.T @ shifted
        self._folded += len(rows)
        self._rows, self._waiting = [], 0

    def _start(self, centre: Matrix) -> None:
        self._centre, self._sum, self._outer = centre.copy(), np.zeros(len(centre)), np.zeros((len(centre), len(centre)))

    def _blocks(self) -> Iterable[Matrix]:
        return (part for _, part in feature_sets.blocks(self._rows))

    def _check_length(self, length: int) -> None:
        if self.n and length != self.d:
            raise NotMeasurable(f"features have several lengths: {self.d} and {length}")
