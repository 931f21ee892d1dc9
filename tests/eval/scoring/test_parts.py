"""Slices by name, those that a dataset does not publish too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from publishing_data import make_dataset

from inpaintbench import frozen
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.scoring.parts import items_of_slices, named, of_slices
from inpaintbench.export.freeze import seal
from inpaintbench.types import Dataset, Slice

ITEMS = tuple({"item_id": name, "split": split} for name, split in (("a", "train"), ("b", "test"), ("c", "test")))
DATASET = Dataset("made", {}, ITEMS, (Slice("night", "dark", ("a", "c")), Slice("none", "nothing", ())), {}, {}, {})


def test_published_slices_splits_and_all_items_have_names() -> None:
    assert [named(DATASET, name).item_ids for name in ("night", "split-test", "split-train", "all items")] == [
        ("a", "c"), ("b", "c"), ("a",), ("a", "b", "c"),
    ]  # fmt: skip
    assert items_of_slices(DATASET, ["night", "split-test"]) == {"a", "b", "c"}
    with pytest.raises(UnknownNameError, match="unknown slice 'split-tes', did you mean 'split-test'"):
        named(DATASET, "split-tes")
    with pytest.raises(InputError, match="no item is in 'none'"):
        items_of_slices(DATASET, ["none"])


def test_a_published_slice_comes_before_a_split_of_its_name() -> None:
    own = Slice("split-test", "mine", ("a",))
    assert named(Dataset("made", {}, ITEMS, (own,), {}, {}, {}), "split-test") == own


def test_sources_of_items_are_read_from_columns(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path)
    rows = [dict(row) for row in frozen.load(folder).items]
    rows[1] |= {"attributes": {**rows[1]["attributes"], "split_group": "person 7"}, "split": "train"}
    seal(folder, replace(frozen.load(folder), items=tuple(rows)))
    dataset = frozen.load(folder)
    assert frozen.sources_of(dataset) == {"i0": "s0", "i1": "person 7", "i2": "s2"}
    assert list(frozen.sources_of(dataset).items()) == [(row["item_id"], frozen.source_of(row)) for row in dataset.items]


def test_of_some_slices_nothing_else_is_left() -> None:
    part = of_slices(DATASET, ["night", "night"])
    assert [one.name for one in part.slices] == ["night"]
    assert {row["item_id"] for row in part.items} == set(part.slices[0].item_ids) < {row["item_id"] for row in DATASET.items}
