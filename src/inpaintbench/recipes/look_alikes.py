"""Look-alikes among clips of different groups, decided from hashes that are measured once and kept in the workspace.

Near-duplicates are found by the perceptual hashes of clips, of their mirror images and of nine parts of them, every clip against
every one of the other groups: ``duplicates.find`` names the best earlier original alone. Where the hashes are little evidence,
pixels are asked. Clips that hardly change, and so pictures, must correlate as well: the distances of 946 pairs of photographs (32
bits on average, standard deviation 4.3) say that among ten thousand photographs some forty pairs would be alike by one hash of 64
bits. And a part is looked for among ten times as many, so features of both frames must agree on where it lies.

Hashes are read into arrays and clips stay columns: of a million of either there are no objects.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.curation import measuring
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.attributes.hashes import BLACK_LEVEL, VIEWS, CopyHashes, PerceptualHash, looked_at
from inpaintbench.curation.duplicates import BLOCK, LEAST_SHARE, MOST_BITS, HashIndex, Integers, Pairs, Sequences, compared
from inpaintbench.lazily import lazily
from inpaintbench.tables import flat, last_places, schema_of, to_columns, to_records
from inpaintbench.types import Attribute, Clip, Luma
from inpaintbench.workspace import Blobs, Workspace

cv2 = lazily("cv2")
pc = lazily("pyarrow.compute")
motion = lazily("inpaintbench.curation.attributes.alignment")  # opens OpenCV, which help of builds does without

# Of the hashes in the table `attributes` that no step of an executor measured; they are not published.
STEP = "leakage"
LEAVES = (PerceptualHash.name, CopyHashes.name)
# Of a clip, those that say what it shows and where that lies.
SHOWN = tuple(name for name in schema_of(Clip).names if name not in ("yuv_sha256", "rgb_sha256"))
# What looking for mirror images and parts costs grows with the square of the clips: minutes of these, hours of a million.
MOST_FOR_COPIES = 100_000
# Sequences whose likes are looked for at a time: bounds the memory where all show the same.
AT_ONCE = 8_000
# Hashes of a clip for each of its mirror image and parts.
STEP_OF_COPIES = round(PerceptualHash().hashes_per_second / CopyHashes().hashes_per_second)
# Different hashes that are evidence enough by themselves.
FEWEST_DIFFERENT = 3
# Of thumbnails, where there are fewer. Pictures that are alike by hash alone reach 0.75; copies cropped by 5 %, 0.81.
LEAST_CORRELATION = 0.8
SIDE = 32
# Turn in radians, and scale, of the similarity between a frame and a part of it that fills the view of a copy.
MOST_TURN, SCALES = 0.05, (0.75, 1.35)
# Places of two clips at which features are compared, until those of one agree.
TRIES = 3
METHOD = (
    f"perceptual_hash {PerceptualHash.version} of every clip, and copy_hashes {CopyHashes.version} of its mirror image and nine"
    f" parts, up to {MOST_BITS:g} of 64 bits on average over {LEAST_SHARE:g} of the shorter one; below {FEWEST_DIFFERENT}"
    f" different hashes, thumbnails that correlate by {LEAST_CORRELATION:g}; of parts, features that agree on where they lie"
)
_THREADS = 4


@dataclass(frozen=True)
class Pair:
    """Two clips that look alike."""

    clip_id: str
    other_id: str
    bits: float
    """Mean difference of their hashes, of 64."""
    mirrored: bool


@dataclass(frozen=True)
class Hashed:
    """Clips that have hashes, in the order of these."""

    clips: pa.Table
    """With the columns ``SHOWN``."""
    plain: Sequences
    """Hashes of ``perceptual_hash``."""
    copies: Sequences | None
    """Hashes of ``copy_hashes``, ``VIEWS`` sequences a clip; None where there are too many clips."""


def leaves(clips: int) -> tuple[str, ...]:
    """The hashes that so many clips are compared by."""
    return LEAVES if clips <= MOST_FOR_COPIES else LEAVES[:1]


def without_copies(clips: int) -> str | None:
    """What is not looked for among so many clips, in a sentence; None where all is."""
    told = (
        f"Mirror images and crops were not looked for among {clips:,} clips: of more than {MOST_FOR_COPIES:,} that takes hours."
    )
    return told if clips > MOST_FOR_COPIES else None


def hashes(workspace: Workspace, clips: pa.Table) -> Hashed:
    """The hashes of those clips that have any, from the tables; what is not there yet is measured and kept.

    Args:
        workspace: with the hashes.
        clips: with the columns ``SHOWN``, and any others.
    """
    compared_by = (PerceptualHash, CopyHashes)[: len(leaves(clips.num_rows))]
    ids = flat(clips["clip_id"])
    kept = workspace.columns("attributes", Attribute, step=STEP)
    stored = [_stored(workspace, leaf, ids, kept) for leaf in compared_by]
    missing = np.flatnonzero(np.any([places < 0 for _, places in stored], axis=0))
    if len(missing):
        kept = _measure(workspace, clips.take(pa.array(missing)), kept)
        stored = [_stored(workspace, leaf, ids, kept) for leaf in compared_by]
    known = np.flatnonzero(np.all([sequences.lengths[places] > 0 for sequences, places in stored], axis=0))
    plain, *copies = (sequences.take(places[known]) for sequences, places in stored)
    own = clips if len(known) == clips.num_rows else clips.take(pa.array(known))
    return Hashed(own, plain, copies[0].divided(VIEWS) if copies else None)


def _stored(workspace: Workspace, leaf: type[AttributeLeaf], ids: pa.Array, kept: pa.Table) -> tuple[Sequences, Integers]:
    """All hashes of a leaf in the tables and in ``kept``, and the place of those of each clip, -1 where they were not measured.

    A clip that has no hash, as it is flat, has a sequence without any.
    """
    subjects, read = [pa.array([], pa.string())], [Sequences.of_words([])]
    columns = ["subject_id", "name", "value_text", "producer_version"]
    measured = workspace.batches("attributes", Attribute, steps=[measuring.step_of(leaf.name)], columns=columns)
    for rows in chain(measured, [kept]):
        own = rows.filter(pc.and_(pc.equal(rows["name"], leaf.name), pc.equal(rows["producer_version"], leaf.version)))
        subjects.append(flat(own["subject_id"]))
        read.append(Sequences.of_words(flat(own["value_text"])))
    return Sequences.together(read), last_places(pa.concat_arrays(subjects), ids)


def _measure(workspace: Workspace, clips: pa.Table, kept: pa.Table) -> pa.Table:
    """Measure both hashes of clips, write them with those that were ``kept`` before, and return them all."""
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as threads:
        made = threads.map(lambda place: _measured(_clip(clips, place), workspace.blobs), range(clips.num_rows))
        rows = [*to_records(kept, Attribute), *(row for some in made for row in some)]
    versions = {PerceptualHash.name: PerceptualHash.version, CopyHashes.name: CopyHashes.version}
    own = {(row.subject_id, row.name): row for row in rows if row.producer_version == versions.get(row.name)}
    table = to_columns([row for _, row in sorted(own.items())], Attribute)
    workspace.write_columns("attributes", STEP, table)
    return table


def _measured(clip: Clip, blobs: Blobs) -> list[Attribute]:
    return [
        row
        for leaf in LEAVES
        for row in measuring.measure_one({"clip": vars(clip)}, parameters={"leaf": leaf, "constants": {}}, blobs=blobs)
    ]


def _clip(clips: pa.Table, place: int) -> Clip:
    (row,) = clips.select(SHOWN).slice(place, 1).to_pylist()
    return Clip(**row, yuv_sha256="", rgb_sha256="")


def pairs(hashed: Hashed, groups: Sequence[str] | pa.Array, blobs: Blobs) -> list[Pair]:
    """Every near-duplicate pair of clips of different groups, in order of the clips. ``groups`` are those of ``hashed.clips``."""
    count = hashed.clips.num_rows
    if count < 2:
        return []
    group = pa.array(groups, pa.string()).dictionary_encode().indices.to_numpy()
    # Mirror images and parts are laid over the clips themselves alone: over each other they show nothing new.
    sequences, clip_of = hashed.plain, np.arange(count)
    if hashed.copies is not None:
        sequences = Sequences.together([sequences, hashed.copies])
        clip_of = np.concatenate([clip_of, np.repeat(clip_of, VIEWS)])
    pa.default_memory_pool().release_unused()  # of what was read until here Arrow keeps a quarter of the index's memory
    index = HashIndex(sequences, group[clip_of], found=count)
    among = np.arange(len(clip_of)) < count
    best: dict[tuple[int, int], Pair] = {}
    looks = _Looks(hashed.clips, sequences, blobs)
    for begin, end, step in ((0, count, 1), (count, len(clip_of), STEP_OF_COPIES)):
        for first in range(begin, end, AT_ONCE):
            found = index.candidates(first, min(first + AT_ONCE, end), among=among, at_most_bits=MOST_BITS, step=step)
            bits, overlap = compared(sequences, found)
            shorter = np.minimum(sequences.lengths[found.earlier] / step, sequences.lengths[found.later])
            alike = np.flatnonzero((bits <= MOST_BITS) & (overlap >= LEAST_SHARE * shorter))
            # In the order of blocks: of a clip and its copies the first decides, however many are looked at at once.
            for place in alike[np.argsort((found.later[alike] - begin) // BLOCK, kind="stable")].tolist():
                one, other = int(found.earlier[place]), int(clip_of[found.later[place]])
                key = min(one, other), max(one, other)
                view = (int(found.later[place]) - count) % VIEWS if step > 1 else None
                known = best.get(key)
                if known and (known.bits <= bits[place] or (view and known.mirrored is False)):
                    continue
                if looks.alike(found, place, one, other, view):
                    first_id, other_id = (hashed.clips["clip_id"][at].as_py() for at in key)
                    best[key] = Pair(first_id, other_id, float(bits[place]), view == 0)
    return [pair for _, pair in sorted(best.items())]


class _Looks:
    """Pixels of frames whose hashes are alike: thumbnails with black bars cut off, and features, each made once."""

    def __init__(self, clips: pa.Table, sequences: Sequences, blobs: Blobs) -> None:
        self._clips, self._sequences, self._blobs = clips, sequences, blobs
        self._thumbnails: dict[tuple[int, int], npt.NDArray[np.float64]] = {}
        self._parts: dict[tuple[int, int, int], bool] = {}

    def alike(self, found: Pairs, place: int, one: int, other: int, view: int | None) -> bool:
        """Return whether the pixels bear out that clip ``one`` shows what ``other`` does, or its mirror image, or a part of it.

        ``view``: 0 is the mirror image of ``other``, above it are its parts; None is the clip itself.
        """
        overlapping = self._overlapping(found, place)
        if not overlapping:
            return False
        if view:
            return self._fits(one, other, overlapping)
        values = self._sequences.values[[self._sequences.starts[one] + at for at, _ in overlapping]]
        if len(np.unique(values)) >= FEWEST_DIFFERENT:
            return True
        (at, of), *_ = overlapping
        second = self._thumbnail(other, of)
        return float((self._thumbnail(one, at) * (second[:, ::-1] if view == 0 else second)).sum()) >= LEAST_CORRELATION

    def _overlapping(self, found: Pairs, place: int) -> list[tuple[int, int]]:
        """Places of hashes of the clips themselves that lie over each other, of the earlier and the later one, neither flat."""
        earlier, later, shift = int(found.earlier[place]), int(found.later[place]), int(found.shift[place])
        starts, lengths, known = self._sequences.starts, self._sequences.lengths, self._sequences.known
        pairs = ((found.step * at + shift, at) for at in range(int(lengths[later])))
        return [
            (of, at * found.step)
            for of, at in pairs
            if 0 <= of < lengths[earlier] and known[starts[earlier] + of] and known[starts[later] + at]
        ]

    def _fits(self, one: int, other: int, overlapping: Sequence[tuple[int, int]]) -> bool:
        """Return whether features of two frames agree on a shift and a scale that a crop can have."""
        chosen = [overlapping[at] for at in sorted({0, len(overlapping) // 2, len(overlapping) - 1})][:TRIES]
        key = (min(one, other), max(one, other), chosen[0][0] - chosen[0][1] if one < other else chosen[0][1] - chosen[0][0])
        if key not in self._parts:
            self._parts[key] = any(self._agree(self._frame(one, at), self._frame(other, of)) for at, of in chosen)
        return self._parts[key]

    @staticmethod
    def _agree(frame: Luma, other: Luma) -> bool:
        first, second = (motion.shrunk(_content(some)[None])[0] for some in (frame, other))
        cv2.setRNGSeed(0)  # the result must not depend on what ran before in this process
        matrix, inliers = motion.similarity_of(
            *motion.mutual_matches(motion.features_of(first), motion.features_of(second)), width=first.shape[1]
        )
        scale, turn = np.hypot(matrix[0, 0], matrix[1, 0]), abs(np.arctan2(matrix[1, 0], matrix[0, 0]))
        relative = scale * first.shape[1] / second.shape[1]
        return bool(inliers and turn <= MOST_TURN and SCALES[0] <= relative <= SCALES[1])

    def _frame(self, clip: int, place: int) -> Luma:
        one = _clip(self._clips, clip)
        times = looked_at(one.frames, fps=one.fps, hashes_per_second=PerceptualHash().hashes_per_second)
        luma: Luma = measuring.clip_view(one, self._blobs).luma[times[min(place, len(times) - 1)]]
        return luma

    def _thumbnail(self, clip: int, place: int) -> npt.NDArray[np.float64]:
        if (key := (clip, place)) not in self._thumbnails:
            # Less its mean and of length 1: a product of two is their correlation.
            small: npt.NDArray[np.float64] = cv2.resize(
                _content(self._frame(clip, place)), (SIDE, SIDE), interpolation=cv2.INTER_AREA
            ).astype(np.float64)
            small -= small.mean()
            length = float(np.linalg.norm(small))
            self._thumbnails[key] = small / length if length else small
        return self._thumbnails[key]


def _content(luma: Luma) -> Luma:
    """Without lines at the edges that are black from end to end."""
    rows, columns = (np.flatnonzero(luma.max(axis=axis) > BLACK_LEVEL) for axis in (1, 0))
    return luma[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) and len(columns) else luma
