"""Kinds of comparison that a study holds, and whether they connect its methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Reals = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Design:
    """Kinds of comparison: who was shown first and second, and to whom. Arrays are ``int64[rows]``."""

    methods: int
    first: Ints
    second: Ints
    rater: Ints
    """All 0 where raters do not matter."""
    raters: int = 0
    """0 = no effects of raters."""
    position: bool = True
    """True when being shown first may help."""

    @property
    def size(self) -> int:
        """Common parameters: strengths, bias, log nu."""
        return self.methods + 2

    @cached_property
    def of_difference(self) -> Reals:
        """``float64[rows, size]``: what makes up d."""
        rows = np.arange(len(self.first))
        matrix = np.zeros((len(rows), self.size))
        matrix[rows, self.first] += 1
        matrix[rows, self.second] -= 1
        matrix[:, self.methods] = float(self.position)
        return matrix

    @cached_property
    def products(self) -> tuple[Reals, Reals]:
        """Products of ``of_difference`` with itself, and with log nu: ``float64[rows, size * size]``."""
        x, t = self.of_difference, np.eye(self.size)[-1]
        crossed = x[:, :, None] * t + (x[:, :, None] * t).transpose(0, 2, 1)
        return (x[:, :, None] * x[:, None, :]).reshape(len(x), -1), crossed.reshape(len(x), -1)

    @cached_property
    def by_rater(self) -> Any:
        """Sparse ``[raters, rows]`` sum over the rows of each rater."""
        rows = np.arange(len(self.rater))
        return csr_array((np.ones(len(rows)), (self.rater, rows)), shape=(max(1, self.raters), len(rows)))[: self.raters]

    @cached_property
    def by_rater_and_parameter(self) -> Any:
        """Sparse ``[raters * size, rows]``: ``of_difference`` summed over the rows of each rater."""
        row, parameter = np.nonzero(self.of_difference)
        places = (self.rater[row] * self.size + parameter, row)
        shape = (max(1, self.raters) * self.size, len(self.rater))
        return csr_array((self.of_difference[row, parameter], places), shape=shape)[: self.raters * self.size]


def unconnected(names: Sequence[str], pairs: Iterable[tuple[str, str]], *, both_ways: bool = False) -> str | None:
    """Return why methods cannot be ranked together: no chain of comparisons leads from one group to another; None when they can.

    Args:
        names: the methods.
        pairs: that were compared; (winner, loser) with ``both_ways``.
        both_ways: every method must lead to every other by wins too, or some strength is not finite without a prior.
    """
    place = {name: index for index, name in enumerate(names)}
    edges = np.array([(place[a], place[b]) for a, b in pairs], np.int64).reshape(-1, 2)
    graph = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(names), len(names)))
    count, group = connected_components(graph, directed=both_ways, connection="strong" if both_ways else "weak")
    if count == 1:
        return None
    groups = [", ".join(name for name, own in zip(names, group, strict=True) if own == number) for number in range(count)]
    return f"no comparison connects these groups of methods: {'; '.join(groups)}"
