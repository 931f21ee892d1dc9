"""A folded state as bytes, so that a start needs no look at all events: columns and plain data, compressed.

It is derived: it may be deleted at any time, and is ignored when its format, its hash or the study that it was made for is
another one. Words that people wrote are never in it; they are read where they lie.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa

from inpaintbench.annotate import records
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.desk.submissions import known_of, number_of
from inpaintbench.annotate.records import RaterRecord
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InpaintBenchError

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal

# Changes whenever the same events give another state, or the same state other bytes.
FORMAT = 5
# Events from which on a snapshot is worth its place, and new ones after which the next is taken.
WORTH, STEP = 200_000, 100_000
_CODEC = "zstd"
# Bytes that a snapshot may come to, unpacked.
_LARGEST = 1 << 32
# Fields of the state that are made of the study, or have columns of their own.
_APART = frozenset({"study", "submissions", "gold_tasks", "raters"})
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
    head = {"format": FORMAT, "study": _print_of(state.study), "state": own, "raters": raters, "submissions": plain}
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
