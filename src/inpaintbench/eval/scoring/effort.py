"""What the methods of a run took, how lossy their results are, where their task was another than the published one, and whether
they keep something of an item for another, which is found by running some items again in processes that begin anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from inpaintbench import frozen
from inpaintbench.errors import WorkspaceError
from inpaintbench.eval.scoring.run_folder import BETWEEN, remembered, repair_words, tasks_in
from inpaintbench.manifest import column
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

# Known pixels further from the input than this below what the written form keeps are repainted.
REPAINTED_DB = 3.0


class ItemEffort(NamedTuple):
    """What one method took on one item."""

    item_id: str
    frames: int
    seconds: float
    peak_mebibytes: int | None
    card_mebibytes: int | None
    machine: str


@dataclass(frozen=True)
class Effort:
    """What one method took on the items of a run; None where nothing tells."""

    items: int = 0
    """Items whose time is known."""
    seconds_a_frame: float | None = None
    """Time of all those items, with starts of programs, over the number of their frames."""
    peak_mebibytes: int | None = None
    """Most memory of the processes that did an item."""
    card_mebibytes: int | None = None
    """Most memory that was taken on graphics cards."""
    machine: str = ""
    """Where: cores and cards; of several machines each."""
    ceiling_low: float | None = None
    """Least PSNR in dB of an input that was written as the results are; None where that loses nothing."""
    ceiling_high: float | None = None
    task: tuple[str, ...] = ()
    """Sentences on where the task was another than the published one."""
    known_low: float | None = None
    """Least PSNR in dB of known pixels against the input, of the items where some changed; None where none did."""
    known_high: float | None = None
    between_items: str = ""
    """What it may have kept of an item for another, one of ``BETWEEN_ITEMS``; empty where nothing tells."""
    of_items: tuple[ItemEffort, ...] = field(default=(), compare=False, repr=False)
    """The same of each item; in no submission."""

    def __bool__(self) -> bool:
        return self != Effort()

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Effort:
        """An effort from the plain data that it tells."""
        fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
        return cls(**fields)

    @property
    def told(self) -> dict[str, Any]:
        """The fields that tell something, as plain data."""
        facts = {one.name: getattr(self, one.name) for one in fields(self) if one.compare}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items() if value}


def efforts_of(workspace: Workspace, dataset: Dataset, methods: Iterable[str]) -> dict[str, Effort]:
    """Efforts of the ``methods`` of a run, of what they made for items of ``dataset``.

    Raises:
        WorkspaceError: a ledger of theirs is damaged, so that the time of some item is not known.
    """
    frames = dict(zip(column(dataset, "item_id"), column(dataset, "frames"), strict=True))
    tasks = tasks_in(workspace)
    words = remembered(workspace, BETWEEN)
    efforts = {}
    for method in methods:
        step = predict_step(method)
        ledger = workspace.ledger(step)
        if damaged := ledger.damaged():
            raise WorkspaceError(f"{damaged[0]}; {repair_words(workspace.path)}")
        rows = {row.item_id: row for row in workspace.table("predictions", Prediction, step=step) if row.item_id in frames}
        timed = {}  # item -> the entry that states what its prediction took; of several the last
        for told in ledger.read().values():
            for made in told.get("rows") or ():
                predicted = rows.get(made.get("item_id"))
                if predicted is not None and made.get("blob") == predicted.blob and told.get("machine"):
                    timed[predicted.item_id] = told
        known = [row.known_db for row in rows.values() if row.known_db is not None]
        ceilings = [row.ceiling_db for row in rows.values() if row.ceiling_db is not None]
        items = tuple(
            ItemEffort(
                item_id, frames[item_id], round(entry["seconds"], 4), _whole(entry.get("peak_mebibytes")),
                _whole(entry.get("card_mebibytes")), entry["machine"],
            )
            for item_id in frames if (entry := timed.get(item_id))
        )  # fmt: skip
        seconds = math.fsum(one.seconds for one in items)
        efforts[method] = Effort(
            items=len(items),
            seconds_a_frame=round(seconds / sum(one.frames for one in items), 4) if items else None,
            peak_mebibytes=max((one.peak_mebibytes for one in items if one.peak_mebibytes is not None), default=None),
            card_mebibytes=max((one.card_mebibytes for one in items if one.card_mebibytes is not None), default=None),
            machine="; ".join(sorted({one.machine for one in items})),
            ceiling_low=round(min(ceilings), 2) if ceilings else None,
            ceiling_high=round(max(ceilings), 2) if ceilings else None,
            task=tasks.get(method, ()),
            known_low=round(min(known), 2) if known else None,
            known_high=round(max(known), 2) if known else None,
            between_items=words.get(method, ""),
            of_items=items,
        )
    return efforts


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


# What a method may have kept of an item for another.
APART = "apart"  # nothing of use: no process saw two items of one clip, and what was tried again came out the same
STATELESS = "stateless"  # nothing
UNPROVED = "unproved"  # nobody can tell: no item could be run again
NOISY = "noisy"  # nobody can tell: the same input has other pixels each time
DEPENDS = "depends"  # something
UNWATCHED = "unwatched"  # nobody can tell: it was made elsewhere, or by a server that goes on
BETWEEN_ITEMS = (APART, STATELESS, UNPROVED, NOISY, DEPENDS, UNWATCHED)

# Clips of which items are run again, and items of each. Who keeps pixels of inputs is found by one clip whose holes differ.
_CLIPS, _ITEMS = 3, 3
# Processes that have to give the same once more before a method is said to depend on what it saw: of those that draw one of two
# results as they begin, one in sixteen is taken for such a one.
_ONCE_MORE = 3


@dataclass(frozen=True)
class Repeat:
    """A prediction made again after other items than before. A row of the table ``repeats``."""

    method: str
    item_id: str
    largest_change: int
    """Against the first prediction, 0..255."""
    largest_change_at_once: int
    """Of a third one, right after the second, against that, 0..255; 0 where the first two are equal."""
    sha256: str
    """Of the pixels of the second."""


def groups_of(dataset: Dataset, leaf: Any) -> list[str]:
    """For each item what it shares with others that its process may not see; empty for items without such others.

    Args:
        dataset: with the items.
        leaf: a method; one that keeps nothing has no such items.
    """
    if leaf.stateless:
        return [""] * len(dataset.items)
    numbers = frozen.footage_of(lambda name: column(dataset, name))
    shared = np.bincount(numbers)[numbers] > 1
    return [str(number) if others else "" for number, others in zip(numbers.tolist(), shared.tolist(), strict=True)]


def to_repeat(dataset: Dataset, predicted: Collection[str]) -> list[list[int]]:
    """Places of the items to be run again, those of one process together and in their new order: the first comes last.

    Whose process has seen others of its clip, or not, is then the other way round. Where no two items share a clip these are
    the last item, one from the middle, and the first.

    Args:
        dataset: with the items.
        predicted: ids of the items that may be chosen.
    """
    ids, holes, shares = (column(dataset, name) for name in ("item_id", "hole_sha256", frozen.SHOWN))
    numbers = frozen.footage_of(lambda name: column(dataset, name))
    there = [place for place, item_id in enumerate(ids) if item_id in predicted]
    clips: dict[int, list[int]] = {}
    for place in there:
        clips.setdefault(int(numbers[place]), []).append(place)
    found = []
    for first, *others in clips.values():
        elsewhere = [place for place in others if holes[place] != holes[first]] or others
        if elsewhere:
            found.append([*reversed(elsewhere[1 - _ITEMS :]), first])
    found.sort(key=lambda places: -(shares[places[-1]] or 0.0))
    if found or len(there) < 2:
        return found[:_CLIPS]
    return [[there[place] for place in sorted({0, len(there) // 2, len(there) - 1}, reverse=True)]]


def to_repeat_apart(dataset: Dataset, predicted: Collection[str]) -> list[list[int]]:
    """Places of the items to be run again of a method whose processes were kept apart, each in a process of its own.

    These are the first and the last item of the clip whose items others show most: whichever was predicted before the other,
    what a method wrote down of the other is there now, and was not then. None where others show next to nothing.

    Args:
        dataset: with the items.
        predicted: ids of the items that may be chosen.
    """
    ids, shares = (column(dataset, name) for name in ("item_id", frozen.SHOWN))
    numbers = frozen.footage_of(lambda name: column(dataset, name))
    clips: dict[int, list[int]] = {}
    for at, item_id in enumerate(ids):
        if item_id in predicted and (shares[at] or 0.0) > frozen.MOST_SHOWN:
            clips.setdefault(int(numbers[at]), []).append(at)
    most = max(clips.values(), key=lambda places: max(shares[at] for at in places), default=[])
    return [[at] for at in dict.fromkeys(most[:1] + most[-1:])]


def kept(repeats: Sequence[Repeat], *, failed: bool, clean: str, once_more: Callable[[int], Sequence[Repeat]]) -> str:
    """What a method did: one of ``BETWEEN_ITEMS``.

    Args:
        repeats: of some of its predictions.
        failed: whether some could not be made again.
        clean: the word where all are the same.
        once_more: makes them in the same order in further processes, 2, 3 and so on: who draws anew in each gives others then.
    """
    other = [one for one in repeats if one.largest_change]
    steady = {(one.item_id, one.sha256) for one in other if not one.largest_change_at_once}
    if steady and all(steady & {(one.item_id, one.sha256) for one in once_more(2 + at)} for at in range(_ONCE_MORE)):
        return DEPENDS
    return NOISY if other else UNPROVED if failed or not repeats else clean


ON_ORDER = "depends on what it saw before"
# Each as a predicate on a method.
WORDS = {
    APART: "was run by processes none of which saw two items of one clip",
    STATELESS: "keeps nothing of an item",
    UNPROVED: "could not be run again on what it had been given, so nobody can tell whether it keeps something of an item",
    NOISY: "gives other pixels each time, so nobody can tell whether it keeps something of an item",
    DEPENDS: f"{ON_ORDER}: some items had other pixels when they were run again after others",
    UNWATCHED: "was made where nobody could watch what was kept of one item for another",
}


def beware_words(word: str) -> str:
    """``WORDS`` of a method that was found to keep something, or that could not be tried; empty for others."""
    return WORDS[word] if word in (UNPROVED, NOISY, DEPENDS) else ""
