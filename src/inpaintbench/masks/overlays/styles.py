"""Styles of subtitles: the grid to draw from, and the styles of ASS files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError
from inpaintbench.types import Plain

Difficulty = Literal["easy", "medium", "hard", "any"]
Background = Literal["none", "box-per-line", "box"]
# Red, green, blue, opacity: 0 ... 255.
Rgba = tuple[int, int, int, int]

COLOURS: Mapping[str, tuple[int, int, int]] = {
    "white": (255, 255, 255),
    "yellow": (255, 255, 0),
    "cyan": (0, 255, 255),
    "magenta": (255, 0, 255),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
}
SIZE_FRACTIONS = (0.045, 0.06, 0.08, 0.11)
# Share of the frame's width that a line may take.
WIDTH_FRACTION = 0.92
# Height of frame, rows, that widths of outlines refer to.
REFERENCE_HEIGHT = 256
# Padding of a box around its text, in ems.
PADDING_FRACTION = 0.12
# Smallest em in pixels, and largest as a fraction of the height; sizes in files are clipped to this range.
LEAST_PIXELS, MOST_FRACTION = 5.0, 0.3


@dataclass(frozen=True)
class Style:
    """Style of the grid, independent of the frame size. Source of the grid: the clips of the ChaLearn 2018 challenge."""

    family: str = "bundled"
    size_fraction: float = 0.06
    """One em, as a fraction of the frame's height."""
    colour: str = "white"
    bold: bool = False
    italic: bool = False
    background: Background = "none"
    box_alpha: float = 1.0
    """Opacity of the black box, 0..1."""
    outline_pixels: float = 0.0
    """Width of the black outline in a frame of 256 rows; it grows with the frame."""
    alignment: int = 2
    """As on a number pad: 1-3 at the bottom, 4-6 in the middle, 7-9 at the top."""
    lines_most: int = 4

    def __post_init__(self) -> None:
        known_name("subtitle colour", self.colour, COLOURS)
        known_name("subtitle background", self.background, get_args(Background))
        for name, low, high in _RANGES:
            if not low <= getattr(self, name) <= high:
                raise InputError(f"the subtitle style's {name} is {getattr(self, name)}, it must lie within {low}..{high}")


_RANGES = (
    ("size_fraction", 0.01, MOST_FRACTION),
    ("box_alpha", 0, 1),
    ("outline_pixels", 0, 8),
    ("alignment", 1, 9),
    ("lines_most", 1, 4),
)


@dataclass(frozen=True)
class Look:
    """Look of a run of letters."""

    family: str
    pixels: float
    """One em."""
    colour: Rgba
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    substitute: bool = False
    """True if another family may substitute: subtitle files name fonts that few machines have."""


@dataclass(frozen=True)
class PixelStyle:
    """Style in pixels of one frame size."""

    look: Look
    background: Background
    box: Rgba
    padding: int
    outline_pixels: float
    outline: Rgba
    shadow_pixels: float
    shadow: Rgba
    alignment: int
    margins: tuple[int, int, int]
    """Left, right, vertical."""
    lines_most: int
    unit: float = 1.0
    """Pixels of one unit of the sizes in override tags."""


def draw_style(rng: np.random.Generator, difficulty: Difficulty = "any", *, families: Sequence[str] = ("bundled",)) -> Style:
    """Draw a style of the grid: ``easy`` small, no box; ``medium`` larger, half transparent box; ``hard`` large, opaque box.

    Raises:
        UnknownNameError: no such difficulty.
    """
    known_name("subtitle difficulty", difficulty, get_args(Difficulty))
    sizes, boxes, lines = {
        "easy": (SIZE_FRACTIONS[:2], (("none", 1.0),), 2),
        "medium": (SIZE_FRACTIONS[1:3], (("box-per-line", 0.5), ("box", 0.5)), 3),
        "hard": (SIZE_FRACTIONS[2:], (("box-per-line", 1.0), ("box", 1.0)), 4),
        "any": (SIZE_FRACTIONS, (("none", 1.0), ("box-per-line", 0.5), ("box-per-line", 1.0), ("box", 0.5), ("box", 1.0)), 4),
    }[difficulty]
    weight = _pick(rng, ("regular", "bold", "italic"))
    background, box_alpha = _pick(rng, boxes)
    return Style(
        family=_pick(rng, families),
        size_fraction=_pick(rng, sizes),
        colour=_pick(rng, tuple(COLOURS)),
        bold=weight == "bold",
        italic=weight == "italic",
        background=background,
        box_alpha=box_alpha,
        outline_pixels=_pick(rng, (0.0, 1.0, 2.0)),
        lines_most=lines,
    )


