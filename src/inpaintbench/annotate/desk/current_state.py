"""The state of a study, kept level with its journal; and snapshots of it, so that a start needs no look at all events.

A snapshot is columns and plain data, compressed. It is derived: it may be deleted at any time, and is ignored when its format,
its hash or the study that it was made for is another one. Words that people wrote are never in it; they are read where they lie.
"""

from __future__ import annotations

import gc
import hashlib
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import orjson
import pyarrow as pa

from inpaintbench.annotate import records
from inpaintbench.annotate.desk.coverage import Coverage
from inpaintbench.annotate.desk.edits import applied
from inpaintbench.annotate.desk.pairs import Finish, InformationGain
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.desk.submissions import known_of, number_of
from inpaintbench.annotate.records import Comparison, Event, Kind, RaterRecord, Vote
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InpaintBenchError

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal


# Changes whenever the same events give another state, or the same state other bytes.
FORMAT = 6
# Events from which on a snapshot is worth its place, and new ones after which the next is taken.
WORTH, STEP = 200_000, 100_000
_CODEC = "zstd"
# Bytes that a snapshot may come to, unpacked.
_LARGEST = 1 << 32
# Fields of the state that are made of the study, or have columns of their own.
_APART = frozenset({"study", "prepared", "submissions", "gold_tasks", "raters"})
# Fields of a rater that have an entry a task, and are arrays of their own: those that name tasks, and the others.
_TASKS = ("had", "repeated", "told", "first")
_LARGE: Mapping[str, str] = {**dict.fromkeys((*_TASKS, "first_rows", "done"), "u4"), "seconds": "f8"}
_CLASSES = {name: of for name, of in vars(records).items() if isinstance(of, type) and is_dataclass(of)}


class SnapshotUnusable(InpaintBenchError):
    """A snapshot that was made by another version, for another study, or is damaged."""


def packed(state: State) -> bytes:
    """The state as bytes."""
    number = {task.task_id: place for place, task in enumerate(state.study.tasks)}
    plain, arrays = state.submissions.columns()
    of_raters = {name: bytearray() for name in _LARGE}
    raters = []
    for rater_id, record in state.raters.items():
        large: dict[str, Sequence[float]] = {name: [number[of] for of in getattr(record, name)] for name in _TASKS}
        large |= {"first_rows": list(record.first.values()), "done": record.done, "seconds": list(map(number_of, record.seconds))}
        small = {of.name: _plain(getattr(record, of.name)) for of in fields(RaterRecord) if of.compare and of.name not in large}
        raters.append([rater_id, small, {name: len(values) for name, values in large.items()}])
        for name, values in large.items():
            of_raters[name] += np.array(values, _LARGE[name]).tobytes()
    own = {of.name: _plain(getattr(state, of.name)) for of in fields(State) if of.name not in _APART}
    head = {"format": FORMAT, "study": _print_of(state.prepared), "state": own, "raters": raters, "submissions": plain}
    parts: dict[str, bytes | bytearray | memoryview] = {"head": orjson.dumps(head), **arrays, **of_raters}
    del head, raters, plain
    index = orjson.dumps({name: len(part) for name, part in parts.items()})
    begin = struct.pack("<I", len(index)) + index
    sink = pa.BufferOutputStream(pa.system_memory_pool())
    sink.write(struct.pack("<Q", len(begin) + sum(map(len, parts.values()))))
    with pa.CompressedOutputStream(sink, _CODEC) as packer:
        for part in (begin, *parts.values()):
            packer.write(part)
    body = sink.getvalue()
    return hashlib.sha256(body).digest() + memoryview(body)


def unpacked(study: Study, blob: bytes, *, said: Mapping[str, Mapping[str, str]]) -> State:
    """The state that ``packed`` was given.

    Args:
        study: as it is now.
        blob: the bytes.
        said: submission id -> part -> words that people wrote.

    Raises:
        SnapshotUnusable: it is damaged, or of another version or study.
    """
    try:
        head, arrays = _parts(blob)
        if (head["format"], head["study"]) != (FORMAT, _print_of(study)):
            raise SnapshotUnusable("the snapshot is of another version or study")
        state = State(study)
        state.submissions.restore(head["submissions"], arrays, said=said)
        for name, value in head["state"].items():
            setattr(state, name, _value(value))
        for edit in state.edits:
            state.become(applied(state.study, edit))
        ids = [task.task_id for task in study.tasks]
        columns = {name: np.frombuffer(arrays[name], of) for name, of in _LARGE.items()}
        begin = dict.fromkeys(_LARGE, 0)
        for rater_id, small, lengths in head["raters"]:
            record = state.raters[rater_id] = RaterRecord(**{name: _value(value) for name, value in small.items()})
            large: dict[str, list[Any]] = {}
            for name, length in lengths.items():
                large[name] = columns[name][begin[name] : begin[name] + length].tolist()
                begin[name] += length
            tasks = {name: [ids[number] for number in large[name]] for name in _TASKS}
            record.had, record.repeated, record.told = set(tasks["had"]), set(tasks["repeated"]), set(tasks["told"])
            record.first = dict(zip(tasks["first"], large["first_rows"], strict=True))
            record.done, record.seconds = large["done"], list(map(known_of, large["seconds"]))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OSError, struct.error) as error:
        raise SnapshotUnusable(f"the snapshot is damaged: {error}") from error
    return state


def stored_state(study: Study, journal: Journal) -> State:
    """The state of the newest snapshot in a journal, to be folded on from there; an empty one where there is none of use."""
    blob = journal.snapshot(study.study_id)
    if blob is not None:
        try:
            return unpacked(study, blob, said=journal.said(study.study_id))
        except SnapshotUnusable:
            pass
    return State(study)


