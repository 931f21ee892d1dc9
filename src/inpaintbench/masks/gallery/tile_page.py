"""One tile as its template shows it, and the short texts of the page: numbers, parameters, facts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from inpaintbench.masks.gallery.panels import Pictures, Tile, TileMeasurements
from inpaintbench.pages import words
from inpaintbench.pages.words import count
from inpaintbench.types import Joint, Plain

_LONGEST_CHIP = 36
# Of a list of words or a record, which may run over lines.
_LONGEST_WORDS = 76
_LONGEST_TITLE = 600


def percent(share: float) -> str:
    """A share in per cent: ``14.3 %``, with two decimals below one: a fingerprint's ridge is less than that."""
    return words.percent(share, 2 if 0 < share < 0.01 else 1)


def percent_range(low: float, high: float) -> str:
    """Two shares in per cent: ``12.1 – 15.3 %``, or one where both are printed the same."""
    return percent(high) if percent(low) == percent(high) else f"{percent(low).removesuffix(' %')} – {percent(high)}"


def bounds_text(low: float, high: float) -> str:
    """A bin in per cent: ``20 – 40 %``."""
    return f"{low * 100:.4g} – {high * 100:.4g} %"


def value_text(value: Any) -> str:
    """A parameter or fact as short text: numbers with at most 4 digits, words as many as fit, other lists by their length."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, Mapping):
        text = ", ".join(f"{name} {value_text(inner)}" for name, inner in value.items())
        return (text or "none") if len(text) <= _LONGEST_WORDS else count(len(value), "entry")
    return _list_text(list(value)) if isinstance(value, list | tuple) else str(value)


def _list_text(values: list[Any]) -> str:
    if not values:
        return "none"
    if any(isinstance(value, list | tuple | Mapping) for value in values):
        return count(len(values), "value")
    text = ", ".join(value_text(value) for value in values)
    if not all(isinstance(value, str) for value in values):
        return f"[{text}]" if len(text) + 2 <= _LONGEST_CHIP else count(len(values), "value")
    if len(text) <= _LONGEST_WORDS:
        return text
    fitting = 0
    while len(", ".join(values[: fitting + 1])) <= _LONGEST_WORDS:
        fitting += 1
    return f"{', '.join(values[:fitting])} and {len(values) - fitting} more" if fitting else count(len(values), "value")


def spread(facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Facts that a chip can say, and one more for each record in lists of named records, which a chip could only count."""
    lists = {}
    for name, values in facts.items():
        if isinstance(values, list | tuple) and values:
            names = [value.get("name") if isinstance(value, Mapping) else None for value in values]
            if all(isinstance(own, str) for own in names) and len(set(names)) == len(names):
                lists[name] = values
    plain = {name: value for name, value in facts.items() if name not in lists}
    records = [(f"{name}/{one['name']}", one) for name, values in lists.items() for one in values]
    return plain, {name: {key: value for key, value in one.items() if key != "name"} for name, one in records}


@dataclass(frozen=True)
class Chip:
    """A parameter or fact as a page shows it."""

    name: str
    text: str
    title: str
    """Full text that the text shortens."""


def chips(values: Mapping[str, Any]) -> list[Chip]:
    """Parameters or facts with short values."""
    made = []
    for name, value in values.items():
        short, full = value_text(value), value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
        longest = _LONGEST_WORDS if isinstance(value, list | tuple | Mapping) else _LONGEST_CHIP
        shortened = short if len(short) <= longest else short[: longest - 1] + "…"
        made.append(Chip(name, shortened, f"{name} = {full}"[:_LONGEST_TITLE]))
    return made


