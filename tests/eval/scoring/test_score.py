"""Missing, damaged and other-sized predictions of pictures without a hole."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from inpaintbench import video
from inpaintbench.cli import app
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.report.media import PredictionMedia
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.run_folder import check_undamaged
from inpaintbench.eval.scoring.score import Predicted, score, score_all
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Frames, Plain, Prediction, Score
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.usefixtures("whole_frames_are_known")
PUBLISHED, CORRECTED = "whole/as-published", "whole/corrected"
HEIGHT, WIDTH = 40, 30


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Three pictures that are all to be recovered; the input is the truth turned white for black."""
    rows = []
    for number in range(3):
        frames = np.random.default_rng(number).integers(0, 256, (1, HEIGHT, WIDTH, 3), dtype=np.uint8)
        video.write_image(tmp_path / f"{number}.png", frames[0])
        video.write_image(tmp_path / f"input {number}.png", 255 - frames[0])
        rows.append({
            "item_id": str(number), "truth_rgb_sha256": str(number), "hole_sha256": None, "input_sha256": str(number),
            "truth_file_name": f"{number}.png", "input_file_name": f"input {number}.png",
            "fill": 0, "hole_is_given": False, "frames": 1, "height": HEIGHT, "width": WIDTH, "fps": 25.0,
        })  # fmt: skip
    return Dataset("prints", {}, tuple(rows), (), {}, {}, {})


def truth(root: Path | str, row: Plain) -> Frames:
    return video.read_frames(Path(root) / f"{row['item_id']}.png")


def scored(tmp_path: Path, dataset: Dataset, folder: Path, protocol: str) -> dict[tuple[str, str], Score]:
    with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
        made = predict(executor, dataset, root=tmp_path, method=MethodSpec("mine", "saved_folder", {"folder": str(folder)}))
        failures = {row.subject_id: row.reason for row in made.rejected}
        rows = score(executor, dataset, root=tmp_path, methods=[Predicted("mine", made.records, failures)], protocol=protocol)[
            "mine"
        ].records
    assert {row.region for row in rows} == {"frame"}
    return {(row.item_id, row.metric): row for row in rows}


@pytest.fixture
def folder(tmp_path: Path, dataset: Dataset) -> Path:
    """One perfect prediction, one damaged, one missing."""
    made = tmp_path / "predictions"
    made.mkdir()
    video.write_image(made / "0.png", truth(tmp_path, dataset.items[0])[0])
    (made / "1.jpg").write_bytes(b"\xff\xd8\xff damaged")
    return made


def test_as_published_a_missing_prediction_scores_worst_and_says_why(tmp_path: Path, dataset: Dataset, folder: Path) -> None:
    rows = scored(tmp_path, dataset, folder, PUBLISHED)
    worst = {"mse": math.inf, "psnr": 0.0, "ssim": 0.0}
    for item, reason in (("1", "prediction '1.jpg' cannot be read"), ("2", "no prediction for item '2'")):
        for metric, value in worst.items():
            assert rows[item, metric].value == value
            assert reason in str(rows[item, metric].reason)
    assert {metric: rows["0", metric].value for metric in worst} == {"mse": 0, "psnr": math.inf, "ssim": 1}
    assert all(rows["0", metric].reason is None for metric in worst)
    means = {metric: summarise([rows[item, metric].value for item in "012"], clusters="012", infinite="keep") for metric in worst}
    assert means["mse"].mean == math.inf
    assert means["ssim"].mean == pytest.approx(1 / 3)


def test_corrected_a_missing_prediction_has_no_value_but_a_reason(tmp_path: Path, dataset: Dataset, folder: Path) -> None:
    rows = scored(tmp_path, dataset, folder, CORRECTED)
    assert {rows[item, metric].value for item in "12" for metric in ("mse", "psnr", "ssim")} == {None}
    assert all(rows[item, "mse"].reason for item in "12")
    assert rows["0", "mse"].value == 0


def test_a_stored_prediction_that_is_damaged_later_has_no_value_not_even_that_of_missing_ones(
    tmp_path: Path, dataset: Dataset, folder: Path
) -> None:
    workspace = Workspace(tmp_path / "run")
    with LocalExecutor(workspace, workers=0) as executor:
        made = predict(executor, dataset, root=tmp_path, method=MethodSpec("blank", "blank")).records
        workspace.blobs.path(made[0].blob).write_bytes(b"damaged")
        rows = score(executor, dataset, root=tmp_path, methods=[Predicted("blank", made)], protocol=PUBLISHED)["blank"].records
    assert {row.item_id for row in rows if row.value is None} == {made[0].item_id}
    assert not any(row.value is not None and math.isinf(row.value) for row in rows)
    with pytest.raises(VerifyError, match=f"item '{made[0].item_id}' of 'blank' has no scores: .* another SHA-256 than its name"):
        check_undamaged(rows, workspace.path)


