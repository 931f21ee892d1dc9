from __future__ import annotations

import csv
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hazards
import numpy as np
import pytest
import typer
from footage import write_sources
from old_format import write_fields
from program import run_here
from typer.testing import CliRunner, Result

from inpaintbench import frozen, video
from inpaintbench.cli import app, console
from inpaintbench.errors import InputError
from inpaintbench.eval.methods.brought import SUFFIXES
from inpaintbench.eval.protocols import PROTOCOLS


def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inpaintbench", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **options)  # type: ignore[call-overload,no-any-return]


def one_sentence(done: subprocess.CompletedProcess[str], *, status: int = 1) -> str:
    """The error of a failed command: exactly one line, no trace."""
    assert done.returncode == status, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if not re.match(r"^[\w. ]+: \d+/\d+(, .*)?$", line)]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("inpaintbench: ")
    return lines[0]


def test_every_command_has_help() -> None:
    seen = 0
    for name, command in walk(typer.main.get_group(app)):
        shown = CliRunner().invoke(app, [*name, "--help"])
        assert shown.exit_code == 0, shown.output
        assert "Usage" in shown.output
        assert command.help, f"{name} has no help"
        seen += 1
    assert seen >= 20
    assert run("--version").stdout.startswith("inpaintbench 0.")


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    if hasattr(command, "list_commands"):
        for name in command.with_parts():
            yield from walk(command.get_command(None, name), (*path, name))


