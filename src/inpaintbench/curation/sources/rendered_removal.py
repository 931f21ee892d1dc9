"""Clips with an object that is to be removed, and the same clips without it: rendered, so that both are known to the byte.

A virtual camera films photographs. Into each film one object is put, which moves and stands, and which casts a shadow, shows in
the floor or in a mirror, is of glass, or changes the light, by a known amount. The truth is the film that it was put into. All
strengths of one kind of effect share a film, an object and its way, so that what differs between their scores is the strength.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources import removal_objects as objects
from inpaintbench.curation.sources.base import PARTS, Footage, SourceLeaf
from inpaintbench.curation.sources.embedded import FRAMES_PER_SECOND, Film, Shot, noise_of, noiseless
from inpaintbench.curation.sources.removal_objects import OBJECTS, Layer, Seen, Sprite, Thing
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS, scale_of
from inpaintbench.errors import InputError
from inpaintbench.ranges import AtLeastOne, Seed, Side
from inpaintbench.types import Frames, Hole, item_rng

LEVELS = ("low", "mid", "high")
# Kind of side effect -> its strength at each level: the higher, the more it changes. Of glass, how much of the thing shows.
STRENGTHS: Mapping[str, tuple[float, float, float]] = {
    "shadow": (0.15, 0.35, 0.6),
    "reflection": (0.1, 0.25, 0.5),
    "mirror": (0.5, 0.75, 0.95),
    "translucency": (0.3, 0.5, 0.7),
    "light": (0.1, 0.25, 0.5),
    "exposure": (0.05, 0.12, 0.25),
}
# What a scene has, in turn; then again with other photographs, cameras and objects.
TURNS: tuple[tuple[str, ...], ...] = (
    ("shadow",), ("reflection",), ("mirror",), ("translucency",), ("light",), ("shadow", "reflection"),
    ("shadow",), ("reflection",), ("mirror",), ("translucency",), ("exposure",), ("shadow", "light", "translucency"),
)  # fmt: skip
CAMERAS: tuple[tuple[str, float], ...] = (
    ("tripod", 0.0), ("pan_right", 0.25), ("hand_shake", 0.02), ("tripod", 0.0), ("zoom_in", 0.2), ("hand_held_pan", 0.15),
    ("pan_left", 0.2),
)  # fmt: skip
# Photographs with a stated licence that are not so dark that a shadow on them is nothing.
GROUNDS = ("coffee", "rocket", "retina", "chelsea", "tissue", "astronaut")
# Height of the object, as a share of the view's.
SIZES: Mapping[str, float] = {"small": 0.24, "medium": 0.38, "large": 0.54}
# Way that the object goes, in widths of the view.
MOTIONS: Mapping[str, float] = {"still": 0.0, "slow": 0.12, "fast": 0.45}
PATHS = ("line", "arc", "stop_and_go", "sine")
# The variant without any side effect.
COMMON = "common"
# Brightest of a lamp, and how far its light reaches, in heights of the object.
_LAMP, _LAMP_REACH = (255.0, 226.0, 170.0), 0.4
_FLICKER, _FLICKER_HERTZ = 0.2, 1.5
_NO_LEVEL = 0.5
WATER_SHARE = 0.4


@dataclass(frozen=True)
class Scene:
    """A film, an object in it, and its side effects in all their strengths; everything that determines them but their size."""

    name: str
    photograph: str
    motion: str
    speed: float
    frames: int
    seed: int
    thing: str
    effects: tuple[str, ...]
    size: str
    """One of ``SIZES``."""
    moves: str
    """One of ``MOTIONS``."""
    path: str
    """One of ``PATHS``."""
    water: bool
    """Whether water moves in the background."""

    @property
    def shot(self) -> Shot:
        """The film without the object."""
        share = WATER_SHARE if self.water else 0.0
        return Shot(self.name, self.photograph, self.motion, self.speed, self.frames, water_share=share, seed=self.seed)

    @property
    def kind(self) -> str:
        """Kind of side effect; ``combined`` where there are several."""
        return {"exposure": "light"}.get(self.effects[0], self.effects[0]) if len(self.effects) == 1 else "combined"

    def variants(self) -> list[tuple[str, dict[str, float]]]:
        """(level, effect -> strength), the strongest last; the first has no side effect."""
        levels = [(level, {kind: STRENGTHS[kind][place] for kind in self.effects}) for place, level in enumerate(LEVELS)]
        return [(COMMON, {}), *levels]


def scenes(count: int, *, frames: int = 40, seed: int = 0) -> list[Scene]:
    """The first ``count`` scenes."""
    made = []
    for place in range(count):
        rng = item_rng(seed, "removal scene", str(place))
        # Lists whose lengths share no factor: every kind of effect meets every camera, ground and object in time.
        motion, speed = CAMERAS[place % len(CAMERAS)]
        ground = GROUNDS[(place + place // len(TURNS)) % len(GROUNDS)]
        choices = [name for name in OBJECTS if not name.endswith(ground)]
        name = choices[int(rng.integers(len(choices)))] if place >= len(OBJECTS) else OBJECTS[place]
        name = name if name in choices else choices[place % len(choices)]
        size = [*SIZES][(place + place // len(SIZES)) % len(SIZES)]
        moves = [*MOTIONS][(2 * place + place // len(MOTIONS)) % len(MOTIONS)]
        made.append(Scene(
            f"{place:03d}_{ground}_{motion}_{name}", ground, motion, speed, frames, seed, name, TURNS[place % len(TURNS)], size,
            moves, PATHS[place % len(PATHS)], place % 5 == 3,
        ))  # fmt: skip
    return made


@dataclass(frozen=True)
class Rendered:
    """A scene with its object, once for each variant."""

    truth: Frames
    """With the noise that all inputs have too."""
    inputs: Mapping[str, Frames]
    """Variant -> the film with the object."""
    thing: Hole
    """Where the object is, in all variants."""
    film: Film
    """Without noise."""
    travelled: npt.NDArray[np.float64]
    """Pixels of the frame that the object has gone by each frame, ``float64[T]``."""


def render(scene: Scene, *, width: int, height: int, levels: Sequence[str] | None = None) -> Rendered:
    """Render a scene: the same bytes every time.

    Args:
        scene: what is rendered.
        width: of the frames, in pixels.
        height: of the frames.
        levels: variants that are rendered, None = all of ``scene.variants()``.

    Raises:
        InputError: no photograph is large enough for the size.
    """
    film = noiseless(scene.shot, width=width, height=height)
    noise = noise_of(scene.shot, film.frames.shape)
    stage = _Stage(scene, film, width=width, height=height)
    wanted = [(level, effects) for level, effects in scene.variants() if levels is None or level in levels]
    inputs = {level: np.empty_like(film.frames) for level, _ in wanted}
    truth, inside = np.empty_like(film.frames), np.zeros(film.frames.shape[:3], np.bool_)
    for index, frame in enumerate(film.frames):
        truth[index] = objects.layered(frame, (), noise=noise[index])
        shown = stage.solid(index)
        if shown is not None:
            shown.piece.of(inside[index])[...] = shown.piece.cover > 0
        for level, effects in wanted:
            inputs[level][index] = objects.layered(frame, stage.layers(index, effects, shown), noise=noise[index])
    return Rendered(truth, inputs, inside, film, stage.travelled)


class _Stage:
    """Where the object of a scene is in each frame, and the layers that it makes there."""

    def __init__(self, scene: Scene, film: Film, *, width: int, height: int) -> None:
        self.width, self.height = width, height
        rng = item_rng(scene.seed, "removal stage", scene.name)
        middle = film.homographies[len(film.homographies) // 2]
        tall = max(12, round(SIZES[scene.size] * height))
        self.thing: Thing = objects.thing(scene.thing, height=tall, seed=scene.seed + int(rng.integers(1000)))
        self.shear = (float(rng.choice([-1, 1]) * rng.uniform(0.5, 0.9)), float(rng.uniform(0.12, 0.3)))
        # Where the object stands in each frame, in widths and heights of the view of the middle frame, `[T, 2]`.
        mirrored = "mirror" in scene.effects
        progress = np.linspace(-0.5, 0.5, scene.frames)
        if scene.path == "stop_and_go":  # walks, stands, walks
            progress = np.interp(np.linspace(0, 1, scene.frames), [0, 0.35, 0.65, 1], [-0.5, 0, 0, 0.5])
        length = MOTIONS[scene.moves] * (0.5 if mirrored else 1.0)
        forward = 1 if rng.random() < 0.5 else -1
        across = float(rng.uniform(0.3, 0.34) if mirrored else rng.uniform(0.42, 0.58))
        down = np.full(scene.frames, float(rng.uniform(0.7, 0.76)))
        if scene.path == "arc":
            down += 0.25 * length * (1 - 4 * progress**2)
        if scene.path == "sine":
            down += 0.15 * length * np.sin(4 * math.pi * progress)
        way = np.stack([across + forward * length * progress, down], axis=1)
        ground = np.stack([way[:, 0] * width, way[:, 1] * height, np.ones(len(way))])
        in_scene = (middle @ ground).T
        back = np.linalg.inv(film.homographies)
        self.contacts = np.einsum("tij,tj->ti", back, in_scene)[:, :2]
        self.scales = np.array([scale_of(middle) / scale_of(one) for one in film.homographies])
        steps = np.hypot(*np.diff(in_scene[:, :2], axis=0).T) / scale_of(middle)
        self.travelled = np.concatenate([[0.0], np.cumsum(steps)])
        self.forward = bool(way[-1, 0] >= way[0, 0])
        edge, right = 0.52 * width, 0.93 * width
        low = float(way[:, 1].min() * height)
        corners = np.array([[edge, low - 1.6 * tall, 1], [right, low - 1.6 * tall, 1], [right, low + 4, 1], [edge, low + 4, 1]])
        self.mirrors = np.einsum("tij,kj->tki", back @ middle, corners)[..., :2]

    def _sprite(self, index: int) -> Sprite:
        one = self.thing.at(float(self.travelled[index]))
        if self.forward:
            return one
        alpha, colour = np.ascontiguousarray(one.alpha[:, ::-1]), np.ascontiguousarray(one.colour[:, ::-1])
        return Sprite(colour, alpha, (alpha.shape[1] - 1 - one.contact[0], one.contact[1]))

    def solid(self, index: int) -> Seen | None:
        """The object itself."""
        one, contact = self._sprite(index), self.contacts[index]
        matrix = objects.upright(one, contact, float(self.scales[index]))
        return objects.seen(one, matrix, width=self.width, height=self.height)

    def layers(self, index: int, effects: Mapping[str, float], shown: Seen | None) -> list[Layer]:
        """The layers of one frame, the lowest first."""
        one, contact, scale = self._sprite(index), self.contacts[index], float(self.scales[index])
        size = {"width": self.width, "height": self.height}
        made: list[Layer | None] = []
        if "shadow" in effects:
            matrix = objects.lying(one, contact, scale, self.shear)
            piece = objects.shade(one, matrix, contact_row=float(contact[1]), **size)
            made.append(None if piece is None else objects.Shadow(piece, effects["shadow"]))
        if "reflection" in effects:
            image = objects.seen(one, objects.upside_down(one, contact, scale), **size)
            image = image and objects.faded(image, contact_row=float(contact[1]), reach=scale * len(one.alpha))
            made.append(None if image is None else objects.Reflection(image.piece, image.colour, effects["reflection"]))
        if "mirror" in effects:
            corners = self.mirrors[index]
            matrix = objects.turned_round(objects.upright(one, contact, scale), float(corners[0, 0]))
            image = objects.seen(one, matrix, **size)
            image = image and objects.within(image, [(float(x), float(y)) for x, y in corners])
            made.append(None if image is None else objects.Reflection(image.piece, image.colour, effects["mirror"]))
        flicker = 1 + _FLICKER * math.sin(2 * math.pi * _FLICKER_HERTZ * index / FRAMES_PER_SECOND)
        if "light" in effects:
            tall, strength = scale * len(one.alpha), effects["light"] * flicker
            made.append(self._lamp(float(contact[0]), float(contact[1]) - 0.8 * tall, tall, strength))
        if "exposure" in effects:
            made.append(objects.Exposure(effects["exposure"] * flicker))
        made.append(None if shown is None else objects.Solid(shown.piece, shown.colour, effects.get("translucency", 1.0)))
        return [layer for layer in made if layer is not None]

    def _lamp(self, x: float, y: float, tall: float, strength: float) -> objects.Glow | None:
        """Light around (x, y), as far as it changes a level by itself."""
        reach = _LAMP_REACH * tall
        far = reach * math.sqrt(2 * math.log(max(strength * max(_LAMP) / _NO_LEVEL, 1.0)))
        left, top = max(0, math.ceil(x - far)), max(0, math.ceil(y - far))
        right, bottom = min(self.width, math.floor(x + far) + 1), min(self.height, math.floor(y + far) + 1)
        if left >= right or top >= bottom:
            return None
        across, down = np.arange(left, right) - x, np.arange(top, bottom) - y
        cover = np.exp(-(across[None, :] ** 2 + down[:, None] ** 2) / (2 * reach**2))
        return objects.Glow(objects.Piece(top, left, cover), _LAMP, strength)


def check_films(what: str, count: int, *, frames: int, width: int, height: int) -> None:
    """Raise ``InputError`` unless so many films of photographs can be rendered; ``what`` one of them is called."""
    if count < 1 or frames < 2:
        raise InputError(f"{count} {what}s of {frames} frames cannot be rendered: at least 1 {what} of 2 frames")
    if not 96 <= width <= 448 or not 80 <= height <= 256:
        raise InputError(f"frames of {width}x{height} cannot be rendered: from 96x80 to 448x256, as large as photographs are")


class RenderedRemoval(SourceLeaf):
    """Films of photographs, each with an object that has side effects of four strengths.

    Args (all constants):
        items: how many inputs, four of each film; the last film may have fewer.
        width: of the frames, in pixels.
        height: of the frames.
        frames: of each film.
        seed: of the scenes, the camera and the noise.

    Raises:
        InputError: a number that cannot be used.
    """

    name = "rendered_removal"
    version = "2"

    def __init__(
        self, *, items: AtLeastOne = 24, width: Side = 288, height: Side = 160, frames: AtLeastOne = 40, seed: Seed = 0
    ) -> None:
        check_films("item", items, frames=frames, width=width, height=height)
        self.items, self.width, self.height, self.frames, self.seed = items, width, height, frames, seed

    def footage(self) -> Iterator[Footage]:
        """The films, in order."""
        each = len(LEVELS) + 1
        for place, scene in enumerate(scenes(-(-self.items // each), frames=self.frames, seed=self.seed)):
            levels = [level for level, _ in scene.variants()][-min(each, self.items - place * each) :]
            known = {
                "object": scene.thing, "object_size": scene.size, "object_motion": scene.moves, "object_path": scene.path,
                "camera": "still" if scene.motion == "tripod" else "moving", "camera_movement": scene.motion,
                "side_effect": scene.kind, "bg_scene_motion_level": "high" if scene.water else "low",
            }  # fmt: skip
            payload = {**_plain(scene), "width": self.width, "height": self.height, "levels": levels}
            yield PHOTOGRAPHS[scene.photograph].footage(self, scene.name, payload, content=[payload], known=known)

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Render the scene of ``payload`` into the folder ``scratch``; the path of the film without the object."""
        scene = _scene_of(payload)
        made = render(scene, width=payload["width"], height=payload["height"], levels=payload["levels"])
        parts = Path(scratch) / PARTS
        parts.mkdir()
        video.write_hole(parts / "object_mask.mp4", made.thing, fps=FRAMES_PER_SECOND)
        for level, frames in made.inputs.items():
            video.write_lossless(parts / f"input_{level}.mp4", frames, fps=FRAMES_PER_SECOND)
        facts = {
            "kind": scene.kind, "exact": True, "effects": dict(scene.variants()),
            "homographies": None if scene.water else made.film.homographies.tolist(),
            "object_speed_pixels": float(made.travelled[-1] / (len(made.travelled) - 1)),
        }  # fmt: skip
        (parts / "scene.json").write_text(json.dumps(facts))
        path = Path(scratch) / "truth.mp4"
        video.write_lossless(path, made.truth, fps=FRAMES_PER_SECOND)
        return str(path)


