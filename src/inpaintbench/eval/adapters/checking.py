"""Try a program on one item that is made for it, and tell where its result went wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.adapters.lossy import ceiling_db
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.predict import run
from inpaintbench.types import Frames, Hole, Prompts
from inpaintbench.view import ItemView

# Sides that few divisors divide, and a number of frames that is no 4n + 1.
WIDTH, HEIGHT, FRAMES = 214, 122, 12
# How far a program's own growth of the hole may reach, in pixels, with the blur of codecs around it.
_REACH = 24
# Known pixels this close to the input are in place: the worst codec of a preset keeps 31 dB on a colourful pattern.
_IN_PLACE_DB = 28.0
# An edit changes a pixel where a channel is this many levels off, beyond what codecs do; edges lie elsewhere where they correlate
# by so much more there.
_CHANGED_LEVELS, _EDGE_MARGIN = 16, 0.2
_SHIFTS, _FRAMES_OFF = range(-3, 4), (-2, -1, 1, 2)


class Finding(NamedTuple):
    """One thing that was looked at."""

    what: str
    told: str
    fine: bool


def probe_item(width: int = WIDTH, height: int = HEIGHT, frames: int = FRAMES) -> tuple[Frames, Hole]:
    """A panning texture ``uint8[T, H, W, 3]``, 127 in its hole ``bool[T, H, W]``, which no flip leaves alike."""
    rng = np.random.default_rng(0)
    # Fine in luma, so that one pixel shows, and coarse in colour, which 4:2:0 would halve.
    layers = [
        cv2.GaussianBlur(rng.standard_normal((height, width + 3 * frames, n), np.float32), (0, 0), s)
        for n, s in ((1, 1.5), (3, 8))
    ]
    fine, coarse = (layer.reshape(height, -1, n) / layer.std() for layer, n in zip(layers, (1, 3), strict=True))
    texture = np.clip(127 + 30 * fine + 25 * coarse, 0, 255).astype(np.uint8)
    clip = np.stack([texture[:, 3 * number : 3 * number + width] for number in range(frames)])
    hole = np.zeros((frames, height, width), np.bool_)
    hole[:, height // 3 : height // 3 + 24, width // 4 : width // 4 + 40] = True
    hole[:, height // 3 + 24 : height // 3 + 34, width // 4 : width // 4 + 12] = True
    return np.where(hole[..., None], np.uint8(127), clip), hole


def tried(method: Method) -> list[Finding]:
    """Findings of one run on ``probe_item``: is the hole filled, are known pixels where they were, what does the form cost.

    A program that edits by prompts is given two texts in place of the hole, and asked whether edges stayed where they were.

    Raises:
        NotMeasurable: the program fails.
    """
    frames, hole = probe_item()
    view = ItemView.of_arrays(item_id="probe", input=frames, hole=hole, fps=24.0)
    if isinstance(method, Command) and method.layout.task == ("editing",):
        texts = Prompts("a panning texture", "a panning texture in other colours")
        return judged_edit(run(method, view.having({"input": lambda: frames, "prompts": lambda: texts})), frames, method.lossy)
    return judged(run(method, view), frames, hole, method.lossy)


def judged(made: Frames, frames: Frames, hole: Hole, lossy: str | None) -> list[Finding]:
    """Findings about a result of the input's shape."""
    square = cv2.getStructuringElement(cv2.MORPH_RECT, (2 * _REACH + 1, 2 * _REACH + 1))
    known = np.stack([cv2.dilate(missing.view(np.uint8), square) == 0 for missing in hole])
    changed = float(np.mean(np.any(made[hole] != 127, axis=-1)))
    kept = _psnr(made, frames, known)
    findings = [
        Finding("hole", f"{changed:.0%} of its pixels were filled", changed > 0.5),
        Finding("known pixels", _kept_words(kept), kept >= _IN_PLACE_DB),
    ]
    if kept < _IN_PLACE_DB:
        better, where = max((_psnr(other, frames, known), words) for words, other in _moved(made))
        told = f"they fit best {where} ({_decibels(better)})" if better > kept + 3 else "no shift, flip or order fits better"
        findings.append(Finding("place", told, False))
    return findings + _form(frames, lossy)


def judged_edit(made: Frames, frames: Frames, lossy: str | None) -> list[Finding]:
    """Findings about an edit, of which no pixel has to stay: is anything changed, and would edges fit better elsewhere."""
    changed = float(np.mean(np.abs(made.astype(np.int16) - frames).max(axis=-1) > _CHANGED_LEVELS))
    kept, wanted = _edge_fit(made, frames), "its edges are where they were"
    moves = ((_edge_fit(other, frames), words) for words, other in _moved(made) if "exchanged" not in words)
    better, where = max(moves)
    misplaced = better > kept + _EDGE_MARGIN
    return [
        Finding("edit", f"{changed:.0%} of the pixels were changed", changed > 0.01),
        Finding("place", f"its edges fit best {where}" if misplaced else wanted, not misplaced),
        *_form(frames, lossy),
    ]


def _form(frames: Frames, lossy: str | None) -> list[Finding]:
    if lossy is None:
        return []
    ceiling = ceiling_db(frames, lossy)
    if ceiling is None:
        return [Finding("form", f"{lossy} is not tried, for want of libx264", True)]
    return [Finding("form", f"{lossy} keeps {_decibels(ceiling)} of such an input", True)]


def _edge_fit(made: Frames, frames: Frames) -> float:
    """Correlation of the strengths of edges, which a change of colours leaves; 0 where there are none."""
    mine, wanted = (_edges(clip) - _edges(clip).mean() for clip in (made, frames))
    scale = float(np.linalg.norm(mine) * np.linalg.norm(wanted))
    return float(np.vdot(mine, wanted)) / scale if scale else 0.0


def _edges(clip: Frames) -> npt.NDArray[np.float32]:
    grey = clip.mean(axis=-1, dtype=np.float32)
    down, right = np.gradient(grey, axis=(1, 2))
    strength: npt.NDArray[np.float32] = np.hypot(down, right)
    return strength


def _moved(made: Frames) -> Iterator[tuple[str, Frames]]:
    """The result as it would be, had a usual mistake not been made."""
    yield "mirrored left to right", made[:, :, ::-1]
    yield "mirrored top to bottom", made[:, ::-1]
    yield "with red and blue exchanged", made[..., ::-1]
    yield "in the reverse order of frames", made[::-1]
    for off in _FRAMES_OFF:
        yield f"{abs(off)} frame{'s' * (abs(off) > 1)} {'later' if off > 0 else 'earlier'}", np.roll(made, off, axis=0)
    for right, down in itertools.product(_SHIFTS, _SHIFTS):
        if right or down:
            yield _shift(right, down), np.roll(made, (down, right), axis=(1, 2))


def _shift(right: int, down: int) -> str:
    """A shift in words: ``2 px to the left``, ``1 px to the right and 3 px up``."""
    ways = [(right, "to the right" if right > 0 else "to the left"), (down, "down" if down > 0 else "up")]
    return " and ".join(f"{abs(pixels)} px {way}" for pixels, way in ways if pixels)


def _psnr(made: Frames, frames: Frames, known: npt.NDArray[np.bool_]) -> float:
    error = float(np.mean((made[known].astype(np.float32) - frames[known]) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(255**2 / error))


def _kept_words(decibels: float) -> str:
    return "as they were" if decibels == float("inf") else f"{_decibels(decibels)} from the input"


def _decibels(value: float) -> str:
    return "all" if value == float("inf") else f"{value:.1f} dB"
