"""The state of a study, kept level with its journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.finish import Finish
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.desk.worth import Worth
from inpaintbench.annotate.events import Event, Kind
from inpaintbench.annotate.study import Study

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal


class Append(Protocol):
    """What a write transaction gives."""

    def __call__(self, kind: Kind, rater_id: str, body: Mapping[str, Any]) -> None:
        """Add an event; the state knows it at once."""
        ...


class Live:
    """One study's state with everything that is derived from it. Threads take turns; processes do so through the journal.

    Args:
        study: prepared; it is registered in the journal.
        journal: holds the events.
        clock: seconds since 1970.
    """

    def __init__(self, study: Study, journal: Journal, *, clock: Callable[[], float]) -> None:
        self.study = study
        self.now = clock()
        """Seconds since 1970; the same throughout a transaction."""
        self._clock = clock
        self.finish = Finish(study)
        self._journal = journal
        self._lock = threading.RLock()
        self._forget()
        journal.register(study.study_id, title=study.file.title)
        with self.reading():
            pass

    @property
    def settled(self) -> frozenset[str]:
        """Questions whose ranking is stable."""
        return self.finish.settled

    @contextmanager
    def writing(self) -> Iterator[Append]:
        """A transaction that begins with a state that knows everything stored; a failed one leaves no trace in the state."""
        self._look()
        with self._lock:
            self._unsure = False
            try:
                with self._journal.writing(self.study.study_id) as writer:
                    self._catch_up(writer.events(after=self.state.last_seq))

                    def append(kind: Kind, rater_id: str, body: Mapping[str, Any]) -> None:
                        self._unsure = True
                        self._fold([writer.append(kind, rater_id, body, at=self.now)])

                    yield append
            except BaseException:
                if self._unsure:
                    self._forget()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The state stands still and knows everything that was stored a moment ago."""
        self._look()
        with self._lock:
            self._catch_up(self._journal.events(self.study.study_id, after=self.state.last_seq))
            yield

    def _look(self) -> None:
        # Slow, so the lock is let go meanwhile: only who comes first waits for it.
        with self._lock:
            due = self.finish.due(self.state)
        for one in due:
            stable = self.finish.look(one)
            with self._lock:
                self.finish.note(one, stable=stable)

    def _forget(self) -> None:
        self.state = State(self.study)
        self.coverage = Coverage(self.state)
        self.worth = Worth(self.state)

    def _catch_up(self, events: Sequence[Event]) -> None:
        self.now = self._clock()
        try:
            self._fold(events)
        except BaseException:
            self._forget()
            raise
        self.coverage.expire(self.now)

    def _fold(self, events: Sequence[Event]) -> None:
        self.state.fold(events)
        self.coverage.follow(events, now=self.now)
