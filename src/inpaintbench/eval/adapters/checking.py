"""What a method gives for one clip, before known pixels are put back, and which usual mistakes show in it.

A result is compared with its input at a sample of known pixels: as it is, and with one mistake undone (mirrored back, a frame
earlier, red and blue exchanged). A mistake shows where its undoing fits clearly better, and is excluded where the result fits
clearly better as it is: a still clip tells nothing of a shift in time. Where no pixel has to stay (edits, degraded prints), the
strength of edges is compared in place of levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.fitting import to_levels
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames, Hole, Plain

cv2 = lazily("cv2")

# The item id of the clip that is made for a check; its sides, which few divisors divide; frames that are no 4n + 1.
MADE = "made clip"
WIDTH, HEIGHT, FRAMES = 214, 122, 12
# What its hole holds: neither black nor grey, which results are for other reasons than keeping it.
_HOLE_COLOUR = np.array((60, 150, 200), np.uint8)
# Mistakes, in the order in which they are told.
SIZE, RANGE, COLOUR, TIME, FLIP, SHIFT = "size", "range", "colour order", "time", "flip", "shift"
UNCHANGED, POLARITY, IN_PLACE, SECOND, KNOWN = "unchanged", "polarity", "in place", "second call", "known pixels"
_PLACE = (COLOUR, TIME, FLIP, SHIFT)
MISTAKES = (SIZE, RANGE, *_PLACE, UNCHANGED, POLARITY, IN_PLACE, SECOND, KNOWN)
# How far a program's own growth of the hole may reach, in pixels, with the blur of codecs around it; less where hardly any pixel
# is known that far away.
_REACHES, _LEAST_KNOWN = (24, 8, 0), 0.1
# Frames and pixels that are compared: the PSNR of 10,000 is within 0.2 dB of that of all.
_FRAMES_SAMPLED, _PIXELS_SAMPLED, _FEWEST = 24, 10_000, 100
# By so much an undoing has to fit better, in dB, where codecs vary by less than one, and so well at least: grey in place of the
# made clip keeps 16 dB.
_MARGIN_DB, _LEAST_DB = 3.0, 18.0
# The same of levels that were stretched or shifted, which take the more as a loss of contrast looks alike.
_LEVELS_MARGIN_DB, _LEAST_CORRELATION = 6.0, 0.9
# A curve that explains levels better than another range does, up to what rounding to bytes leaves, is a correction of them.
_ROUNDING_DB = 40.0
# The same of the correlation of edges.
_EDGE_MARGIN, _LEAST_EDGES = 0.2, 0.4
# A hole that comes back this close to what it held, and no further from it than known pixels from theirs, was not filled; where
# known pixels are so much further away, they were. One colour outlives codecs and small sizes better than a picture, by less.
_UNFILLED_DB, _EQUAL_DB, _POLARITY_MARGIN_DB = 30.0, 50.0, 20.0
# Cards add up in no fixed order, which moves a level by one or two.
_SAME_LEVELS = 2


@dataclass(frozen=True)
class Checked:
    """What a method gave for one clip."""

    method: str
    item_id: str
    """``MADE`` of the clip that is made for it."""
    clip: str
    """The clip in words."""
    mistakes: Plain = field(default_factory=dict)
    """Mistake -> what shows of it, a sentence without its subject."""
    excluded: Plain = field(default_factory=dict)
    """Mistake -> true, of those that this clip shows not to be there."""
    hole_given: bool = True
    keeps: bool = True
    """Whether some pixels have to stay."""
    known_db: float | None = None
    """PSNR in dB of known pixels against the input, infinite where they are the input's; None where none has to stay."""


class Finding(NamedTuple):
    """A mistake, of all clips that a method was tried on."""

    mistake: str
    weight: str
    """``refused``, ``warned`` or ``noted``."""
    told: str


class _Places(NamedTuple):
    """Places of pixels in a clip, ``intp[n]`` each."""

    frame: npt.NDArray[np.intp]
    row: npt.NDArray[np.intp]
    column: npt.NDArray[np.intp]


