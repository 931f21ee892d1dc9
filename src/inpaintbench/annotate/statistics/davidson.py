"""Strengths of methods from paired comparisons with ties.

Davidson's extension of the Bradley-Terry model (R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in
paired comparison experiments", JASA 65, 1970), with the order effect of Davidson and Beaver (Biometrics 33, 1977) and random
effects of raters. With strengths ``s`` (logarithms), ``d = s_first - s_second + bias`` and ``t = log nu``,

    P(first) : P(second) : P(tie) = exp(d / 2) : exp(-d / 2) : exp(t)

which is P(first) = p_i / (p_i + p_j + nu sqrt(p_i p_j)) with p = exp(s). The log likelihood is concave, so Newton's method finds
the one maximum; many replicates are solved at once. Each rater may have a bias and a log nu of their own: normal deviations
around the common ones, solved with the strengths (their block of the Hessian is 2x2 a rater, so it is eliminated first).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily

sparse = lazily("scipy.sparse")  # a quarter of a second, and most commands rank nobody

# Kinds of comparison that a study holds, and whether they connect its methods.

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
        return sparse.csr_array((np.ones(len(rows)), (self.rater, rows)), shape=(max(1, self.raters), len(rows)))[: self.raters]

    @cached_property
    def by_rater_and_parameter(self) -> Any:
        """Sparse ``[raters * size, rows]``: ``of_difference`` summed over the rows of each rater."""
        row, parameter = np.nonzero(self.of_difference)
        places = (self.rater[row] * self.size + parameter, row)
        shape = (max(1, self.raters) * self.size, len(self.rater))
        return sparse.csr_array((self.of_difference[row, parameter], places), shape=shape)[: self.raters * self.size]


def unconnected(names: Sequence[str], pairs: Iterable[tuple[str, str]], *, both_ways: bool = False) -> str | None:
    """Return why methods cannot be ranked together: no chain of comparisons leads from one group to another; None when they can.

    Args:
        names: the methods.
        pairs: that were compared; (winner, loser) with ``both_ways``.
        both_ways: every method must lead to every other by wins too, or some strength is not finite without a prior.
    """
    place = {name: index for index, name in enumerate(names)}
    edges = np.array([(place[a], place[b]) for a, b in pairs], np.int64).reshape(-1, 2)
    graph = sparse.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(names), len(names)))
    count, group = sparse.csgraph.connected_components(graph, directed=both_ways, connection="strong" if both_ways else "weak")
    if count == 1:
        return None
    groups = [", ".join(name for name, own in zip(names, group, strict=True) if own == number) for number in range(count)]
    return f"no comparison connects these groups of methods: {'; '.join(groups)}"


# Precision of the normal prior of every log strength, of the common bias and of log nu, all around 0: a standard deviation of
# 3.2, so it weighs less than one vote and matters only for methods that won, or lost, everything.
PRIOR = 0.1
# Log units that a Newton step may change a parameter by: longer ones overshoot where the likelihood is flat.
LARGEST_STEP = 3.0
# Newton steps before a fit counts as without a maximum; some ten are enough where there is one.
ITERATIONS = 200
# Standard deviations of raters, log units: the least, at which they are as good as equal, and where the search begins.
SMALLEST_SPREAD, FIRST_SPREAD = 0.02, 0.4
# Rounds of expectation-maximisation at most; it ends before when the spread moves by less than 0.005.
SPREAD_ROUNDS = 40
# Log nu where there are no ties and no prior: ties have probability 1e-13, and the optimum would be minus infinity.
NO_TIES = -30.0
# Difference of log strengths that no number of votes can show: they are running away.
ENDLESS = 20.0


class Spread(NamedTuple):
    """Standard deviations of raters around the common bias and log nu."""

    bias: float
    log_nu: float


@dataclass(frozen=True, eq=False)
class Fitted:
    """Estimates of ``B`` replicates."""

    core: Reals
    """``float64[B, methods + 2]``: strengths with mean 0, common bias, common log nu."""
    of_raters: Reals
    """``float64[B, raters, 2]``: deviations of bias and log nu."""
    covariance: Reals
    """``float64[B, methods + 2, methods + 2]``: inverse of the information about ``core``, the raters eliminated."""
    rater_variance: Reals
    """``float64[B, raters, 2]``: of the deviations, the common parameters given."""

    @property
    def strengths(self) -> Reals:
        """``float64[B, methods]``, mean 0."""
        return self.core[:, :-2]

    @property
    def bias(self) -> Reals:
        """``float64[B]``: log odds that being shown first adds."""
        return self.core[:, -2]

    @property
    def log_nu(self) -> Reals:
        """``float64[B]``; two equal methods tie with probability nu / (2 + nu)."""
        return self.core[:, -1]


class _Votes(NamedTuple):
    n: Reals
    balance: Reals
    ties: Reals


class _System(NamedTuple):
    """Gradient and Hessian in blocks, and the solved Newton step."""

    largest_gradient: float
    step: Reals
    rater_step: Reals
    schur: Reals
    rater_inverse: Reals


def probabilities(difference: npt.ArrayLike, log_nu: npt.ArrayLike) -> Reals:
    """P(first), P(second), P(tie) of ``d`` and ``log nu``, along a new last axis."""
    half, tie = np.broadcast_arrays(np.asarray(difference, np.float64) / 2, np.asarray(log_nu, np.float64))
    largest = np.maximum(np.abs(half), tie)
    weights = np.stack([np.exp(half - largest), np.exp(-half - largest), np.exp(tie - largest)], axis=-1)
    shares: Reals = weights / (weights[..., 0] + weights[..., 1] + weights[..., 2])[..., None]
    return shares


def fit(
    design: Design, counts: Reals, *, prior: float = PRIOR, spread: Spread | None = None, start: Fitted | None = None
) -> Fitted:
    """The most likely strengths of every replicate.

    Args:
        design: the rows.
        counts: ``float64[B, rows, 3]``: votes for first, for second, ties; weights need not be whole numbers.
        prior: precision, see ``PRIOR``; 0 is plain maximum likelihood.
        spread: of raters; needed when the design has any.
        start: estimates to begin at: of one replicate, or of one for every so many consecutive replicates.

    Raises:
        InputError: there is no maximum, which the prior 0 can leave when a group of methods won everything against the rest.
    """
    votes = _Votes(counts.sum(axis=-1), (counts[..., 0] - counts[..., 1]) / 2, counts[..., 2])
    if start is not None:
        each = len(counts) // len(start.core)
        core, deviations = np.repeat(start.core, each, axis=0), np.repeat(start.of_raters, each, axis=0)
    else:
        core, deviations = np.zeros((len(counts), design.size)), np.zeros((len(counts), design.raters, 2))
        tied, total = votes.ties.sum(axis=1), votes.n.sum(axis=1)
        floor = np.exp(NO_TIES) if prior == 0 else 0.05
        core[:, -1] = np.log(np.clip(2 * tied / np.maximum(total - tied, 1), floor, 20))
    precision = np.full(design.size, prior)
    precision[design.methods] = prior if design.position else 1.0
    of_raters = 1 / np.square(np.array(spread or (1.0, 1.0)))
    tolerance = 1e-9 * max(1.0, float(votes.n.sum(axis=1).max()) / 100)
    for _ in range(ITERATIONS):
        system = _solve(design, votes, core, deviations, precision=precision, of_raters=of_raters)
        if prior == 0 and float(np.ptp(core[:, : design.methods], axis=1).max()) > ENDLESS:
            break
        if system.largest_gradient < tolerance:
            variances = np.diagonal(system.rater_inverse, axis1=2, axis2=3)
            return Fitted(core, deviations, np.asarray(np.linalg.inv(system.schur), np.float64), variances)
        core, deviations = core + system.step, deviations + system.rater_step
    raise InputError("some methods won everything against the rest, so no finite strengths are most likely; use a prior above 0")


def _solve(design: Design, votes: _Votes, core: Reals, deviations: Reals, *, precision: Reals, of_raters: Reals) -> _System:
    d, t = core @ design.of_difference.T, core[:, -1:]
    if design.raters:  # without, every row names rater 0, whom no deviations are kept of
        d, t = d + deviations[:, design.rater, 0], t + deviations[:, design.rater, 1]
    shares = probabilities(d, t)
    lead, tie = shares[..., 0] - shares[..., 1], shares[..., 2]
    of_d, of_t = votes.balance - votes.n * lead / 2, votes.ties - votes.n * tie
    # Variances of (balance, tie) under the model: the information of a row about (d, t).
    dd, dt, tt = votes.n * (1 - tie - lead**2) / 4, -votes.n * lead * tie / 2, votes.n * tie * (1 - tie)
    gradient = of_d @ design.of_difference - precision * core
    gradient[:, -1] += of_t.sum(axis=1)
    squares, crossed = design.products
    hessian = (dd @ squares + dt @ crossed).reshape(-1, design.size, design.size) + np.diag(precision)
    hessian[:, -1, -1] += tt.sum(axis=1)
    # Only differences of strengths show in votes; this keeps their mean at 0 and the matrix regular.
    hessian[:, :-2, :-2] += 1.0
    blocks = np.stack([_sums(design.by_rater, part) for part in (dd, dt, dt, tt)], axis=-1)
    blocks = blocks.reshape(len(core), design.raters, 2, 2) + np.diag(of_raters)
    cross = np.stack([_sums(design.by_rater_and_parameter, part) for part in (dd, dt)], axis=-1)
    cross = cross.reshape(len(core), design.raters, design.size, 2)
    cross[:, :, -1] += np.stack([_sums(design.by_rater, part) for part in (dt, tt)], axis=-1)
    of_deviations = np.stack([_sums(design.by_rater, part) for part in (of_d, of_t)], axis=-1) - of_raters * deviations
    return _step(gradient, hessian, of_deviations=of_deviations, blocks=blocks, cross=cross)


def _sums(matrix: Any, values: Reals) -> Reals:
    total: Reals = (matrix @ values.T).T
    return total


def _step(gradient: Reals, hessian: Reals, *, of_deviations: Reals, blocks: Reals, cross: Reals) -> _System:
    """The Newton step, at most ``LARGEST_STEP`` long in any parameter; raters may be none."""
    replicates, raters, size, _ = cross.shape
    inverse = np.asarray(np.linalg.inv(blocks), np.float64)
    carried = cross @ inverse
    # Over raters and their two parameters at once: one product of matrices for each replicate.
    left = carried.transpose(0, 2, 1, 3).reshape(replicates, size, 2 * raters)
    schur = hessian - left @ cross.transpose(0, 1, 3, 2).reshape(replicates, 2 * raters, size)
    right = gradient - (carried @ of_deviations[..., None])[..., 0].sum(axis=1)
    step = np.linalg.solve(schur, right[..., None])[..., 0]
    rest = of_deviations - np.einsum("brck,bc->brk", cross, step)
    rater_step = (inverse @ rest[..., None])[..., 0]
    longest = np.maximum(np.abs(step).max(axis=1), np.abs(rater_step).max(axis=(1, 2), initial=0))
    scale = np.maximum(1, longest / LARGEST_STEP)
    largest = max(float(np.abs(gradient).max()), float(np.abs(of_deviations).max(initial=0)))
    return _System(largest, step / scale[:, None], rater_step / scale[:, None, None], schur, inverse)


def estimate_spread(design: Design, counts: Reals, *, prior: float = PRIOR) -> tuple[Spread, Fitted]:
    """Return how much raters differ, and the fit with it: expectation-maximisation on Laplace's approximation.

    Args:
        design: with raters.
        counts: ``float64[1, rows, 3]``.
        prior: see ``fit``.
    """
    spread = Spread(FIRST_SPREAD, FIRST_SPREAD)
    fitted = fit(design, counts, prior=prior, spread=spread)
    for _ in range(SPREAD_ROUNDS):
        squares = (np.square(fitted.of_raters) + fitted.rater_variance)[0].mean(axis=0)
        wider = Spread(*(max(SMALLEST_SPREAD, float(np.sqrt(square))) for square in squares))
        if max(abs(new - old) for new, old in zip(wider, spread, strict=True)) < 0.005:
            break
        spread = wider
        fitted = fit(design, counts, prior=prior, spread=spread, start=fitted)
    return spread, fitted
