"""Who of a crowd is to be paid or refused, and why; pay and use are two decisions: whoever came to the end is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Literal

from inpaintbench.annotate.crowd import Crowd, Outcome, PlatformName
from inpaintbench.annotate.desk.attendance import timed_out
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import WITHDREW, Proportion, RaterRecord, Visit
from inpaintbench.pages.words import count
from inpaintbench.table_files import FORMULA, csv_text

if TYPE_CHECKING:
    from inpaintbench.annotate.journal.participants import Participant

Decision = Literal["pay", "pay screening", "refuse", "none", "wait"]
_DECISIONS: Mapping[Outcome, Decision] = {
    "completed": "pay", "no_more_tasks": "pay", "failed_checks": "refuse", "screened_out": "pay screening",
    "declined": "none", "returned": "none", "withdrawn": "none",
}  # fmt: skip
_SECONDS = 60.0
# Decisions on a submission, in the words of platforms; of others there is nothing to decide.
_ASKED: Mapping[Decision, str] = {"pay": "approve", "pay screening": "screen out", "refuse": "reject"}
_HEADS: Mapping[PlatformName, Sequence[str]] = {
    "prolific": ("submission_id", "participant_id", "decision", "code", "category", "message"),
    "connect": ("assignmentId", "participantId", "decision", "reason"),
    "mturk": ("HITId", "AssignmentId", "WorkerId", "Approve", "Reject", "RequesterFeedback"),
}
# Characters that MTurk takes.
_FEEDBACK_LIMIT = 1024


@dataclass(frozen=True)
class Payment:
    """One person."""

    person: str
    """Pseudonym."""
    submission_id: str
    """Of the platform."""
    participant_id: str
    state: str
    """Outcome, or ``working``, ``timed out``, ``not begun``."""
    decision: Decision
    code: str
    """Completion code that they were given."""
    minutes: float | None
    """From consent to the end, or to the last sign of them."""
    answers: int
    gold_right: int
    gold_asked: int
    message: str
    """Why, in a sentence that may be sent to them."""
    study_id: str = ""
    """Of the platform, where its link says it."""


def payments(state: State, crowd: Crowd, people: Mapping[str, Participant], *, now: float) -> list[Payment]:
    """A row a person, in the order in which they came; those who withdrew are erased and have none.

    Args:
        state: folded.
        crowd: of the study.
        people: rater id -> who came.
        now: seconds since 1970.
    """
    rows = []
    decision: Decision
    for rater_id, participant in people.items():
        record = state.rater(rater_id)
        visit = record.visit or Visit(participant.arrived_at)
        where, decision, code = "working", "wait", ""
        if visit.outcome is not None:
            where, decision = visit.outcome.replace("_", " "), _DECISIONS[visit.outcome]
            code = crowd.code(visit.outcome)
        elif visit.consented_at is None or timed_out(state, visit, crowd, now=now):
            where, decision = "not begun" if visit.consented_at is None else "timed out", "none"
        gold, end = record.accuracy(), visit.ended_at or record.last_seen
        minutes = None if visit.consented_at is None or end is None else round((end - visit.consented_at) / _SECONDS, 1)
        message = _message(where, record, gold)
        if visit.outcome == "failed_checks" and not (record.reread and record.paused(state.study.file.checks)):
            # Their part ended because they were excluded; pay where that was taken back.
            exclusion = state.excluded(rater_id)
            if exclusion is not None and exclusion.reason == WITHDREW:  # nothing else is held against them
                exclusion = None
            decision = "pay" if exclusion is None else "refuse"
            message = "The study ended early for this person, which was taken back later: the answers up to then count."
            if exclusion is not None:
                message = "Thank you for taking part. The study ended early in this submission, since its answers were excluded "
                message += f"for the following reason: {exclusion.reason}"
        withdrew = state.excluded(rater_id)
        if withdrew is not None and withdrew.by == "rater" and visit.outcome not in (None, "withdrawn"):
            message += " Withdrew afterwards: the answers do not count, and this record stays until they are paid."
        rows.append(
            Payment(
                participant.name, participant.arrival.session, participant.arrival.participant, where, decision, code,
                minutes, record.answered, gold.part, gold.whole, message,
                participant.arrival.study,
            )
        )  # fmt: skip
    return rows


def _message(where: str, record: RaterRecord, gold: Proportion) -> str:
    right = f"{gold.part} of {gold.whole} tasks whose answer is known were answered as it is known"
    sentences: Mapping[str, str] = {
        "completed": f"All tasks were answered; {right}." if gold.whole else "All tasks were answered.",
        "no more tasks": f"{count(record.answered, 'answer')} given when nothing was left to ask.",
        "failed checks": (
            f"Thank you for taking part. In this submission {right}, after the instructions had been shown a second time, which "
            "is below what the description of the study asks for."
        ),
        "screened out": f"{sum(record.tested)} of {len(record.tested)} answers of the test were right, too few to go on.",
        "declined": "Did not agree to take part.",
        "returned": f"Stopped by themselves after {count(record.answered, 'answer')}.",
        "timed out": f"Left after {count(record.answered, 'answer')} without an end.",
        "working": f"At work: {count(record.answered, 'answer')} so far.",
        "not begun": "Came and did not agree or disagree.",
    }
    return sentences.get(where, where)


def as_csv(rows: list[Payment], platform: PlatformName) -> str:
    """The rows as CSV in the form that the platform's owners work with; those of ``link`` have all that is known.

    Prolific and Connect: a row a person whose submission awaits a decision. MTurk: the batch file of its requester pages, an
    ``X`` under ``Approve`` or the reason under ``Reject``; who was screened out is approved, as nothing less can be paid.
    Cells that a spreadsheet would run as a formula get a ``'`` in front.
    """
    lines: list[Sequence[object]] = [_HEADS.get(platform) or [field.name for field in fields(Payment)]]
    for row in rows:
        ids, message, refused = (row.submission_id, row.participant_id), row.message, row.decision == "refuse"
        feedback = message[:_FEEDBACK_LIMIT]
        if platform not in _HEADS:
            lines.append(list(asdict(row).values()))
        elif row.decision not in _ASKED:
            continue
        elif platform == "prolific":
            lines.append([*ids, _ASKED[row.decision], row.code, "FAILED_CHECK" if refused else "", message])
        elif platform == "connect":
            lines.append([*ids, _ASKED[row.decision], message])
        else:
            lines.append([row.study_id, *ids, *(("", feedback) if refused else ("X", "")), feedback])
    cells = [["" if cell is None else str(cell) for cell in line] for line in lines]
    return csv_text([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in line] for line in cells)
