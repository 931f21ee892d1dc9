"""Inputs for everybody, the truth of some splits apart, of recipes of wings: the core's tests are run again with those."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import load_dataset
from tests.export.test_holding_back import (
    _own_cache,
    divided_of,
    parted,
    test_both_parts_are_frozen_datasets_and_come_out_the_same_again,
    test_held_back_rows_say_size_licence_and_author_and_nothing_of_the_truth,
    test_media_are_named_by_what_everybody_sees,
    test_no_byte_of_the_public_dataset_names_what_is_held_back,
    test_no_picture_of_the_public_dataset_is_a_held_back_truth_and_holes_hold_the_fill_alone,
    whole_of,
)

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.export.layouts.convert import convert
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import FingerprintRecipe
from inpaintbench.wings.chalearn.humans import HumansRecipe

__all__ = [
    "_own_cache",
    "divided_of",
    "test_both_parts_are_frozen_datasets_and_come_out_the_same_again",
    "test_held_back_rows_say_size_licence_and_author_and_nothing_of_the_truth",
    "test_media_are_named_by_what_everybody_sees",
    "test_no_byte_of_the_public_dataset_names_what_is_held_back",
    "test_no_picture_of_the_public_dataset_is_a_held_back_truth_and_holes_hold_the_fill_alone",
    "whole_of",
]
SEED = 831_407_265_911_730_264
FINGERS = FingerprintRecipe(
    fingers=3, law="uniform", seed=SEED, orientation_fields=True, width=96, height=120, splits={"train": 0.5, "test": 0.5}
)
WORLDS: dict[str, tuple[Any, SourceSpec]] = {
    "humans": (HumansRecipe(splits={"train": 0.5, "test": 0.5}), SourceSpec("drawn_people", {"count": 3})),
    "decaption": (
        DecaptionRecipe(side=32, clip_frames=20, splits={"train": 0.5, "test": 0.5}, covered_share=1.0),
        SourceSpec("embedded", {"count": 3, "width": 48, "height": 32, "frames": 30}),
    ),
    "fingerprint": (FINGERS, FINGERS.source),
}


@pytest.fixture(scope="module")
def worlds() -> dict[str, tuple[Any, SourceSpec]]:
    return WORLDS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", WORLDS)


def test_inputs_of_other_clips_show_nothing(kind: str, divided_of: Callable[[str], tuple[Path, Path]]) -> None:
    assert not {"shown_by_other_inputs", "allowed"} & set(frozen.load(divided_of(kind)[0]).facts["held_back"])


def test_datasets_loads_open_truths_beside_held_back_ones(divided_of: Callable[[str], tuple[Path, Path]]) -> None:
    public, truth = divided_of("humans")
    rows = load_dataset(str(public), "all")
    assert {row["truth"] for row in rows["test"]} == {None}
    assert all(row["truth"].size == (row["width"], row["height"]) for row in rows["train"])
    assert all(row["input"].size == (row["width"], row["height"]) for row in rows["test"])
    kept = load_dataset(str(truth), "all", split="test")
    assert [row["item_id"] for row in kept] == [row["item_id"] for row in rows["test"]]
    for shown, row in zip(rows["test"], kept, strict=True):
        assert (np.asarray(shown["input"]) == np.asarray(row["input"])).all()
        hole = np.asarray(row["hole"]) == 255
        assert (np.asarray(row["truth"])[~hole] == np.asarray(row["input"])[~hole]).all()


def test_further_files_go_with_what_they_are_of(
    divided_of: Callable[[str], tuple[Path, Path]], whole_of: Callable[[str], Path]
) -> None:
    for kind in ("fingerprint", "humans", "decaption"):
        (public, truth), whole = divided_of(kind), frozen.load(whole_of(kind))
        held, opened = parted(whole)
        if kind == "fingerprint":
            for folder, rows in ((public, opened), (truth, held)):
                assert {path.stem for path in (folder / "orientations").iterdir()} == {row["clip_id"] for row in rows}
        if kind == "humans":  # the holes are given, so their blocks are too
            shown, kept = (json.loads((folder / "maskdata.json").read_text()) for folder in (public, truth))
            assert shown == json.loads((whole_of(kind) / "maskdata.json").read_text())
            assert kept == {f"{row['item_id']}.png": shown[f"{row['item_id']}.png"] for row in held}
        if kind == "decaption":
            assert (public / "missing_ratio.svg").read_bytes() == (truth / "missing_ratio.svg").read_bytes()
            assert {path.stem for path in (public / "alphas").iterdir()} == {Path(r["alpha_file_name"]).stem for r in opened}


def test_layouts_take_the_public_dataset_where_they_have_a_place_for_it_and_the_truth_as_the_whole(
    divided_of: Callable[[str], tuple[Path, Path]], whole_of: Callable[[str], Path], tmp_path: Path
) -> None:
    public, truth = divided_of("humans")
    shown = {row["item_id"]: row for row in frozen.load(public).items}
    held = parted(frozen.load(public))[0]
    for layout in ("embedded", "webdataset"):
        convert(public, layout=layout, out=tmp_path / layout, slices=["all"])
        config = {"embedded": "all", "webdataset": "default"}[layout]
        rows = {row.get("item_id") or row["__key__"]: row for row in load_dataset(str(tmp_path / layout), config, split="test")}
        assert set(rows) == {row["item_id"] for row in held}
        for item_id, row in rows.items():
            picture = row["input"] if layout == "embedded" else row["input.png"]
            assert (np.asarray(picture) == frozen.input_view(public, shown[item_id]).input[0]).all()
            assert row["truth" if layout == "embedded" else "truth.png"] is None
    why = f"comes without its truth, as {len(held)} of its items do, which the layout 'chalearn' has a place for; take embedded"
    with pytest.raises(InputError, match=why):
        convert(public, layout="chalearn", out=tmp_path / "refused")
    of_truth, of_whole = (
        convert(folder, layout="chalearn", out=tmp_path / folder.name / "c") for folder in (truth, whole_of("humans"))
    )
    for row in held:
        for side in ("X", "Y"):
            name = f"test/{side}/{row['item_id']}.png"
            assert (of_truth.folder / name).read_bytes() == (of_whole.folder / name).read_bytes()
