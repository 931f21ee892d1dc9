"""The Frechet distance between two sets of vectors, as if each came from a normal distribution.

``|m1 - m2|^2 + tr S1 + tr S2 - 2 tr sqrt(S1 S2)``. The last trace is the sum of the singular values of ``F1 F2^T`` for any
factors with ``F^T F = S``, so no root of a matrix is taken: with fewer vectors than dimensions the centred vectors themselves are
factors. Everything is float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from inpaintbench.catalogue import Deviation
from inpaintbench.claims import too_few
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.eval.set_distances.feature_sets import Extent, Matrix, Spread, Vectors
from inpaintbench.eval.values.measurement import Comparison, Features
from inpaintbench.lazily import lazily

linalg = lazily("scipy.linalg")


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
        """Return how many vectors."""
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
        """Return whether both were made of as many vectors and hold exactly the same numbers, as those of equal sets do."""
        if (self.n, self.d, bool(self._folded)) != (other.n, other.d, bool(other._folded)):
            return False
        if not self._folded:
            blocks = (feature_sets.blocks(one._rows) for one in (self, other))
            return all(np.array_equal(mine, others) for (_, mine), (_, others) in zip(*blocks, strict=True))
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

    def _check_length(self, length: int) -> None:
        if self.n and length != self.d:
            raise NotMeasurable(f"features have several lengths: {self.d} and {length}")


ROOT_OF_COVARIANCES = Deviation(
    "root of the product of the covariances",
    "`sqrtm` of SciPy, in DEVIL's code stopped after 60 s; the real part of what comes out",
    "the sum of singular values of a product of factors, in float64",
    "FID agrees to 5e-9 of its value, VFID of 150 clips to 7e-6; it never fails, and equal sets have 0 instead of about -6e-6",
)
# Most products that leaving out each source in turn may take where there are many: about a second of one core.
_SOURCE_PRODUCTS = 2e10
# Most that leaving out each of a few sources or groups may take: 10 groups of 2048 dimensions, about twenty seconds.
_GROUP_PRODUCTS = 7e11
# Products of a distance by roots, in cubes of the dimension: two decompositions and two products of matrices.
_ROOTS = 8
# What singular values cost, in products for each cell of a square matrix and each of its rows, beside well-blocked products.
_SINGULAR = 14
# Groups of sources that are left out in turn where single sources would take too long.
_GROUPS = (20, 10)


# Of the predictions and of the truths.
Pair = tuple[Moments, Moments]


def check_ddof(ddof: int) -> int:
    """``ddof`` when it is 0 or 1, else ``ValueError``."""
    if ddof not in (0, 1):
        raise ValueError(f"ddof is {ddof}, not 0 or 1")
    return ddof


def distance(one: Moments, other: Moments, *, ddof: int) -> float:
    """The squared Frechet distance, at least 0, and exactly 0 between equal sets that came in the same order.

    Other small values are left as they are, though rounding alone can make some 1e-13 of the traces: a bound that is sure to
    cover it would take small distances of sets that do differ for nothing.

    Args:
        one: of one set.
        other: of the other set.
        ddof: 1 for the unbiased covariance, 0 for that of the sample.

    Raises:
        NotMeasurable: fewer than two vectors in a set, or vectors of two lengths.
    """
    if min(one.n, other.n) < 2:
        raise NotMeasurable(f"needs at least 2 vectors in each set, and there are {min(one.n, other.n)}")
    if one.d != other.d:
        raise NotMeasurable(f"features have several lengths: {one.d} and {other.d}")
    if one.equals(other):
        return 0.0
    gap = one.mean() - other.mean()
    if min(one.n, other.n) < one.d:
        # Centred vectors over the root of their number are factors.
        factors = [
            square_root(moments.covariance(ddof=ddof)).T if centred is None else centred / np.sqrt(moments.n - ddof)
            for moments, centred in ((one, one.centred()), (other, other.centred()))
        ]
        spread = float(sum(np.vdot(factor, factor) for factor in factors))
        root = float(linalg.svdvals(factors[0] @ factors[1].T, overwrite_a=True, check_finite=False).sum())
    else:
        # The same from the eigenvalues of R^T S2 R with R R^T = S1, which is symmetric.
        covariances = [moments.covariance(ddof=ddof) for moments in (one, other)]
        factor = square_root(covariances[0])
        values = linalg.eigvalsh(factor.T @ covariances[1] @ factor, overwrite_a=True, check_finite=False)
        spread, root = float(sum(map(np.trace, covariances))), float(np.sqrt(np.clip(values, 0, None)).sum())
    # Rounding alone can make the difference of the traces negative.
    return max(float(gap @ gap) + spread - 2 * root, 0.0)


def shifted_distance(one: Moments, other: Moments, *, ddof: int, shift: float) -> float:
    """The Frechet distance with ``shift`` times the identity added to both covariances, but under the root alone.

    As code does that fears singular matrices. Of equal sets it is ``-2 d shift``, and nothing is cut off at 0.

    Args:
        one: of one set.
        other: of the other set.
        ddof: as for ``distance``.
        shift: above 0.
    """
    gap = one.mean() - other.mean()
    covariances = [moments.covariance(ddof=ddof) for moments in (one, other)]
    factors = [square_root(covariance + shift * np.eye(len(gap))) for covariance in covariances]
    root = linalg.svdvals(factors[0].T @ factors[1], overwrite_a=True, check_finite=False).sum()
    return float(gap @ gap + sum(map(np.trace, covariances)) - 2 * root)


def square_root(covariance: Matrix) -> Matrix:
    """A matrix ``R`` with ``R R^T`` = ``covariance``, which may be singular."""
    try:
        return np.asarray(linalg.cholesky(covariance, lower=True, check_finite=False))
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(covariance, check_finite=False)
        return np.asarray(vectors * np.sqrt(np.clip(values, 0, None)))


@feature_sets.or_reason
def compare(sets: Sequence[Features], clusters: Sequence[str], *, ddof: int) -> Comparison:
    """The Frechet distance between the vectors of all predictions and those of all truths.

    Args:
        sets: one for each item; arrays may be mapped from disk, each is read up to three times.
        clusters: the source of each item. With six sources or more, leaving out each source in turn, or each of 20 or 10 groups
            of sources, gives a standard error and a 95 % interval where that takes no more than some twenty seconds: with as many
            vectors as dimensions or more, d is then at most 2060.
        ddof: of the covariance, 0 or 1.
    """
    size = feature_sets.extent(sets, clusters)
    few = max(size.n, size.n_truth) <= size.d
    value, spread = (_by_rows if few else _by_merging)(sets, clusters, size, ddof=ddof)
    return Comparison(value, None, *spread, {**size.details, **feature_sets.frechet_warning(size)})


def _affordable(clusters: Sequence[str], *, products: float) -> int:
    """Return how many sources or groups of them can be left out in turn when one distance takes ``products``; 0 for none."""
    sources = len(set(clusters))
    if too_few(sources):
        return 0
    if sources * products <= _SOURCE_PRODUCTS:
        return sources
    counts = [min(sources, most) for most in _GROUPS]
    return next((count for count in counts if count * products <= _GROUP_PRODUCTS), 0)


def _by_rows(sets: Sequence[Features], clusters: Sequence[str], size: Extent, *, ddof: int) -> tuple[float, Spread]:
    """From the vectors themselves, of which either set has no more than dimensions."""
    whole = Moments(), Moments()
    for features in sets:
        for every, vectors in zip(whole, features, strict=True):
            every.add(vectors)
    value = distance(*whole, ddof=ddof)
    most = _affordable(clusters, products=float(size.n) * size.n_truth * (size.d + _SINGULAR * min(size.n, size.n_truth)))
    labels, count = feature_sets.groups(clusters, most=most) if most else ([], 0)
    of_row = [feature_sets.row_labels(arrays, labels) for arrays in zip(*sets, strict=True)] if most else []

    def without(group: int) -> Pair:
        rest = Moments(), Moments()
        for every, label, moments in zip(whole, of_row, rest, strict=True):
            if every.rows is not None:
                moments.add(every.rows[label != group])
        return rest

    return value, _jackknife(value, map(without, range(count)), ddof=ddof)


def _by_merging(sets: Sequence[Features], clusters: Sequence[str], size: Extent, *, ddof: int) -> tuple[float, Spread]:
    """From sums of each group, merged without one in turn, for more vectors than dimensions."""
    # Sums of every source would need d x d numbers each.
    most = min(_affordable(clusters, products=_ROOTS * float(size.d) ** 3), max(_GROUPS))
    labels, count = feature_sets.groups(clusters, most=max(most, 1))
    centre = next(np.asarray(one.truth, np.float64).mean(axis=0) for one in sets if len(one.truth))
    parts = [(Moments(centre=centre), Moments(centre=centre)) for _ in range(count)]
    for features, label in zip(sets, labels, strict=True):
        for part, vectors in zip(parts[label], features, strict=True):
            part.add(vectors)
    for part in (one for pair in parts for one in pair):
        part.fold()
    value = distance(*_merged(parts), ddof=ddof)
    return value, _jackknife(value, _without_each(parts) if most else (), ddof=ddof)


def _without_each(parts: Sequence[Pair], rest: Pair | None = None) -> Iterator[Pair]:
    """``rest`` merged with all ``parts`` but one, for each in turn; by halves, so that most merging is done once for many."""
    if len(parts) == 1:
        if rest is not None:
            yield rest
        return
    middle, before = len(parts) // 2, [rest] if rest else []
    yield from _without_each(parts[:middle], _merged([*before, *parts[middle:]]))
    yield from _without_each(parts[middle:], _merged([*before, *parts[:middle]]))


def _merged(parts: Sequence[Pair]) -> Pair:
    merged = Moments(), Moments()
    for pair in parts:
        for whole, part in zip(merged, pair, strict=True):
            whole.merge(part)
    return merged


def _jackknife(value: float, pairs: Iterable[Pair], *, ddof: int) -> Spread:
    without = []
    for one, other in pairs:
        if min(one.n, other.n) < 2:
            return Spread()
        without.append(distance(one, other, ddof=ddof))
    error, low, high = feature_sets.jackknife(value, without)
    return Spread() if error is None else Spread(error, max(low or 0.0, 0.0), high)
