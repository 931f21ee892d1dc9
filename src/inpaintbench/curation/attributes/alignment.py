"""Frames of a clip aligned to each other: what the camera did between any two of ten.

Features are spread over the view, so many from each of its cells, because a moving texture (water, leaves) would otherwise
hold nearly all of the strongest ones and be taken for the scene.

Features agree on what has texture, and over asphalt that is a bus. So every alignment has to be borne out by the pixels: more
cells of the view that have texture must look alike under it than without any (``Views.verdict``). Else the camera stands still,
where enough cells look alike as they are, or the alignment failed.

Where most alignments of a clip stand still, those that do not must agree with the ways through the other frames: what fills the
view in some frames alone is then not followed, however many features it has.

An alignment can fail (too few features, too little overlap), and then its pair is *bridged*: the matrices along the shortest
chain of successful alignments are multiplied. So a fast pan, whose far frames share nothing, still has all its losses. What two
bridged frames both see must not speak against it; else ways through single other frames are tried.

Where no chain connects two frames, or features agree on nothing at all, water or leaves fill the view. Then patches that keep
their look are asked, through all frames between (``patch_links``), and ``camera_motion_confidence`` says how clearly they
answered. Where they do not answer either (a cut, a view without texture) the loss could be anything, and the clip has no score.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.patch_links import link
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma

Matrices = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
# Places (x, y), `[n, 2]`, and descriptors, `[n, 128]`.
Features = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]
Cells = npt.NDArray[np.float32]
Verdict = Literal["moved", "still", "wrong", "open", "unseen"]
# Verdicts with which an alignment cannot stand.
CONTRADICTED: tuple[Verdict, ...] = ("still", "wrong")

# Features are found at this width, 0.4 of the published 854: a fraction of the time, and scores still exact to 0.001.
WORKING_WIDTH = 342
# A quarter of OpenCV's default, for views of mist, sand and sky.
CONTRAST_THRESHOLD = 0.01
# Rows and columns of the cells that the features are spread over.
CELLS = (4, 6)
FEATURES_PER_CELL = 12
# Largest reprojection error of an inlier, in widths of the view: 5 px at 854.
RANSAC_THRESHOLD = 5 / 854
# Widths of the view between the corners of two cameras, up to which they are the same.
SAME_CAMERA = 0.03
# Ways between two frames that there must be, and that must stand still, to replace an alignment that does not.
FEWEST_WAYS = 4
# Share of the alignments of a clip that must stand still for that, and within which widths of the view: where its ends look the
# same, and where they do not. Over water that a real camera on a tripod films, 93 % stay within 0.01; of handheld cameras and of
# one in a car on a straight road at most 82 %, however many stay within 0.03.
STILL_WHERE_IT_RESTS, STILL_ELSEWHERE = (0.5, SAME_CAMERA), (0.88, 0.01)
LEAST_INLIERS = 10
LEAST_INLIER_SHARE = 0.2
# RANSAC nearly always returns *some* matrix; one outside these bounds, or with fewer inliers, is a failed alignment.
SCALES = (0.3, 3.0)
# Rows and columns: of a view of 342x192, 24 by 28 pixels each.
SUPPORT_CELLS = (8, 12)
# Grey levels, the standard deviation of a cell with texture; sensor noise has less once the view is shrunk.
LEAST_DEVIATION = 1.5
# Correlation from which a cell looks alike.
ALIKE = 0.7
# Difference of correlations from which a cell prefers one of both.
CLEARLY = 0.1
# Correlation from which a cell without texture is told from noise, which has 0.04 in the 672 pixels of a cell.
FAINTLY_ALIKE = 0.4
# Of all cells.
NEARLY_ALL = 0.8
# Share of the cells by which those against an alignment must outnumber those for it: one or two are chance.
MAJORITY = 0.05
# With texture, seen in both views; fewer say nothing.
FEWEST_CELLS = 6
# Of the cells with texture: so many must look alike for a camera to stand still without any alignment.
LEAST_SHARE = 0.4

# Share of the cells that both views have; of fewer, those beyond have a say.
LEAST_OVERLAP = 0.5


def sampled_indices(frames: int, *, sampled_frames: int = 10) -> npt.NDArray[np.int64]:
    """Return which frames are looked at: 0, s, 2s, ... with s = floor((frames - 1) / (sampled_frames - 1)).

    Raises:
        NotMeasurable: the clip has fewer than ``sampled_frames`` frames.
    """
    if frames < sampled_frames:
        raise NotMeasurable(f"the clip has {frames} frames, camera motion needs at least {sampled_frames}")
    return np.arange(sampled_frames) * ((frames - 1) // (sampled_frames - 1))


def pair_matrices(luma: Luma, *, sampled_frames: int = 10, fallback: bool = True) -> Matrices:
    """The matrix from pixels of sampled frame i to those of sampled frame j at [i, j], ``float64[N, N, 3, 3]``.

    Alignments of the last two clips are remembered by content, so leaves that share them pay once.

    Args:
        luma: ``uint8[T, H, W]``.
        fallback: whether patches are asked where features agree on no camera.

    Raises:
        NotMeasurable: too few frames, or alignments failed and no chain of others bridges them; the text counts them.
    """
    height, width = luma.shape[1:]
    aligned = _aligned(luma, sampled_frames=sampled_frames, fallback=fallback)
    if not aligned.known.all():
        raise NotMeasurable(_reason(aligned.inliers, aligned.known))
    scale = min(1.0, WORKING_WIDTH / width)
    x_scale, y_scale = round(width * scale) / width, max(1, round(height * scale)) / height
    # The edges of the full and of the shrunk view coincide, not the pixel centres.
    enlarging = np.array([[1 / x_scale, 0, 0.5 / x_scale - 0.5], [0, 1 / y_scale, 0.5 / y_scale - 0.5], [0, 0, 1]])
    return np.asarray(enlarging @ aligned.matrices @ np.linalg.inv(enlarging))


def weakest_evidence(luma: Luma, *, sampled_frames: int = 10) -> float:
    """How clearly the camera of a clip shows where it shows least, 0..1; 1 where features agree on it throughout.

    Raises what ``pair_matrices`` raises.

    Args:
        luma: ``uint8[T, H, W]``.
    """
    aligned = _aligned(luma, sampled_frames=sampled_frames, fallback=True)
    if not aligned.known.all():
        raise NotMeasurable(_reason(aligned.inliers, aligned.known))
    return aligned.evidence


def shrunk(luma: Luma) -> Luma:
    """``uint8[T, H, W]`` at the width at which features are looked for; narrower ones as they are."""
    height, width = luma.shape[1:]
    scale = min(1.0, WORKING_WIDTH / width)
    size = (round(width * scale), max(1, round(height * scale)))
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in luma])


@dataclass(frozen=True)
class Aligned:
    """The sampled frames of a clip, each aligned to each other."""

    matrices: Matrices
    """From frame i to frame j at [i, j], ``float64[N, N, 3, 3]``."""
    inliers: Counts
    """Features that agree, ``int64[N, N]``; 0 where no alignment was found that the pixels bear out."""
    known: Flags
    """Whether there is a matrix at all, ``bool[N, N]``: aligned, or bridged."""
    by_features: bool
    """Whether features agree on any two frames; else a camera that stands still is all that the pixels can bear out."""
    evidence: float = 1.0
    """Of the weakest link that patches had to find, 0..1; 0 where they had to and could not."""


def _aligned(luma: Luma, *, sampled_frames: int, fallback: bool) -> Aligned:
    chosen = sampled_indices(len(luma), sampled_frames=sampled_frames)
    small = shrunk(luma[chosen])
    aligned = _joined(small.tobytes(), small.shape)
    if (aligned.known.all() and aligned.by_features) or not fallback:
        return aligned
    stretch = shrunk(luma[: chosen[-1] + 1])
    return _linked(stretch.tobytes(), stretch.shape, int(chosen[1]))


@lru_cache(maxsize=2)
def _joined(pixels: bytes, shape: tuple[int, ...]) -> Aligned:
    """The frames of ``shape``, aligned by features."""
    frames = np.frombuffer(pixels, np.uint8).reshape(shape)
    views = Views.of(frames)
    matrices, inliers = _alignments(frames)
    by_features = bool(inliers.any())
    for start, other in np.argwhere(~np.eye(len(matrices), dtype=bool)):
        if inliers[start, other]:
            verdict = views.verdict(start, other, matrices[start, other])
        else:
            verdict = "still" if views.stands_still(start, other) else "wrong"
        if verdict in CONTRADICTED:
            matrices[start, other] = np.eye(3)
            inliers[start, other] = max(inliers[start, other], LEAST_INLIERS) if verdict == "still" else 0
    matrices = _outvoted(matrices, inliers, rests=views.rests, width=frames.shape[2], height=frames.shape[1])
    matrices, known = _bridged(matrices, inliers)
    for start, other in np.argwhere(known & (inliers == 0) & ~np.eye(len(frames), dtype=bool)):
        # Where the shortest chain is contradicted, ways through single other frames are tried in the order of the frames.
        between = np.flatnonzero(known[start] & known[:, other])
        ways = (matrices[middle, other] @ matrices[start, middle] for middle in between if middle not in (start, other))
        tried = (way for way in chain([matrices[start, other]], ways) if views.verdict(start, other, way) not in CONTRADICTED)
        way = next(tried, None)
        known[start, other] = way is not None
        matrices[start, other] = way if way is not None else np.eye(3)
    matrices.flags.writeable = inliers.flags.writeable = known.flags.writeable = False
    return Aligned(matrices, inliers, known, by_features)


@lru_cache(maxsize=2)
def _linked(pixels: bytes, shape: tuple[int, ...], spacing: int) -> Aligned:
    """Every frame of ``shape`` that is a multiple of ``spacing``, chained by patches from neighbour to neighbour.

    Features are not believed between neighbours either where they leave pairs open: over a short time they agree on water.
    """
    frames = np.frombuffer(pixels, np.uint8).reshape(shape)
    sampled = np.ascontiguousarray(frames[::spacing])
    views = Views.of(sampled)
    by_features = _joined(sampled.tobytes(), sampled.shape)
    matrices, links = np.tile(np.eye(3), (len(sampled), len(sampled), 1, 1)), np.zeros_like(by_features.inliers)
    evidence = 1.0
    for place in range(len(sampled) - 1):
        linked = link(frames, place * spacing, (place + 1) * spacing)
        if linked is None:
            # What features and pixels left open stays open, and the reason counts that.
            return replace(by_features, evidence=0.0)
        if views.verdict(place, place + 1, linked.matrix) != "still":
            matrices[place, place + 1] = linked.matrix
        matrices[place + 1, place] = np.linalg.inv(matrices[place, place + 1])
        links[place, place + 1] = links[place + 1, place] = LEAST_INLIERS
        evidence = min(evidence, linked.evidence)
    matrices, known = _bridged(matrices, links)
    matrices.flags.writeable = known.flags.writeable = False
    return Aligned(matrices, by_features.inliers, known, by_features.by_features, evidence)


def _outvoted(matrices: Matrices, inliers: Counts, *, rests: bool, width: int, height: int) -> Matrices:
    """Alignments of a camera that stands still with those replaced that follow what drives past it.

    Only where most alignments of the clip stand still, and nearly all unless the view ``rests``. Every other frame then gives a
    way between two frames that does not use their own alignment. Vehicles fill the view in some frames alone, so ways through
    the rest do not follow them: where at least ``FEWEST_WAYS`` stand still, and more than agree with the alignment, itself
    included, the camera stands still there too. Last go those that no way agrees with: a camera that did move between two frames
    has left all the others.
    """
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]], float).T
    aligned, agreed = inliers > 0, matrices.copy()
    moved = _apart(matrices.reshape(-1, 3, 3) @ corners, corners).reshape(aligned.shape) / width
    least, within = STILL_WHERE_IT_RESTS if rests else STILL_ELSEWHERE
    if (aligned & (moved <= within)).sum() <= least * aligned.sum():
        return matrices
    still = aligned & (moved <= SAME_CAMERA)
    while True:
        outvoted, alone = [], []
        for start, other in np.argwhere(aligned & ~still):
            rest = inliers.copy()
            rest[start, other] = rest[other, start] = 0
            legs, known = _bridged(agreed, rest)
            middles = [at for at in np.flatnonzero(known[start] & known[:, other]) if at not in (start, other)]
            if len(middles) < FEWEST_WAYS:
                continue
            ways = legs[middles, other] @ legs[start, middles] @ corners
            standing = int((_apart(ways, corners) <= SAME_CAMERA * width).sum())
            following = int((_apart(ways, agreed[start, other] @ corners) <= SAME_CAMERA * width).sum())
            if standing >= FEWEST_WAYS and standing > following + 1:
                outvoted.append((start, other))
            elif not following:
                alone.append((start, other))
        for pair in outvoted or alone:
            agreed[pair], still[pair] = np.eye(3), True
        if not outvoted and not alone:
            return agreed


def _apart(corners: Matrices, others: Matrices) -> npt.NDArray[np.float64]:
    """Largest distance between corners of views, ``float64[n, 3, 4]`` and ``float64[3, 4]``, in pixels, ``float64[n]``."""
    return np.asarray(np.linalg.norm((corners - others)[:, :2], axis=1).max(axis=1))


def _alignments(frames: Luma) -> tuple[Matrices, Counts]:
    """Matrix from frame i to frame j at [i, j], ``[N, N, 3, 3]``, and its inliers ``[N, N]``, 0 where the alignment failed."""
    cv2.setRNGSeed(0)  # the result must not depend on what ran before in this process
    features = [features_of(frame) for frame in frames]
    matrices = np.tile(np.eye(3), (len(frames), len(frames), 1, 1))
    inliers = np.zeros(matrices.shape[:2], np.int64)
    for index in range(len(frames)):
        for other in range(index + 1, len(frames)):
            points = mutual_matches(features[index], features[other])
            matrices[index, other], inliers[index, other] = similarity_of(*points, width=frames.shape[2])
            matrices[other, index], inliers[other, index] = similarity_of(*reversed(points), width=frames.shape[2])
    return matrices, inliers


def features_of(frame: npt.NDArray[np.uint8]) -> Features:
    """The strongest SIFT features of each cell of the view."""
    sift = cv2.SIFT.create(contrastThreshold=CONTRAST_THRESHOLD)
    taken: Counter[tuple[int, int]] = Counter()
    spread = []
    for keypoint in sorted(sift.detect(frame, None), key=lambda keypoint: -keypoint.response):
        cell = (int(keypoint.pt[1] * CELLS[0] / frame.shape[0]), int(keypoint.pt[0] * CELLS[1] / frame.shape[1]))
        taken[cell] += 1
        if taken[cell] <= FEATURES_PER_CELL:
            spread.append(keypoint)
    if not spread:
        return np.zeros((0, 2), np.float32), np.zeros((0, 128), np.float32)
    keypoints, descriptors = sift.compute(frame, spread)
    return np.array([keypoint.pt for keypoint in keypoints], np.float32), np.asarray(descriptors, np.float32)


def mutual_matches(features: Features, other: Features) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Places of the features that are each other's nearest, ``[m, 2]`` in both frames."""
    if not len(features[0]) or not len(other[0]):
        return features[0][:0], other[0][:0]
    # Half the squared distances, less the part that does not change along the axis of the search. Descriptors hold whole
    # numbers 0..255, so these float32 sums are exact in any order of addition.
    products = features[1] @ other[1].T
    forward = (np.square(other[1]).sum(axis=1) / 2 - products).argmin(axis=1)
    backward = (np.square(features[1]).sum(axis=1)[:, None] / 2 - products).argmin(axis=0)
    mutual = backward[forward] == np.arange(len(forward))
    return features[0][mutual], other[0][forward[mutual]]


