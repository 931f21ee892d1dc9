"""Everything that raters sent, as columns: some 200 bytes an answer, where objects take a thousand.

A submission and its vote are made when somebody asks for them; values that come again and again (what was given, the order shown)
are stored once, by a number.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.records import Proportion, Purpose, Submission, Vote
from inpaintbench.annotate.study import Study

KINDS: tuple[Literal["answer", "skip", "undo"], ...] = ("answer", "skip", "undo")
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
ANSWER, VOTE = KINDS.index("answer"), PURPOSES.index("vote")
# Bits of the column `flags`. `COUNTED`: among the votes that rankings and coverage are made of.
# `RIGHT` and `WRONG`: by the known answer that the task had then.
STUTTERED, TOO_SOON, UNDONE, COUNTED, RIGHT, WRONG = 1, 2, 4, 8, 16, 32
COLUMNS = np.dtype([
    ("at", "f8"), ("seconds", "f8"), ("available", "f8"), ("rater", "u4"), ("task", "u4"), ("shown", "u4"), ("given", "u4"),
    ("choice", "u4"), ("told", "u4"), ("seen", "u4"), ("hidden", "f8"), ("dropped", "f8"), ("watched", "f8"), ("place", "u4"),
    ("kind", "u1"), ("purpose", "u1"), ("flags", "u1"), ("revision", "u4"),
])  # fmt: skip
_KIND, _PURPOSE = ({name: number for number, name in enumerate(names)} for names in (KINDS, PURPOSES))
_GRADED = {None: 0, True: RIGHT, False: WRONG}
_MISSING = float("nan")
_FIRST_ROWS = 1024
_T = TypeVar("_T")
Table = npt.NDArray[Any]


class Numbered(Generic[_T]):
    """Values by number, each stored once."""

    def __init__(self) -> None:
        self.values: list[_T] = []
        self._number: dict[Any, int] = {}

    def number(self, key: Any, value: _T) -> int:
        """The number of ``value``, whose equals have an equal ``key``."""
        known = self._number.get(key)
        if known is None:
            known = self._number[key] = len(self.values)
            self.values.append(value)
        return known


class Submissions(Mapping[str, Submission]):
    """Answers, skips and undos by their id, in the order in which they were stored. Rows are numbers from 0 on."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._task_number = {task.task_id: number for number, task in enumerate(study.tasks)}
        self._table: Table = np.zeros(_FIRST_ROWS, COLUMNS)
        self._rows = 0
        self._ids = bytearray()
        self._id_ends = array("Q")
        self._row_of: dict[int, int] = {}
        self._clashing: dict[str, int] = {}
        self.raters: Numbered[str] = Numbered()
        self.shown: Numbered[tuple[str, ...]] = Numbered()
        self.given: Numbered[Mapping[str, str]] = Numbered()
        self.texts: Numbered[str] = Numbered()
        """Choices, reasons of skips and what was known of the machine's answer."""
        self.seen: Numbered[Mapping[str, Any]] = Numbered()
        """What browsers said of screen and page, without what is another number in each answer; number 0 says nothing."""
        self.seen.number("", {})
        self.words: dict[int, str] = {}
        """Row -> words of a skip."""

    @property
    def table(self) -> Table:
        """All rows; see ``COLUMNS``. Valid until the next submission."""
        return self._table[: self._rows]

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[str]:
        return (self.id_of(row) for row in range(self._rows))

    def newest(self, *, rater_id: str | None, kind: Literal["answer", "skip"] | None) -> Iterator[Submission]:
        """Answers and skips that stand, newest first; of one rater or kind where that is named."""
        table = self.table
        wanted = (table["flags"] & UNDONE == 0) & (table["kind"] != KINDS.index("undo"))
        if rater_id is not None:
            own = self.raters.values.index(rater_id) if rater_id in self.raters.values else -1
            wanted &= table["rater"].astype(np.int64) == own
        if kind is not None:
            wanted &= table["kind"] == KINDS.index(kind)
        return (self.at_row(row) for row in np.flatnonzero(wanted)[::-1].tolist())

    def __getitem__(self, submission_id: str) -> Submission:
        return self.at_row(self.row(submission_id))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Submissions) and list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]

    def row(self, submission_id: str) -> int:
        """The row of a submission; ``KeyError`` where there is none."""
        row = self._row_of.get(hash(submission_id))
        if row is not None and self.id_of(row) == submission_id:
            return row
        return self._clashing[submission_id]

    def id_of(self, row: int) -> str:
        """The id of a row."""
        return self._ids[self._id_ends[row - 1] if row else 0 : self._id_ends[row]].decode()

    def add(
        self, submission_id: str, *, at: float, kind: Literal["answer", "skip", "undo"], rater_id: str, task_id: str,
        shown: tuple[str, ...], purpose: Purpose, place: int = 0, body: Mapping[str, Any] | None = None,
        available: float | None = None, too_soon: bool = False, revision: int = 0, right: bool | None = None,
    ) -> int:  # fmt: skip
        """Add a submission and return its row; ``body`` of an answer or a skip, as in ``Event``."""
        row = self._rows
        if row == len(self._table):
            self._table = np.concatenate([self._table, np.zeros(row, COLUMNS)])
        body = body or {}
        given = body.get("given") or {}
        told = body.get("choice" if kind == "answer" else "reason") or ""
        self._table[row] = (
            at, number_of(body.get("seconds")), number_of(available), self.raters.number(rater_id, rater_id),
            self._task_number[task_id], self.shown.number(shown, shown), self.given.number(tuple(given.items()), given),
            self._text(told), self._text(body.get("suggestion_shown", "")), *self._seen(body), place, _KIND[kind],
            _PURPOSE[purpose], STUTTERED * bool(body.get("stuttered")) + TOO_SOON * too_soon + _GRADED[right], revision,
        )  # fmt: skip
        if kind == "skip" and body["text"]:
            self.words[row] = body["text"]
        self._ids += submission_id.encode()
        self._id_ends.append(len(self._ids))
        self._name(submission_id, row)
        self._rows += 1
        return row

    def _name(self, submission_id: str, row: int) -> None:
        if self._row_of.setdefault(hash(submission_id), row) != row:
            self._clashing[submission_id] = row

    def _seen(self, body: Mapping[str, Any]) -> tuple[int, float, float, float]:
        """Number of what is the same from answer to answer; seconds hidden, frames dropped, frames watched."""
        if "seen" not in body:
            return 0, _MISSING, _MISSING, _MISSING
        same = dict(body["seen"])
        hidden = same.pop("hidden_seconds")
        number = self.seen.number(tuple(same.items()), same)
        return number, number_of(hidden), number_of(body["dropped_frames"]), number_of(body["watched_frames"])

    def _seen_at(self, seen: int, hidden: float, dropped: float, watched: float) -> Mapping[str, Any] | None:
        if not seen:
            return None
        frames = {"dropped_frames": _count(dropped), "watched_frames": _count(watched)}
        return {**self.seen.values[seen], "hidden_seconds": known_of(hidden), **frames}

    def _text(self, text: str) -> int:
        return self.texts.number(text, text)

    def at_row(self, row: int) -> Submission:
        """The submission of a row."""
        columns = self._table[row]
        kind, flags = KINDS[columns["kind"]], int(columns["flags"])
        return Submission(
            float(columns["at"]), kind, self.raters.values[columns["rater"]], self._study.tasks[columns["task"]].task_id,
            PURPOSES[columns["purpose"]], self.shown.values[columns["shown"]],
            self.vote(row) if kind == "answer" else None,
            self.texts.values[columns["choice"]] if kind == "skip" else None, self.words.get(row, ""), bool(flags & UNDONE),
        )  # fmt: skip

    def vote(self, row: int) -> Vote:
        """The vote of the answer of a row."""
        (
            at, seconds, available, rater, task_number, shown, given, choice, told, seen, hidden, dropped, watched, _, _,
            purpose, flags, revision,
        ) = self._table[row].item()  # fmt: skip
        task = self._study.tasks[task_number]
        return Vote(
            submission_id=self.id_of(row), rater_id=self.raters.values[rater], task_id=task.task_id, question=task.question,
            subject_id=task.subject_id, cluster=task.cluster, candidates=task.candidates, shown=self.shown.values[shown],
            purpose=PURPOSES[purpose], given=self.given.values[given], choice=self.texts.values[choice],
            seconds=known_of(seconds), at=at, stuttered=bool(flags & STUTTERED), suggestion_shown=self.texts.values[told],
            seen=self._seen_at(seen, hidden, dropped, watched),
            available_seconds=known_of(available), too_soon=bool(flags & TOO_SOON),
            revision=revision, right=bool(flags & RIGHT) if flags & (RIGHT | WRONG) else None,
        )  # fmt: skip

    def graded(self) -> dict[str, Proportion]:
        """Task -> first answers to it that stand and were right when they came, of those that were held against a known one."""
        table, size = self.table, len(self._study.tasks)
        asked = table[(table["kind"] == ANSWER) & (table["flags"] & UNDONE == 0) & (table["purpose"] == _PURPOSE["gold"])]
        known = np.bincount(asked["task"], minlength=size)
        right = np.bincount(asked["task"], weights=asked["flags"] & RIGHT > 0, minlength=size)
        return {self._study.tasks[at].task_id: Proportion(int(right[at]), int(known[at])) for at in np.flatnonzero(known)}

    def choice(self, row: int) -> str:
        """What the answer of a row chose."""
        return self.texts.values[int(self._table["choice"][row])]

    def place(self, row: int) -> int:
        """Answers and skips of the rater that stood before a row."""
        return int(self._table["place"][row])

    def flag(self, row: int, bit: int, *, to: bool) -> None:
        """Set or clear one of the flags of a row."""
        flags = self._table["flags"]
        flags[row] = flags[row] | bit if to else flags[row] & (0xFF ^ bit)

    def flagged(self, row: int, bit: int) -> bool:
        """Return whether a row has a flag."""
        return bool(self._table["flags"][row] & bit)

    def standing(self) -> npt.NDArray[np.int64]:
        """Rows of the answers that stand, in order."""
        table = self.table
        return np.flatnonzero((table["kind"] == ANSWER) & (table["flags"] & UNDONE == 0))

    def columns(self) -> tuple[dict[str, Any], dict[str, bytes | memoryview]]:
        """Everything but words that people wrote, for a snapshot: plain data, and arrays as bytes."""
        spoken = [row for row, given in enumerate(self.given.values) if any(part.endswith("_text") for part in given)]
        kept = [{part: "" if part.endswith("_text") else value for part, value in given.items()} for given in self.given.values]
        plain = {
            "raters": self.raters.values, "shown": [list(shown) for shown in self.shown.values], "given": kept, "spoken": spoken,
            "texts": self.texts.values, "with_words": sorted(self.words),
            "seen": self.seen.values,
        }  # fmt: skip
        return plain, {"table": self.table.view(np.uint8).data, "ids": bytes(self._ids), "id_ends": self._id_ends.tobytes()}

    def restore(
        self, plain: Mapping[str, Any], arrays: Mapping[str, memoryview], *, said: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Take what ``columns`` gave; ``said``: submission id -> part -> the words that are still there."""
        self._table = np.frombuffer(arrays["table"], COLUMNS).copy()
        self._rows = len(self._table)
        self._ids = bytearray(arrays["ids"])
        self._id_ends = array("Q", bytes(arrays["id_ends"]))
        if not self._rows:
            self._table = np.zeros(_FIRST_ROWS, COLUMNS)
        whole, begins = self._ids.decode(), [0, *self._id_ends][: self._rows]
        if len(whole) == len(self._ids):  # all letters are of one byte
            names: Sequence[str] = [whole[begin:end] for begin, end in zip(begins, self._id_ends, strict=True)]
        else:
            names = [self.id_of(row) for row in range(self._rows)]
        self._row_of = {}
        for row, name in enumerate(names):
            self._name(name, row)
        for value in plain["raters"]:
            self.raters.number(value, value)
        for value in plain["shown"]:
            self.shown.number(tuple(value), tuple(value))
        for value in plain["texts"]:
            self._text(value)
        self.given.values = list(plain["given"])
        for number in set(plain["spoken"]):
            rows = np.flatnonzero((self.table["given"] == number) & (self.table["kind"] == ANSWER))
            for row in rows.tolist():
                self.given.values[number] = {**self.given.values[number], **said.get(names[row], {})}
        self.given._number = {tuple(value.items()): number for number, value in enumerate(self.given.values)}
        for value in plain["seen"][1:]:
            self.seen.number(tuple(value.items()), value)
        self.words = {row: said.get(names[row], {}).get("text", "") for row in plain["with_words"]}


def number_of(value: float | None) -> float:
    """A number for an array; NaN where there is none."""
    return _MISSING if value is None else value


def known_of(value: float) -> float | None:
    """What ``number_of`` was given."""
    return None if value != value else value


def _count(value: float) -> int | None:
    return None if value != value else int(value)
