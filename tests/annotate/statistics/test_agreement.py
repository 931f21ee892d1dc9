"""Agreement: against the reference package, against straightforward sums, and where it is undefined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from scipy.stats import t as student_t

from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.statistics.agreement import (
    FIRST,
    SECOND,
    Scheme,
    agreement_by_rater,
    agreement_by_unit,
    answers_of,
    as_named,
    confusion,
    confusion_with,
    krippendorff_alpha,
    raw_agreement,
    scheme_of,
)
from inpaintbench.errors import InputError

WORDS = ("none", "few", "some", "many", "all")
NUMBERS = ("0", "5", "10", "25", "50", "75", "100")


def table(rng: np.random.Generator, values: tuple[str, ...], *, units: int, raters: int, missing: float, noise: float) -> dict:
    """Raters who see the truth and slip."""
    truth = rng.integers(len(values), size=units)
    found = {}
    for unit in range(units):
        given = {}
        for rater in range(raters):
            if rng.random() >= missing:
                place = truth[unit] if rng.random() > noise else rng.integers(len(values))
                given[f"r{rater}"] = values[place]
        found[f"u{unit}"] = given
    return found


def theirs(answers: dict, scale: str, values: tuple[str, ...]) -> float:
    """The package's alpha, from a table of raters and units."""
    raters = sorted({rater for given in answers.values() for rater in given})
    data = np.full((len(raters), len(answers)), np.nan)
    for column, given in enumerate(answers.values()):
        for rater, value in given.items():
            data[raters.index(rater), column] = float(value) if scale == "interval" else values.index(value)
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement=scale))


def test_alpha_of_comparisons_stands_beside_that_of_the_package() -> None:
    values = (FIRST, SECOND, "tie")
    answers = table(np.random.default_rng(4), values, units=60, raters=5, noise=0.5, missing=0.2)
    answers = {unit: {rater: FIRST if value == "tie" else value for rater, value in of.items()} for unit, of in answers.items()}
    scheme = Scheme(values=values, alike=(FIRST, SECOND))
    named, ours = as_named(answers, scheme), krippendorff_alpha(answers, scheme).value
    assert named == pytest.approx(theirs(answers, "nominal", values))
    assert ours is not None
    assert ours > named + 0.02  # here chance would mostly have said the first


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_alpha_is_that_of_the_reference_package(scale: str) -> None:
    rng = np.random.default_rng(7)
    compared = negative = 0
    while compared < 150:
        values = NUMBERS if scale == "interval" else WORDS[: int(rng.integers(2, 6))]
        units, raters = int(rng.integers(2, 40)), int(rng.integers(2, 9))
        answers = table(rng, values, units=units, raters=raters, missing=rng.uniform(0, 0.7), noise=rng.uniform(0, 1))
        found = krippendorff_alpha(answers, Scheme(scale, values))
        if found.value is None:
            continue
        assert found.value == pytest.approx(theirs(answers, scale, values), abs=1e-9)
        compared += 1
        negative += found.value < 0
    assert negative > 5


