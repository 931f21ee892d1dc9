"""Objects to be removed: rendered with an exact truth, from pairs of others, and clips whose truth nobody has."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from built import built, check_published, check_same_bytes
from PIL import Image
from program import run_here

from inpaintbench import frozen, video
from inpaintbench.annotate.study import load
from inpaintbench.curation.sources.base import PARTS
from inpaintbench.curation.sources.removal_folders import RemovalFolders
from inpaintbench.curation.sources.removal_layouts import find
from inpaintbench.errors import InputError, Rejected, RunError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.media import PredictionMedia, how_shown
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.removal import RemovalRecipe
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.recipes.versions import Asked
from inpaintbench.types import Dataset, Frames, Plain, Prediction
from inpaintbench.workspace import Workspace

RECIPE = RemovalRecipe(size=(128, 80), frames=6)
ITEMS = 8
"""A shadow and a reflection, each without strength and with three."""


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Path, Dataset]:
    return built(tmp_path_factory.mktemp("removal") / "workspace", RECIPE, RECIPE.rendered(ITEMS))


def media(folder: Path, row: Plain) -> dict[str, np.ndarray]:
    frames = {part: video.read_frames(folder / row[f"{part}_file_name"]) for part in ("truth", "input")}
    masks = {part: video.read_hole(folder / row[f"{part}_file_name"]) for part in ("hole", "object_mask", "effect_mask")}
    return {**frames, **masks}


def members(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    return {part.name: part.item_ids for part in dataset.slices}


def test_input_and_truth_differ_by_the_object_and_its_effect_and_nothing_else(
    benchmark: tuple[Workspace, Path, Dataset],
) -> None:
    _, folder, dataset = benchmark
    assert len(dataset.items) == ITEMS
    for row in dataset.items:
        found = media(folder, row)
        differs = (found["input"] != found["truth"]).any(axis=-1)
        # Intersection over union 1: the published effect is all that differs outside the object.
        np.testing.assert_array_equal(found["effect_mask"], differs & ~found["object_mask"])
        np.testing.assert_array_equal(found["hole"], found["object_mask"])
        facts = row["attributes"]
        assert (facts["mask.effect_levels"] is None if "mask.effect_levels" in facts else True) == (
            row["generator_parameters"]["side_effect"] == "common"
        )
        assert 0 <= facts["mask.seen_elsewhere"] <= 1
        assert row["encode_crf"] == 0  # lossless, else both would differ everywhere


def test_truths_are_shared_by_all_strengths_and_slices_say_which_is_which(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, _, dataset = benchmark
    assert len({row["truth_file_name"] for row in dataset.items}) == 2
    found = members(dataset)
    assert len(found["effect-shadow"]) == len(found["effect-reflection"]) == 3
    assert {len(found[f"effect-shadow-{level}"]) for level in ("low", "mid", "high")} == {1}
    assert len(found["common"]) == 2
    assert set(found["common"]) | set(found["effect-shadow"]) | set(found["effect-reflection"]) == set(found["all"])
    assert {"camera-still", "camera-moving"} <= set(found)
    assert any(name.startswith("object_motion-") for name in found)
    assert any(name.startswith("object-") for name in found)
    assert dataset.left_out["effect-mirror"] == "no item has side effect 'mirror'"


def test_strengths_of_an_effect_are_an_axis_of_which_nothing_else_differs(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, _, dataset = benchmark
    (axis,) = dataset.facts["axes"]
    assert (axis["name"], axis["levels"]) == ("effect_strength", ["none", "low", "mid", "high"])
    groups: dict[str, dict[str, Plain]] = {}
    for row in dataset.items:
        facts = row["attributes"]
        groups.setdefault(facts["pair.effect_strength"], {})[facts["axis.effect_strength"]] = row
    assert len(groups) == 2
    for rows in groups.values():
        assert set(rows) == set(axis["levels"])
        for part in ("clip_id", "truth_file_name", "hole_sha256", "object_mask_sha256"):
            assert len({row[part] for row in rows.values()}) == 1, part
        assert len({row["input_file_name"] for row in rows.values()}) == 4
        levels = [rows[level]["attributes"].get("mask.effect_levels") or 0.0 for level in axis["levels"]]
        assert all(weak < strong for weak, strong in pairwise(levels))
    for level in axis["levels"]:
        wanted = {rows[level]["item_id"] for rows in groups.values()}
        assert set(members(dataset)[f"effect_strength-{level}"]) == wanted


@pytest.mark.long
def test_every_slice_loads_and_verifies_and_workers_change_no_byte(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    workspace, folder, _ = benchmark
    check_published(folder)
    many, _, _ = built(tmp_path / "many", RECIPE, RECIPE.rendered(ITEMS), workers=2)
    check_same_bytes(many.path, workspace.path)


def scored(
    benchmark: tuple[Workspace, Path, Dataset], run: Path, protocol: str, methods: Mapping[str, str], metric: str = "psnr"
) -> dict[tuple[str, str, str], float | None]:  # fmt: skip
    """(method, item, region) -> value of methods that are ``made`` of truth and input."""
    _, folder, dataset = benchmark
    workspace = Workspace(run)
    given = []
    for method, kind in methods.items():
        rows = []
        for row in dataset.items:
            frames = made(kind, media(folder, row))
            blob, _ = workspace.blobs.put(".mp4", partial(video.write_lossless, frames=frames, fps=row["fps"]))
            rows.append(Prediction(method, "1", row["item_id"], blob, True, 0))
        given.append(Predicted(method, rows))
    with LocalExecutor(workspace, workers=0) as executor:
        outcomes = score(executor, dataset, root=folder, methods=given, protocol=protocol, metrics=[metric])
    return {
        (name, row.item_id, row.region): row.value for name, outcome in outcomes.items() for row in outcome.records
    }  # fmt: skip


def made(kind: str, parts: Mapping[str, np.ndarray]) -> Frames:
    inside = parts["object_mask"][..., None]
    choices = {
        "perfect": parts["truth"],
        "leaves": np.where(inside, parts["truth"], parts["input"]),
        "idle": parts["input"],
        "fills": np.where(parts["hole"][..., None], parts["truth"], parts["input"]),
    }  # fmt: skip
    return np.asarray(choices[kind], np.uint8)


def test_who_leaves_the_shadow_loses_in_the_effect_and_nowhere_else_and_more_the_stronger_it_is(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, _, dataset = benchmark
    found = scored(benchmark, tmp_path, "removal/paired", {"perfect": "perfect", "leaves": "leaves", "idle": "idle"})
    slices = members(dataset)
    for kind in ("shadow", "reflection"):
        effect = []
        for level in ("low", "mid", "high"):
            [item] = slices[f"effect-{kind}-{level}"]
            assert found["leaves", item, "object"] == found["perfect", item, "object"]
            assert found["leaves", item, "rest"] == found["perfect", item, "rest"]
            worse, best = found["leaves", item, "effect"], found["perfect", item, "effect"]
            assert worse is not None
            assert best is not None
            assert worse < best
            assert found["idle", item, "effect"] == worse
            idle = found["idle", item, "object"]
            assert idle is not None
            assert idle < best
            effect.append(worse)
        assert effect[0] > effect[1] > effect[2]
    for item in slices["common"]:
        assert found["leaves", item, "effect"] is None  # there is none
        assert found["leaves", item, "object"] == found["perfect", item, "object"]


def test_the_input_takes_nothing_away_and_who_leaves_the_shadow_nothing_of_it(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, _, dataset = benchmark
    methods = {kind: kind for kind in ("perfect", "leaves", "idle")}
    removed = scored(benchmark, tmp_path, "removal/paired", methods, "effect_removed")
    kept = scored(benchmark, tmp_path, "removal/paired", methods, "background_preserved")
    for item in members(dataset)["effect-shadow"]:
        values = [removed[method, item, "effect"] for method in methods]
        # Of shadows that are there: the faintest are below one level on average.
        assert values == [1, 0, 0] or (values == [None] * 3 and item in members(dataset)["effect-shadow-low"]), item
        assert [removed[method, item, "object"] for method in methods] == [1, 1, 0]
        assert {kept[method, item, "rest"] for method in methods} == {58.92}  # of pixels that are as they were
    item = members(dataset)["common"][0]
    assert removed["perfect", item, "effect"] is None
    assert removed["perfect", item, "object"] == 1


def test_pasted_into_its_hole_even_a_perfect_prediction_leaves_the_shadow(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, _, dataset = benchmark
    found = scored(benchmark, tmp_path, "removal/pasted", {"perfect": "perfect", "leaves": "leaves"})
    for item in members(dataset)["effect-shadow"]:
        for region in ("object", "effect", "rest", "frame"):
            assert found["perfect", item, region] == found["leaves", item, region], region


def test_pictures_of_a_report_show_what_was_left_outside_the_hole_as_it_was_scored(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, folder, dataset = benchmark
    row = next(row for row in dataset.items if row["item_id"] in members(dataset)["effect-shadow-high"])
    parts, workspace = media(folder, row), Workspace(tmp_path)
    given = [
        Prediction(
            "m",
            "1",
            row["item_id"],
            workspace.blobs.put(".mp4", partial(video.write_lossless, frames=frames, fps=24.0))[0],
            whole,
            0,
        )
        for whole, frames in ((True, made("leaves", parts)), (False, made("perfect", parts) * parts["hole"][..., None]))
    ]
    for prediction, name, expected in (
        (given[0], "removal/paired", made("leaves", parts)),
        (given[0], "removal/pasted", made("fills", parts)),
        (given[1], "removal/paired", made("fills", parts)),
    ):
        shown = PredictionMedia(folder, dataset, workspace.blobs, [prediction], protocol=PROTOCOLS.get(name))
        np.testing.assert_array_equal(shown.frames(row["item_id"], "m"), expected)
    assert how_shown(dataset, PROTOCOLS.get("removal/paired")) == {"edits": False, "whole": True}


def test_whole_frames_are_kept_of_methods(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    with LocalExecutor(Workspace(tmp_path), workers=0) as executor:
        [first, *_] = predict(executor, dataset, root=folder, method=MethodSpec("telea", "telea")).records
    assert first.full_frames


# Imperfect masks


def test_imperfect_masks_have_a_parent_and_steps_and_leave_input_and_truth_as_they_are(tmp_path: Path) -> None:
    recipe = RemovalRecipe(size=(128, 80), frames=5, imperfect=("erode", "box"))
    _, folder, dataset = built(tmp_path, recipe, recipe.rendered(8))
    exact = {row["generator_parameters"].get("parent"): row for row in dataset.items}[None]
    found = members(dataset)
    assert set(found["mask-exact"]) | set(found["mask-erode"]) | set(found["mask-box"]) == set(found["all"])
    assert set(found["effect-shadow"]) <= set(found["mask-exact"])  # other slices are of exact masks
    assert len({row["item_id"] for row in dataset.items}) == len(dataset.items) > 12
    parents = {row["item_id"]: row for row in dataset.items if "parent" not in row["generator_parameters"]}
    assert len(parents) == 8
    spoilt = [row for row in dataset.items if "parent" in row["generator_parameters"]]
    for row in spoilt:
        facts = row["attributes"]
        hole, thing = (video.read_hole(folder / row[f"{part}_file_name"]) for part in ("hole", "object_mask"))
        there = thing.any(axis=(1, 2))
        shares = (hole & thing).sum(axis=(1, 2))[there] / (hole | thing).sum(axis=(1, 2))[there]
        assert facts["mask.mask_iou"] == pytest.approx(shares.mean())
        low, high = next(
            map(int, name.split("-")[1:]) for name, ids in found.items()
            if name.count("-") == 2 and name.startswith("mask_iou-") and row["item_id"] in ids
        )  # fmt: skip
        assert low / 100 <= facts["mask.mask_iou"] < high / 100
        assert row["input_file_name"] in {one["input_file_name"] for one in parents.values()}
        assert "mask.effect_known" in facts
        kind = facts["mask.mask_kind"]
        assert (hole & ~thing).any() == (kind == "box")
    assert exact["hole_sha256"] == exact["object_mask_sha256"]


def test_the_less_of_the_object_a_mask_covers_the_worse_a_fill_of_it_scores(tmp_path: Path) -> None:
    recipe = RemovalRecipe(size=(128, 80), frames=5, imperfect=("erode",))
    made_of = built(tmp_path / "workspace", recipe, recipe.rendered(8))
    found = scored(made_of, tmp_path / "run", "removal/paired", {"fills": "fills"})
    rows = [
        row for row in made_of[2].items if "001_" in row["source_uri"] and row["generator_parameters"].get("strength") == "high"
    ]
    values = {row["attributes"].get("mask.mask_iou", 1.0): found["fills", row["item_id"], "object"] for row in rows}
    assert len(values) >= 4
    assert [values[iou] for iou in sorted(values)] == sorted(values.values(), key=float)


# Clips of others


def write_pairs(folder: Path, benchmark: tuple[Workspace, Path, Dataset], places: Mapping[str, str], **changes: slice) -> None:
    """Two pairs as folders of pictures: part -> the folder of its films; ``changes``: part -> the frames that it has."""
    _, root, dataset = benchmark
    slices = members(dataset)
    for name, item in (("one", slices["effect-shadow-high"][0]), ("two", slices["effect-reflection-high"][0])):
        parts = media(root, next(row for row in dataset.items if row["item_id"] == item))
        for part, place in places.items():
            write_film(folder / place.format(name=name), parts[part][changes.get(part, slice(None))])


def write_film(target: Path, frames: np.ndarray) -> None:
    target.mkdir(parents=True)
    for index, frame in enumerate(frames):
        video.write_image(target / f"{index:05d}.png", frame)


GENERIC = {"input": "clips/{name}", "object_mask": "masks/{name}", "truth": "truth/{name}"}


def source(folder: Path, **constants: object) -> SourceSpec:
    given = {"masks": str(folder / "masks"), "truth": str(folder / "truth"), **constants}
    return SourceSpec("removal_folders", {"folder": str(folder / "clips"), **given})


def test_pairs_of_one_name_have_their_effect_derived(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    write_pairs(tmp_path, benchmark, GENERIC)
    _, folder, dataset = built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path))
    assert len(dataset.items) == 2
    for row in dataset.items:
        found = media(folder, row)
        differs = (found["input"] != found["truth"]).any(axis=-1) & ~found["object_mask"]
        assert row["attributes"]["mask.effect_known"] == "derived"
        # Both films are rendered, so all differences far away are 0: but for single pixels the effect is what differs.
        assert (found["effect_mask"] & differs).sum() > 0.9 * differs.sum()
        assert not (found["effect_mask"] & ~differs).any()
        assert row["source_uri"] in ("one", "two")


@pytest.mark.parametrize(
    ("layout", "places"),
    [
        ("beyondmasks", {"input": "objects_added/{name}", "object_mask": "masks/{name}", "truth": "object_not_present/{name}"}),
        ("vor", {"input": "fg_bg/{name}", "object_mask": "mask/{name}", "truth": "bg/{name}"}),
        ("prove", {"input": "inputs/{name}", "object_mask": "masks/{name}", "truth": "gt/{name}"}),
        (
            "rose",
            {
                "input": "Env1/Env1_Unedited/shadow/{name}_Unedited", "object_mask": "Env1/Env1_Masked/shadow/{name}_Masked",
                "truth": "Env1/Env1_Edited/shadow/{name}_Edited",
            },
        ),
        ("davis", {"input": "JPEGImages/480p/{name}", "object_mask": "Annotations/480p/{name}"}),
    ],
)  # fmt: skip
def test_public_sets_are_read_as_they_lie_on_disk(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path, layout: str, places: dict[str, str]
) -> None:
    write_pairs(tmp_path / "set", benchmark, places)
    spec = SourceSpec("removal_folders", {"folder": str(tmp_path / "set"), "layout": layout})
    _, _, dataset = built(tmp_path / "workspace", RemovalRecipe(), spec)
    assert len(dataset.items) == 2
    assert all(frozen.is_unpaired(row) == (layout == "davis") for row in dataset.items)
    assert ("effect-shadow" in members(dataset)) == (layout == "rose")


def test_rord_is_read_as_scenes_whose_last_picture_is_the_truth_of_all_others(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, root, dataset = benchmark
    parts = media(root, next(row for row in dataset.items if row["item_id"] in members(dataset)["effect-shadow-high"]))
    scene, masks = tmp_path / "set" / "outdoor" / "jpg" / "S01", tmp_path / "set" / "outdoor" / "M" / "S01"
    scene.mkdir(parents=True)
    masks.mkdir(parents=True)
    boxes = {"S01_001": (10, 20, 60, 50), "S01_002": (40, 10, 100, 30)}
    for number, (name, (left, top, right, bottom)) in enumerate(boxes.items()):
        Image.fromarray(parts["input"][number]).save(scene / f"{name}.jpg", quality=95)
        polygon = [left, top, right, top, right, bottom, left, bottom]
        marked = [{"segmentation": polygon}, {"segmentation": [1, 1]}]  # what has no three corners is no polygon
        (masks / f"{name}_M.json").write_text(json.dumps({"Learning_Data_Info.": {"Annotation": marked}}))
    Image.fromarray(parts["truth"][0]).save(scene / "S01_003.jpg", quality=95)
    spec = SourceSpec("removal_folders", {"folder": str(tmp_path / "set"), "layout": "rord"})
    _, folder, made = built(tmp_path / "workspace", RemovalRecipe(), spec)
    assert len(made.items) == 2
    assert {row["source_uri"] for row in made.items} == {"outdoor/jpg/S01"}
    assert len({row["truth_file_name"] for row in made.items}) == 1
    holes = [video.read_hole(folder / row["hole_file_name"])[0] for row in made.items]
    expected = []
    for left, top, right, bottom in boxes.values():
        expected.append(np.zeros(holes[0].shape, bool))
        expected[-1][top : bottom + 1, left : right + 1] = True
    assert {hole.tobytes() for hole in holes} == {hole.tobytes() for hole in expected}
    for row in made.items:
        number = [hole.tobytes() for hole in expected].index(video.read_hole(folder / row["hole_file_name"])[0].tobytes())
        shown = video.read_frames(folder / row["input_file_name"])[0]
        np.testing.assert_array_equal(shown, video.read_image(scene / f"{list(boxes)[number]}.jpg"))
    (masks / "S01_001_M.json").unlink()
    with pytest.raises(InputError, match=r"^pictures of 'S01' have no polygons in .*: 'S01_001.jpg'$"):
        built(tmp_path / "again", RemovalRecipe(), spec)


@pytest.mark.parametrize("count", [1, 2])
def test_films_in_archives_of_one_name_stay_apart(tmp_path: Path, count: int) -> None:
    pictures = np.random.default_rng(0).integers(0, 256, (3, count, 16, 16, 3), dtype=np.uint8)
    for side, frames in zip(("clips", "masks", "truth"), pictures, strict=True):
        (tmp_path / side).mkdir()
        with zipfile.ZipFile(tmp_path / side / "one.zip", "w") as archive:
            for number, frame in enumerate(frames):
                archive.writestr(f"{number}.png", video.png_bytes(frame))
    leaf = RemovalFolders(**source(tmp_path).constants)
    [footage] = leaf.footage()
    truth = Path(leaf.obtain(footage.payload, str(tmp_path)))
    [shown] = (tmp_path / PARTS).glob("input_all.*")
    np.testing.assert_array_equal(video.read_frames(shown), pictures[0])
    np.testing.assert_array_equal(video.read_frames(truth), pictures[2])


def test_a_truth_of_other_frames_is_refused(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3), dtype=np.uint8)
    for side in ("clips", "masks", "truth"):
        write_film(tmp_path / side / "one", frames)
    for number, path in reversed(list(enumerate(video.numbered_images(tmp_path / "truth" / "one")))):
        path.rename(path.with_name(f"{number + 30:05d}.png"))
    leaf = RemovalFolders(**source(tmp_path).constants)
    [footage] = leaf.footage()
    with pytest.raises(
        Rejected, match=r"^its truth is 00030\.png, 00031\.png \.\.\., its frames are 00000\.png, 00001\.png \.\.\.: give"
    ):
        leaf.obtain(footage.payload, str(tmp_path))


def test_the_truth_of_rord_is_the_last_picture_by_its_number(tmp_path: Path) -> None:
    scene, masks = tmp_path / "jpg" / "S", tmp_path / "M" / "S"
    scene.mkdir(parents=True)
    masks.mkdir(parents=True)
    for number in range(1, 12):
        Image.fromarray(np.full((8, 8, 3), number, np.uint8)).save(scene / f"{number}.jpg")
        marked = [{"segmentation": [1, 1, 6, 1, 6, 6]}] if number < 11 else [{"segmentation": []}]
        (masks / f"{number}_M.json").write_text(json.dumps({"Learning_Data_Info.": {"Annotation": marked}}))
    [clip] = find(tmp_path, "rord").clips
    assert clip.truth is not None
    assert clip.truth.files == (scene / "11.jpg",)
    assert [shot.name for shot in clip.shots] == [str(number) for number in range(1, 11)]
    (scene / "11.jpg").unlink()
    with pytest.raises(InputError, match=r"^the last picture of 'S' is to show no object, but '10\.jpg' has polygons$"):
        find(tmp_path, "rord")
    (scene / "4.jpg").unlink()
    with pytest.raises(InputError, match=r"have no clear order: .*5\.jpg follows 3\.jpg, .*\(1\.jpg, 2\.jpg, 3\.jpg, 5\.jpg"):
        find(tmp_path, "rord")


def test_ober_is_read_from_parquet_with_the_effects_that_it_states(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    _, root, dataset = benchmark
    rows = [row for row in dataset.items if row["item_id"] in members(dataset)["effect-shadow-high"]]
    parts = media(root, rows[0])
    both = parts["object_mask"] | parts["effect_mask"]
    pictures = {
        "input": parts["input"], "gt": parts["truth"], "object_mask": parts["object_mask"], "object_effect_mask": both,
    }  # fmt: skip
    columns = {
        name: [{"bytes": video.png_bytes(frames[place]), "path": None} for place in (0, 3)] for name, frames in pictures.items()
    }
    (tmp_path / "set" / "data").mkdir(parents=True)
    table = pa.table({**columns, "subset": ["camera", "simulation"], "split": ["test", "test"]})
    pq.write_table(table, tmp_path / "set" / "data" / "test-00000.parquet", row_group_size=1)
    spec = SourceSpec("removal_folders", {"folder": str(tmp_path / "set"), "layout": "ober"})
    _, folder, made = built(tmp_path / "workspace", RemovalRecipe(), spec)
    assert {row["source_uri"]: row["attributes"]["mask.effect_known"] for row in made.items} == {
        "test/camera/test-00000-00000": "given", "test/simulation/test-00000-00001": "given",
    }  # fmt: skip
    for row in made.items:
        place = 0 if row["source_uri"].endswith("0") else 3
        found = media(folder, row)
        for part in ("truth", "input", "object_mask"):
            np.testing.assert_array_equal(found[part][0], parts[part][place])
        np.testing.assert_array_equal(found["effect_mask"][0], both[place] & ~parts["object_mask"][place])
    pq.write_table(table.drop_columns(["gt"]), tmp_path / "set" / "data" / "test-00000.parquet")
    with pytest.raises(InputError, match=r"test-00000.parquet has no column 'gt'; it has input, object_mask"):
        built(tmp_path / "again", RemovalRecipe(), spec)


def test_side_effects_are_stated_by_a_table_or_by_folders_and_measured(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    write_pairs(tmp_path, benchmark, GENERIC)
    table = tmp_path / "effects.csv"
    table.write_text("clip;side_effect;strength\none;shadow;high\ntwo;reflection + light;\n")
    workspace, _, dataset = built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path, effects=str(table)))
    found, names = members(dataset), {row["source_uri"]: row["item_id"] for row in dataset.items}
    assert found["effect-shadow"] == found["effect-shadow-high"] == (names["one"],)
    assert found["combined"] == (names["two"],)
    rows = {row["source_uri"]: row for row in dataset.items}
    assert rows["two"]["generator_parameters"]["side_effects"] == ["reflection", "light"]
    for slice_name, fact in (("effect_levels", "mask.effect_levels"), ("effect_area", "mask.effect_fraction")):
        binned = {name: ids for name, ids in found.items() if name.startswith(f"{slice_name}-")}
        assert {item for ids in binned.values() for item in ids} == set(names.values())
        scale = 100 if slice_name == "effect_area" else 1
        for name, ids in binned.items():
            low, high = (float(part) / scale for part in name.split("-")[1:])
            assert all(low < row["attributes"][fact] <= high for row in dataset.items if row["item_id"] in ids)
    table.write_text("clip,side_effect\none,mirror\n")  # what is stated anew is another item of the same film
    with LocalExecutor(workspace, workers=0) as executor:
        _, again = build(RemovalRecipe(), [source(tmp_path, effects=str(table))], executor, workspace, asked=Asked(replace=True))
    assert [row["source_uri"] for row in again.items if row["item_id"] in members(again)["effect-mirror"]] == ["one"]
    assert "combined" not in members(again)
    table.write_text("clip,side_effect\nthree,mirror\n")
    with pytest.raises(InputError, match=r"^the table of side effects names clips that are not there: 'three'$"):
        built(tmp_path / "none", RemovalRecipe(), source(tmp_path, effects=str(table)))


def test_masks_that_are_empty_in_some_frames_are_noted_by_name(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    write_pairs(tmp_path, benchmark, GENERIC)
    for path in sorted((tmp_path / "masks" / "one").iterdir())[:1]:
        video.write_image(path, video.read_image(path) & 0)
    workspace, _, dataset = built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path))
    assert len(dataset.items) == 2
    told = [(row.name, row.reason) for row in workspace.table("rejected", Rejection, step="masks.notes")]
    assert told == [("one", "its mask is empty in 1 frame, which counts in no score of a hole")]


def test_inputs_that_share_a_truth_are_items_of_one_source(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, root, dataset = benchmark
    slices = members(dataset)
    for name, level in (("faint", "low"), ("dark", "high"), ("again", "high")):
        parts = media(root, next(row for row in dataset.items if row["item_id"] in slices[f"effect-shadow-{level}"]))
        for part, place in GENERIC.items():
            write_film(tmp_path / place.format(name=name), parts[part])
    workspace, folder, made = built(tmp_path / "workspace", RemovalRecipe(splits={"test": 0.5, "train": 0.5}), source(tmp_path))
    check_published(folder)
    assert len(made.items) == 2
    for column in ("source_id", "clip_id", "truth_file_name", "split"):
        assert len({row[column] for row in made.items}) == 1, column
    levels = {row["attributes"]["item_name"]: row["attributes"]["mask.effect_levels"] for row in made.items}
    assert set(levels) == {"again", "faint"}
    assert levels["again"] > levels["faint"]
    told = {row.name: row.reason for row in workspace.table("rejected", Rejection)}
    assert told["dark"] == "has the same bytes as again"
    assert told["faint"] == "shares its clip with again: both are items of one source"


def test_clips_without_a_truth_are_published_with_their_masks_alone(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    write_pairs(tmp_path, benchmark, {name: place for name, place in GENERIC.items() if name != "truth"})
    _, folder, dataset = built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path, truth=None))
    check_published(folder)
    for row in dataset.items:
        assert frozen.is_unpaired(row)
        assert "truth_file_name" not in row
        assert row["truth_rgb_sha256"] is None
        view = frozen.input_view(folder, row)
        assert hashlib.sha256(view.input.tobytes()).hexdigest() != ""
        assert (view.hole == video.read_hole(folder / row["object_mask_file_name"])).all()
    assert "held back" not in (folder / "README.md").read_text()
    assert run_here("eval", "run", folder, "--run", tmp_path / "run", "--method", "telea", "--workers", "0").returncode == 0
    told = run_here("eval", "run", "--for=scores", folder, "--run", tmp_path / "run", "--workers", "0")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "removal/unpaired" in told.stdout + told.stderr
    report = run_here("eval", "report", folder, "--run", tmp_path / "run")
    assert report.returncode == 0, report.stderr


# Levels of masks


def quadmasks(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Folders as VOID is trained on and as it reads them; name -> film, quadmask and truth."""
    made = {}
    for name, names in (("pair", ("rgb_full", "mask", "rgb_removed")), ("alone", ("input_video", "quadmask_0", None))):
        truth = np.random.default_rng(len(name)).integers(90, 200, (4, 48, 64, 3), np.uint8)
        shown, levels = truth.copy(), np.full(truth.shape[:3], 255, np.uint8)
        levels[:, 28:40, 10:40], levels[:, 8:32, 20:36] = 127, 0
        levels[:, 28:32, 20:36] = 63
        shown[levels == 127] //= 2
        shown[levels < 127] = (200, 40, 30)
        (folder / name).mkdir(parents=True)
        grey = np.repeat(levels[..., None], 3, axis=3)
        for film, frames in zip(names, (shown, grey, truth), strict=True):
            if film:
                video.write_lossless(folder / name / f"{film}.mp4", frames, fps=8)
        made[name] = {"shown": shown, "levels": levels, "truth": truth}
    return made


