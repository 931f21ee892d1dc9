"""Items whose object is to be removed: what is measured where, around what, and what is said of items without a mask or truth."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scoring_probes import FRAMES, HEIGHT, NAME, WIDTH, install

from inpaintbench import frozen, video
from inpaintbench.eval.metrics.base import INAPPLICABLE
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.parts import held_back_words, open_part
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.regions import OBJECT_REGIONS
from inpaintbench.types import UNPAIRED, Dataset, Frames, Hole, Plain, Prediction, Score
from inpaintbench.workspace import Workspace

REGIONS = ("frame", *OBJECT_REGIONS)
SHAPE = (FRAMES, HEIGHT, WIDTH)


def masks() -> tuple[Hole, Hole]:
    thing, shadow = np.zeros((2, *SHAPE), bool)
    thing[:, 10:30, 20:50] = True
    shadow[:, 30:38, 20:50] = True
    return thing, shadow


def scene() -> tuple[Frames, Frames]:
    """Truth, and the input: a white object that halves the light below it."""
    truth = np.random.default_rng(0).integers(20, 236, (*SHAPE, 3), dtype=np.uint8)
    thing, shadow = masks()
    seen = np.where(shadow[..., None], truth // 2, truth)
    return truth, np.where(thing[..., None], 255, seen).astype(np.uint8)


def write(folder: Path, **changes: Any) -> tuple[Dataset, Path]:
    """A frozen dataset of one item."""
    folder.mkdir()
    truth, seen = scene()
    thing, shadow = masks()
    for name, frames in (("truth", truth), ("input", seen)):
        video.write_lossless(folder / f"{name}.mp4", frames, fps=25.0)
    for name, mask in (("hole", thing), ("object_mask", thing), ("effect_mask", shadow)):
        video.write_hole(folder / f"{name}.mp4", mask, fps=25.0)
    row = {
        "item_id": "item", "fps": 25.0, "frames": FRAMES, "height": HEIGHT, "width": WIDTH, "truth_yuv_sha256": "",
        "truth_rgb_sha256": "t", "hole_sha256": "h", "input_sha256": "i", "fill": 0, "hole_is_given": True, "split": "test",
        "source_id": "s", "generator": "rendered_removal",
        **{f"{name}_file_name": f"{name}.mp4" for name in ("truth", "input", "hole", "object_mask", "effect_mask")}, **changes,
    }  # fmt: skip
    return Dataset("removal", {}, (row,), (), {}, {}, {}), folder


def scored(tmp_path: Path, dataset: Dataset, root: Path, frames: Frames, *, full_frames: bool = True) -> dict[str, Score]:
    workspace = Workspace(tmp_path / "run")
    blob, _ = workspace.blobs.put(".mp4", partial(video.write_lossless, frames=frames, fps=25.0))
    given = Predicted("one", [Prediction("one", "1", "item", blob, full_frames, 0)])
    with LocalExecutor(workspace, workers=0) as executor:
        rows = score(executor, dataset, root=root, methods=[given], protocol=NAME)["one"].records
    return {row.region: row for row in rows}


def error(one: Frames, other: Frames, where: Hole) -> float:
    return float((((one.astype(float) - other) / 255) ** 2)[where].mean())


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "marks", "mse", regions=REGIONS, composite=False, known_from="input")


@pytest.mark.usefixtures("whole")
def test_each_region_is_measured_where_its_masks_say(tmp_path: Path) -> None:
    truth, _ = scene()
    thing, shadow = masks()
    painted = np.clip(truth.astype(int) + np.where(thing, 40, np.where(shadow, 20, 10))[..., None], 0, 255).astype(np.uint8)
    found = scored(tmp_path, *write(tmp_path / "data"), painted)
    rest = np.ones(SHAPE, bool)
    rest[:, 8:40, 18:52] = False
    for region, where in {"frame": np.ones(SHAPE, bool), "object": thing, "effect": shadow, "rest": rest}.items():
        assert found[region].value == pytest.approx(error(painted, truth, where), rel=1e-9), region


@pytest.mark.usefixtures("whole")
def test_a_prediction_of_the_hole_alone_leaves_what_the_input_shows_around_it(tmp_path: Path) -> None:
    """The truth there would take the shadow away for nothing."""
    truth, seen = scene()
    thing, shadow = masks()
    found = scored(tmp_path, *write(tmp_path / "data"), np.where(thing[..., None], truth, 0).astype(np.uint8), full_frames=False)
    assert found["object"].value == found["rest"].value == 0
    assert found["effect"].value == pytest.approx(error(seen, truth, shadow), rel=1e-9)


def test_a_prediction_can_be_pasted_over_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "marks", "mse", regions=REGIONS, known_from="input")
    truth, seen = scene()
    found = scored(tmp_path, *write(tmp_path / "data"), truth)
    assert found["object"].value == 0
    assert found["effect"].value == pytest.approx(error(seen, truth, masks()[1]), rel=1e-9)


@pytest.mark.usefixtures("whole")
def test_an_item_without_an_effect_mask_says_so_in_that_region_alone(tmp_path: Path) -> None:
    found = scored(tmp_path, *write(tmp_path / "data", effect_mask_file_name=None), scene()[1])
    assert (found["effect"].value, found["effect"].reason) == (None, "this item has no effect mask")
    assert found["effect"].details == {INAPPLICABLE: True}
    assert found["object"].value is not None
    assert found["rest"].value is not None
    assert list(found) == list(REGIONS)


@pytest.mark.usefixtures("whole")
def test_an_object_without_side_effects_lacks_no_score_of_them(tmp_path: Path) -> None:
    known = {"mask.effect_fraction": 0.0}
    found = scored(tmp_path, *write(tmp_path / "data", attributes=known), scene()[1])
    assert (found["effect"].value, found["effect"].reason) == (None, "its object changes nothing outside itself")
    assert found["effect"].details == {INAPPLICABLE: True}
    assert found["rest"].value is not None


def test_an_item_without_a_truth_is_measured_by_metrics_that_need_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pcons = PROTOCOLS.get("devil/corrected").metrics["pcons"]
    made = install(monkeypatch, tmp_path / "marks", "mse", regions=("frame", "hole"), composite=False)
    made = made.model_copy(update={"metrics": {"mse": {}, "pcons": {**pcons, "patch_pixels": 8, "last_offset_pixels": 4}}})
    monkeypatch.setattr("scoring_probes.PROTOCOL", made)
    dataset, root = write(tmp_path / "data", generator=UNPAIRED, truth_file_name=None, truth_rgb_sha256=None)
    assert open_part(dataset) is dataset
    assert held_back_words(replace(dataset, facts={"held_back": {"truth_dataset": "t"}})) is None
    workspace = Workspace(tmp_path / "run")
    blob, _ = workspace.blobs.put(".mp4", partial(video.write_lossless, frames=scene()[0], fps=25.0))
    given = Predicted("one", [Prediction("one", "1", "item", blob, True, 0)])
    with LocalExecutor(workspace, workers=0) as executor:
        rows = score(executor, dataset, root=root, methods=[given], protocol=NAME)["one"].records
    found = {(row.metric, row.region): row for row in rows}
    for region in ("frame", "hole"):
        assert found["mse", region].value is None
        assert found["mse", region].reason == "this item has no truth to compare with"
        assert found["mse", region].details == {INAPPLICABLE: True}
    assert found["pcons", "hole"].value is not None


def test_methods_see_the_input_and_the_hole_and_never_the_masks_of_the_scoring(tmp_path: Path) -> None:
    dataset, root = write(tmp_path / "data")
    row: Plain = dataset.items[0]
    view = frozen.input_view(root, row)
    np.testing.assert_array_equal(view.input, scene()[1])
    assert view.has("hole")
    assert not any(view.has(part) for part in ("truth", "object_mask", "effect_mask"))
