"""Leases: the tasks that raters have in hand, each for a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inpaintbench.annotate.desk.assign import QUEUE, Assignment, next_task
from inpaintbench.annotate.desk.current_state import Append, Live
from inpaintbench.annotate.records import Lease
from inpaintbench.types import content_id


class Leases:
    """Gives leases. A live one is renewed once half of its time is over.

    A rater has ``ahead`` live leases at most, and those of the tasks that they took back.
    """

    def __init__(self, live: Live) -> None:
        self._live = live
        self._seconds = live.study.file.lease_minutes * 60

    def next_task(self, rater_id: str) -> Assignment | None:
        """The task that a rater would be given now."""
        live = self._live
        return next_task(live.state, live.coverage, rater_id, settled=live.settled, information=live.worth.of)

    def queue(
        self, append: Append, rater_id: str, *, choose: Callable[[], Assignment | None] | None = None, ahead: int = QUEUE
    ) -> list[Lease]:
        """The live leases of a rater: reopened tasks, what they had, then new ones.

        Args:
            append: adds events.
            rater_id: whose.
            choose: gives the next task; what is best for the study by default.
            ahead: leases that they have at once.
        """
        live = self._live
        for task in list(live.state.rater(rater_id).reopened):
            self._lease(append, rater_id, Assignment(task.task_id, task.purpose, task.shown))
        missing = max(QUEUE, ahead) - len(self._offered(rater_id))
        # Expired leases come back first, where their tasks still have room for this rater.
        lapsed = [
            lease
            for lease in self._wanted(rater_id)
            if not live.coverage.live(lease.lease_id) and (lease.purpose != "vote" or live.coverage.room(lease.task_id))
        ]
        for lease in lapsed[: max(0, missing)]:
            self._renew(append, lease)
        for lease in self._offered(rater_id):
            if lease.expires_at - live.now < self._seconds / 2:
                self._renew(append, lease)
        for _ in range(ahead - len(self._offered(rater_id))):
            assignment = choose() if choose is not None else self.next_task(rater_id)
            if assignment is None:
                break
            self._lease(append, rater_id, assignment)
        return self._offered(rater_id)

    def _offered(self, rater_id: str) -> list[Lease]:
        return [lease for lease in self._wanted(rater_id) if self._live.coverage.live(lease.lease_id)]

    def _wanted(self, rater_id: str) -> list[Lease]:
        record = self._live.state.rater(rater_id)
        leases = [self._live.state.leases[lease_id] for lease_id in record.queue]
        return [
            lease
            for lease in leases
            if not self._live.state.taken_out(lease.task_id)
            and (lease.purpose == "repeat" or lease.task_id not in record.first)  # an import may have answered it
            and (self._live.study.task_of[lease.task_id].question not in self._live.settled or lease.previous is not None)
        ]

    def _lease(self, append: Append, rater_id: str, assignment: Assignment) -> None:
        number = self._live.state.rater(rater_id).handed
        body = {
            "lease_id": self._name(rater_id, number),
            "task_id": assignment.task_id,
            "shown": list(assignment.shown),
            "purpose": assignment.purpose,
            "expires_at": self._live.now + self._seconds,
        }
        append("lease", rater_id, body)

    def given(self, rater_id: str) -> Iterator[str]:
        """Ids of all leases that a rater ever had, those of imported answers apart."""
        return (self._name(rater_id, number) for number in range(self._live.state.rater(rater_id).handed))

    def _name(self, rater_id: str, number: int) -> str:
        return content_id("lease", self._live.study.study_id, rater_id, number)

    def _renew(self, append: Append, lease: Lease) -> None:
        body = {"lease_id": lease.lease_id, "expires_at": self._live.now + self._seconds}
        append("renew", lease.rater_id, body)
