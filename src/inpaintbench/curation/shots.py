"""Boundaries between shots of a film: cuts, fades and dissolves.

Cuts are *proposed* by any of the scenedetect detectors, by a sudden frame difference, or by frames whose details do not fit
each other; a proposal is *dropped* when two frames astride it, at most ``FLASH_FRAMES`` frames apart, show the same scene:
then the camera moved fast, or there was a flash. Fades and dissolves are found by ``shot_matching``.

Frames are looked at in blocks with context at both sides, so memory does not grow with the length of the film.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.shot_matching import SAME_SCENE, Blend, Details, details_of, dissolves, fades, likeness, still_likeness
from inpaintbench.errors import MissingExtraError

Image = npt.NDArray[np.uint8]

# Area at which frames are compared, whatever their shape.
WORKING_PIXELS = 128 * 72
# At which the scenedetect detectors see the film, as they do by themselves.
DETECTOR_WIDTH = 256
# Longest flash: what returns to the same scene within it is no cut.
FLASH_FRAMES = 5
# A frame difference this many times larger than those around it, and at least this large, proposes a cut.
SPIKE_RATIO, SPIKE_LEVELS = 2.0, 3.0
# Neighbouring frames as alike, and shifted by no more, at both sides of a proposal: the camera does not move fast there.
CALM_NEIGHBOURS, CALM_SHIFT_PIXELS = 0.95, 3
# Likeness from which frames between such neighbours show one shot: two views of one lake may well have 0.75.
CALM_LIKENESS = 0.9
# Side of a cell in working pixels, likeness below which it changed, and the share that must have changed for a cut.
CHANGED_CELL, CHANGED_LIKENESS, CHANGED_SHARE = 12, 0.8, 0.6
BLOCK_FRAMES, CONTEXT_FRAMES = 128, 72


@dataclass(frozen=True)
class Transition:
    """A cut between frames k - 1 and k has both numbers k; a gradual one covers the frames ``[start_frame, end_frame)``."""

    start_frame: int
    end_frame: int
    kind: Literal["cut", "gradual"]
    score: float
    """Confidence, 0..1."""


def transitions(frames: Iterable[Image], *, fps: float) -> list[Transition]:
    """All transitions of a film in order; gradual ones swallow the cuts at and inside them.

    Args:
        frames: ``uint8[h, w, 3]`` RGB or ``uint8[h, w]`` luma of one size, read once; a change of size is a cut.
        fps: frames per second.

    Raises:
        MissingExtraError: scenedetect is not installed.
    """
    cuts: dict[int, Transition] = {}
    gradual: list[Blend] = []
    for block in _blocks(frames, fps):
        blends = [*fades(block.details), *dissolves(block.details, _places(block))]
        gradual += [Blend(block.first + blend.start, block.first + blend.end, blend.score) for blend in blends]
        cuts |= {cut.start_frame: cut for cut in _cuts(block)}
    merged = _merged(gradual)
    swallowed = {k for blend in merged for k in range(blend.start, blend.end + 1)}
    kept = [cut for k, cut in cuts.items() if k not in swallowed]
    kept += [Transition(blend.start, blend.end, "gradual", blend.score) for blend in merged]
    return sorted(kept, key=lambda transition: transition.start_frame)


@dataclass(frozen=True)
class _Block:
    details: list[Details]
    first: int
    """Frame number of the first details."""
    own: range
    """Frame numbers whose cuts this block decides; the others are context."""
    proposed: frozenset[int]


def _blocks(frames: Iterable[Image], fps: float) -> Iterator[_Block]:
    detectors = _Detectors(fps)
    held: list[Details] = []
    first, decided, count = 0, 0, 0
    for count, frame in enumerate(frames, 1):
        held.append(details_of(_reduced(frame)))
        detectors.look(frame)
        if count - decided == BLOCK_FRAMES + CONTEXT_FRAMES:
            yield _Block(held, first, range(decided, decided + BLOCK_FRAMES), frozenset(detectors.proposed))
            decided += BLOCK_FRAMES
            surplus = max(0, decided - CONTEXT_FRAMES - first)
            held, first = held[surplus:], first + surplus
    if count > decided:
        yield _Block(held, first, range(decided, count), frozenset(detectors.proposed))


def _reduced(frame: Image) -> Image:
    luma = frame if frame.ndim == 2 else cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    height, width = luma.shape
    scale = min(1.0, (WORKING_PIXELS / (height * width)) ** 0.5)
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    return np.asarray(cv2.resize(luma, size, interpolation=cv2.INTER_AREA), np.uint8)


class _Detectors:
    """The scenedetect detectors with their own thresholds, without their least scene lengths."""

    def __init__(self, fps: float) -> None:
        try:
            from scenedetect.common import FrameTimecode
            from scenedetect.detectors import AdaptiveDetector, ContentDetector, HistogramDetector
        except ImportError as error:
            raise MissingExtraError("finding cuts", "curation") from error
        self._timecode: Any = FrameTimecode
        self._fps, self._frames, self._shape = float(fps), 0, (0, 0)
        self._kinds = (ContentDetector, AdaptiveDetector, HistogramDetector)
        self._detectors: list[Any] = []
        self.proposed: set[int] = set()

    def look(self, frame: Image) -> None:
        """Show the next frame; the detectors start anew where the size changes."""
        if frame.shape[:2] != self._shape:
            self._shape = frame.shape[:2]
            self._detectors = [kind(min_scene_len=0) for kind in self._kinds]
        width = min(DETECTOR_WIDTH, frame.shape[1])
        size = (width, max(1, round(frame.shape[0] * width / frame.shape[1])))
        small = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
        bgr = cv2.cvtColor(small, cv2.COLOR_GRAY2BGR if small.ndim == 2 else cv2.COLOR_RGB2BGR)
        now = self._timecode(self._frames, fps=self._fps)
        for detector in self._detectors:
            self.proposed |= {cut.frame_num for cut in detector.process_frame(now, bgr)}
        self._frames += 1


def _places(block: _Block) -> set[int]:
    """Return where the block's cuts are, as indices into its details."""
    return {cut.start_frame - block.first for cut in _cuts(block, everywhere=True)}


