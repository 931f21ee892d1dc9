"""Synthetic fingerprints, degraded as a whole."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from built import built, check_published, check_same_bytes
from datasets import load_dataset
from PIL import Image
from pydantic import ValidationError
from tests.wings.chalearn.fingerprints.classes import singular_points

from inpaintbench import frozen, video
from inpaintbench.curation import split
from inpaintbench.errors import InputError, MissingPartError
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.settings import build, corrupt
from inpaintbench.recipes.versions import Asked
from inpaintbench.types import Dataset, Plain, Prediction
from inpaintbench.wings.chalearn.fingerprint import ANGLES, FingerprintRecipe, check, moisture_level
from inpaintbench.wings.chalearn.fingerprints import fields as elastic
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Print
from inpaintbench.wings.chalearn.fingerprints.skin import orientation_in_truth
from inpaintbench.workspace import Workspace

RECIPE = FingerprintRecipe(fingers=6, impressions=2, law="uniform", orientation_fields=True)
Built = tuple[Workspace, Path, Dataset]


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("fingerprint") / "workspace", RECIPE, RECIPE.source)


def test_every_slice_and_split_loads_and_verifies(benchmark: Built, tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    check_published(folder)
    assert {part.name.partition("-")[0] for part in dataset.slices} == {
        "all",
        "class",
        "strength",
        "blocks",
        "moisture",
        "background",
    }
    loaded = load_dataset(str(folder), "all", cache_dir=str(tmp_path))
    rows = [row for part in loaded.values() for row in part]
    assert len(rows) == len(dataset.items) == 12
    assert {row["truth"].size for row in rows} == {row["input"].size for row in rows} == {(275, 400)}
    assert "hole" not in rows[0]
    classes = Counter(json.loads(row["attributes"])["finger_class"] for row in rows)
    assert classes == dict.fromkeys(CLASSES, 2)


def test_impressions_of_a_finger_share_their_split(benchmark: Built) -> None:
    _, _, dataset = benchmark
    of_finger: dict[str, set[str]] = {}
    for row in dataset.items:
        of_finger.setdefault(row["attributes"]["split_group"], set()).add(row["split"])
    assert len(of_finger) == 6
    assert all(len(splits) == 1 for splits in of_finger.values())


def test_levels_of_a_degradation_differ_in_its_strength_alone(tmp_path: Path) -> None:
    recipe = FingerprintRecipe(fingers=2, paired=True, width=160, height=200)
    _, _, dataset = built(tmp_path / "workspace", recipe, recipe.source)
    (axis,) = dataset.facts["axes"]
    assert (axis["name"], axis["levels"]) == ("degradation", ["weak", "usual", "strong"])
    groups: dict[str, dict[str, Plain]] = {}
    for row in dataset.items:
        groups.setdefault(row["attributes"]["pair.degradation"], {})[row["attributes"]["axis.degradation"]] = row
    assert len(groups) == 2
    for rows in groups.values():
        assert {row["generator_parameters"]["strength"] for row in rows.values()} == {0.5, 1.0, 2.0}
        for same in ("clip_id", "truth_file_name"):
            assert len({row[same] for row in rows.values()}) == 1
        told = [rows[level]["attributes"] for level in axis["levels"]]
        assert all(of["degradation.background"] == told[0]["degradation.background"] for of in told)
        assert all(of["degradation.order"] == told[0]["degradation.order"] for of in told)
        wear = [of["degradation.wear_rms"] for of in told]
        assert wear == sorted(wear)
        assert wear[0] < wear[2]
    for level in axis["levels"]:
        (part,) = (part for part in dataset.slices if part.name == f"degradation-{level}")
        assert set(part.item_ids) == {rows[level]["item_id"] for rows in groups.values()}


def test_pairs_of_more_than_the_most_strength_are_refused() -> None:
    with pytest.raises(
        ValueError, match="strength: pairs are degraded at half, once and twice of it, so it is above 0 and at most 2"
    ):
        FingerprintRecipe(paired=True, strength=3)


def test_published_splits_have_the_published_sizes() -> None:
    fingers = {f"{number:06d}": f"finger {number}" for number in range(92_400)}
    counts = Counter(split.assign(fingers, RECIPE.splits, seed=0).values())
    assert counts == {"train": 75_600, "validation": 8_400, "test": 8_400}


def test_what_determines_a_print_is_published_and_gives_its_truth_again(benchmark: Built) -> None:
    workspace, folder, dataset = benchmark
    sources = {row["source_id"]: row for row in dataset.items}
    for source in list(sources.values())[:3]:
        fields = Print.of_plain(source["attributes"]["print"])
        field = elastic.elastic_field(
            400, 275, seed=fields.elastic.seed, strength=fields.elastic.strength, reach=fields.elastic.reach
        )
        parts = {row.source_id: row.parts for row in _sources(workspace)}
        undistorted = video.read_image(workspace.blobs.path(parts[source["source_id"]]["undistorted"]))
        truth = frozen.truth_and_hole(folder, source)[0][0]
        assert np.array_equal(elastic.warp(undistorted, field), truth)
        assert source["attributes"]["finger_class"] == fields.finger.finger_class
        assert len(source["attributes"]["cores"]) <= len(fields.finger.cores)


def _sources(workspace: Workspace) -> list:  # type: ignore[type-arg]
    from inpaintbench.types import Source

    return workspace.table("sources", Source)


def test_cores_and_deltas_lie_where_the_published_ridges_turn(benchmark: Built) -> None:
    _, _, dataset = benchmark
    for row in dataset.items:
        field = orientation_in_truth(Print.of_plain(row["attributes"]["print"]))
        found = singular_points(field)
        for name, half_turns in (("cores", 1), ("deltas", -1)):
            places = row["attributes"][name]
            turns = [point for point in found if point.half_turns == half_turns]
            assert len(places) == len(turns), row["attributes"]["finger_class"]
            for x, y in places:
                assert min(math.dist((x, y), turn[:2]) for turn in turns) < 2


def test_orientation_pictures_hold_the_field_of_the_truth(benchmark: Built) -> None:
    _, folder, dataset = benchmark
    row = dataset.items[0]
    stored = np.asarray(Image.open(io.BytesIO((folder / "orientations" / f"{row['clip_id']}.png").read_bytes())))
    assert stored.shape == (400, 275)
    angles = orientation_in_truth(Print.of_plain(row["attributes"]["print"]))
    difference = np.abs(stored.astype(np.float64) * np.pi / ANGLES - angles)
    assert np.minimum(difference, np.pi - difference).max() <= np.pi / ANGLES


def test_methods_see_the_input_and_no_hole(benchmark: Built) -> None:
    _, folder, dataset = benchmark
    for row in dataset.items[:3]:
        seen = frozen.input_view(folder, row)
        assert np.array_equal(seen.input, video.read_frames(folder / row["input_file_name"]))
        for view in (seen, frozen.input_view(folder, row, oracle_mask=True)):
            with pytest.raises(MissingPartError, match="has no 'hole'"):
                _ = view.hole
        assert frozen.truth_and_hole(folder, row)[1].all()
        assert row["hole_sha256"] is None


def test_a_degraded_print_is_scored_whole(benchmark: Built, tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    workspace = Workspace(tmp_path / "run")
    with LocalExecutor(workspace, workers=0) as executor:
        outcome = predict(executor, dataset, root=folder, method=MethodSpec("blank", "blank"))
        assert all(row.full_frames and row.largest_change_outside == 0 for row in outcome.records)
        made = workspace.table("predictions", Prediction)
        scores = score(executor, dataset, root=folder, methods=[Predicted("blank", made)], protocol="fingerprint/corrected")[
            "blank"
        ].records
        with pytest.raises(InputError, match="needs the hole, which"):
            predict(executor, dataset, root=folder, method=MethodSpec("telea", "telea"))
    row = dataset.items[0]
    truth, seen = (np.asarray(Image.open(folder / row[f"{part}_file_name"]).convert("L"), float) for part in ("truth", "input"))
    error = {one.metric: one.value for one in scores if one.item_id == row["item_id"]}
    assert error["mse"] == pytest.approx(np.mean(((truth - seen) / 255) ** 2), rel=1e-9)


@pytest.mark.long
def test_one_seed_gives_one_benchmark_whatever_the_workers(benchmark: Built, tmp_path: Path) -> None:
    for workers in (0, 3):
        again, _, _ = built(tmp_path / f"{workers}", RECIPE, RECIPE.source, workers=workers)
        check_same_bytes(benchmark[0].path, again.path)


@pytest.mark.long
def test_as_published_prints_are_like_the_challenge(tmp_path: Path) -> None:
    recipe = FingerprintRecipe(fingers=6, law="uniform", behaviour="as-published")
    _, folder, dataset = built(tmp_path / "w", recipe, recipe.source)
    check_published(folder)
    squares = [np.mean((frozen.truth_and_hole(folder, row)[0] / 255) ** 2) for row in dataset.items]
    assert np.mean(squares) == pytest.approx(0.728, abs=0.03)
    assert dataset.left_out.keys() >= {"moisture-dry", "moisture-wet"}
    assert {row["attributes"]["degradation.jpeg_quality"] for row in dataset.items} == {75}


def test_photographs_are_backgrounds_and_other_photographs_make_other_inputs(tmp_path: Path) -> None:
    recipe = FingerprintRecipe(fingers=2, backgrounds="photographs")
    photographs = tmp_path / "photographs"
    photographs.mkdir()
    with pytest.raises(InputError, match="holds no pictures"):
        check(recipe, photographs=photographs)
    with pytest.raises(InputError, match="--photographs"):
        check(recipe)
    inputs = []
    for level in (90, 200):
        video.write_image(photographs / "flat.png", np.full((50, 60, 3), level, np.uint8))
        workspace = Workspace(tmp_path / "w")
        with LocalExecutor(workspace, workers=0) as executor:
            folder, dataset = build(
                recipe, [recipe.source], executor, workspace, photographs=photographs, asked=Asked(replace=True)
            )
        assert {row["licence"] for row in dataset.items} == {"CC0-1.0, its background: not stated"}
        digest = hashlib.sha256((photographs / "flat.png").read_bytes()).hexdigest()
        assert {row["attributes"]["degradation.background_sha256"] for row in dataset.items} == {digest}
        assert "photographs of whoever built this" in (folder / "README.md").read_text()
        inputs.append(np.stack([frozen.input_view(folder, row).input for row in dataset.items]))
        # Outside the print there is nothing but the photograph.
        assert np.median(inputs[-1][:, 0, :3]) == pytest.approx(level, abs=2)
    assert not np.array_equal(*inputs)


@pytest.mark.parametrize(
    "wrong",
    [{"fingers": 0}, {"impressions": 0}, {"law": "fair"}, {"width": 3}, {"strength": -1}, {"backgrounds": "marble"}],
    ids=str,
)
def test_choices_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((ValidationError, InputError)):
        FingerprintRecipe(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("moisture", "level"), [(-1, "dry"), (-0.34, "dry"), (-0.33, "normal"), (0.33, "normal"), (1, "wet")])
def test_moisture_has_three_levels(moisture: float, level: str) -> None:
    assert moisture_level(moisture) == level


def test_what_a_recipe_has_no_use_for_is_refused(benchmark: Built, tmp_path: Path) -> None:
    with (
        LocalExecutor(benchmark[0], workers=0) as executor,
        pytest.raises(InputError, match="'fingerprint' benchmark takes no blocks"),
    ):
        corrupt(RECIPE, executor, benchmark[0], blocks=tmp_path)


def test_photographs_that_a_recipe_does_not_show_are_refused_and_the_items_stay(benchmark: Built, tmp_path: Path) -> None:
    workspace = benchmark[0]
    before = (workspace.path / "recipe_of_items.json").read_bytes()
    with LocalExecutor(workspace, workers=0) as executor, pytest.raises(InputError, match="other backgrounds than photographs"):
        corrupt(RECIPE, executor, workspace, photographs=tmp_path)
    assert (workspace.path / "recipe_of_items.json").read_bytes() == before
