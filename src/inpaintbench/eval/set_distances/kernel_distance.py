"""The kernel distance between two sets of vectors: squared maximum mean discrepancy under a cubic kernel, without bias.

``k(x, y) = (x.y / d + 1)^3``; the mean of k over pairs of different vectors within each set, less twice the mean between the
sets. Binkowski et al., Demystifying MMD GANs, ICLR 2018. Unlike a Frechet distance its expectation does not depend on how many
vectors there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.eval.set_distances.feature_sets import Matrix, Vectors, blocks
from inpaintbench.eval.values.measurement import Comparison, Features
from inpaintbench.types import Plain, item_rng

# Of the cubic kernel of Binkowski et al.
COEFFICIENT = 1.0
# Groups of sources that are left out in turn: sums of the kernel are kept for every pair of groups.
_MOST_GROUPS = 200
# Vectors in a set up to which all pairs are taken; their number grows with its square.
MOST_EXACT = 20_000
# Subsets of the published estimate.
PUBLISHED_SUBSETS = 100

Labels = npt.NDArray[np.intp]


@feature_sets.or_reason
def compare(sets: Sequence[Features], clusters: Sequence[str], *, subsets: int, subset_size: int, subset_seed: int) -> Comparison:
    """The kernel distance between the vectors of all predictions and those of all truths; below 0 as often as chance has it.

    Args:
        sets: one for each item; arrays may be mapped from disk, of which two blocks at a time are held.
        clusters: the source of each item. With six or more, leaving out each in turn gives a standard error and a 95 % interval
            of the exact form.
        subsets: 0 for the exact form, over all pairs of vectors, which sets of more than ``MOST_EXACT`` replace by
            ``PUBLISHED_SUBSETS`` subsets and say so in the details (``note``); else the mean over so many random subsets, as
            published. Its deviation over subsets is in the details, and is no standard error, since subsets overlap.
        subset_size: vectors of each set in a subset, drawn without replacement.
        subset_seed: of the subsets.
    """
    size = feature_sets.extent(sets, clusters)
    if subsets and subset_size > min(size.n, size.n_truth):
        raise NotMeasurable(f"subsets of {subset_size} vectors cannot be drawn from {min(size.n, size.n_truth)}")
    note: Plain = {}
    if not subsets and max(size.n, size.n_truth) > MOST_EXACT:
        subsets, subset_size = PUBLISHED_SUBSETS, min(subset_size, size.n, size.n_truth)
        note = {"note": f"more than {MOST_EXACT} vectors: the mean over {subsets} random subsets of {subset_size}, not all pairs"}
    predictions, truths = [one.prediction for one in sets], [one.truth for one in sets]
    if subsets:
        rng = item_rng(subset_seed, "kernel_distance", "")
        values = []
        for _ in range(subsets):
            one, other = (
                _rows(arrays, rng.choice(many, subset_size, replace=False))
                for arrays, many in ((predictions, size.n), (truths, size.n_truth))
            )
            together = [np.zeros(subset_size, np.intp)] * 2
            sums = [kernel_sums(a, b, together, 1)[0] for a, b in ((one, one), (other, other), (one, other))]
            values.append(_discrepancy(sums, [np.array(subset_size)] * 2).item())
        details = {**size.details, "subsets": subsets, "deviation_of_subsets": float(np.std(values)), **note}
        return Comparison(float(np.mean(values)), details=details)
    labels, count = feature_sets.groups(clusters, most=_MOST_GROUPS)
    sums = [
        kernel_sums(one, other, [feature_sets.row_labels(arrays, labels) for arrays in (one, other)], count)
        for one, other in ((predictions, predictions), (truths, truths), (predictions, truths))
    ]
    counts = [np.bincount(feature_sets.row_labels(arrays, labels), minlength=count) for arrays in (predictions, truths)]
    value = _discrepancy([np.asarray(one.sum()) for one in sums], [one.sum() for one in counts])
    left = [one.sum() - one for one in counts]
    if min(map(np.min, left)) < 2:
        return Comparison(float(value), details=size.details)
    # The totals without the pairs that hold a vector of each group.
    without = _discrepancy([np.asarray(one.sum() - one.sum(axis=0) - one.sum(axis=1) + np.diag(one)) for one in sums], left)
    return Comparison(float(value), None, *feature_sets.jackknife(float(value), without.tolist()), size.details)


def kernel(one: Matrix, other: Matrix) -> Matrix:
    """``(x.y / d + 1)^3`` for all rows of ``float64[n, d]`` and ``float64[m, d]``, as ``float64[n, m]``."""
    base = one @ other.T
    base /= one.shape[1]
    base += COEFFICIENT
    return np.asarray(base * base * base)  # fifty times faster than a power


def kernel_sums(one: Sequence[Vectors], other: Sequence[Vectors], labels: Sequence[Labels], groups: int) -> Matrix:
    """Sums of the kernel by group of the first and of the second vector, ``float64[groups, groups]``.

    Of a set with itself (the same object twice) the pairs of a vector with itself are left out.

    Args:
        one: vectors of one set, item by item.
        other: vectors of the other set.
        labels: the group of each vector, for either set.
        groups: how many there are.
    """
    same = one is other
    sums = np.zeros((groups, groups))
    for begin, rows in blocks(one):
        for start, columns in blocks(other):
            if same and start < begin:
                continue
            part = kernel(rows, columns)
            if same and start == begin:
                np.fill_diagonal(part, 0.0)
            first, second = labels[0][begin : begin + len(rows)], labels[1][start : start + len(columns)]
            found = _members(first, groups).T @ part @ _members(second, groups)
            sums += found
            if same and start > begin:
                sums += found.T
    return sums


def _members(labels: Labels, groups: int) -> Matrix:
    members = np.zeros((len(labels), groups))
    members[np.arange(len(labels)), labels] = 1.0
    return members


def _discrepancy(sums: Sequence[Matrix], counts: Sequence[npt.NDArray[np.int_]]) -> Matrix:
    """From the sums within the first set, within the second and between them."""
    m, n = (np.asarray(count, np.float64) for count in counts)
    return np.asarray(sums[0] / (m * (m - 1)) + sums[1] / (n * (n - 1)) - 2 * sums[2] / (m * n))


def _rows(arrays: Sequence[Vectors], chosen: npt.NDArray[np.int_]) -> list[Vectors]:
    """The rows ``chosen`` of all arrays together, read item by item."""
    ends = np.cumsum([len(array) for array in arrays])
    chosen = np.sort(chosen)
    item = np.searchsorted(ends, chosen, side="right")
    return [arrays[index][chosen[item == index] - (ends[index] - len(arrays[index]))] for index in np.unique(item).tolist()]
