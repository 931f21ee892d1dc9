"""Votes about clips become rows by the stated rules, and land in the tables where other rooms read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from voted_studies import Ballot, study_of

from inpaintbench.annotate.outcomes.resolve import labels, step_of, write_labels
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError
from inpaintbench.types import Answer, Attribute
from inpaintbench.workspace import Workspace

QUESTIONS = [{"leaf": "scene_motion"}, {"leaf": "camera_motion"}, {"leaf": "keep_reject"}]
CLIPS = ("c1", "c2", "c3")


def labelling(**gold: tuple[str, ...]) -> Study:
    tasks = [(str(one["leaf"]), clip, ()) for one in QUESTIONS for clip in CLIPS]
    known = {(name.rpartition("_")[0], name.rpartition("_")[2]): right for name, right in gold.items()}
    return study_of(QUESTIONS, tasks, gold=known)


def water(ballot: Ballot, subject: str, *shares: str, other: str = "0") -> None:
    for number, share in enumerate(shares):
        ballot.cast(f"r{number}", "scene_motion", subject, {"water": share, "other": other})


def verdicts(ballot: Ballot, subject: str, *reasons: str | None) -> None:
    """None keeps."""
    for number, reason in enumerate(reasons):
        given = {"verdict": "reject" if reason else "keep"}
        if reason:
            code, _, words = reason.partition(": ")
            given |= {"reason": code} | ({"reason_text": words} if words else {})
        ballot.cast(f"r{number}", "keep_reject", subject, given)


def value(rows: tuple[Attribute, ...], subject: str, name: str) -> float | str | None:
    (row,) = [row for row in rows if (row.subject_id, row.name) == (subject, name)]
    assert (row.value is None) == (row.reason is not None)
    assert row.producer == "annotate"
    return row.value


def test_the_median_of_scene_motion_becomes_two_shares() -> None:
    ballot = Ballot(labelling())
    water(ballot, "c1", "10", "25", "50", other="75")
    water(ballot, "c2", "0", "25", "100")
    found = labels(ballot.study, ballot.votes)
    assert value(found.attributes, "c1", "bg_scene_motion") == 0.25
    assert value(found.attributes, "c1", "other_scene_motion") == 0.75
    assert value(found.attributes, "c2", "bg_scene_motion") is None
    assert value(found.attributes, "c2", "other_scene_motion") == 0.0
    assert found.answers[0] == Answer("c1", "scene_motion", "25", None, 3, 1.0)
    assert found.answers[1].answer is None
    assert found.unanswered == {"scene_motion": 1, "camera_motion": 3, "keep_reject": 3}
    assert {row.subject_id for row in found.attributes} == {"c1", "c2"}


def test_agreement_asked_for_decides() -> None:
    ballot = Ballot(labelling())
    water(ballot, "c1", "0", "0", "100")
    assert value(labels(ballot.study, ballot.votes).attributes, "c1", "bg_scene_motion") == 0.0
    strict = labels(ballot.study, ballot.votes, least_agreement=0.7).attributes
    assert value(strict, "c1", "bg_scene_motion") is None
    assert value(strict, "c1", "other_scene_motion") == 0.0  # of this part all agree
    with pytest.raises(InputError, match=r"1\.5"):
        labels(ballot.study, [], least_agreement=1.5)


def test_unclear_is_an_answer_but_no_value() -> None:
    ballot = Ballot(labelling())
    water(ballot, "c1", "unclear", "unclear", "25")
    for rater, motion in (("r0", "unclear"), ("r1", "unclear"), ("r2", "low")):
        ballot.cast(rater, "camera_motion", "c1", {"motion": motion})
    found = labels(ballot.study, ballot.votes)
    assert [row.answer for row in found.answers] == ["unclear", "unclear"]
    assert value(found.attributes, "c1", "bg_scene_motion") is None
    assert value(found.attributes, "c1", "camera_motion_by_people") is None
    assert {row.reason for row in found.attributes if row.value is None} == {"unclear by 67% of 3 votes"}


def test_camera_motion_is_what_most_say() -> None:
    ballot = Ballot(labelling())
    for clip, motions in (("c1", ("low", "low", "high")), ("c2", ("low", "high"))):
        for number, motion in enumerate(motions):
            ballot.cast(f"r{number}", "camera_motion", clip, {"motion": motion})
    found = labels(ballot.study, ballot.votes)
    assert value(found.attributes, "c1", "camera_motion_by_people") == "low"
    assert value(found.attributes, "c2", "camera_motion_by_people") is None
    assert found.answers[0] == Answer("c1", "camera_motion", "low", None, 3, 2 / 3)


def test_rejecting_carries_the_reasons_and_words() -> None:
    ballot = Ballot(labelling())
    verdicts(ballot, "c1", "overlay", "other: a lens cap", "overlay")
    verdicts(ballot, "c2", None, "shot_change", None)
    verdicts(ballot, "c3", None, "shot_change")
    first, second, third = labels(ballot.study, ballot.votes).answers
    assert first == Answer("c1", "keep_reject", "reject", "overlay; other: a lens cap", 3, 1.0)
    assert second == Answer("c2", "keep_reject", "keep", None, 3, 2 / 3)
    assert third.answer is None
    assert third.reason == "no answer has most of the 2 votes: 1 keep, 1 reject; shot_change"


def test_a_rater_counts_once_by_the_first_answer() -> None:
    ballot = Ballot(labelling())
    ballot.cast("r0", "camera_motion", "c1", {"motion": "low"})
    ballot.cast("r0", "camera_motion", "c1", {"motion": "high"}, purpose="repeat")
    ballot.cast("r0", "camera_motion", "c1", {"motion": "high"}, purpose="repeat")
    (row,) = labels(ballot.study, ballot.votes).answers
    assert (row.answer, row.votes) == ("low", 1)


def test_gold_has_its_known_answer_whatever_raters_say() -> None:
    study = labelling(keep_reject_c1=("keep",), scene_motion_c3=("50",))
    ballot = Ballot(study)
    verdicts(ballot, "c1", "overlay", "overlay")
    water(ballot, "c3", "0", "0", "25", other="75")
    found = labels(study, ballot.votes)
    answers = {(row.question, row.subject_id): row for row in found.answers}
    assert answers["keep_reject", "c1"] == Answer("c1", "keep_reject", "keep", "known beforehand", 0, None)
    assert value(found.attributes, "c3", "bg_scene_motion") == 0.5
    assert value(found.attributes, "c3", "other_scene_motion") == 0.75  # nothing is known of this part, so votes tell
    assert found.unanswered["keep_reject"] == 2
    silent = labels(study, []).attributes
    assert value(silent, "c3", "bg_scene_motion") == 0.5
    assert value(silent, "c3", "other_scene_motion") is None


@pytest.mark.parametrize("purpose", ["gold", "vote"])
def test_a_check_with_several_right_answers_is_a_vote_too_so_its_clip_keeps_its_label(purpose: str) -> None:
    gold = {"scene_motion_c1": ("25", "50"), "camera_motion_c1": ("low", "unclear"), "keep_reject_c1": ("keep", "reject")}
    ballot = Ballot(labelling(**gold))
    for number, (share, motion, verdict) in enumerate((("25", "low", "keep"), ("50", "low", "keep"), ("50", "high", "keep"))):
        ballot.cast(f"r{number}", "scene_motion", "c1", {"water": share, "other": "10"}, purpose=purpose)
        ballot.cast(f"r{number}", "camera_motion", "c1", {"motion": motion}, purpose=purpose)
        ballot.cast(f"r{number}", "keep_reject", "c1", {"verdict": verdict}, purpose=purpose)
    found = labels(ballot.study, ballot.votes)
    assert [(row.answer, row.reason, row.votes) for row in found.answers] == [
        ("50", None, 3), ("low", None, 3), ("keep", None, 3)
    ]  # fmt: skip
    assert value(found.attributes, "c1", "bg_scene_motion") == 0.5
    assert value(found.attributes, "c1", "other_scene_motion") == 0.1
    assert value(found.attributes, "c1", "camera_motion_by_people") == "low"
    assert found.against_gold == {"scene_motion": 0, "camera_motion": 0, "keep_reject": 0}
    assert found.unanswered == {"scene_motion": 2, "camera_motion": 2, "keep_reject": 2}


def test_between_two_right_steps_lies_a_right_median() -> None:
    ballot = Ballot(labelling(scene_motion_c1=("25", "50")))
    water(ballot, "c1", "25", "50")
    assert value(labels(ballot.study, ballot.votes).attributes, "c1", "bg_scene_motion") == 0.375


def test_what_votes_come_to_against_what_is_known_is_no_label_and_is_counted_apart() -> None:
    ballot = Ballot(labelling(scene_motion_c1=("25", "50"), scene_motion_c2=("0", "10"), camera_motion_c1=("low", "unclear")))
    water(ballot, "c1", "100", "100")
    ballot.cast("r0", "camera_motion", "c1", {"motion": "high"})
    found = labels(ballot.study, ballot.votes)
    assert [row.answer for row in found.answers] == [None, None]
    assert found.answers[0].reason == "2 votes come to 100, but right are 25, 50"
    assert value(found.attributes, "c1", "bg_scene_motion") is None
    assert found.against_gold == {"scene_motion": 1, "camera_motion": 1, "keep_reject": 0}
    assert found.unanswered["scene_motion"] == 2  # c2, which nobody answered, and c3


@pytest.mark.parametrize(
    ("tolerance", "shares", "label"),
    [
        (1, ("75", "75", "75"), "50"),
        (1, ("10", "10"), "25"),
        (1, ("10", "75"), "42.5"),  # between two right ones as ever
        (1, ("50", "75"), "50"),  # half a step off
        (1, ("75", "100"), None),  # a step and a half off
        (2, ("75", "100"), "50"),
        (0, ("75", "75"), None),
        (1, ("unclear", "unclear"), None),
    ],
)
def test_votes_within_the_tolerance_of_several_right_answers_keep_the_label(
    tolerance: int, shares: tuple[str, ...], label: str | None
) -> None:
    study = labelling(scene_motion_c1=("25", "50"))
    study = replace(study, tasks=tuple(replace(task, tolerance=tolerance if task.gold else 0) for task in study.tasks))
    ballot = Ballot(study)
    for rater, share in enumerate(shares):
        ballot.cast(f"r{rater}", "scene_motion", "c1", {"water": share, "other": "0"}, purpose="gold")
    resolved = labels(study, ballot.votes, least_agreement=0)
    (row,) = resolved.answers
    assert (row.answer, row.votes) == (label, len(shares))
    assert resolved.against_gold["scene_motion"] == (label is None)
    share = value(resolved.attributes, "c1", "bg_scene_motion")
    assert share == (None if label is None else float(label) / 100)
    if shares == ("75", "75", "75"):
        assert row.reason == "3 votes come to 75, which is right within 1 step"


def test_the_same_question_under_two_names_gives_two_attributes() -> None:
    questions = [{"leaf": "camera_motion"}, {"leaf": "camera_motion", "name": "again"}]
    study = study_of(questions, [("camera_motion", "c1", ()), ("again", "c1", ())])
    ballot = Ballot(study)
    ballot.cast("r0", "camera_motion", "c1", {"motion": "low"})
    ballot.cast("r0", "again", "c1", {"motion": "high"})
    found = labels(study, ballot.votes)
    assert value(found.attributes, "c1", "camera_motion_by_people") == "low"
    assert value(found.attributes, "c1", "camera_motion_by_people_again") == "high"


def test_votes_of_another_study_are_refused() -> None:
    other = Ballot(study_of([{"leaf": "camera_motion"}], [("camera_motion", "elsewhere", ())]))
    other.cast("r0", "camera_motion", "elsewhere", {"motion": "low"})
    with pytest.raises(InputError, match="does not have"):
        labels(labelling(), other.votes)


def test_resolving_again_replaces_and_other_rows_stay(workspace: Workspace) -> None:
    workspace.write_table("attributes", "measure.x", [Attribute("c1", "x", 1.0, None, "x", "1")], Attribute)
    ballot = Ballot(labelling())
    water(ballot, "c1", "25")
    write_labels(workspace, labels(ballot.study, ballot.votes), ballot.study)
    water(ballot, "c2", "50")
    write_labels(workspace, labels(ballot.study, ballot.votes), ballot.study)
    rows = workspace.table("attributes", Attribute, step=step_of(ballot.study))
    assert [(row.subject_id, row.value) for row in rows if row.name == "bg_scene_motion"] == [("c1", 0.25), ("c2", 0.5)]
    assert [row.subject_id for row in workspace.table("answers", Answer)] == ["c1", "c2"]
    assert len(workspace.table("attributes", Attribute)) == len(rows) + 1


def test_two_studies_of_one_clip_need_a_decision(workspace: Workspace) -> None:
    first, second = (
        Ballot(labelling()),
        Ballot(study_of(QUESTIONS[:2], [("scene_motion", "c1", ()), ("camera_motion", "c9", ())])),
    )
    water(first, "c1", "25")
    water(first, "c2", "25")
    write_labels(workspace, labels(first.study, first.votes), first.study)
    water(second, "c1", "50")
    resolved = labels(second.study, second.votes)
    with pytest.raises(InputError, match=f"{first.study.study_id} has answered the same.*--override"):
        write_labels(workspace, resolved, second.study)
    assert len(workspace.table("answers", Answer)) == 2
    write_labels(workspace, resolved, second.study, override=True)
    rows = {(row.subject_id, row.value) for row in workspace.table("attributes", Attribute) if row.name == "bg_scene_motion"}
    assert rows == {("c1", 0.5), ("c2", 0.25)}
    assert len(workspace.table("answers", Answer)) == 2


def test_studies_of_other_clips_stand_side_by_side(workspace: Workspace) -> None:
    first, second = Ballot(labelling()), Ballot(study_of(QUESTIONS[:1], [("scene_motion", "c9", ())]))
    water(first, "c1", "25")
    water(second, "c9", "50")
    for ballot in (first, second):
        write_labels(workspace, labels(ballot.study, ballot.votes), ballot.study)
    assert {row.subject_id for row in workspace.table("answers", Answer)} == {"c1", "c9"}
