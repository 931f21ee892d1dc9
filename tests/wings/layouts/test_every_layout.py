"""The core's tests of layouts with recipes and layouts of wings, and what only those tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Video, load_dataset
from PIL import Image as Pillow
from tests.export.layouts.test_convert import (
    check_refused,
    test_a_damaged_dataset_is_never_copied_on,
    test_a_layout_says_what_it_takes_and_where_things_lie,
    test_equal_datasets_give_equal_bytes_and_sums_that_hold,
    test_words_of_others_are_no_markdown_and_no_lines_of_their_own,
)
from tests.export.layouts.test_embedded import (
    check_columns,
    test_all_media_are_the_stored_files,
    test_pixels_and_metadata_are_those_of_the_dataset,
)
from tests.export.layouts.test_round_trip import test_every_recipe_comes_back_as_it_was_made
from tests.export.layouts.test_webdataset import test_every_item_is_one_sample_with_its_files_and_all_that_is_known

from inpaintbench import frozen
from inpaintbench.export.layouts.convert import convert

__all__ = [
    "test_a_damaged_dataset_is_never_copied_on",
    "test_a_layout_says_what_it_takes_and_where_things_lie",
    "test_all_media_are_the_stored_files",
    "test_equal_datasets_give_equal_bytes_and_sums_that_hold",
    "test_every_item_is_one_sample_with_its_files_and_all_that_is_known",
    "test_every_recipe_comes_back_as_it_was_made",
    "test_pixels_and_metadata_are_those_of_the_dataset",
    "test_words_of_others_are_no_markdown_and_no_lines_of_their_own",
]
FITS = {
    "devil": {"devil"},
    "devil_sets": {"devil"},
    "chalearn": {"decaption", "fingerprint"},
    "editboard": {"editing"},
    "reinpaint": set[str](),
}


@pytest.mark.parametrize("layout", FITS)
def test_what_does_not_fit_is_refused_with_the_layouts_that_do(
    layout: str, frozen_of: Callable[[str], Path], tmp_path: Path
) -> None:
    for kind in {"devil", "decaption", "fingerprint", "editing"} - FITS[layout]:
        check_refused(frozen_of(kind), layout, tmp_path)


def test_columns_have_the_kinds_that_datasets_knows(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    columns = {"truth": Video(), "hole": Video(), "input": Video(), "alpha": Video()}
    check_columns(frozen_of("decaption"), tmp_path / "decaption", part="all", columns=columns)
    # No edit of style is about an object.
    check_columns(frozen_of("editing"), tmp_path / "editing", part="task-SE", columns={"truth": Video()})


def test_large_slices_are_split_over_files_and_keep_their_order(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    dataset = frozen.load(frozen_of("decaption"))
    convert(frozen_of("decaption"), layout="embedded", out=tmp_path / "out", slices=["all"], constants={"shard_megabytes": 1})
    names = sorted(path.name for path in (tmp_path / "out" / "all").glob("train-*"))
    assert len(names) >= 2
    assert names == [f"train-{number:05d}-of-{len(names):05d}.parquet" for number in range(len(names))]
    splits = {row["item_id"]: row["split"] for row in dataset.items}
    loaded = load_dataset(str(tmp_path / "out"), "all", split="train", streaming=True).remove_columns(
        ["truth", "hole", "input", "alpha"]
    )
    assert [row["item_id"] for row in loaded] == [one for one in dataset.slices[0].item_ids if splits[one] == "train"]


def test_shards_begin_anew_at_their_size(frozen_of: Callable[[str], Path], tmp_path: Path) -> None:
    convert(frozen_of("decaption"), layout="webdataset", out=tmp_path / "out", constants={"shard_megabytes": 1})
    assert len(list((tmp_path / "out").glob("train-*.tar"))) >= 2


def test_datasets_loads_shards_where_some_items_lack_a_file(
    frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    dataset = frozen.load(frozen_of("editing"))
    convert(frozen_of("editing"), layout="webdataset", out=tmp_path / "out")
    rows = {row["item_id"]: row for row in dataset.items}
    loaded = load_dataset(str(tmp_path / "out"), split="test")
    streamed = load_dataset(str(tmp_path / "out"), split="test", streaming=True)
    assert loaded.features == streamed.features
    for found in (loaded, streamed):
        seen = {row["__key__"]: row for row in found}
        assert set(seen) == set(rows)
        for key, row in seen.items():
            truth = row["truth.mp4"].get_frames_in_range(0, rows[key]["frames"]).data.numpy().transpose(0, 2, 3, 1)
            assert sha256(truth) == rows[key]["truth_rgb_sha256"]
            assert (row["object_mask.mp4"] is None) == (rows[key]["object_mask_file_name"] is None)
            assert row["json"]["target_prompt"] == rows[key]["target_prompt"]
    assert {row["object_mask.mp4"] is None for row in loaded} == {True, False}


@pytest.mark.parametrize("name", ["devil", "devil_sets", "reinpaint"])
def test_layouts_of_frames_give_the_pixels_of_single_pictures_of_many_sizes(
    name: str, frozen_of: Callable[[str], Path], sha256: Callable[[Any], str], tmp_path: Path
) -> None:
    folder = frozen_of("humans")
    part = frozen.load(folder).slices[0]
    out = convert(folder, layout=name, out=tmp_path / "out", slices=[part.name]).folder
    pictures = [np.asarray(Pillow.open(path).convert("RGB"))[None] for path in sorted(out.rglob("*.png"))]
    truths = {row["truth_rgb_sha256"] for row in frozen.load(folder).items if row["item_id"] in part.item_ids}
    assert len(truths) == len(part.item_ids) >= 3
    assert truths <= {sha256(picture) for picture in pictures}
    holes = {row["hole_sha256"] for row in frozen.load(folder).items if row["item_id"] in part.item_ids}
    levels = {sha256(hole) for picture in pictures for hole in (picture[..., 0] > 127, picture[..., 0] <= 127)}
    assert holes <= levels  # whichever colour the layout gives a hole
