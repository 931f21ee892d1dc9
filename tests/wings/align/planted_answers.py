"""Answers and scores of which the truth is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inpaintbench.wings.align.reading import Ballot, Measured
from inpaintbench.wings.align.win_ratios import Pair, Votes

GROUPS, PAIRS, RATERS = 10, 3, 30
"""EditBoard's study of one dimension: 900 answers."""
METHODS = ("a", "b", "c")


def ballot(
    item: str, left: str, right: str, choice: str, *, rater: str | None = "r1", source: str = "", count: int = 1
) -> Ballot:
    return Ballot("quality", item, source or item, (left, right), choice, rater, count)


def measured(values: dict[tuple[str, str], float], *, higher_is_better: bool = True, metric: str = "m") -> Measured:
    return Measured({metric: values}, {metric: higher_is_better})


def planted_votes(rng: np.random.Generator, share: npt.NDArray[np.float64], *, metric_prefers: npt.NDArray[np.bool_]) -> Votes:
    """Raters who say what the metric says with chance ``share[group, pair, rater]``, else the contrary.

    ``metric_prefers[group, pair]`` is whether the metric prefers the first method of a pair.
    """
    with_metric = rng.random(share.shape) < share
    group, pair, rater = (places.ravel() for places in np.indices(share.shape))
    first = with_metric == metric_prefers[:, :, None]
    pairs = [(METHODS[a], METHODS[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    return Votes(
        dimension="quality",
        pairs=tuple(Pair(f"i{g}", *of) for g in range(share.shape[0]) for of in pairs),
        source_of_pair=np.repeat(np.arange(share.shape[0]), len(pairs)),
        sources=tuple(f"i{g}" for g in range(share.shape[0])),
        pair=group * len(pairs) + pair,
        choice=np.where(first.ravel(), 0, 1),
        count=np.ones(first.size),
        rater=rater,
    )


def planted_scores(rng: np.random.Generator, groups: int = GROUPS) -> tuple[Measured, npt.NDArray[np.bool_]]:
    """Scores without ties, and which method of each pair they prefer."""
    scores = rng.permuted(np.tile(np.arange(3.0), (groups, 1)), axis=1)
    values = {(f"i{g}", method): float(scores[g, m]) for g in range(groups) for m, method in enumerate(METHODS)}
    prefers = np.stack([scores[:, a] > scores[:, b] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1)
    return measured(values), prefers


def shares(rng: np.random.Generator, kind: str) -> tuple[npt.NDArray[np.float64], float]:
    """Chances to agree with the metric, ``float64[group, pair, rater]``, and their true mean over all groups and raters."""
    shape = (GROUPS, PAIRS, RATERS)
    if kind == "the same everywhere":
        return np.full(shape, 0.9), 0.9
    if kind == "differs by group":
        return np.broadcast_to(rng.beta(6.75, 2.25, (GROUPS, 1, 1)), shape), 0.75
    if kind == "differs much by group":
        return np.broadcast_to(rng.beta(8.1, 0.9, (GROUPS, 1, 1)), shape), 0.9
    if kind == "differs by rater":
        return np.broadcast_to(rng.beta(8.0, 2.0, (1, 1, RATERS)), shape), 0.8
    raise ValueError(kind)
