"""The newest answers of a study, followed through its journal."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inpaintbench.annotate.events import Event
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.study import Study

# More than are ever asked for, so that undone ones leave no hole.
_KEPT = 500


class Newest:
    """Reads every event once, whoever wrote it."""

    def __init__(self, study: Study, journal: Journal) -> None:
        self._study = study
        self._journal = journal
        self._lock = threading.Lock()
        self._last_seq = 0
        self._answers: dict[str, Event] = {}

    def answers(self, most: int) -> list[Event]:
        """The last ``most`` answers and skips that stand, newest first."""
        with self._lock:
            for event in self._journal.events(self._study.study_id, after=self._last_seq):
                self._last_seq = event.seq
                if event.kind in ("answer", "skip"):
                    self._answers[event.body["submission_id"]] = event
                elif event.kind == "undo":
                    self._answers.pop(event.body["undoes"], None)
            for name in list(self._answers)[:-_KEPT]:
                del self._answers[name]
            return list(self._answers.values())[::-1][:most]
