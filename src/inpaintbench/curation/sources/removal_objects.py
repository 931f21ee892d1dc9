"""Things to be removed, cut-outs of photographs and drawn figures, and the layers that put them into a picture.

A layer is an object, its shadow, its image or its light. It is drawn over what lies below it, on noise-free levels 0..255 in
float64, and changes nothing outside its own piece of the frame. A picture with its layers and the same picture without them are
therefore equal wherever none of them reaches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources.embedded_edits import SCENES, object_of
from inpaintbench.curation.sources.figure import Pose, draw_look, paint, place_figure, skeleton
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS
from inpaintbench.lazily import lazily
from inpaintbench.types import item_rng

cv2 = lazily("cv2")

# `float64[h, w]`, 0..1.
Cover = npt.NDArray[np.float64]
# `float64[h, w, 3]` RGB, 0..255.
Colour = npt.NDArray[np.float64]
Canvas = npt.NDArray[np.float64]


class Layer(Protocol):
    """A change of some pixels of a frame."""

    def draw(self, canvas: Canvas) -> None:
        """Change ``canvas``, ``float64[H, W, 3]``, in place."""


@dataclass(frozen=True)
class Piece:
    """A piece of a frame: its first row and column, and how much of each of its pixels is covered."""

    top: int
    left: int
    cover: Cover

    def of(self, frame: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The piece of a frame, a view."""
        height, width = self.cover.shape
        return frame[self.top : self.top + height, self.left : self.left + width]


@dataclass(frozen=True)
class Shadow:
    """``F (1 - s P)``: light is lost where the shadow falls."""

    piece: Piece
    strength: float

    def draw(self, canvas: Canvas) -> None:
        """Darken the piece."""
        self.piece.of(canvas)[...] *= (1 - self.strength * self.piece.cover)[..., None]


@dataclass(frozen=True)
class Glow:
    """``F + g L G``: light that the object gives."""

    piece: Piece
    colour: tuple[float, float, float]
    strength: float

    def draw(self, canvas: Canvas) -> None:
        """Add light to the piece."""
        self.piece.of(canvas)[...] += (self.strength * self.piece.cover)[..., None] * np.array(self.colour)


@dataclass(frozen=True)
class Exposure:
    """``F (1 + g)``: the light of the whole scene, which comes with the object."""

    strength: float

    def draw(self, canvas: Canvas) -> None:
        """Brighten or, for a negative strength, darken the frame."""
        canvas *= 1 + self.strength


@dataclass(frozen=True)
class Solid:
    """``(1 - a A) F + a A C``: the object itself, solid for a = 1, else of glass."""

    piece: Piece
    colour: Colour
    strength: float = 1.0

    def draw(self, canvas: Canvas) -> None:
        """Mix the colours into the piece."""
        under = self.piece.of(canvas)
        share = (self.strength * self.piece.cover)[..., None]
        under[...] = (1 - share) * under + share * self.colour


class Reflection(Solid):
    """``(1 - r Q) F + r Q R``: the object's image in a floor or a mirror."""


def layered(frame: npt.NDArray[Any], layers: Sequence[Layer], *, noise: npt.NDArray[np.int16]) -> npt.NDArray[np.uint8]:
    """A frame with ``layers`` over it: drawn on whole levels without noise, rounded, then the noise added, ``uint8[H, W, 3]``.

    Without layers it is the frame with the noise: where no layer changes a level both are equal to the byte.

    Args:
        frame: ``[H, W, 3]``, noise-free.
        layers: the lowest first.
        noise: whole levels, ``int16[H, W, 3]``.
    """
    levels = np.asarray(frame, np.int16)
    if layers:
        canvas = np.array(frame, np.float64)
        for layer in layers:
            layer.draw(canvas)
        # Light may be brighter than the sensor takes: levels far above stay inside of int16.
        levels = np.clip(np.rint(canvas), -1024, 4096).astype(np.int16)
    return np.asarray(np.clip(levels + noise, 0, 255), np.uint8)


Plane = npt.NDArray[np.float32]
# `float64[2, 3]`: pixels (x, y) of a sprite to those of a frame.
Affine = npt.NDArray[np.float64]

