"""Near-duplicates among clips: decided from stored hashes alone, for a million clips in one process.

Two clips are near-duplicates when their perceptual hashes, laid over each other at some shift in time, differ in few bits on
average, over at least a given share of the shorter one. So a trimmed copy and one with another frame rate are found, and a
window of a moving shot is no duplicate of the next one. A view that does not change is: nothing in the pictures tells two
windows of a tripod shot apart. That is why clips of one source are never called duplicates of each other, unless asked.

Clips are not compared each with each. By the pigeonhole principle, hashes that differ in d bits agree in one of d + 1 bands; and
where band i is also looked up with up to r_i bits changed, m bands are enough as soon as r_1 + 1 + ... + r_m + 1 > d (Norouzi et
al., Fast Exact Search in Hamming Space With Multi-Index Hashing, 2014). So all hashes that differ in at most ``CERTAIN_BITS`` are
found, but of a crowd (``MOST_UNDER_A_KEY``). Those that differ in more bits are mostly found too, and a
sequence needs only one of its hashes found. The more hashes there are, the wider are the bands, so that few lie under one key.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.curation.attributes.hashes import FLAT, PerceptualHash, hash_words
from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.types import Attribute, Clip

pc = lazily("pyarrow.compute")

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

CERTAIN_BITS = 7
# Bits of each band, from the lowest, and how many of them may differ. Four bands take 68 keys for a hash, 1 of 960 hashes lying
# under these; three take 529, of 1 of 7,000.
FEW, MANY = ((16, 1),) * 4, ((22, 2), (22, 2), (20, 1))
# Hashes from which on `MANY` takes less time: those of about fifty-five thousand clips.
MANY_FROM = 1_000_000
# Every third of a sequence's distinct hashes is looked up, among all of the earlier ones'.
QUERY_STEP = 3
# Looked at under one key, those of the earliest sequences: seventeen times as many as a million clips have there on average; and
# no other key of a band than a hash's own, where that band has more under all of them than four times as many as those clips.
# Only a crowd of hashes that show the same reaches either, such as one logo. Clips that show nothing else duplicate the earliest
# of them, and those that show something else are found by it: so what a crowd costs each of its members has a bound.
MOST_UNDER_A_KEY, MOST_UNDER_ALL = 300, 4_096
# Bounds the memory: about 40 bytes each.
PAIRS_AT_ONCE = 1_000_000
# Up to 254 keys each: what is made of them stays in the cache of a processor.
QUERIES_AT_ONCE = 2_048
# Of texts with hashes, for the same reason: up to 5 kB each.
_TEXTS_AT_ONCE = 8_192
_DIGITS = 16
# Byte -> the digit that it is, 255 where it is none.
_DIGIT_OF = np.full(256, 255, np.uint8)
for _digit in range(_DIGITS):
    _DIGIT_OF[[ord(f"{_digit:x}"), ord(f"{_digit:X}")]] = _digit


@dataclass(frozen=True)
class Sequences:
    """Sequences of hashes, end to end. Sequence k holds places ``starts[k]`` up to ``starts[k + 1]``."""

    values: npt.NDArray[np.uint64]
    known: Flags
    """False where there is no hash (a flat frame)."""
    starts: Integers

    @classmethod
    def of_words(cls, values: Sequence[str] | pa.Array) -> Sequences:
        """From values of ``perceptual_hash`` or ``copy_hashes``, a sequence each; one that is None has no hashes.

        Raises:
            InputError: values of different rates, or that are no hashes.
        """
        whole = pa.array(values, pa.string())
        starts = range(0, len(whole), _TEXTS_AT_ONCE)
        read = [(set[float](), *_NO_HASHES), *(_read(whole.slice(start, _TEXTS_AT_ONCE)) for start in starts)]
        rates = sorted(set[float]().union(*(some for some, _, _, _ in read)))
        if len(rates) > 1:
            listed = " and ".join(f"{rate:g}" for rate in rates[:2])
            raise InputError(f"perceptual hashes of {listed} a second cannot be compared: measure all clips at one rate")
        hashes, known, lengths = (np.concatenate([row[at] for row in read]) for at in (1, 2, 3))
        return cls(hashes, known, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def together(cls, parts: Sequence[Sequences]) -> Sequences:
        """Those of all parts, one after the other."""
        lengths = np.concatenate([part.lengths for part in parts])
        values, known = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "known"))
        return cls(values, known, np.concatenate([[0], np.cumsum(lengths)]))

    def take(self, places: Integers) -> Sequences:
        """Those at ``places``, in that order."""
        if np.array_equal(places, np.arange(len(self.lengths))):
            return self
        _, entries = _expanded(self.starts[places], self.starts[places + 1])
        starts = np.concatenate([[0], np.cumsum(self.lengths[places])])
        return Sequences(self.values[entries], self.known[entries], starts)

    def divided(self, parts: int) -> Sequences:
        """Each of them as so many of one length."""
        lengths = np.repeat(self.lengths // parts, parts)
        return Sequences(self.values, self.known, np.concatenate([[0], np.cumsum(lengths)]))

    @property
    def lengths(self) -> Integers:
        """Hashes of each sequence, flat frames included."""
        lengths: Integers = np.diff(self.starts)
        return lengths


@dataclass(frozen=True)
class Pairs:
    """Comparisons: ``later`` laid over ``earlier`` so that its hash q meets hash ``step * q + shift``; all ``int64[n]``."""

    earlier: Integers
    later: Integers
    shift: Integers
    step: int = 1
    """Hashes of the earlier one for each of the later one, where that has fewer a second."""


class HashIndex:
    """Finds, for some sequences at a time, which of the sequences before them may show the same.

    Args:
        sequences: all of them; an earlier one is one before in this order.
        groups: number of the group of each, ``int64[n]``; sequences of one group are not compared.
        found: how many of them can be found, the first ones; the others are only looked up. None = all.
    """

    def __init__(self, sequences: Sequences, groups: Integers, *, found: int | None = None) -> None:
        self._sequences, self._groups = sequences, groups
        # Of a million clips there are 18 million places, and four times that many filed.
        self._owner = np.repeat(np.arange(len(sequences.lengths), dtype=np.int32), sequences.lengths)
        # Places of the hashes that differ from the one before them in their sequence.
        changed = np.ones(len(self._owner), bool)
        changed[1:] = (self._owner[1:] != self._owner[:-1]) | (sequences.values[1:] != sequences.values[:-1])
        changed[1:] |= ~sequences.known[:-1]
        self._distinct = np.flatnonzero(changed & sequences.known).astype(np.int32)
        last = None if found is None else int(np.searchsorted(self._distinct, sequences.starts[found]))
        filed = self._distinct[:last]
        self.bands = [_Band(sequences.values, filed, *band) for band in _placed(FEW if len(filed) < MANY_FROM else MANY)]
        self._filed, self._until = len(filed), 0

    def _count(self, end: int) -> None:
        """Let the first ``end`` distinct hashes be found."""
        if (end := min(end, self._filed)) < self._until:
            self._until = 0
            for band in self.bands:
                band.counts[:] = 0
        values = self._sequences.values[self._distinct[self._until : end]]
        for band in self.bands:
            np.add.at(band.counts, band.keys(values), 1)
        self._until = end

    def candidates(self, first: int, last: int, *, among: Flags, at_most_bits: float, step: int = 1) -> Pairs:
        """Comparisons of the sequences ``first`` up to ``last`` with earlier ones, each suggested by two hashes that are near.

        Args:
            among: which sequences count as earlier ones, ``bool[n]``.
            at_most_bits: how many bits such hashes may differ in.
            step: hashes of those for each of these sequences, which are then all looked up, as they are few.
        """
        begin, end = np.searchsorted(self._distinct, self._sequences.starts[[first, last]].astype(np.int32))
        self._count(int(end))  # later ones are not looked at
        queries = self._distinct[begin:end].astype(np.int64)
        firsts = self._sequences.starts[self._owner[queries]].astype(np.int32)
        ordinal = np.arange(begin, end) - np.searchsorted(self._distinct, firsts)
        queries = queries[ordinal % QUERY_STEP == 0] if step == 1 else queries
        nearby = [_NOTHING, *self._near(queries, among, at_most_bits)]
        near = _distinct(np.concatenate(nearby))
        place, query = near // len(self._owner), near % len(self._owner)
        earlier, later = self._owner[place].astype(np.int64), self._owner[query].astype(np.int64)
        shift = (place - self._sequences.starts[earlier]) - step * (query - self._sequences.starts[later])
        # One number for all three; rows of an array take numpy twenty times as long to sort.
        reach, count = 2 * step * int(self._sequences.lengths.max()) + 1, last - first
        shifted = _distinct((earlier * count + later - first) * reach + shift + reach // 2)
        pair = shifted // reach
        return Pairs(pair // count, pair % count + first, shifted % reach - reach // 2, step)

    def _near(self, queries: Integers, among: Flags, at_most_bits: float) -> Iterator[Integers]:
        """Places p of near hashes of earlier sequences, and queries q that they are near to, as ``p * number of places + q``."""
        most = math.floor(at_most_bits)
        for band, start in product(self.bands, range(0, len(queries), QUERIES_AT_ONCE)):
            some = queries[start : start + QUERIES_AT_ONCE]
            values = self._sequences.values[some]
            by_key = np.argsort(band.keys(values), kind="stable")  # what they are compared with then lies together
            some, values = some[by_key], values[by_key]
            keys = band.probes[:, None] ^ band.keys(values)
            counts = np.minimum(band.counts.take(keys), MOST_UNDER_A_KEY)
            counts[1:, counts.sum(axis=0) > MOST_UNDER_ALL] = 0
            under = np.flatnonzero(counts)
            low, lengths = band.offsets[keys.ravel()[under]], counts.ravel()[under].astype(np.int64)
            origins = under % len(some)
            for chunk in _chunks(lengths):
                ends = np.cumsum(lengths[chunk])
                entries = np.arange(ends[-1]) + np.repeat(low[chunk] - ends + lengths[chunk], lengths[chunk])
                differing = band.values[entries] ^ np.repeat(values[origins[chunk]], lengths[chunk])
                near = np.flatnonzero(np.bitwise_count(differing) <= most)
                places = band.places[entries[near]].astype(np.int64)
                nearest = some[origins[chunk][np.searchsorted(ends, near, side="right")]]
                earlier, later = self._owner[places], self._owner[nearest]
                counting = (earlier < later) & among[earlier] & (self._groups[earlier] != self._groups[later])
                yield _distinct(places[counting] * len(self._owner) + nearest[counting])


class _Band:
    """Places of hashes by some of their bits: those under key k are ``places[offsets[k]:]``, the first ``counts[k]`` of them.

    Args:
        values: all hashes.
        filed: places of those that are to be found, in order.
        lowest: the band's first bit.
        width: its bits.
        changed: how many of them may differ.
    """

    def __init__(
        self, values: npt.NDArray[np.uint64], filed: npt.NDArray[np.int32], lowest: int, width: int, changed: int
    ) -> None:
        self._lowest, self._width = np.uint64(lowest), width
        flips = (combinations(range(width), bits) for bits in range(changed + 1))
        self.probes = np.array([sum(1 << bit for bit in bits) for some in flips for bits in some], np.int32)
        # Some at a time, as numpy makes 8 bytes of every place, and in the memory of what stays: 144 MB each of a million clips.
        parts = [slice(start, start + PAIRS_AT_ONCE) for start in range(0, len(filed), PAIRS_AT_ONCE)]
        ordered, counts = np.empty(len(filed), np.int64), np.zeros(1 << width, np.int64)
        for part in parts:
            ordered[part] = keys = self.keys(values[filed[part]])
            counts += np.bincount(keys, minlength=1 << width)
        ordered <<= 32
        ordered |= filed
        ordered.sort()  # numpy sorts plain numbers in a tenth of the time that their order takes
        ordered &= 2**32 - 1
        self.places, self.values = ordered.astype(np.int32), ordered.view(np.uint64)
        for part in parts:
            self.values[part] = values[self.places[part]]
        self.offsets = np.cumsum(counts) - counts
        self.counts = np.zeros(1 << width, np.int32)

    def keys(self, values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The band's bits of each hash."""
        return (values >> self._lowest & np.uint64((1 << self._width) - 1)).astype(np.int32)