def _pick(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def check_fields(fixed: Plain) -> None:
    """Check that ``fixed`` names fields of ``Style`` with values of their type and range.

    Raises:
        UnknownNameError: an unknown field, colour or background.
        InputError: a value of another type or out of range.
    """
    kinds = {field.name: type(field.default) for field in fields(Style)}
    for name, value in fixed.items():
        known_name("field of a subtitle style", name, kinds)
        fits = (
            isinstance(value, (int, float)) and not isinstance(value, bool)
            if kinds[name] is float
            else type(value) is kinds[name]
        )
        if not fits:
            raise InputError(f"the subtitle style's {name} is {value!r}, it must be a {kinds[name].__name__}")
    replace(Style(), **fixed)


def in_pixels(style: Style, *, height: int, width: int) -> PixelStyle:
    """Convert ``style`` to pixels of a frame of ``height`` x ``width``."""
    em = max(LEAST_PIXELS, style.size_fraction * height)
    side = round((1 - WIDTH_FRACTION) / 2 * width)
    look = Look(style.family, em, (*COLOURS[style.colour], 255), style.bold, style.italic)
    return PixelStyle(
        look=look,
        background=style.background,
        box=(0, 0, 0, round(255 * style.box_alpha)),
        padding=max(1, round(PADDING_FRACTION * em)),
        outline_pixels=style.outline_pixels * height / REFERENCE_HEIGHT,
        outline=(0, 0, 0, 255),
        shadow_pixels=0.0,
        shadow=(0, 0, 0, 0),
        alignment=style.alignment,
        margins=(side, side, round(0.035 * height)),
        lines_most=style.lines_most,
        unit=height / 288,  # the resolution that players assume for sizes in SubRip files
    )


def stated(fields_: Plain, base: PixelStyle, *, height: int, width: int) -> PixelStyle:
    """Override ``base`` by the fields of an ASS style, under their names in ASS files: ``Fontname``, ``Fontsize`` ...

    Sizes are in rows of ``PlayResY``. Border style 3 is a box per line in the outline's colour, 4 one box in the back colour.
    """
    # 384 x 288 is the resolution of ASS files that state none.
    unit, across = height / _number(fields_, "PlayResY", 288), width / _number(fields_, "PlayResX", 384)
    look = base.look
    if "Fontname" in fields_:
        look = replace(look, family=str(fields_["Fontname"]).lstrip("@"), substitute=True)
    if "Fontsize" in fields_:
        look = replace(look, pixels=bounded(_number(fields_, "Fontsize", 16) * unit, height=height))
    switches = {"Bold": "bold", "Italic": "italic", "Underline": "underline", "StrikeOut": "strike"}
    changes: dict[str, Any] = {name: bool(fields_[ass_name]) for ass_name, name in switches.items() if ass_name in fields_}
    look = replace(look, **changes)
    look = replace(look, colour=colour_of(fields_.get("PrimaryColour"), look.colour))
    alignment = int(_number(fields_, "Alignment", base.alignment))
    ends = [("MarginL", across, 0), ("MarginR", across, 1), ("MarginV", unit, 2)]
    margins = [min(round(_number(fields_, name, base.margins[i] / scale) * scale), width // 3) for name, scale, i in ends]
    plain = replace(
        base,
        look=look,
        alignment=alignment if 1 <= alignment <= 9 else 2,
        margins=(margins[0], margins[1], min(margins[2], height // 3)),
        unit=unit,
    )
    return _with_border(plain, fields_, height / 4)


def _with_border(style: PixelStyle, fields_: Plain, most: float) -> PixelStyle:
    if "BorderStyle" not in fields_:
        return style
    kind = int(_number(fields_, "BorderStyle", 1))
    outline, shadow = (min(_number(fields_, name, 0) * style.unit, most) for name in ("Outline", "Shadow"))
    outline_colour = colour_of(fields_.get("OutlineColour"), (0, 0, 0, 255))
    back_colour = colour_of(fields_.get("BackColour"), (0, 0, 0, 255))
    if kind == 3:
        return replace(style, background="box-per-line", box=outline_colour, padding=round(outline), outline_pixels=0.0)
    if kind == 4:
        return replace(
            style, background="box", box=back_colour, padding=round(shadow), outline_pixels=outline, outline=outline_colour
        )
    return replace(
        style, background="none", outline_pixels=outline, outline=outline_colour, shadow_pixels=shadow, shadow=back_colour
    )


def bounded(pixels: float, *, height: int) -> float:
    """Clip a letter size to the range that can be drawn in a frame of ``height`` rows; pixels."""
    return round(min(max(pixels, LEAST_PIXELS), max(LEAST_PIXELS, MOST_FRACTION * height)), 2)


def colour_of(text: object, otherwise: Rgba) -> Rgba:
    """Parse ``&HAABBGGRR`` (alpha 00 = opaque) or ``&HBBGGRR``; ``otherwise`` for anything else."""
    match = re.fullmatch(r"&?[Hh]?([0-9A-Fa-f]{1,8})&?", text.strip()) if isinstance(text, str) else None
    if match is None:
        return otherwise
    value = int(match[1], 16)
    return value & 255, value >> 8 & 255, value >> 16 & 255, 255 - (value >> 24 & 255)


def _number(fields_: Plain, name: str, otherwise: float) -> float:
    value = fields_.get(name, otherwise)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6:
        return max(float(value), 1.0) if name.startswith("PlayRes") else max(float(value), 0.0)
    return float(otherwise)
