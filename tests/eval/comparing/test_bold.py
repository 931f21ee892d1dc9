"""Who is bold: the best mean and all that the paired test does not tell from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from inpaintbench.eval.values.permutation import like_best, paired, told_from
from inpaintbench.eval.values.statistics import share_first

SOURCES = [f"source {number}" for number in range(8)]


def bold(columns: Mapping[str, Sequence[float | None]], clusters: Sequence[str], *, higher: bool = True) -> set[str]:
    def told(best: str, others: Sequence[str]) -> set[str]:
        pairs = [(best, other) for other in others]
        return told_from(paired(columns, clusters, higher_is_better=higher, seed=0, pairs=pairs), best)

    means = {name: float(np.mean([value for value in column if value is not None])) for name, column in columns.items()}
    return like_best(means, told, higher_is_better=higher)


@pytest.mark.parametrize(("methods", "shape"), [(2, "normal"), (2, "skewed"), (4, "normal")])
def test_one_of_equal_methods_is_alone_in_bold_in_at_most_5_per_cent_of_tables(methods: int, shape: str) -> None:
    """With the room of two standard errors; `bench/bold.py` counts more tables, sources and methods."""
    rng, tables, alone = np.random.default_rng(0), 300, 0
    for _ in range(tables):
        easy = 4 * rng.normal(size=len(SOURCES))
        noise = rng.normal(size=(methods, len(SOURCES))) if shape == "normal" else rng.exponential(size=(methods, len(SOURCES)))
        alone += len(bold({f"method {at}": row.tolist() for at, row in enumerate(easy + noise)}, SOURCES)) == 1
    assert alone / tables <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / tables)


def test_a_method_that_is_better_everywhere_is_alone_in_bold_in_both_directions() -> None:
    columns = {"good": [float(at) + 1 for at in range(8)], "bad": [float(at) for at in range(8)]}
    assert bold(columns, SOURCES) == {"good"}
    assert bold(columns, SOURCES, higher=False) == {"bad"}
    # The correction is for the comparisons with the best: with nine others eight sources tell nobody.
    many = columns | {f"bad {at}": columns["bad"] for at in range(9)}
    assert bold(many, SOURCES) == set(many)


def test_an_infinite_level_is_told_from_finite_ones_and_nobody_is_bold_alone() -> None:
    def told(best: str, others: Sequence[str]) -> set[str]:
        return set()

    assert like_best({"exact": math.inf, "copy": math.inf, "good": 40.0}, told, higher_is_better=True) == {"exact", "copy"}
    assert like_best({"good": 40.0, "absent": None}, told, higher_is_better=True) == set()
    assert like_best({}, told, higher_is_better=True) == set()


def test_all_that_are_like_the_best_share_its_place_and_the_others_stand_behind_all_of_them() -> None:
    places = {"a": 1, "b": 2, "c": 3, "d": 4, "e": None}
    assert share_first(places, {"a", "c"}) == {"a": 1, "b": 3, "c": 1, "d": 4, "e": None}
    assert share_first(places, {"a", "d"}) == {"a": 1, "b": 3, "c": 4, "d": 1, "e": None}
    assert share_first(places, set()) == places
    assert share_first({"a": 1, "b": 1, "c": 3}, {"a", "b"}) == {"a": 1, "b": 1, "c": 3}
