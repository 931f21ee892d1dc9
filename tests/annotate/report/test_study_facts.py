"""The numbers of the study report, against straightforward counts and planted truths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.annotate.report.voted import BEGIN, METHODS, RATERS, Vote, World, comparison_world, labelling_world

from inpaintbench.annotate.records import Event
from inpaintbench.annotate.report import material as facts
from inpaintbench.annotate.report.agreement import reading
from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.report.questions import suggestions
from inpaintbench.annotate.statistics.agreement import Alpha, Scheme, answers_of, confusion_with


@pytest.fixture(scope="module")
def compared() -> World:
    return comparison_world()


@pytest.fixture(scope="module")
def labelled() -> World:
    return labelling_world()


def cast(
    choice: str, shown: tuple[str, ...], *, rater: str = "x", task: str = "t", purpose: str = "vote", at: float = 0.0
) -> Vote:
    name = f"{rater}{task}{purpose}{at}"
    return Vote(name, rater, task, "q", "s", "c", tuple(sorted(shown)), shown, purpose, {}, choice, 2.0, at)


@pytest.mark.parametrize(("part", "whole"), [(0, 7), (3, 7), (7, 7), (512, 1000)])
def test_intervals_of_shares_are_those_of_wilson(part: int, whole: int) -> None:
    found = binomtest(part, whole).proportion_ci(method="wilson")
    assert facts.Proportion(part, whole).interval == pytest.approx((found.low, found.high), abs=1e-12)


def test_a_share_of_nothing_has_no_value() -> None:
    assert (facts.Proportion(0, 0).value, facts.Proportion(0, 0).interval) == (None, (0.0, 1.0))


def test_outcomes_of_pairs() -> None:
    votes = [
        cast("a", ("a", "b")), cast("a", ("b", "a")), cast("b", ("a", "b")), cast("tie", ("b", "a")),
        cast("both_bad", ("a", "b")), cast("c", ("b", "c")),
    ]  # fmt: skip
    own = facts.outcomes(votes)
    assert (own.wins[("a", "b")], own.wins[("b", "a")], own.wins[("c", "b")]) == (2, 1, 1)
    assert (own.ties[("a", "b")], own.ties[("b", "a")]) == (1, 1)
    assert own.win_ratio("a") == pytest.approx(2.5 / 4)
    assert own.win_ratio("b") == pytest.approx(1.5 / 5)
    assert (own.tie, own.both_bad) == ((1, 6), (1, 6))
    assert own.chosen == {"a": (2, 5), "b": (1, 6), "c": (1, 1)}


def test_sides_count_choices_of_candidates_alone() -> None:
    votes = [cast("a", ("a", "b")), cast("a", ("b", "a")), cast("b", ("b", "a")), cast("tie", ("b", "a"))]
    assert facts.left_choices(votes) == (2, 3)
    wide = [cast("c", ("a", "b", "c")), cast("a", ("a", "b", "c")), cast("a", ("b", "a"))]
    assert facts.place_choices(wide) == [(1, 3), (1, 3), (1, 2)]


def test_selection_is_the_share_with_an_interval_over_sources() -> None:
    votes = [replace(cast("a" if n % 3 else "b", ("a", "b")), cluster=f"c{n // 7}") for n in range(60)]
    found = facts.selection(votes)["a"]
    assert found.value == pytest.approx(2 / 3)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert facts.selection(votes[:1])["a"].low is None


def test_coverage_counts_tasks_with_all_their_raters(compared: World) -> None:
    material = Material(compared.study, compared.votes)
    found = facts.coverage(material, "flicker")
    raters: dict[str, set[str]] = {}
    for vote in compared.votes:
        if vote.question == "flicker" and vote.purpose == "vote":
            raters.setdefault(vote.task_id, set()).add(vote.rater_id)
    assert found.tasks_done == sum(len(told) >= 4 for told in raters.values())
    assert (found.wanted, found.tasks, found.votes) == (400, 100, sum(map(len, raters.values())))


def test_raters_who_guess_lean_or_stutter_stand_out(compared: World) -> None:
    material = Material(compared.study, compared.votes, compared.events, {"raters": [{"rater_id": RATERS[0], "paused": True}]})
    rows = {row.rater_id: row for row in facts.rater_rows(material)}
    assert sum(row.answers for row in rows.values()) == len(compared.votes)
    assert max(rows, key=lambda rater: rows[rater].left.value or 0) == RATERS[4]
    assert max(rows, key=lambda rater: rows[rater].stuttered.value or 0) == RATERS[7]
    assert min(rows, key=lambda rater: rows[rater].others.value or 1) == RATERS[9]
    assert all(row.gold.whole == 6 for row in rows.values())
    assert [row.rater_id for row in rows.values() if row.paused] == [RATERS[0]]
    own = [vote.seconds for vote in compared.votes if vote.rater_id == RATERS[3]]
    assert rows[RATERS[3]].median_seconds == pytest.approx(np.median(own))


def test_repeats_are_compared_with_the_first_answer() -> None:
    votes = [
        cast("a", ("a", "b"), task="1"), cast("a", ("b", "a"), task="1", purpose="repeat"),
        cast("b", ("a", "b"), task="2"), cast("a", ("a", "b"), task="2", purpose="repeat"),
        cast("b", ("a", "b"), task="3", purpose="repeat"),
    ]  # fmt: skip
    assert facts.repeated(votes) == (1, 2)


def test_playback_is_of_answers_that_stand(compared: World) -> None:
    votes = compared.votes[:2]
    bodies = [(votes[0].submission_id, 9, 2.0), (votes[1].submission_id, 0, 1.0), ("undone", 90, 1.0)]
    events = [
        Event(
            n, 0.0, "answer", "x", {"submission_id": name, "task_id": votes[0].task_id, "dropped_frames": dropped, "plays": plays}
        )
        for n, (name, dropped, plays) in enumerate(bodies)
    ]
    assert facts.playback(Material(compared.study, votes, events)).dropped == (9, 270)


def test_skips_that_were_undone_do_not_count(compared: World) -> None:
    assert facts.skips(Material(compared.study, compared.votes, compared.events)) == {"broken": 5, "unsure": 3}


def test_long_breaks_are_no_work() -> None:
    world = comparison_world(items=1)
    votes = [cast("a", ("a", "b"), at=at) for at in (10.0, 20.0, 5000.0, 5010.0)] + [cast("a", ("a", "b"), rater="y", at=30.0)]
    assert facts.sitting_seconds(Material(world.study, votes)) == pytest.approx(2 + 10 + 10 + 2)


def test_pseudonyms_follow_the_first_answers() -> None:
    votes = [cast("a", ("a", "b"), rater="zoe"), cast("a", ("a", "b"), rater="adam"), cast("a", ("a", "b"), rater="zoe", at=1)]
    study = comparison_world(items=1).study
    assert Material(study, votes).called == {"zoe": "rater-001", "adam": "rater-002"}
    assert Material(study, votes, names={"adam": "Adam"}).called == {"zoe": "rater-001", "adam": "Adam"}


def test_the_machine_is_what_tasks_suggest_else_what_was_measured(labelled: World) -> None:
    tasks = tuple(replace(task, suggestion=None) if task.question == "keep_reject" else task for task in labelled.study.tasks)
    study = replace(labelled.study, tasks=tasks)
    measured = {("clip000", "keep_reject"): "reject", ("clip001", "keep_reject"): None, ("clip002", "keep_reject"): "neither"}
    material = Material(study, labelled.votes, automatic=measured)
    assert suggestions(material, "keep_reject") == {"keep_reject-0": "reject"}
    bare = replace(study, tasks=tuple(replace(task, suggestion=None) for task in tasks))
    material = Material(bare, labelled.votes, automatic={("clip000", "scene_motion"): 31.0, ("clip001", "scene_motion"): 0})
    assert suggestions(material, "scene_motion") == {"scene_motion-0": "25", "scene_motion-1": "0"}


def test_people_mostly_say_what_was_planted(labelled: World) -> None:
    reference = suggestions(Material(labelled.study, labelled.votes), "camera_motion")
    found = confusion_with(
        answers_of(labelled.votes, "camera_motion"), Scheme(values=("low", "high", "unclear")), reference=reference
    )
    assert found.counts.sum() == sum(vote.question == "camera_motion" for vote in labelled.votes)
    assert np.trace(found.counts) > 0.75 * found.counts.sum()


@pytest.mark.parametrize(
    ("low", "high", "units", "words"),
    [
        (0.82, 0.9, 60, "High"), (0.7, 0.9, 60, "Fair"), (0.3, 0.9, 60, "is open"), (0.3, 0.6, 60, "several raters a task"),
        (-0.1, 0.4, 60, "Cannot be told from chance"), (-0.5, -0.1, 60, "less than chance"),
        (0.82, 0.9, 12, "even the interval is rough"),
    ],
)  # fmt: skip
def test_what_an_alpha_says_goes_by_its_interval(low: float, high: float, units: int, words: str) -> None:
    assert words in reading(Alpha((low + high) / 2, low, high, None, units, 3 * units, 0))


def test_raters_of_a_comparison_may_differ_task_by_task() -> None:
    alpha = Alpha(0.0, -0.1, 0.1, None, 60, 180, 0)
    assert "preference over all tasks can still be real" in reading(alpha, of_choices=True)


def test_an_alpha_without_a_value_says_why() -> None:
    assert reading(Alpha(None, None, None, "no unit has answers of two raters", 0, 0, 0)) == (
        "Not defined: no unit has answers of two raters."
    )


def test_the_world_has_what_the_tests_speak_of(compared: World) -> None:
    assert {name for vote in compared.votes for name in vote.candidates} == set(METHODS)
    assert min(vote.at for vote in compared.votes) > BEGIN