def test_quadmasks_are_object_and_effect_by_the_layout_of_void(tmp_path: Path) -> None:
    made = quadmasks(tmp_path / "set")
    spec = SourceSpec("removal_folders", {"folder": str(tmp_path / "set"), "layout": "void"})
    _, folder, dataset = built(tmp_path / "workspace", RemovalRecipe(), spec)
    check_published(folder)
    assert {row["source_uri"]: frozen.is_unpaired(row) for row in dataset.items} == {"pair": False, "alone": True}
    for row in dataset.items:
        films = made[row["source_uri"]]
        np.testing.assert_array_equal(frozen.input_view(folder, row).input, films["shown"])
        for part in ("hole", "object_mask"):
            np.testing.assert_array_equal(video.read_hole(folder / row[f"{part}_file_name"]), films["levels"] < 127)
        np.testing.assert_array_equal(video.read_hole(folder / row["effect_mask_file_name"]), films["levels"] == 127)
        assert row["attributes"]["mask.effect_known"] == "given"
        assert row["attributes"]["mask.effect_fraction"] == pytest.approx((films["levels"] == 127).mean())


def test_what_levels_mean_is_asked_for_and_never_guessed(tmp_path: Path) -> None:
    films = quadmasks(tmp_path / "set")["pair"]
    for name, frames in (("clips", films["shown"]), ("truth", films["truth"]), ("masks", films["levels"])):
        write_film(tmp_path / name / "one", frames)
    dark = films["levels"] < 127

    def hole(values: str | None) -> np.ndarray:
        given = {} if values is None else {"mask_values": values}
        _, folder, dataset = built(tmp_path / f"{values}", RemovalRecipe(), source(tmp_path, **given))
        (row,) = dataset.items
        assert (row["attributes"]["mask.effect_known"] == "given") == (values == "quad")
        return video.read_hole(folder / row["hole_file_name"])

    np.testing.assert_array_equal(hole("quad"), dark)
    np.testing.assert_array_equal(hole("black"), films["levels"] <= 127)
    for values in (None, "white"):
        np.testing.assert_array_equal(hole(values), films["levels"] > 0)