def similarity_of(origin: npt.NDArray[np.float32], target: npt.NDArray[np.float32], *, width: int) -> tuple[Matrices, int]:
    """Turn, uniform scale and shift from ``origin`` to ``target`` with its inliers, or identity and 0 when that failed."""
    if len(origin) < LEAST_INLIERS:
        return np.eye(3), 0
    matrix, chosen = cv2.estimateAffinePartial2D(
        origin,
        target,
        method=cv2.RANSAC,
        ransacReprojThreshold=RANSAC_THRESHOLD * width,
        maxIters=2000,
        confidence=0.99,
        refineIters=10,
    )
    if matrix is None:
        return np.eye(3), 0
    inliers = int(chosen.sum())
    scale = float(np.hypot(matrix[0, 0], matrix[1, 0]))
    if inliers < max(LEAST_INLIERS, LEAST_INLIER_SHARE * len(origin)) or not SCALES[0] <= scale <= SCALES[1]:
        return np.eye(3), 0
    return np.vstack([matrix, [0.0, 0.0, 1.0]]), inliers


def _bridged(matrices: Matrices, inliers: npt.NDArray[np.int64]) -> tuple[Matrices, Flags]:
    """Matrices with failed pairs replaced by the product along the shortest chain, and which pairs are known at all."""
    matrices = matrices.copy()
    # A link costs 1, so that a direct alignment is never replaced, and a little more when few features support it.
    cost = np.where(inliers > 0, 1 + 1 / np.maximum(inliers, LEAST_INLIERS), np.inf)
    np.fill_diagonal(cost, 0)
    for middle in range(len(cost)):
        for start, other in np.argwhere(cost[:, middle, None] + cost[None, middle, :] < cost):
            cost[start, other] = cost[start, middle] + cost[middle, other]
            matrices[start, other] = matrices[middle, other] @ matrices[start, middle]
    return matrices, np.isfinite(cost)


