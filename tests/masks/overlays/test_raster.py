"""Pictures of text: golden images that were looked at, exact opacity, no seams, shaping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.masks.overlays.fonts import BUNDLED, installed_families
from inpaintbench.masks.overlays.raster import LEAST_ALPHA, Picture, Track, over, place, render
from inpaintbench.masks.overlays.styles import Style
from inpaintbench.types import Frames, TextEvent

HEIGHT, WIDTH = 96, 160
GOLDEN = Path(__file__).parent / "golden"
ASS = {
    "PrimaryColour": "&H0000FFFF", "OutlineColour": "&H000000C0", "BackColour": "&H80000000", "Fontname": "bundled",
    "Fontsize": 40.0, "Bold": True, "BorderStyle": 1, "Outline": 4.0, "Shadow": 4.0, "Alignment": 8, "PlayResX": 480,
    "PlayResY": 288,
}  # fmt: skip
CASES: dict[str, tuple[list[TextEvent], Style]] = {
    "outline": ([TextEvent(0, 1, "plain white text\nwith an outline")], Style(outline_pixels=4, size_fraction=0.11)),
    "box_per_line": (
        [TextEvent(0, 1, "first\nof the two"), TextEvent(0, 1, "pushed up")],
        Style(background="box-per-line", box_alpha=0.5, colour="yellow", size_fraction=0.11),
    ),
    "box": (
        [TextEvent(0, 1, "a long line that has to wrap")],
        Style(background="box", colour="cyan", size_fraction=0.14, bold=True),
    ),
    "right_to_left": ([TextEvent(0, 1, "שלום עולם\nمرحبا abc 12 بالعالم")], Style(background="box", size_fraction=0.14)),
    "tags": (
        [TextEvent(0, 1, "{\\b1}b{\\b0} {\\i1}slant{\\i} {\\u1}under{\\u}\n{\\c&H0000FF&}red{\\c} {\\s1}gone{\\s0} {\\fs50}big")],
        Style(size_fraction=0.12),
    ),
    "right_to_left_wrapped": (
        [TextEvent(0, 1, "שלום {\\c&H00FFFF&}עולם (abc){\\c} 12 def ghi שלום")],
        Style(background="box-per-line", size_fraction=0.16),
    ),
    "chinese": (
        [TextEvent(0, 1, "{\\fnDroid Sans Fallback}中文字幕，测试 abc。很长的一行要换行")],
        Style(outline_pixels=4, size_fraction=0.14),
    ),
    "ass": ([TextEvent(0, 1, "From a file", ASS), TextEvent(0, 1, "{\\an1}low")], Style(size_fraction=0.11)),
}


def rendered(events: list[TextEvent], style: Style, *, frames: int = 1, fps: float = 1.0) -> Track:
    placed = place(events, style, frames=frames, height=HEIGHT, width=WIDTH, fps=fps)
    return render(placed, frames=frames, height=HEIGHT, width=WIDTH)


def picture(text: str, **style: object) -> Picture:
    track = rendered([TextEvent(0, 1, text)], Style(**style))  # type: ignore[arg-type]
    return track.pictures[track.shown[0]]


def scenery() -> Frames:
    """A gradient in three colours."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    levels = np.stack([60 + columns, 200 - columns // 2, 60 + rows * 2], axis=-1)
    return np.clip(levels, 0, 255).astype(np.uint8)[None]


def drawn(name: str) -> Picture:
    if name == "chinese" and installed_families(["Droid Sans Fallback"]) == (BUNDLED,):
        pytest.skip("Droid Sans Fallback is not installed")
    track = rendered(*CASES[name])
    return track.pictures[track.shown[0]]


def painted(name: str) -> Frames:
    one = drawn(name)
    return over(scenery(), one.alpha[None], one.colour[None])


@pytest.mark.parametrize("name", CASES)
def test_pictures_are_those_that_were_looked_at(name: str) -> None:
    wanted = video.read_image(GOLDEN / f"{name}.png")
    far = np.abs(painted(name)[0].astype(int) - wanted).max(axis=-1)
    # Other versions of FreeType round a few edge pixels differently.
    assert np.mean(far > 2) < 0.001


@pytest.mark.parametrize("name", CASES)
def test_opacity_and_input_agree(name: str) -> None:
    one = drawn(name)
    alpha, colour = one.alpha[None], one.colour[None]
    black, white = np.zeros_like(scenery()), np.full_like(scenery(), 255)
    difference = over(white, alpha, colour).astype(int) - over(black, alpha, colour)
    assert (255 - difference == alpha[..., None]).all()
    share = alpha[..., None] / 255
    assert np.abs(painted(name) - ((1 - share) * scenery() + share * colour)).max() <= 0.5 + 1e-9
    assert np.array_equal(painted(name)[alpha == 0], scenery()[alpha == 0])
    assert set(np.unique(one.alpha).tolist()).isdisjoint(range(1, LEAST_ALPHA))
    assert not one.colour[one.alpha == 0].any()


def test_boxes_that_meet_have_no_darker_seams() -> None:
    events, style = CASES["box_per_line"]
    bare = [TextEvent(event.start_seconds, event.end_seconds, f"{{\\alpha&HFF&}}{event.text}") for event in events]
    track = rendered([TextEvent(e.start_seconds, e.end_seconds, e.text.replace("\n", "\n{\\alpha&HFF&}")) for e in bare], style)
    assert set(np.unique(track.pictures[track.shown[0]].alpha).tolist()) == {0, 128}


def test_letters_alone_are_less_than_letters_with_box_and_outline() -> None:
    plain, boxed = picture("text"), picture("text", background="box", outline_pixels=4)
    assert np.array_equal(plain.alpha, plain.text_alpha)
    assert np.count_nonzero(boxed.text_alpha) == np.count_nonzero(plain.text_alpha)
    assert np.count_nonzero(boxed.alpha) > 2 * np.count_nonzero(boxed.text_alpha)
    assert (boxed.alpha[boxed.text_alpha > 0] == 255).all()


def test_hebrew_begins_at_the_right() -> None:
    # Lamed is the only one of these letters that rises above the others.
    one = picture("לוווו", size_fraction=0.2).text_alpha
    rows, columns = np.nonzero(one)
    tall = columns[rows == rows.min()].mean()
    assert tall > (columns.min() + columns.max()) / 2
    assert np.array_equal(one > 0, picture("\u200fלוווו", size_fraction=0.2).text_alpha > 0)


def test_arabic_letters_join() -> None:
    def columns_of_ink(text: str) -> int:
        ink = (picture(text, size_fraction=0.2).text_alpha > 40).any(axis=0)
        return int(np.count_nonzero(np.diff(ink.astype(int)) == 1))

    assert columns_of_ink("سسس") == 1
    assert columns_of_ink("س س س") == 3


def test_each_distinct_picture_is_drawn_once() -> None:
    events = [TextEvent(1, 5, "one"), TextEvent(3, 7, "two")]
    track = rendered(events, Style(), frames=10)
    assert track.shown == (0, 1, 1, 2, 2, 3, 3, 0, 0, 0)
    assert len(track.pictures) == 4
    assert not track.pictures[0].alpha.any()