def test_the_published_example() -> None:
    """Four observers, twelve units, missing data: alpha 0.743 nominal, 0.815 ordinal, 0.849 interval (Krippendorff 2011)."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    answers = {
        f"u{unit}": {f"o{who}": str(row[unit]) for who, row in enumerate(observers) if row[unit] is not None}
        for unit in range(12)
    }
    values = ("1", "2", "3", "4", "5")
    found = {scale: krippendorff_alpha(answers, Scheme(scale, values)) for scale in ("nominal", "ordinal", "interval")}
    assert {scale: round(one.value, 3) for scale, one in found.items()} == {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}
    assert (found["nominal"].units, found["nominal"].answers) == (11, 40)


def test_one_label_everywhere_is_undefined() -> None:
    found = krippendorff_alpha({"a": {"x": "yes", "y": "yes"}, "b": {"x": "yes", "y": "yes"}, "c": {"x": "no"}}, Scheme())
    assert found.value is None
    assert found.reason == "all 4 answers are 'yes': where nothing varies, agreement beyond chance cannot be measured"


def test_no_pairs_is_undefined() -> None:
    found = krippendorff_alpha({"a": {"x": "yes"}, "b": {"y": "no"}, "c": {}}, Scheme())
    assert (found.value, found.units, found.answers, found.reason) == (None, 0, 0, "no unit has answers of two raters")


def test_missing_values_are_left_out_and_counted() -> None:
    answers = {"a": {"x": "0", "y": "unclear", "z": "0"}, "b": {"x": "50", "y": "75"}, "c": {"x": "unclear"}}
    scheme = Scheme("interval", NUMBERS, frozenset({"unclear"}))
    found = krippendorff_alpha(answers, scheme)
    told = {"a": {"x": "0", "z": "0"}, "b": {"x": "50", "y": "75"}}
    assert found.value == pytest.approx(theirs(told, "interval", NUMBERS), abs=1e-12)
    assert (found.units, found.answers, found.left_out) == (2, 4, 2)


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        (Scheme("interval", ("0", "much")), "'much' is no number"),
        (Scheme("ordinal"), "needs its values in order"),
        (Scheme("ordinal", WORDS, alike=("few", "some")), "nominal scales only, not on ordinal"),
        (Scheme("nominal", ("yes",)), "'x' answered 'no' to 'a', which is none of yes"),
    ],
)
def test_what_cannot_be_compared_is_refused(scheme: Scheme, words: str) -> None:
    with pytest.raises(InputError, match=words):
        krippendorff_alpha({"a": {"x": "no", "y": "yes"}}, scheme)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_leaves_out_one_source_at_a_time(scale: str, clustered: bool) -> None:
    """Alphas of the reference package, the jackknife's error of ``log(1 - alpha)``, Student's t of Kish's number of sources."""
    answers = table(np.random.default_rng(3), NUMBERS, units=40, raters=4, missing=0.2, noise=0.5)
    answers = {unit: given for unit, given in answers.items() if len(given) > 1}
    clusters = {unit: f"s{place // 4}" if clustered else unit for place, unit in enumerate(answers)}
    found = krippendorff_alpha(answers, Scheme(scale, NUMBERS), clusters=clusters if clustered else None)
    names = sorted(set(clusters.values()))
    rest = [{unit: given for unit, given in answers.items() if clusters[unit] != name} for name in names]
    logs = np.log([1 - theirs(some, scale, NUMBERS) for some in rest])
    sizes = np.array([sum(len(given) for unit, given in answers.items() if clusters[unit] == name) for name in names])
    error = np.sqrt((len(names) - 1) * logs.var())
    reach = student_t.ppf(0.975, sizes.sum() ** 2 / (sizes**2).sum() - 1) * error
    assert found.value is not None
    expected = 1 - (1 - found.value) * np.exp([reach, -reach])
    assert [found.low, found.high] == pytest.approx(expected.tolist(), abs=1e-9)


@pytest.mark.parametrize("sources", [6, 20])
def test_intervals_hold_the_truth_as_often_as_they_say(sources: int) -> None:
    """Percentiles of a bootstrap held it in 82 % of studies of six sources; see `bench/intervals.py`."""
    rng, held, studies = np.random.default_rng(sources), 0, 200
    truth = krippendorff_alpha(table(rng, WORDS, units=8000, raters=3, missing=0, noise=0.4), Scheme(values=WORDS)).value
    clusters = {f"u{unit}": f"s{unit // 4}" for unit in range(4 * sources)}
    for _ in range(studies):
        answers = table(rng, WORDS, units=4 * sources, raters=3, missing=0, noise=0.4)
        found = krippendorff_alpha(answers, Scheme(values=WORDS), clusters=clusters)
        assert truth is not None and found.low is not None and found.high is not None  # noqa: PT018
        held += found.low <= truth <= found.high
    assert held / studies >= 0.92


