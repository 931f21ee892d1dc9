"""Right-to-left text: the order in which it is seen, against the library that Pillow shapes text with."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, features

from inpaintbench.masks.overlays.fonts import find_font, load
from inpaintbench.masks.overlays.lines import Line, Run, base_level, levels, seen_order, wrapped
from inpaintbench.masks.overlays.styles import Look

pytestmark = pytest.mark.skipif(not features.check("raqm"), reason="Pillow has no raqm")

LOOK = Look("bundled", 16.0, (255, 255, 255, 255))
WORDS = ("abc", "de", "שלום", "דג", "سلام", "12", "3,4", "5%", "-7", "(", ")", "[", "]", "!", "؟", "a-ב", "(ab)", "ב)", "+", "٣٤")


def seen(text: str) -> str:
    """The characters from left to right, without mirroring."""
    return "".join(letter for letter, _ in seen_order(list(zip(text, levels(text), strict=True)), lambda pair: pair[1]))


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("abc def", "abc def"),
        ("אבג", "גבא"),
        ("אבג abc def", "abc def גבא"),
        ("abc אב גד def", "abc דג בא def"),
        ("אב 12,5 גד", "דג 12,5 בא"),
        ("אב 1 2 גד", "דג 2 1 בא"),
        ("abc (אב) גד", "abc (בא) דג"),
        ("אב!", "!בא"),
        ("abc אב!", "abc בא!"),
        ("12 abc", "12 abc"),
    ],
)
def test_known_orders(text: str, order: str) -> None:
    assert seen(text) == order


@pytest.mark.parametrize(("text", "level"), [("", 0), ("12 - !", 0), ("12 שלום abc", 1), ("- abc שלום", 0), ("سلام", 1)])
def test_the_first_letter_with_a_direction_decides(text: str, level: int) -> None:
    assert base_level(text) == level


def lines(words: list[str], *, most_pixels: float, looks: int) -> list[Line]:
    """The words in ``looks`` looks in turn, which differ in nothing that is drawn here."""
    styles = cycle([Look(LOOK.family, LOOK.pixels, (255, 255, level, 255)) for level in range(looks)])
    runs = [Run(word + " ", look) for word, look in zip(words, styles, strict=False)]
    return wrapped(runs, most_pixels=most_pixels, empty=LOOK)


def picture(pieces: list[tuple[float, str, str | None]]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    canvas = Image.new("L", (600, 40))
    pen = ImageDraw.Draw(canvas)
    for left, text, direction in pieces:
        pen.text((20 + left, 28), text, fill=255, font=load(find_font("bundled"), LOOK.pixels), anchor="ls", direction=direction)
    return np.asarray(canvas)


def drawn_apart(line: Line) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return picture([(piece.left, piece.text, piece.direction) for piece in line.pieces])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), st.integers(1, 3))
@example(["abc", "שלום", "דג", "de"], 2)
@example(["שלום", "abc", "de", "דג"], 2)
def test_pieces_of_several_looks_lie_where_those_of_one_look_would(words: list[str], looks: int) -> None:
    (line,) = lines(words, most_pixels=10_000, looks=looks)
    text = " ".join(words)
    whole = picture([(0.0, text, ("ltr", "rtl")[base_level(text)])])
    # Where letters begin at fractions of a pixel edges differ; a word in another place differs by far more.
    blurred = [np.asarray(Image.fromarray(one).reduce(4), int) for one in (whole, drawn_apart(line))]
    assert np.abs(blurred[0] - blurred[1]).max() < 20, [piece.text for piece in line.pieces]


def test_every_line_of_a_paragraph_runs_as_its_first_letter_says() -> None:
    first, second = lines(["שלום", "עולם", "abc", "def", "שלום"], most_pixels=110, looks=1)
    assert [piece.text for piece in first.pieces] == ["abc", "שלום עולם "]
    assert [piece.text for piece in second.pieces] == [" שלום", "def"]
    assert [piece.direction for piece in second.pieces] == ["rtl", "ltr"]
    left_to_right = lines(["abc", "def", "שלום", "עולם", "ab"], most_pixels=110, looks=1)
    assert [[piece.text for piece in line.pieces] for line in left_to_right] == [["abc def ", "שלום"], ["עולם", " ab"]]
