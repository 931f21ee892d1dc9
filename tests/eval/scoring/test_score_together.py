"""Several methods scored at once: the same numbers as one by one, shared work, and no harm from one to another."""

from __future__ import annotations

import errno
import gc
import hashlib
import importlib.util
import os
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scoring_probes import HEIGHT, NAME, WIDTH, Alone, calls, install, predictions, write_items

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.flows import Dis
from inpaintbench.eval.metrics.base import Measurement, mean_over_clip
from inpaintbench.eval.scoring import score_item
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.eval.scoring.score_arrays import score_arrays
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.models import torch_networks, weights
from inpaintbench.models.torch_networks import torch
from inpaintbench.types import Dataset, Frames, Prediction, Score
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

LEVELS = {"dark": 10, "middle": 90, "bright": 200}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the truth from another test."""
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    return tmp_path / "marks"


@pytest.fixture
def items(tmp_path: Path) -> Dataset:
    return write_items(tmp_path / "data")


def run(
    tmp_path: Path, items: Dataset, methods: Sequence[Predicted], *, run_folder: str = "run", workers: int = 0, **options: Any
) -> dict[str, list[Score]]:
    options = {"protocol": NAME} | options
    with LocalExecutor(Workspace(tmp_path / run_folder), workers=workers) as executor:
        found = score(executor, items, root=tmp_path / "data", methods=methods, **options)
    return {method: outcome.records for method, outcome in found.items()}


def all_methods(tmp_path: Path, items: Dataset, *, run_folder: str = "run") -> list[Predicted]:
    blobs = Workspace(tmp_path / run_folder).blobs
    return [Predicted(name, predictions(blobs, items, name, level=level)) for name, level in LEVELS.items()]


def tables(folder: Path) -> dict[str, str]:
    files = sorted((folder / "tables").rglob("*"))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()}


def test_methods_scored_at_once_one_by_one_and_in_workers_make_the_same_tables(tmp_path: Path, items: Dataset) -> None:
    """With the published metrics, in all regions."""
    for folder, workers in (("once", 0), ("workers", 2)):
        made = all_methods(tmp_path, items, run_folder=folder)
        run(tmp_path, items, made, run_folder=folder, workers=workers, protocol="devil/corrected", metrics=["psnr", "mse"])
    for one in all_methods(tmp_path, items, run_folder="singly"):
        run(tmp_path, items, [one], run_folder="singly", protocol="devil/corrected", metrics=["psnr", "mse"])
    expected = tables(tmp_path / "singly")
    assert len(expected) == 12  # a table with its hash and settings, and a digest for each method
    assert tables(tmp_path / "once") == expected
    assert tables(tmp_path / "workers") == expected


def test_a_metric_sees_all_methods_at_once_and_looks_at_the_truth_once(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_together")
    found = run(tmp_path, items, all_methods(tmp_path, items))
    assert calls(marks, "together") == calls(marks, "together item ? 3") == 2
    assert calls(marks, "truth") == 2
    means = [row.value for row in found["dark"]], [row.value for row in found["bright"]]
    hole_share = 20 * 30 / (HEIGHT * WIDTH)
    np.testing.assert_allclose(np.subtract(means[1], means[0]), hole_share * (200 - 10), atol=1e-3)


def test_a_method_that_comes_later_is_measured_alone_and_finds_what_is_known_of_the_truth(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_together", "probe_alone")
    made = all_methods(tmp_path, items)
    run(tmp_path, items, made[:2])
    assert (calls(marks, "alone"), calls(marks, "truth")) == (4, 2)
    assert len(list((tmp_path / "cache").rglob("*.npy"))) == 2
    later = run(tmp_path, items, made)
    assert calls(marks, "alone") == 6  # the new method alone
    assert calls(marks, "together item ? 1") == 2
    assert calls(marks, "truth") == 2
    assert {method: len(rows) for method, rows in later.items()} == dict.fromkeys(LEVELS, 4)
    fresh = run(tmp_path, items, all_methods(tmp_path, items, run_folder="fresh"), run_folder="fresh")
    assert later == fresh


def test_flow_is_estimated_once_for_each_pair_of_a_truth(tmp_path: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of items, methods, runs and calls."""
    fields: list[int] = []
    estimated = Dis.coarse

    def counted(self: Dis, one: Frames, other: Frames, compute: Compute) -> Any:
        fields.append(len(one))
        return estimated(self, one, other, compute)

    monkeypatch.setattr(Dis, "coarse", counted)
    truths = len({row["truth_rgb_sha256"] for row in items.items})
    again = tuple({**row, "item_id": f"{row['item_id']} again"} for row in items.items)
    how: dict[str, Any] = {"protocol": "devil/corrected", "metrics": ["warp_error"]}
    values = []
    for folder in ("run", "other run"):
        made = all_methods(tmp_path, items, run_folder=folder)
        for one in made:
            one.predictions.extend([replace(row, item_id=f"{row.item_id} again") for row in one.predictions])  # type: ignore[attr-defined]
        for methods in (made[:2], made):
            values.append(run(tmp_path, replace(items, items=(*items.items, *again)), methods, run_folder=folder, **how))
    assert values[1] == values[3]
    frames = video.read_frames(tmp_path / "data" / items.items[0]["truth_file_name"])
    score_arrays(frames, np.ones(frames.shape[:3], np.bool_), frames, metrics=["warp_error"])
    assert sum(fields) == truths * (len(frames) - 1) * 2 > 0


