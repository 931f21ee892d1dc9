"""Any mask generator or axis over pictures, films or prints that come with the program, for looking at."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from inpaintbench import video
from inpaintbench.catalogue import attribute_at, joined, unknown_name
from inpaintbench.curation.invented_text import invented_timed_text
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.curation.sources import SOURCES, embedded
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.masks import render
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.axes.presets import PresetAxis, paired_blob
from inpaintbench.masks.axis_versions import input_of
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.gallery import Panel, Tile
from inpaintbench.masks.gallery.tile_page import value_text
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.overlays.raster import over
from inpaintbench.types import Frames, Joint, Plain, item_rng

FPS = 25.0
# Of pictures, where nobody asks for another.
SIZE = "256x256"
NOWHERE: Plain = MappingProxyType({})
# Length of films that axes are shown on, and the blob that they change: large, stiff, and near where it was.
AXIS_FRAMES, AXIS_BLOB = 48, "size-high_pose-low_displacement-low"
_LONGEST_VALUE = 40
# What a constant that has no default can be.
EXAMPLES: Mapping[tuple[str, str], str] = {
    ("devil_blobs", "preset"): f"one of {', '.join(PRESETS)}",
    ("saved_masks", "folder"): "where the masks lie, such as masks/DAVIS",
}


@dataclass(frozen=True)
class Backdrop:
    """Pictures that masks are shown over."""

    name: str
    truth: Frames
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the view, for generators that need them: ``joints``, ``timed_text``, ``undistorted``, ``print``."""


class Stills(NamedTuple):
    """Still pictures that generators are shown over which need a part of the view that no film or photograph has."""

    size: str
    """Usual one, ``WxH``."""
    make: Callable[[int, int, int, int], list[Backdrop]]
    """From how many, width, height and seed."""
    over_photographs: Callable[[Sequence[Plain], Path], tuple[list[dict[str, Any]], dict[str, Any]]]
    """From settings and the user's folder: the settings of a generator that lays them on photographs, and where those lie."""
    refused: str
    """Why several frames do not do; ``{generator}`` and ``{frames}`` stand in it."""


def own_stills(generator: str) -> Stills | None:
    """What a generator with needs of its own is shown over; None for all others."""
    of_need = joined("backdrop")
    return next((attribute_at(of_need[need]) for need in GENERATORS.get(generator).needs if need in of_need), None)


def check(generator: str, constants: Plain, *, where: Plain = NOWHERE) -> None:
    """Raise unless the generator can be built with these constants, and ``where``.

    Raises:
        UnknownNameError: no such generator.
        InputError: a constant that has no default is missing, or one that the generator does not take.
    """
    takes = inspect.signature(GENERATORS.get(generator)).parameters
    for name in constants:
        if name not in takes and not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in takes.values()):
            raise InputError(f"{generator} cannot be built with {name}: {unknown_name('constant', name, list(takes))}")
    for name, parameter in takes.items():
        required = parameter.default is inspect.Parameter.empty and parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if required and name not in constants:
            choices = EXAMPLES.get((generator, name))
            raise InputError(f"{generator} needs a {name}: --set {name}=...{f' ({choices})' if choices else ''}")
    try:
        render.build(generator, {**constants, **where})
    except InputError as error:
        raise InputError(_with_options(error)) from error


def guessed(made: Sequence[Panel]) -> str | None:
    """One sentence where the polarity of masks was guessed, None where all are sure."""
    tiles = [tile for panel in made for tile in panel.tiles]
    known = [str(tile.drawn.facts["polarity"]) for tile in tiles if tile.drawn.facts.get("polarity_guessed") == "yes"]
    if not known:
        return None
    options = " or ".join(f"--set polarity={polarity}" for polarity in ("white_is_hole", "black_is_hole"))
    sorts = " and ".join(sorted(set(known)))
    return f"whether white or black is the hole was guessed for {len(known)} of {len(tiles)} masks ({sorts}); state it: {options}"


