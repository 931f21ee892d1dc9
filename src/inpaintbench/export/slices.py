"""Pairing of clips and masks in slices: pure index arithmetic, decided before anything is rendered.

A slice holds one attribute fixed and lets the others vary (DEVIL, CVPR 2022, section 5.1): a slice of a clip attribute pairs
the clips with that label and masks of all presets; a slice of a mask attribute pairs clips of all kinds and masks of the
presets with that label.

Which mask a clip gets follows from the clip and its preset alone, and which preset from the clip and the slice, never from other
clips: a slice that takes all of its clips is only added to by further footage. Which clips a slice takes goes by turns from all
films, or it would be about the film with the most clips.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeVar, overload

import numpy as np
import numpy.typing as npt

from inpaintbench.types import Slice, canonical_json

LEVELS = ("low", "high")

# Clips of a film among which a rare kind may come first: twice the number of presets.
_NEXT = 16
Clip = TypeVar("Clip")


@dataclass(frozen=True, slots=True)
class Pair:
    """One clip with one numbered mask of one preset, in one slice."""

    slice: str
    clip_id: str
    preset: str
    index: int
    reverse: bool


@dataclass(frozen=True)
class Pairs(Sequence[Pair]):
    """Pairs, of which there may be millions, as columns; those of a slice lie beside each other."""

    counts: dict[str, int]
    """Slice -> how many it has."""
    clip_ids: list[str]
    presets: list[str]
    indices: npt.NDArray[np.int32]
    reverse: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.clip_ids)

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> list[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | list[Pair]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        ends = np.cumsum(list(self.counts.values()))
        name = list(self.counts)[int(np.searchsorted(ends, range(len(self))[place], side="right"))]
        return Pair(name, self.clip_ids[place], self.presets[place], int(self.indices[place]), bool(self.reverse[place]))

    def __iter__(self) -> Iterator[Pair]:
        names = (name for name, count in self.counts.items() for _ in range(count))
        numbers = (map(int, self.indices), map(bool, self.reverse))
        return itertools.starmap(Pair, zip(names, self.clip_ids, self.presets, *numbers, strict=True))


@dataclass(frozen=True)
class Plan:
    """Pairs of every slice."""

    pairs: Pairs
    rules: dict[str, str]
    """Slice -> its predicate in words; every slice that was asked for."""
    left_out: dict[str, str]
    """Slice without items -> the reason."""


def legacy_order(count: int) -> tuple[list[int], list[bool]]:
    """The order in which DEVIL's released code takes ``count`` sorted entries, and which of them it plays in reverse.

    Numpy's legacy generator with seed 0 shuffles the list, then gives one random bit for each entry of the shuffled list.
    """
    generator = np.random.RandomState(0)
    order = np.arange(count)
    generator.shuffle(order)
    # dtype=bool draws packed bits; other integer types would give other bits.
    return order.tolist(), generator.randint(0, 2, count, dtype=bool).tolist()


def plan(
    clip_levels: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    all_clips: Sequence[str],
    presets: Mapping[str, Mapping[str, str]],
    per_slice: int,
    behaviour: str,
    seed: int,
    masks_per_preset: int = 1000,
    members: Mapping[str, Collection[str]] = MappingProxyType({}),
    sources: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """Pair clips and masks for all slices.

    Args:
        clip_levels: clip attribute -> level -> labelled clip ids, in name order.
        all_clips: ids of all kept clips, in name order.
        presets: preset name -> mask attribute -> level.
        per_slice: pairs wanted in each slice; fewer where there are fewer clips.
        behaviour: ``as-published`` (DEVIL's permutations and reversal bits) or ``corrected`` (hashes of clip, slice and preset).
        seed: of the hashes.
        masks_per_preset: how many numbered masks each preset offers.
        members: slice -> clips that are in it already: it is filled up to ``per_slice`` with others, and these get no pair.
        sources: clip -> its film, of all and of ``members``; a clip that is not there is a film of its own. Corrected slices take
            clips by turns from all films.
    """
    draw = _published if behaviour == "as-published" else _ByContent(all_clips, seed, sources)
    counts: dict[str, int] = {}
    chosen: list[str] = []
    masks: list[_Masks] = []
    rules: dict[str, str] = {}
    left_out: dict[str, str] = {}
    attributes = list(dict.fromkeys(name for labels in presets.values() for name in labels))
    wanted = [
        (attribute, level, levels.get(level, ()), sorted(presets), False)
        for attribute, levels in clip_levels.items()
        for level in LEVELS
    ] + [
        (attribute, level, all_clips, sorted(name for name, labels in presets.items() if labels[attribute] == level), True)
        for attribute, level in itertools.product(attributes, LEVELS)
    ]
    for attribute, level, clips, names, shuffle_clips in wanted:
        name = f"{attribute}-{level}"
        rules[name] = f"{attribute}_level == '{level}'"
        there = members.get(name, ())
        if not clips and not there:
            left_out[name] = f"no clip is labelled {attribute}_level '{level}'"
            continue
        others = [clip for clip in clips if clip not in there] if there else clips
        lacking = max(per_slice - len(there), 0)
        own, drawn = draw(
            name, others, names, per_slice=lacking, per_preset=masks_per_preset, shuffle=shuffle_clips, there=sorted(there)
        )
        counts[name], chosen = len(own), chosen + own
        masks.append(drawn)
    of_masks = [preset for drawn in masks for preset in drawn.presets]
    indices = np.concatenate([np.empty(0, np.int32), *(drawn.indices for drawn in masks)])
    reverse = np.concatenate([np.empty(0, np.bool_), *(drawn.reverse for drawn in masks)])
    return Plan(Pairs(counts, chosen, of_masks, indices, reverse), rules, left_out)


def by_turns(
    films: Iterable[Sequence[Clip]], *, kind_of: Callable[[Clip], int] = lambda _: 0, there: Container[Clip] = ()
) -> Iterator[Clip]:
    """Take one clip of each film, then another of each that has more, until one would have more than an even share and one more.

    A film with many clips beside films with few does not fill up what these lack: a mean would be of that film.

    Args:
        films: clips of each, those that come first in front; films in the order in which they take turns.
        kind_of: kind of a clip. Kinds are taken about equally often, where films have clips to choose from.
        there: clips that have been taken already, the first of their films: they have had the turns of these, and are not given.
    """
    left = [list(reversed(own)) for own in films]
    count, taken, kinds = len(left), 0, Counter[int]()
    for turn in itertools.count():
        if not left or turn * count > taken + 1:
            return
        taken += len(left)
        row: list[tuple[int, Clip]] = []
        for own in left:
            place = -1
            if len(own) > 1 and own[-1] not in there:  # of the first clips, the first of the kind that has been taken least
                taken_before = [kinds[kind_of(clip)] for clip in own[: -_NEXT - 1 : -1]]
                place = -1 - taken_before.index(min(taken_before))
            clip = own.pop(place)
            kinds[kind_of(clip)] += 1
            row.append((kinds[kind_of(clip)], clip))
        # Kinds come by turns too, for whoever takes a part of these.
        yield from (clip for _, clip in sorted(row, key=itemgetter(0)) if clip not in there)
        left = [own for own in left if own]


class _Masks(NamedTuple):
    """Masks of pairs."""

    presets: list[str]
    indices: npt.NDArray[np.int32]
    reverse: npt.NDArray[np.bool_]


def _published(
    name: str, clips: Sequence[str], presets: Sequence[str], *, per_slice: int, per_preset: int, shuffle: bool,
    there: Sequence[str],
) -> tuple[list[str], _Masks]:  # fmt: skip
    # Seed 0 every time: lists of equal length are taken in the same order and reversed at the same places. Only the list of
    # all clips was ever shuffled. `name` has no say here.
    del name
    order, reverse = legacy_order(len(presets) * per_preset)
    order, reverse = order[len(there) :], reverse[len(there) :]
    chosen = [clips[place] for place in legacy_order(len(clips))[0]] if shuffle else list(clips)
    count = min(len(chosen), per_slice, len(order))
    masks = np.array(order[:count], np.int32)
    of_presets = [presets[place] for place in (masks // per_preset).tolist()]
    return chosen[:count], _Masks(of_presets, masks % per_preset, np.array(reverse[:count], np.bool_))


class _ByContent:
    """Pairs that follow from hashes of the clips.

    Args:
        clips: ids of all that may be paired.
        seed: another one pairs otherwise.
        sources: clip -> its film.
    """

    def __init__(self, clips: Sequence[str], seed: int, sources: Mapping[str, str]) -> None:
        self._all, self._hashes_of_all, self._seed, self._sources = clips, _hashes(clips), seed, sources

    def __call__(
        self,
        name: str,
        clips: Sequence[str],
        presets: Sequence[str],
        *,
        per_slice: int,
        per_preset: int,
        shuffle: bool,
        there: Sequence[str],
    ) -> tuple[list[str], _Masks]:
        del shuffle  # a hash has no order that shuffling could change
        hashes = self._hashes_of_all if clips is self._all else _hashes(clips)
        if there:
            hashes = np.concatenate([hashes, _hashes(there)])
        of_preset = (self._drawn(hashes, "preset", name) % np.uint64(len(presets))).astype(np.int64)
        films = self._films(name, [*clips, *there], self._drawn(hashes, "clip", name), there=len(there))
        # Presets are there about equally often: a slice must differ from its counterpart in one attribute only.
        taken = by_turns(films, kind_of=of_preset.tolist().__getitem__, there=range(len(clips), len(hashes)))
        chosen = np.fromiter(itertools.islice(taken, per_slice), np.int64)
        indices, reverse = np.empty(len(chosen), np.int32), np.empty(len(chosen), np.bool_)
        for number, preset in enumerate(presets):
            places = np.flatnonzero(of_preset[chosen] == number)
            own = hashes[chosen[places]]
            indices[places] = self._drawn(own, "mask", preset) % np.uint64(per_preset)
            reverse[places] = self._drawn(own, "reverse", preset) & np.uint64(1)
        of_presets = [presets[number] for number in of_preset[chosen].tolist()]
        return [clips[place] for place in chosen.tolist()], _Masks(of_presets, indices, reverse)

    def _films(self, name: str, clips: Sequence[str], order: npt.NDArray[np.uint64], *, there: int) -> Iterator[list[int]]:
        """Places of the clips of each film by ``order``, of the last ``there`` in front; films as it is drawn for the slice."""
        number_of: dict[str, int] = {}
        films = np.fromiter(
            (number_of.setdefault(self._sources.get(clip, clip), len(number_of)) for clip in clips), np.int64, len(clips)
        )
        turn = self._drawn(_hashes(list(number_of)), "film", name)[films]
        places = np.lexsort((order, np.arange(len(clips)) < len(clips) - there, films, turn))
        begins = np.flatnonzero(np.diff(films[places], prepend=-1))
        for begin, end in itertools.pairwise([*begins.tolist(), len(clips)]):
            yield places[begin:end].tolist()

    def _drawn(self, hashes: npt.NDArray[np.uint64], what: str, name: str) -> npt.NDArray[np.uint64]:
        """Numbers of 64 bits, one a hash, that differ with ``what`` and ``name`` as if they were drawn."""
        key = hashlib.sha256(canonical_json([self._seed, what, name]).encode()).digest()[:8]
        mixed: npt.NDArray[np.uint64] = hashes ^ np.frombuffer(key, dtype="<u8")
        # The finaliser of SplitMix64, which flips every bit with a chance of one half. Source: Steele, Lea and Flood, Fast
        # Splittable Pseudorandom Number Generators, OOPSLA 2014.
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        return mixed


def _hashes(names: Sequence[str]) -> npt.NDArray[np.uint64]:
    digests = (hashlib.sha256(name.encode()).digest() for name in names)
    return np.fromiter((int.from_bytes(digest[:8], "little") for digest in digests), np.uint64, len(names))


def everything(item_ids: Sequence[str]) -> Slice:
    """The slice of all items."""
    return Slice("all", "every item", tuple(item_ids))


def by_value(
    values: Mapping[str, Sequence[str]], attribute: str, *, name: str, wanted: Sequence[str] = ()
) -> tuple[list[Slice], dict[str, str]]:
    """One slice for each value of an attribute.

    Args:
        values: item id -> the values that it has (usually one).
        attribute: what the rule calls the attribute.
        name: beginning of the slices' names.
        wanted: values that should have a slice, in order; by default all that occur, sorted.

    Returns:
        Slices ``<name>-<value>`` with their items in the order of ``values``, and value-less slices with the reason.
    """
    occurring = sorted({value for item_values in values.values() for value in item_values})
    slices, left_out = [], {}
    for value in wanted or occurring:
        members = tuple(item for item, item_values in values.items() if value in item_values)
        if members:
            slices.append(Slice(f"{name}-{value}", f"{attribute} == '{value}'", members))
        else:
            left_out[f"{name}-{value}"] = f"no item has {attribute} '{value}'"
    return slices, left_out


def by_bin(
    numbers: Mapping[str, float],
    attribute: str,
    *,
    name: str,
    edges: Sequence[float],
    percent: bool = False,
    closed: bool = False,
) -> tuple[list[Slice], dict[str, str]]:
    """One slice for each bin ``(low, high]`` between neighbouring ``edges``; numbers at or below the first edge are in none.

    Args:
        numbers: item id -> number.
        attribute: what the rule calls it.
        name: beginning of the slices' names.
        edges: ascending.
        percent: name the bins in per cent of numbers in 0..1.
        closed: the first bin holds its lower edge too.
    """
    slices, left_out = [], {}
    for place, (low, high) in enumerate(itertools.pairwise(edges)):
        label = "-".join([name, *(f"{100 * edge if percent else edge:g}" for edge in (low, high))])
        holds_low = closed and not place
        rule = f"{low:g} {'<=' if holds_low else '<'} {attribute} <= {high:g}"
        members = tuple(item for item, number in numbers.items() if low < number <= high or (holds_low and number == low))
        if members:
            slices.append(Slice(label, rule, members))
        else:
            left_out[label] = f"no item has {rule}"
    return slices, left_out