@pytest.mark.long
def test_a_whole_run_stage_by_stage(tmp_path: Path) -> None:
    sources, workspace, results = write_sources(tmp_path / "sources", count=4), tmp_path / "workspace", tmp_path / "run"
    export = workspace / "exports" / "devil"
    steps = [
        ("curation", "clips", "--sources", sources, "--out", workspace, "--size", "96x64", "--per-slice", "1", "--workers", "0"),
        ("curation", "measure", workspace, "--attribute", "camera_motion", "--workers", "0"),
        ("curation", "select", workspace, "--workers", "0"),
        ("masks", "pair", workspace, "--workers", "0"),
        ("export", "freeze", workspace),
        ("masks", "pair", workspace, "--workers", "0"),
        ("export", "verify", export),
        (
            "eval",
            "predict",
            workspace / "exports" / "devil",
            "--run",
            results,
            "--method",
            "telea",
            "--method",
            "blank",
            "--workers",
            "0",
        ),
        ("eval", "run", "--for=scores", export, "--run", results, "--workers", "0"),
        ("eval", "report", export, "--run", results),
    ]
    for step in steps:
        done = run(*step) if step[1] == "report" else run_here(*step)
        assert done.returncode == 0, f"{step}: {done.stderr}"
        if step[:2] == ("masks", "pair"):  # once it is exported, a plain freeze would refuse what changed
            assert ("--replace" in done.stdout) == export.exists()
    told, following = done.stdout.split("Report: ")[1].splitlines()
    page = Path(told)
    assert following == f"Next: inpaintbench view {console.shown(page.parent)}"
    assert page.is_file()
    assert "telea" in page.read_text()
    with (page.parent / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    items = len(frozen.load(workspace / "exports" / "devil").items)
    quantities = sum(len(metric.regions) for metric in PROTOCOLS.get("devil/corrected").build_metrics())
    assert len(rows) == items * 2 * quantities
    clip = run_here("curation", "why", workspace, frozen.load(workspace / "exports" / "devil").items[0]["clip_id"][:12])
    assert "cut_score <= 0.3" in clip.stdout
    assert "camera_motion_per_frame" in clip.stdout
    assert "frames 0..49 of pan 1.mp4" in run_here("curation", "why", workspace, "pan 1.mp4").stdout
    assert "no clip is called 'nothing'; name one by its id" in one_sentence(run_here("curation", "why", workspace, "nothing"))


def test_scores_come_from_a_dataset_alone_and_a_failed_item_hides_no_other(dataset: Path, tmp_path: Path) -> None:
    program = tmp_path / "method.py"
    program.write_text(
        "import shutil, sys, pathlib\n"
        "source, target = map(pathlib.Path, sys.argv[1:])\n"
        "frames = sorted(source.glob('frame_*.png'))\n"
        "if len(frames) % 2 == 0 and frames[0].stat().st_size % 3 == 0:\n"
        "    sys.exit('no such luck')\n"
        "[shutil.copy(path, target / path.name) for path in frames]\n"
    )
    arguments = ("--run", tmp_path / "run", "--workers", "0")
    command = f"mine={sys.executable} {program} {{input}} {{output}}"
    done = run_here("eval", "run", "--for=predictions", dataset, *arguments, "--command", command, "--despite-check")
    assert done.returncode == 0, done.stderr
    made = run_here("eval", "run", "--for=scores", dataset, *arguments, "--metric", "psnr")
    assert made.returncode == 0, made.stderr
    items = len(frozen.load(dataset).items)
    failed = int(re.search(r"(\d+) failed", done.stdout).group(1))  # type: ignore[union-attr]
    assert f"{items} items scored under devil/corrected, {failed} without a value" in made.stdout


@pytest.fixture
def pictures(tmp_path: Path, whole_frames_are_known: None) -> Path:
    """A frozen dataset of eight pictures that are degraded everywhere."""
    folder, rows = tmp_path / "pictures", []
    folder.mkdir()
    for number in range(8):
        name = f"picture-{number}"
        write_picture(folder / f"{name}.png", level=10 * number)
        rows.append({
            "item_id": name, "source_id": name, "truth_rgb_sha256": name, "hole_sha256": None, "input_sha256": name,
            "truth_file_name": f"{name}.png", "input_file_name": f"{name}.png", "hole_file_name": None,
            "fill": 0, "hole_is_given": False, "frames": 1, "height": 40, "width": 30, "fps": 1.0,
        })  # fmt: skip
    slices = [{"name": "all", "rule": "every item", "item_ids": [row["item_id"] for row in rows]}]
    manifest = {
        "name": "pictures", "recipe": {"recipe": "of somebody"}, "items": rows, "slices": slices, "left_out": {}, "files": {},
        "versions": {}, "format_version": 3,
    }  # fmt: skip
    write_fields(folder, manifest)
    return folder


def write_picture(path: Path, *, level: int) -> None:
    path.parent.mkdir(exist_ok=True)
    video.write_image(path, np.full((40, 30, 3), level, np.uint8))


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_old_scores_are_not_reported_for_new_predictions(pictures: Path, tmp_path: Path) -> None:
    mine, place = tmp_path / "mine", ("--run", tmp_path / "run")
    for name in ("picture-0.PNG", "photograph.png"):
        write_picture(mine / name, level=3)
    first = invoke("eval", "run", "--for=predictions", pictures, *place, "--saved", f"mine={mine}", "--workers", "0")
    assert "mine: 1 predictions, 7 failed" in first.stdout
    assert "7 items, such as picture-1: no prediction for item 'picture-1' in " in " ".join(first.stdout.split())
    assert "  1 file or folder has the name of no item, such as 'photograph.png'; items are called like 'picture-" in first.stdout
    for protocol in ("as-published", "corrected"):
        assert (
            invoke("eval", "run", "--for=scores", pictures, *place, "--protocol", f"whole/{protocol}", "--workers", "0").exit_code
            == 0
        )
    for number in range(8):
        write_picture(mine / f"picture-{number}.PNG", level=4)
    again = invoke("eval", "run", "--for=predictions", pictures, *place, "--saved", f"mine={mine}", "--workers", "0")
    assert "mine: 8 predictions, 0 failed" in again.stdout
    assert " more" not in again.stdout
    assert invoke("eval", "run", "--for=scores", pictures, *place, "--workers", "0").exit_code == 0
    assert invoke("eval", "report", pictures, *place).exit_code == 0
    refused = invoke("eval", "report", pictures, *place, "--protocol", "whole/as-published")
    command = f"inpaintbench eval run --for scores {pictures} --run {tmp_path / 'run'} --protocol whole/as-published"
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception) == (
        f"the scores of 'mine' under 'whole/as-published' are older than its predictions; run `{command}` again"
    )
    assert invoke(*command.split()[1:], "--workers", "0").exit_code == 0
    assert invoke("eval", "report", pictures, *place, "--protocol", "whole/as-published").exit_code == 0
    for digest in (tmp_path / "run" / "tables" / "scores").glob("*.sha256"):  # as scored before there were any
        digest.unlink()
    write_picture(mine / "picture-0.PNG", level=5)
    invoke("eval", "run", "--for=predictions", pictures, *place, "--saved", f"mine={mine}", "--workers", "0")
    assert invoke("eval", "report", pictures, *place).exit_code == 0


def test_a_protocol_that_measures_holes_is_refused_where_there_are_none(pictures: Path, tmp_path: Path) -> None:
    place = ("--run", tmp_path / "run", "--workers", "0")
    assert invoke("eval", "run", "--for=predictions", pictures, *place, "--method", "blank").exit_code == 0
    refused = invoke("eval", "run", "--for=scores", pictures, *place, "--protocol", "devil/corrected")
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception).endswith("have none; use 'whole/corrected'")


