"""Pictures with brush or box holes, and the patch masks of the second pass."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from built import built, check_published, check_same_bytes
from datasets import load_dataset
from footage import write_sources
from pydantic import ValidationError

from inpaintbench import frozen, video
from inpaintbench.errors import InputError, RunError
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Corruption, Dataset, Prediction
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.workspace import Workspace

PHOTOGRAPHS = SourceSpec("embedded_photographs", {})
RECIPE = ReinpaintRecipe(size=128, preset="medium-256", patch_pixels=16, second_masks=4, pictures=5)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Path, Dataset]:
    return built(tmp_path_factory.mktemp("reinpaint") / "workspace", RECIPE, PHOTOGRAPHS)


def test_every_slice_loads_and_verifies(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    check_published(folder)
    names = [part.name for part in dataset.slices]
    assert names == ["all", "area-0-20", "area-20-40", "area-40-60", "kind-brush", "kind-box"]
    assert [len(part.item_ids) for part in dataset.slices[:4]] == [15, 5, 5, 5]
    row = load_dataset(str(folder), "area-20-40", split="test", cache_dir=str(tmp_path))[0]
    assert row["truth"].size == (128, 128)
    hole = np.asarray(row["hole"])
    assert 0.2 < (hole == 255).mean() <= 0.4
    assert [np.asarray(second).shape for second in row["second_hole"]] == [(128, 128)] * 4


@pytest.mark.parametrize("frames", [1, pytest.param(5, marks=pytest.mark.long)])
def test_paired_holes_of_a_picture_grow_by_the_same_strokes_under_the_same_patches(tmp_path: Path, frames: int) -> None:
    films = SourceSpec("embedded", {"count": 4, "width": 128, "height": 128, "frames": frames})
    recipe = RECIPE.model_copy(update={"paired": True, "clip_frames": frames, "motion": "tube" if frames > 1 else "static"})
    _, folder, dataset = built(tmp_path / "workspace", recipe, films if frames > 1 else PHOTOGRAPHS)
    (axis,) = dataset.facts["axes"]
    assert (axis["name"], axis["levels"]) == ("hole_area", [f"up_to_{edge}_percent" for edge in (20, 40, 60)])
    groups: dict[str, dict[str, dict]] = {}
    for row in dataset.items:
        groups.setdefault(row["attributes"]["pair.hole_area"], {})[row["attributes"]["axis.hole_area"]] = row
    assert len(groups) * 3 == len(dataset.items)
    assert len(groups) >= 3
    slices = {part.name: len(part.item_ids) for part in dataset.slices}
    assert [slices[f"hole_area-{level}"] for level in axis["levels"]] == [len(groups)] * 3
    for rows in groups.values():
        in_order = [rows[level] for level in axis["levels"]]
        holes = [video.read_hole(folder / row["hole_file_name"]) for row in in_order]
        assert len({row["truth_rgb_sha256"] for row in in_order}) == 1
        assert len({row["attributes"]["mask.kind"] for row in in_order}) == 1
        # The last stroke of each is painted smaller, so that it may stick out of the next hole.
        for small, large in pairwise(holes):
            assert (small & large).sum() >= 0.9 * small.sum()
        patches = [[video.read_hole(folder / name) for name in row["second_hole_file_names"]] for row in in_order]
        for (first, then), (ones, others) in zip(pairwise(holes), pairwise(patches), strict=True):
            known = ~first & ~then  # what either hole hides is not inpainted again
            alike = np.array([[bool((one[known] == other[known]).all()) for other in others] for one in ones])
            assert (alike.sum(axis=0) == 1).all()
            assert (alike.sum(axis=1) == 1).all()
    with pytest.raises(ValidationError, match="rejection draws other shapes for each bin"):
        ReinpaintRecipe(paired=True, reach="rejection")


def test_holes_lie_in_their_bins_and_second_holes_outside_the_first(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, folder, dataset = benchmark
    hidden = expected = variance = 0.0
    for row in dataset.items:
        low, high = row["generator_parameters"]["area"]
        first = video.read_hole(folder / row["hole_file_name"])
        assert low < first.mean() <= high
        assert first.mean() == pytest.approx(row["attributes"]["hole.hole_fraction"])
        facts = row["attributes"]["second_holes"]
        assert len(facts) == len(row["second_hole_file_names"]) == RECIPE.second_masks
        for name, fact in zip(row["second_hole_file_names"], facts, strict=True):
            second = video.read_hole(folder / name)
            assert not (first & second).any()
            assert second.mean() == pytest.approx(fact["hole.hole_fraction"])
            assert fact["mask.ratio"] == 0.4
            hidden += second.mean()
            expected += 0.4 * (1 - first.mean())
            # Cells are hidden independently: the variance is the sum over cells of P (1 - P) times their known share squared.
            cells = (~first)[0].reshape(8, 16, 8, 16).sum(axis=(1, 3)) / first.size
            variance += 0.24 * float((cells**2).sum())
    assert abs(hidden - expected) < 3 * math.sqrt(variance)


def test_a_ratio_between_two_numbers_is_published_for_every_second_mask(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"second_ratio": (0.2, 0.6), "pictures": 2, "area_edges": (0.1, 0.2)})
    _, folder, dataset = built(tmp_path / "workspace", recipe, PHOTOGRAPHS, workers=0)
    check_published(folder)
    ratios = [fact["mask.ratio"] for row in dataset.items for fact in row["attributes"]["second_holes"]]
    assert len(set(ratios)) == len(ratios) == 8
    assert 0.2 <= min(ratios) < max(ratios) <= 0.6


def test_pictures_are_png_and_never_video(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    workspace, folder, dataset = benchmark
    assert (
        {path.suffix for path in (folder / "truth").iterdir()}
        == {path.suffix for path in (folder / "holes").iterdir()}
        == {".png"}
    )
    assert not list(workspace.path.glob("blobs/*/*.mp4"))
    assert {row["fps"] for row in dataset.items} == {1.0}


def test_the_same_bytes_for_any_number_of_workers(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    workspace, _, _ = benchmark
    two, _, _ = built(tmp_path / "two", RECIPE, PHOTOGRAPHS, workers=2)
    check_same_bytes(two.path, workspace.path)


def test_methods_run_and_score_on_pictures(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
        made: list[Prediction] = predict(executor, dataset, root=folder, method=MethodSpec("telea", "telea")).records
        rows = score(executor, dataset, root=folder, methods=[Predicted("telea", made)], protocol="devil/corrected")[
            "telea"
        ].records
        with pytest.raises(InputError, match="pcons compare frames in time, and 'Re-inpainting"):
            score(
                executor, dataset, root=folder, methods=[Predicted("telea", made)], protocol="devil/corrected", metrics=["pcons"]
            )
    assert {Path(row.blob).suffix for row in made} == {".png"}
    assert {row.metric for row in rows} == {"psnr", "ssim", "mse", "hole_sharpness", "lpips", "fid", "kid"}
    in_hole = [row.value for row in rows if (row.metric, row.region) == ("psnr", "hole")]
    assert len(in_hole) == 15
    assert all(8 < value < 60 for value in in_hole)


def test_videos_get_masks_that_move(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", count=2)
    recipe = ReinpaintRecipe(size=64, preset="medium-256", clip_frames=16, motion="tube", second_masks=1, area_edges=(0.1, 0.3))
    source = SourceSpec("folder", {"folder": str(tmp_path / "sources")})
    _, folder, dataset = built(tmp_path / "workspace", recipe, source)
    check_published(folder)
    hole = video.read_hole(folder / dataset.items[0]["hole_file_name"])
    assert hole.shape[0] == 16
    assert (hole[0] == hole[7]).all()
    assert (hole[7] != hole[8]).any()
    assert all(0.1 < frame.mean() <= 0.3 for frame in hole)


def test_a_bin_that_cannot_be_reached_is_told_for_every_picture(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"area_edges": (0.9999, 1.0), "reach": "rejection", "second_masks": 0})
    with pytest.raises(RunError, match="not one hole could be made"):
        built(tmp_path / "workspace", recipe, PHOTOGRAPHS, workers=0)
    refused = Workspace(tmp_path / "workspace").table("rejected", Rejection, step="render")
    assert len(refused) == 5
    assert all("lies in the" in row.reason or "below the" in row.reason for row in refused)


def test_patches_larger_than_the_pictures_are_refused() -> None:
    with pytest.raises(ValidationError, match="patches of 100 pixels are larger than pictures of 64x64"):
        ReinpaintRecipe(size=64, patch_pixels=100)


@pytest.mark.parametrize("edges", [(0.2,), (0.4, 0.2), (0.0, 1.2), (-0.1, 0.2), (0.2, 0.2)])
def test_bins_that_make_no_sense_are_refused(edges: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError, match="are not two or more ascending numbers"):
        ReinpaintRecipe(area_edges=edges)


def test_saved_masks_are_the_first_holes(tmp_path: Path) -> None:
    masks = tmp_path / "masks"
    masks.mkdir()
    for number, colour in enumerate((0, 0, 255)):
        picture = np.full((90, 120), 255 - colour, np.uint8)
        picture[20:50, 30 + number : 80] = colour
        video.write_image(masks / f"{'abc'[number]}.png", picture)
    recipe = RECIPE.model_copy(update={"saved_masks": {"resize": True}, "masks_by_turn": True, "second_masks": 1})

    def build_from(folder: Path) -> Dataset:
        workspace = Workspace(tmp_path / "workspace")
        with LocalExecutor(workspace, workers=0) as executor:
            made, dataset = build(recipe, [PHOTOGRAPHS], executor, workspace, masks=folder)
        check_published(made)
        return dataset

    with pytest.raises(InputError, match="--saved polarity=white_is_hole"):  # the folder contradicts itself
        build_from(masks)
    assert not (tmp_path / "workspace" / "recipe.json").exists()
    (masks / "c.png").unlink()
    dataset = build_from(masks)
    assert len(dataset.items) == 5
    assert [part.name for part in dataset.slices] == ["all", "area-0-20", "kind-saved"]
    assert {row["attributes"]["mask.sequence"] for row in dataset.items} == {"a", "b"}
    assert {row["attributes"]["mask.polarity"] for row in dataset.items} == {"black_is_hole"}
    assert str(tmp_path) not in json.dumps(list(dataset.items))
    assert all(0.1 < row["attributes"]["hole.hole_fraction"] < 0.16 for row in dataset.items)


@pytest.mark.real
def test_the_objects_of_davis_as_holes(assets: Path, tmp_path: Path) -> None:
    folder = assets / "masks" / "masks-davis2017-osvos" / "results" / "semi-supervised" / "osvos"
    workspace = Workspace(tmp_path / "workspace")
    recipe = RECIPE.model_copy(update={"saved_masks": {"resize": True}, "masks_by_turn": True, "second_masks": 1})
    with LocalExecutor(workspace, workers=0) as executor:
        made, dataset = build(recipe, [PHOTOGRAPHS], executor, workspace, masks=folder)
    check_published(made)
    assert len(dataset.items) == 5
    assert {row["attributes"]["mask.polarity_guessed"] for row in dataset.items} == {"no"}


@pytest.mark.real
@pytest.mark.long
def test_the_photographs_of_other_methods(assets: Path, tmp_path: Path) -> None:
    source = SourceSpec("folder", {"folder": str(assets / "photos"), "media": "image"})
    recipe = RECIPE.model_copy(update={"pictures": 12, "second_masks": 1})
    workspace, folder, dataset = built(tmp_path / "workspace", recipe, source)
    check_published(folder)
    assert [len(part.item_ids) for part in dataset.slices[:4]] == [36, 12, 12, 12]
    assert len(workspace.table("corruptions", Corruption)) == 72
    assert not frozen.load(folder).left_out
