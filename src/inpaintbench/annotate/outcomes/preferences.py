"""Votes about predictions become scores of the metric ``human_preference``; higher is better."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from inpaintbench.annotate.outcomes.resolve import PRODUCER, overlapping
from inpaintbench.annotate.questions.leaves import BOTH_BAD, TIE
from inpaintbench.annotate.records import Vote, first_votes
from inpaintbench.annotate.study import Study, StudyTask
from inpaintbench.errors import InputError
from inpaintbench.types import Plain, Prediction, Score, content_id
from inpaintbench.workspace import Workspace

# Names of the scores; the region is the frame, since raters see all of it.
METRIC, REGION = "human_preference", "frame"
# Of the rules in `preferences`.
VERSION = "2"
# (question, method, item).
Key = tuple[str, str, str]
# The candidates of one task of the item, and choice -> votes.
Heard = tuple[tuple[str, ...], Counter[str]]


def preferences(study: Study, votes: Iterable[Vote]) -> list[Score]:
    """One score for each question about predictions, method and item, in this order.

    Two at a time: ``(wins + ties / 2) / comparisons`` of the method on the item; votes that both are bad are in neither number.
    One of several: how often it was chosen. One alone: the mean of ``Question.number``, which is the mean grade, the mean share
    or the share of votes that call it good. Votes count as in ``records.first_votes``; those of gold
    tasks, chosen for being clear, only where a method has no other task on the item. A method without any has None and why.
    ``details`` holds the counts that votes of the item come to, so that nobody needs the journal:

    * pairs: ``votes``, ``wins``, ``losses``, ``ties``, ``both_bad`` of the method, and in ``against`` the last four for each
      other method that it was compared with on the item; both methods of a pair tell of the same votes;
    * one of several: ``chosen`` times ``of`` so many;
    * one alone: ``votes``, and in ``grades`` (``answers`` where these are no grades) how many gave each that was given.

    Args:
        study: whose votes they are; its questions about clips are left out.
        votes: answers that stand, in order.

    Raises:
        InputError: a vote on a task that the study does not have.
    """
    by_key: dict[Key, list[Heard]] = {}
    of_task = first_votes(study, votes, gold=True)
    tasks = [task for task in study.tasks if study.question_of[task.question].subject != "clip"]
    ordinary = {key for task in tasks if not task.gold for key in _keys(task)}
    for task in tasks:
        choices = Counter(vote.choice for vote in of_task.get(task.task_id, ()))
        # For all of its methods or for none: both methods of a pair tell of the same votes.
        counts = not task.gold or not ordinary.issuperset(_keys(task))
        for key in _keys(task) if counts else ():
            by_key.setdefault(key, []).append((task.candidates, choices))
    place = {label: number for number, label in enumerate(study.question_of)}
    ordered = sorted(by_key, key=lambda key: (place[key[0]], key[1]))  # stable: items keep the order of the tasks
    return [_score(study, key, by_key[key]) for key in ordered]


def _keys(task: StudyTask) -> list[Key]:
    return [(task.question, method, task.subject_id) for method in task.candidates]


def protocol_of(label: str) -> str:
    """The protocol of a question's scores."""
    return f"{PRODUCER}/{label}"


def step_of(study: Study, label: str) -> str:
    """Name of the step that writes the scores of one question."""
    plain = re.sub(r"[^a-z0-9_]+", "-", label.lower()).strip("-")
    return f"{PRODUCER}.{plain}.{content_id(study.study_id, label)}"  # labels that differ may be equally plain


def write_preferences(
    run: Workspace, scores: Sequence[Score], study: Study, *, methods: Collection[str] | None = None, override: bool = False
) -> None:
    """Put scores into the table ``scores`` of a run, in place of what this study gave before.

    Args:
        run: folder with the predictions.
        scores: what ``preferences`` gave.
        study: where they come from.
        methods: those whose scores belong there; by default those that the run has predictions of.
        override: take away what other studies say of the same question, method and item.

    Raises:
        InputError: another study has scored the same, and ``override`` is false; nothing is written then.
    """
    if methods is None:
        methods = {row.method for row in run.table("predictions", Prediction)}
    own = [row for row in scores if row.method in methods]
    steps = {step_of(study, label) for label in study.question_of}
    older = overlapping(run, "scores", Score, own, own=steps, key=lambda row: (row.metric, row.protocol, row.method, row.item_id))
    if older and not override:
        row = older[0].taken[0]
        raise InputError(
            f"another study has scored method {row.method!r} on item {row.item_id!r} by the question "
            f"{row.protocol.removeprefix(f'{PRODUCER}/')!r} too; resolve with --override to let this one count"
        )
    for of_step in older:
        run.write_table("scores", of_step.step, of_step.left, Score)
    for label, question in study.question_of.items():
        if question.subject != "clip":
            rows = [row for row in own if row.protocol == protocol_of(label)]
            run.write_table("scores", step_of(study, label), rows, Score)


def _score(study: Study, key: Key, heard: Sequence[Heard]) -> Score:
    label, method, item_id = key
    question = study.question_of[label]
    value, reason = None, None
    details: Plain
    if question.kind == "pair":
        details = _pairs(method, heard)
        compared = details["votes"] - details["both_bad"]
        reason = None if compared else f"both bad in all {details['votes']} votes"
        value = (details["wins"] + details["ties"] / 2) / compared if compared else None
    elif question.kind == "best":
        chosen, of = sum(choices[method] for _, choices in heard), sum(choices.total() for _, choices in heard)
        value, details = (chosen / of if of else None), {"chosen": chosen, "of": of}
    else:
        answers = sum((choices for _, choices in heard), Counter[str]())
        numbers = {choice: value for choice in answers if (value := question.number(choice)) is not None}
        votes = sum(answers[choice] for choice in numbers)
        words = f"the answers to {question.name!r} are words, and none is said to be good"
        reason = None if votes else "no vote is sure" if question.ends() else words
        value = sum(number * answers[choice] for choice, number in numbers.items()) / votes if votes else None
        given = dict(sorted(answers.items()))
        details = {"votes": answers.total(), "grades" if question.kind == "grade" else "answers": given}
    if not any(choices for _, choices in heard):
        reason = "no votes yet"
    fingerprint = content_id(study.study_id, VERSION)
    return Score(method, item_id, METRIC, REGION, protocol_of(label), fingerprint, value, reason, details)


def _pairs(method: str, heard: Sequence[Heard]) -> Plain:
    """How a method did against each other one that it was compared with, and against all of them."""
    against = {}
    for candidates, choices in heard:
        (other,) = (name for name in candidates if name != method)
        if choices:
            against[other] = {
                "wins": choices[method], "losses": choices[other], "ties": choices[TIE], "both_bad": choices[BOTH_BAD],
            }  # fmt: skip
    total = {name: sum(of[name] for of in against.values()) for name in ("wins", "losses", "ties", "both_bad")}
    return {"votes": sum(total.values()), **total, "against": dict(sorted(against.items()))}