def test_the_help_of_saved_predictions_names_every_ending() -> None:
    command = dict(walk(typer.main.get_group(app)))["eval", "run --for predictions"]
    words = next(option.help for option in command.params if option.name == "saved")
    assert all(suffix in words for suffix in SUFFIXES)


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "no sources": (("build", "devil", "--sources", "nowhere", "--out", "w"), "'nowhere' does not exist or is not a folder"),
    "empty sources": (("build", "devil", "--sources", "empty", "--out", "w"), "no clips: the source folder holds no video files"),
    "an empty folder to push": (("export", "push", "empty", "--repo", "a/b"), "give a folder that `inpaintbench"),
    "nothing at an address": (("eval", "run", "memory://none", "--method", "telea", "--run", "r"), "push DATASET --to ADDRESS`"),
    "clips that are no table": (
        ("build", "benchmark", "--clips", "broken.csv", "--out", "w"), "'broken.csv' are no table: their only line is 'hello'",
    ),
    "clips without rows": (("build", "benchmark", "--clips", "heads.csv", "--out", "w"), "'heads.csv' have no rows; give"),
    "a file as workspace": (("build", "devil", "--sources", "videos", "--out", "a-file"), "'a-file' is a file, not a folder"),
    "a full folder as workspace": (("build", "devil", "--sources", "videos", "--out", "videos"), "not empty and not a workspace"),
    "unknown attribute": (("curation", "measure", "w0", "--attribute", "camera_moton"), "did you mean 'camera_motion'?"),
    "unknown method": (("eval", "run", "DATASET", "--run", "r", "--method", "tela"), "did you mean 'telea', MODULE:NAME"),
    "unknown metric": (("eval", "run", "--for=scores", "DATASET", "--run", "r", "--metric", "pnsr"), "did you mean 'psnr'?"),
    "unknown protocol": (
        ("eval", "run", "--for=scores", "DATASET", "--run", "r", "--protocol", "devil/corected"),
        "did you mean 'devil/corrected'?",
    ),
    "unknown preset": (("masks", "render", "--preset", "size-low", "--out", "m"), "unknown"),
    "no dataset": (("eval", "run", "--for=predictions", "empty", "--run", "r", "--method", "telea"), "is not a frozen dataset"),
    "no predictions": (("eval", "report", "DATASET", "--run", "w0"), "run `inpaintbench eval run --for scores"),
    "no run folder": (("eval", "run", "--for=scores", "DATASET", "--run", "nix"), "no run folder 'nix'; `inpaintbench eval run"),
    "a run's name with a space": (("eval", "run", "--for=scores", "DATASET", "--run", "n x"), "--run 'n x'` makes it"),
    "a film as run": (("eval", "verify", "videos/good.mp4"), "'videos/good.mp4' is no archive of `eval paper` (paper.zip)"),
    "a film to view": (("view", "videos/good.mp4"), "'videos/good.mp4' is a film; `inpaintbench curation clips --sources FOLDER"),
    "a file to view": (("view", "a-file"), "'a-file' is a file; give the folder of what it belongs to"),
    "nothing to view": (("view", "nowhere"), "'nowhere' is neither a folder nor a dataset of the Hub"),
    "a demo with settings": (("build", "devil", "--demo", "--size", "64x64", "--out", "w"), "--size does nothing beside --demo"),
    "no method": (("eval", "run", "--for=predictions", "DATASET", "--run", "r"), "no method: give --method, --saved or"),
    "bad label": (
        ("eval", "run", "--for=predictions", "DATASET", "--run", "r", "--saved", "x"),
        "'x' has no label; write LABEL=FOLDER or LABEL=COMMAND, such as ours=x",
    ),
    "no workspace": (("export", "freeze", "empty"), "is not a workspace"),
    "no recipe": (("export", "freeze", "w0"), "has no recipe yet"),
    "unknown behaviour": (
        ("build", "devil", "--sources", "videos", "--out", "w", "--behaviour", "corected"), "did you mean 'corrected'?",
    ),
    "odd size": (("build", "devil", "--sources", "videos", "--out", "w", "--size", "²²x480"), "is not WxH"),
    "no labels file": (("build", "devil", "--sources", "videos", "--out", "w", "--labels", "typo.csv"), "cannot be read"),
    "a folder with a thesis": (("export", "freeze", "WORKSPACE", "--to", "videos"), "is not a frozen dataset; choose another"),
    "a pattern in the path": (("export", "freeze", "WORKSPACE", "--to", "a::b"), "holds '::'"),
    "another dataset's run": (("eval", "report", "DATASET", "--run", "other"), "holds results on another dataset"),
}  # fmt: skip