def made_clip(frames: int = FRAMES, *, text: bool = False) -> tuple[Frames, Hole]:
    """A panning texture ``uint8[T, H, W, 3]`` that no flip leaves alike, and a hole ``bool[T, H, W]``, of one colour.

    Args:
        frames: T.
        text: letters are burnt in where the hole is, in place of the colour.
    """
    rng = np.random.default_rng(0)
    # Fine in luma, so that one pixel shows, and coarse in colour, which 4:2:0 would halve.
    layers = [
        cv2.GaussianBlur(rng.standard_normal((HEIGHT, WIDTH + 3 * frames, n), np.float32), (0, 0), s)
        for n, s in ((1, 1.5), (3, 8))
    ]
    fine, coarse = (layer.reshape(HEIGHT, -1, n) / layer.std() for layer, n in zip(layers, (1, 3), strict=True))
    texture = np.clip(127 + 30 * fine + 25 * coarse, 0, 255).astype(np.uint8)
    clip = np.stack([texture[:, 3 * number : 3 * number + WIDTH] for number in range(frames)])
    hole = np.zeros(clip.shape[:3], np.bool_)
    top, left = HEIGHT // 3, WIDTH // 4
    if text:
        hole[:, top : top + 34, left : left + 110] = True
        for frame, (colour, thickness) in itertools.product(clip, ((0, 6), (255, 2))):
            place = (left + 4, top + 23)
            cv2.putText(frame, "a caption", place, cv2.FONT_HERSHEY_SIMPLEX, 0.65, [colour] * 3, thickness, cv2.LINE_AA)
        return clip, hole
    hole[:, top : top + 24, left : left + 40] = True
    hole[:, top + 24 : top + 34, left : left + 12] = True
    return np.where(hole[..., None], _HOLE_COLOUR, clip), hole


def looked_at(
    given: Frames, made: npt.NDArray[Any], hole: Hole | None, *, value_range: str | None = None, form_db: float | None = None
) -> tuple[dict[str, str], set[str], float | None]:
    """Mistakes that show in a result, those that are excluded, and the PSNR of known pixels in dB.

    Args:
        given: what a method was given, ``uint8[T, H, W, 3]``.
        made: what it gave, as it gave it.
        hole: ``bool[T, H, W]``, whether the method was shown it or not; None where no pixel has to stay.
        value_range: that of the method.
        form_db: PSNR of the input written as the method writes, where that loses something.
    """
    if made.shape != given.shape:
        return {SIZE: _wrong_size(made.shape, given.shape)}, set(), None
    try:
        made = to_levels(made, value_range)
    except InputError as error:
        return {RANGE: str(error).removeprefix("the method ")}, {SIZE}, None
    few = np.array((0, 1, 255), np.uint8)
    if np.ptp(made) and np.isin(made, few).all() and np.isin(given, few).mean() <= 0.5:
        levels = ", ".join(map(str, np.unique(made)))
        why = "floats of 0..1 or -1..1 become that when they are cast to bytes; multiply them first"
        return {RANGE: f"gives no levels but {levels}: {why}"}, {SIZE}, None
    places, in_hole = _sampled(given.shape, hole)
    shown: dict[str, str] = {}
    excluded = {SIZE}
    if len(places.frame) >= _FEWEST:
        shown, cleared = _misplaced(given, made, places, edges=hole is None)
        excluded |= cleared
    as_it_is = _psnr(made[places], given[places]) if len(places.frame) else None
    known_db = None if hole is None else as_it_is
    explained = np.inf if form_db is None else form_db - _MARGIN_DB
    unfilled: dict[str, str] | None = None
    if hole is not None and known_db is not None and len(in_hole.frame):
        held = _psnr(made[in_hole], given[in_hole])
        known = np.inf if shown else known_db  # a mistake explains it
        if held >= max(min(known, _EQUAL_DB) - _MARGIN_DB, _UNFILLED_DB):
            told = f"gives the hole as it was, and known pixels {known:.1f} dB from the input"
            if known >= min(held - _POLARITY_MARGIN_DB, explained):
                unfilled = {UNCHANGED: "gives the hole as it was: nothing is filled"}
            elif made.any():
                unfilled = {POLARITY: f"{told}: it takes the hole the other way round; it is True where pixels are missing"}
            else:
                unfilled = {}  # black in a black hole
    elif hole is None and as_it_is is not None and as_it_is >= _EQUAL_DB:
        unfilled = {UNCHANGED: "gives the input back unchanged"}
    if unfilled is None:
        excluded |= {UNCHANGED, POLARITY}
    elif RANGE not in shown:
        shown |= unfilled
    if known_db is not None and known_db < explained and not shown.keys() & {RANGE, POLARITY, *_PLACE}:
        black = "all is black, as floats of 0..1 mostly are once they are cast to bytes"
        cause = "repainted, or written with loss" if made.any() else black
        shown[KNOWN] = f"gives known pixels {known_db:.1f} dB from the input: {cause}"
    return shown, excluded, known_db


