"""One tile as HTML: its layered picture, for clips a row of frames, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from inpaintbench.masks.gallery.markup import count, folded_chips, percent, percent_range, spread, value_text
from inpaintbench.masks.gallery.panels import Tile, TileMeasurements
from inpaintbench.masks.gallery.pictures import Pictures
from inpaintbench.masks.gallery.plots import line_over_frames
from inpaintbench.types import Joint, Plain

_BONES = (
    ("ankle", "knee"), ("knee", "hip"), ("hip", "pelvis"), ("pelvis", "thorax"), ("thorax", "upper_neck"),
    ("upper_neck", "head_top"), ("wrist", "elbow"), ("elbow", "shoulder"), ("shoulder", "upper_neck"),
)  # fmt: skip
_CHIPS_SHOWN = 6


def tile_figure(
    tile: Tile,
    measured: TileMeasurements,
    pictures: Pictures,
    *,
    names: Mapping[bytes, str],
    known: Plain,
    anchor: str,
    number: int,
) -> str:
    """The figure of a tile; ``names`` gives the class that shows an encoded picture.

    Facts that only repeat what the panel says (``known``) or what was measured are left out, so that one that differs is seen.
    """
    frames, height, width = tile.truth.shape[:3]
    rest = pictures.shown.index(measured.strongest_frame)
    layers = _layers(pictures, names)
    style = f"--shape:{width}/{height};--n:{len(pictures.shown)};--at:{_place(rest, pictures):.4f}"
    kinds = " ".join(["tile", *(["clip"] if frames > 1 else []), *(["own-input"] if pictures.input else [])])
    facts, records = spread(_extra(tile, measured) | _news(tile, measured, known))
    told = folded_chips(facts | records, label="What the generator says", most=min(len(facts), _CHIPS_SHOWN))
    caption = f'<span class="caption" title="{escape(tile.caption)}">{escape(tile.caption)}</span>' if tile.caption else ""
    named = ", ".join([f"{measured.quantity.noun.capitalize()} {number}", *([tile.caption] if tile.caption else [])])
    label = escape(f"{named}: {_words(measured)}")
    return (
        f'<figure class="{kinds}" id="{anchor}" style="{style}">'
        f'<div class="picture" role="img" aria-label="{label}">{layers}{_joints(tile.joints, width, height)}</div>'
        f"{_frames(tile, measured, pictures, names, layers) if frames > 1 else ''}"
        f'<figcaption><div class="label"><a class="number" href="#{anchor}">{number}</a>'
        f"<b>{percent(measured.value)}</b>{''.join(f'<span>{part}</span>' for part in _parts(measured))}{caption}</div>"
        f"{told}</figcaption></figure>"
    )


def _words(measured: TileMeasurements) -> str:
    return ", ".join([f"{measured.quantity.name} {percent(measured.value)}", *_parts(measured)])


def _parts(measured: TileMeasurements) -> list[str]:
    return [] if measured.components is None else [count(measured.components, "part")]


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


def _layers(pictures: Pictures, names: Mapping[bytes, str]) -> str:
    shown = [("truth", pictures.truth), ("input", pictures.input), ("hole", pictures.hole), ("outline", pictures.outline)]
    return "".join(f'<i class="layer {kind} {names[data]}"></i>' for kind, data in shown if data is not None)


def _place(index: int, pictures: Pictures) -> float:
    return index / max(1, len(pictures.shown) - 1)


def _frames(tile: Tile, measured: TileMeasurements, pictures: Pictures, names: Mapping[bytes, str], layers: str) -> str:
    """Small pictures of the shown frames, which a pointer or a press brings into the large one, and of all holes together."""
    buttons = "".join(
        f'<button type="button" class="thumb" style="--at:{_place(index, pictures):.4f}" aria-label="Frame {frame}"'
        f' title="Frame {frame}: {percent(measured.values[frame])}">{layers}</button>'
        for index, frame in enumerate(pictures.shown)
    )
    together, seen = "", f"frames {', '.join(map(str, pictures.shown))} of {len(tile.truth)}"
    if pictures.over_time is not None:
        title = "How often each pixel is hole: black never, yellow always"
        together = (
            f'<span class="thumb together {names[pictures.over_time]}" role="img" aria-label="{title}" title="{title}"></span>'
        )
        seen = f"{seen}, and the holes of all frames together"
    line = line_over_frames(measured.values, name=measured.quantity.name)
    return f'<div class="frames" role="group" aria-label="{seen}">{buttons}{together}</div>{line}'


def _joints(joints: Sequence[Joint], width: int, height: int) -> str:
    if not joints:
        return ""
    dots = "".join(_joint(joint, radius=max(width, height) / 80) for joint in joints)
    return f'<svg class="joints" viewBox="0 0 {width} {height}" aria-hidden="true">{_bones(joints)}{dots}</svg>'


def _joint(joint: Joint, *, radius: float) -> str:
    kind = joint.side if joint.side in ("left", "right") else "middle"
    kinds = f"{kind} hidden-joint" if joint.visible is False else kind
    name = " ".join([*([joint.side] if joint.side else []), joint.name.replace("_", " ")])
    # The centre of the upper left pixel is (0, 0) for joints and (0.5, 0.5) for the drawing.
    place = f'cx="{joint.x + 0.5:.1f}" cy="{joint.y + 0.5:.1f}" r="{radius:.1f}"'
    return f'<circle class="{kinds}" {place}><title>{escape(name)}</title></circle>'


def _bones(joints: Sequence[Joint]) -> str:
    return "".join(
        f'<line x1="{one.x + 0.5:.1f}" y1="{one.y + 0.5:.1f}" x2="{other.x + 0.5:.1f}" y2="{other.y + 0.5:.1f}"/>'
        for one in joints
        for other in joints
        if one.person == other.person and (one.name, other.name) in _BONES and _same_limb(one, other)
    )


def _same_limb(one: Joint, other: Joint) -> bool:
    return one.side is None or other.side is None or one.side == other.side
