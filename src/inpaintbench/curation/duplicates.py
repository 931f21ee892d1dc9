"""Which clips are near-duplicates of others: decided from stored hashes alone, for a hundred thousand clips in one process.

Two clips are near-duplicates when their perceptual hashes, laid over each other at some shift in time, differ in few bits on
average, over at least a given share of the shorter one. So a trimmed copy and one with another frame rate are found, and a
window of a moving shot is no duplicate of the next one. A view that does not change is: nothing in the pictures tells two
windows of a tripod shot apart. That is why clips of one source are never called duplicates of each other, unless asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.perceptual_hash import PerceptualHash, hash_words
from inpaintbench.curation.hash_matching import HashIndex, Integers, Pairs, Sequences, compared
from inpaintbench.errors import InputError
from inpaintbench.types import Attribute, Clip

OF, SHARE = "duplicate_of", "duplicate_share"
VERSION = "1"
# Mean difference, of 64 bits, up to which clips are near-duplicates.
MOST_BITS = 10.0
# Of the shorter clip's hashes; a copy that is cut by half has the other half, less a hash at either end.
LEAST_SHARE = 0.4
# Clips that are compared at a time with what was kept before them; few, so that a crowd of equal ones soon is one.
BLOCK = 250


def find(
    clips: Sequence[Clip],
    hashes: Sequence[Attribute],
    *,
    names: Mapping[str, str] | None = None,
    same_source: bool = False,
    most_bits: float = MOST_BITS,
    least_share: float = LEAST_SHARE,
) -> list[Attribute]:
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
    order = sorted(
        (clip for clip in clips if (row := stored.get(clip.clip_id)) and row.value is not None),
        key=lambda clip: _place(clip, names or {}),
    )
    sequences = Sequences.of(_read([stored[clip.clip_id] for clip in order]))
    sources = np.unique([clip.source_id for clip in order], return_inverse=True)[1]
    found = _best_matches(
        sequences, np.arange(len(order)) if same_source else sources, most_bits=most_bits, least_share=least_share
    )
    originals = {order[later].clip_id: (order[earlier].clip_id, share) for later, (earlier, share) in found.items()}
    return [row for clip in clips for row in _rows(clip, stored.get(clip.clip_id), originals, len(order))]


def _place(clip: Clip, names: Mapping[str, str]) -> tuple[str, str, int, int, str]:
    return names.get(clip.source_id, clip.source_id), clip.source_id, clip.start_frame, clip.end_frame, clip.clip_id


def _read(rows: Sequence[Attribute]) -> list[list[int | None]]:
    read = [hash_words(str(row.value)) for row in rows]
    rates = sorted({rate for rate, _ in read})
    if len(rates) > 1:
        listed = " and ".join(f"{rate:g}" for rate in rates[:2])
        raise InputError(f"perceptual hashes of {listed} a second cannot be compared: measure all clips at one rate")
    return [hashes for _, hashes in read]


def _best_matches(
    sequences: Sequences, groups: Integers, *, most_bits: float, least_share: float
) -> dict[int, tuple[int, float]]:
    """Sequence -> the sequence before it that it duplicates best, and the share of it; both are numbers in the order."""
    index = HashIndex(sequences, groups)
    count = len(sequences.lengths)
    original = np.ones(count, bool)
    found: dict[int, tuple[int, float]] = {}
    for first in range(0, count, BLOCK):
        pairs = index.candidates(first, min(first + BLOCK, count), among=original, at_most_bits=most_bits)
        bits, overlap = compared(sequences, pairs)
        for earlier, later, share in _matching(sequences, pairs, bits, overlap, most_bits, least_share):
            if later not in found and original[earlier]:
                found[later] = earlier, share
                original[later] = False
    return found


def _matching(
    sequences: Sequences, pairs: Pairs, bits: npt.NDArray[np.float64], overlap: Integers, most_bits: float, least_share: float
) -> list[tuple[int, int, float]]:
    """Duplicates (earlier, later, share of the later), in order of the later and then the best first."""
    lengths = sequences.lengths
    shorter = np.minimum(lengths[pairs.earlier], lengths[pairs.later])
    same = (bits <= most_bits) & (overlap >= least_share * shorter)
    # A window that shares a still part with the copy is as near there, but over less of it.
    evidence = overlap[same] * (most_bits + 1 - bits[same])
    order = np.lexsort((pairs.earlier[same], -evidence, pairs.later[same]))
    shares = overlap / lengths[pairs.later]
    columns = (pairs.earlier[same][order], pairs.later[same][order], shares[same][order])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _rows(
    clip: Clip, hashed: Attribute | None, originals: Mapping[str, tuple[str, float]], compared_clips: int
) -> list[Attribute]:
    if clip.clip_id in originals:
        reason = None
    else:
        reason = f"no near-duplicate among {compared_clips} clips"
        if hashed is None or hashed.value is None:
            reason = f"no perceptual hash: {hashed.reason if hashed else 'not measured'}"
    original, share = originals.get(clip.clip_id, (None, None))
    return [
        Attribute(clip.clip_id, OF, original, reason, "duplicates", VERSION),
        Attribute(clip.clip_id, SHARE, share, reason, "duplicates", VERSION),
    ]
