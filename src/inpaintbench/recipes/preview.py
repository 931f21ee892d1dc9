"""Any mask generator over pictures or films that come with the program, for looking at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.curation.normalizers.cover import Cover
from inpaintbench.curation.sources import SOURCES, embedded
from inpaintbench.curation.sources.photographs import PHOTOGRAPHS
from inpaintbench.curation.timed_text import invented_timed_text
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.masks import render
from inpaintbench.masks.gallery import Panel, Tile
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.overlays.blend import over
from inpaintbench.types import Frames, Joint, Plain, TextEvent, item_rng

FPS = 25.0


@dataclass(frozen=True)
class Backdrop:
    """What masks are shown over."""

    name: str
    truth: Frames
    joints: tuple[Joint, ...] = ()
    timed_text: tuple[TextEvent, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)


def panels(generator: str, settings: Sequence[Plain], backdrops: Sequence[Backdrop], *, count: int, seed: int) -> list[Panel]:
    """One panel a setting, each with ``count`` masks over the backdrops in turn.

    Raises:
        UnknownNameError: no such generator.
        InputError: constants that the generator does not take.
    """
    shared = {name for name in settings[0] if all(constants.get(name) == settings[0][name] for constants in settings)}
    return [
        _panel(generator, constants, backdrops, count=count, seed=seed, shared=shared if len(settings) > 1 else set())
        for constants in settings
    ]


def _panel(generator: str, constants: Plain, backdrops: Sequence[Backdrop], *, count: int, seed: int, shared: set[str]) -> Panel:
    tiles, refusals = [], []
    for number in range(count):
        backdrop = backdrops[number % len(backdrops)]
        try:
            tiles.append(_tile(generator, constants, backdrop, number=number, seed=seed))
        except Rejected as error:
            refusals.append(f"{backdrop.name}: {error}")
    area = constants.get("area")
    bounds = (float(area[0]), float(area[1])) if isinstance(area, list) and len(area) == 2 else None
    title = ", ".join(f"{name} {value}" for name, value in constants.items() if name not in shared) or "as it comes"
    return Panel(title, constants, tiles, area_bounds=bounds, refusals=tuple(refusals))


def _tile(generator: str, constants: Plain, backdrop: Backdrop, *, number: int, seed: int) -> Tile:
    needs = GENERATORS.get(generator).needs
    parts = {name: getattr(backdrop, name) for name in ("joints", "timed_text") if name in needs}
    frames, height, width = backdrop.truth.shape[:3]
    drawn = render.generate(
        generator, constants, seed=seed, frames=frames, height=height, width=width, fps=FPS, draw=str(number), parts=parts
    )
    seen = None if drawn.alpha is None or drawn.colour is None else over(backdrop.truth, drawn.alpha, drawn.colour)
    return Tile(backdrop.truth, drawn, caption=backdrop.name, joints=backdrop.joints, input=seen)


def backdrops(
    generator: str, *, width: int, height: int, frames: int, count: int, seed: int, images: Path | None = None
) -> list[Backdrop]:
    """What suits a generator: people for joints, films for text, photographs (or the user's pictures) for the others.

    Raises:
        InputError: no pictures in ``images``, or a size that no embedded photograph has.
    """
    needs = GENERATORS.get(generator).needs
    if "joints" in needs:
        return list(_people(count, seed))
    pictures = list(_pictures(images, Cover(width=width, height=height), count))
    if frames > 1 or "timed_text" in needs:
        pictures = list(_films(width, height, max(frames, 2), count))
    if "timed_text" in needs:
        seconds = len(pictures[0].truth) / FPS
        draw = partial(item_rng, seed, "preview text")
        return [Backdrop(p.name, p.truth, timed_text=invented_timed_text(seconds, draw(str(k)))) for k, p in enumerate(pictures)]
    return pictures


def _people(count: int, seed: int) -> Iterator[Backdrop]:
    leaf = SOURCES.get("drawn_people")(count=count, seed=seed)
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as scratch:
        for piece in leaf.footage():
            truth = video.read_frames(leaf.obtain(piece.payload, scratch))
            yield Backdrop(piece.name, truth, joints=tuple(Joint(**joint) for joint in piece.data["joints"]))


def _pictures(images: Path | None, cover: Cover, count: int) -> Iterator[Backdrop]:
    if images is None:
        free = sorted(name for name, photograph in PHOTOGRAPHS.items() if photograph.licence)
        paths = [(name, PHOTOGRAPHS[name].path()) for name in free]
    else:
        paths = [(path.name, path) for path in sorted(images.rglob("*")) if video.is_image(path)]
        if not paths:
            raise InputError(f"{str(images)!r} holds no pictures")
    readable = 0
    for name, path in paths:
        if readable == count:
            return
        try:
            picture = cover.apply(video.read_image(path), pixel_aspect=1.0)
        except MediaError:
            continue
        readable += 1
        yield Backdrop(name, picture[None])
    if not readable:
        raise InputError(f"not one picture in {str(images)!r} can be read")


def _films(width: int, height: int, frames: int, count: int) -> Iterator[Backdrop]:
    shots = [
        shot for shot in embedded.shots(24, width=width, height=height, frames=frames) if PHOTOGRAPHS[shot.photograph].licence
    ]
    for shot in shots[: min(count, 6)]:
        film = embedded.film(shot, width=width, height=height)
        yield Backdrop(shot.name.partition("_")[2], np.ascontiguousarray(film.frames))
