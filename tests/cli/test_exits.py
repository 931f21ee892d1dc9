"""Which status a command ends with, and what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from program import run_here

import inpaintbench
from inpaintbench.cli.logs import DEBUG, sentence_of
from inpaintbench.files import write_atomically

USES = {
    "nothing wrong": (("masks", "presets"), 0),
    "version": (("--version",), 0),
    "an unknown command": (("evall",), 2),
    "an unknown option": (("masks", "presets", "--all"), 2),
    "a missing option": (("masks", "render", "--preset", "size-low"), 2),
    "a value out of range": (("masks", "render", "--preset", "p", "--out", "m", "--count", "0"), 2),
    "a value of another kind": (("annotate", "plan", "--methods", "many"), 2),
    "an unknown name": (("masks", "render", "--preset", "size-low", "--out", "m"), 2),
    "a shard that is none": (("curation", "measure", "w", "--shard", "9/3"), 2),
    "options that do not go together": (("build", "devil", "--demo", "--sources", "s", "--out", "w"), 2),
    "a constant that a leaf has not": (("curation", "clips", "--out", "w", "--splitter", "windows,lenght=3"), 2),
    "a size that is none": (("build", "devil", "--sources", "s", "--out", "w", "--size", "big"), 2),
    "a folder that is not there": (("export", "freeze", "nowhere"), 1),
    "a file that is not there": (("curation", "label", "nowhere", "labels.csv"), 1),
    "no sources": (("build", "devil", "--sources", "nowhere", "--out", "w"), 1),
    "no dataset": (("eval", "run", "--for=scores", "nowhere", "--run", "r"), 1),
    "a log that cannot be written": (("--log", "no/such/folder/log.jsonl", "masks", "presets"), 1),
}


@pytest.mark.parametrize("case", USES)
def test_the_status_says_whose_fault_it_is(case: str, tmp_path: Path) -> None:
    arguments, status = USES[case]
    done = run_here(*arguments, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert bool(done.stderr) == bool(status)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_by_the_other_kind_is_named_with_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "t.tex").mkdir()
    with pytest.raises(IsADirectoryError) as folder:
        write_atomically(tmp_path / "t.tex", b"")
    assert (
        sentence_of(folder.value) == f"{str(tmp_path / 't.tex')!r} is a folder, and a file is wanted there; choose another place"
    )
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError) as file:
        write_atomically(tmp_path / "file" / "t.tex", b"")
    assert sentence_of(file.value) == f"{str(tmp_path / 'file')!r} is a file, and a folder is wanted there; choose another place"
    with pytest.raises(NotADirectoryError) as below:
        write_atomically(tmp_path / "file" / "further" / "t.tex", b"")
    assert sentence_of(below.value).endswith("lies below a file, and a folder is wanted there; choose another place")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "t.tex"]


BROKEN = """
import inpaintbench.cli.masks as masks
def labels_of(name):
    import os
    raise KeyError(os.environ.get("WITH", "no such thing"))
masks.labels_of = labels_of
from inpaintbench.__main__ import main
main()
"""


def faulty(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BROKEN, *words]
    return subprocess.run(
        command, env=os.environ | {"TMPDIR": str(folder)} | environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_fault_of_the_program_is_one_sentence_with_its_traceback_in_a_file(tmp_path: Path) -> None:
    done = faulty(tmp_path, "masks", "presets")
    assert done.returncode == 1
    (path,) = tmp_path.glob("*.traceback")
    said = "inpaintbench: unexpected error, a fault of this program: KeyError: 'no such thing' (its traceback lies in "
    assert done.stderr == f"{said}{path})\n"
    assert path.read_text().startswith("Traceback")
    assert "in labels_of" in path.read_text()


def test_no_secret_and_no_stranger_gets_at_a_traceback(tmp_path: Path) -> None:
    done = faulty(tmp_path, "masks", "presets", WITH="hf_abcdefghijklmnop of https://me:hunter2000@host/?key=hunter2000")
    (path,) = tmp_path.glob("*.traceback")
    for text in (done.stderr, path.read_text()):
        assert "hf_abcdefghijklmnop" not in text
        assert "hunter2000" not in text
        assert "***" in text
    assert path.stat().st_mode & 0o077 == 0


def test_a_traceback_goes_to_the_log_where_there_is_one_and_to_the_console_where_that_is_wanted(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    done = faulty(tmp_path, "--log", str(log), "masks", "presets")
    assert done.stderr.endswith(f"(its traceback lies in {log})\n")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["event"] for row in rows] == ["begun", "error", "error", "ended"]
    assert "KeyError: 'no such thing'" in rows[1]["traceback"]
    assert rows[-1]["status"] == 1
    shown = faulty(tmp_path, "masks", "presets", **{DEBUG: "1"})
    assert shown.stderr.startswith("Traceback")
    assert shown.stderr.endswith("(its traceback stands above)\n")
    assert not list(tmp_path.glob("*.traceback"))


@pytest.mark.parametrize(("broken", "command"), [("rich", ["doctor"]), ("pyarrow", ["eval", "run", "--for=scores", "dataset"])])
def test_the_program_says_in_one_sentence_that_it_cannot_start(broken: str, command: list[str], tmp_path: Path) -> None:
    (tmp_path / f"{broken}.py").write_text("raise ImportError('libarrow.so.2600: cannot open shared object file')")
    source = str(Path(inpaintbench.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "inpaintbench", *command], env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{source}"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("inpaintbench: cannot start: libarrow.so.2600")
