"""Scores in trackers: what they are given, and what each of those that are installed then holds, without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.eval.report.hand_made import SLICES, VALUES, FlatMedia, dataset, scores

from inpaintbench.errors import InputError, MissingExtraError, UnknownNameError
from inpaintbench.eval import trackers as sinks
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import ReportFiles, write_report
from inpaintbench.eval.trackers import Record, records, sink
from inpaintbench.types import Dataset

CORRECTED = PROTOCOLS.get("devil/corrected")


def given(**facts: object) -> Dataset:
    plain = dataset(SLICES)
    rows = tuple(
        {**row, "truth_file_name": "truth.mkv", "split": "test" if row["item_id"] in ("a2", "c1") else "train"}
        for row in plain.items
    )
    return replace(plain, items=rows, facts=facts)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    folder = tmp_path_factory.mktemp("logged") / "report"
    return write_report(
        folder,
        title="T",
        dataset=given(),
        scores=scores(VALUES),
        protocol=CORRECTED,
        media=FlatMedia(),
        further_items=0,
        asked_items=("a1", "a2", "b1"),
    )


@pytest.fixture
def told(report: ReportFiles, tmp_path: Path) -> list[Record]:
    return list(records(report, given(), scratch=tmp_path))


def test_a_record_names_metric_region_and_slice_and_holds_the_setting(told: list[Record]) -> None:
    assert [one.method for one in told] == ["good", "bad", "odd"]
    good, _, odd = told
    assert good.summary["psnr/hole/motion-low"] == pytest.approx(30)
    assert good.summary["psnr/hole/all"] == pytest.approx(25)
    assert not any("motion-low" in name for name in odd.summary), "its values there are infinite"
    assert good.config["protocol"] == CORRECTED.name
    assert good.config["fingerprint"] == CORRECTED.fingerprint
    assert len(good.config["manifest_sha256"]) == 64
    assert list(good.table["item_id"]) == ["a1", "b1", "a2", "c1"]
    assert {media.item_id for media in good.media} >= {"a1", "a2"}
    assert all(media.path.stat().st_size and "truth, input, good" in media.caption for media in good.media)
    assert [path.name for path in good.files] == ["report.html", "summary.csv", "report.json"]


def test_videos_of_a_split_that_is_held_back_never_leave(report: ReportFiles, tmp_path: Path) -> None:
    of_truth = given(truth_of={"dataset": "open", "splits": ["test"]})
    for record in records(report, of_truth, scratch=tmp_path):
        assert {media.item_id for media in record.media} <= {"a1", "b1"}
        assert record.media
        assert "report.html" not in [path.name for path in record.files], "the page holds the videos"


def test_what_is_no_tracker_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="unknown tracker 'wandbb', did you mean 'wandb'"):
        sink("wandbb:x")
    with pytest.raises(InputError, match="'mlflow' does not say where; give mlflow:EXPERIMENT"):
        sink("mlflow")
    monkeypatch.setattr(sinks, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match='logging to wandb needs the extra "wandb"'):
        sink("wandb:x")


def test_no_tracker_is_imported_before_something_is_logged() -> None:
    program = (
        "import sys, inpaintbench.cli.reporting, inpaintbench.eval.trackers\n"
        "sys.exit(bool({'wandb', 'trackio', 'mlflow', 'tensorboard', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_tensorboard_holds_numbers_and_three_frames_of_each_video(told: list[Record], tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = tmp_path / "events"
    sink(f"tensorboard:{folder}").log(told[0])
    held = EventAccumulator(str(folder / "good"))
    held.Reload()
    assert {name: held.Scalars(name)[0].value for name in held.Tags()["scalars"]} == pytest.approx(dict(told[0].summary))
    assert sorted(held.Tags()["images"]) == sorted(f"media/{one.item_id}" for one in told[0].media)
    assert len(held.Images("media/a1")) == 3
    assert CORRECTED.fingerprint in held.Tensors("setting/text_summary")[0].tensor_proto.string_val[0].decode()


def test_wandb_keeps_a_run_for_later(told: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    sink("wandb:waves").log(told[0])
    (folder,) = (tmp_path / "wandb").glob("offline-run-*")
    assert len(list(folder.glob("files/media/videos/media/*.mp4"))) == len(told[0].media)
    (table,) = folder.glob("files/media/table/*.json")
    assert len(json.loads(table.read_text())["data"]) == len(told[0].table)


def test_mlflow_holds_numbers_table_and_files(told: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    sink("mlflow:waves").log(told[0])
    (run,) = mlflow.search_runs(experiment_names=["waves"], output_format="list")
    assert run.data.metrics == pytest.approx(dict(told[0].summary))
    assert run.data.params["fingerprint"] == CORRECTED.fingerprint
    names = {one.path for one in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert names >= {"report.html", "scores.json", "media"}


def test_trackio_holds_numbers(told: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    pytest.importorskip("trackio")
    sink("trackio:waves").log(told[0])
    from trackio import Api

    (run,) = Api().runs("waves")
    assert run.name == "good"
    assert run.config["fingerprint"] == CORRECTED.fingerprint