def common(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Parameters that all settings have in common."""
    first = settings[0]
    return {
        name: value for name, value in first.items() if all(name in setting and setting[name] == value for setting in settings)
    }


_BONES = (
    ("ankle", "knee"), ("knee", "hip"), ("hip", "pelvis"), ("pelvis", "thorax"), ("thorax", "upper_neck"),
    ("upper_neck", "head_top"), ("wrist", "elbow"), ("elbow", "shoulder"), ("shoulder", "upper_neck"),
)  # fmt: skip
_CHIPS_SHOWN = 6
_LINE_HEIGHT = 18


def tile_view(
    tile: Tile,
    measured: TileMeasurements,
    pictures: Pictures,
    *,
    names: Mapping[bytes, str],
    known: Plain,
    anchor: str,
    number: int,
) -> dict[str, Any]:
    """A tile as the template draws it; ``names`` gives the class that shows an encoded picture.

    Facts that only repeat what the panel says (``known``) or what was measured are left out, so that one that differs is seen.
    """
    frames, height, width = tile.truth.shape[:3]
    parts = "" if measured.components is None else count(measured.components, "part")
    value = percent(measured.value)
    named = ", ".join(filter(None, [f"{measured.quantity.noun.capitalize()} {number}", tile.caption]))
    changes = percent_range(min(measured.values), max(measured.values))
    extra = {f"{measured.quantity.name} over time": changes} if frames > 1 else {}
    if frames > 1 and measured.union is not None:
        extra["ever a hole"] = percent(measured.union)
    if measured.opacity is not None:
        extra["mean opacity"] = percent(measured.opacity)
    news = {
        name: fact
        for name, fact in tile.drawn.facts.items()
        # As texts, for a command line reads a name such as 11 as a number.
        if not (name in known and value_text(known[name]) == value_text(fact))
        and not measured.quantity.repeats(name, fact, measured.value)
    }
    facts, records = spread(extra | news)
    told, further = folded(facts | records, most=min(len(facts), _CHIPS_SHOWN))
    dots, bones = _skeleton(tile.joints)
    shown, last = pictures.shown, max(1, len(pictures.shown) - 1)
    # A small picture for each frame, with its place among those that are shown, 0..1.
    buttons = [
        {"number": frame, "at": place / last, "value": percent(measured.values[frame])} for place, frame in enumerate(shown)
    ]
    layers = {"truth": pictures.truth, "input": pictures.input, "hole": pictures.hole, "outline": pictures.outline}
    seen = f"frames {', '.join(map(str, shown))} of {frames}"
    return {
        "anchor": anchor,
        "number": number,
        "caption": tile.caption,
        "value": value,
        "parts": parts,
        "width": width,
        "height": height,
        "label": f"{named}: " + ", ".join(filter(None, [f"{measured.quantity.name} {value}", parts])),
        "shown": len(shown),
        "at": shown.index(measured.strongest_frame) / last,
        "layers": [(kind, names[data]) for kind, data in layers.items() if data is not None],
        "own_input": pictures.input is not None,
        "dots": dots,
        "bones": bones,
        "frames": buttons if frames > 1 else [],
        "frames_label": seen if pictures.over_time is None else f"{seen}, and the holes of all frames together",
        "together": "" if pictures.over_time is None else names[pictures.over_time],
        "line": _line(measured.values) if frames > 1 else "",
        "line_height": _LINE_HEIGHT,
        "line_label": f"{measured.quantity.name} over {frames} frames, {changes}",
        "chips": told,
        "further_chips": further,
    }


def folded(values: Mapping[str, Any], *, most: int) -> tuple[list[Chip], list[Chip]]:
    """Chips, and those after the first ``most``, which open on demand; one alone is not folded."""
    shown = chips(values)
    return (shown, []) if len(shown) <= most + 1 else (shown[:most], shown[most:])


def _line(values: Sequence[float]) -> str:
    """The value of each frame over time, from 0 to the largest; a pixel and more is left above for the line's width."""
    most, last = max(values) or 1.0, max(1, len(values) - 1)
    height = _LINE_HEIGHT - 3
    return " ".join(
        f"{100 * index / last:.1f},{_LINE_HEIGHT - 1 - height * value / most:.2f}" for index, value in enumerate(values)
    )


def _skeleton(joints: Sequence[Joint]) -> tuple[list[dict[str, Any]], list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Joints, and the bones between two of one person and side."""
    dots = []
    for joint in joints:
        side = joint.side if joint.side in ("left", "right") else "middle"
        name = " ".join(filter(None, [joint.side, joint.name.replace("_", " ")]))
        # The centre of the upper left pixel is (0, 0) for joints and (0.5, 0.5) for the drawing.
        dots.append({"x": joint.x + 0.5, "y": joint.y + 0.5, "side": side, "visible": joint.visible is not False, "name": name})
    bones = []
    for (one, start), (other, end) in product(zip(joints, dots, strict=True), repeat=2):
        same_limb = one.side is None or other.side is None or one.side == other.side
        if one.person == other.person and (one.name, other.name) in _BONES and same_limb:
            bones.append((start, end))
    return dots, bones