# Photograph -> ellipses (x, y, half axes) that belong to the thing besides what `embedded_edits` knows of it.
CUT_OUTS = {"coffee": (), "astronaut": ((222, 97, 72, 92),), "chelsea": ((215, 160, 165, 135),)}
BALLS = ("ball_retina", "ball_hubble", "ball_tissue")
OBJECTS = ("walker", *CUT_OUTS, *BALLS, "box")
# Pictures of a walker in one cycle of two steps.
PHASES = 12
# Steps of opacity: fainter ones are none.
_LEVELS = 255
# A shadow is sharp where the object stands, and loses itself with the distance: its blur there, and more for each pixel.
_SHARPEST, _PENUMBRA = 0.5, 0.06
_BLURS = 3
_WALK_STRIDE = 0.55


class Sprite(NamedTuple):
    """A thing on nothing."""

    colour: Plane
    """``float32[h, w, 3]``, 0..255, times the opacity."""
    alpha: Plane
    """``float32[h, w]``, 0..1."""
    contact: tuple[float, float]
    """(x, y) of where it stands on the ground, in its pixels."""


@dataclass(frozen=True)
class Thing:
    """A thing at the height it has in the frames: one picture, or those of a walk or a roll."""

    name: str
    pictures: tuple[Sprite, ...]
    height: float
    """Pixels."""
    cycle: float
    """Heights that it travels until its pictures begin again."""

    def at(self, travelled: float) -> Sprite:
        """The picture after ``travelled`` pixels."""
        turn = travelled / max(self.cycle * self.height, 1e-9)
        return self.pictures[math.floor(turn * len(self.pictures)) % len(self.pictures)]


def thing(name: str, *, height: int, seed: int) -> Thing:
    """The thing ``name`` of ``OBJECTS``, ``height`` pixels high."""
    if name == "walker":
        walk = _walk(seed)
        scale = height / max(len(one.alpha) for one in walk)
        return Thing(name, tuple(_scaled(one, scale) for one in walk), height, 2 * _WALK_STRIDE)
    if name in BALLS:
        return Thing(name, _rolling(name.removeprefix("ball_"), height), height, math.pi)
    whole = _box() if name == "box" else _cut_out(name)
    return Thing(name, (_scaled(whole, height / len(whole.alpha)),), height, 1.0)