def test_the_interval_does_not_depend_on_the_order_of_answers() -> None:
    answers = table(np.random.default_rng(1), WORDS, units=30, raters=3, missing=0.1, noise=0.4)
    backwards = dict(reversed(answers.items()))
    assert krippendorff_alpha(answers, Scheme(values=WORDS)) == krippendorff_alpha(backwards, Scheme(values=WORDS))


def test_no_interval_goes_below_the_least_alpha() -> None:
    """Six tasks of two raters: agreement far below chance, in one of them perfect."""
    rows = [("a", "b")] * 5 + [("a", "a"), ("b", "b")]
    answers = {f"u{place}": dict(zip("xy", row, strict=True)) for place, row in enumerate(rows)}
    found = krippendorff_alpha(answers, Scheme())
    assert found.low is not None
    assert -1 <= found.low < found.value < 0


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("a", "a")] * 20 + [("b", "b")], "no interval: without one source nothing varies"),
        ([("a", "a"), ("b", "b")] * 5, "no interval: in all sources raters agree wholly"),
        ([("a", "a"), ("b", "b")] * 5 + [("a", "b")], "no interval: in all sources but one raters agree wholly"),
        ([("a", "b")] * 7, "no interval: without any one source alpha is the same"),
    ],
)
def test_what_hardly_varies_has_no_interval(rows: list[tuple[str, str]], reason: str) -> None:
    answers = {f"u{place}": dict(zip("xy", row, strict=True)) for place, row in enumerate(rows)}
    found = krippendorff_alpha(answers, Scheme())
    assert found.value is not None
    assert (found.low, found.high, found.reason) == (None, None, reason)


@pytest.mark.parametrize("sources", [5, 6])
def test_few_sources_bear_no_interval_however_many_units_they_have(sources: int) -> None:
    answers = table(np.random.default_rng(4), WORDS, units=30, raters=3, missing=0.1, noise=0.3)
    clusters = {unit: f"s{place % sources}" for place, unit in enumerate(answers)}
    found = krippendorff_alpha(answers, Scheme(values=WORDS), clusters=clusters)
    assert found.value is not None
    assert (found.low is None) == (found.high is None) == (sources == 5)
    assert found.reason == ("5 sources: an interval, rank or lead needs at least 6" if sources == 5 else None)


def test_which_of_a_pair_is_first_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    answers = table(rng, (FIRST, SECOND, "tie"), units=60, raters=4, missing=0.1, noise=0.3)
    other = {FIRST: SECOND, SECOND: FIRST, "tie": "tie"}
    turned = {
        unit: {rater: other[value] for rater, value in given.items()} if rng.random() < 0.5 else given
        for unit, given in answers.items()
    }
    scheme = Scheme(values=(FIRST, SECOND, "tie"), alike=(FIRST, SECOND))
    alpha = krippendorff_alpha(answers, scheme).value
    assert alpha == pytest.approx(krippendorff_alpha(turned, scheme).value, abs=1e-12)
    both_ways = answers | {f"{unit}'": {rater: other[value] for rater, value in given.items()} for unit, given in answers.items()}
    assert alpha == pytest.approx(krippendorff_alpha(both_ways, Scheme()).value, abs=2e-3)


def test_a_pair_that_always_has_the_same_winner_is_agreement() -> None:
    answers = {f"u{unit}": {"x": FIRST, "y": FIRST} for unit in range(20)} | {"odd": {"x": FIRST, "y": SECOND}}
    assert krippendorff_alpha(answers, Scheme()).value == pytest.approx(0.0, abs=0.05)
    assert krippendorff_alpha(answers, Scheme(alike=(FIRST, SECOND))).value == pytest.approx(0.905, abs=0.01)


