"""The state of a study, kept level with its journal."""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.pairs import Finish, InformationGain
from inpaintbench.annotate.desk.snapshot import STEP, WORTH, packed, stored_state
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Comparison, Event, Kind, Vote
from inpaintbench.annotate.study import Study

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.screening.base import Proposal

# Rules that act by themselves, looked at every now and then: a look goes over all answers.

# New answers, as a share of those at the last look, after which is looked again; at least `STEP_ANSWERS`.
STEP_FRACTION = 0.05
STEP_ANSWERS = 25


class Screen:
    """When to look at the rules that act by themselves; like a look at a ranking, it is made outside of any lock."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._acts = any(spec.auto for spec in study.file.screening.values())
        self._looked_at = 0

    def due(self, state: State) -> Sequence[Vote] | None:
        """All answers that stand, when it is time to look at them; the same time is not named twice."""
        if not self._acts:
            return None
        known = len(state.submissions)
        if known - self._looked_at < max(STEP_ANSWERS, STEP_FRACTION * self._looked_at):
            return None
        self._looked_at = known
        return state.votes(excluded=True)

    def look(self, votes: Sequence[Vote]) -> list[Proposal]:
        """Return what the rules that act by themselves say."""
        from inpaintbench.annotate.screening.base import proposals

        return proposals(self._study, votes, auto_only=True)


_T = TypeVar("_T")
# Adds an event inside a write transaction, by kind, rater id and body; the state knows it at once.
Append = Callable[[Kind, str, Mapping[str, Any]], None]


# Events that are read at once.
_AT_ONCE = 10_000


@contextmanager
def _uncollected() -> Iterator[None]:
    """Fold many events without the collector of cycles: it goes over everything again and again, and there are none."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()


class _Spoilt(Exception):
    """A call that failed after it had appended."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _Call(NamedTuple):
    """Events that a thread wants written, and what became of them."""

    work: Callable[[Append], Any]
    outcome: Future[Any]


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
        self.screen = Screen(study)
        self._journal = journal
        self._lock = threading.RLock()
        self._calls: deque[_Call] = deque()
        self._kept = 0
        self._forget()
        journal.register(study.study_id, title=study.file.title)
        with self.reading():
            pass

    @property
    def settled(self) -> frozenset[str]:
        """Questions whose ranking is stable."""
        return self.finish.settled

    def write(self, work: Callable[[Append], _T]) -> _T:
        """Return what ``work`` returns; it sees everything stored, and what it appends is on disk when this returns.

        Calls of many threads that wait for each other share a transaction: its cost, above all the wait for the disk and for
        the database's answers, is theirs together. ``work`` may therefore run a second time, on a state without its first.
        """
        call = _Call(work, Future())
        self._calls.append(call)
        due: Mapping[str, Sequence[Comparison]] = {}
        answers: Sequence[Vote] | None = None
        with self._lock:
            if not call.outcome.done():
                waiting = [self._calls.popleft() for _ in range(len(self._calls))]
                try:
                    self._settle(waiting)
                    due, answers = self.finish.due(self.state), self.screen.due(self.state)
                finally:
                    for other in waiting:  # an interrupt ended this thread: the others must not wait for it
                        if not other.outcome.done():
                            other.outcome.set_exception(RuntimeError("the server is stopping"))
        self._look_at(due)
        if answers is not None:
            self._screen(answers)
        result: _T = call.outcome.result()
        return result

    def _settle(self, calls: Sequence[_Call]) -> None:
        """End each call with what it gave or with why not; whoever fails after appending fails alone."""
        try:
            self._transact(calls)
        except _Spoilt as spoilt:
            for call in calls if len(calls) > 1 else ():
                self._settle([call])
            if len(calls) == 1:
                calls[0].outcome.set_exception(spoilt.error)
        except Exception as error:
            for call in calls:
                call.outcome.set_exception(error)

    def _transact(self, calls: Sequence[_Call]) -> None:
        """One transaction; a failed one leaves no trace in the state."""
        appended = 0
        given: list[Callable[[], None]] = []
        try:
            if not self.state.last_seq:
                self._level()
            with self._journal.writing(self.study.study_id) as writer:
                self._catch_up(writer.events(after=self.state.last_seq))

                def append(kind: Kind, rater_id: str, body: Mapping[str, Any]) -> None:
                    nonlocal appended
                    appended += 1
                    self._fold([writer.put(kind, rater_id, body, at=self.now, seq=self.state.last_seq + 1)])

                for call in calls:
                    before = appended
                    try:
                        given.append(partial(call.outcome.set_result, call.work(append)))
                    except Exception as error:
                        if appended > before:
                            raise _Spoilt(error) from error
                        given.append(partial(call.outcome.set_exception, error))
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
            self._level()
            yield

    def _level(self) -> None:
        """Take up what was stored, some at a time: a journal of millions of events is never in memory."""
        events = self._journal.events(self.study.study_id, after=self.state.last_seq, most=_AT_ONCE)
        if len(events) == _AT_ONCE:
            self._take_up(events)
        else:
            self._catch_up(events)
        last = self.state.last_seq
        if last >= WORTH and last - self._kept >= STEP:
            self._journal.keep_snapshot(self.study.study_id, packed(self.state), seq=last)
            self._kept = last

    def _take_up(self, events: Sequence[Event]) -> None:
        """Fold so many events that what is derived from the state is sooner made anew than followed."""
        try:
            with _uncollected():
                while events:
                    self.state.fold(events)
                    events = self._journal.events(self.study.study_id, after=self.state.last_seq, most=_AT_ONCE)
                self.now = self._clock()
                self.coverage = Coverage(self.state, now=self.now)
        except BaseException:
            self._forget()
            raise

    def _look_at(self, due: Mapping[str, Sequence[Comparison]]) -> None:
        # Slow, so the lock is let go meanwhile: only who found out that it is due waits for it.
        for question, comparisons in due.items():
            stable = self.finish.look(comparisons)
            with self._lock:
                self.finish.note(question, stable=stable)

    def _screen(self, answers: Sequence[Vote]) -> None:
        proposed = self.screen.look(answers)

        def leave_out(append: Append) -> None:
            for of in proposed:
                key = (of.rater_id, None)
                if key not in self.state.exclusions and key not in self.state.included:
                    append("exclude", of.rater_id, {"submission": None, "reason": of.reason, "rule": of.rule, "by": "rule"})

        if proposed:
            self.write(leave_out)

    def _forget(self) -> None:
        with _uncollected():
            self.state = stored_state(self.study, self._journal)
            self.coverage = Coverage(self.state, now=self.now)
        self._kept = self.state.last_seq
        self.worth = InformationGain(self.state)

    def _catch_up(self, events: Sequence[Event]) -> None:
        before, self.now = self.now, self._clock()
        try:
            self._fold(events)
        except BaseException:
            self._forget()
            raise
        if self.now < before:  # what expired meanwhile is live again, unless an event says otherwise
            self.coverage = Coverage(self.state, now=self.now)
        self.coverage.expire(self.now)

    def _fold(self, events: Sequence[Event]) -> None:
        self.state.fold(events)
        self.coverage.follow(events, now=self.now)