def findings(clips: Sequence[Checked], *, reference: bool = False) -> list[Finding]:
    """What the clips that a method was tried on tell together, each mistake once.

    Refused is what no dataset makes right: colours, time, place and range, unless a real item shows that the made clip alone has
    them; a size that no clip has right; a hole that stays as it was on every clip. What may be meant is a warning: results that
    differ from call to call, and all that is said of edits and prints, of which no pixel has to stay. Known pixels that changed,
    and an input that was written into, harm no score here and are notes.

    Args:
        clips: each of them.
        reference: the method is a floor, which may fill nothing.
    """
    found = []
    for mistake in MISTAKES:
        # Whoever is told of no hole may see no text in a texture, and takes none the other way round.
        where = [one for one in clips if mistake in one.mistakes and (
            one.hole_given or (mistake != POLARITY and (mistake != UNCHANGED or one.item_id != MADE))
        )]  # fmt: skip
        others = [one for one in clips if mistake in one.excluded]
        if not where or (mistake in (UNCHANGED, POLARITY) and others) or (mistake == UNCHANGED and reference):
            continue
        if mistake in (IN_PLACE, KNOWN):
            weight = "noted"
        elif mistake == SECOND or not all(one.keeps for one in where):
            weight = "warned"
        elif mistake in (UNCHANGED, POLARITY):
            weight = "refused" if any(one.item_id == MADE and one.hole_given for one in where) else "warned"
        elif mistake == SIZE:
            weight = "warned" if others else "refused"
        else:
            weight = "warned" if others and all(one.item_id == MADE for one in where) else "refused"
        on = " and ".join(one.clip for one in where)
        contrary = f", not on {' and '.join(one.clip for one in others)}" if others and weight == "warned" else ""
        found.append(Finding(mistake, weight, f"{where[0].mistakes[mistake]} (on {on}{contrary})"))
    return found