def _parts(blob: bytes) -> tuple[dict[str, Any], dict[str, memoryview]]:
    body = memoryview(blob)[32:]
    if hashlib.sha256(body).digest() != blob[:32]:
        raise SnapshotUnusable("the snapshot is damaged: its hash is another one")
    (size,) = struct.unpack_from("<Q", body)
    if size > _LARGEST:
        raise SnapshotUnusable(f"the snapshot would come to {size} bytes")
    whole = memoryview(pa.Codec(_CODEC).decompress(body[8:], decompressed_size=size, memory_pool=pa.system_memory_pool()))
    (length,) = struct.unpack_from("<I", whole)
    begin = 4 + length
    parts = {}
    for name, size in orjson.loads(whole[4:begin]).items():
        parts[name] = whole[begin : begin + size]
        begin += size
    return orjson.loads(parts.pop("head")), parts


def _print_of(study: Study) -> str:
    """Hash of everything of a study that a fold looks at; gold can be corrected without making it another study."""
    tasks = [
        (task.task_id, task.question, task.gold, task.tolerance, task.use, task.proxy, task.candidates) for task in study.tasks
    ]
    proxies = [(name, proxy.frames, proxy.fps) for name, proxy in sorted(study.proxies.items())]
    questions = [spec.model_dump() for spec in study.file.questions]
    return hashlib.sha256(repr((study.study_id, tasks, proxies, questions)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Plain data of records, tuples, sets and mappings with any keys, each behind a letter that says what it is."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return value if all(of is None or isinstance(of, str | int | float) for of in value) else [_plain(of) for of in value]
    if isinstance(value, tuple):
        return {"t": [_plain(of) for of in value]}
    if isinstance(value, set | frozenset):
        return {"s": [_plain(of) for of in value]}
    if isinstance(value, Mapping):
        return {"m": [[_plain(key), _plain(of)] for key, of in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    return {"c": type(value).__name__, "f": {of.name: _plain(getattr(value, of.name)) for of in fields(value)}}


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(of) if isinstance(of, dict | list) else of for of in plain]
    if not isinstance(plain, dict):
        return plain
    if "c" in plain:
        return _CLASSES[plain["c"]](**{name: _value(of) for name, of in plain["f"].items()})
    if "t" in plain:
        return tuple(_value(of) for of in plain["t"])
    if "s" in plain:
        return {_value(of) for of in plain["s"]}
    return {_value(key): _value(of) for key, of in plain["m"]}


# New answers, as a share of those at the last look, after which rules that act by themselves are looked at again, as a look goes
# over all answers; at least `STEP_ANSWERS`.
STEP_FRACTION = 0.05
STEP_ANSWERS = 25


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
        self._prepared = study
        self.now = clock()
        """Seconds since 1970; the same throughout a transaction."""
        self._clock = clock
        self.finish = Finish(study)
        self._looked_at = 0
        self._journal = journal
        self._lock = threading.RLock()
        self._calls: deque[_Call] = deque()
        self._kept = 0
        self._forget()
        journal.register(study.study_id, title=study.file.title)
        with self.reading():
            pass

    @property
    def study(self) -> Study:
        """As it is after the changes of admins."""
        return self.state.study

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
                    due, known = self.finish.due(self.state), len(self.state.submissions)
                    acts = any(spec.auto for spec in self.study.file.screening.values())
                    if acts and known - self._looked_at >= max(STEP_ANSWERS, STEP_FRACTION * self._looked_at):
                        answers, self._looked_at = self.state.votes(excluded=True), known
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
        except Exception as error:  # whatever it is, whoever waits for an answer gets it
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
                    except Exception as error:  # of one call, whose thread raises it: the others go on
                        if appended > before:
                            raise _Spoilt(error) from error
                        given.append(partial(call.outcome.set_exception, error))
        except BaseException:  # an interrupt, too: what was folded is in no journal
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
        except BaseException:  # an interrupt, too: a state that is half folded is none
            self._forget()
            raise

    def _look_at(self, due: Mapping[str, Sequence[Comparison]]) -> None:
        # Slow, so the lock is let go meanwhile: only who found out that it is due waits for it.
        for question, comparisons in due.items():
            stable = self.finish.look(comparisons)
            with self._lock:
                self.finish.note(question, stable=stable)

    def _screen(self, answers: Sequence[Vote]) -> None:
        from inpaintbench.annotate.screening.base import proposals

        proposed = proposals(self.study, answers, auto_only=True)

        def leave_out(append: Append) -> None:
            for of in proposed:
                key = (of.rater_id, None)
                if key not in self.state.exclusions and key not in self.state.included:
                    append("exclude", of.rater_id, {"submission": None, "reason": of.reason, "rule": of.rule, "by": "rule"})

        if proposed:
            self.write(leave_out)

    def _forget(self) -> None:
        with _uncollected():
            self.state = stored_state(self._prepared, self._journal)
            self.coverage = Coverage(self.state, now=self.now)
        self._kept = self.state.last_seq
        self.worth = InformationGain(self.state)

    def _catch_up(self, events: Sequence[Event]) -> None:
        before, self.now = self.now, self._clock()
        try:
            self._fold(events)
        except BaseException:  # as above
            self._forget()
            raise
        if self.now < before:  # what expired meanwhile is live again, unless an event says otherwise
            self.coverage = Coverage(self.state, now=self.now)
        self.coverage.expire(self.now)

    def _fold(self, events: Sequence[Event]) -> None:
        self.state.fold(events)
        if any(event.kind == "edit" and event.body["what"] == "gold" for event in events):
            self.coverage = Coverage(self.state, now=self.now)  # of other tasks
        else:
            self.coverage.follow(events, now=self.now)
