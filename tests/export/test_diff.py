"""What changed between two datasets, told from their manifests."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from program import run_here
from publishing_data import make_dataset

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.export.diff import (
    OTHER_PIXELS,
    SAME_PIXELS,
    Change,
    SliceChange,
    changelog,
    difference,
    is_hub_name,
    lines,
    manifest_at,
)
from inpaintbench.types import Dataset, Slice


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("diff"))


@pytest.fixture(scope="module")
def old(folder: Path) -> Dataset:
    return frozen.load(folder)


def changed(dataset: Dataset, item_id: str, **columns: object) -> Dataset:
    return replace(dataset, items=tuple(row | columns if row["item_id"] == item_id else row for row in dataset.items))


def test_equal_datasets_differ_in_nothing(old: Dataset, folder: Path) -> None:
    with manifest_at(str(folder)) as read:
        found = difference(old, read)
    assert found.equal
    assert (found.old, found.items) == (found.new, Change(3, 3))
    assert lines(found)[-1] == "the same items, slices and recipe"
    assert "The same items" in changelog(found)
    other = difference(old, replace(old, version="1.1.0", versions=dict(old.versions) | {"av": "99"}))
    assert other.equal
    assert (other.new, other.packages) == (old_id(old, "1.1.0"), {"av": Change(old.versions["av"], "99")})


def old_id(dataset: Dataset, version: str) -> str:
    return frozen.dataset_id(replace(dataset, version=version))


def test_items_and_slices_that_come_and_go_are_told_with_their_reasons(old: Dataset) -> None:
    new = replace(
        old,
        items=(*(row for row in old.items if row["item_id"] != "i0"), old.items[1] | {"item_id": "i9"}),
        slices=(Slice("high", "x == 'high'", ("i2", "i1")), Slice("low", "x < 3", ("i1", "i9")), Slice("new", "y", ("i9",))),
        left_out={"alone": "all of its items were removed"},
        removed=({"item_id": "i0", "reason": "withdrawn"},),
    )
    found = difference(old, new)
    assert (found.items_added, found.items_removed, found.items_changed) == (["i9"], {"i0": "withdrawn"}, {})
    assert (found.slices_added, found.slices_removed) == ({"new": 1}, {"alone": "all of its items were removed"})
    assert found.slices_changed["high"].reordered
    low = found.slices_changed["low"]
    assert (low.rule, low.added, low.removed, low.reordered) == (Change("x == 'low'", "x < 3"), ["i9"], ["i0"], False)
    back = difference(new, old)
    assert (back.items_added, back.items_removed) == (["i0"], {"i9": None})
    text = changelog(found)
    assert "- 1 item removed: withdrawn\n" in text
    assert r"- slice `low`: rule: x == 'low' -> x \< 3; 1 item added; 1 item removed" + "\n" in text
    assert "~ slice low: rule: x == 'low' -> x < 3" in lines(found)
    assert "+ item i9" in lines(found)
    assert not found.equal


def test_words_of_others_are_one_line_and_no_markdown(old: Dataset) -> None:
    hostile = "gone\n\n# Heading\n---\n<script>alert(1)</script> [here](x) \u202e\0\x1b[31m"
    new = replace(
        old,
        name=f"small{hostile}",
        items=tuple(row for row in old.items if row["item_id"] != "i0"),
        slices=(Slice("low", hostile, ("i1",)), Slice(hostile, "x", ("i1",))),
        left_out={"alone": hostile},
        removed=({"item_id": "i0", "reason": hostile},),
        recipe={hostile: 1, "rule": hostile},
        versions={hostile: hostile},
        files=dict(old.files) | {hostile: "0" * 64},
    )
    found = difference(old, new)
    text = changelog(found)
    assert {mark for mark in text if not mark.isprintable()} == {"\n"}
    # Outside of spans of code, every sign that could mean something has a backslash.
    assert not re.search(r"(?<!\\)[<>\[\]#]", re.sub(r"`[^`\n]*`", "", text).removeprefix("## ").replace(" -> ", ""))
    assert all(line.startswith(("- ", "Since ", "## ")) for line in text.splitlines() if line)
    assert r"- 1 item removed: gone \# Heading --- \<script\>alert(1)\</script\> \[here\](x) \[31m" in text.splitlines()
    assert all(line.isprintable() for line in lines(found))
    assert "- item i0: gone # Heading --- <script>alert(1)</script> [here](x) [31m" in lines(found)


def test_large_slices_keep_their_order(old: Dataset) -> None:
    ids = [f"i{place:05d}" for place in range(10_000)]
    added, gone = [f"n{place:05d}" for place in range(9_999, -1, -1)], ids[::2]

    def change(after: list[str]) -> SliceChange | None:
        parts = [replace(old, slices=(Slice("s", "x", tuple(names)),)) for names in (ids, after)]
        return difference(*parts).slices_changed.get("s")

    assert change(ids) is None
    assert change([*added[:5_000], *ids[1::2], *added[5_000:]]) == SliceChange(None, added, gone, reordered=False)
    assert change([*ids[1::2][::-1], *added]) == SliceChange(None, added, gone, reordered=True)
    assert change([ids[1], ids[0], *ids[2:]]) == SliceChange(None, [], [], reordered=True)


def test_columns_of_an_item_are_told_by_their_names(old: Dataset) -> None:
    new = changed(old, "i1", licence="CC0-1.0", split="train", attributes={"camera_motion": 0.5})
    assert difference(old, new).items_changed["i1"].columns == {
        "licence": Change(None, "CC0-1.0"), "split": Change("test", "train"), "attributes.camera_motion": Change(None, 0.5),
        "attributes": Change({}, None),
    }  # fmt: skip
    assert "- `licence` changed for 1 item\n" in changelog(difference(old, new))
    recipe = replace(old, recipe={"recipe": "small", "source": {"seed": 1}})
    assert difference(old, recipe).recipe == {"source.seed": Change(None, 1)}


def test_media_that_are_encoded_anew_are_told_from_other_pixels(old: Dataset) -> None:
    row = next(row for row in old.items if row["item_id"] == "i1")
    truth = row["truth_file_name"]
    again = replace(old, files=dict(old.files) | {truth: "0" * 64})
    assert difference(old, again).items_changed["i1"].media == {"truth": SAME_PIXELS}
    moved = changed(old, "i1", hole_file_name="holes/another.mp4", hole_sha256="1" * 64)
    moved = replace(moved, files=dict(moved.files) | {"holes/another.mp4": "2" * 64})
    found = difference(old, moved).items_changed["i1"]
    assert (found.media, found.columns) == ({"hole": OTHER_PIXELS}, {})
    assert f"- `hole`: {OTHER_PIXELS} for 1 item\n" in changelog(difference(old, moved))


def test_the_command_prints_words_markdown_and_json(old: Dataset, folder: Path, tmp_path: Path) -> None:
    later = make_dataset(tmp_path, licences=("CC-BY-4.0", None, "unknown", None), name="later")
    done = run_here("export", "diff", folder, later)
    assert done.returncode == 0
    assert "+ item i3" in done.stdout
    told = json.loads(run_here("export", "diff", folder, later, "--json").stdout)
    assert (told["equal"], told["items"], told["items_added"]) == (False, {"old": 3, "new": 4}, ["i3"])
    assert run_here("export", "diff", folder, later, "--changelog").stdout.startswith(
        f"## {frozen.dataset_id(frozen.load(later))}"
    )
    assert run_here("export", "diff", folder, folder).returncode == 0
    assert run_here("export", "diff", folder, later, "--json", "--changelog").returncode == 2
    with pytest.raises(InputError, match="is no folder, and no dataset of the Hub"), manifest_at(str(tmp_path / "nowhere")):
        pass
    shutil.rmtree(later)


def test_a_name_of_the_hub_is_two_words_that_are_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_hub_name("owner/name")
    (tmp_path / "owner" / "name").mkdir(parents=True)
    assert not any(map(is_hub_name, ("owner/name", "./name", "a", "a/b/c", "/a", "a/", "../a")))
