"""What each rater has in hand: leases renewed, given anew, or left to others."""

from __future__ import annotations

from inpaintbench.annotate.desk.assign import QUEUE, Assignment, next_task
from inpaintbench.annotate.desk.current_state import Append, Live
from inpaintbench.annotate.desk.records import Lease
from inpaintbench.types import content_id


class Leases:
    """Gives leases. A live one is renewed once half of its time is over.

    A rater has ``QUEUE`` live leases at most, and those of the tasks that they took back.
    """

    def __init__(self, live: Live) -> None:
        self._live = live
        self._seconds = live.study.file.lease_minutes * 60

    def queue(self, append: Append, rater_id: str) -> list[Lease]:
        """The live leases of a rater: reopened tasks, what they had, then new ones."""
        live = self._live
        self._reopen(append, rater_id)
        missing = QUEUE - len(self._offered(rater_id))
        for lease in self._lapsed(rater_id)[: max(0, missing)]:
            self._renew(append, lease)
        for lease in self._offered(rater_id):
            if lease.expires_at - live.now < self._seconds / 2:
                self._renew(append, lease)
        for _ in range(QUEUE - len(self._offered(rater_id))):
            found = next_task(live.state, live.coverage, rater_id, settled=live.settled, information=live.worth.of)
            if found is None:
                break
            self._lease(append, rater_id, found)
        return self._offered(rater_id)

    def _reopen(self, append: Append, rater_id: str) -> None:
        for one in list(self._live.state.rater(rater_id).reopened):
            self._lease(append, rater_id, Assignment(one.task_id, one.purpose, one.shown))

    def _offered(self, rater_id: str) -> list[Lease]:
        return [lease for lease in self._wanted(rater_id) if self._live.coverage.live(lease.lease_id)]

    def _lapsed(self, rater_id: str) -> list[Lease]:
        """Expired leases of tasks that still have room for this rater."""
        return [
            lease
            for lease in self._wanted(rater_id)
            if not self._live.coverage.live(lease.lease_id)
            and (lease.purpose != "vote" or self._live.coverage.room(lease.task_id))
        ]

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

    def _lease(self, append: Append, rater_id: str, found: Assignment) -> None:
        number = self._live.state.rater(rater_id).handed
        body = {
            "lease_id": content_id("lease", self._live.study.study_id, rater_id, number),
            "task_id": found.task_id,
            "shown": list(found.shown),
            "purpose": found.purpose,
            "expires_at": self._live.now + self._seconds,
        }
        append("lease", rater_id, body)

    def _renew(self, append: Append, lease: Lease) -> None:
        body = {"lease_id": lease.lease_id, "expires_at": self._live.now + self._seconds}
        append("renew", lease.rater_id, body)