def test_another_size_is_resized_as_published_and_not_measured_as_corrected(tmp_path: Path, dataset: Dataset) -> None:
    folder = tmp_path / "predictions"
    folder.mkdir()
    for row in dataset.items:
        large = truth(tmp_path, row)[0].repeat(3, axis=0).repeat(2, axis=1)
        video.write_image(folder / f"{row['item_id']}.png", large)
    assert all(row.value == 0 for (_, metric), row in scored(tmp_path, dataset, folder, PUBLISHED).items() if metric == "mse")
    corrected = scored(tmp_path, dataset, folder, CORRECTED)
    assert {row.value for row in corrected.values()} == {None}
    assert all("is 60x120, the item is 30x40" in str(row.reason) for row in corrected.values())


def test_the_gallery_shows_another_size_where_it_is_scored(tmp_path: Path, dataset: Dataset) -> None:
    workspace, row = Workspace(tmp_path / "run"), dataset.items[0]
    large = truth(tmp_path, row).repeat(2, axis=1)
    blob, _ = workspace.blobs.put(".png", lambda path: video.write_image(path, large[0]))
    damaged, _ = workspace.blobs.put(".png", lambda path: path.write_bytes(b"damaged"))
    made = [Prediction("large", "1", "0", blob, True, 0), Prediction("damaged", "1", "0", damaged, True, 0)]
    published = PredictionMedia(tmp_path, dataset, workspace.blobs, made, protocol=PROTOCOLS.get(PUBLISHED))
    np.testing.assert_array_equal(published.frames("0", "large"), truth(tmp_path, row))
    assert published.frames("0", "damaged") is None
    assert (
        PredictionMedia(tmp_path, dataset, workspace.blobs, made, protocol=PROTOCOLS.get(CORRECTED)).frames("0", "large") is None
    )


@pytest.mark.parametrize("protocol", ["devil/corrected", "devil/as-published"])
def test_a_protocol_that_measures_holes_is_refused_where_there_are_none(
    tmp_path: Path, dataset: Dataset, folder: Path, protocol: str
) -> None:
    words = f"protocol '{protocol}' measures holes, and the items of 'prints' have none; use 'whole/corrected'"
    with pytest.raises(InputError, match=words):
        scored(tmp_path, dataset, folder, protocol)
    assert usual(dataset) == CORRECTED


def test_whole_grey_frames_are_what_counts(tmp_path: Path, dataset: Dataset) -> None:
    folder = tmp_path / "predictions"
    folder.mkdir()
    for row in dataset.items:
        video.write_image(folder / f"{row['item_id']}.png", np.asarray(grey_of(truth(tmp_path, row)[0])))
    rows = scored(tmp_path, dataset, folder, CORRECTED)
    assert all(row.value == 0 for (_, metric), row in rows.items() if metric == "mse")


def grey_of(picture: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(picture.astype(int), 2, 0)
    return ((19595 * red + 38470 * green + 7471 * blue + 32768) // 65536).astype(np.uint8)


def test_an_item_that_takes_too_long_has_rows_that_say_so(tmp_path: Path, dataset: Dataset, folder: Path) -> None:
    scored(tmp_path, dataset, folder, CORRECTED)
    workspace = Workspace(tmp_path / "run")
    for ledger in (workspace.path / "ledger").glob("score.*"):
        ledger.unlink()
    sourced = replace(dataset, items=tuple({**row, "source_id": "one"} for row in dataset.items))
    with LocalExecutor(workspace, workers=1) as executor:
        score_all(executor, sourced, tmp_path, ["mine"], CORRECTED, ["mse"], Compute(), seconds=0.0001)
    rows = workspace.table("scores", Score)
    assert {(row.item_id, row.value, row.reason) for row in rows} == {
        (name, None, "took longer than 0.0001 s and was stopped") for name in "012"
    }


@pytest.mark.parametrize(("option", "value"), [("--time-limit", "0.5"), ("--max-failures", "-1")])
def test_limits_of_scoring_have_limits(option: str, value: str) -> None:
    done = CliRunner().invoke(app, ["eval", "run", "--for=scores", "data", "--run", "run", option, value])
    assert done.exit_code == 2
    assert f"Invalid value for '{option}'" in done.output
