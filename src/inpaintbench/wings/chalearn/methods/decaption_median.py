"""Subtitles found without weights, and filled from the frames in which they are away.

Text of films comes and goes between two frames, stays where it is in between, and is drawn in strokes of one pure colour. So a
clip is cut into spans where much changes at once; a span shows text where pixels of a pure colour that stay the same stand out
from what is around them; and what belongs to the text besides its letters (outlines, boxes) is what changed with them at the ends
of the span.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.methods.base import Method, fill_in_place, where_judged
from inpaintbench.eval.methods.borrowing import median_over_time
from inpaintbench.ranges import Level, Radius
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

Mask = npt.NDArray[np.bool_]
# `uint8[H, W]`: 1 for each high channel (red 1, green 2, blue 4) of a stroke, 0 where there is none.
Classes = npt.NDArray[np.uint8]
_COLOURS = 8

# Of known pixels around a hole that tell whether the picture stands still.
_RING_PIXELS = 3
# Share of the height above which nothing is looked for.
SEARCHED_FROM = 0.35
# Of the strongest channel of a letter.
LEAST_LEVEL = 110


class Purity(NamedTuple):
    """Each channel of a letter is above the one or below the other of these shares of its strongest."""

    high: float
    low: float


# Coders take a pure colour for pale where letters are thin; more of a picture passes for text then.
PURE, CODED = Purity(0.85, 0.25), Purity(0.7, 0.5)
# Strokes of pure colours, as a share of those of pale ones, below which the clip is taken for one that was coded strongly.
FEW = 0.4
# Levels that a stroke differs from the wider surroundings by, in one channel.
STANDS_OUT = 50
# Levels that a letter's pixel may change by while it is shown: coding alone changes it.
STAYS = 24
# Levels that a pixel has to change by more than its surroundings do in the frames before and after.
JUMP = 14
# Share of the frame that changes where text comes or goes, and that its strokes cover.
LEAST_CHANGED, LEAST_STROKES = 0.006, 0.004
# Times the change that one frame in seven shows: more often than text changes, less often than a frame is left out of five.
ABOVE_USUAL = 2.0
# Share of the strokes of a span that change at its ends. In a clip of one span they have to stay while the picture moves.
LEAST_CAME_OR_WENT = 0.3
# Share of the strokes of a span that its neighbour has, too, where they show the same text.
SAME_STROKES = 0.7
# Share of the height: one em.
LARGEST_LETTER = 0.11


class Span(NamedTuple):
    """Frames ``[start, end)`` between two changes."""

    start: int
    end: int


class DecaptionMedian(Method):
    """Looks for burnt-in subtitles (``text_hole``), fills what they hide with the median over the frames in which it can be seen
    where the picture stands still there, and frame by frame from the border inwards (``telea``) elsewhere.

    Whether the picture stands still is asked of a ring of known pixels around each hole: the median has to come closer to them
    than ``still_levels``. Where the benchmark gives the hole, that is filled instead of what is found.

    Args:
        radius_pixels: of the frame-by-frame filling.
        still_levels: mean difference of the ring from its median over time, in grey levels, up to which the median is taken.
    """

    name = "decaption_median"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(self, *, radius_pixels: Radius = 3.0, still_levels: Level = 10.0) -> None:
        self.radius_pixels, self.still_levels = radius_pixels, still_levels

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; without any text a copy of the input."""
        hole = view.hole if view.has("hole") else text_hole(view.input)
        filled = view.input.copy()
        # From other frames where the picture stands still.
        some = hole.any(axis=0)
        side = 2 * _RING_PIXELS + 1
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
        around = cv2.dilate(np.asarray(some, np.uint8), disc).view(np.bool_) & ~hole.all(axis=0)
        median = median_over_time(filled, hole, around)
        done = np.zeros_like(hole)
        for index in np.flatnonzero(hole.any(axis=(1, 2))):
            ring = cv2.dilate(hole[index].view(np.uint8), disc).view(np.bool_) & ~hole[index] & around
            off = np.abs(median[ring].astype(np.int16) - filled[index][ring])
            if off.size and off.mean() <= self.still_levels:
                done[index] = hole[index] & around
                filled[index][done[index]] = median[done[index]]
        fill_in_place(filled, hole & ~done, radius_pixels=self.radius_pixels)
        return where_judged(view, filled)