def _placed(bands: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """First bit, width and bits that may differ of each band."""
    lowest = 0
    for width, changed in bands:
        yield lowest, width, changed
        lowest += width


def compared(sequences: Sequences, pairs: Pairs) -> tuple[Numbers, Integers]:
    """Mean bits that the two sequences of each pair differ in where they overlap, and how many hashes overlap there.

    Places without a hash in either do not count for the mean; it is infinite where they are half of the overlap or more.
    """
    lengths, step = sequences.lengths, pairs.step
    begin = np.maximum(0, -(pairs.shift // step))
    end = np.minimum(lengths[pairs.later], -((pairs.shift - lengths[pairs.earlier]) // step))
    overlap = np.maximum(end - begin, 0)
    bits = np.full(len(overlap), np.inf)
    for chunk in _chunks(overlap):
        which, place = _expanded(begin[chunk], (begin + overlap)[chunk])
        which += chunk.start
        index = sequences.starts[pairs.later[which]] + place
        other = sequences.starts[pairs.earlier[which]] + step * place + pairs.shift[which]
        known = sequences.known[index] & sequences.known[other]
        differing = np.bitwise_count(sequences.values[index] ^ sequences.values[other])
        total = np.bincount(which[known] - chunk.start, weights=differing[known], minlength=chunk.stop - chunk.start)
        count = np.bincount(which[known] - chunk.start, minlength=chunk.stop - chunk.start)
        enough = 2 * count > overlap[chunk]
        bits[chunk] = np.where(enough, total / np.maximum(count, 1), np.inf)
    return bits, overlap


_NOTHING: Integers = np.zeros(0, np.int64)
_NO_HASHES = np.zeros(0, np.uint64), np.zeros(0, bool), _NOTHING


def _read(values: pa.Array) -> tuple[set[float], npt.NDArray[np.uint64], Flags, Integers]:
    """Rates of texts of hashes, all of their hashes, which are known, and how many each text has; as ``hash_words`` reads one."""
    divided = pc.split_pattern(values, " ")
    counts = pc.fill_null(pc.list_value_length(divided), 0).to_numpy().astype(np.int64)
    words = pc.list_flatten(divided)
    stating = np.zeros(len(words), bool)
    stating[(np.cumsum(counts) - counts)[counts > 0]] = True
    rates, words = pc.unique(words.filter(pa.array(stating))).to_pylist(), words.filter(pa.array(~stating))
    known = np.asarray(pc.not_equal(words, FLAT))
    hashes = np.zeros(len(words), np.uint64)
    texts = words.filter(pa.array(known))
    sizes = pc.binary_length(texts)
    if pc.all(pc.and_(pc.greater(sizes, 0), pc.less_equal(sizes, _DIGITS))).as_py() is not False:
        padded = pc.utf8_lpad(texts, _DIGITS, "0")
        letters = np.frombuffer(padded.buffers()[2] or b"", np.uint8)[: len(texts) * _DIGITS]
        digits = _DIGIT_OF[letters].reshape(-1, _DIGITS)
        if digits.max(initial=0) < _DIGITS:
            hashes[known] = (digits[:, ::2] << 4 | digits[:, 1::2]).view(">u8")[:, 0]
            with contextlib.suppress(ValueError):
                return set(map(float, rates)), hashes, known, np.maximum(counts - 1, 0)
    for value in values.drop_null().to_pylist():  # tells which of them is none
        hash_words(value)
    raise InputError("a perceptual hash has other than 16 digits: measure the attribute perceptual_hash again")


def _distinct(numbers: Integers) -> Integers:
    """Each once, in order."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


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


OF, SHARE = "duplicate_of", "duplicate_share"
VERSION = "1"
# Mean difference, of 64 bits, up to which clips are near-duplicates.
MOST_BITS = 10.0
# Of the shorter clip's hashes; a copy that is cut by half has the other half, less a hash at either end.
LEAST_SHARE = 0.4
# Clips that are compared at a time with what was kept before them; few, so that a crowd of equal ones soon is one.
BLOCK = 250


def find(
    clips: Sequence[Clip], hashes: Sequence[Attribute], *, names: Mapping[str, str] | None = None,
    same_source: bool = False, most_bits: float = MOST_BITS, least_share: float = LEAST_SHARE,
) -> list[Attribute]:  # fmt: skip
    """Two rows a clip, in the order of ``clips``: ``duplicate_of`` and ``duplicate_share``.

    Clips are taken in order of the name of their source, then its id, then their start; each is compared with those before it
    that are no duplicates themselves. ``duplicate_of`` is the id of the one that it duplicates best, that is longest and in
    fewest bits, and of equals the first; ``duplicate_share`` is the share of its own hashes, 0..1, that lie over that one. So
    clips with a ``duplicate_of`` can be dropped, and one of each group stays.

    Args:
        clips: their order plays no part.
        hashes: rows of the attribute ``perceptual_hash``, any order; other rows are ignored.
        names: source id -> name of the source; by default the ids are the names.
        same_source: whether clips of one source can be duplicates of each other; ranges that overlap then are, and so is a view
            that does not change.
        most_bits: mean difference of the hashes up to which clips are near-duplicates, of 64.
        least_share: of the shorter clip that must lie over the other.

    Raises:
        InputError: hashes of different rates, or values that are no hashes.
    """
    stored = {row.subject_id: row for row in hashes if row.name == PerceptualHash.name}
    called = names or {}
    order = sorted(
        (clip for clip in clips if (row := stored.get(clip.clip_id)) and row.value is not None),
        key=lambda clip: (
            called.get(clip.source_id, clip.source_id), clip.source_id, clip.start_frame, clip.end_frame, clip.clip_id
        ),
    )  # fmt: skip
    sequences = Sequences.of_words([str(stored[clip.clip_id].value) for clip in order])
    sources = np.unique([clip.source_id for clip in order], return_inverse=True)[1]
    index = HashIndex(sequences, np.arange(len(order)) if same_source else sources)
    lengths = sequences.lengths
    original = np.ones(len(order), bool)
    matches: dict[str, tuple[str, float]] = {}
    for first in range(0, len(order), BLOCK):
        pairs = index.candidates(first, min(first + BLOCK, len(order)), among=original, at_most_bits=most_bits)
        bits, overlap = compared(sequences, pairs)
        shorter = np.minimum(lengths[pairs.earlier], lengths[pairs.later])
        same = np.flatnonzero((bits <= most_bits) & (overlap >= least_share * shorter))
        # A window that shares a still part with the copy is as near there, but over less of it.
        evidence = overlap[same] * (most_bits + 1 - bits[same])
        best = same[np.lexsort((pairs.earlier[same], -evidence, pairs.later[same]))]
        shares = overlap[best] / lengths[pairs.later[best]]
        columns = (pairs.earlier[best], pairs.later[best], shares)
        for earlier, later, share in zip(*(column.tolist() for column in columns), strict=True):
            clip_id = order[later].clip_id
            if clip_id not in matches and original[earlier]:
                matches[clip_id] = order[earlier].clip_id, share
                original[later] = False
    rows = []
    for clip in clips:
        hashed, (duplicated, share_of_it) = stored.get(clip.clip_id), matches.get(clip.clip_id, (None, None))
        reason = None if duplicated else f"no near-duplicate among {len(order)} clips"
        if reason and (hashed is None or hashed.value is None):
            reason = f"no perceptual hash: {hashed.reason if hashed else 'not measured'}"
        for name, value in ((OF, duplicated), (SHARE, share_of_it)):
            rows.append(Attribute(clip.clip_id, name, value, reason, "duplicates", VERSION))
    return rows