def test_arrays_of_the_truth_that_a_crash_tore_are_made_again(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_together")
    made = all_methods(tmp_path, items)
    before = run(tmp_path, items, made[:1])
    for path in (tmp_path / "cache").rglob("*.npy"):
        path.write_bytes(path.read_bytes()[:-2])
    after = run(tmp_path, items, [made[0], *made[1:]])
    assert calls(marks, "truth") == 4
    assert after["dark"] == before["dark"]


def test_a_missing_damaged_or_other_sized_prediction_harms_no_other_method(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_alone", "probe_together")
    blobs = Workspace(tmp_path / "run").blobs
    whole = predictions(blobs, items, "whole", level=90)
    size = np.full((6, HEIGHT, WIDTH - 2, 3), 90, np.uint8)
    short = np.full((5, HEIGHT, WIDTH, 3), 90, np.uint8)
    stored = {
        name: blobs.put(".mp4", lambda path, frames=frames: video.write_lossless(path, frames, fps=25.0))[0]
        for name, frames in (("narrow", size), ("short", short))
    }
    stored["damaged"], _ = blobs.put(".mp4", lambda path: path.write_bytes(b"no video"))
    methods = [Predicted("whole", whole), Predicted("absent", [], {"item 0": "it crashed"})]
    methods += [Predicted(name, [Prediction(name, "1", "item 0", blob, False, 0), whole[1]]) for name, blob in stored.items()]
    rows = run(tmp_path, items, methods)
    reasons = {method: {row.reason for row in found if row.item_id == "item 0"} for method, found in rows.items()}
    assert reasons["whole"] == {None}
    assert reasons["absent"] == {"it crashed"}
    assert reasons["narrow"] == {"the prediction of item 'item 0' is 62x48, the item is 64x48"}
    assert reasons["short"] == {"the prediction of item 'item 0' is 5 frames, the item is 6 frames"}
    [damaged] = reasons["damaged"]
    assert str(damaged).startswith("the prediction of item 'item 0' cannot be read: ")
    assert {row.reason for row in rows["absent"] if row.item_id == "item 1"} == {"the method was not run on this item"}
    assert all(row.value is not None for row in rows["whole"])
    for name in stored:
        assert [row.value for row in rows[name] if row.item_id == "item 1"] == [
            row.value for row in rows["whole"] if row.item_id == "item 1"
        ]


def test_what_one_prediction_makes_unmeasurable_is_measured_for_the_others(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_picky", "probe_alone")
    blobs = Workspace(tmp_path / "run").blobs
    methods = [Predicted(name, predictions(blobs, items, name, level=level)) for name, level in (("grey", 99), ("white", 255))]
    rows = run(tmp_path, items, methods)
    picky = {method: {(row.value, row.reason) for row in found if row.metric == "probe_picky"} for method, found in rows.items()}
    assert picky == {"grey": {(1.0, None)}, "white": {(None, "a hole is white")}}
    assert all(row.value is not None for found in rows.values() for row in found if row.metric == "probe_alone")


class Watching(Alone):
    """Counts the composites that are alive while it measures."""

    composites: tuple[Any, ...] = ()
    most = 0

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        gc.collect()
        Watching.composites = (*Watching.composites, weakref.ref(view.composite))
        alive = {id(one()) for one in Watching.composites if one() is not None}
        Watching.most = max(Watching.most, len(alive))
        return super().measure(view)


@pytest.mark.parametrize(("held", "goes"), [(1, 3), (3, 2), (4, 1)])
def test_more_methods_than_memory_holds_are_measured_in_several_goes(
    tmp_path: Path, marks: Path, monkeypatch: pytest.MonkeyPatch, held: int, goes: int
) -> None:
    """Each go lets its composites go before the next; the truth takes the place of one."""
    items = write_items(tmp_path / "data", count=1)
    install(monkeypatch, marks, "probe_alone", "probe_together")
    monkeypatch.setattr("scoring_probes.Alone", Watching)
    monkeypatch.setattr(Watching, "composites", ())
    monkeypatch.setattr(Watching, "most", 0)
    monkeypatch.setattr(score_item, "_HELD_BYTES", held * 6 * HEIGHT * WIDTH * 3)
    rows = run(tmp_path, items, all_methods(tmp_path, items))
    assert calls(marks, "together") == goes
    assert Watching.most <= max(1, held - 1)
    assert calls(marks, "truth") == 1
    monkeypatch.undo()
    install(monkeypatch, tmp_path / "other marks", "probe_alone", "probe_together")
    at_once = run(tmp_path, items, all_methods(tmp_path, items, run_folder="at once"), run_folder="at once")
    assert {name: [row.value for row in found] for name, found in rows.items()} == {
        name: [row.value for row in found] for name, found in at_once.items()
    }


def test_how_networks_ran_is_in_the_fingerprint_where_it_changes_numbers(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = install(monkeypatch, marks, "probe_together")
    made = all_methods(tmp_path, items)[:1]
    marked = {}
    computes = [Compute(), Compute(batch_bytes=1, device="cpu"), Compute(precision="bf16"), Compute(random_weights=3)]
    for compute in computes:
        marked[compute] = {row.fingerprint for row in run(tmp_path, items, made, compute=compute)["dark"]}
    digits = protocol.fingerprint
    assert list(marked.values()) == [{digits}, {digits}, {f"{digits}+bf16"}, {f"{digits}+random-weights-3"}]
    assert calls(marks, "together") == 6  # not again for another device or batch
    assert calls(marks, "truth") == 6  # features of one precision are not those of another


CONTENT = b"parameters"


@pytest.fixture
def weighted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the weights ``probe-weights`` are looked for; they are not there."""
    entry = weights.Weights(
        "probe-weights", "probe.bin", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "MIT", None, ("probe_weighted",)
    )
    monkeypatch.setattr(weights, "known", lambda: {"probe-weights": entry})
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "weights"))
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(torch_networks, "_PACKAGES", ("json",))
    (tmp_path / "weights").mkdir()
    return tmp_path / "weights" / "probe.bin"


def test_items_are_measured_again_once_their_weights_are_there(
    tmp_path: Path, marks: Path, items: Dataset, weighted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = install(monkeypatch, marks, "probe_alone", "probe_weighted")
    made = all_methods(tmp_path, items)[:1]
    without = {row.metric: row for row in run(tmp_path, items, made)["dark"]}
    assert without["probe_weighted"].value is None
    assert "put probe.bin into a folder" in str(without["probe_weighted"].reason)
    assert without["probe_alone"].value is not None
    run(tmp_path, items, made)
    assert calls(marks, "weighted") == 2  # not again while nothing has changed
    weighted.write_bytes(CONTENT)
    found = run(tmp_path, items, made)["dark"]
    assert {row.value for row in found if row.metric == "probe_weighted"} == {1.0}
    assert {row.fingerprint for row in found} == {protocol.fingerprint}


def test_what_was_measured_with_weights_stands_when_they_are_gone(
    tmp_path: Path, marks: Path, items: Dataset, weighted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_alone", "probe_weighted")
    made = all_methods(tmp_path, items)
    weighted.write_bytes(CONTENT)
    before = run(tmp_path, items, made[:1])
    weighted.unlink()
    after = run(tmp_path, items, made[:2])
    assert after["dark"] == before["dark"]
    assert {row.value for row in before["dark"] if row.metric == "probe_weighted"} == {1.0}
    assert [row.value for row in after["middle"] if row.metric == "probe_weighted"] == [None, None]
    stored = Workspace(tmp_path / "run").table("scores", Score)
    assert [row for row in stored if row.method == "dark"] == before["dark"]


def test_earlier_rows_whose_features_are_gone_do_not_stand(
    tmp_path: Path, marks: Path, items: Dataset, weighted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets", "probe_weighted")
    made = all_methods(tmp_path, items)[:1]
    weighted.write_bytes(CONTENT)
    blobs = Workspace(tmp_path / "run").blobs
    features = [row.features for row in run(tmp_path, items, made)["dark"] if row.features]
    blobs.path(features[0]).unlink()
    weighted.unlink()
    rows = {(row.item_id, row.metric): row for row in run(tmp_path, items, made)["dark"]}
    assert [rows[f"item {place}", "probe_weighted"].value for place in range(2)] == [None, 1.0]
    assert all(blobs.path(str(row.features)).exists() for row in rows.values() if row.metric == "probe_sets")


@pytest.mark.parametrize("compute", [Compute(), Compute(random_weights=1)])
def test_items_are_measured_again_once_a_package_is_installed(
    tmp_path: Path, marks: Path, items: Dataset, weighted: Path, compute: Compute, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_weighted")
    made = all_methods(tmp_path, items)[:1]
    weighted.write_bytes(CONTENT)
    monkeypatch.setattr(torch_networks, "_PACKAGES", ("json", "no_such_package"))
    for _ in range(2):
        run(tmp_path, items, made, compute=compute)
    assert calls(marks, "weighted") == 2
    monkeypatch.setattr(torch_networks, "_PACKAGES", ("json",))
    run(tmp_path, items, made, compute=compute)
    assert calls(marks, "weighted") == 4


def test_a_device_that_is_not_there_is_told_before_any_work(
    tmp_path: Path, marks: Path, items: Dataset, weighted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec("torch") is None or torch().cuda.is_available():
        pytest.skip("needs PyTorch without the device")
    install(monkeypatch, marks, "probe_alone", "probe_weighted")
    made = all_methods(tmp_path, items)[:1]
    with pytest.raises(InputError, match="there is no device 'cuda' here"):
        run(tmp_path, items, made, compute=Compute(device="cuda"))
    assert not Workspace(tmp_path / "run").table("scores", Score)
    rows = run(tmp_path, items, made, compute=Compute(device="cuda"), metrics=["probe_alone"])["dark"]
    assert all(row.value is not None for row in rows)  # needs no device


class Faulty(Alone):
    """Raises ``error`` while there is one, but on the first item alone."""

    error: Exception | None = None

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        self.mark("faulty")
        if self.error is not None and view.item_id == "item 0":
            raise self.error
        return {region: Measurement(2.0) for region in self.regions}


class FaultyTogether(Faulty):
    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        return [self.measure(view) for view in views]


@pytest.mark.parametrize("faulty", [Faulty, FaultyTogether])
def test_an_unexpected_error_costs_one_metric_and_is_tried_again_in_every_run(
    tmp_path: Path, marks: Path, items: Dataset, faulty: type[Faulty], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_alone", "probe_together")
    monkeypatch.setattr("scoring_probes.Alone", faulty)
    monkeypatch.setattr(Faulty, "error", RuntimeError("out of memory\nmore lines"))
    made = all_methods(tmp_path, items)[:2]
    for attempt in range(3):
        found = run(tmp_path, items, made)
        for rows in found.values():
            of = {(row.item_id, row.metric): row for row in rows}
            assert of["item 0", "probe_alone"].value is None
            assert of["item 0", "probe_alone"].reason == "could not be measured: RuntimeError: out of memory"
            assert of["item 1", "probe_alone"].value == 2.0
            assert all(of[f"item {place}", "probe_together"].value is not None for place in range(2))
        assert calls(marks, "together item 0") == attempt + 1
        assert calls(marks, "together item 1") == 1
    monkeypatch.setattr(Faulty, "error", None)
    mended = run(tmp_path, items, made)
    assert {row.value for rows in mended.values() for row in rows if row.metric == "probe_alone"} == {2.0}
    times = calls(marks, "faulty")
    assert run(tmp_path, items, made) == mended
    assert calls(marks, "faulty") == times  # what is mended stands


@pytest.mark.parametrize("faulty", [Faulty, FaultyTogether])
def test_a_full_disk_ends_the_run(
    tmp_path: Path, marks: Path, items: Dataset, faulty: type[Faulty], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_alone")
    monkeypatch.setattr("scoring_probes.Alone", faulty)
    monkeypatch.setattr(Faulty, "error", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with pytest.raises(WorkspaceError, match="No space left"):
        run(tmp_path, items, all_methods(tmp_path, items)[:2])


class Undefined(Alone):
    def measure(self, view: ItemView) -> dict[str, Measurement]:
        return {region: Measurement(float("nan"), details={"frames": 6}) for region in self.regions}


def test_nan_is_no_value(tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, marks, "probe_alone")
    monkeypatch.setattr("scoring_probes.Alone", Undefined)
    rows = run(tmp_path, items, all_methods(tmp_path, items)[:1])["dark"]
    assert [(row.value, row.reason, row.details) for row in rows] == [(None, "the metric gave NaN", {"frames": 6})] * 2


def test_a_clip_with_a_part_that_is_nan_has_no_mean() -> None:
    found = mean_over_clip([1.0, float("nan"), float("inf")], parts="frames", missing="")
    assert (found.value, found.reason) == (None, "1 of 3 frames gave NaN")
    assert found.details == {"frames": 3, "nan_frames": 1}
    assert mean_over_clip([1.0, float("inf")], parts="frames", missing="").value == 1.0


def test_other_weights_make_another_fingerprint(marks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for digest in ("0" * 64, "1" * 64):
        entry = weights.Weights("probe-weights", "probe.bin", digest, 1, "MIT", None, ())
        monkeypatch.setattr(weights, "known", lambda entry=entry: {"probe-weights": entry})
        found.add(install(monkeypatch, marks, "probe_weighted").fingerprint)
    assert len(found) == 2


def test_features_become_blobs_that_the_rows_name(
    tmp_path: Path, marks: Path, items: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, marks, "probe_sets", "probe_alone")
    rows = run(tmp_path, items, all_methods(tmp_path, items))
    blobs = Workspace(tmp_path / "run").blobs
    sets = {method: [row for row in found if row.metric == "probe_sets"] for method, found in rows.items()}
    for place, row in enumerate(sets["bright"]):
        assert (row.value, row.reason) == (None, None)
        truth = video.read_frames(tmp_path / "data" / f"truth {place}.mp4")
        kept = np.load(blobs.path(str(row.truth_features)), allow_pickle=False)
        assert kept.dtype == np.float32
        np.testing.assert_allclose(kept, truth.mean(axis=(1, 2)), rtol=1e-6)
        made = truth.copy()
        made[:, 10:30, 20:50] = 200
        np.testing.assert_allclose(np.load(blobs.path(str(row.features))), made.mean(axis=(1, 2)), rtol=1e-6)
    assert [row.truth_features for row in sets["dark"]] == [row.truth_features for row in sets["bright"]]
    assert {row.features for row in sets["dark"]}.isdisjoint(row.features for row in sets["bright"])
    assert all(row.features is None for found in rows.values() for row in found if row.metric == "probe_alone")
    stored = Workspace(tmp_path / "run").table("scores", Score)
    assert [row for row in stored if row.method == "dark"] == rows["dark"]
