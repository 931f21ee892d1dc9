"""What a study keeps of each lease, submission and vote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inpaintbench.annotate.events import Event, Purpose
from inpaintbench.annotate.study import StudyTask
from inpaintbench.types import content_id

# (left candidate, right candidate, outcome, cluster).
Comparison = tuple[str, str, Literal["first", "second", "tie"], str]


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer that stands, with everything that statistics ask about it."""

    submission_id: str
    rater_id: str
    task_id: str
    question: str
    """Label."""
    subject_id: str
    cluster: str
    candidates: tuple[str, ...]
    shown: tuple[str, ...]
    """The candidates in the order shown; empty where an imported answer does not say."""
    purpose: Purpose
    """By what the study and the journal know now; see ``state``."""
    given: Mapping[str, str]
    choice: str
    seconds: float | None
    """None where an imported answer does not say."""
    at: float
    """Seconds since 1970."""
    stuttered: bool
    suggestion_shown: str

    @property
    def sides(self) -> tuple[str, ...]:
        """The candidates as shown or, where that is not known, as lots drawn by this answer put them.

        By name, the same method would always come first, and its strength be taken for a preference for the left.
        """
        return self.shown or tuple(sorted(self.candidates, key=lambda name: content_id(self.submission_id, name)))


@dataclass(slots=True)
class Lease:
    """A task in the hands of a rater."""

    lease_id: str
    rater_id: str
    task_id: str
    shown: tuple[str, ...]
    purpose: Purpose
    """As that of ``Vote``."""
    expires_at: float
    """Seconds since 1970."""
    previous: Mapping[str, str] | None
    """What the rater answered before they undid it."""
    closed_by: str | None = None
    """Submission id of its answer or skip."""


@dataclass(slots=True)
class Submission:
    """Something a rater sent, whether it still stands or not."""

    kind: Literal["answer", "skip", "undo"]
    rater_id: str
    lease_id: str
    vote: Vote | None
    reason: str | None
    """Of a skip."""
    text: str
    undone: bool = False


def vote_of(event: Event, lease: Lease, task: StudyTask) -> Vote:
    """What an ``answer`` event says, to ``task`` as it was shown under ``lease``."""
    body = event.body
    return Vote(
        submission_id=body["submission_id"],
        rater_id=event.rater_id,
        task_id=task.task_id,
        question=task.question,
        subject_id=task.subject_id,
        cluster=task.cluster,
        candidates=task.candidates,
        shown=lease.shown,
        purpose=lease.purpose,
        given=body["given"],
        choice=body["choice"],
        seconds=body["seconds"],
        at=event.at,
        stuttered=body["stuttered"],
        suggestion_shown=body["suggestion_shown"],
    )
