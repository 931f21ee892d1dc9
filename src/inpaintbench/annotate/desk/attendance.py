"""A stranger's way through a study: consent, practice, test, work with breaks, and how it ends.

Where somebody stands follows from their events, the study and the time. Events are appended where something ends or a break
begins.
"""

from __future__ import annotations

from typing import Literal

from inpaintbench.annotate.crowd import Crowd, Outcome
from inpaintbench.annotate.desk.assign import Assignment, seats, still_to_come
from inpaintbench.annotate.desk.current_state import Append, Live
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Purpose, RaterRecord, Visit
from inpaintbench.annotate.study import StudyTask
from inpaintbench.types import item_rng

Stage = Literal["consent", "training", "testing", "rereading", "resting", "working", "ended"]

# What people read at their end. Codes come beside it.
FAREWELLS: dict[Outcome, str] = {
    "completed": "You have done everything that we asked of you.",
    "no_more_tasks": "Thank you. Others have answered what was left, so there is nothing more to do.",
    "failed_checks": (
        "Your answers did not pass the checks of this study, such as tasks that have a known answer. It ends here for you. "
        "Thank you for your time."
    ),
    "screened_out": (
        "Thank you. In the test too many answers were different from those that are known, so the study ends here for you."
    ),
    "declined": "You did not agree, so nothing is stored of you but that. Please return your place where you found the study.",
    "returned": "You have stopped. Please return your place where you found the study.",
    "withdrawn": "You have withdrawn. What named you is deleted.",
}


def timed_out(state: State, visit: Visit, crowd: Crowd, *, now: float) -> bool:
    """Return whether somebody's place is for others: they agreed, have not ended, and were to be done long ago.

    Time in which the study was paused is not theirs.
    """
    begun = visit.consented_at
    if begun is None or visit.outcome is not None:
        return False
    return now - begun - state.paused_seconds(begun, now=now) > crowd.most_minutes * 60


class Attendance:
    """The strangers of one study."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._tasks = {use: [task for task in live.study.tasks if task.use == use] for use in ("training", "test")}

    @property
    def _crowd(self) -> Crowd:
        crowd = self._live.study.file.crowd
        assert crowd is not None
        return crowd

    def stage(self, append: Append, rater_id: str) -> Stage:
        """Where somebody stands; ends their part, or begins a break, where it is due."""
        record, now = self._live.state.rater(rater_id), self._live.now
        visit = record.visit
        assert visit is not None
        begun = visit.consented_at
        practice, tests = self._left(record, "training"), self._left(record, "test")
        paused = record.paused(self._live.study.file.checks)
        due: Outcome | None = None
        if begun is not None and self._live.state.excluded(rater_id) is not None:
            due = "failed_checks"
        elif begun is not None and not practice:
            if self._crowd.qualify.right - sum(record.tested) > len(tests):  # it cannot be passed any more
                due = "screened_out"
            elif not tests and paused and record.reread:
                due = "failed_checks"
            elif not tests and record.voted >= self._crowd.tasks_per_person:
                due = "completed"
            elif not tests and not self._crowd.signed and not self._has_begun(record) and not self.places_left(besides=rater_id):
                due = "no_more_tasks"
        if visit.outcome is None and due is not None:
            append("finish", rater_id, {"outcome": due})
        if visit.outcome is not None:
            return "ended"
        if begun is None:
            return "consent"
        if practice or tests:
            return "training" if practice else "testing"
        if paused:
            return "rereading"
        since = max(visit.rest_until, begun)
        if now - since - self._live.state.paused_seconds(since, now=now) > self._crowd.break_every_minutes * 60:
            append("rest", rater_id, {"seconds": self._crowd.break_seconds})
        return "resting" if visit.rest_until > now else "working"

    def choose(self, rater_id: str, stage: Stage) -> Assignment | None:
        """The next task of practice or test; practice in the study's order, a test in the rater's own."""
        state = self._live.state
        record, seed = state.rater(rater_id), state.study.file.seed
        purpose: Purpose = "training" if stage == "training" else "test"
        left = [task for task in self._tasks[purpose] if task.task_id not in record.had]
        if not left:
            return None
        rng = item_rng(seed, "next task", f"{rater_id}/{record.handed}")
        task = left[0] if purpose == "training" else left[int(rng.integers(len(left)))]
        return Assignment(task.task_id, purpose, seats(record, task.question, task.candidates, rng=rng))

    def quota_left(self, rater_id: str) -> int:
        """Ordinary tasks that may still be handed to somebody."""
        record = self._live.state.rater(rater_id)
        held = sum(self._live.state.leases[lease_id].purpose == "vote" for lease_id in record.queue)
        return max(0, self._crowd.tasks_per_person - record.voted - held)

    def left(self, rater_id: str, stage: Stage) -> int:
        """Tasks of a stage that are still to come, those in hand too."""
        live = self._live
        record = live.state.rater(rater_id)
        if stage in ("consent", "ended"):
            return 0
        if stage in ("training", "testing"):
            return len(self._left(record, "training" if stage == "training" else "test"))
        quota = self.quota_left(rater_id)
        return len(record.queue) + still_to_come(live.state, live.coverage, rater_id, settled=live.settled, most=quota)

    def before(self, rater_id: str, stage: Stage) -> int:
        """Answers that somebody gave in the parts before a stage."""
        own = {"training": "training", "testing": "test"}.get(stage, "")
        uses = [self._live.study.task_of[task_id].use for task_id in self._live.state.rater(rater_id).first]
        return sum(use in self._tasks and use != own for use in uses)

    def places_left(self, *, besides: str = "") -> int:
        """Places that nobody has, ``besides`` one rater."""
        return max(0, self._crowd.places - self.places_taken(besides=besides))

    def places_taken(self, *, besides: str = "") -> int:
        """Places that somebody has, ``besides`` one rater: strangers who work, or came to the end, have one.

        Where links are signed whoever agrees has a place; where they are not, anybody can invent people, and only who has passed
        the test has one.
        """
        taken = 0
        for rater_id, record in self._live.state.raters.items():
            visit = record.visit
            if visit is None or rater_id == besides:
                continue
            taken += (self._open(visit) and (self._crowd.signed or self._tested(record))) or (
                visit.outcome in ("completed", "no_more_tasks") and record.voted > 0
            )
        return taken

    def at_work(self) -> frozenset[str]:
        """Those who have agreed and go on."""
        raters = self._live.state.raters.items()
        return frozenset(rater_id for rater_id, record in raters if record.visit is not None and self._open(record.visit))

    def _open(self, visit: Visit) -> bool:
        begun = visit.consented_at is not None and visit.outcome is None
        return begun and not timed_out(self._live.state, visit, self._crowd, now=self._live.now)

    def _tested(self, record: RaterRecord) -> bool:
        return not self._left(record, "training") and not self._left(record, "test")

    def _has_begun(self, record: RaterRecord) -> bool:
        """Whether somebody was handed anything after practice and test."""
        return bool(record.warmed) or len(record.had) > sum(map(len, self._tasks.values()))

    def _left(self, record: RaterRecord, use: Literal["training", "test"]) -> list[StudyTask]:
        """Tasks of practice or test without an answer or a skip."""
        held = {self._live.state.leases[lease_id].task_id for lease_id in record.queue}
        return [task for task in self._tasks[use] if task.task_id not in record.had or task.task_id in held]
