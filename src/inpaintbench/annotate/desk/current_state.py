"""The state of a study, kept level with its journal."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.pairs import Due, Finish, InformationGain
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.events import Event, Kind
from inpaintbench.annotate.study import Study

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal

_T = TypeVar("_T")


class Append(Protocol):
    """What a write transaction gives."""

    def __call__(self, kind: Kind, rater_id: str, body: Mapping[str, Any]) -> None:
        """Add an event; the state knows it at once."""
        ...


class _Spoilt(Exception):
    """A call that failed after it had appended."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _Call(Generic[_T]):
    """What a thread wants written, and what became of it."""

    def __init__(self, work: Callable[[Append], _T]) -> None:
        self.work = work
        self._outcome: Future[_T] = Future()

    @property
    def done(self) -> bool:
        return self._outcome.done()

    def give(self, value: _T) -> None:
        self._outcome.set_result(value)

    def fail(self, error: Exception) -> None:
        self._outcome.set_exception(error)

    def result(self) -> _T:
        return self._outcome.result()


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
        self._calls: deque[_Call[Any]] = deque()
        self._forget()
        journal.register(study.study_id, title=study.file.title)
        with self.reading():
            pass

    @property
    def settled(self) -> frozenset[str]:
        """Questions whose ranking is stable."""
        return self.finish.settled

    def write(self, work: Callable[[Append], _T]) -> _T:
        """What ``work`` returns; it sees everything stored, and what it appends is on disk when this returns.

        Calls of many threads that wait for each other share a transaction: its cost, above all the wait for the disk and for
        the database's answers, is theirs together. ``work`` may therefore run a second time, on a state without its first.
        """
        call = _Call(work)
        self._calls.append(call)
        due: Sequence[Due] = ()
        with self._lock:
            if not call.done:
                waiting = [self._calls.popleft() for _ in range(len(self._calls))]
                try:
                    self._settle(waiting)
                    due = self.finish.due(self.state)
                finally:
                    for one in waiting:  # an interrupt ended this thread: the others must not wait for it
                        if not one.done:
                            one.fail(RuntimeError("the server is stopping"))
        self._look_at(due)
        return call.result()

    def _settle(self, calls: Sequence[_Call[Any]]) -> None:
        """End each call with what it gave or with why not; whoever fails after appending fails alone."""
        try:
            self._transact(calls)
        except _Spoilt as spoilt:
            for one in calls if len(calls) > 1 else ():
                self._settle([one])
            if len(calls) == 1:
                calls[0].fail(spoilt.error)
        except Exception as error:
            for one in calls:
                one.fail(error)

    def _transact(self, calls: Sequence[_Call[Any]]) -> None:
        """One transaction; a failed one leaves no trace in the state."""
        appended = 0
        given: list[Callable[[], None]] = []
        try:
            with self._journal.writing(self.study.study_id) as writer:
                self._catch_up(writer.events(after=self.state.last_seq))

                def append(kind: Kind, rater_id: str, body: Mapping[str, Any]) -> None:
                    nonlocal appended
                    appended += 1
                    self._fold([writer.put(kind, rater_id, body, at=self.now, seq=self.state.last_seq + 1)])

                for one in calls:
                    before = appended
                    try:
                        given.append(partial(one.give, one.work(append)))
                    except Exception as error:
                        if appended > before:
                            raise _Spoilt(error) from error
                        given.append(partial(one.fail, error))
        except BaseException:
            if appended:
                self._forget()
            raise
        for tell in given:  # only now is it on disk
            tell()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The state stands still and knows everything that was stored a moment ago."""
        with self._lock:
            due = self.finish.due(self.state)
        self._look_at(due)
        with self._lock:
            self._catch_up(self._journal.events(self.study.study_id, after=self.state.last_seq))
            yield

    def _look_at(self, due: Sequence[Due]) -> None:
        # Slow, so the lock is let go meanwhile: only who found out that it is due waits for it.
        for one in due:
            stable = self.finish.look(one)
            with self._lock:
                self.finish.note(one, stable=stable)

    def _forget(self) -> None:
        self.state = State(self.study)
        self.coverage = Coverage(self.state)
        self.worth = InformationGain(self.state)

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