def panels(
    generator: str, settings: Sequence[Plain], backdrops: Sequence[Backdrop], *, count: int, seed: int, where: Plain = NOWHERE
) -> list[Panel]:
    """One panel a setting, each with ``count`` masks over the backdrops in turn; ``where`` is as in ``render``.

    Raises:
        UnknownNameError: no such generator.
        InputError: constants that the generator does not take.
    """
    shared = {name for name in settings[0] if all(constants.get(name) == settings[0][name] for constants in settings)}
    made = []
    for constants in settings:
        tile = partial(_tile, generator, constants, where=where, seed=seed)
        numbered = [(number, backdrops[number % len(backdrops)]) for number in range(count)]
        made.append(_panel(constants, numbered, tile, shared=shared if len(settings) > 1 else set()))
    return made


def axis_panels(axis: str, films: Sequence[Backdrop], *, seed: int) -> list[Panel]:
    """One panel a level, each with the same films; those of an axis that films with a camera stand still.

    Raises:
        UnknownNameError: no such axis.
    """
    leaf, numbered = AXES.get(axis)(), list(enumerate(films))
    return [_panel({"level": level}, numbered, partial(_version, leaf, level, seed=seed), shared=set()) for level in leaf.levels]


def _version(leaf: Axis, level: str, backdrop: Backdrop, *, number: int, seed: int) -> Tile:
    truth = backdrop.truth
    if leaf.needs_still_camera:
        truth = np.broadcast_to(truth[:1], truth.shape)
    frames, height, width = truth.shape[:3]
    preset = leaf.flipped(AXIS_BLOB, level) if isinstance(leaf, PresetAxis) else AXIS_BLOB
    missing = render.generate(
        "devil_blobs", paired_blob(preset), seed=seed, draw=str(number), frames=frames, height=height, width=width
    ).hole
    assert missing is not None, "blobs are holes"
    truth, fps = leaf.clip(level, truth, FPS) or (truth, FPS)
    hole = leaf.hole(level, missing, item_rng(seed, "preview axis", str(number)))
    seen = input_of(leaf, level, truth, hole, missing, fps=fps, draw=str(number), seed=seed)
    facts = leaf.facts(level, frames=frames, height=height, width=width)
    return Tile(np.ascontiguousarray(truth), Drawn(hole, facts), caption=backdrop.name, input=seen)


def _panel(constants: Plain, numbered: Sequence[tuple[int, Backdrop]], tile: Callable[..., Tile], *, shared: set[str]) -> Panel:
    tiles, refused = [], []
    for number, backdrop in numbered:
        try:
            tiles.append(tile(backdrop, number=number))
        except Rejected as error:
            refused.append((backdrop.name, _with_options(error)))
    area = constants.get("area")
    bounds = (float(area[0]), float(area[1])) if isinstance(area, list) and len(area) == 2 else None
    title = ", ".join(f"{name} {_short(value)}" for name, value in constants.items() if name not in shared) or "as it comes"
    # One text for each refusal; the backdrop is named where it alone had that reason.
    names = {reason: {name for name, other in refused if other == reason} for _, reason in refused}
    refusals = tuple(reason if len(names[reason]) > 1 else f"{name}: {reason}" for name, reason in refused)
    return Panel(title, constants, tiles, area_bounds=bounds, refusals=refusals)


def _short(value: Any) -> str:
    """A constant for a title; of a long path its last name."""
    text = value_text(value)
    if len(text) <= _LONGEST_VALUE:
        return text
    last = text.rpartition("/")[2]
    return f"…/{last}" if len(last) <= _LONGEST_VALUE and last != text else f"{text[: _LONGEST_VALUE - 1]}…"


def _with_options(error: Exception) -> str:
    """Documentation of a generator, with its constants in backquotes as options of the command."""
    return re.sub(r"`(\w+)(=\w+)?`", lambda match: f"--set {match[1]}{match[2] or '=...'}", str(error))