WRONG_USE = {
    "unknown attribute", "unknown method", "unknown metric", "unknown protocol", "unknown preset", "a demo with settings",
    "no method", "bad label", "unknown behaviour", "odd size",
}  # fmt: skip
"""Of these the arguments alone are wrong; of the others what they lead to."""


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case: str, benchmark: Path, tmp_path: Path) -> None:
    from inpaintbench.workspace import Workspace

    (tmp_path / "empty").mkdir()
    (tmp_path / "videos").mkdir()
    hazards.good(tmp_path / "videos" / "good.mp4")
    (tmp_path / "a-file").write_text("")
    (tmp_path / "broken.csv").write_text("hello\n")
    (tmp_path / "heads.csv").write_text("input,mask\n")
    Workspace(tmp_path / "w0")
    Workspace(tmp_path / "other")
    (tmp_path / "other" / "dataset.sha256").write_text("0" * 64)
    arguments, words = BAD[case]
    places = {"DATASET": str(benchmark / "exports" / "devil"), "WORKSPACE": str(tmp_path / "workspace")}
    if "WORKSPACE" in arguments:  # a freeze locks it, and other tests read the shared one at the same time
        shutil.copytree(benchmark, tmp_path / "workspace")
    done = run_here(*(places.get(argument, argument) for argument in arguments), cwd=tmp_path)
    assert words in one_sentence(done, status=2 if case in WRONG_USE else 1)
    assert (tmp_path / "videos" / "good.mp4").exists()
    assert not (tmp_path / "w").exists()


def test_an_export_path_that_datasets_takes_for_a_pattern_is_refused(benchmark: Path, tmp_path: Path) -> None:
    workspace = shutil.copytree(benchmark, tmp_path / "workspace")
    done = run("export", "freeze", workspace, "--to", tmp_path / "v[1]")
    assert "holds '[', which `datasets` takes for a pattern" in one_sentence(done)
    assert not (tmp_path / "v[1]").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a small file system of its own")
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", count=3)
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], check=False).returncode
    ):
        # Without a file system of one's own: a limit on the size of files is the same to the program (EFBIG).
        limit = ("import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
                 "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000));")  # fmt: skip
        program = f"{limit} import sys; from inpaintbench.cli import main; sys.argv[0] = 'inpaintbench'; main()"
        arguments = ["build", "devil", "--sources", str(sources), "--out", str(small / "w"), "--size", "128x80", "--workers", "0"]
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
        words = os.strerror(errno.EFBIG)
    else:
        try:
            done = run("build", "devil", "--sources", sources, "--out", small / "w", "--size", "128x80", "--workers", "1")
            words = os.strerror(errno.ENOSPC)
            _assert_nothing_half_written(small / "w")
        finally:
            subprocess.run(["umount", str(small)], check=True)
    assert words in one_sentence(done)


def _assert_nothing_half_written(workspace: Path) -> None:
    import hashlib

    for path in (workspace / "blobs").rglob("*.*"):
        assert path.name.partition(".")[0] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert not list(workspace.rglob("*.tmp"))
    assert not (workspace / "exports").exists()


@pytest.mark.long
def test_ctrl_c_ends_a_run_at_once_and_the_next_one_goes_on(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", count=4)
    arguments = [
        "build",
        "devil",
        "--sources",
        str(sources),
        "--out",
        str(tmp_path / "w"),
        "--size",
        "128x80",
        "--per-slice",
        "1",
    ]
    begun = subprocess.Popen(
        [sys.executable, "-m", "inpaintbench", *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while not (tmp_path / "w" / "ledger" / "probe.jsonl").exists():
        assert begun.poll() is None
        time.sleep(0.02)
    begun.send_signal(signal.SIGINT)
    _, errors = begun.communicate(timeout=30)
    assert begun.returncode == 130
    assert errors.strip().splitlines()[-1] == "inpaintbench: stopped; the same command goes on where it was"
    assert "Traceback" not in errors
    done = run(*arguments)
    assert done.returncode == 0, done.stderr


def test_the_command_line_starts_without_torch() -> None:
    program = "import sys, inpaintbench.cli; sys.exit('torch' in sys.modules or 'datasets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