def _sprite(colour: Plane, alpha: Plane, *, stands_on: tuple[float, float] | None = None) -> Sprite:
    """The part that is not empty; it stands on the middle of its lowest rows unless it is told where."""
    rows, columns = (np.flatnonzero(alpha.max(axis=axis) > 0.5) for axis in (1, 0))
    inside = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    alpha = np.ascontiguousarray(alpha[inside])
    feet = np.flatnonzero(alpha[-max(2, len(alpha) // 12) :].max(axis=0) > 0.5)
    x, y = (columns[0] + float(feet.mean()), rows[-1]) if stands_on is None else stands_on
    return Sprite(np.ascontiguousarray(colour[inside]), alpha, (x - columns[0], float(y - rows[0])))


def _scaled(one: Sprite, scale: float) -> Sprite:
    """A sprite at another size, by the mean of what each new pixel covers."""
    tall, broad = one.alpha.shape
    size = (max(2, round(broad * scale)), max(2, round(tall * scale)))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    colour, alpha = (np.asarray(cv2.resize(part, size, interpolation=how), np.float32) for part in (one.colour, one.alpha))
    return Sprite(colour, alpha, (one.contact[0] * size[0] / broad, one.contact[1] * size[1] / tall))


@lru_cache(maxsize=8)
def _cut_out(name: str) -> Sprite:
    photograph = video.read_image(PHOTOGRAPHS[name].path()).astype(np.float32)
    inside = object_of(next(one for one in SCENES if one.photograph == name))
    for x, y, across, down in CUT_OUTS[name]:
        cv2.ellipse(inside, (x, y), (across, down), 0, 0, 360, 1, -1)
    alpha = np.asarray(cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 1.0), np.float32)
    return _sprite(photograph * alpha[..., None], alpha)


def _box() -> Sprite:
    """A crate of coffee table, with an edge that is darker."""
    photograph = video.read_image(PHOTOGRAPHS["coffee"].path())[250:390, 380:590].astype(np.float32)
    photograph[:6] *= 0.6
    photograph[-6:] *= 0.6
    photograph[:, :6] *= 0.6
    photograph[:, -6:] *= 0.6
    return _sprite(photograph, np.ones(photograph.shape[:2], np.float32))


def _rolling(photograph: str, height: int) -> tuple[Sprite, ...]:
    """A ball with a photograph on it, lit from the upper left, in 24 steps of a turn."""
    scene, side = PHOTOGRAPHS[photograph], 96
    whole = video.read_image(scene.path())
    left, top = round(scene.focus[0] * scene.width) - 150, round(scene.focus[1] * scene.height) - 150
    skin = cv2.resize(whole[top : top + 300, left : left + 300], (side, side), interpolation=cv2.INTER_AREA).astype(np.float32)
    y, x = (np.mgrid[:side, :side].astype(np.float32) - (side - 1) / 2) / (side / 2 - 1)
    depth = np.sqrt(np.clip(1 - x**2 - y**2, 0, 1))
    light = np.asarray(0.45 + 0.7 * np.clip(-0.42 * x - 0.62 * y + 0.66 * depth, 0, 1), np.float32)
    alpha = np.asarray(np.clip((1 - np.hypot(x, y)) * side / 2, 0, 1), np.float32)
    made = []
    for step in range(24):
        turn = cv2.getRotationMatrix2D(((side - 1) / 2, (side - 1) / 2), -15.0 * step, 1.0)
        turned = cv2.warpAffine(skin, turn, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
        made.append(_scaled(_sprite(turned * (light * alpha)[..., None], alpha), height / side))
    return tuple(made)


@lru_cache(maxsize=4)
def _walk(seed: int) -> tuple[Sprite, ...]:
    """A walker to the right: the same look in every phase of two steps."""
    size = 150
    look = draw_look(item_rng(seed, "removal", "look"), size=size)
    shape = (size + 40, size + 20)
    weave = item_rng(seed, "removal", "weave").standard_normal(shape).astype(np.float32)
    weave = np.asarray(cv2.GaussianBlur(weave, (0, 0), 0.8) * 2, np.float32)
    made = []
    for phase in range(PHASES):
        bones = skeleton(_step(2 * math.pi * phase / PHASES), turn_degrees=72)
        sole = max(float(point[1]) for point in bones.values()) + 0.03
        ground = (shape[1] / 2, size + 25.0)
        pelvis = (ground[0], ground[1] - size * sole)
        figure = place_figure(bones, look, turn_degrees=72, size=size, pelvis=pelvis, seated=False)
        dark, bright = (np.full((*shape, 3), level, np.float32) for level in (0.0, 255.0))
        for canvas in (dark, bright):
            for part in figure.parts:
                paint(canvas, part, weave=weave)
        # What shines through of a white canvas is not the figure; its faint halo is left out.
        clear = np.asarray((bright - dark).mean(axis=2) / 255, np.float32)
        alpha = np.asarray(np.clip((1 - clear - 0.4) / 0.6, 0, 1), np.float32)
        opaque = dark / np.maximum(1 - clear, 1e-3)[..., None]
        made.append(_sprite(np.asarray(opaque * alpha[..., None], np.float32), alpha, stands_on=ground))
    return tuple(made)


def _step(phase: float) -> Pose:
    """Pose of a walk at a phase of its cycle, in radians; arms swing against legs."""
    swing, lift = math.sin(phase), math.cos(phase)
    return Pose(
        shoulder_flexion=(-26 * swing, 26 * swing), shoulder_abduction=(8, 8), elbow=(20 + 8 * swing, 20 - 8 * swing),
        hip_flexion=(26 * swing, -26 * swing), hip_abduction=(2, 2), knee=(8 + 26 * max(0.0, lift), 8 + 26 * max(0.0, -lift)),
        lean=3,
    )  # fmt: skip


# Where a frame shows it


def upright(one: Sprite, contact: tuple[float, float], scale: float) -> Affine:
    """Sprite to frame, the sprite standing on ``contact`` (x, y) of the frame."""
    x, y = one.contact
    return np.array([[scale, 0, contact[0] - scale * x], [0, scale, contact[1] - scale * y]])


def lying(one: Sprite, contact: tuple[float, float], scale: float, shear: tuple[float, float]) -> Affine:
    """Sprite to its shadow on the ground: a point as high as h falls by ``shear`` times h, to the right and downwards."""
    x, y = one.contact
    across, down = shear
    # A point of the sprite at row r lies scale (y - r) above the ground.
    return np.array([
        [scale, -scale * across, contact[0] - scale * x + scale * across * y],
        [0, -scale * down, contact[1] + scale * down * y],
    ])  # fmt: skip


def upside_down(one: Sprite, contact: tuple[float, float], scale: float) -> Affine:
    """Sprite to its image in the floor that it stands on."""
    x, y = one.contact
    return np.array([[scale, 0, contact[0] - scale * x], [0, -scale, contact[1] + scale * y]])


def turned_round(matrix: Affine, column: float) -> Affine:
    """What ``matrix`` shows, in a mirror whose edge is at ``column`` of the frame."""
    return np.array([[-matrix[0, 0], -matrix[0, 1], 2 * column - matrix[0, 2]], matrix[1]])


class Seen(NamedTuple):
    """A piece of a frame with the colours of what covers it, ``float64[h, w, 3]``."""

    piece: Piece
    colour: npt.NDArray[np.float64]


def seen(one: Sprite, matrix: Affine, *, width: int, height: int, margin: int = 1) -> Seen | None:
    """What a frame shows of a sprite; None where it lies outside. Opacities are whole 255ths."""
    tall, broad = one.alpha.shape
    corners = np.array([[0, 0, 1], [broad, 0, 1], [0, tall, 1], [broad, tall, 1]]) @ matrix.T
    left, top = (max(0, math.floor(low) - margin) for low in corners.min(axis=0))
    right = min(width, math.ceil(corners[:, 0].max()) + margin + 1)
    bottom = min(height, math.ceil(corners[:, 1].max()) + margin + 1)
    if left >= right or top >= bottom:
        return None
    moved = np.array(matrix)
    moved[:, 2] -= (left, top)
    size = (right - left, bottom - top)
    alpha, colour = (
        np.asarray(cv2.warpAffine(part, moved, size, flags=cv2.INTER_LINEAR), np.float64) for part in (one.alpha, one.colour)
    )
    whole = np.clip(colour / np.maximum(alpha, 1e-6)[..., None], 0, 255)
    return Seen(Piece(top, left, _stepped(alpha)), whole)


def shade(one: Sprite, matrix: Affine, *, contact_row: float, width: int, height: int) -> Piece | None:
    """The shadow of a sprite, which grows softer with the distance from the row where it stands."""
    reach = abs(matrix[1, 1]) * len(one.alpha)
    blurs = [_SHARPEST + _PENUMBRA * reach * step / (_BLURS - 1) for step in range(_BLURS)]
    found = seen(one, matrix, width=width, height=height, margin=math.ceil(3 * blurs[-1]) + 1)
    if found is None:
        return None
    sharp, place = found.piece.cover, found.piece
    soft = np.stack([cv2.GaussianBlur(sharp, (0, 0), sigma, borderType=cv2.BORDER_CONSTANT) for sigma in blurs])
    away = np.abs(place.top + np.arange(len(sharp)) - contact_row) / max(reach, 1e-9) * (_BLURS - 1)
    at = np.clip(away, 0, _BLURS - 1 - 1e-9)
    lower, share = at.astype(int), (at - at.astype(int))[:, None]
    rows = np.arange(len(sharp))
    return Piece(place.top, place.left, _stepped((1 - share) * soft[lower, rows] + share * soft[lower + 1, rows]))


def faded(found: Seen, *, contact_row: float, reach: float) -> Seen:
    """The image in a floor, which fades to nothing one height of the object below it."""
    rows = found.piece.top + np.arange(len(found.piece.cover))
    share = np.clip(1 - (rows - contact_row) / reach, 0, 1) * (rows >= contact_row)
    return Seen(Piece(found.piece.top, found.piece.left, found.piece.cover * share[:, None]), found.colour)


def within(found: Seen, corners: Sequence[tuple[float, float]]) -> Seen:
    """The image inside of a mirror with these corners (x, y), whole where the middle of a pixel is in it."""
    mask = np.zeros(found.piece.cover.shape, np.uint8)
    shifted = np.rint((np.array(corners) - (found.piece.left, found.piece.top)) * 16).astype(np.int32)
    cv2.fillPoly(mask, [shifted], 1, shift=4)
    return Seen(Piece(found.piece.top, found.piece.left, found.piece.cover * mask), found.colour)


def _stepped(cover: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.rint(np.clip(cover, 0, 1) * _LEVELS) / _LEVELS)
