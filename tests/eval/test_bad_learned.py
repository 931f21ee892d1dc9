"""Networks and sets on items and predictions at the edge of what can be measured: a value or a reason each, and no harm."""

from __future__ import annotations

import hashlib
import math
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from skimage import data

pytest.importorskip("torch")

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.scoring.run_folder import SETTINGS
from inpaintbench.eval.scoring.score import Predicted, compare_sets, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Frames, Hole, Prediction, Score, SliceScore
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.long  # networks look at every item once, for all tests
HEIGHT, WIDTH, FRAMES = 64, 96, 12
SHORT = 2
PROTOCOL = "devil/corrected"
COMPUTE = Compute(device="cpu", random_weights=3)
METRICS = ["lpips", "pvcs", "vfid", "vfid_clips", "fid", "warp_error"]
SETS = {"vfid", "vfid_clips", "fid"}
OF_CLIPS = {"pvcs", "vfid", "vfid_clips", "warp_error"}


def pan(frames: int) -> Frames:
    return np.stack([data.coffee()[100 : 100 + HEIGHT, 50 + 2 * t : 50 + WIDTH + 2 * t] for t in range(frames)])


def square(frames: int) -> Hole:
    hole = np.zeros((frames, HEIGHT, WIDTH), bool)
    hole[:, 20:40, 30:55] = True
    return hole


ITEMS: dict[str, tuple[Frames, Hole]] = {
    "usual": (pan(FRAMES), square(FRAMES)),
    "all hole": (pan(SHORT), np.ones_like(square(SHORT))),
    "no hole": (pan(SHORT)[:, ::-1], np.zeros_like(square(SHORT))),
    "one frame": (pan(1), square(1)),
    "damaged": (pan(SHORT)[:, :, ::-1], square(SHORT)),
}


class Found(NamedTuple):
    workspace: Workspace
    rows: dict[tuple[str, str, str, str], Score]
    """By method, item, metric and region."""
    sets: dict[tuple[str, str], SliceScore]
    """Of all items, by method and metric."""

    def of(self, method: str, item: str, metric: str, region: str = "frame") -> Score:
        return self.rows[method, item, metric, region]

    def vectors(self, row: Score) -> list[Frames]:
        return [np.load(self.workspace.blobs.path(str(name))) for name in (row.features, row.truth_features)]


def write(folder: Path, items: dict[str, tuple[Frames, Hole]]) -> Dataset:
    folder.mkdir(exist_ok=True)
    rows = []
    for name, (truth, hole) in items.items():
        suffix = video.suffix_for(len(truth))
        video.write_lossless(folder / f"truth {name}{suffix}", truth, fps=25.0)
        video.write_hole(folder / f"hole {name}{suffix}", hole, fps=25.0)
        rows.append({
            "item_id": name, "truth_file_name": f"truth {name}{suffix}", "hole_file_name": f"hole {name}{suffix}", "fps": 25.0,
            "frames": len(truth), "height": HEIGHT, "width": WIDTH, "truth_rgb_sha256": name, "hole_sha256": name,
            "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test", "source_id": name,
        })  # fmt: skip
    return Dataset("edges", {}, tuple(rows), (), {}, {}, {})


def run(folder: Path, names: list[str], *, workers: int, metrics: list[str] = METRICS) -> Found:
    """Scores of the inverted truth, of which the item "damaged" cannot be read, and of a perfect copy."""
    items = {name: ITEMS[name] for name in names}
    dataset, workspace = write(folder / "data", items), Workspace(folder / "run")

    def predicted(method: str, name: str, frames: Frames) -> Prediction:
        save = partial(video.write_lossless, frames=frames, fps=25.0)
        if (method, name) == ("inverted", "damaged"):
            return Prediction(
                method, "1", name, workspace.blobs.put(".mp4", lambda path: path.write_bytes(b"no video"))[0], True, 0
            )
        return Prediction(method, "1", name, workspace.blobs.put(video.suffix_for(len(frames)), save)[0], True, 0)

    methods = [
        Predicted("inverted", [predicted("inverted", name, 255 - truth) for name, (truth, _) in items.items()]),
        Predicted("copy", [predicted("copy", name, truth) for name, (truth, _) in items.items()]),
    ]
    with LocalExecutor(workspace, workers=workers) as executor:
        scored = score(
            executor, dataset, root=folder / "data", methods=methods, protocol=PROTOCOL, metrics=metrics, compute=COMPUTE
        )
        compared = compare_sets(executor, dataset, protocol=PROTOCOL, methods=["inverted", "copy"])
    assert not any(outcome.rejected for outcome in (*scored.values(), *compared.values()))
    records = [row for outcome in scored.values() for row in outcome.records]
    rows = {(row.method, row.item_id, row.metric, row.region): row for row in records}
    assert len(rows) == len(records)
    sets = {(row.method, row.metric): row for outcome in compared.values() for row in outcome.records}
    return Found(workspace, rows, sets)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return run(tmp_path_factory.mktemp("edges"), list(ITEMS), workers=0)


