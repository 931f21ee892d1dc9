"""Whether a method keeps something of an item for another: some are run again in processes that begin anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inpaintbench import frozen
from inpaintbench.manifest import column
from inpaintbench.types import Dataset

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
