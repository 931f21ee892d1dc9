"""Which sequences of 64-bit hashes show the same thing for a while: an index for a hundred thousand of them, and the comparison.

Two hashes that differ in at most 7 bits agree, but for at most one bit, in one of their four quarters. So a hash is looked up in
four tables of quarters, each under 17 keys: its quarter, and that with each single bit changed. Those that differ in more bits
are mostly found too, and a sequence needs only one of its hashes found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

QUARTERS, QUARTER_BITS = 4, 16
PROBES = np.array([0, *(1 << bit for bit in range(QUARTER_BITS))], np.int64)
# Every third of a sequence's distinct hashes is looked up, among all of the earlier ones'.
QUERY_STEP = 3
# Looked at under one key, those of the earliest sequences: ten times as many as a hundred thousand clips have there on average.
# Only a crowd of sequences that show the same reaches it, and of those the earliest are what the others duplicate.
MOST_UNDER_A_KEY = 300
# Bounds the memory: about 40 bytes each.
PAIRS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Sequences:
    """Sequences of hashes, end to end. Sequence k holds places ``starts[k]`` up to ``starts[k + 1]``."""

    values: npt.NDArray[np.uint64]
    known: Flags
    """False where there is no hash (a flat frame)."""
    starts: Integers

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int | None]]) -> Sequences:
        """From lists of hashes, None for a flat frame."""
        flat = [hash_ for sequence in sequences for hash_ in sequence]
        return cls(
            values=np.array([hash_ or 0 for hash_ in flat], np.uint64),
            known=np.array([hash_ is not None for hash_ in flat], bool),
            starts=np.cumsum([0, *(len(sequence) for sequence in sequences)], dtype=np.int64),
        )

    @property
    def lengths(self) -> Integers:
        """Hashes of each sequence, flat frames included."""
        lengths: Integers = np.diff(self.starts)
        return lengths


@dataclass(frozen=True)
class Pairs:
    """Comparisons: ``later`` laid over ``earlier`` so that its hash q meets hash ``q + shift``; all ``int64[n]``."""

    earlier: Integers
    later: Integers
    shift: Integers


class HashIndex:
    """Finds, for some sequences at a time, which of the sequences before them may show the same.

    Args:
        sequences: all of them; an earlier one is one before in this order.
        groups: number of the group of each, ``int64[n]``; sequences of one group are not compared.
    """

    def __init__(self, sequences: Sequences, groups: Integers) -> None:
        self._sequences, self._groups = sequences, groups
        self._owner = np.repeat(np.arange(len(sequences.lengths)), sequences.lengths)
        self._distinct = _first_of_runs(sequences, self._owner)
        values = sequences.values[self._distinct]
        self._orders: list[Integers] = []
        self._offsets: list[Integers] = []
        for quarter in range(QUARTERS):
            keys = _quarter(values, quarter)
            self._orders.append(self._distinct[np.argsort(keys, kind="stable")])
            self._offsets.append(np.cumsum([0, *np.bincount(keys, minlength=1 << QUARTER_BITS)], dtype=np.int64))
        self._ordered = [sequences.values[order] for order in self._orders]

    def candidates(self, first: int, last: int, *, among: Flags, at_most_bits: float) -> Pairs:
        """Comparisons of the sequences ``first`` up to ``last`` with earlier ones, each suggested by two hashes that are near.

        Args:
            among: which sequences count as earlier ones, ``bool[n]``.
            at_most_bits: how many bits such hashes may differ in.
        """
        begin, end = np.searchsorted(self._distinct, self._sequences.starts[[first, last]])
        queries = self._distinct[begin:end]
        ordinal = np.arange(begin, end) - np.searchsorted(self._distinct, self._sequences.starts[self._owner[queries]])
        queries = queries[ordinal % QUERY_STEP == 0]
        found = [_NOTHING, *self._near(queries, among, at_most_bits)]
        near = _distinct(np.concatenate(found))
        place, query = near // len(self._owner), near % len(self._owner)
        earlier, later = self._owner[place], self._owner[query]
        shift = (place - self._sequences.starts[earlier]) - (query - self._sequences.starts[later])
        # One number for all three; rows of an array take numpy twenty times as long to sort.
        reach, count = 2 * int(self._sequences.lengths.max()) + 1, last - first
        shifted = _distinct((earlier * count + later - first) * reach + shift + reach // 2)
        pair = shifted // reach
        return Pairs(pair // count, pair % count + first, shifted % reach - reach // 2)

    def _near(self, queries: Integers, among: Flags, at_most_bits: float) -> Iterator[Integers]:
        """Places p of near hashes of earlier sequences, and queries q that they are near to, as ``p * number of places + q``."""
        values = self._sequences.values[queries]
        for order, offsets, ordered, quarter in zip(self._orders, self._offsets, self._ordered, range(QUARTERS), strict=True):
            keys = _quarter(values, quarter)
            for probe in PROBES:
                low = offsets[keys ^ probe]
                high = np.minimum(offsets[(keys ^ probe) + 1], low + MOST_UNDER_A_KEY)
                for chunk in _chunks(high - low):
                    which, entries = _expanded(low[chunk], high[chunk])
                    which += chunk.start
                    near = np.bitwise_count(ordered[entries] ^ values[which]) <= at_most_bits
                    places, origins = order[entries[near]], queries[which[near]]
                    counting = self._counting(self._owner[places], self._owner[origins], among)
                    yield _distinct(places[counting] * len(self._owner) + origins[counting])

    def _counting(self, earlier: Integers, later: Integers, among: Flags) -> Flags:
        counting: Flags = (earlier < later) & among[earlier] & (self._groups[earlier] != self._groups[later])
        return counting


def compared(sequences: Sequences, pairs: Pairs) -> tuple[Numbers, Integers]:
    """Mean bits that the two sequences of each pair differ in where they overlap, and how many hashes overlap there.

    Places without a hash in either do not count for the mean; it is infinite where they are half of the overlap or more.
    """
    lengths = sequences.lengths
    begin = np.maximum(0, -pairs.shift)
    end = np.minimum(lengths[pairs.later], lengths[pairs.earlier] - pairs.shift)
    overlap = np.maximum(end - begin, 0)
    bits = np.full(len(overlap), np.inf)
    for chunk in _chunks(overlap):
        which, place = _expanded(begin[chunk], (begin + overlap)[chunk])
        which += chunk.start
        one = sequences.starts[pairs.later[which]] + place
        other = sequences.starts[pairs.earlier[which]] + place + pairs.shift[which]
        known = sequences.known[one] & sequences.known[other]
        differing = np.bitwise_count(sequences.values[one] ^ sequences.values[other])
        total = np.bincount(which[known] - chunk.start, weights=differing[known], minlength=chunk.stop - chunk.start)
        count = np.bincount(which[known] - chunk.start, minlength=chunk.stop - chunk.start)
        enough = 2 * count > overlap[chunk]
        bits[chunk] = np.where(enough, total / np.maximum(count, 1), np.inf)
    return bits, overlap


_NOTHING: Integers = np.zeros(0, np.int64)


def _distinct(numbers: Integers) -> Integers:
    """Each once, in order."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def _quarter(values: npt.NDArray[np.uint64], quarter: int) -> Integers:
    shifted = values >> np.uint64(quarter * QUARTER_BITS)
    return (shifted & np.uint64((1 << QUARTER_BITS) - 1)).astype(np.int64)


def _first_of_runs(sequences: Sequences, owner: Integers) -> Integers:
    """Places of the hashes that differ from the one before them in their sequence."""
    changed = np.ones(len(owner), bool)
    changed[1:] = (owner[1:] != owner[:-1]) | (sequences.values[1:] != sequences.values[:-1]) | ~sequences.known[:-1]
    return np.flatnonzero(changed & sequences.known)


def _chunks(lengths: Integers) -> Iterator[slice]:
    """Slices of the ranges that hold ``PAIRS_AT_ONCE`` places or little more; one range is never divided."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + PAIRS_AT_ONCE, side="right")))
        yield slice(start, stop)
        start = stop


def _expanded(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """All places of the ranges ``low`` up to ``high``, and which range each belongs to."""
    lengths = high - low
    which = np.repeat(np.arange(len(low)), lengths)
    before = np.cumsum(lengths) - lengths
    return which, np.arange(len(which)) + np.repeat(low - before, lengths)
