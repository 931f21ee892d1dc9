"""The leaf: exact holes and opacity, what it says of them, and whether the participants of 2018 would have found them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from overlay_recovery import DIFFICULTIES, LEAST_RECALL, REAL_FILMS, Counts, embedded_clips, found, pooled, square

from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.subtitles import Subtitles
from inpaintbench.masks.overlays.raster import MOST_OVERLAY_FRACTION, over
from inpaintbench.types import Frames, TextEvent, item_rng
from inpaintbench.view import ItemView

EVENTS = (
    TextEvent(0.2, 1.4, "either the well was very deep\nor she fell very slowly"),
    TextEvent(1.0, 1.8, "for she had plenty of time"),
)


def view(*events: TextEvent, frames: int = 50, side: int = 128) -> ItemView:
    size = {"frames": frames, "height": side, "width": side}
    return ItemView(item_id="item", **size, fps=25.0, parts={"timed_text": lambda: events or EVENTS})  # type: ignore[arg-type]


def drawn(seed: int = 0, *, side: int = 128, **options: object) -> Drawn:
    leaf = Subtitles(families=["bundled"], **options)  # type: ignore[arg-type]
    return leaf.generate(view(side=side).declaring(leaf.name, leaf.needs), item_rng(seed, "masks", "item"))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["easy", "medium", "hard", "any"]))
def test_hole_opacity_colour_and_facts_fit_each_other(seed: int, difficulty: str) -> None:
    got, again = drawn(seed, difficulty=difficulty), drawn(seed, difficulty=difficulty)
    assert got.alpha is not None
    assert got.colour is not None
    assert got.hole.shape == got.alpha.shape == (50, 128, 128)
    assert got.colour.shape == (50, 128, 128, 3)
    assert got.hole.dtype == np.bool_
    assert np.array_equal(got.hole, got.alpha > 0)
    for one, other in ((got.hole, again.hole), (got.alpha, again.alpha), (got.colour, again.colour)):
        assert np.array_equal(one, other)
    facts = json.loads(json.dumps(got.facts))
    assert facts["overlay_fraction"] == pytest.approx(got.hole.mean())
    assert facts["overlay_fraction_peak"] == pytest.approx(got.hole.mean(axis=(1, 2)).max())
    assert facts["overlay_fraction_peak"] <= MOST_OVERLAY_FRACTION
    assert facts["frames_with_text"] == np.count_nonzero(got.hole.any(axis=(1, 2))) == 40
    assert 0 < facts["text_fraction"] <= facts["overlay_fraction"]
    assert facts["difficulty"] == difficulty
    assert facts["events"] == 2
    assert facts["texts_left_out"] == 0


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 1.6),
            st.floats(0.1, 2),
            st.sampled_from(["word", "two\nlines", "many words " * 9, "{\\an8}top {\\fs90}large"]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 2**32),
    st.sampled_from([{}, {"lines_most": 4, "size_fraction": 0.3}]),
)
@example([(0.1 * i, 2.0, "either the well was very deep") for i in range(5)], 0, {})
def test_no_frame_is_hidden_by_more_than_half(rows: list[tuple[float, float, str]], seed: int, style: dict[str, object]) -> None:
    events = [TextEvent(start, start + lasts, text) for start, lasts, text in rows]
    leaf = Subtitles(difficulty="hard", families=["bundled"], style=style)
    got = leaf.generate(view(*events), np.random.default_rng(seed))
    assert got.hole.mean(axis=(1, 2)).max() <= MOST_OVERLAY_FRACTION
    assert 0 <= got.facts["texts_left_out"] <= len(events)
    if len(events) == 1:
        assert got.facts["texts_left_out"] == 0


def test_the_oldest_text_goes_when_there_is_no_room() -> None:
    events = [TextEvent(0.2 * i, 2, "x" * 14) for i in range(6)]
    style = {"background": "box", "size_fraction": 0.11, "colour": "white"}
    got = Subtitles(families=["bundled"], style=style).generate(view(*events), np.random.default_rng(0))
    shares = got.hole.mean(axis=(1, 2)) / got.hole[0].mean()
    assert got.facts["texts_left_out"] == 3
    assert got.facts["events"] == 6
    assert [round(shares[5 * number]) for number in range(6)] == [1, 2, 3, 3, 3, 3]


def test_a_text_too_large_for_any_room_is_rejected_with_the_reason() -> None:
    event = TextEvent(0, 2, "text", {"Fontsize": 80.0, "BorderStyle": 3, "Outline": 60.0, "PlayResY": 288})
    with pytest.raises(Rejected, match="1 of them would hide more than half of the frame"):
        Subtitles(families=["bundled"]).generate(view(event), np.random.default_rng(0))


def test_text_is_on_screen_in_its_frames_and_in_no_others() -> None:
    shown = drawn().hole.any(axis=(1, 2))
    assert np.array_equal(np.flatnonzero(shown), np.arange(5, 45))


def test_the_input_is_the_truth_under_the_overlay() -> None:
    truth = np.random.default_rng(0).integers(0, 256, (50, 128, 128, 3), dtype=np.uint8)
    got = drawn(difficulty="medium")
    assert got.alpha is not None
    assert got.colour is not None
    painted = over(truth, got.alpha, got.colour)
    share = got.alpha[..., None] / 255
    assert np.abs(painted - ((1 - share) * truth + share * got.colour)).max() <= 0.5 + 1e-9
    assert np.array_equal(painted[~got.hole], truth[~got.hole])


def test_difficulty_orders_what_is_hidden() -> None:
    means = []
    for name in ("easy", "medium", "hard"):
        leaf = Subtitles(difficulty=name, families=["bundled"])  # type: ignore[arg-type]
        holes = [leaf.generate(view(EVENTS[0]), np.random.default_rng(seed)).hole for seed in range(6)]
        means.append(np.mean(holes))
    assert means[0] < means[1] < means[2]
    hard = drawn(1, difficulty="hard")
    assert hard.alpha is not None
    assert np.mean(hard.alpha[hard.hole] == 255) > 0.99


def test_fields_of_the_style_can_be_fixed() -> None:
    fixed = {"colour": "green", "size_fraction": 0.06, "background": "none"}
    facts = drawn(style=fixed | {"italic": True, "bold": True}).facts
    assert {name: facts[name] for name in fixed} == fixed
    assert facts["weight"] == "bold-italic"
    assert facts["box_alpha"] == 0.0


def test_what_a_file_states_comes_first_unless_told_otherwise() -> None:
    event = TextEvent(0, 2, "text", {"PrimaryColour": "&H00FF0000", "BorderStyle": 1, "Alignment": 8, "PlayResY": 288})
    fixed = {"colour": "yellow", "background": "none", "outline_pixels": 0}
    tops, colours = [], []
    for obey_file in (True, False):
        leaf = Subtitles(style=fixed, families=["bundled"], obey_file=obey_file)
        got = leaf.generate(view(event), np.random.default_rng(0))
        assert got.colour is not None
        tops.append(int(np.flatnonzero(got.hole[0].any(axis=1))[0]))
        colours.append(np.unique(got.colour[0][got.hole[0]], axis=0).tolist())
    assert colours == [[[0, 0, 255]], [[255, 255, 0]]]
    assert tops[0] < 32
    assert tops[1] > 96


@pytest.mark.parametrize("events", [(TextEvent(5, 6, "too late"),), (TextEvent(0, 2, " \n "),), (TextEvent(-2, 0, "too early"),)])
def test_a_clip_without_text_on_screen_is_rejected(events: tuple[TextEvent, ...]) -> None:
    with pytest.raises(Rejected, match="no text is on screen in the 50 frames"):
        Subtitles(families=["bundled"]).generate(view(*events), np.random.default_rng(0))


def test_a_text_that_no_font_can_show_is_rejected_with_its_characters() -> None:
    with pytest.raises(Rejected, match=r"no installed font has the characters .*U\+10A60"):
        Subtitles(families=["bundled"]).generate(view(TextEvent(0, 1, "\U00010a60")), np.random.default_rng(0))


PIECES = [
    "word ",
    "x" * 40,
    "\n",
    "{\\an7}",
    "{\\fs200}",
    "{\\i1}",
    "שלום ",
    "é",
    "\u200d",
    "\x07",
    "{",
    "{\\fnNone Such}",
    "{\\alpha&HFF&}",
]
FIELDS = {"Fontsize": 1e5, "BorderStyle": 3, "Outline": 500.0, "MarginL": 9999, "MarginV": 9999, "Fontname": "-", "PlayResY": 1}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12), min_size=1, max_size=4),
    st.tuples(st.integers(1, 90), st.integers(1, 90)),
    st.sampled_from([None, FIELDS, {"Alignment": 5, "BorderStyle": 4}]),
    st.integers(0, 99),
)
def test_any_text_in_any_frame_is_drawn_or_rejected(
    texts: list[list[str]], size: tuple[int, int], fields: dict[str, object] | None, seed: int
) -> None:
    events = tuple(TextEvent(0.1 * i, 1 + 0.2 * i, "".join(pieces), fields) for i, pieces in enumerate(texts))
    parts = {"timed_text": lambda: events}
    tiny = ItemView(item_id="item", frames=4, height=size[0], width=size[1], fps=2.0, parts=parts)
    try:
        got = Subtitles(families=["bundled"]).generate(tiny, np.random.default_rng(seed))
    except Rejected:
        return
    assert got.hole.shape == (4, *size)
    assert got.hole.any()
    assert got.alpha is not None
    assert np.array_equal(got.hole, got.alpha > 0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"difficulty": "hrad"}, UnknownNameError, "did you mean 'hard'"),
        ({"style": {"color": "white"}}, UnknownNameError, "did you mean 'colour'"),
        ({"families": []}, InputError, "at least one font family"),
        ({"families": "bundled"}, InputError, "must be a list"),
    ],
)
def test_impossible_parameters_are_clear_errors(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Subtitles(**options)  # type: ignore[arg-type]


def recall(clips: list[Frames], difficulty: str, folder: Path) -> list[Counts]:
    """What the rules find of the hole in each clip."""
    return [found(clip, drawn(seed, difficulty=difficulty), folder) for seed, clip in enumerate(clips)]


@pytest.mark.long
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_participants_rules_find_the_hole_at_100_kbit_per_second(tmp_path: Path, difficulty: str) -> None:
    shares = pooled(recall(embedded_clips(4, side=128, frames=50), difficulty, tmp_path))
    assert min(shares.values()) >= LEAST_RECALL, shares


@pytest.mark.real
@pytest.mark.long
def test_participants_rules_find_the_hole_in_real_films(assets: Path, tmp_path: Path) -> None:
    films = [square(assets / "videos" / name, side=128, frames=50) for name in REAL_FILMS]
    shares = pooled(counts for difficulty in DIFFICULTIES for counts in recall(films, difficulty, tmp_path))
    assert min(shares.values()) >= LEAST_RECALL, shares