def _reason(inliers: npt.NDArray[np.int64], known: Flags) -> str:
    failed = int((inliers == 0).sum()) - len(inliers)
    pairs = inliers.size - len(inliers)
    unknown = int((~known).sum())
    return f"{failed} of {pairs} alignments failed and {unknown} of them cannot be bridged through other frames"


@dataclass(frozen=True)
class Views:
    """Frames and their cells."""

    frames: Luma
    cells: Cells
    """``float32[N, rows, columns, n]``, each cell's mean taken off and divided by its length; 0 in cells without texture."""
    faint: Cells
    """The same of the cells without texture alone, 0 in the others."""
    rests: bool
    """Whether two frames half of the clip apart look alike nearly everywhere: the camera stands still, or came back."""

    @classmethod
    def of(cls, frames: Luma) -> Views:
        """``frames``: ``uint8[N, H, W]``; those with fewer rows or columns than cells have no cell with texture."""
        if frames.shape[1] < SUPPORT_CELLS[0] or frames.shape[2] < SUPPORT_CELLS[1]:
            nothing = np.zeros((len(frames), *SUPPORT_CELLS, 1), np.float32)
            return cls(frames, nothing, nothing, rests=False)
        cells = [_cells(frame) for frame in frames]
        told, faint = (np.stack([part[at] for part in cells]) for at in (0, 1))
        apart = ((start, other) for start in range(len(frames)) for other in range(start + (len(frames) + 1) // 2, len(frames)))
        return cls(frames, told, faint, rests=any(_looks_the_same(told[[*pair]], faint[[*pair]]) for pair in apart))

    def verdict(self, start: int, other: int, matrix: Matrices) -> Verdict:
        """Verdict of the cells on the way from frame ``start`` to frame ``other``.

        ``still`` or ``wrong``: more of them look clearly more alike without ``matrix`` than with it; still, where enough look
        alike without it for a camera that does not move. Also still, where the views hardly overlap, and those against it and
        those beyond the overlap that look alike where they are outnumber those for it. Cells without texture speak against it
        where what little they show stays where it is. ``moved``: more look clearly more alike with it, or enough look alike with
        it. ``open``: none of these. ``unseen``: too few cells are in both views to say.
        """
        if not self.cells[other].any():
            return "unseen"
        height, width = self.frames.shape[1:]
        everywhere = np.ones((height, width), np.uint8)
        warped, covered = (
            np.asarray(cv2.warpAffine(plane, matrix[:2], (width, height)), np.uint8) for plane in (self.frames[start], everywhere)
        )
        seen = _blocks(covered).min(axis=2) > 0
        moved, faint = _cells(warped)
        aim = self.cells[other]
        usable = seen & moved.any(axis=2) & aim.any(axis=2)
        if usable.sum() < FEWEST_CELLS:
            return "unseen"
        with_it, without = (moved * aim).sum(axis=2)[usable], (self.cells[start] * aim).sum(axis=2)[usable]
        for_it = int(((with_it >= ALIKE) & (with_it > without + CLEARLY)).sum())
        against = int(((without >= ALIKE) & (without > with_it + CLEARLY)).sum())
        staying = self._staying(start, other, moved + faint) & seen & ~usable & self.rests
        if against + staying.sum() > for_it + MAJORITY * (usable | staying).sum():
            return "still" if self.stands_still(start, other, staying) else "wrong"
        # In a small overlap a vehicle outweighs the road around it. A road that stays where it was shows that beyond the overlap.
        beyond = self._alike(start, other) & ~usable
        outnumbered = against + beyond.sum() > for_it + MAJORITY * seen.size
        if seen.mean() < LEAST_OVERLAP and outnumbered and self.stands_still(start, other):
            return "still"
        return "moved" if for_it > against or np.mean(with_it >= ALIKE) >= LEAST_SHARE else "open"

    def stands_still(self, start: int, other: int, staying: Flags | None = None) -> bool:
        """Return whether enough cells look alike where they are; ``staying`` are further ones that do."""
        usable = self.cells[start].any(axis=2) & self.cells[other].any(axis=2)
        alike = self._alike(start, other)
        if staying is not None:
            usable, alike = usable | staying, alike | staying
        return usable.sum() >= FEWEST_CELLS and bool(alike[usable].mean() >= LEAST_SHARE)

    def _staying(self, start: int, other: int, moved: Cells) -> Flags:
        """Which cells without texture in both frames look alike where they are, and not as ``moved``."""
        aim = self.faint[other]
        without, with_it = (self.faint[start] * aim).sum(axis=2), (moved * aim).sum(axis=2)
        return np.asarray((without >= FAINTLY_ALIKE) & (without > with_it + FAINTLY_ALIKE - CLEARLY))

    def _alike(self, start: int, other: int) -> Flags:
        """Which cells look alike where they are, ``bool[rows, columns]``; those without texture do not."""
        return np.asarray((self.cells[start] * self.cells[other]).sum(axis=2) >= ALIKE)


def _looks_the_same(cells: Cells, faint: Cells) -> bool:
    """Whether nearly all cells of two frames look alike where they are, ``float32[2, rows, columns, n]`` each."""
    told, weak = ((part[0] * part[1]).sum(axis=2) for part in (cells, faint))
    both, either = cells.any(axis=3).all(axis=0), faint.any(axis=3).all(axis=0)
    alike = (both & (told >= ALIKE)) | (either & (weak >= FAINTLY_ALIKE))
    return bool(both.sum() + either.sum() >= FEWEST_CELLS and alike.sum() >= NEARLY_ALL * both.size)


def _cells(frame: npt.NDArray[np.uint8]) -> tuple[Cells, Cells]:
    """The cells of ``Views.cells`` and of ``Views.faint`` of one frame."""
    blocks = _blocks(frame).astype(np.float32)
    blocks -= blocks.mean(axis=2, keepdims=True)
    lengths = np.sqrt(np.square(blocks).sum(axis=2, keepdims=True))
    textured = lengths >= LEAST_DEVIATION * np.sqrt(blocks.shape[2])
    cells = (blocks / np.maximum(lengths, 1e-6)).astype(np.float32)
    return np.where(textured, cells, 0), np.where(textured, 0, cells)


def _blocks(frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """``[rows, columns, n]``: the pixels of each cell; what is over at the right and the bottom is left out."""
    height, width = frame.shape[0] // SUPPORT_CELLS[0], frame.shape[1] // SUPPORT_CELLS[1]
    cut = frame[: height * SUPPORT_CELLS[0], : width * SUPPORT_CELLS[1]].reshape(
        SUPPORT_CELLS[0], height, SUPPORT_CELLS[1], width
    )
    return cut.transpose(0, 2, 1, 3).reshape(*SUPPORT_CELLS, height * width)
