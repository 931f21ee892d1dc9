"""Ceilings, verdicts by slice and selection frequencies, against small cases made by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.eval.alignment.planted_answers import ballot, measured, planted_scores, planted_votes

from inpaintbench.eval.alignment.bootstrap import Bootstrap
from inpaintbench.eval.alignment.by_slice import EVERYTHING, verdicts
from inpaintbench.eval.alignment.ceiling import ceiling
from inpaintbench.eval.alignment.matching import matched
from inpaintbench.eval.alignment.measured import Measured
from inpaintbench.eval.alignment.reading import TIE, Ballot
from inpaintbench.eval.alignment.selection import selection
from inpaintbench.eval.alignment.votes import votes_of

FEW = Bootstrap(replicates=50)


def told(item: str, said: str) -> list[Ballot]:
    return [ballot(item, "a", "b", TIE if one == "-" else one, rater=f"r{place}") for place, one in enumerate(said)]


def test_ceiling_by_hand() -> None:
    found = ceiling(votes_of("quality", [*told("x", "aaab-"), *told("y", "ab"), *told("z", "a")]), FEW)
    # x: each a sees a 2 : b 1 : - 1 and agrees; b and - see a. y: both see the other. z tells nothing.
    assert found.rater_against_others.value == pytest.approx(3 / 7)
    assert found.rater_against_others.n == 7
    assert found.two_raters.value == pytest.approx((3 * 2 / 4) / 7)
    assert found.decided_against_others.value == pytest.approx(3 / 6)
    assert found.attainable == pytest.approx((4 + 1 + 1) / 8)
    assert found.ties == pytest.approx(1 / 8)


@pytest.mark.parametrize("seed", range(4))
def test_ceiling_is_that_of_plain_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    said = {item: "".join(rng.choice(list("ab-"), size=rng.integers(2, 6))) for item in "uvwxyz"}
    found = ceiling(votes_of("quality", [one for item, of in said.items() for one in told(item, of)]), FEW)
    against, same = [], []
    for of in said.values():
        for place, mine in enumerate(of):
            others = of[:place] + of[place + 1 :]
            most = max(others.count(one) for one in "ab-")
            common = [one for one in "ab-" if others.count(one) == most]
            against.append((mine in common) / len(common))
            same.append(others.count(mine) / len(others))
    assert found.rater_against_others.value == pytest.approx(np.mean(against))
    assert found.two_raters.value == pytest.approx(np.mean(same))


@pytest.mark.parametrize("seed", range(4))
def test_no_metric_passes_what_is_attainable(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items = [f"i{n}" for n in range(8)]
    votes = votes_of("quality", [one for item in items for one in told(item, "".join(rng.choice(list("ab-"), size=5)))])
    most = ceiling(votes, FEW).attainable
    assert most is not None
    best = {}
    for pair, tally in zip(votes.pairs, votes.tally().tolist(), strict=True):
        best |= {(pair.item, "a"): 1.0 * (tally[0] > tally[1]), (pair.item, "b"): 1.0 * (tally[0] <= tally[1])}
    assert matched(votes, measured(best), "m", tie_eps=2.0, bootstrap=FEW).rate.value == pytest.approx(most)
    for _ in range(20):
        values = {(item, method): float(rng.integers(0, 3)) for item in items for method in "ab"}
        assert (matched(votes, measured(values), "m", tie_eps=1.5, bootstrap=FEW).rate.value or 0.0) <= most + 1e-12


def test_a_better_metric_is_told_from_a_worse_one_where_sources_suffice() -> None:
    rng = np.random.default_rng(5)
    good, prefers = planted_scores(rng)
    votes = planted_votes(rng, np.full((10, 3, 30), 0.9), metric_prefers=prefers)
    bad = {key: -value for key, value in good.values["m"].items()}
    both = Measured(
        {"good": good.values["m"], "bad": bad, "good_too": good.values["m"]}, dict.fromkeys(("good", "bad", "good_too"), True)
    )
    slices = {"few": ["i1", "i2"], "none": ["elsewhere"]}
    found = verdicts(votes, both, {"good": 0.0, "bad": 0.0}, slices=slices, bootstrap=FEW)
    assert [one.slice for one in found] == [EVERYTHING, "few"]
    assert (found[0].best, found[0].equals, found[0].sentence()) == ("good", (), "Trust good.")
    assert (found[1].best, found[1].equals) == ("good", ("bad",))
    assert found[1].rates["good"].n == 2 * 3 * 30
    assert "2 sources cannot give a p below 0.5" in found[1].sentence(str.upper)
    assert found[1].sentence(str.upper).startswith("GOOD is highest, not told apart from BAD")
    equal = verdicts(votes, both, {"good": 0.0, "good_too": 0.0, "bad": 0.0}, slices={}, bootstrap=FEW)[0]
    assert (equal.best, equal.equals) == ("good", ("good_too",))
    lacking = verdicts(votes, measured({}), {"m": 0.0}, slices={}, bootstrap=FEW)[0]
    assert lacking.sentence() == "No verdict: no metric has values of both methods of any pair."


def test_selection_frequencies_by_hand() -> None:
    def best(item: str, choice: str, rater: str) -> Ballot:
        return Ballot("best", item, item, ("c", "a", "b"), choice, rater)

    said = {"x": "aab", "y": "c", "z": "b", "w": "a"}
    ballots = [best(item, choice, f"r{place}") for item, of in said.items() for place, choice in enumerate(of)]
    rows = {"x": (3, 1, 2), "y": (1, 1, 2), "z": (2, 2, 2)}
    values = {(item, method): float(value) for item, of in rows.items() for method, value in zip("abc", of, strict=True)}
    for higher, expected in ((True, (1 + 1 / 3, 1 / 3, 1 + 1 / 3)), (False, (1 / 2 + 1 / 3, 1 + 1 / 2 + 1 / 3, 1 / 3))):
        found = selection("best", ballots, measured(values, higher_is_better=higher), bootstrap=FEW)
        assert found is not None
        column = found.metrics["m"]
        assert [column.shares[method] for method in "abc"] == pytest.approx([part / 3 for part in expected])
        assert (column.rows, column.left_out, column.tied) == (3, 1, 1 if higher else 2)
    assert found.people.shares == pytest.approx({"a": (2 / 3 + 1) / 4, "b": (1 / 3 + 1) / 4, "c": 1 / 4})
    assert column.rate is not None
    assert column.rate.value == pytest.approx((0 + 0 + 1 + 0 + 1 / 3) / 5)
    for one, other in itertools.pairwise([found.people, column]):
        assert sum(one.shares.values()) == pytest.approx(sum(other.shares.values())) == pytest.approx(1.0)
    assert selection("other", ballots, measured(values)) is None
