"""A study at a glance, for whoever runs it: coverage, raters, pace, and what does not play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.state import BROKEN, State
from inpaintbench.annotate.desk.submissions import ANSWER, COUNTED, UNDONE
from inpaintbench.annotate.records import Share

# Seconds of the window of the pace.
HOUR = 3600.0
# Last words of raters that are listed.
REMARKS = 50


def overview(
    state: State, coverage: Coverage, *, settled: frozenset[str], name_of: Callable[[str], str], now: float
) -> dict[str, Any]:
    """JSON of the admin page.

    ``questions`` have coverage and the gold clips that no vote labels yet, ``raters`` have pace, accuracy on gold and
    self-consistency (each with its n, and both over the last ``Checks.window`` too), ``taken_out`` are tasks that nobody is asked
    any more, ``skips`` counts reasons, ``remarks`` are the last words that came with skips (written by raters: escape them),
    ``votes_last_hour`` counts the votes of the last 60 minutes.
    """
    questions = [_question(state, coverage, label, settled=settled) for label in coverage.groups]
    waiting = [question["name"] for question in questions if not question["done"]]
    missing = " and ".join(filter(None, (", ".join(waiting[:-1]), *waiting[-1:])))
    sent, table = state.submissions, state.submissions.table
    recent = table["at"] > now - HOUR
    answers = recent & (table["kind"] == ANSWER) & (table["flags"] & UNDONE == 0)
    newly = dict(
        zip(sent.raters.values, np.bincount(table["rater"][answers], minlength=len(sent.raters.values)).tolist(), strict=True)
    )
    single = Counter(who for who, which in state.exclusions if which is not None)
    said = islice((sent.at_row(row) for row in reversed(sent.words) if not sent.flagged(row, UNDONE)), REMARKS)
    return {
        "study": {"study_id": state.study.study_id, "title": state.study.file.title},
        "done": not waiting,
        "why": why_done(state, settled) if not waiting else f"Votes are still missing for {missing}.",
        "questions": questions,
        "raters": [
            _rater(state, who, name_of(who), recent=newly.get(who, 0), single=single[who]) for who in sorted(state.raters)
        ],
        "votes_last_hour": int(np.count_nonzero(table["flags"][recent] & COUNTED)),
        "taken_out": _broken(state, out=True),
        "reported_broken": _broken(state, out=False),
        "skips": {BROKEN: 0} | {reason: skips for reason, skips in state.skipped.items() if skips},
        "remarks": [{"rater_id": of.rater_id, "task_id": of.task_id, "text": of.text} for of in said if of.text][::-1],
    }


def is_done(state: State, coverage: Coverage, *, settled: frozenset[str]) -> bool:
    """Return whether every question has its answers, or a settled order."""
    return all(_question(state, coverage, label, settled=settled)["done"] for label in coverage.groups)


def why_done(state: State, settled: frozenset[str]) -> str:
    """Return which stop rule ended the study, in one sentence."""
    level = state.study.file.stop.level
    if not settled:
        return "Every task has the answers that the study asked for."
    if len(settled) == len(state.study.spec_of):
        return f"The order of the candidates is settled at {level:.0%}."
    return f"The order of the candidates is settled at {level:.0%} where people compare, and everything else has its answers."


def _question(state: State, coverage: Coverage, label: str, *, settled: frozenset[str]) -> dict[str, Any]:
    spec = state.study.spec_of[label]
    task_of, tasks = state.study.task_of, coverage.tasks[label]
    own = [task_of[task_id] for task_id in state.broken if task_of[task_id].question == label and not task_of[task_id].gold]
    out = [task for task in own if state.taken_out(task.task_id)]
    enough = state.enough.get(label, 0) - sum(state.standing.get(task.task_id, 0) >= spec.raters_per_task for task in out)
    # Gold clips with several right answers and no vote: being checks they are no part of coverage, yet votes label them.
    silent = {task.task_id for task in state.gold_tasks if task.question == label and len(task.gold) > 1}
    silent = silent if state.study.question_of[label].subject == "clip" else set()
    for rater_id, record in state.raters.items() if silent else ():
        if state.excluded(rater_id) is None:
            known = silent & record.first.keys()
            silent -= {one for one in known if (rater_id, state.submissions.id_of(record.first[one])) not in state.exclusions}
    return {
        "name": label,
        "leaf": spec.leaf,
        "tasks": tasks,
        "taken_out": len(out),
        "covered": enough,
        "votes": state.voted.get(label, 0),
        "needed": coverage.needed[label],
        "gold_without_label": len(silent),
        "raters_per_task": spec.raters_per_task,
        "settled": label in settled,
        "done": label in settled or enough == tasks - len(out),
    }


def _rater(state: State, rater_id: str, name: str, *, recent: int, single: int) -> dict[str, Any]:
    record, checks, out = state.raters[rater_id], state.study.file.checks, state.excluded(rater_id)
    return {
        "rater_id": rater_id,
        "name": name,
        "answered": record.answered,
        "skipped": len(record.done) - record.answered,
        "median_seconds": record.median_seconds(),
        "stuttered_fraction": record.stuttered / record.answered if record.answered else None,
        "gold": _share(record.accuracy()),
        "gold_window": _share(record.window(checks)),
        "consistency": _share(record.consistency()),
        "consistency_window": _share(record.consistency(checks)),
        "paused": record.paused(checks),
        # Why nothing of theirs counts, or None; and how many single answers of theirs do not.
        "excluded": None if out is None else {"reason": out.reason, "rule": out.rule, "at": out.at},
        "excluded_answers": single,
        # Of somebody whom a platform sent: how their part ended; "" before, None for who was invited.
        "outcome": None if record.visit is None else record.visit.outcome or "",
        "last_seen": record.last_seen,
        "answered_last_hour": recent,
        # How often each candidate was shown at the first place.
        "first_places": {name: times for (name, place), times in sorted(record.everywhere.items()) if place == 0},
    }


def _share(share: Share) -> dict[str, Any]:
    return {"right": share.right, "asked": share.asked, "share": share.share}


def _broken(state: State, *, out: bool) -> list[dict[str, Any]]:
    return [
        {
            "task_id": task_id,
            "question": state.study.task_of[task_id].question,
            "subject_id": state.study.task_of[task_id].subject_id,
            "caption": state.study.task_of[task_id].caption,
            "raters": sorted(raters),
        }
        for task_id, raters in state.broken.items()
        if raters and state.taken_out(task_id) == out
    ]
