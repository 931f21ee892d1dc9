"""Run folders whose bytes were changed: named by `eval verify`, refused by whatever reads them, and mended byte for byte."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from old_format import write_one_file
from program import run_here
from scoring_probes import write_items

from inpaintbench import frozen
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.proving import damaged_media, proof, repair
from inpaintbench.eval.scoring.run_folder import OPTION, _keep, is_stale, read_kept, references_in, remembered, tasks_in
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import file_sha256
from inpaintbench.tables import hash_file
from inpaintbench.types import Prediction, Score
from inpaintbench.workspace import Workspace

Done = CompletedProcess[str]
METHODS = ("blank", "telea")
SCORE = ("--metric", "psnr", "--metric", "ssim", "--workers", "0")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``data``, a dataset of three items, and ``run``, two methods that were scored on it; treat as read-only."""
    folder = tmp_path_factory.mktemp("proving")
    dataset = write_items(folder / "data", count=3, frames=(3, 3, 3))
    files = {path.name: file_sha256(path) for path in sorted((folder / "data").iterdir())}
    write_one_file(folder / "data", replace(dataset, files=files))
    methods = [part for name in METHODS for part in ("--method", name)]
    assert (
        run_here(
            "eval", "run", "--for=predictions", folder / "data", "--run", folder / "run", *methods, "--workers", "0"
        ).returncode
        == 0
    )
    done = run_here("eval", "run", "--for=scores", folder / "data", "--run", folder / "run", *SCORE)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def world(made: Path, tmp_path: Path) -> Path:
    """A copy of ``made``, to be spoilt."""
    return Path(shutil.copytree(made, tmp_path / "world"))


def stored(run: Path) -> dict[str, bytes]:
    """What results are made of: tables with their hashes, and blobs."""
    paths = [*(run / "tables").rglob("*"), *(run / "blobs").rglob("*")]
    return {str(path.relative_to(run)): path.read_bytes() for path in paths if path.is_file() and path.suffix != ".settings"}