def text_hole(frames: Frames) -> Hole:
    """True where text seems to be, ``bool[T, H, W]``, from ``uint8[T, H, W, 3]``."""
    hole = np.zeros(frames.shape[:3], np.bool_)
    jumps = _jumps(frames)
    spans = _spans(jumps)
    changed = [_at_ends(jumps, span) for span in spans]
    (pure, pure_colour, many), (coded, coded_colour, most) = (
        _candidates(frames, spans, changed, purity) for purity in (PURE, CODED)
    )
    strokes, colour = (coded, coded_colour) if many < FEW * most else (pure, pure_colour)
    letters = [_in_lines(classes == colour) for classes in strokes]
    for span, mine in _same_text(spans, letters):
        ends = _at_ends(jumps, span)
        came_or_went = (mine & ends).sum() >= LEAST_CAME_OR_WENT * mine.sum()
        # Where most of the picture changes, what stays is no part of it.
        alone_stays = span.end - span.start == len(frames) and (~_still(frames)).mean() > 0.5
        if mine.mean() >= LEAST_STROKES and (came_or_went or alone_stays):
            hole[span.start : span.end] = _extent(mine, ends, frames[span.start : span.end])
    return hole


def _same_text(spans: list[Span], letters: list[Mask]) -> list[tuple[Span, Mask]]:
    """Neighbouring spans as one where they show the same letters: something else changed between them."""
    joined: list[tuple[Span, Mask]] = []
    for span, mine in zip(spans, letters, strict=True):
        before, theirs = joined[-1] if joined else (span, np.zeros_like(mine))
        common, fewer = (mine & theirs).sum(), min(mine.sum(), theirs.sum())
        if fewer >= LEAST_STROKES * mine.size and common >= SAME_STROKES * fewer:
            joined[-1] = Span(before.start, span.end), mine | theirs
        else:
            joined.append((span, mine))
    return joined


def _at_ends(jumps: Hole, span: Span) -> Mask:
    """Pixels that changed where the span begins or ends."""
    changed: Mask = jumps[span.start] | jumps[span.end] if span.end < len(jumps) else jumps[span.start]
    return changed


def _still(frames: Frames) -> Mask:
    """Pixels that hardly change, ``bool[H, W]``."""
    still: Mask = (frames.max(axis=0).astype(np.int16) - frames.min(axis=0)).max(axis=2) <= STAYS
    return still


def _candidates(frames: Frames, spans: list[Span], changed: list[Mask], purity: Purity) -> tuple[list[Classes], int, int]:
    """Strokes of each span, the colour of most strokes that came or went (of most strokes where nothing did), and how many.

    Text of a clip has one colour.
    """
    strokes = [_strokes(frames[span.start : span.end], purity) for span in spans]
    votes = [np.bincount(classes[ends], minlength=_COLOURS) for classes, ends in zip(strokes, changed, strict=True)]
    counts = np.sum(votes, axis=0)
    if not counts[1:].any():
        counts = np.sum([np.bincount(classes.ravel(), minlength=_COLOURS) for classes in strokes], axis=0)
    colour = 1 + int(counts[1:].argmax())
    return strokes, colour, int(counts[colour])


