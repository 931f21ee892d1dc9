"""Films with known cuts: photographs under a moving camera, joined by cuts, fades and dissolves, or not joined at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources.embedded import Shot, film
from inpaintbench.curation.sources.virtual_camera import MOTIONS, PHOTOGRAPHS, add_sensor_noise
from inpaintbench.errors import InputError
from inpaintbench.types import Frames, item_rng

WIDTH, HEIGHT, FPS = 320, 180, 25.0
KINDS = ("cuts", "dissolves", "fades", "mixed", "flashes", "fast_pan", "shake_and_water")
"""What film ``seed`` is about, in turn: those of the last three kinds hold no transition."""
MOTION_NAMES = tuple(MOTIONS)
LARGEST_STEP = 0.25
"""Of a fast pan, in view widths a frame."""

Kind = Literal["cut", "gradual"]


@dataclass(frozen=True)
class Truth:
    """A transition: a cut between frames k - 1 and k has both numbers k; a gradual one covers ``[start_frame, end_frame)``."""

    start_frame: int
    end_frame: int
    kind: Kind


@dataclass(frozen=True)
class CutFilm:
    """Frames ``uint8[T, HEIGHT, WIDTH, 3]`` with the transitions in them."""

    name: str
    kind: str
    frames: Frames
    transitions: tuple[Truth, ...]


def cut_film(seed: int) -> CutFilm:
    """The film of a seed: the same every time."""
    kind = KINDS[seed % len(KINDS)]
    rng = item_rng(seed, "cut film", kind)
    frames, transitions = _MAKERS[kind](rng)
    return CutFilm(f"{seed:04d}_{kind}", kind, frames, tuple(transitions))


def _joined(rng: np.random.Generator, joins: tuple[str, ...]) -> tuple[Frames, list[Truth]]:
    """Shots of different photographs with one of ``joins`` between any two."""
    count = int(rng.integers(2, 5))
    names = rng.permutation(list(PHOTOGRAPHS))[:count]
    parts, transitions, given = [], [], 0
    following = _shot(rng, str(names[0]))
    for name in names[1:]:
        one, other = following, _shot(rng, str(name))
        join = str(rng.choice(joins))
        length = {"cut": 0, "dissolve": int(rng.integers(6, 31)), "fade": int(rng.integers(8, 41))}[join]
        between, rest_one, following = _MIXES[join](rng, one, other, length)
        parts += [rest_one, between]
        start = given + len(rest_one)
        transitions.append(Truth(start, start + len(between), "gradual" if len(between) else "cut"))
        given = start + len(between)
    return np.concatenate([*parts, following]), transitions


def _shot(rng: np.random.Generator, photograph: str) -> Frames:
    motion = str(rng.choice(MOTION_NAMES))
    speed = float(rng.uniform(0.03, 0.3)) if motion != "hand_shake" else float(rng.uniform(0.01, 0.04))
    water = float(rng.uniform(0.2, 0.4)) if rng.random() < 0.25 else 0.0
    frames = _filmed(rng, photograph, motion=motion, speed=speed, frames=int(rng.integers(50, 90)), water=water)
    return np.ascontiguousarray(frames[:, :, ::-1]) if rng.random() < 0.5 else frames


def _filmed(rng: np.random.Generator, photograph: str, *, motion: str, speed: float, frames: int, water: float) -> Frames:
    name, noise = f"{photograph}{rng.integers(1 << 30)}", float(rng.uniform(0, 3))
    while True:
        shot = Shot(name, photograph, motion, speed, frames, water_share=water, noise=noise)
        try:
            return film(shot, width=WIDTH, height=HEIGHT).frames
        except InputError:  # the photograph is too small for that much motion
            speed /= 2


def _cut(rng: np.random.Generator, one: Frames, other: Frames, length: int) -> tuple[Frames, Frames, Frames]:
    return other[:0], one, other


def _dissolve(rng: np.random.Generator, one: Frames, other: Frames, length: int) -> tuple[Frames, Frames, Frames]:
    weight = (np.arange(1, length + 1) / (length + 1))[:, None, None, None]
    mixed = (1 - weight) * one[-length:] + weight * other[:length]
    return np.rint(mixed).astype(np.uint8), one[:-length], other[length:]


def _fade(rng: np.random.Generator, one: Frames, other: Frames, length: int) -> tuple[Frames, Frames, Frames]:
    """Out to black or white and in again, each ``length`` // 2 frames, with 1 to 10 frames of nothing between."""
    half, pause = max(length // 2, 3), int(rng.integers(1, 11))
    ground = 255.0 if rng.random() < 0.3 else float(rng.integers(0, 17))
    weight = (np.arange(1, half + 1) / (half + 1))[:, None, None, None]
    out = (1 - weight) * one[-half:] + weight * ground
    back = (1 - weight[::-1]) * other[:half] + weight[::-1] * ground
    nothing = np.full((pause, *one.shape[1:]), ground)
    return np.rint(np.concatenate([out, nothing, back])).astype(np.uint8), one[:-half], other[half:]


_MIXES = {"cut": _cut, "dissolve": _dissolve, "fade": _fade}


def _flashes(rng: np.random.Generator) -> tuple[Frames, list[Truth]]:
    """One shot with camera flashes of 1 to 4 frames: much brighter, or white."""
    frames = _shot(rng, str(rng.choice(list(PHOTOGRAPHS)))).copy()
    for start in rng.choice(np.arange(8, len(frames) - 8, 10), size=int(rng.integers(1, 4)), replace=False):
        for index in range(int(start), int(start) + int(rng.integers(1, 5))):
            lit = frames[index] * rng.uniform(1.5, 3) + rng.uniform(40, 120)
            frames[index] = 255 if rng.random() < 0.3 else np.clip(lit, 0, 255).astype(np.uint8)
    return frames, []


def _fast_pan(rng: np.random.Generator) -> tuple[Frames, list[Truth]]:
    """A whip pan: at rest, up to ``LARGEST_STEP`` view widths a frame with motion blur, at rest elsewhere."""
    photograph = _wide(str(rng.choice(list(PHOTOGRAPHS))))
    reach = photograph.shape[1] - WIDTH - 2
    step = float(rng.uniform(0.04, LARGEST_STEP)) * WIDTH
    moving = max(3, round(2 * reach / step))
    progress = (1 - np.cos(np.pi * np.arange(moving + 1) / moving)) / 2
    still = int(rng.integers(15, 30))
    place = np.concatenate([np.zeros(still), progress, np.ones(still)]) * reach
    place = place if rng.random() < 0.5 else reach - place
    row = int(rng.integers(0, photograph.shape[0] - HEIGHT + 1))
    shutter = float(rng.choice([0.0, 0.5]))
    frames = np.stack([_seen(photograph, place, index, row=row, shutter=shutter) for index in range(len(place))])
    add_sensor_noise(frames, sigma=float(rng.uniform(0, 3)), rng=rng)
    return frames, []


def _seen(photograph: npt.NDArray[np.uint8], place: npt.NDArray[np.float64], index: int, *, row: int, shutter: float) -> Frames:
    speed = place[min(index + 1, len(place) - 1)] - place[index]
    moments = np.clip(place[index] + shutter * speed * np.linspace(0, 1, 8 if shutter else 1), 0, photograph.shape[1] - WIDTH - 1)
    views = [
        cv2.getRectSubPix(photograph, (WIDTH, HEIGHT), (x + (WIDTH - 1) / 2, row + (HEIGHT - 1) / 2)).astype(np.float32)
        for x in moments
    ]
    return np.rint(np.mean(views, axis=0)).astype(np.uint8)


def matched(truth: Sequence[Truth], found: Sequence[Any], *, kind: Kind) -> tuple[int, int, int]:
    """Hits, misses and false alarms among transitions of one kind: cuts match within a frame, gradual ones where they overlap."""
    free = [transition for transition in found if transition.kind == kind]
    wanted = [transition for transition in truth if transition.kind == kind]
    hits = 0
    for transition in wanted:
        match = next((other for other in free if _same_place(transition, other)), None)
        if match is not None:
            free.remove(match)
            hits += 1
    return hits, len(wanted) - hits, len(free)


def _same_place(truth: Truth, other: Any) -> bool:
    if truth.kind == "cut":
        return bool(abs(truth.start_frame - other.start_frame) <= 1)
    return bool(other.start_frame < truth.end_frame and truth.start_frame < other.end_frame)


@lru_cache(maxsize=8)
def _wide(name: str) -> npt.NDArray[np.uint8]:
    """The photograph beside its mirror image, two and a half views wide at least."""
    pixels = video.read_image(PHOTOGRAPHS[name].path())
    scale = max(HEIGHT * 1.2 / pixels.shape[0], WIDTH * 1.3 / pixels.shape[1])
    scaled = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.concatenate([scaled, scaled[:, ::-1], scaled], axis=1)


def _shake_and_water(rng: np.random.Generator) -> tuple[Frames, list[Truth]]:
    motion = str(rng.choice(["hand_shake", "hand_held_pan", "zoom_in", "tripod"]))
    speed = float(rng.uniform(0.03, 0.08)) if motion == "hand_shake" else float(rng.uniform(0.1, 0.3))
    name = str(rng.choice(list(PHOTOGRAPHS)))
    water = float(rng.uniform(0.3, 0.5))
    return _filmed(rng, name, motion=motion, speed=speed, frames=int(rng.integers(80, 120)), water=water), []


_MAKERS = {
    "cuts": lambda rng: _joined(rng, ("cut",)),
    "dissolves": lambda rng: _joined(rng, ("dissolve",)),
    "fades": lambda rng: _joined(rng, ("fade",)),
    "mixed": lambda rng: _joined(rng, ("cut", "dissolve", "fade")),
    "flashes": _flashes,
    "fast_pan": _fast_pan,
    "shake_and_water": _shake_and_water,
}
