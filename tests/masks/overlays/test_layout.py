"""Where text is put, when, and how it is broken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.masks.overlays import lines
from inpaintbench.masks.overlays.fonts import installed_families
from inpaintbench.masks.overlays.raster import Placed, place
from inpaintbench.masks.overlays.styles import Style
from inpaintbench.types import TextEvent

HEIGHT, WIDTH = 144, 256
PROSE = "alice was beginning to get very tired of sitting by her sister on the bank and of having nothing to do"


def put(*events: TextEvent, frames: int = 100, **style: object) -> list[Placed]:
    return place(events, Style(**style), frames=frames, height=HEIGHT, width=WIDTH, fps=25.0)  # type: ignore[arg-type]


def text_of(placed: Placed) -> list[str]:
    return ["".join(piece.text for piece in line.pieces) for line in placed.block.lines]


def test_lines_keep_to_92_percent_of_the_width_and_lose_no_word() -> None:
    placed = put(TextEvent(0, 4, PROSE), size_fraction=0.08)
    lines = [line for one in placed for line in text_of(one)]
    assert " ".join(lines) == PROSE
    assert max(line.width for one in placed for line in one.block.lines) <= 0.92 * WIDTH + 1
    assert len(lines) == 3


def test_hard_breaks_are_kept_and_long_words_are_broken() -> None:
    assert text_of(put(TextEvent(0, 4, "one\ntwo  spaces\n\nfour"))[0]) == ["one", "two  spaces", " ", "four"]
    long = text_of(put(TextEvent(0, 4, "x" * 70), size_fraction=0.08)[0])
    assert "".join(long) == "x" * 70
    assert len(long) > 1


def test_chinese_is_broken_between_characters_but_not_before_a_full_stop() -> None:
    if installed_families(["Droid Sans Fallback"]) == ("bundled",):
        pytest.skip("Droid Sans Fallback is not installed")
    text = "中文字幕测试。" * 6
    lines = [line for one in put(TextEvent(0, 4, text), size_fraction=0.08) for line in text_of(one)]
    assert "".join(lines) == text
    assert len(lines) > 1
    assert not any(line.startswith("。") for line in lines)


def test_more_lines_than_allowed_go_on_later_and_share_the_time() -> None:
    placed = put(TextEvent(0, 4, "aaaa\nbbbb\ncccc\ndddd"), lines_most=2)
    assert [text_of(one) for one in placed] == [["aaaa", "bbbb"], ["cccc", "dddd"]]
    assert [(one.block.first_frame, one.block.end_frame) for one in placed] == [(0, 50), (50, 100)]
    assert placed[0].top == placed[1].top


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [(0, 1, (0, 25)), (0.04, 0.08, (1, 2)), (0.041, 0.08, (2, 2)), (1 / 3, 2 / 3, (9, 17)), (-1, 0.5, (-25, 13))],
)
def test_an_event_shows_in_the_frames_within_its_time(start: float, end: float, shown: tuple[int, int]) -> None:
    placed = put(TextEvent(start, end, "a"))
    frames = [one.block for one in placed]
    assert [(block.first_frame, block.end_frame) for block in frames] == ([shown] if shown[0] < shown[1] else [])
    seen = {frame for block in frames for frame in range(max(0, block.first_frame), block.end_frame)}
    assert seen == {frame for frame in range(100) if start <= frame / 25 + 1e-9 and frame / 25 + 1e-9 < end}


@pytest.mark.parametrize("alignment", range(1, 10))
def test_alignment_as_on_a_number_pad(alignment: int) -> None:
    (one,) = put(TextEvent(0, 4, f"{{\\an{alignment}}}Text"))
    x = (one.left + one.block.width / 2) / WIDTH
    y = (one.top + one.block.height / 2) / HEIGHT
    column, row = (alignment - 1) % 3, (alignment - 1) // 3
    assert (x < 0.3, 0.45 < x < 0.55, x > 0.7)[column]
    assert (y > 0.7, 0.45 < y < 0.55, y < 0.3)[row]


def test_overlapping_events_stack_upwards_in_start_order_and_stay_where_they_are() -> None:
    first, second, third = put(TextEvent(0, 2, "first"), TextEvent(1, 3, "second"), TextEvent(1.5, 4, "third"), background="box")
    assert third.top + third.block.height <= second.top
    assert second.top + second.block.height <= first.top
    (later,) = put(TextEvent(2.0, 3, "later"))
    after = put(TextEvent(0, 2, "first"), TextEvent(2, 3, "later"))
    assert after[1].top == after[0].top == later.top


def test_at_the_top_they_stack_downwards() -> None:
    first, second = put(TextEvent(0, 2, "{\\an8}first"), TextEvent(1, 3, "{\\an8}second"))
    assert first.top + first.block.height <= second.top


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 4), st.floats(0.1, 2), st.sampled_from([PROSE, "a", "two\nlines", "{\\an8}top", "{\\an5}x"])),
        max_size=5,
    ),
    st.sampled_from([0.045, 0.08, 0.11, 0.3]),
    st.sampled_from(["none", "box", "box-per-line"]),
)
def test_everything_lies_within_the_frame_and_few_events_never_collide(
    rows: list[tuple[float, float, str]], size: float, background: str
) -> None:
    events = [TextEvent(start, start + lasts, text) for start, lasts, text in rows]
    placed = put(*events, size_fraction=size, background=background)
    for one in placed:
        assert one.top >= 0
        assert one.top + one.block.height <= HEIGHT
        assert len(one.block.lines) <= 4
    if size == 0.045 and len(rows) < 3:
        for frame in range(100):
            shown = [one for one in placed if one.block.first_frame <= frame < one.block.end_frame]
            rows_taken = np.concatenate([np.arange(one.top, one.top + one.block.height) for one in shown] or [np.arange(0)])
            assert len(set(rows_taken.tolist())) == len(rows_taken)


def test_a_text_that_needs_shaping_is_refused_without_raqm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines.features, "check", lambda name: False)
    with pytest.raises(InputError, match="needs shaping and Pillow has no raqm"):
        put(TextEvent(0, 1, "שלום"))
    assert text_of(put(TextEvent(0, 1, "plain"))[0]) == ["plain"]