def test_a_mask_of_other_values_is_refused_by_name_where_four_were_asked_for(tmp_path: Path) -> None:
    films = quadmasks(tmp_path / "set")["pair"]
    levels = films["levels"].copy()
    levels[:, :8, 40:60] = 190
    for name, frames in (("clips", films["shown"]), ("truth", films["truth"]), ("masks", levels)):
        write_film(tmp_path / name / "one", frames)
    with pytest.raises(RunError):
        built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path, mask_values="quad"))
    reasons = {row.reason for row in Workspace(tmp_path / "workspace").table("rejected", Rejection)}
    assert any("its mask has areas of 190, which is none of 0, 63, 127, 255" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda root: shutil.rmtree(root), "not in the layout 'void', which has folders of clips with 'input_video.mp4' and"),
        (
            lambda root: (root / "alone" / "quadmask_0.mp4").unlink(),
            "'alone' has no mask; looked for 'input_video.mp4' and",
        ),
    ],
)
def test_folders_that_are_not_voids(change: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    quadmasks(tmp_path / "set")
    change(tmp_path / "set")
    with pytest.raises(InputError, match=words):
        RemovalFolders(folder=str(tmp_path / "set"), layout="void").found()


def test_masks_that_are_no_pictures_have_no_levels(tmp_path: Path) -> None:
    pictures = tmp_path / "SET" / "jpg" / "scene"
    write_film(pictures, np.zeros((2, 16, 16, 3), np.uint8))
    for path in pictures.glob("*.png"):
        Image.open(path).save(path.with_suffix(".jpg"))
        path.unlink()
    (tmp_path / "SET" / "M" / "scene").mkdir(parents=True)
    (tmp_path / "SET" / "M" / "scene" / "00000_M.json").write_text("{}")
    leaf = RemovalFolders(folder=str(tmp_path), layout="rord", mask_values="black")
    with pytest.raises(InputError, match="the masks of 'SET/jpg/scene' are no pictures: leave --mask-values out"):
        leaf.found()


def test_folders_of_several_names_are_all_told_where_none_is_there(tmp_path: Path) -> None:
    (tmp_path / "inputs").mkdir()
    with pytest.raises(InputError) as caught:
        find(tmp_path, "vor")
    assert str(caught.value).endswith(
        "which has clips in 'fg_bg' or 'FG_BG', masks in 'mask' or 'masks' or 'MASK',"
        " truths in 'bg' or 'background' or 'BG'; it has 'inputs'"
    )


@pytest.mark.long
def test_people_judge_clips_without_a_truth_by_the_shipped_study(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pairs(tmp_path, benchmark, {name: place for name, place in GENERIC.items() if name != "truth"})
    _, folder, _ = built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path, truth=None))
    monkeypatch.chdir(tmp_path)
    run = run_here("eval", "run", folder, "--run", "RUN", "--method", "telea", "--method", "blank", "--workers", "0")
    assert run.returncode == 0, run.stderr
    assert run_here("annotate", "new", "removal", "--out", "study.toml").returncode == 0
    text = Path("study.toml").read_text().replace('"DATASET"', f'"{folder}"')
    Path("study.toml").write_text(text.replace('"METHOD-1", "METHOD-2", "METHOD-3"', '"telea", "blank"'))
    prepared = run_here("annotate", "prepare", "study.toml", "--out", "STUDY", "--workers", "0")
    assert prepared.returncode == 0, prepared.stderr
    study = load(Path("STUDY"))
    assert len(study.tasks) == 2 * 3
    for proxy in study.proxies.values():  # nobody has an original to show
        assert sorted(tile.role for tile in proxy.tiles) == ["candidate", "candidate", "input", "outline"]
    votes = [
        {"rater": rater, "task_id": task.task_id, "shown": task.candidates, "seconds": 5,
         "given": {"better": f"place-{task.candidates.index('telea')}"}}
        for task in study.tasks for rater in ("ann", "bob", "cleo", "dan", "eva")
    ]  # fmt: skip
    Path("votes.jsonl").write_text("".join(json.dumps(vote) + "\n" for vote in votes))
    for words in (("import", "STUDY", "votes.jsonl"), ("ranking", "STUDY"), ("resolve", "STUDY")):
        done = run_here("annotate", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        if words[0] == "ranking":
            assert done.stdout.count("telea") == 3
            assert done.stdout.index("telea") < done.stdout.index("blank")
    assert "human_preference" in done.stdout


def test_sizes_are_squeezed_together(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    write_pairs(tmp_path, benchmark, GENERIC)
    _, folder, dataset = built(tmp_path / "workspace", RemovalRecipe(size=(96, 48), frames=4), source(tmp_path))
    for row in dataset.items:
        assert {name: array.shape[:3] for name, array in media(folder, row).items()} == dict.fromkeys(
            ("truth", "input", "hole", "object_mask", "effect_mask"), (4, 48, 96)
        )


def test_names_without_a_partner_are_told_all_at_once_or_left_out(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    write_pairs(tmp_path, benchmark, GENERIC)
    (tmp_path / "masks" / "two").rename(tmp_path / "masks" / "Two")
    words = r"clips without a partner: 'two'; masks without a partner: 'Two'; truths without a partner: 'two': name them alike"
    with pytest.raises(InputError, match=words):
        built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path))
    workspace, _, dataset = built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path, allow_unmatched=True))
    assert len(dataset.items) == 1
    told = [row.reason for row in workspace.table("rejected", Rejection, step="notes")]
    assert told == [f"{side} without a partner of its name" for side in ("clips", "masks", "truths")]