def flip(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    place = rng.randrange(8 * len(data))
    data[place // 8] ^= 1 << place % 8
    path.write_bytes(data)


def blob_of(run: Path, method: str = "telea") -> Path:
    workspace = Workspace(run, create=False)
    return workspace.blobs.path(workspace.table("predictions", Prediction, step=f"predict.{method}")[0].blob)


def test_a_run_folder_is_what_was_written(made: Path) -> None:
    done = run_here("eval", "verify", made / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Verified: 4 blobs, ")


def test_scores_state_the_hashes_of_what_was_measured(made: Path) -> None:
    files = frozen.load(made / "data").files
    workspace = Workspace(made / "run", create=False)
    blobs = {(row.item_id, row.method): row.blob for row in workspace.table("predictions", Prediction)}
    for row in workspace.table("scores", Score):
        place = row.item_id.removeprefix("item ")
        prediction = blobs[row.item_id, row.method].partition(".")[0]
        assert row.measured == {
            "truth": files[f"truth {place}.mp4"], "hole": files[f"hole {place}.mp4"], "prediction": prediction,
        }  # fmt: skip


def kinds(run: Path) -> Iterator[tuple[str, Path]]:
    yield "blob", blob_of(run)
    yield "log", run / "ledger" / "predict.telea.jsonl"
    yield "log", run / "ledger" / "score.devil.corrected.blank.jsonl"
    for table, step in (("predictions", "predict.blank"), ("scores", "score.devil.corrected.telea")):
        path = run / "tables" / table / f"{step}.parquet"
        yield from (("table", path), ("hash", hash_file(path)), ("settings", path.with_suffix(".settings")))
    beside = run / "tables" / "predictions"
    yield from (("fact of a method", beside / f"predict.{name}") for name in ("blank.between", "blank.reference", "telea.option"))
    yield "digest of what was scored", run / "tables" / "scores" / "score.devil.corrected.telea.sha256"


@pytest.mark.parametrize("place", range(13))
def test_a_bit_of_anything_is_named_and_mended(world: Path, place: int) -> None:
    run, rng = world / "run", random.Random(place)
    before = stored(run)
    kind, path = list(kinds(run))[place]
    flip(path, rng)
    told = run_here("eval", "verify", run)
    assert told.returncode == 1
    assert str(path).removesuffix(".sha256") in told.stdout
    assert "--repair` does again what they held" in told.stderr
    mended = run_here("eval", "verify", run, "--repair", "--dataset", world / "data", "--workers", "0")
    assert mended.returncode == 0, mended.stderr
    assert "Repaired: 4 blobs" in mended.stdout
    assert stored(run) == before or kind == "settings"


def test_media_of_the_dataset_are_looked_at_and_are_not_called_repaired(world: Path) -> None:
    run, item = world / "run", frozen.load(world / "data").items[0]
    whole = run_here("eval", "verify", run, "--repair", "--dataset", world / "data")
    assert (whole.returncode, whole.stdout.startswith("Verified: 4 blobs")) == (0, True)
    flip(world / "data" / item["truth_file_name"], random.Random(1))
    for options in ((), ("--repair",)):
        told = run_here("eval", "verify", run, "--dataset", world / "data", *options)
        assert told.returncode == 1
        assert f"damaged: truth of item {item['item_id']}, {item['truth_file_name']} of" in told.stdout
        assert "1 file of the dataset differ from its manifest: `inpaintbench export verify`" in told.stderr
    with pytest.raises(InputError, match=r"nowhere' any more: say with --dataset where it lies"):
        damaged_media(world / "nowhere")
    (world / "empty").mkdir()
    assert run_here("eval", "verify", run, "--dataset", world / "empty").returncode == 1


def test_nothing_is_dropped_where_a_method_cannot_be_built(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(world))
    (world / "filling.py").write_text("def fill(frames, hole):\n    return frames * 0\n")
    run = world / "run"
    assert (
        run_here(
            "eval", "run", "--for=predictions", world / "data", "--run", run, "--method", "filling:fill", "--workers", "0"
        ).returncode
        == 0
    )
    flip(blob_of(run), random.Random(1))
    (world / "filling.py").unlink()
    sys.modules.pop("filling")
    before = stored(run)
    mended = run_here("eval", "verify", run, "--repair", "--dataset", world / "data")
    assert mended.returncode == 1
    assert "nothing was dropped: run this in the folder from which the method was run" in mended.stderr
    assert "damaged: prediction of telea for item " in mended.stdout
    assert stored(run) == before


@pytest.mark.parametrize("seed", range(2))
def test_a_repair_after_many_damages_makes_the_tables_of_an_undisturbed_run(world: Path, seed: int) -> None:
    run, rng = world / "run", random.Random(seed)
    before = stored(run)
    paths = [path for path in run.rglob("*") if path.is_file() and path.parts[-2] != "run" and "logs" not in path.parts]
    paths = [path for path in paths if path.suffix in (".jsonl", ".parquet", ".mp4", ".npy")]
    for path in rng.sample(paths, 8):
        flip(path, rng)
    rng.choice([path for path in paths if path.suffix == ".mp4"]).unlink(missing_ok=True)
    assert run_here("eval", "verify", run).returncode == 1
    mended = run_here("eval", "verify", run, "--repair", "--dataset", world / "data", "--workers", "0")
    assert mended.returncode == 0, mended.stderr
    assert stored(run) == before


@pytest.mark.parametrize("ending", [".settings", ".between", ".reference", ".option", ".task", ".sha256"])
def test_no_bit_of_a_file_beside_a_table_is_taken_for_another_value(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"predict.telea{ending}"
    _keep(path, {".task": ["It sees other frames.", "It is given masks."], ".reference": True}.get(ending, "b54a"))
    whole = path.read_bytes()
    told = read_kept(path)
    for place in range(8 * len(whole)):
        data = bytearray(whole)
        data[place // 8] ^= 1 << place % 8
        path.write_bytes(data)
        try:
            assert read_kept(path) == told, place
        except ValueError:
            continue
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        if length or ending != ".reference":
            with pytest.raises(ValueError, match="another SHA-256"):
                read_kept(path)


def test_what_release_0_2_wrote_beside_tables_is_read_as_it_was(world: Path) -> None:
    run, workspace = world / "run", Workspace(world / "run", create=False)
    beside = run / "tables" / "predictions"
    (beside / "predict.blank.reference").write_bytes(b"")
    (beside / "predict.telea.option").write_text("--method telea\n")
    (beside / "predict.telea.task").write_text("One thing.\nAnother.\n")
    path = run / "tables" / "scores" / "score.devil.corrected.telea.sha256"
    path.write_text(f"{read_kept(path)}\n")
    assert references_in(workspace) == {"blank"}
    assert remembered(workspace, OPTION)["telea"] == "--method telea"
    assert tasks_in(workspace) == {"telea": ("One thing.", "Another.")}
    assert not is_stale(workspace, frozen.load(world / "data"), protocol="devil/corrected", method="telea")
    assert run_here("eval", "verify", run).returncode == 0


def test_what_was_said_of_a_task_is_mended(world: Path) -> None:
    workspace, path = Workspace(world / "run", create=False), world / "run" / "tables" / "predictions" / "predict.telea.task"
    with LocalExecutor(workspace, workers=0) as executor:
        predict(
            executor, frozen.load(world / "data"), root=world / "data", method=MethodSpec("telea", "telea"),
            remarks=["It was seen to swap red and blue."],
        )  # fmt: skip
        before = path.read_bytes()
        flip(path, random.Random(0))
        [damage] = proof(workspace).damaged
        with pytest.raises(WorkspaceError, match=r"predict\.telea\.task' is damaged.*--repair"):
            tasks_in(workspace)
        assert repair(executor, [damage], root=world / "data") == []
    assert path.read_bytes() == before


def score(world: Path) -> Done:
    return run_here("eval", "run", "--for=scores", world / "data", "--run", world / "run", *SCORE)


def report(world: Path) -> Done:
    return run_here("eval", "report", world / "data", "--run", world / "run", "--media", "0", "--show", "item 0")


def compare(world: Path) -> Done:
    return run_here("eval", "compare", world / "data", "telea", "blank", "--run", world / "run")


def test_a_damaged_prediction_fails_its_item_by_name_and_nothing_else(world: Path) -> None:
    run = world / "run"
    item = Workspace(run, create=False).table("predictions", Prediction, step="predict.telea")[0].item_id
    shutil.copyfile(blob_of(run, "blank"), blob_of(run))  # whole, and another method's
    for path in (run / "tables" / "scores").glob("*"):
        path.unlink()
    shutil.rmtree(run / "ledger")
    done = score(world)
    assert done.returncode == 1
    assert f"item '{item}' of 'telea' has no scores: the prediction of item '{item}': the blob" in done.stderr
    assert f"`inpaintbench eval verify {run} --repair` does again what a run lost" in done.stderr
    rows = Workspace(run, create=False).table("scores", Score)
    assert {(row.item_id, row.method) for row in rows if row.value is None} == {(item, "telea")}
    for command in (report, compare):  # means over what is left would be others
        assert (refused := command(world)).returncode == 1
        assert f"item '{item}' of 'telea' has no scores" in refused.stderr


@pytest.mark.parametrize("command", [report, compare])
@pytest.mark.parametrize(
    "table",
    ["scores/score.devil.corrected.telea.parquet", "predictions/predict.telea.parquet", "predictions/predict.telea.between"],
)
def test_a_damaged_table_is_refused_with_the_way_out(world: Path, command: Callable[[Path], Done], table: str) -> None:
    flip(world / "run" / "tables" / table, random.Random(0))
    done = command(world)
    assert done.returncode == 1
    assert f"inpaintbench eval verify {world / 'run'} --repair" in done.stderr
    assert "fault of this program" not in done.stderr


def test_a_swapped_prediction_is_not_shown(world: Path) -> None:
    shutil.copyfile(blob_of(world / "run", "blank"), blob_of(world / "run"))
    done = report(world)
    assert done.returncode == 1
    assert "the prediction of item 'item 0': the blob" in done.stderr


@pytest.mark.parametrize("part", ["truth", "hole"])
def test_swapped_media_of_the_dataset_are_refused_by_name(world: Path, part: str) -> None:
    for path in [*(world / "run" / "tables" / "scores").iterdir(), *(world / "run" / "ledger").glob("score.*")]:
        path.unlink()
    one, other = (world / "data" / f"{part} {place}.mp4" for place in (0, 1))
    held = one.read_bytes()
    one.write_bytes(other.read_bytes() if part == "truth" else held[:-1] + bytes([held[-1] ^ 1]))
    if part == "truth":
        other.write_bytes(held)
    done = score(world)
    assert done.returncode == 1
    assert f"{part} of item item 0" in done.stderr
    assert "differs from the manifest" in done.stderr
    assert report(world).returncode == 1


def test_an_earlier_run_folder_is_read_and_said_to_be_unproved(world: Path) -> None:
    run = world / "run"
    for path in [*run.rglob("*.parquet.sha256"), *run.rglob("*.settings")]:
        path.unlink()
    done = run_here("eval", "verify", run)
    assert done.returncode == 0
    assert "4 tables of an earlier release: not recorded" in done.stdout


def test_scores_without_one_value_end_with_1(world: Path) -> None:
    done = run_here("eval", "run", "--for=scores", world / "data", "--run", world / "run", "--metric", "lpips", "--workers", "0")
    assert done.returncode == 1
    assert "of 18 scores have no value: weights missing: run `inpaintbench models fetch alexnet`" in done.stderr


def test_what_was_counted_of_a_run(made: Path) -> None:
    found = proof(Workspace(made / "run", create=False))
    assert (found.blobs, found.tables, found.unrecorded, found.damaged) == (4, 4, 0, [])