def _tile(generator: str, constants: Plain, backdrop: Backdrop, *, where: Plain, number: int, seed: int) -> Tile:
    frames, height, width = backdrop.truth.shape[:3]
    draw, parts = str(number), backdrop.parts
    drawn = render.generate(
        generator, constants, where=where, seed=seed, frames=frames, height=height, width=width, fps=FPS, draw=draw, parts=parts
    )
    seen = None if drawn.alpha is None or drawn.colour is None else over(backdrop.truth, drawn.alpha, drawn.colour)
    return Tile(backdrop.truth, drawn, caption=backdrop.name, joints=backdrop.parts.get("joints", ()), input=seen)


def backdrops(
    generator: str, *, width: int, height: int, frames: int, count: int, seed: int, images: Path | None = None
) -> list[Backdrop]:
    """Backdrops of a generator: people for joints, films for text, prints, photographs (or the user's pictures) for the others.

    Raises:
        InputError: no pictures in ``images``, a size that no embedded photograph has or that is too small for a print,
            ``images`` where pictures do not do, or several frames of prints.
    """
    needs = GENERATORS.get(generator).needs
    if stills := own_stills(generator):
        if frames > 1:
            raise InputError(stills.refused.format(generator=generator, frames=frames))
        return stills.make(count, width, height, seed)
    if images is not None and (unfit := _why_no_pictures(needs, frames)):
        raise InputError(f"--images cannot be used: {unfit.format(generator=generator, frames=frames)}")
    if "joints" in needs:
        return list(_people(count, seed))
    pictures = list(_pictures(images, Cover(width=width, height=height), count))
    if frames > 1 or "timed_text" in needs:
        pictures = list(films(width, height, max(frames, 2), count))
    if "timed_text" in needs:
        seconds = len(pictures[0].truth) / FPS
        draw = partial(item_rng, seed, "preview text")
        texts = [{"timed_text": invented_timed_text(seconds, draw(str(number)))} for number in range(len(pictures))]
        return [replace(picture, parts=parts) for picture, parts in zip(pictures, texts, strict=True)]
    return pictures


def _why_no_pictures(needs: Sequence[str], frames: int) -> str | None:
    if "joints" in needs:
        return "{generator} needs people with labelled joints, leave it out to see drawn ones"
    if "timed_text" in needs:
        return "{generator} needs films with text, leave it out to see those that come with the program"
    return "with {frames} frames masks are shown over films, leave it out or give --frames 1" if frames > 1 else None


def _people(count: int, seed: int) -> Iterator[Backdrop]:
    constants: dict[str, Any] = {"count": count, "seed": seed}
    leaf = SOURCES.get("drawn_people")(**constants)
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as scratch:
        for piece in leaf.footage():
            truth = video.read_frames(leaf.obtain(piece.payload, scratch))
            yield Backdrop(piece.name, truth, {"joints": tuple(Joint(**joint) for joint in piece.data["joints"])})


def _pictures(images: Path | None, cover: Cover, count: int) -> Iterator[Backdrop]:
    if images is None:
        free = sorted(name for name, photograph in PHOTOGRAPHS.items() if photograph.licence)
        paths = [(name, PHOTOGRAPHS[name].path()) for name in free]
    else:
        pictures = (path for path in sorted(images.rglob("*")) if video.is_image(path))
        paths = [(path.name, path) for path in pictures if not video.is_hidden(path.relative_to(images))]
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


def films(width: int, height: int, frames: int, count: int) -> Iterator[Backdrop]:
    """At most six of the films that come with the program."""
    shots = [
        shot for shot in embedded.shots(24, width=width, height=height, frames=frames) if PHOTOGRAPHS[shot.photograph].licence
    ]
    for shot in shots[: min(count, 6)]:
        film = embedded.film(shot, width=width, height=height)
        yield Backdrop(shot.name.partition("_")[2], np.ascontiguousarray(film.frames))
