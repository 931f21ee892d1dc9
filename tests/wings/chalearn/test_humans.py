"""People with blocks missing around their joints."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from built import built, check_published, check_same_bytes
from datasets import load_dataset
from pose_files import lsp_file

from inpaintbench import frozen, video
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS
from inpaintbench.errors import InputError, RunError
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.masks.generators.given import hole_of, read_blocks
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset, Plain
from inpaintbench.wings.chalearn.humans import BLOCKS_FILE, HumansRecipe
from inpaintbench.workspace import Workspace

PEOPLE = SourceSpec("drawn_people", {"count": 12})
RECIPE = HumansRecipe()


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Path, Dataset]:
    return built(tmp_path_factory.mktemp("humans") / "workspace", RECIPE, PEOPLE)


@pytest.mark.long
def test_every_slice_and_split_loads_and_verifies(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    check_published(folder)
    names = {part.name.partition("-")[0] for part in dataset.slices}
    assert names == {"all", "area", "blocks", "joint", "set"}
    loaded = load_dataset(str(folder), "all", cache_dir=str(tmp_path))
    assert set(loaded) == {"train", "validation", "test"}
    assert sum(map(len, loaded.values())) == len(dataset.items) >= 10
    row = loaded["train"][0]
    joints = json.loads(row["attributes"])["joints"]
    assert len(joints) >= 3
    assert {"person", "name", "side", "x", "y", "visible", "side_of"} == set(joints[0])


def test_levels_of_blocks_lie_in_each_other_and_all_of_them_are_those_of_today(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, folder, dataset = built(tmp_path / "workspace", HumansRecipe(paired=True), PEOPLE)
    (axis,) = dataset.facts["axes"]
    assert (axis["name"], axis["levels"]) == ("blocks_kept", ["one", "half", "all"])
    groups: dict[str, dict[str, Plain]] = {}
    for row in dataset.items:
        if (group := row["attributes"].get("pair.blocks_kept")) is not None:
            groups.setdefault(group, {})[row["attributes"]["axis.blocks_kept"]] = row
    assert len(groups) >= 5
    for rows in groups.values():
        blocks = [rows[level]["attributes"]["mask.blocks"] for level in axis["levels"]]
        assert blocks[0] == 1
        assert blocks[1] == math.ceil(blocks[2] / 2) < blocks[2]
        one, half, every = (video.read_hole(folder / rows[level]["hole_file_name"]) for level in axis["levels"])
        assert (one <= half).all()
        assert (half <= every).all()
        assert len({rows[level]["truth_file_name"] for level in rows}) == 1
    whole = {row["item_id"] for row in dataset.items if row["attributes"].get("axis.blocks_kept") in (None, "all")}
    assert whole == {row["item_id"] for row in benchmark[2].items}
    with pytest.raises(ValueError, match="blocks that are given are taken as they are"):
        HumansRecipe(paired=True, given_blocks=True)


def test_the_mask_file_rebuilds_every_hole_and_missing_pixels_are_white(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, folder, dataset = benchmark
    blocks = read_blocks(folder / BLOCKS_FILE)
    assert len(blocks) == len(dataset.items)
    for row in dataset.items:
        triples = blocks[f"{row['item_id']}.png"]
        assert 1 <= len(triples) <= 10
        hole = video.read_hole(folder / row["hole_file_name"])
        assert (hole_of(triples, height=row["height"], width=row["width"]) == hole).all()
        seen = frozen.input_view(folder, row).input
        truth = video.read_frames(folder / row["truth_file_name"])
        assert (seen[hole] == 255).all()
        assert (seen[~hole] == truth[~hole]).all()
        assert hole.mean() <= 0.7
        ys, xs = np.nonzero(hole[0])
        assert min(ys.min(), xs.min(), row["height"] - 1 - ys.max(), row["width"] - 1 - xs.max()) >= 100


def test_hidden_joints_are_those_under_the_blocks(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, folder, dataset = benchmark
    by_id = {row["item_id"]: row for row in dataset.items}
    slices = {part.name.removeprefix("joint-"): part for part in dataset.slices if part.name.startswith("joint-")}
    assert len(slices) >= 4
    for name, part in slices.items():
        for item_id in part.item_ids:
            row = by_id[item_id]
            hole = video.read_hole(folder / row["hole_file_name"])[0]
            places = [(round(j["y"]), round(j["x"])) for j in row["attributes"]["joints"] if j["name"] == name]
            inside = [(y, x) for y, x in places if 0 <= y < hole.shape[0] and 0 <= x < hole.shape[1]]
            assert any(hole[place] for place in inside), (name, item_id)


def test_no_photograph_is_in_two_splits(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    splits: dict[str, set[str]] = {}
    for row in benchmark[2].items:
        splits.setdefault(row["attributes"]["split_group"], set()).add(row["split"])
    assert all(len(found) == 1 for found in splits.values())


@pytest.mark.long
def test_the_same_bytes_for_any_number_of_workers(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    two, _, _ = built(tmp_path / "two", RECIPE, PEOPLE, workers=2)
    check_same_bytes(two.path, benchmark[0].path)


@pytest.mark.long
def test_a_margin_that_leaves_no_room_is_told_for_every_photograph(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no photograph has room for a block"):
        built(tmp_path / "workspace", HumansRecipe(margin=2000), PEOPLE, workers=0)
    refused = Workspace(tmp_path / "workspace").table("rejected", Rejection, step="render")
    assert len(refused) == 13  # the drawn ones and a portrait
    assert all("too small" in row.reason for row in refused)


def test_the_mask_file_of_a_challenge_gives_the_same_holes_again(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, folder, dataset = benchmark
    for row in dataset.items[:4]:
        target = tmp_path / "originals" / f"{row['item_id']}.png"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / row["truth_file_name"], target)
    workspace = Workspace(tmp_path / "workspace")
    source = SourceSpec("folder", {"folder": str(tmp_path / "originals"), "media": "image"})
    with LocalExecutor(workspace, workers=0) as executor:
        again, rebuilt = build(HumansRecipe(given_blocks=True), [source], executor, workspace, blocks=folder / BLOCKS_FILE)
        with pytest.raises(InputError, match="say where it lies: --blocks FILE"):
            build(HumansRecipe(given_blocks=True), [source], executor, workspace)
    check_published(again)
    wanted = {f"{row['item_id']}.png": row["hole_sha256"] for row in dataset.items[:4]}
    assert {row["source_uri"]: row["hole_sha256"] for row in rebuilt.items} == wanted


def test_blocks_of_one_name_go_to_no_photograph_by_chance(tmp_path: Path) -> None:
    for folder, level in (("a", 60), ("b", 200)):
        (tmp_path / "originals" / folder).mkdir(parents=True)
        video.write_image(tmp_path / "originals" / folder / "1.png", np.full((300, 300, 3), level, np.uint8))
    source = SourceSpec("folder", {"folder": str(tmp_path / "originals"), "media": "image"})
    recipe, blocks = HumansRecipe(given_blocks=True, splits={"test": 1.0}), tmp_path / "blocks.json"
    with LocalExecutor(Workspace(tmp_path / "workspace"), workers=0) as executor:
        blocks.write_text('{"1.png": [[0, 0, 40]]}')
        with pytest.raises(
            InputError, match=r"the blocks of '1\.png' may be of 'a/1\.png' or 'b/1\.png': write them with their folders"
        ):
            build(recipe, [source], executor, executor.workspace, blocks=blocks)
        blocks.write_text('{"a/1.png": [[0, 0, 40]], "b/1.png": [[50, 50, 60]]}')
        _, dataset = build(recipe, [source], executor, executor.workspace, blocks=blocks)
    found = {row["source_uri"]: row["attributes"]["mask.block_triples"] for row in dataset.items}
    assert found == {"a/1.png": [[0, 0, 40]], "b/1.png": [[50, 50, 60]]}


@pytest.mark.long
def test_splits_that_are_no_shares_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1"):
        built(tmp_path / "workspace", HumansRecipe(splits={"train": 0.7, "test": 0.7}), PEOPLE, workers=0)


def test_two_sets_of_one_format_and_what_is_odd_in_a_file(tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    for number in (1, 2):
        picture = video.read_image(PHOTOGRAPHS["coffee"].path()) // number
        video.write_image(images / f"im{number:04d}.jpg", picture)
    joints = np.stack([np.stack([np.linspace(150, 450, 14), np.linspace(120, 280, 14), np.zeros(14)])] * 2, axis=2)
    lsp_file(tmp_path / "one.mat", joints)
    joints[:2, 3, 0] = np.nan
    lsp_file(tmp_path / "two.mat", joints)
    specs = [
        SourceSpec(
            "people",
            {"format": "lsp", "annotations": str(tmp_path / f"{name}.mat"), "images": str(images), "dataset": name},
            label=name,
        )
        for name in ("one", "two")
    ]
    workspace, folder, dataset = built(tmp_path / "workspace", HumansRecipe(margin=10), *specs)
    check_published(folder)
    # The photographs of both sets are the same files, so those of the second are doubles, and are told.
    assert {row["attributes"]["set"] for row in dataset.items} == {"one"}
    doubles = workspace.table("rejected", Rejection, step="probe")
    assert {row.name.partition("/")[0] for row in doubles} == {"two"}
    notes = workspace.table("rejected", Rejection, step="notes")
    assert any(row.name.startswith("two/im0001") and "hip" in row.reason for row in notes)
    with pytest.raises(InputError, match="2 sources are called 'one'"):
        built(tmp_path / "other", HumansRecipe(), specs[0], specs[0], workers=0)


@pytest.mark.real
@pytest.mark.long
def test_real_people_of_two_sets(assets: Path, tmp_path: Path) -> None:
    poses = assets / "poses" / "pose-mmpose" / "tests" / "data"
    specs = [
        SourceSpec(
            "people",
            {
                "format": "mpii" if name == "mpii" else "coco",
                "dataset": name,
                "annotations": str(poses / name / f"test_{name}.json"),
                "images": str(poses / name),
            },
            label=name,
        )
        for name in ("mpii", "coco", "ochuman")
    ]
    workspace, folder, dataset = built(tmp_path / "workspace", HumansRecipe(margin=20), *specs)
    check_published(folder)
    found = Counter(row["attributes"]["set"] for row in dataset.items)
    assert found["mpii"] == 4
    assert found["coco"] >= 3
    assert found["ochuman"] >= 2
    found_or_refused = len(dataset.items) + len(workspace.table("rejected", Rejection))
    assert found_or_refused >= 5 + 12 + 5
