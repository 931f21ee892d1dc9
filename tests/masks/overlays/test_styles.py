"""The grid of styles and what files state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.masks.overlays.lines import apply_tags
from inpaintbench.masks.overlays.styles import (
    COLOURS,
    SIZE_FRACTIONS,
    Style,
    check_fields,
    colour_of,
    draw_style,
    in_pixels,
    stated,
)

BASE = in_pixels(Style(), height=288, width=384)


@pytest.mark.parametrize(
    ("difficulty", "sizes", "boxes"),
    [
        ("easy", {0.045, 0.06}, {("none", 1.0)}),
        ("medium", {0.06, 0.08}, {("box", 0.5), ("box-per-line", 0.5)}),
        ("hard", {0.08, 0.11}, {("box", 1.0), ("box-per-line", 1.0)}),
        ("any", set(SIZE_FRACTIONS), {("none", 1.0), ("box", 0.5), ("box-per-line", 0.5), ("box", 1.0), ("box-per-line", 1.0)}),
    ],
)
def test_every_value_of_the_grid_is_drawn_and_no_other(difficulty: str, sizes: set[float], boxes: set[tuple[str, float]]) -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_style(rng, difficulty, families=("a", "b")) for _ in range(400)]  # type: ignore[arg-type]
    assert {style.size_fraction for style in drawn} == sizes
    assert {(style.background, style.box_alpha) for style in drawn} == boxes
    assert {style.colour for style in drawn} == set(COLOURS)
    assert {style.family for style in drawn} == {"a", "b"}
    assert {(style.bold, style.italic) for style in drawn} == {(False, False), (True, False), (False, True)}
    assert {style.outline_pixels for style in drawn} == {0.0, 1.0, 2.0}


def test_colours_of_files_count_blue_green_red_and_transparency() -> None:
    assert colour_of("&H80FF8001", (0, 0, 0, 0)) == (1, 128, 255, 127)
    assert colour_of("&H0000FF&", (0, 0, 0, 0)) == (255, 0, 0, 255)
    assert colour_of("red", (1, 2, 3, 4)) == colour_of(None, (1, 2, 3, 4)) == (1, 2, 3, 4)


def test_sizes_of_files_count_in_their_own_rows() -> None:
    style = stated({"Fontsize": 16.0, "PlayResY": 288}, in_pixels(Style(), height=256, width=256), height=256, width=256)
    assert style.look.pixels == pytest.approx(16 * 256 / 288, abs=0.01)


@pytest.mark.parametrize(
    ("border", "background", "box", "padding", "outline", "shadow"),
    [(1, "none", None, None, 2, 3), (3, "box-per-line", (1, 0, 0, 255), 2, 0, 0), (4, "box", (2, 0, 0, 127), 3, 2, 0)],
)
def test_border_styles(
    border: int, background: str, box: tuple[int, ...] | None, padding: int | None, outline: float, shadow: float
) -> None:
    fields = {"BorderStyle": border, "OutlineColour": "&H00000001", "BackColour": "&H80000002", "Outline": 2.0, "Shadow": 3.0}
    style = stated(fields | {"PlayResY": 288}, BASE, height=288, width=384)
    assert (style.background, style.outline_pixels, style.shadow_pixels) == (background, outline, shadow)
    if box is not None:
        assert (style.box, style.padding) == (box, padding)


def test_margins_and_alignment_come_from_the_file() -> None:
    fields = {"MarginL": 20, "MarginR": 40, "MarginV": 10, "Alignment": 9, "PlayResX": 768, "PlayResY": 576}
    style = stated(fields, BASE, height=288, width=384)
    assert (style.margins, style.alignment) == ((10, 20, 5), 9)


@pytest.mark.parametrize(
    ("fixed", "error", "message"),
    [
        ({"colour": "whit"}, UnknownNameError, "did you mean 'white'"),
        ({"background": "boxes"}, UnknownNameError, "did you mean 'box'"),
        ({"siz_fraction": 0.1}, UnknownNameError, "did you mean 'size_fraction'"),
        ({"size_fraction": "big"}, InputError, "must be a float"),
        ({"size_fraction": 0.9}, InputError, "size_fraction is 0.9, it must lie within"),
        ({"alignment": 0}, InputError, "alignment is 0"),
        ({"bold": 1}, InputError, "must be a bool"),
        ({"lines_most": 5}, InputError, "lines_most is 5"),
    ],
)
def test_impossible_styles_are_clear_errors(fixed: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_fields(fixed)


def runs(text: str) -> list[list[tuple[str, str]]]:
    """Lines of (text, what differs from the style)."""
    tagged = apply_tags(text, BASE, height=288)
    names = ("bold", "italic", "underline", "strike", "colour", "pixels", "family")
    return [
        [(run.text, " ".join(name for name in names if getattr(run.look, name) != getattr(BASE.look, name))) for run in line]
        for line in tagged.lines
    ]


def test_override_tags() -> None:
    assert runs("a{\\b1}b{\\i1}c{\\b0\\i0}d") == [[("a", ""), ("b", "bold"), ("c", "bold italic"), ("d", "")]]
    assert runs("{\\u1}a\n{\\s1}b{\\r}c") == [[("a", "underline")], [("b", "underline strike"), ("c", "")]]
    assert runs("{\\c&H0000FF&\\fs40}a{\\c}{\\fs}b\\Nc") == [[("a", "colour pixels"), ("b", "")], [("c", "")]]
    assert runs("{\\fnArial}a{\\fn}b") == [[("a", "family"), ("b", "")]]
    assert runs("{a comment}a\\{b\\}{\\pos(1,2)\\frz30\\blur2\\bord3}c") == [
        [("a", ""), ("{", ""), ("b", ""), ("}", ""), ("c", "")]
    ]
    assert runs("{\\p1}m 0 0 l 9 9{\\p0}a") == [[("a", "")]]


def test_alignment_tags() -> None:
    aligned = [apply_tags(text, BASE, height=288).alignment for text in ("a", "{\\an8}a", "{\\a6}a", "{\\an0}a", "{\\anx}a")]
    assert aligned == [2, 8, 8, 2, 2]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["{", "}", "\\", "\\b1", "{\\fs", "99999}", "{\\c&H", "{\\an", "ab", "\n", "\\N", "&}", "\x00"])))
def test_any_text_can_be_read(pieces: list[str]) -> None:
    tagged = apply_tags("".join(pieces), BASE, height=288)
    assert 1 <= tagged.alignment <= 9
    assert all(5 <= run.look.pixels <= 0.3 * 288 + 0.01 for line in tagged.lines for run in line)
    assert not any("\x00" in run.text for line in tagged.lines for run in line)
