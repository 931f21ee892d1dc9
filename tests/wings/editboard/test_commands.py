"""`eval run --for edits` and `eval report --for transcript`, in this process."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
import typer
from click.testing import Result
from old_format import write_one_file
from tests.eval.report.hand_made import SLICES
from tests.eval.report.hand_made import dataset as hand_made
from tests.wings.editboard.given import line, measured, original, world, write_frames, write_list
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.run_folder import BETWEEN, remember
from inpaintbench.files import file_sha256
from inpaintbench.models import weights
from inpaintbench.steps import score_step
from inpaintbench.types import EDIT_TASKS, Score
from inpaintbench.wings.editboard.commands import editboard, transcript
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("editboard/corrected")
app = typer.Typer()
app.command("editboard")(expanded(editboard))
app.command("transcript")(expanded(transcript))
FAST = [part for name in ("ff_alpha", "ff_beta", "semantic_score") for part in ("--metric", name)]


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False, env={"COLUMNS": "200"})


def score(manifest: Path, out: Path, *arguments: object) -> Result:
    return call("editboard", "--manifest", manifest, "--out", out, "--workers", 0, *FAST, *arguments)


def test_from_a_list_to_a_page(tmp_path: Path) -> None:
    manifest = write_list(tmp_path, world(tmp_path))
    told = score(manifest, tmp_path / "out")
    assert told.exit_code == 0
    assert "items.csv: 5 edits by 2 models of 2 originals" in told.output
    folder = tmp_path / "out" / "transcript"
    assert str(folder / "transcript.html") in told.output
    tree = json.loads((folder / "transcript.json").read_text())
    assert (tree["protocol"], tree["fingerprint"]) == ("editboard/as-published", tree["fingerprint"])
    assert tree["settings"]["device"] == "none: no network ran"
    assert tree["settings"]["metric_versions"]["ff_alpha"]
    assert tree["transcript"]["calm"]["SOSA"]["semantic_score"]["n"] == 1
    edits = json.loads((folder / "edits.json").read_text())["edits"]
    assert [(edit["model"], edit["id"]) for edit in edits] == sorted((edit["model"], edit["id"]) for edit in edits)
    assert set(edits[0]["dimension"]) == {"ff_alpha", "ff_beta", "semantic_score"}
    assert edits[0]["details"]["ff_beta"]["applies"] in ("ff_alpha", "ff_beta")
    assert len(edits[0]["details"]["ff_beta"]["pair_values"]) == 3
    values = [edit["dimension"]["semantic_score"] for edit in edits if edit["task"] == "SOSA" and edit["model"] == "wild"]
    assert tree["transcript"]["wild"]["SOSA"]["semantic_score"]["mean"] == pytest.approx(sum(values) / len(values))
    assert (folder / "edits.csv").read_text().splitlines()[0].startswith("id,model,task,original_video_path,edited_video_path")
    assert "SOSA: single object, single attribute" in (folder / "transcript.html").read_text()


def test_a_second_run_writes_the_same_bytes_and_measures_nothing(tmp_path: Path) -> None:
    lines = world(tmp_path)
    score(write_list(tmp_path, lines), tmp_path / "out")
    first = {path.name: path.read_bytes() for path in (tmp_path / "out" / "transcript").iterdir()}
    score(write_list(tmp_path, lines[::-1]), tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out" / "transcript").iterdir()} == first
    assert measured(tmp_path / "out") == len(lines)


def test_faults_are_told_before_anything_is_measured_and_can_be_left_out(tmp_path: Path) -> None:
    world(tmp_path)
    write_frames(tmp_path / "short", original(frames=3))
    lines = [line("calm", "fox"), line("m", "fox", edited_video_path="short"), line("m", "ship", edited_video_path="gone")]
    manifest = write_list(tmp_path, lines)
    for arguments in ((), ("--dry-run", "--keep-going")):
        with pytest.raises(InputError, match=r"2 of 3 edits in .* cannot be scored; nothing was measured"):
            score(manifest, tmp_path / "out", *arguments)
    assert measured(tmp_path / "out") == 0
    told = score(manifest, tmp_path / "out", "--keep-going")
    assert told.exit_code == 0
    assert "items.csv line 3: the edit is 3 frames, its original 4 frames" in told.output
    tree = json.loads((tmp_path / "out" / "transcript" / "transcript.json").read_text())
    assert tree["notes"] == [
        "Every number is of the frame.",
        "CLIP similarity is the primary quantity of editboard/as-published; all others are exploratory.",
        "Diagnostic, since damage can better them: FF-alpha, FF-beta; their order is as it was published.",
        "2 of 3 edits could not be scored; they are told under what is missing.",
    ]
    assert {gap["reason"] for gap in tree["missing"]} == {"the edit is 3 frames, its original 4 frames", "'gone' does not exist"}


def test_a_list_with_faults_of_its_own_is_refused(tmp_path: Path) -> None:
    manifest = write_list(tmp_path, [line("m", "fox", task="SOS")])
    with pytest.raises(InputError, match="1 fault in"):
        score(manifest, tmp_path / "out", "--keep-going")
    assert not (tmp_path / "out").exists()


def test_a_dry_run_measures_nothing(tmp_path: Path) -> None:
    manifest = write_list(tmp_path, world(tmp_path))
    told = score(manifest, tmp_path / "out", "--dry-run")
    assert "nothing was measured" in told.output
    assert measured(tmp_path / "out") == 0
    assert not (tmp_path / "out" / "transcript").exists()


@pytest.mark.long
def test_what_has_no_value_here_is_told_and_what_had_one_elsewhere_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    manifest = write_list(tmp_path, world(tmp_path))
    quick = ("--metric", "ff_alpha", "--metric", "imaging_quality")
    words = ("editboard", "--manifest", manifest, "--out", tmp_path / "out", "--workers", 0, "--side", 32, *quick)
    assert "Will have no value here: imaging_quality; `inpaintbench models fetch musiq-spaq`" in call(*words, "--dry-run").output
    assert "not measured: imaging_quality: weights missing" in call(*words).output
    made_up = call(*words, "--random-weights", 1).output
    assert "made-up parameters: what they say means nothing" in made_up
    assert (tmp_path / "out" / "transcript-random-weights-1" / "transcript.html").exists()
    there = tmp_path / "there"
    elsewhere = (*words[:4], there, *words[5:])
    with monkeypatch.context() as other_machine:
        other_machine.setattr(weights, "state", lambda weights: "ready")
        call(*elsewhere)
    done = measured(there)
    assert call(*elsewhere).exit_code == 0
    assert measured(there) == done > 0


def test_results_never_go_into_a_folder_of_frames(tmp_path: Path) -> None:
    manifest = write_list(tmp_path, world(tmp_path))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "dataset.sha256").write_text("")
    with pytest.raises(InputError, match="is the run folder of a frozen benchmark"):
        score(manifest, tmp_path / "run")
    with pytest.raises(InputError, match="lies in the folder of frames"):
        score(manifest, tmp_path / "fox" / "out")
    assert not (tmp_path / "fox" / "out").exists()


def test_shards_do_the_work_and_one_run_puts_it_together(tmp_path: Path) -> None:
    lines = world(tmp_path)
    manifest = write_list(tmp_path, lines)
    for number in (1, 2):
        score(manifest, tmp_path / "out", "--shard", f"{number}/2")
    assert measured(tmp_path / "out") == len(lines)
    assert not (tmp_path / "out" / "transcript").exists()
    score(manifest, tmp_path / "out")
    assert measured(tmp_path / "out") == len(lines)
    score(manifest, tmp_path / "whole")
    for name in ("transcript.json", "edits.json"):
        both = [(tmp_path / out / "transcript" / name).read_bytes() for out in ("out", "whole")]
        assert both[0] == both[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--protocol", "devil/corrected"), "unknown protocol for edits 'devil/corrected'"),
        (("--metric", "psnr"), "unknown metric of protocol"),
        (("--device", "tpu"), "unknown device 'tpu'"),
        (("--precision", "fp8"), "unknown precision 'fp8'"),
    ],
)
def test_misspelt_names_are_told_before_any_work(tmp_path: Path, arguments: tuple[str, str], told: str) -> None:
    with pytest.raises(UnknownNameError, match=re.escape(told)):
        score(tmp_path / "gone.csv", tmp_path / "out", *arguments)


def test_metrics_without_weights_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    world(tmp_path)
    manifest = write_list(tmp_path, [line("calm", "fox")])
    told = call(
        "editboard", "--manifest", manifest, "--out", tmp_path / "out", "--workers", 0, "--metric", "imaging_quality",
        "--metric", "ff_beta",
    )  # fmt: skip
    assert told.exit_code == 0
    tree = json.loads((tmp_path / "out" / "transcript" / "transcript.json").read_text())
    assert [gap["metrics"] for gap in tree["missing"]] == [["imaging_quality"]]
    assert "models fetch musiq-spaq" in tree["missing"][0]["reason"]
    assert tree["settings"]["weights"]["musiq-spaq"].startswith("missing, sha256 358bb6af")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A frozen benchmark of edits, an item or more for each task."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    plain = hand_made(SLICES)
    rows = [
        {**row, "task": EDIT_TASKS[place % 4], "source_prompt": "one", "target_prompt": "another"}
        for place, row in enumerate(plain.items)
    ]
    write_one_file(folder, dataclasses.replace(plain, items=rows, recipe={"recipe": "editing"}))
    return folder


def test_the_transcript_of_a_run_of_a_frozen_benchmark(tmp_path: Path, root: Path) -> None:
    workspace = Workspace(tmp_path / "run")
    (workspace.path / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    items = frozen.load(root).items
    for method, offset in (("first", 0.0), ("second", 0.5)):
        rows = [
            Score(method, row["item_id"], "ff_beta", "frame", CORRECTED.name, CORRECTED.fingerprint, offset + place / 100, None,
                  {"applies": "ff_beta"})
            for place, row in enumerate(items)
        ]  # fmt: skip
        workspace.write_table("scores", score_step(CORRECTED.name, method), rows, Score)
    remember(workspace, "second", BETWEEN, "depends")
    told = call("transcript", root, "--run", workspace.path)
    for name in ("transcript.html", "transcript.json", "transcript.md"):
        assert "second depends on what it saw before" in (workspace.path / "transcript" / name).read_text()
    tree = json.loads((workspace.path / "transcript" / "transcript.json").read_text())
    assert str(workspace.path / "transcript" / "transcript.html") in told.output
    for task in dict.fromkeys(row["task"] for row in items):
        places = [place for place, row in enumerate(items) if row["task"] == task]
        cell = tree["transcript"]["second"][task]["ff_beta"]
        assert cell["mean"] == pytest.approx(0.5 + sum(places) / len(places) / 100)
        assert cell["n"] == len(places)


def test_a_benchmark_without_edits_has_no_transcript(tmp_path: Path, root: Path) -> None:
    write_one_file(root, hand_made(SLICES))
    Workspace(tmp_path / "run")
    with pytest.raises(InputError, match="has no edits"):
        call("transcript", root, "--run", tmp_path / "run")