def _jumps(frames: Frames) -> Hole:
    """Pixels that changed before each frame by more than the picture moves there, ``bool[T, H, W]``; nothing before the first."""
    steps = np.zeros(frames.shape[:3], np.uint8)
    for index in range(1, len(frames)):
        steps[index] = cv2.absdiff(frames[index], frames[index - 1]).max(axis=2)
    changed = np.zeros(frames.shape[:3], np.bool_)
    square = np.ones((3, 3), np.uint8)
    for index in range(1, len(frames)):
        usual = np.maximum(steps[index - 1], steps[min(index + 1, len(frames) - 1)] if index + 1 < len(frames) else 0)
        moving = cv2.dilate(usual, square).astype(np.int16)
        changed[index] = steps[index] > JUMP + moving
    return changed


def _spans(jumps: Hole) -> list[Span]:
    share = jumps[:, int(SEARCHED_FROM * jumps.shape[1]) :].mean(axis=(1, 2)) * (1 - SEARCHED_FROM)
    # A camera that moves, or frames that were left out to change the rate, make a share of their own, again and again.
    least = max(LEAST_CHANGED, ABOVE_USUAL * float(np.quantile(share, 0.85)))
    cuts = [0, *(int(index) for index in np.flatnonzero(share >= least)), len(jumps)]
    return [Span(start, end) for start, end in pairwise(cuts) if end > start]


def _strokes(frames: Frames, purity: Purity) -> Classes:
    """Pixels that may be of letters, by their pure colour, in frames that show the same text."""
    height = frames.shape[1]
    picture = np.median(frames[:: max(1, len(frames) // 9)], axis=0).astype(np.uint8)
    strongest = picture.max(axis=2, keepdims=True)
    high, low = picture >= purity.high * strongest, picture <= purity.low * strongest
    pure = (high | low).all(axis=2) & (strongest[..., 0] >= LEAST_LEVEL)
    side = max(3, round(LARGEST_LETTER * height / 2) | 1)
    square = np.ones((side, side), np.uint8)
    hats = [cv2.morphologyEx(picture, kind, square) for kind in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT)]
    strokes = _still(frames) & pure & (np.maximum(*hats).max(axis=2) >= STANDS_OUT)
    strokes[: int(SEARCHED_FROM * height)] = False
    classes: Classes = np.where(strokes, high @ np.array([1, 2, 4], np.uint8), 0).astype(np.uint8)
    return classes


def _in_lines(strokes: Mask) -> Mask:
    """Those that stand beside others: lines are wider than high."""
    height, width = strokes.shape
    gap = max(3, round(LARGEST_LETTER * height) | 1)
    joined = cv2.morphologyEx(np.pad(strokes.view(np.uint8), gap), cv2.MORPH_CLOSE, np.ones((1, gap), np.uint8))
    _, labels, facts, _ = cv2.connectedComponentsWithStats(joined[gap:-gap, gap:-gap], connectivity=8)
    wide = facts[:, cv2.CC_STAT_WIDTH] >= np.maximum(facts[:, cv2.CC_STAT_HEIGHT], width / 20)
    wide[0] = False
    kept: Mask = strokes & wide[labels]
    return kept


def _extent(strokes: Mask, changed: Mask, frames: Frames) -> Mask:
    """Letters with their outlines, and the boxes behind them."""
    height = strokes.shape[0]
    reach = 2 * max(1, round(height / 96)) + 1
    letters: Mask = cv2.dilate(strokes.view(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))) > 0
    rows, margin = np.flatnonzero(strokes.any(axis=1)), round(LARGEST_LETTER * height / 2)
    dark = frames.max(axis=(0, 3)) <= STAYS
    behind = changed | dark
    behind[: max(rows[0] - margin, 0)] = False
    behind[rows[-1] + margin + 1 :] = False
    side = max(3, round(height / 20) | 1)
    seeds = np.pad((letters | behind).view(np.uint8), side)
    closed = cv2.morphologyEx(seeds, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))[side:-side, side:-side]
    opened = (cv2.morphologyEx(closed, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0) | letters
    _, labels = cv2.connectedComponents(opened.view(np.uint8))
    inside: Mask = opened & np.isin(labels, np.unique(labels[strokes]))
    return inside