def kept_frames(made: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The frames of a result that are kept until there is a second."""
    return made[_frames_sampled(len(made))].copy()


def other_result(first: npt.NDArray[Any], second: npt.NDArray[Any], value_range: str | None) -> str | None:
    """How the frames that were kept of two results differ, a sentence; None where they are the same."""
    if first.shape != second.shape:
        return f"gives {second.dtype}{second.shape} the second time, {first.dtype}{first.shape} before"
    one, other = (to_levels(made, value_range).astype(np.int16) for made in (first, second))
    if np.abs(one - other).max(initial=0) <= _SAME_LEVELS:
        return None
    return f"gives other pixels the second time, {_psnr(other, one):.1f} dB from the first: it takes no seed, or remembers"


def _wrong_size(shape: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    told = f"gives {shape} for frames of {wanted}"
    if sorted(shape) == sorted(wanted):
        return f"{told}: axes are exchanged; they are time, height, width, colour"
    if len(shape) == len(wanted) and shape[0] == wanted[0] and shape[3] == wanted[3]:
        larger = all(side >= least for side, least in zip(shape[1:3], wanted[1:3], strict=True))
        return f"{told}: padding was left in, or the size is another" if larger else f"{told}: the size is another"
    return f"{told}: each frame wants one of its size"


def _frames_sampled(frames: int) -> npt.NDArray[np.intp]:
    return np.unique(np.linspace(0, frames - 1, min(frames, _FRAMES_SAMPLED)).astype(np.intp))


def _sampled(shape: tuple[int, ...], hole: Hole | None) -> tuple[_Places, _Places]:
    """Known pixels away from the hole, and pixels of the hole in frames that are not all hole."""
    chosen, rng = _frames_sampled(shape[0]), np.random.default_rng(0)

    def some(there: npt.NDArray[np.bool_]) -> _Places:
        inside = np.flatnonzero(there)
        inside = inside if len(inside) <= _PIXELS_SAMPLED else np.sort(rng.choice(inside, _PIXELS_SAMPLED, replace=False))
        frame, row, column = np.unravel_index(inside, there.shape)
        return _Places(chosen[frame], row, column)

    if hole is None:
        return some(np.ones((len(chosen), *shape[1:3]), np.bool_)), some(np.zeros((0, *shape[1:3]), np.bool_))
    missing = hole[chosen]
    partly = missing & ~missing.all(axis=(1, 2), keepdims=True)
    for reach in _REACHES:
        square = cv2.getStructuringElement(cv2.MORPH_RECT, (2 * reach + 1, 2 * reach + 1))
        known = np.stack([cv2.dilate(np.ascontiguousarray(one).view(np.uint8), square) == 0 for one in missing])
        if known.mean() >= _LEAST_KNOWN:
            break
    return some(known), some(partly)


def _misplaced(given: Frames, made: Frames, places: _Places, *, edges: bool) -> tuple[dict[str, str], set[str]]:
    """Mistakes of place, time, colours and levels that show, and those that are excluded."""
    margin, least = (_EDGE_MARGIN, _LEAST_EDGES) if edges else (_MARGIN_DB, _LEAST_DB)

    def measure(given: Frames, made: Frames, at: _Places, to: _Places) -> float:
        return _edge_fit(given, made, at, to) if edges else _psnr(made[to], given[at])

    as_it_is = measure(given, made, places, places)
    fits: dict[tuple[str, str, bool], float] = {}
    for mistake, words, moved in _undone(given, made, places):
        for exchanged in (False, True):
            if (mistake == "" and not exchanged) or (edges and exchanged):
                continue
            there = np.ones(moved.frame.shape, np.bool_)
            for axis, size in zip(moved, made.shape, strict=False):
                there &= (axis >= 0) & (axis < size)
            if there.sum() >= _FEWEST:
                at, to = (_Places(*(axis[there] for axis in one)) for one in (places, moved))
                name = (COLOUR, "with red and blue exchanged", False) if mistake == "" else (mistake, words, exchanged)
                fits[name] = measure(given, made[..., ::-1] if exchanged else made, at, to)
    singly = {name: fit for name, fit in fits.items() if not name[2]}
    excluded = {
        mistake for mistake in _PLACE
        if (own := [fit for name, fit in singly.items() if name[0] == mistake]) and as_it_is > max(max(own) + margin, least)
    }  # fmt: skip
    best = max(singly, key=lambda name: singly[name], default=None)
    twofold = max(fits, key=lambda name: fits[name], default=None)
    chosen = twofold if best is not None and twofold is not None and fits[twofold] > singly[best] + margin else best
    if chosen is not None and fits[chosen] > max(as_it_is + margin, least):
        mistake, words, exchanged = chosen
        beside = f": {_told(as_it_is, fits[chosen], edges)}"
        shown = {mistake: f"gives frames {words}{beside}"}
        return shown | ({COLOUR: f"gives frames with red and blue exchanged{beside}"} if exchanged else {}), excluded
    if edges:
        return {}, excluded
    shown, fitting = _levels_moved(given, made, places, as_it_is)
    return shown, excluded | ({RANGE} if fitting else set())


def _undone(given: Frames, made: Frames, places: _Places) -> Iterator[tuple[str, str, _Places]]:
    """Each mistake, in words, and where a pixel of the input then lies in the result."""
    frame, row, column = places
    frames, height, width = made.shape[:3]
    yield "", "", places
    yield FLIP, "mirrored left to right", _Places(frame, row, width - 1 - column)
    yield FLIP, "mirrored top to bottom", _Places(frame, height - 1 - row, column)
    yield FLIP, "turned by 180 degrees", _Places(frame, height - 1 - row, width - 1 - column)
    if height == width:
        yield FLIP, "transposed, rows for columns", _Places(frame, column, row)
        yield FLIP, "turned to the right by 90 degrees", _Places(frame, column, width - 1 - row)
        yield FLIP, "turned to the left by 90 degrees", _Places(frame, height - 1 - column, row)
    if frames > 1:
        yield TIME, "in reverse order", _Places(frames - 1 - frame, row, column)
    for late in (1, -1, 2, -2):
        words = f"{('', 'one frame', 'two frames')[abs(late)]} {'late' if late > 0 else 'early'}"
        yield TIME, words, _Places(frame + late, row, column)
    across = along = 0
    if min(height, width) >= 16:  # less is no picture to correlate
        # About how far the result's edges lie from the input's in a frame, by phase correlation.
        greys = (clip[len(clip) // 2].mean(axis=-1, dtype=np.float32) for clip in (given, made))
        edges = [cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)) for grey in greys]
        across, along = map(round, cv2.phaseCorrelate(*edges)[0])
    for right, down in itertools.product(range(across - 1, across + 2), range(along - 1, along + 2)):
        ways = [(right, "to the right" if right > 0 else "to the left"), (down, "down" if down > 0 else "up")]
        words = " and ".join(f"{abs(pixels)} px {way}" for pixels, way in ways if pixels)
        if words:
            yield SHIFT, f"{words} off their place", _Places(frame, row + down, column + right)


def _levels_moved(given: Frames, made: Frames, places: _Places, as_it_is: float) -> tuple[dict[str, str], bool]:
    """Levels of another range, which a float that was taken for one of another leaves behind; whether they fit as they are."""
    wanted, found = given[places].astype(np.float64), made[places].astype(np.float64)
    bright = wanted > 150  # below, a result of -1..1 that was taken for 0..1 is cut off
    fits = []
    for words, back, where in (
        ("of -1..1, taken for 0..1", (found + 255) / 2, bright),
        ("of 0..1, taken for -1..1", 2 * found - 255, np.ones_like(bright)),
        ("squeezed into 16..235", (found - 16) * (255 / 219), np.ones_like(bright)),
        ("stretched out of 16..235", found * (219 / 255) + 16, np.ones_like(bright)),
    ):
        if where.sum() < _FEWEST or not np.ptp(found[where]) or not np.ptp(wanted[where]):
            continue
        fit, before = _psnr(back[where], wanted[where]), _psnr(found[where], wanted[where])
        fits.append(fit)
        if np.corrcoef(back[where], wanted[where])[0, 1] <= _LEAST_CORRELATION:
            continue
        powers = np.vander(found[where] / 255, 3)
        curve = _psnr(powers @ np.linalg.lstsq(powers, wanted[where])[0], wanted[where])
        least = max(before + _LEVELS_MARGIN_DB, as_it_is + _LEVELS_MARGIN_DB, min(curve, _ROUNDING_DB) - _MARGIN_DB, _LEAST_DB)
        if fit >= least:
            return {RANGE: f"gives levels {words}: {_told(before, fit, False)}"}, False
    return {}, len(fits) == 4 and as_it_is > max(max(fits) + _MARGIN_DB, _LEAST_DB)


def _edge_fit(given: Frames, made: Frames, at: _Places, to: _Places) -> float:
    """Correlation of the strengths of edges, which a change of colours leaves; 0 where there are none."""
    strengths = []
    for clip, (frame, row, column) in ((made, to), (given, at)):
        greys = []
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            rows, columns = np.clip(row + down, 0, clip.shape[1] - 1), np.clip(column + right, 0, clip.shape[2] - 1)
            greys.append(clip[frame, rows, columns].mean(axis=-1))
        below, above, beside, before = greys
        strength = np.hypot(below - above, beside - before)
        strengths.append(strength - strength.mean())
    scale = float(np.prod([np.linalg.norm(strength) for strength in strengths]))
    return float(np.vdot(*strengths)) / scale if scale else 0.0


def _psnr(made: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> float:
    error = float(np.mean((made.astype(np.float64) - wanted) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(255**2 / error))


def _told(as_it_is: float, undone: float, edges: bool) -> str:
    if edges:
        return f"edges correlate by {as_it_is:.2f}, and by {undone:.2f} once that is undone"
    then = "equal to it" if undone == np.inf else f"{undone:.1f} dB"
    return f"known pixels are {as_it_is:.1f} dB from the input, and {then} once that is undone"
