"""Answers that people gave elsewhere, from a CSV file: one row a subject, question and rater."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from inpaintbench.curation.sheets import read_lines
from inpaintbench.errors import InputError
from inpaintbench.types import Answer, Clip
from inpaintbench.workspace import Workspace

TABLE, STEP = "answers", "import"
KEEP_REJECT = "keep_reject"
# Question -> its possible answers, for questions that rules rely on.
CHOICES: Mapping[str, tuple[str, ...]] = {KEEP_REJECT: ("keep", "reject")}
COLUMNS = ("clip", "question", "answer", "reason", "rater")
_NEEDED = ("clip", "answer")


def import_answers(workspace: Workspace, path: Path) -> list[Answer]:
    """Read votes from a CSV with the columns clip and answer, and perhaps question, reason and rater, into the table ``answers``.

    Commas, semicolons or tabs may stand between the columns. Lines without an answer are votes still to come. Of one clip and
    question the answer that most raters gave counts; a draw leaves it without one. What an earlier file said of other clips and
    questions stays.

    Raises:
        InputError: not readable, a column is missing, a clip that the workspace does not have, an answer that the question does
            not know, or one rater answering twice.
    """
    known = {clip.clip_id for clip in workspace.table("clips", Clip)}
    votes: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for line in read_lines(path, kind="answers", needed=_NEEDED):
        vote = {column: line.fields.get(column, "") for column in COLUMNS}
        if not vote["answer"]:
            continue
        question = vote["question"] or KEEP_REJECT
        _check(vote, question, known, line.where)
        rater = vote["rater"] or "unnamed"
        if rater in votes[vote["clip"], question]:
            raise InputError(f"{line.where}: {rater!r} has answered {question} of clip {vote['clip']} before")
        votes[vote["clip"], question][rater] = (vote["answer"], vote["reason"])
    found = {key: _resolved(*key, list(given.values())) for key, given in votes.items()}
    before = {(row.subject_id, row.question): row for row in workspace.table(TABLE, Answer, step=STEP)}
    rows = sorted((before | found).values(), key=lambda row: (row.question, row.subject_id))
    workspace.write_table(TABLE, STEP, rows, Answer)
    return list(found.values())


def _check(vote: Mapping[str, str], question: str, known: set[str], where: str) -> None:
    if vote["clip"] not in known:
        raise InputError(f"{where}: the workspace has no clip {vote['clip']!r}")
    choices = CHOICES.get(question)
    if choices and vote["answer"] not in choices:
        raise InputError(f"{where}: {vote['answer']!r} is no answer to {question}, choose from {', '.join(choices)}")


def _resolved(clip_id: str, question: str, given: Sequence[tuple[str, str]]) -> Answer:
    counts = Counter(answer for answer, _ in given).most_common()
    answer, votes = counts[0]
    if len(counts) > 1 and counts[1][1] == votes:
        return Answer(
            clip_id, question, None, f"{len(given)} votes, and no answer has most of them", len(given), votes / len(given)
        )
    reasons = "; ".join(dict.fromkeys(reason for one, reason in given if one == answer and reason))
    return Answer(clip_id, question, answer, reasons or None, len(given), votes / len(given))
