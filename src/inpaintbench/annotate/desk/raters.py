"""What a study knows of one rater: their queue, what they have answered, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from inpaintbench.annotate.events import Purpose
from inpaintbench.annotate.study import Checks

# Last answers whose median is the pace.
PACE_ANSWERS = 20
# Last tasks whose proxies a rater may still fetch.
RECENT_TASKS = 20


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    right: int
    asked: int

    @property
    def share(self) -> float | None:
        """0..1, None of none."""
        return self.right / self.asked if self.asked else None


@dataclass(frozen=True)
class Reopened:
    """A task that an undo gave back and that waits for its new lease."""

    task_id: str
    purpose: Purpose
    shown: tuple[str, ...]
    previous: Mapping[str, str] | None
    """What was answered; None after a skip."""


@dataclass
class RaterRecord:
    """The part of the state that one rater's events make; every list follows the order of events."""

    handed: int = 0
    """Leases ever given."""
    queue: list[str] = field(default_factory=list)
    """Lease ids without an outcome, in the order in which they are to be done; some may have expired."""
    had: set[str] = field(default_factory=set)
    """Tasks handed out, without repeats: none of them comes a second time."""
    repeated: set[str] = field(default_factory=set)
    """Tasks handed out once more on purpose."""
    golds: int = 0
    """Gold tasks handed out."""
    done: list[str] = field(default_factory=list)
    """Submission ids of answers and skips that stand."""
    seconds: list[float | None] = field(default_factory=list)
    """Of the answers that stand; None of those that do not say, which were imported."""
    first: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Task -> (answers and skips before it, choice), for the answers that stand and are no repeats."""
    told: set[str] = field(default_factory=set)
    """Tasks after whose answer the machine's was shown; taking it back does not make it unseen."""
    gold: list[bool] = field(default_factory=list)
    """Whether the answers to gold tasks that stand are right."""
    gold_from: int = 0
    """Those before it no longer count: an admin let the rater go on."""
    repeats: list[bool | None] = field(default_factory=list)
    """Whether repeats were answered as at first; None where the first answer does not stand."""
    reopened: list[Reopened] = field(default_factory=list)
    places: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """(question, candidate, place) -> how often it was shown there, without what was skipped or undone."""
    everywhere: dict[tuple[str, int], int] = field(default_factory=dict)
    """(candidate, place) -> the same over all questions."""
    proxies: tuple[str, ...] = ()
    """Of the last tasks, newest last."""
    question: str = ""
    """Of the last ordinary task."""
    in_a_row: int = 0
    """Ordinary tasks of that question, one after the other."""
    last_seen: float | None = None
    """Seconds since 1970."""

    @property
    def answered(self) -> int:
        """Answers that stand."""
        return len(self.seconds)

    def pace(self) -> float | None:
        """Median seconds of the last answers, None before the first."""
        return _median(self.seconds[-PACE_ANSWERS:])

    def median_seconds(self) -> float | None:
        """Of all answers that stand and say it."""
        return _median(self.seconds)

    def window(self, checks: Checks) -> Share:
        """The last gold answers that count, at most ``checks.window``."""
        counted = self.gold[self.gold_from :][-checks.window :]
        return Share(sum(counted), len(counted))

    def paused(self, checks: Checks) -> bool:
        """Whether a full window holds too few right answers."""
        window = self.window(checks)
        return window.asked == checks.window and window.right < checks.least_accuracy * checks.window - 1e-9

    def accuracy(self) -> Share:
        """Over all gold answers that stand."""
        return Share(sum(self.gold), len(self.gold))

    def consistency(self) -> Share:
        """Repeats answered as at first."""
        known = self._compared()
        return Share(sum(known), len(known))

    def consistency_window(self, checks: Checks) -> Share:
        """The same over the last ``checks.window`` repeats."""
        known = self._compared()[-checks.window :]
        return Share(sum(known), len(known))

    def repeatable(self, *, gap: int) -> list[str]:
        """Tasks that may be asked once more: at least ``gap`` others were done since, and not repeated yet."""
        latest = len(self.done) - 1 - gap
        return [task_id for task_id, (place, _) in self.first.items() if place <= latest and task_id not in self.repeated]

    def _compared(self) -> list[bool]:
        return [equal for equal in self.repeats if equal is not None]

    def show(self, question: str, shown: tuple[str, ...], *, by: int) -> None:
        """Count candidates at their places; ``by`` -1 takes it back."""
        for place, candidate in enumerate(shown):
            key = (question, candidate, place)
            self.places[key] = self.places.get(key, 0) + by
            self.everywhere[key[1:]] = self.everywhere.get(key[1:], 0) + by


def _median(seconds: Sequence[float | None]) -> float | None:
    known = [one for one in seconds if one is not None]
    return median(known) if known else None
