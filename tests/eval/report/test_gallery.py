from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.eval.report.hand_made import FRAMES, HEIGHT, SLICES, VALUES, WIDTH, FlatMedia, dataset, read_bars, scores

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.gallery import Choice, Exhibit, Media, choose_items, frame_errors, make_exhibits
from inpaintbench.eval.report.media import PROXY_BYTES, TILE_WIDTH, make_layout
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Frames, Hole

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR = Quantity("psnr", "hole")


def test_each_slice_shows_the_item_on_which_methods_differ_most() -> None:
    results = Results(dataset(SLICES), scores(VALUES), protocol=CORRECTED)
    choices = choose_items(results, PSNR, per_slice=1)
    # b1 differs by 22 and a1 by 18; a2 by 8 and c1 by 2; of a1 and c1 it is a1, which is still free.
    assert {choice.item_id: list(choice.reasons) for choice in choices} == {
        "b1": ["motion-low"],
        "a2": ["motion-high"],
        "a1": ["night"],
    }
    assert choices[0].reasons["motion-low"] == "methods differ most here among 2 items of motion-low"


def test_one_hopeless_method_does_not_choose_alone() -> None:
    values = {
        "blank": {"a1": 1.0, "b1": 20.0},
        "one": {"a1": 30.0, "b1": 22.0},
        "two": {"a1": 31.0, "b1": 28.0},
        "three": {"a1": 30.0, "b1": 33.0},
    }
    # Median differences of pairs: (1 + 29) / 2 = 15 of 0, 1, 1, 29, 29, 30 for a1; 7 of 2, 5, 6, 8, 11, 13 for b1.
    (choice,) = choose_items(Results(dataset({"s": ["a1", "b1"]}), scores(values), protocol=CORRECTED), PSNR, per_slice=1)
    assert choice.item_id == "a1"
    values["four"] = {"a1": 30.5, "b1": 38.0}
    # Four of ten pairs hold the hopeless one now: its 30 dB no longer count.
    (choice,) = choose_items(Results(dataset({"s": ["a1", "b1"]}), scores(values), protocol=CORRECTED), PSNR, per_slice=1)
    assert choice.item_id == "b1"


def test_an_item_stands_for_two_slices_when_no_other_is_left() -> None:
    results = Results(dataset({"x": ["a1"], "y": ["a1"]}), scores({"m": {"a1": 1.0}, "n": {"a1": 2.0}}), protocol=CORRECTED)
    (choice,) = choose_items(results, PSNR, per_slice=3)
    assert list(choice.reasons) == ["x", "y"]


@pytest.mark.parametrize(("metric", "worst"), [("psnr", "a1"), ("mse", "b1")])
def test_one_method_shows_where_it_is_worst(metric: str, worst: str) -> None:
    results = Results(dataset({"s": ["a1", "b1"]}), scores({"m": {"a1": 1.0, "b1": 2.0}}, metric=metric), protocol=CORRECTED)
    (choice,) = choose_items(results, Quantity(metric, "hole"), per_slice=1)
    assert choice.item_id == worst
    assert choice.reasons["s"].startswith("m is worst here")


def test_without_values_the_first_item_is_shown() -> None:
    values = {"m": {"a1": None, "b1": None}, "n": {"a1": math.inf, "b1": None}}
    results = Results(dataset({"s": ["a1", "b1"]}), scores(values), protocol=CORRECTED)
    (choice,) = choose_items(results, PSNR, per_slice=1)
    assert (choice.item_id, choice.reasons["s"][:9]) == ("a1", "the first")


def test_a_dataset_without_slices_still_has_a_gallery() -> None:
    results = Results(dataset({}), scores({"m": {"a1": 1.0}}), protocol=CORRECTED)
    assert [choice.item_id for choice in choose_items(results, PSNR, per_slice=1)] == ["a1"]


def make(media: Media, *methods: str) -> tuple[Exhibit, bytes]:
    (made,) = make_exhibits([Choice("a1")], media, methods=methods, rates={"a1": 10.0})
    return made


def decoded(data: bytes, folder: Path) -> Frames:
    path = folder / "proxy.mp4"
    path.write_bytes(data)
    return video.read_frames(path)


def tile_of(frames: Frames, exhibit: Exhibit, channel: str) -> Frames:
    layout = exhibit.layout
    row, column = divmod(layout.channels.index(channel), layout.columns)
    top, left = row * layout.cell_height, column * layout.cell_width
    return frames[:, top : top + layout.tile_height, left : left + layout.tile_width]


@pytest.fixture(scope="module")
def made() -> tuple[Exhibit, bytes]:
    return make(FlatMedia(absent=["gone"]), "one", "gone", "two")


def test_tiles_lie_where_the_layout_says(made: tuple[Exhibit, bytes], tmp_path: Path) -> None:
    exhibit, frames = made[0], decoded(made[1], tmp_path)
    assert exhibit.layout.channels == ("truth", "input", "one", "two", "outline", "mask")
    assert len(frames) == FRAMES
    for index in (0, 7, 19):
        assert read_bars(tile_of(frames, exhibit, "truth")[index], row_share=0.2) == index
        assert read_bars(tile_of(frames, exhibit, "two")[index], row_share=0.75) == index


