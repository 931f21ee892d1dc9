"""Any mask generator over pictures or films that come with the program, for looking at."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.normalizers.cover import Cover
from inpaintbench.curation.sources import SOURCES, embedded
from inpaintbench.curation.sources.photographs import PHOTOGRAPHS
from inpaintbench.curation.timed_text import invented_timed_text
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.masks import render
from inpaintbench.masks.gallery import Panel, Tile
from inpaintbench.masks.gallery.markup import value_text
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.generators.blob_presets import PRESETS
from inpaintbench.masks.overlays.blend import over
from inpaintbench.types import Frames, Joint, Plain, TextEvent, item_rng

FPS = 25.0
_LONGEST_VALUE = 40
EXAMPLES: Mapping[tuple[str, str], str] = {
    ("devil_blobs", "preset"): f"one of {', '.join(PRESETS)}",
    ("saved_masks", "folder"): "where the masks lie, such as masks/DAVIS",
}
"""What a constant that has no default can be."""


@dataclass(frozen=True)
class Backdrop:
    """What masks are shown over."""

    name: str
    truth: Frames
    joints: tuple[Joint, ...] = ()
    timed_text: tuple[TextEvent, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)


def check(generator: str, constants: Plain) -> None:
    """Raise unless the generator can be built with these constants.

    Raises:
        UnknownNameError: no such generator.
        InputError: a constant that has no default is missing, or one that the generator does not take.
    """
    takes = inspect.signature(GENERATORS.get(generator)).parameters
    for name in constants:
        if name not in takes and not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
            raise InputError(f"{generator} cannot be built with {name}: {unknown_name('constant', name, list(takes))}")
    for name, one in takes.items():
        required = one.default is inspect.Parameter.empty and one.kind is inspect.Parameter.KEYWORD_ONLY
        if required and name not in constants:
            choices = EXAMPLES.get((generator, name))
            raise InputError(f"{generator} needs a {name}: --set {name}=...{f' ({choices})' if choices else ''}")
    try:
        render.build(generator, constants)
    except InputError as error:
        raise InputError(_with_options(error)) from error


def guessed(made: Sequence[Panel]) -> str | None:
    """One sentence where the polarity of masks was guessed, None where all are sure."""
    tiles = [tile for panel in made for tile in panel.tiles]
    found = [str(tile.drawn.facts["polarity"]) for tile in tiles if tile.drawn.facts.get("polarity_guessed") == "yes"]
    if not found:
        return None
    options = " or ".join(f"--set polarity={polarity}" for polarity in ("white_is_hole", "black_is_hole"))
    told = " and ".join(sorted(set(found)))
    return f"whether white or black is the hole was guessed for {len(found)} of {len(tiles)} masks ({told}); state it: {options}"


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
    tiles, refused = [], []
    for number in range(count):
        backdrop = backdrops[number % len(backdrops)]
        try:
            tiles.append(_tile(generator, constants, backdrop, number=number, seed=seed))
        except Rejected as error:
            refused.append((backdrop.name, _with_options(error)))
    area = constants.get("area")
    bounds = (float(area[0]), float(area[1])) if isinstance(area, list) and len(area) == 2 else None
    title = ", ".join(f"{name} {_short(value)}" for name, value in constants.items() if name not in shared) or "as it comes"
    return Panel(title, constants, tiles, area_bounds=bounds, refusals=_refusals(refused))


def _short(value: Any) -> str:
    """A constant for a title; of a long path its last name."""
    text = value_text(value)
    if len(text) <= _LONGEST_VALUE:
        return text
    last = text.rpartition("/")[2]
    return f"…/{last}" if len(last) <= _LONGEST_VALUE and last != text else f"{text[: _LONGEST_VALUE - 1]}…"


def _refusals(refused: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """One text for each refusal; the backdrop is named where it alone had that reason."""
    names = {reason: {name for name, other in refused if other == reason} for _, reason in refused}
    return tuple(reason if len(names[reason]) > 1 else f"{name}: {reason}" for name, reason in refused)


def _with_options(error: Exception) -> str:
    """What a generator says, with its constants in backquotes as options of the command."""
    return re.sub(r"`(\w+)(=\w+)?`", lambda found: f"--set {found[1]}{found[2] or '=...'}", str(error))


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
        InputError: no pictures in ``images``, a size that no embedded photograph has, or ``images`` where pictures do not do.
    """
    needs = GENERATORS.get(generator).needs
    if images is not None and (unfit := _why_no_pictures(needs, frames)):
        raise InputError(f"--images cannot be used: {unfit.format(generator=generator, frames=frames)}")
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


def _why_no_pictures(needs: Sequence[str], frames: int) -> str | None:
    if "joints" in needs:
        return "{generator} needs people with labelled joints, leave it out to see drawn ones"
    if "timed_text" in needs:
        return "{generator} needs films with text, leave it out to see those that come with the program"
    return "with {frames} frames masks are shown over films, leave it out or give --frames 1" if frames > 1 else None


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