def test_films_of_other_lengths_and_full_masks_are_refused_by_name(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    write_pairs(tmp_path, benchmark, GENERIC)
    (tmp_path / "clips" / "one" / "00005.png").unlink()
    shape = video.read_image(tmp_path / "masks" / "two" / "00000.png").shape[:2]
    for path in (tmp_path / "masks" / "two").iterdir():
        video.write_image(path, np.ones(shape, bool))
    with pytest.raises(RunError, match="not one object can be removed"):
        built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path))
    told = {row.name: row.reason for row in Workspace(tmp_path / "workspace").table("rejected", Rejection)}
    assert told["one"] == "its films have other lengths: input 5, mask 6, truth 6"
    assert told["two"] == "its object covers all of the clip, once scaled and cropped"


def test_pictures_of_another_size_are_refused(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    write_pairs(tmp_path, benchmark, GENERIC)
    for path in (tmp_path / "masks" / "one").iterdir():
        video.write_image(path, video.read_image(path)[:40])
    for path in (*(tmp_path / "clips" / "two").iterdir(), *(tmp_path / "masks" / "two").iterdir()):
        video.write_image(path, video.read_image(path)[:40])
    with pytest.raises(RunError, match="no clips from 2 files"):
        built(tmp_path / "workspace", RemovalRecipe(), source(tmp_path))
    told = [(row.name, row.reason) for row in Workspace(tmp_path / "workspace").table("rejected", Rejection)]
    assert told == [
        ("one", "its masks are 128x40, its frames 128x80: give masks of the size of the frames"),
        ("two", "its frames are 128x40 with the object and 128x80 without it: give films of one size"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give --items N or --demo, --pairs FOLDER"),
        (("--items", "4", "--demo"), None),
        (("--demo", "--imperfect", "blur"), "kind of imperfect mask 'blur'"),
        (("--pairs", "."), "--pairs and --layout go together"),
        (("--clips", "."), "--clips needs --masks of the same names"),
        (("--items", "4", "--mask-values", "quad"), "--mask-values says something of the masks of --pairs or --clips"),
        (("--pairs", ".", "--layout", "void", "--mask-values", "quod"), "'quod'"),
        (("--pairs", ".", "--layout", "rose"), "not in the layout 'rose'"),
        (("--pairs", ".", "--layout", "vor"), "not in the layout 'vor', which has clips in 'fg_bg' or 'FG_BG', masks in 'mask'"),
    ],
)
def test_what_the_command_cannot_do_is_told_before_there_is_a_folder(
    tmp_path: Path, arguments: tuple[str, ...], words: str | None
) -> None:
    given = [str(tmp_path) if word == "." else word for word in arguments]
    small = ("--size", "128x80", "--frames", "3", "--workers", "0")
    done = run_here("build", "removal", *given, "--out", tmp_path / "workspace", *small)
    if words is None:
        assert done.returncode == 0, done.stderr
        shutil.rmtree(tmp_path / "workspace")
        return
    assert done.returncode != 0
    assert words in " ".join((done.stdout + done.stderr).split())
    assert not (tmp_path / "workspace").exists()


def test_scene_facts_are_plain(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, _, dataset = benchmark
    for row in dataset.items:
        assert json.loads(json.dumps(row["generator_parameters"])) == row["generator_parameters"]
        assert row["generator_parameters"].get("strength") in (None, "low", "mid", "high")