def test_results_are_patches_and_the_mask_covers_the_hole(made: tuple[Exhibit, bytes], tmp_path: Path) -> None:
    exhibit, frames = made[0], decoded(made[1], tmp_path)
    assert tile_of(frames, exhibit, "one")[:, :40].max() <= 12  # the truth's half is left to the truth's tile
    mask = tile_of(frames, exhibit, "mask")[..., 0] > 127
    hole = FlatMedia().hole("a1")
    assert hole is not None
    assert mask[hole].all()
    assert not mask[:, :50].any()
    outline = tile_of(frames, exhibit, "outline")[..., 0] > 127
    assert outline.any()
    assert not outline[:, 60:88, 10:150].any()


def test_an_edit_shows_its_original_once() -> None:
    media = FlatMedia(with_hole=False, absent=["input"])
    [(exhibit, _)] = make_exhibits([Choice("a1")], media, methods=["one"], rates={"a1": 10.0}, edits=True)
    assert exhibit.layout.channels == ("truth", "one")


def test_errors_and_facts_of_an_exhibit(made: tuple[Exhibit, bytes]) -> None:
    exhibit = made[0]
    assert list(exhibit.errors) == ["one", "two"]
    assert len(exhibit.errors["one"]) == len(exhibit.centres) == FRAMES
    assert exhibit.hole_fraction == pytest.approx(36 * 152 / (HEIGHT * WIDTH))
    assert exhibit.centres[0] == pytest.approx((0.497, 0.766), abs=0.002)


def test_exhibits_keep_the_order_of_choices() -> None:
    choices = [Choice(item_id) for item_id in ("c1", "a1", "b1")]
    made = make_exhibits(choices, FlatMedia(frames=2), methods=["one"], rates={"a1": 5.0, "b1": 10.0, "c1": 20.0})
    assert [(exhibit.choice.item_id, exhibit.layout.fps) for exhibit, _ in made] == [("c1", 20.0), ("a1", 5.0), ("b1", 10.0)]


def test_without_a_hole_whole_frames_are_shown(tmp_path: Path) -> None:
    exhibit, data = make(FlatMedia(with_hole=False), "one")
    assert exhibit.layout.channels == ("truth", "input", "one")
    assert (exhibit.centres, exhibit.hole_fraction) == ([], None)
    assert read_bars(tile_of(decoded(data, tmp_path), exhibit, "one")[9], row_share=0.2) == 9


@pytest.mark.parametrize(("with_hole", "level"), [(True, 40), (False, 200)])
def test_the_strip_shows_the_input_where_all_of_it_is_degraded(tmp_path: Path, with_hole: bool, level: int) -> None:
    class Levels(FlatMedia):
        def frames(self, item_id: str, channel: str) -> Frames | None:
            return np.full((2, HEIGHT, WIDTH, 3), {"truth": 40, "input": 200}.get(channel, 90), np.uint8)

    exhibit, _ = make(Levels(frames=2, with_hole=with_hole), "one")
    (tmp_path / "poster.png").write_bytes(exhibit.poster)
    assert (video.read_image(tmp_path / "poster.png") == level).all()


def test_frame_errors_equal_a_plain_loop() -> None:
    rng = np.random.default_rng(3)
    truth, other = rng.integers(0, 256, (2, 3, 8, 9, 3), dtype=np.uint8)
    hole: Hole = rng.random((3, 8, 9)) < 0.3
    hole[1] = False
    found = frame_errors(truth, other, hole=hole)
    assert found[1] is None
    for index in (0, 2):
        squares = [
            (int(truth[index, y, x, c]) - int(other[index, y, x, c])) ** 2
            for y in range(8)
            for x in range(9)
            for c in range(3)
            if hole[index, y, x]
        ]
        assert found[index] == pytest.approx(math.sqrt(sum(squares) / len(squares)), abs=0.01)


@pytest.mark.parametrize(("count", "columns"), [(3, 3), (4, 2), (7, 2), (8, 2), (9, 3), (12, 3)])
def test_grids_waste_few_cells(count: int, columns: int) -> None:
    layout = make_layout(tuple("abcdefghijklmn"[:count]), shape=(5, 90, 160), fps=10.0)
    assert layout.columns == columns
    assert (layout.cell_width, layout.cell_height) == (160, 96)


class NoisyMedia:
    """Large, restless frames, the worst case for a codec."""

    def frames(self, item_id: str, channel: str) -> Frames | None:
        return np.random.default_rng(len(channel)).integers(0, 256, (45, 300, 520, 3), dtype=np.uint8)

    def hole(self, item_id: str) -> Hole | None:
        hole = np.zeros((45, 300, 520), np.bool_)
        hole[:, 100:200, 100:300] = True
        return hole


def test_large_frames_shrink_and_hard_ones_lose_quality_not_size() -> None:
    exhibit, data = make(NoisyMedia(), "one")
    assert (exhibit.layout.tile_width, exhibit.layout.tile_height) == (TILE_WIDTH, 240)
    assert len(data) <= 1.5 * PROXY_BYTES


def test_a_still_image_is_an_exhibit_of_one_frame(tmp_path: Path) -> None:
    assert len(decoded(make(FlatMedia(frames=1), "one")[1], tmp_path)) == 1


def test_media_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="item 'a1' has no truth to show"):
        make(FlatMedia(absent=["truth"]), "one")

    class Short(FlatMedia):
        def frames(self, item_id: str, channel: str) -> Frames | None:
            frames = super().frames(item_id, channel)
            return frames[:-1] if channel == "one" and frames is not None else frames

    with pytest.raises(InputError, match=r"one on item 'a1' has shape \(19, 96, 160, 3\), its truth \(20, 96, 160, 3\)"):
        make(Short(), "one")
