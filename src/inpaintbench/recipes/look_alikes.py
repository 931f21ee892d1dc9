"""Look-alikes among clips of different groups, decided from hashes that are measured once and kept in the workspace.

Near-duplicates are found by the perceptual hashes of clips and of their mirror images, every clip against every one of the
other groups: ``duplicates.find`` names the best earlier original alone. Clips that hardly change, and so pictures, must
correlate as well, since one hash of 64 bits is little evidence: the distances of 946 pairs of photographs (32 bits on average,
standard deviation 4.3) say that among ten thousand photographs some forty pairs would be alike by chance.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from inpaintbench.curation import measuring
from inpaintbench.curation.attributes.perceptual_hash import BLACK_LEVEL, PerceptualHash, hash_words, looked_at
from inpaintbench.curation.duplicates import BLOCK, LEAST_SHARE, MOST_BITS, HashIndex, Sequences, compared
from inpaintbench.errors import NotMeasurable
from inpaintbench.lazily import lazily
from inpaintbench.types import Attribute, Clip, Luma
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs, Workspace

cv2 = lazily("cv2")

# Of the hashes in the table `attributes`; they are not published.
STEP = "leakage"
HASH, MIRRORED = "perceptual_hash", "perceptual_hash.mirrored"
# Different hashes that are evidence enough by themselves.
FEWEST_DIFFERENT = 3
# Of thumbnails, where there are fewer. Pictures that are alike by hash alone reach 0.75; copies cropped by 5 %, 0.81.
LEAST_CORRELATION = 0.8
SIDE = 32
METHOD = (
    f"perceptual_hash {PerceptualHash.version} of every clip and its mirror image, up to {MOST_BITS:g} of 64 bits on average over"
    f" {LEAST_SHARE:g} of the shorter one; below {FEWEST_DIFFERENT} different hashes, thumbnails that correlate by"
    f" {LEAST_CORRELATION:g}"
)
_THREADS = 4
Hashes = list[int | None]


@dataclass(frozen=True)
class Pair:
    """Two clips that look alike."""

    clip_id: str
    other_id: str
    bits: float
    """Mean difference of their hashes, of 64."""
    mirrored: bool


@dataclass
class Hashed:
    """Clips that have hashes; one entry a clip in each list."""

    clips: list[Clip] = field(default_factory=list)
    plain: list[Hashes] = field(default_factory=list)
    mirrored: list[Hashes] = field(default_factory=list)


def hashes(workspace: Workspace, clips: Sequence[Clip]) -> Hashed:
    """The hashes of those clips that have any, from the table; what is not there yet is measured and kept."""
    stored: dict[str, dict[str, Attribute]] = {}
    for row in workspace.table("attributes", Attribute, step=STEP):
        if row.producer_version == PerceptualHash.version:
            stored.setdefault(row.subject_id, {})[row.name] = row
    missing = [clip for clip in clips if len(stored.get(clip.clip_id, {})) < 2]
    if missing:
        with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as threads:
            for made in threads.map(lambda clip: _measured(clip, workspace.blobs), missing):
                stored[made[0].subject_id] = {row.name: row for row in made}
        rows = [row for _, of_clip in sorted(stored.items()) for _, row in sorted(of_clip.items())]
        workspace.write_table("attributes", STEP, rows, Attribute)
    hashed = Hashed()
    for clip in clips:
        plain, mirrored = (stored[clip.clip_id][name].value for name in (HASH, MIRRORED))
        if plain is not None and mirrored is not None:
            hashed.clips.append(clip)
            hashed.plain.append(hash_words(str(plain))[1])
            hashed.mirrored.append(hash_words(str(mirrored))[1])
    return hashed


def _measured(clip: Clip, blobs: Blobs) -> list[Attribute]:
    luma = measuring.clip_view(clip, blobs).luma
    return [_row(clip, HASH, luma), _row(clip, MIRRORED, luma[:, :, ::-1])]


def _row(clip: Clip, name: str, luma: Luma) -> Attribute:
    parts = {"luma": lambda: luma}
    view = ItemView(
        item_id=clip.clip_id, frames=clip.frames, height=clip.height, width=clip.width, fps=clip.fps, parts=parts
    )  # fmt: skip
    leaf = PerceptualHash()
    value: str | None = None
    reason: str | None = None
    try:
        value = leaf.measure(view)
    except NotMeasurable as error:
        reason = str(error)
    return Attribute(clip.clip_id, name, value, reason, leaf.name, leaf.version)


def pairs(hashed: Hashed, groups: Mapping[str, str], blobs: Blobs) -> list[Pair]:
    """Every near-duplicate pair of clips of different groups, in order of the clips."""
    clips, count = hashed.clips, len(hashed.clips)
    if count < 2:
        return []
    sequences = Sequences.of([*hashed.plain, *hashed.mirrored])
    group = np.unique([groups[clip.clip_id] for clip in clips], return_inverse=True)[1]
    index = HashIndex(sequences, np.concatenate([group, group]))
    # Mirror images are laid over the clips themselves alone: over each other they show nothing new.
    among = np.arange(2 * count) < count
    best: dict[tuple[int, int], tuple[float, Pair]] = {}
    thumbnails = _Thumbnails(blobs)
    for first in range(0, 2 * count, BLOCK):
        pairs = index.candidates(first, min(first + BLOCK, 2 * count), among=among, at_most_bits=MOST_BITS)
        bits, overlap = compared(sequences, pairs)
        shorter = np.minimum(sequences.lengths[pairs.earlier], sequences.lengths[pairs.later])
        for place in np.flatnonzero((bits <= MOST_BITS) & (overlap >= LEAST_SHARE * shorter)):
            earlier, later, shift = int(pairs.earlier[place]), int(pairs.later[place]), int(pairs.shift[place])
            other, mirrored = later % count, later >= count
            key = (min(earlier, other), max(earlier, other))
            if key in best and best[key][0] <= bits[place]:
                continue
            places = _known(hashed.plain[earlier], hashed.plain[other], shift)
            if places and (
                len({hashed.plain[other][at] for at in places}) >= FEWEST_DIFFERENT
                or thumbnails.agree((clips[earlier], places[0] + shift), (clips[other], places[0]), mirrored=mirrored)
            ):
                best[key] = float(bits[place]), Pair(clips[key[0]].clip_id, clips[key[1]].clip_id, float(bits[place]), mirrored)
    return [pair for _, (_, pair) in sorted(best.items())]


def _known(hashes: Hashes, other: Hashes, shift: int) -> list[int]:
    """Places of ``other`` that lie, ``shift`` later, over one of ``hashes``, neither of them flat."""
    places = range(max(0, -shift), min(len(other), len(hashes) - shift))
    return [at for at in places if other[at] is not None and hashes[at + shift] is not None]


class _Thumbnails:
    """Small grey pictures of frames, black bars cut off, each made once."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._made: dict[tuple[str, int], npt.NDArray[np.float64]] = {}

    def agree(self, place: tuple[Clip, int], other: tuple[Clip, int], *, mirrored: bool) -> bool:
        """Return whether two frames correlate, each given by its clip and the place of its hash."""
        first, second = self._of(*place), self._of(*other)
        return float((first * (second[:, ::-1] if mirrored else second)).sum()) >= LEAST_CORRELATION

    def _of(self, clip: Clip, place: int) -> npt.NDArray[np.float64]:
        if (key := (clip.clip_id, place)) not in self._made:
            times = looked_at(clip.frames, fps=clip.fps, hashes_per_second=PerceptualHash().hashes_per_second)
            luma = measuring.clip_view(clip, self._blobs).luma[times[min(place, len(times) - 1)]]
            self._made[key] = _normed(_content(luma))
        return self._made[key]


def _content(luma: Luma) -> Luma:
    """Without lines at the edges that are black from end to end."""
    rows, columns = (np.flatnonzero(luma.max(axis=axis) > BLACK_LEVEL) for axis in (1, 0))
    return luma[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) and len(columns) else luma


def _normed(luma: Luma) -> npt.NDArray[np.float64]:
    small: npt.NDArray[np.float64] = cv2.resize(luma, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float64)
    small -= small.mean()
    length = float(np.linalg.norm(small))
    return small / length if length else small
