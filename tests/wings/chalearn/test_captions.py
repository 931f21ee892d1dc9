"""Timed text cut to clips, stored, and invented."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.curation.invented_text import bundled_words, invented_timed_text
from inpaintbench.errors import InputError
from inpaintbench.types import TextEvent
from inpaintbench.wings.chalearn.captions import clip_events, from_data, letters_on_screen, script_of, to_data

EVENTS = (TextEvent(0, 4, "a"), TextEvent(4, 7, "b", {"Bold": True}), TextEvent(6, 12, "c"), TextEvent(15, 16, "d"))


def test_events_are_cut_to_the_clip_and_shifted() -> None:
    assert clip_events(EVENTS, 5, 10) == (TextEvent(0, 2, "b", {"Bold": True}), TextEvent(1, 5, "c"))
    assert clip_events(EVENTS, 12, 15) == ()
    with pytest.raises(InputError, match="the span 5-5 s is empty"):
        clip_events(EVENTS, 5, 5)


@pytest.mark.parametrize(
    ("texts", "script"),
    [
        (("Hello", "мир"), "latin"), (("{\\i1}а", "б"), "cyrillic"), (("日本語のテキストです",), "kana"), (("汉字",), "han"),
        (("한국어",), "hangul"), (("ｗｉｄｅ",), "latin"), (("123 ...",), None), ((), None),
    ],
)  # fmt: skip
def test_writing_system_of_most_letters(texts: tuple[str, ...], script: str | None) -> None:
    assert script_of(TextEvent(0, 1, text) for text in texts) == script


def test_cutting_keeps_the_time_on_screen() -> None:
    parts = [clip_events(EVENTS, start, start + 2.5) for start in np.arange(0, 20, 2.5)]
    shown = sum(event.end_seconds - event.start_seconds for part in parts for event in part)
    assert shown == pytest.approx(4 + 3 + 6 + 1)


def test_data_survive_json() -> None:
    assert from_data(json.loads(json.dumps(to_data(EVENTS)))) == EVENTS


@pytest.mark.parametrize(
    "row",
    [{}, {"start_seconds": "x", "end_seconds": 1, "text": "a"}, {"start_seconds": 0, "end_seconds": 1, "text": None}, 3,
     {"start_seconds": 0, "end_seconds": float("nan"), "text": "a"}],
)  # fmt: skip
def test_other_data_are_a_clear_error(row: object) -> None:
    with pytest.raises(InputError, match="event 0 of the timed text"):
        from_data([row])  # type: ignore[list-item]


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 30), st.integers(0, 2**32))
def test_invented_text_fills_its_time_at_reading_speed(duration: float, seed: int) -> None:
    events = invented_timed_text(duration, np.random.default_rng(seed))
    assert events == invented_timed_text(duration, np.random.default_rng(seed))
    for event in events:
        assert 0 <= event.start_seconds < event.end_seconds <= duration + 0.001
        assert 1 <= event.text.count("\n") + 1 <= 4
        assert event.text == event.text.lower()
    whole = [event for event in events if event.start_seconds > 0 and event.end_seconds < duration - 0.001]
    for event in whole:
        seconds = event.end_seconds - event.start_seconds
        assert len(event.text) / seconds <= 20.1
        assert seconds == pytest.approx(0.8, abs=0.002) or len(event.text) / seconds >= 14.9


def test_invented_text_takes_its_words_in_order_from_the_books() -> None:
    events = invented_timed_text(60, np.random.default_rng(1))
    said = " ".join(event.text for event in events).split()
    twice = bundled_words() * 2
    assert any(list(twice[at : at + len(said)]) == said for at in range(len(bundled_words())))
    assert len(bundled_words()) > 2000
    assert not any("#" in word or "lewis" in word for word in bundled_words())


def test_some_invented_events_overlap_and_most_do_not() -> None:
    events = invented_timed_text(2000, np.random.default_rng(0))
    overlaps = np.mean([later.start_seconds < event.end_seconds for event, later in itertools.pairwise(events)])
    assert 0.05 < overlaps < 0.15
    never = invented_timed_text(2000, np.random.default_rng(0), overlap_odds=0)
    assert all(later.start_seconds >= event.end_seconds for event, later in itertools.pairwise(never))


@pytest.mark.parametrize(
    ("duration", "options", "message"),
    [(0, {}, "above 0 s"), (5, {"overlap_odds": 2}, "within 0..1"), (5, {"text": "?! --"}, "has no words")],
)
def test_impossible_wishes_are_clear_errors(duration: float, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        invented_timed_text(duration, np.random.default_rng(0), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("events", "letters"),
    [
        ([(0, 5, "abcd")], 4),
        ([(0, 2.5, "ab cd\ne")], 2.5),
        ([(0, 5, "ab"), (1, 2, "cde")], 2.6),
        ([(0, 5, r"{\an8\c&HFF&}ab{\i1}c{\i0}\Nd\he")], 5),
        ([(0, 5, r"\{sighs\}")], 7),
        ([], 0),
    ],
)
def test_letters_on_screen_are_averaged_over_time_without_spaces_and_tags(
    events: list[tuple[float, float, str]], letters: float
) -> None:
    assert letters_on_screen([TextEvent(*event) for event in events], 5) == pytest.approx(letters)


def test_a_clip_that_does_not_last_shows_no_letters() -> None:
    with pytest.raises(InputError, match="0 s shows no letters"):
        letters_on_screen([], 0)
