"""Rules against people: counts by hand, intervals where there are sources enough."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selection_world import fill

from inpaintbench import frozen
from inpaintbench.curation.calibration import TOGETHER, audit, audit_csv, calibrate, calibrate_judged, nearest
from inpaintbench.curation.facts import Facts
from inpaintbench.curation.judging import judge
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.sheets import import_answers
from inpaintbench.types import Answer, Attribute, Clip, stated
from inpaintbench.workspace import Workspace


def flags(*places: int, total: int) -> np.ndarray:
    return np.isin(np.arange(total), places)


@pytest.mark.parametrize("sources", [1, 5, 6])
def test_shares_have_an_interval_from_six_sources_on(sources: int) -> None:
    dropped, rejected, everyone = flags(*range(8), total=12), flags(*range(2, 12), total=12), np.ones(12, bool)
    names = [str(place % sources) for place in range(12)]
    (found,) = calibrate({"r": dropped}, rejected=rejected, answered=everyone, sources=names)
    assert (found.precision.count, found.precision.total, found.precision.value) == (6, 8, 0.75)
    assert (found.recall.count, found.recall.total, found.recall.value) == (6, 10, 0.6)
    for one in (found.precision, found.recall):
        if sources < 6:
            assert (one.low, one.high) == (None, None)
            assert one.reason.startswith(f"{sources} source")
        else:
            assert 0 <= one.low < one.value < one.high <= 1
            assert one.reason is None


def test_clips_of_one_source_that_agree_count_like_one_clip() -> None:
    """Ten copies of each clip make the interval no narrower."""
    dropped, rejected = np.ones(8, bool), flags(0, 1, 2, 3, 4, total=8)
    names = list("abcdefgh")
    (once,) = calibrate({"r": dropped}, rejected=rejected, answered=np.ones(8, bool), sources=names)
    (often,) = calibrate(
        {"r": np.tile(dropped, 10)}, rejected=np.tile(rejected, 10), answered=np.ones(80, bool), sources=names * 10
    )
    assert (often.precision.low, often.precision.high) == pytest.approx((once.precision.low, once.precision.high))


def test_nothing_to_count_has_a_reason() -> None:
    (found,) = calibrate(
        {"r": np.array([False, False])}, rejected=np.zeros(2, bool), answered=np.ones(2, bool), sources=["a", "b"]
    )
    assert (found.precision.value, found.precision.reason) == (None, "the rule drops none of the clips that people looked at")
    assert (found.recall.value, found.recall.reason) == (None, "people reject none of the clips that they looked at")
    assert found.true_negatives == found.n == 2


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=30))
def test_counts(clips: list[tuple[bool, bool, bool]]) -> None:
    dropped, rejected, answered = (np.array([clip[part] for clip in clips], bool) for part in range(3))
    (found,) = calibrate({"r": dropped}, rejected=rejected, answered=answered, sources=["a"] * len(clips))
    seen = [(drop, reject) for drop, reject, answer in clips if answer]
    counted = [seen.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))]
    assert [found.true_positives, found.false_positives, found.false_negatives, found.true_negatives] == counted
    assert found.n == len(seen)


def judged_world(values: list[float | None], answers: dict[int, str], rules: list[Rule]) -> object:
    clips = [Clip(f"c{n:02}", "s", n, n + 1, 30.0, 8, 8, 1, "b", "y", "r", None, 0.0) for n in range(len(values))]
    rows = [Attribute(f"c{n:02}", "a", value, None, "a", "1") for n, value in enumerate(values)]
    told = [Answer(f"c{n:02}", "keep_reject", answer, None, 1, 1.0) for n, answer in answers.items()]
    return judge(Facts.of_records(clips, rows, answers=told), rules)


def test_each_rule_and_all_together() -> None:
    rules = [Rule(attribute="a", at_most=5), Rule(attribute="a", at_least=1), Rule(answer="keep_reject", equals="keep")]
    answers = {0: "reject", 2: "keep", 6: "reject", 7: "keep", 3: "reject", 9: "unsure"}
    found = calibrate_judged(judged_world([float(n) for n in range(10)], answers, rules))
    assert [(one.rule, one.n, one.true_positives, one.false_positives, one.false_negatives) for one in found] == [
        ("a <= 5", 5, 1, 1, 2), ("a >= 1", 5, 1, 0, 2), (TOGETHER, 5, 2, 1, 1),
    ]  # fmt: skip
    assert calibrate_judged(judged_world([1.0], {}, rules)) == []
    assert calibrate_judged(judged_world([1.0], {0: "keep"}, rules[2:])) == []


def test_copies_of_a_film_count_as_one_source() -> None:
    """Of eight files, three show what one before them shows: five sources, too few for an interval."""
    clips = [Clip(f"c{n}", f"s{n}", 0, 1, 30.0, 8, 8, 1, "b", "y", "r", None, 0.0) for n in range(8)]
    rows = [Attribute(clip.clip_id, "a", float(n), None, "a", "1") for n, clip in enumerate(clips)]
    told = [Answer(clip.clip_id, "keep_reject", "reject", None, 1, 1.0) for clip in clips]
    groups = [Attribute(f"c{n}", frozen.GROUP, "s0", None, "alike", "1") for n in range(4)]
    rules = [Rule(attribute="a", at_most=-1)]
    for alike, low in (([], True), (groups, False)):
        (found,) = calibrate_judged(judge(Facts.of_records(clips, [*rows, *alike], answers=told), rules))
        assert (found.precision.low is not None) is low
    assert found.precision.reason is not None
    assert found.precision.reason.startswith("5 sources")


def test_the_nearest_come_from_both_sides() -> None:
    judged = judged_world([0.0, 1.0, None, 2.0, 3.0, 3.5, 9.0, 2.9], {}, [Rule(attribute="a", at_most=3)])
    (verdict,) = judged.verdicts
    assert nearest(verdict, 4) == [4, 7, 5, 6]
    assert nearest(verdict, 6) == [4, 7, 3, 1, 5, 6]
    assert nearest(verdict, 0) == []


def test_an_audit_lists_clips_once(workspace: Workspace) -> None:
    rules = [Rule(attribute="cut_score", at_most=0.5), Rule(attribute="crispness", at_least=0.45)]
    judged = judge(Facts.of_workspace(fill(workspace)), rules)
    picked = audit(judged, near=4, at_random=3, seed=1)
    places = [one.place for one in picked]
    assert len(places) == len(set(places))
    assert [one.why for one in picked][-3:] == ["at random"] * 3
    assert picked == audit(judged, near=4, at_random=3, seed=1)
    assert len(audit(judged, near=4, at_random=99)) == 12
    lines = list(csv.DictReader(io.StringIO(audit_csv(judged, picked, names={"s02": "b, c.mp4"}).decode())))
    near = next(line for line in lines if line["clip"] == "c05")
    assert (near["source"], near["start_frame"], near["end_frame"]) == ("b, c.mp4", "10", "20")
    assert (near["rule"], float(near["value"]), near["all_rules_say"]) == ("cut_score <= 0.5", stated(5 / 12), "keep")


def test_a_filled_in_audit_is_brought_in_as_answers(workspace: Workspace, tmp_path: Path) -> None:
    judged = judge(Facts.of_workspace(fill(workspace)), [Rule(attribute="cut_score", at_most=0.5)])
    text = audit_csv(judged, audit(judged, near=2, at_random=0), names={}).decode()
    path = tmp_path / "filled.csv"
    path.write_text(text.replace("keep_reject,,,", "keep_reject,reject,blurred,ana"))
    assert {row.subject_id: row.answer for row in import_answers(workspace, path)} == {"c06": "reject", "c07": "reject"}
