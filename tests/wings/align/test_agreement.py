"""Ceilings, verdicts by slice and selection frequencies, against small cases made by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.wings.align.planted_answers import ballot, measured, planted_scores, planted_votes

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.wings.align.align import EVERYTHING, Family, against, asked_for, verdicts
from inpaintbench.wings.align.bootstrap import Bootstrap
from inpaintbench.wings.align.reading import TIE, Ballot, Measured
from inpaintbench.wings.align.win_ratios import Votes, ceiling, matched, selection, votes_of

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
    eps = {"good": 0.0, "bad": 0.0}
    slices = {"few": ["i1", "i2"], "none": ["elsewhere"]}
    found = verdicts(votes, both, eps, slices=slices, family=against(list(eps), "bad"), bootstrap=FEW)
    assert [one.slice for one in found] == [EVERYTHING, "few"]
    assert found[0].better == {"good"}
    assert found[0].sentence(str.upper) == (
        "GOOD agrees with people more often than BAD (p 0.002 after correction). "
        "Smallest possible p: 0.002 (0.002 before correction for 1 comparison with BAD over 10 sources)."
    )
    turned = verdicts(votes, both, eps, slices={}, family=against(list(eps), "good"), bootstrap=FEW)[0]
    assert turned.sentence().startswith("bad agrees with people less often than good (p 0.002 after correction)")
    assert found[1].rates["good"].n == 2 * 3 * 30
    assert found[1].better == frozenset()
    told = found[1].sentence(str.upper)
    assert told == (
        "Nothing could be told: it takes a p below 0.05, the smallest possible is 0.5 "
        "(0.5 before correction for 1 comparison with BAD over 2 sources)."
    )
    everything = {"good": 0.0, "good_too": 0.0, "bad": 0.0}
    equal = verdicts(votes, both, everything, slices={}, family=against(list(everything), "good"), bootstrap=FEW)[0]
    assert "Too few sources on which they differ: good_too" in equal.sentence()
    alone = verdicts(votes, both, {"good": 0.0}, slices={}, family=against(["good"]), bootstrap=FEW)[0]
    assert alone.sentence() == "No verdict: good alone was measured."
    gone = verdicts(votes, both, eps, slices={}, family=against(list(everything), "good_too"), bootstrap=FEW)[0]
    assert gone.sentence() == "No verdict: the baseline good_too has no value here."
    lacking = verdicts(votes, measured({}), {"m": 0.0}, slices={}, family=against(["m"]), bootstrap=FEW)[0]
    assert lacking.sentence() == "No verdict: no metric has values of both methods of any pair."


def many_metrics(rng: np.random.Generator, count: int) -> tuple[Measured, Votes]:
    """Ten films; people agree in nine of ten with ``m00`` and in one of ten with all others."""
    good, prefers = planted_scores(rng)
    votes = planted_votes(rng, np.full((10, 3, 30), 0.9), metric_prefers=prefers)
    values = {f"m{n:02}": good.values["m"] if not n else {k: -v for k, v in good.values["m"].items()} for n in range(count)}
    return Measured(values, dict.fromkeys(values, True)), votes


def test_twenty_metrics_are_compared_with_one_baseline_so_that_ten_films_can_tell_something() -> None:
    scored, votes = many_metrics(np.random.default_rng(5), 20)
    eps = dict.fromkeys(scored.values, 0.0)
    found = verdicts(votes, scored, eps, slices={}, family=against(list(eps), "m01"), bootstrap=FEW)[0]
    assert len(found.comparisons) == 19
    assert found.least_p == 2 / 2**10
    assert found.could_tell
    # Of the other 18 nothing differs from the baseline, so only one comparison had a chance, and it was taken.
    assert found.better == {"m00"}
    told = next(one for one in found.comparisons if one.told_apart)
    assert told.test.p_holm == pytest.approx(19 * 2 / 2**10)
    assert told.least_p_holm == pytest.approx(19 * 2 / 2**10)
    every = Family(tuple(itertools.combinations(sorted(eps), 2)), None)
    hopeless = verdicts(votes, scored, eps, slices={}, family=every, bootstrap=FEW)[0]
    assert hopeless.least_p_holm == pytest.approx(190 * 2 / 2**10)
    assert not hopeless.could_tell
    assert "not told apart" not in hopeless.sentence().lower()
    assert hopeless.sentence().startswith("Nothing could be told: it takes a p below 0.05, the smallest possible is 0.37")
    assert "before correction for 190 comparisons over 10 sources" in hopeless.sentence()


def test_pairs_that_were_asked_for_are_the_family() -> None:
    scored, votes = many_metrics(np.random.default_rng(5), 4)
    eps = dict.fromkeys(scored.values, 0.0)
    family = asked_for(list(eps), [("m03", "m00"), ("m00", "m03"), ("m01", "m02")])
    found = verdicts(votes, scored, eps, slices={}, family=family, bootstrap=FEW)[0]
    assert [(one.test.one, one.test.other) for one in found.comparisons] == [("m00", "m03"), ("m01", "m02")]
    assert [one.could_tell for one in found.comparisons] == [True, False]
    assert found.comparisons[0].test.p_holm == 2 * 2 / 2**10
    assert found.sentence().startswith("m00 agrees with people more often than m03 (p 0.0039 after correction). Too few sources")


@pytest.mark.parametrize(
    ("names", "baseline"),
    [
        (["ssim", "psnr/frame", "psnr/hole", "mse"], "psnr/hole"),
        (["ssim", "psnr/hole", "mse"], "psnr/hole"),
        (["success_rate", "clip_similarity"], "clip_similarity"),
        (["z", "b"], "b"),
        ([], None),
    ],
)
def test_the_usual_baseline_is_known_before_any_value(names: list[str], baseline: str | None) -> None:
    family = against(names)
    assert family.baseline == baseline
    assert [one for one, _ in family.pairs] == [name for name in names if name != baseline]
    assert against(names[::-1]).baseline == baseline


def test_families_name_metrics_that_are_there() -> None:
    with pytest.raises(UnknownNameError, match="unknown metric 'pnsr'"):
        against(["psnr", "ssim"], "pnsr")
    with pytest.raises(UnknownNameError, match="unknown metric 'pnsr'"):
        asked_for(["psnr", "ssim"], [("ssim", "pnsr")])
    with pytest.raises(InputError, match="a pair is 'ssim' twice"):
        asked_for(["psnr", "ssim"], [("ssim", "ssim")])


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
