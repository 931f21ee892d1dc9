"""One tile as its template shows it: layers of pictures, for clips a row of frames, and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inpaintbench.masks.gallery.facts import Chip, chips, percent, percent_range, spread, value_text
from inpaintbench.masks.gallery.panels import Tile, TileMeasurements
from inpaintbench.masks.gallery.pictures import Pictures
from inpaintbench.pages.words import count
from inpaintbench.types import Joint, Plain

_BONES = (
    ("ankle", "knee"), ("knee", "hip"), ("hip", "pelvis"), ("pelvis", "thorax"), ("thorax", "upper_neck"),
    ("upper_neck", "head_top"), ("wrist", "elbow"), ("elbow", "shoulder"), ("shoulder", "upper_neck"),
)  # fmt: skip
_CHIPS_SHOWN = 6
_LINE_HEIGHT = 18


@dataclass(frozen=True)
class Dot:
    """A joint as it is drawn, in pixels of the picture whose upper left corner is (0, 0)."""

    x: float
    y: float
    side: str
    """``left``, ``right`` or ``middle``."""
    visible: bool
    name: str


@dataclass(frozen=True)
class FrameButton:
    """A small picture of one frame."""

    number: int
    at: float
    """Its place among the frames that are shown, 0..1."""
    value: str


@dataclass(frozen=True)
class TileView:
    """One tile as the template draws it."""

    anchor: str
    number: int
    label: str
    """Description of what it shows, for screen readers."""
    caption: str
    value: str
    parts: str
    """Number of connected parts of the hole; empty without a hole."""
    width: int
    height: int
    shown: int
    """Frames side by side in a layer."""
    at: float
    """Place of the strongest frame among them, 0..1."""
    layers: tuple[tuple[str, str], ...]
    """Kind of each layer, and the class of its picture."""
    own_input: bool
    """True when a method sees more than the truth with its hole in black."""
    dots: tuple[Dot, ...]
    bones: tuple[tuple[Dot, Dot], ...]
    frames: tuple[FrameButton, ...]
    """Empty for a still image."""
    frames_label: str
    together: str
    """Class of the picture of all holes together, empty where there is none."""
    line: str
    """Points of the values over frames, in a box of 100 by ``line_height``."""
    line_label: str
    chips: list[Chip]
    further_chips: list[Chip]
    line_height: int = _LINE_HEIGHT


def tile_view(
    tile: Tile,
    measured: TileMeasurements,
    pictures: Pictures,
    *,
    names: Mapping[bytes, str],
    known: Plain,
    anchor: str,
    number: int,
) -> TileView:
    """A tile; ``names`` gives the class that shows an encoded picture.

    Facts that only repeat what the panel says (``known``) or what was measured are left out, so that one that differs is seen.
    """
    frames, height, width = tile.truth.shape[:3]
    parts = "" if measured.components is None else count(measured.components, "part")
    value = percent(measured.value)
    named = ", ".join(filter(None, [f"{measured.quantity.noun.capitalize()} {number}", tile.caption]))
    facts, records = spread(_extra(tile, measured) | _news(tile, measured, known))
    told, further = folded(facts | records, most=min(len(facts), _CHIPS_SHOWN))
    dots = tuple(map(_dot, tile.joints))
    clip = frames > 1
    seen = f"frames {', '.join(map(str, pictures.shown))} of {frames}"
    return TileView(
        anchor=anchor, number=number, caption=tile.caption, value=value, parts=parts, width=width, height=height,
        label=f"{named}: " + ", ".join(filter(None, [f"{measured.quantity.name} {value}", parts])),
        shown=len(pictures.shown), at=_place(pictures.shown.index(measured.strongest_frame), pictures),
        layers=_layers(pictures, names), own_input=pictures.input is not None, dots=dots, bones=_bones(tile.joints, dots),
        frames=_frames(measured, pictures) if clip else (),
        frames_label=seen if pictures.over_time is None else f"{seen}, and the holes of all frames together",
        together="" if pictures.over_time is None else names[pictures.over_time],
        line=_line(measured.values) if clip else "",
        line_label=f"{measured.quantity.name} over {frames} frames, {percent_range(min(measured.values), max(measured.values))}",
        chips=told, further_chips=further,
    )  # fmt: skip


def folded(values: Mapping[str, Any], *, most: int) -> tuple[list[Chip], list[Chip]]:
    """Chips, and those after the first ``most``, which open on demand; one alone is not folded."""
    shown = chips(values)
    return (shown, []) if len(shown) <= most + 1 else (shown[:most], shown[most:])


def _extra(tile: Tile, measured: TileMeasurements) -> dict[str, str]:
    """Measured on clips and on overlays only."""
    found = {}
    if len(tile.truth) > 1:
        found[f"{measured.quantity.name} over time"] = percent_range(min(measured.values), max(measured.values))
    if len(tile.truth) > 1 and measured.union is not None:
        found["ever a hole"] = percent(measured.union)
    if measured.opacity is not None:
        found["mean opacity"] = percent(measured.opacity)
    return found


def _news(tile: Tile, measured: TileMeasurements, known: Plain) -> dict[str, Any]:
    # As texts, for a command line reads a name such as 11 as a number.
    return {
        name: value
        for name, value in tile.drawn.facts.items()
        if not (name in known and value_text(known[name]) == value_text(value))
        and not measured.quantity.repeats(name, value, measured.value)
    }


def _layers(pictures: Pictures, names: Mapping[bytes, str]) -> tuple[tuple[str, str], ...]:
    shown = [("truth", pictures.truth), ("input", pictures.input), ("hole", pictures.hole), ("outline", pictures.outline)]
    return tuple((kind, names[data]) for kind, data in shown if data is not None)


def _place(index: int, pictures: Pictures) -> float:
    return index / max(1, len(pictures.shown) - 1)


def _frames(measured: TileMeasurements, pictures: Pictures) -> tuple[FrameButton, ...]:
    return tuple(
        FrameButton(frame, _place(index, pictures), percent(measured.values[frame])) for index, frame in enumerate(pictures.shown)
    )


def _line(values: Sequence[float]) -> str:
    """The value of each frame over time, from 0 to the largest; a pixel and more is left above for the line's width."""
    most, last = max(values) or 1.0, max(1, len(values) - 1)
    height = _LINE_HEIGHT - 3
    return " ".join(
        f"{100 * index / last:.1f},{_LINE_HEIGHT - 1 - height * value / most:.2f}" for index, value in enumerate(values)
    )


def _dot(joint: Joint) -> Dot:
    side = joint.side if joint.side in ("left", "right") else "middle"
    name = " ".join(filter(None, [joint.side, joint.name.replace("_", " ")]))
    # The centre of the upper left pixel is (0, 0) for joints and (0.5, 0.5) for the drawing.
    return Dot(joint.x + 0.5, joint.y + 0.5, side, joint.visible is not False, name)


def _bones(joints: Sequence[Joint], dots: Sequence[Dot]) -> tuple[tuple[Dot, Dot], ...]:
    pairs = list(zip(joints, dots, strict=True))
    return tuple(
        (start, end)
        for one, start in pairs
        for other, end in pairs
        if one.person == other.person and (one.name, other.name) in _BONES and _same_limb(one, other)
    )


def _same_limb(one: Joint, other: Joint) -> bool:
    return one.side is None or other.side is None or one.side == other.side
