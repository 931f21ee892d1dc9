"""Windows that lie within one shot each, and the boundaries between shots of a film: cuts, fades and dissolves.

Cuts are *proposed* by a sudden difference of frames or of their coarse colours, or by frames whose details do not fit each
other; a proposal is *dropped* when two frames astride it, at most ``FLASH_FRAMES`` frames apart, show the same scene: then the
camera moved fast, or there was a flash. Where nothing else moves, little change is enough for a cut, and in a whip pan
much is needed. Fades and dissolves are found by ``shot_matching``. Black bars are cut off first.

Frames are looked at in blocks with context at both sides, so memory does not grow with the length of the film.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation import shot_matching as matching
from inpaintbench.curation.shot_matching import SAME_SCENE, Blend, Details
from inpaintbench.curation.splitters.base import Splitter, windows_within
from inpaintbench.errors import InputError, Rejected
from inpaintbench.lazily import lazily
from inpaintbench.ranges import AtLeastOne, Whole

cv2 = lazily("cv2")

Image = npt.NDArray[np.uint8]

# Area at which frames are compared, whatever their shape.
WORKING_PIXELS = 128 * 72
# Longest flash: what returns to the same scene within it is no cut.
FLASH_FRAMES = 5
# A frame difference this many times larger than those around it, and at least this large, proposes a cut.
SPIKE_RATIO, SPIKE_LEVELS = 2.0, 3.0
# A step of colours that is this many times those on both sides, and the likeness up to which it is a cut: nothing else moves
# there, and two views of one lake may well have 0.75.
CALM_LIKENESS = ((6.0, 0.9), (2.5, 0.6))
LEAST_JUMP_LEVELS, NOISE_LEVELS = 12.0, 1.5
# From which such a step proposes a cut.
LEAP_RATIO = 1.3
# Steps as large on both sides are those of a whip pan, in which frames are less alike.
WHIP_RATIO, WHIPPED_LIKENESS = 0.6, 0.2
# Difference of colours above which details that are alike show another scene.
SAME_COLOURS = 60.0
# A frame between two shots that is a sum of both: largest distance from the line between their colours, and least share of each.
MIXED_BEND, MIXED_SHARE = 0.35, 0.08
# Likeness below which a cell changed, and the share that must have changed for a cut.
CHANGED_LIKENESS, CHANGED_SHARE = 0.8, 0.6
# Brightest level of black, and the least rows and columns of a picture between bars.
BLACK_LEVEL, LEAST_SIDE = 24, 8
BLOCK_FRAMES, CONTEXT_FRAMES = 128, 72


@dataclass(frozen=True)
class Transition:
    """A cut between frames k - 1 and k has both numbers k; a gradual one covers the frames ``[start_frame, end_frame)``."""

    start_frame: int
    end_frame: int
    kind: Literal["cut", "gradual"]
    score: float
    """Confidence, 0..1."""


class Shots(Splitter):
    """Windows of ``length`` frames inside every shot; a shot's remainder is kept when it has ``shortest`` frames.

    ``margin`` frames are left out at either side of a transition, and all frames of a fade or dissolve with a quarter of its
    length at either side, as its faint ends do not show. Flashes and fast pans do not end a shot.
    """

    name = "shots"
    version = "3"

    def __init__(self, *, length: AtLeastOne = 90, shortest: AtLeastOne = 45, margin: Whole = 2) -> None:
        if not 1 <= shortest <= length:
            raise InputError(f"shots need 1 <= shortest <= length, got shortest {shortest} and length {length}")
        if margin < 0:
            raise InputError(f"margin is {margin}, it must be a number of frames from 0")
        self.length, self.shortest, self.margin = length, shortest, margin

    def spans(self, path: str, *, frames: int, fps: float, retimed: bool = False) -> Iterator[tuple[int, int]]:
        """Spans ``[start_frame, end_frame)``; the film is decoded once.

        Raises:
            Rejected: no shot is long enough.
        """
        if frames < self.shortest:
            raise Rejected(f"{frames} frames decode, a clip needs at least {self.shortest}")
        decoded = video.upright_frames(path, fps=fps if retimed else None, hdr="tone_map")
        cuts = transitions(frame for frame, _ in islice(decoded, frames))
        shots = list(shots_between(cuts, frames=frames, margin=self.margin))
        if max((end - start for start, end in shots), default=0) < self.shortest:
            raise Rejected(
                f"no shot of {self.shortest} frames or more between {len(cuts)} transitions and {self.margin} frames beside each"
            )
        for start, end in shots:
            yield from windows_within(start, end, length=self.length, shortest=self.shortest, stride=self.length)


def shots_between(cuts: Sequence[Transition], *, frames: int, margin: int) -> Iterator[tuple[int, int]]:
    """Half-open spans of the frames between transitions, ascending, shorter by ``margin`` at each and by the faint ends."""
    start = 0
    for transition in cuts:
        left_out = margin + (transition.end_frame - transition.start_frame) // 4
        end = transition.start_frame - left_out
        if end > start:
            yield start, end
        start = max(start, transition.end_frame + left_out)
    if frames > start:
        yield start, frames


def transitions(frames: Iterable[Image]) -> list[Transition]:
    """All transitions of a film in order; gradual ones swallow the cuts at and inside them.

    Args:
        frames: as ``TransitionFinder.add`` takes them, read once.
    """
    finder = TransitionFinder()
    for frame in frames:
        finder.add(frame)
    return finder.finish()


class TransitionFinder:
    """Search for the transitions of a film whose frames come one by one; memory does not grow with its length."""

    def __init__(self) -> None:
        self._held: list[Image] = []
        # Numbers of the first frame that is held, of the first whose cuts are not decided, and of the next one.
        self._first = self._decided = self._count = 0
        self._cuts: dict[int, Transition] = {}
        self._gradual: list[Blend] = []

    def add(self, frame: Image) -> None:
        """Take the next frame, ``uint8[h, w, 3]`` RGB or ``uint8[h, w]`` luma; a change of size is a cut."""
        height, width = frame.shape[:2]
        scale = min(1.0, (WORKING_PIXELS / (height * width)) ** 0.5)
        size = (max(8, round(width * scale)), max(8, round(height * scale)))
        self._held.append(np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8))
        self._count += 1
        if self._count - self._decided == BLOCK_FRAMES + CONTEXT_FRAMES:
            self._look(range(self._decided, self._decided + BLOCK_FRAMES))
            self._decided += BLOCK_FRAMES
            surplus = max(0, self._decided - CONTEXT_FRAMES - self._first)
            self._held, self._first = self._held[surplus:], self._first + surplus

    def finish(self) -> list[Transition]:
        """Return all transitions in order, as ``transitions`` does; no frame comes after that."""
        if self._count > self._decided:
            self._look(range(self._decided, self._count))
            self._decided = self._count
        merged: list[Blend] = []
        for blend in sorted(self._gradual, key=lambda blend: (blend.start, blend.end)):
            if merged and blend.start <= merged[-1].end:
                last = merged[-1]
                merged[-1] = Blend(last.start, max(last.end, blend.end), max(last.score, blend.score))
            else:
                merged.append(blend)
        swallowed = {k for blend in merged for k in range(blend.start, blend.end + 1)}
        # A single frame is no shot: it is a mixture of both sides.
        kept = [cut for k, cut in self._cuts.items() if k not in swallowed and k + 1 not in self._cuts]
        kept += [Transition(blend.start, blend.end, "gradual", blend.score) for blend in merged]
        return sorted(kept, key=lambda transition: transition.start_frame)

    def _look(self, own: range) -> None:
        """Decide on the cuts of the frames ``own``; the others that are held are their context."""
        details, first = _details(self._held), self._first
        # Dissolves are looked for between the cuts that are beyond doubt.
        sure = {index for index, _ in _cuts(details, range(1, len(details)), sure=True)}
        blends = [*matching.fades(details), *matching.dissolves(details, sure)]
        self._gradual += [Blend(first + blend.start, first + blend.end, blend.score) for blend in blends]
        for index, score in _cuts(details, range(max(1, own.start - first), own.stop - first), sure=False):
            self._cuts[first + index] = Transition(first + index, first + index, "cut", score)


def _details(frames: Sequence[Image]) -> list[Details]:
    """Prepare the part of each frame that is not black in all frames of its size: bars are alike in every scene."""
    shown: dict[tuple[int, ...], Image] = {}
    for frame in frames:
        luma = frame if frame.ndim == 2 else frame.max(axis=2)
        known = shown.get(frame.shape)
        shown[frame.shape] = luma if known is None else np.maximum(known, luma)
    parts: dict[tuple[int, ...], tuple[slice, ...]] = {}
    for shape, brightest in shown.items():
        for axis in (1, 0):
            lit = np.flatnonzero(np.percentile(brightest, 90, axis=axis) > BLACK_LEVEL)
            # A row of cells on the border of picture and bar is a mixture of both.
            start, end = (int(lit[0]), int(lit[-1]) + 1) if len(lit) else (0, 0)
            whole = brightest.shape[1 - axis]
            start, end = start + (start > 0), end - (end < whole)
            part = slice(start, end) if end - start >= LEAST_SIDE else slice(0, whole)
            parts[shape] = (*parts.get(shape, ()), part)
    return [matching.details_of(np.ascontiguousarray(frame[parts[frame.shape]])) for frame in frames]


def _cuts(details: list[Details], indices: range, *, sure: bool) -> Iterator[tuple[int, float]]:
    """Cuts before some of the frames, each with its confidence; only those that need no calm around them where ``sure``."""
    differences = np.full(len(details), 255.0)  # in levels; that of different sizes is boundless
    for index, (one, other) in enumerate(pairwise(details), start=1):
        if one.luma.shape == other.luma.shape:
            differences[index] = float(cv2.norm(one.luma, other.luma, cv2.NORM_L1)) / one.luma.size
    differences[:1] = 0.0
    for index in indices:
        least = _least_likeness(details, index, differences, sure=sure)
        if least is None:
            continue
        alike = _alike_astride(details, index, least=least)
        if alike < least:
            yield index, round(min(1.0, 1 - alike), 4)


def _least_likeness(details: list[Details], index: int, differences: npt.NDArray[np.float64], *, sure: bool) -> float | None:
    """Likeness from which frames astride a place show one scene; None where nothing proposes a cut."""
    one, other = details[index - 1 : index + 1]
    # How far colours go from the frame before to this one, and at most just before and after, in levels a frame.
    steps = [matching.colour_distance(*pair) for pair in pairwise(details[max(0, index - 4) : index + 4])]
    place = index - 1 - max(0, index - 4)
    jump, before, after = steps[place], max(steps[:place], default=0.0), max(steps[place + 1 :], default=0.0)
    calm = jump / max(before, after, NOISE_LEVELS)
    if jump < LEAST_JUMP_LEVELS or calm < LEAP_RATIO:
        around = np.delete(differences[max(1, index - 2) : index + 3], min(index - 1, 2))
        spike = differences[index] >= SPIKE_LEVELS + SPIKE_RATIO * (float(around.max()) if len(around) else 0.0)
        moved = differences[index] >= SPIKE_LEVELS and not (one.flat or other.flat)
        resized = one.luma.shape != other.luma.shape
        if not (spike or resized or (moved and matching.still_likeness(one, other) < SAME_SCENE)):
            return None
    if min(before, after) >= WHIP_RATIO * jump:
        return WHIPPED_LIKENESS
    if sure or jump < LEAST_JUMP_LEVELS or _changed_share(one, other) < CHANGED_SHARE:
        return SAME_SCENE
    return next((least for ratio, least in CALM_LIKENESS if calm >= ratio), SAME_SCENE)


def _changed_share(one: Details, other: Details) -> float:
    """Share of the cells with details in which two frames differ where they stand; captions and stickers change few."""
    if one.luma.shape != other.luma.shape:
        return 1.0
    products, squares, other_squares = matching.cell_products(one, other)
    energy = np.maximum(squares, other_squares)
    told = energy > np.median(energy) / 4
    return float(np.mean(products[told] < CHANGED_LIKENESS * energy[told])) if told.any() else 0.0


def _alike_astride(details: list[Details], index: int, *, least: float) -> float:
    """The largest likeness of two frames astride a cut before ``index``, the nearest first, at most a flash apart.

    One of at least ``least`` is told at once. Frames that are mixtures of their neighbours are like either side of a cut, and
    black frames are no flash: neither counts.
    """
    best = 0.0
    mixed = {at for at in (index - 1, index) if _half_way(details, at)}
    for apart in range(1, FLASH_FRAMES + 2 + len(mixed)):
        for one in range(max(0, index - apart), index):
            other = one + apart
            if other >= len(details) or {one, other} & mixed or details[one].luma.shape != details[other].luma.shape:
                continue
            if any(frame.black for frame in details[one + 1 : other]):
                continue
            if matching.colour_distance(details[one], details[other]) <= SAME_COLOURS:
                best = max(best, matching.likeness(details[one], details[other])[0])
            if best >= least:
                return best
    return best


def _half_way(details: list[Details], index: int) -> bool:
    """Return whether a frame is a mixture of the two beside it, which show different colours."""
    around = details[max(0, index - 1) : index + 2]
    if len(around) < 3 or len({frame.luma.shape for frame in around}) > 1:
        return False
    path = matching.ColourPath.of([frame.colours for frame in around])
    between = MIXED_SHARE <= path.shares[1] <= 1 - MIXED_SHARE
    if path.length < LEAST_JUMP_LEVELS or path.bend > MIXED_BEND or not between:
        return False
    return matching.likeness(around[0], around[-1])[0] < SAME_SCENE