def _cuts(block: _Block, *, everywhere: bool = False) -> Iterator[Transition]:
    details = block.details
    differences = np.array([0.0, *(_difference(frame, other) for frame, other in pairwise(details))])
    for index in range(1, len(details)):
        number = block.first + index
        if not everywhere and number not in block.own:
            continue
        if number in block.proposed or _sudden(details, differences, index):
            # Dissolves are looked for between the cuts that are beyond doubt.
            doubtful = (
                not everywhere and _calm(details, index) and _changed_share(*details[index - 1 : index + 1]) >= CHANGED_SHARE
            )
            least = CALM_LIKENESS if doubtful else SAME_SCENE
            alike = _alike_astride(details, index, least=least)
            if alike < least:
                yield Transition(number, number, "cut", round(min(1.0, 1 - alike), 4))


def _difference(details: Details, other: Details) -> float:
    """Mean absolute difference in levels; that of different sizes is boundless."""
    if details.luma.shape != other.luma.shape:
        return 255.0
    return float(cv2.norm(details.luma, other.luma, cv2.NORM_L1)) / details.luma.size


def _sudden(details: list[Details], differences: npt.NDArray[np.float64], index: int) -> bool:
    around = np.delete(differences[max(1, index - 2) : index + 3], min(index - 1, 2))
    spike = differences[index] >= SPIKE_LEVELS + SPIKE_RATIO * (float(around.max()) if len(around) else 0.0)
    if spike or details[index - 1].luma.shape != details[index].luma.shape:
        return True
    moved = differences[index] >= SPIKE_LEVELS and not (details[index - 1].flat or details[index].flat)
    return moved and still_likeness(details[index - 1], details[index]) < SAME_SCENE


def _calm(details: list[Details], index: int) -> bool:
    """Return whether nothing moves much just before and just after a cut before ``index``.

    Then one scene goes on looking the same.
    """
    pairs = [(index - 3, index - 2), (index - 2, index - 1), (index, index + 1), (index + 1, index + 2)]
    if pairs[0][0] < 0 or pairs[-1][1] >= len(details):
        return False
    if len({details[place].luma.shape for pair in pairs for place in pair}) > 1:
        return False
    for place, other in pairs:
        alike, shift = likeness(details[place], details[other])
        if alike < CALM_NEIGHBOURS or max(map(abs, shift)) > CALM_SHIFT_PIXELS:
            return False
    return True


def _changed_share(details: Details, other: Details) -> float:
    """Share of the cells with details in which two frames differ where they stand; captions and stickers change few."""
    if details.luma.shape != other.luma.shape:
        return 1.0
    down, across = (side // CHANGED_CELL * CHANGED_CELL for side in details.luma.shape)
    sums = [
        (left.pattern[:down, :across] * right.pattern[:down, :across])
        .reshape(down // CHANGED_CELL, CHANGED_CELL, across // CHANGED_CELL, CHANGED_CELL)
        .sum(axis=(1, 3))
        for left, right in ((details, other), (details, details), (other, other))
    ]
    energy = np.maximum(sums[1], sums[2])
    lit = energy > np.median(energy) / 4
    return float(np.mean(sums[0][lit] < CHANGED_LIKENESS * energy[lit])) if lit.any() else 0.0


def _alike_astride(details: list[Details], index: int, *, least: float) -> float:
    """The largest likeness of two frames astride a cut before ``index``, the nearest first, at most a flash apart.

    One of at least ``least`` is told at once.
    """
    best = 0.0
    for apart in range(1, FLASH_FRAMES + 2):
        for start in range(max(0, index - apart), index):
            other = start + apart
            if other < len(details) and details[start].luma.shape == details[other].luma.shape:
                best = max(best, likeness(details[start], details[other])[0])
                if best >= least:
                    return best
    return best


def _merged(blends: list[Blend]) -> list[Blend]:
    """Blends in order, those that touch made one."""
    merged: list[Blend] = []
    for blend in sorted(blends, key=lambda blend: (blend.start, blend.end)):
        if merged and blend.start <= merged[-1].end:
            last = merged[-1]
            merged[-1] = Blend(last.start, max(last.end, blend.end), max(last.score, blend.score))
        else:
            merged.append(blend)
    return merged