class EmbeddedBenchmark(SourceLeaf):
    """Films of photographs; the mask of every second one stands still, that of the others moves as an object does.

    Args (all constants):
        clips: how many.
        width: of the frames, in pixels.
        height: of the frames.
        frames: of each film.
        seed: of the scenes, the camera and the noise.

    Raises:
        InputError: a number that cannot be used.
    """

    name = "embedded_benchmark"
    version = "1"

    def __init__(
        self, *, clips: AtLeastOne = 8, width: Side = 432, height: Side = 240, frames: AtLeastOne = 24, seed: Seed = 0
    ) -> None:
        check_films("clip", clips, frames=frames, width=width, height=height)
        self.clips, self.width, self.height, self.frames, self.seed = clips, width, height, frames, seed

    def footage(self) -> Iterator[Footage]:
        """The films, in order."""
        for place, scene in enumerate(scenes(self.clips, frames=self.frames, seed=self.seed)):
            payload = {**_plain(scene), "width": self.width, "height": self.height, "stands": place % 2 == 0}
            yield PHOTOGRAPHS[scene.photograph].footage(self, scene.name, payload, content=[payload])

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Film the scene of ``payload`` into the folder ``scratch``; the path of the film."""
        made = render(_scene_of(payload), width=payload["width"], height=payload["height"], levels=())
        mask = made.thing
        if payload["stands"]:
            mask = np.repeat(mask[[int(mask.sum(axis=(1, 2)).argmax())]], len(mask), axis=0)
        (Path(scratch) / PARTS).mkdir()
        video.write_hole(Path(scratch) / PARTS / "object_mask.mp4", mask, fps=FRAMES_PER_SECOND)
        path = Path(scratch) / "film.mp4"
        video.write_lossless(path, made.truth, fps=FRAMES_PER_SECOND)
        return str(path)


def _plain(scene: Scene) -> dict[str, Any]:
    return {"scene": {**asdict(scene), "effects": list(scene.effects)}}


def _scene_of(payload: Mapping[str, Any]) -> Scene:
    given = {field.name: payload["scene"][field.name] for field in fields(Scene)}
    return Scene(**{**given, "effects": tuple(given["effects"])})