def test_every_row_has_a_value_vectors_or_a_reason_and_every_method_the_same_rows(found: Found) -> None:
    for (_, _, metric, _), row in found.rows.items():
        measured = row.value is not None if metric not in SETS else row.features is not None and row.truth_features is not None
        assert measured == (row.reason is None), row
        assert row.value is None or math.isfinite(row.value)
    keys = [key[1:] for key in found.rows]
    assert sorted(keys[: len(keys) // 2]) == sorted(keys[len(keys) // 2 :])
    assert {(item, metric) for item, metric, _ in keys} == {(item, metric) for item in ITEMS for metric in METRICS}


def test_a_usual_item_has_every_value(found: Found) -> None:
    usual = [row for (_, item, *_), row in found.rows.items() if item == "usual"]
    assert {row.reason for row in usual} == {None}
    assert all(row.value is None or row.value > 0 for row in usual if row.method == "inverted")


def test_perfect_copies_are_exactly_perfect(found: Found) -> None:
    for item in ("usual", "all hole", "no hole", "damaged"):
        assert found.of("copy", item, "lpips").value == found.of("copy", item, "pvcs").value == 0
        for metric in SETS:
            composite, truth = found.vectors(found.of("copy", item, metric))
            assert (composite == truth).all()


def test_an_item_that_is_all_hole_has_no_band_and_the_rest(found: Found) -> None:
    rows = {(metric, region): row for (method, item, metric, region), row in found.rows.items()
            if (method, item) == ("inverted", "all hole")}  # fmt: skip
    assert {key for key, row in rows.items() if row.reason} == {(metric, "band") for metric, region in rows if region == "band"}
    assert min(float(rows[metric, "frame"].value or 0) for metric in ("lpips", "pvcs")) > 0


def test_an_item_without_a_hole_is_the_truth_whatever_was_predicted(found: Found) -> None:
    for (method, item, metric, region), row in found.rows.items():
        if (method, item) != ("inverted", "no hole"):
            continue
        twin = found.of("copy", item, metric, region)
        assert (row.value, row.reason, row.features) == (twin.value, twin.reason, twin.features)
        assert (row.reason is None) == (region == "frame"), row


def test_a_picture_is_measured_by_what_looks_at_single_frames(found: Found) -> None:
    for (_, item, metric, region), row in found.rows.items():
        if item == "one frame":
            assert row.reason == ("one frame has no next frame" if metric in OF_CLIPS else None), (metric, region)
    composite, truth = found.vectors(found.of("inverted", "one frame", "fid"))
    assert composite.shape == truth.shape == (1, 2048)
    assert float(found.of("inverted", "one frame", "lpips").value or 0) > 0


def test_a_damaged_prediction_costs_its_own_rows_alone(found: Found) -> None:
    reasons = {row.reason for (method, item, *_), row in found.rows.items() if (method, item) == ("inverted", "damaged")}
    [reason] = reasons
    assert str(reason).startswith("the prediction of item 'damaged' cannot be read: ")
    assert {row.reason for (method, item, *_), row in found.rows.items() if (method, item) == ("copy", "damaged")} == {None}


def test_sets_are_compared_with_the_items_that_there_are(found: Found) -> None:
    assert set(found.sets) == {(method, metric) for method in ("inverted", "copy") for metric in SETS}
    counts = {key: (row.details["items"], row.details["missing"]) for key, row in found.sets.items()}
    assert counts["inverted", "fid"] == (4, 1)
    assert counts["copy", "fid"] == (5, 0)
    assert counts["inverted", "vfid"] == counts["inverted", "vfid_clips"] == (3, 2)
    assert counts["copy", "vfid"] == counts["copy", "vfid_clips"] == (4, 1)
    for (method, _), row in found.sets.items():
        assert row.reason is None
        assert row.value is not None
        assert row.value == pytest.approx(0, abs=1e-9) if method == "copy" else row.value > 1


@pytest.mark.long
def test_worker_processes_make_the_same_tables(tmp_path: Path) -> None:
    tables = []
    for workers in (0, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        run(folder, ["all hole", "one frame"], workers=workers)
        files = [path for path in sorted((folder / "run" / "tables").rglob("*")) if path.is_file() and path.suffix != SETTINGS]
        tables.append({str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files})
    assert len(tables[0]) >= 4
    assert tables[0] == tables[1]