def test_shares_and_confusion_are_those_of_all_pairs() -> None:
    answers = table(np.random.default_rng(4), WORDS, units=50, raters=6, missing=0.4, noise=0.5)
    shares, matrix, of_rater = [], np.zeros((5, 5)), {}
    for given in answers.values():
        pairs = list(combinations(given.items(), 2))
        if pairs:
            shares.append(np.mean([one[1] == other[1] for one, other in pairs]))
        for rater, value in given.items():
            others = [told for name, told in given.items() if name != rater]
            if others:
                of_rater.setdefault(rater, []).append(np.mean([told == value for told in others]))
            for told in others:
                matrix[WORDS.index(value), WORDS.index(told)] += 1 / len(others)
    scheme = Scheme("nominal", WORDS)
    raw, found = raw_agreement(answers, scheme), confusion(answers, scheme)
    assert (raw.value, raw.units) == (pytest.approx(np.mean(shares)), len(shares))
    assert np.mean(list(agreement_by_unit(answers, scheme).values())) == pytest.approx(raw.value)
    assert found.values == WORDS
    np.testing.assert_allclose(found.counts, matrix, atol=1e-12)
    np.testing.assert_allclose(found.counts, found.counts.T, atol=1e-12)
    by_rater = agreement_by_rater(answers, scheme)
    assert {rater: one.value for rater, one in by_rater.items()} == pytest.approx(
        {rater: np.mean(told) for rater, told in of_rater.items()}
    )
    assert {rater: one.units for rater, one in by_rater.items()} == {rater: len(told) for rater, told in of_rater.items()}


def test_confusion_with_a_reference() -> None:
    answers = {"a": {"x": "low", "y": "high"}, "b": {"x": "unclear"}, "c": {"x": "low"}}
    scheme = Scheme("ordinal", ("low", "high", "unclear"), frozenset({"unclear"}))
    found = confusion_with(answers, scheme, reference={"a": "high", "b": "low", "elsewhere": "low"})
    assert found.values == ("low", "high", "unclear")
    assert found.counts.tolist() == [[0, 0, 1], [1, 1, 0], [0, 0, 0]]


@dataclass(frozen=True)
class Cast:
    rater_id: str
    task_id: str
    question: str
    candidates: tuple[str, ...]
    purpose: str
    choice: str
    given: Mapping[str, str] = field(default_factory=dict)


def test_votes_become_answers() -> None:
    votes = [
        Cast("x", "t1", "q", ("ada", "bob"), "vote", "bob"),
        Cast("x", "t1", "q", ("ada", "bob"), "repeat", "ada"),
        Cast("y", "t1", "q", ("ada", "bob"), "vote", "tie"),
        Cast("y", "t2", "q", ("ada", "bob"), "gold", "ada"),
        Cast("y", "t1", "other", ("ada", "bob"), "vote", "ada"),
    ]
    assert answers_of(votes, "q") == {"t1": {"x": "bob", "y": "tie"}}
    assert answers_of(votes, "q", pairs=True) == {"t1": {"x": SECOND, "y": "tie"}}


def test_other_parts_of_a_form_are_answers_too() -> None:
    votes = [
        Cast("x", "t1", "q", (), "vote", "reject", {"verdict": "reject", "reason": "overlay"}),
        Cast("y", "t1", "q", (), "vote", "keep", {"verdict": "keep"}),
    ]
    assert answers_of(votes, "q", part="reason") == {"t1": {"x": "overlay"}}


def test_every_question_says_how_its_answers_compare() -> None:
    motion = scheme_of(QUESTIONS.get("scene_motion")())
    assert (motion.scale, motion.missing) == ("interval", {"unclear"})
    assert scheme_of(QUESTIONS.get("scene_motion")(), part="other") == motion
    assert scheme_of(QUESTIONS.get("camera_motion")()).missing == {"unclear"}
    assert scheme_of(QUESTIONS.get("keep_reject")(), part="reason").scale == "nominal"
    assert scheme_of(QUESTIONS.get("mean_opinion")()) == Scheme("ordinal", ("1", "2", "3", "4", "5"))
    assert scheme_of(QUESTIONS.get("pairwise")()).alike == (FIRST, SECOND)
    assert scheme_of(QUESTIONS.get("best_of")()) == Scheme()


def test_units_of_one_rater_have_no_raw_agreement() -> None:
    found = raw_agreement({"a": {"x": "yes"}, "b": {}}, Scheme())
    assert (found.value, found.units) == (None, 0)
