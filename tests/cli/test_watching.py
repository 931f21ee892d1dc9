"""What is told of a program that takes long over an item."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from inpaintbench.cli import watching
from inpaintbench.cli.watching import programs_watched
from inpaintbench.eval.adapters.progress import RUNNING, Call
from inpaintbench.eval.adapters.progress import told as timed
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.view import ItemView

# Each works on ten frames, stops half way until it is let go on, and then gives them back as they were.
BEGINS = "import pathlib, shutil, sys, time\ninput, output, go = map(pathlib.Path, sys.argv[1:])\n"
WAITS = "while not go.exists(): time.sleep(0.01)\n"
ENDS = "for path in sorted(input.glob('frame_*')): shutil.copy(path, output / path.name)\n"
PROGRAMS = {
    # The second pause lets its pace be seen.
    "prints": "for frame in range(5):\n    print('Processing frame', frame)\n    time.sleep(0.3)\n" + WAITS,
    "writes": "for path in sorted(input.iterdir())[:5]:\n    shutil.copy(path, output)\n    time.sleep(0.3)\n" + WAITS,
    "draws": "print('\\r 50%|#####     | 5/10 [00:12<04:20, 3.00it/s]', end='', file=sys.stderr)\n" + WAITS,
    "silent": WAITS,
}  # fmt: skip
SPEC = MethodSpec("mine", "command")


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    for name, seconds in (
        ("_LOOK_SECONDS", 0.02),
        ("_FIRST_SECONDS", 0.4),
        ("_RAREST_SECONDS", 30.0),
        ("_PATIENCE_SECONDS", 0.4),
    ):
        monkeypatch.setattr(watching, name, seconds)


def command(kind: str, folder: Path, label: str, *, limit: float = 3600.0) -> Command:
    script = folder / f"{kind}.py"
    script.write_text(BEGINS + PROGRAMS[kind] + ENDS)
    words = f"{sys.executable} {script} {{input}} {{output}} {folder / f'{label}-goes-on'}"
    return Command(command=words, time_limit_seconds=limit)


@contextmanager
def at_work(kind: str, folder: Path, *, limit: float = 3600.0, label: str = "mine") -> Iterator[None]:
    """A real program is at work on an item in another thread while the block runs, and ends well after it."""
    go, leaf = folder / f"{label}-goes-on", command(kind, folder, label, limit=limit)
    leaf.log = folder / "logs" / label / "a.txt"
    frames = np.zeros((10, 8, 8, 3), np.uint8)
    view = ItemView.of_arrays(input=frames, hole=np.ones((10, 8, 8), np.bool_), fps=24.0)
    made: list[object] = []
    worker = threading.Thread(target=lambda: made.append(leaf.inpaint(view)))
    worker.start()
    try:
        yield
    finally:
        go.touch()
        worker.join()
    np.testing.assert_array_equal(made, [frames])


def heard(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is told until all the words were."""
    told, until = "", time.monotonic() + 30
    while not all(word in " ".join(told.split()) for word in words):
        assert time.monotonic() < until, told
        time.sleep(0.02)
        told += capsys.readouterr().err
    return " ".join(told.split())


def before(folder: Path, pixels: int, seconds: float, *, kind: str = "silent", label: str = "mine") -> None:
    """The program took so long for a clip of so many pixels, in a run of another day."""
    call = Call(0.0, time.time() - seconds, 60.0, 10, pixels, program=command(kind, folder, label)._identity)
    with timed(folder / "before" / "a.txt", call):
        pass


@pytest.mark.parametrize("kind", ["prints", "writes", "draws"])
def test_how_far_a_program_is_and_what_is_left(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with programs_watched(tmp_path / "logs", [SPEC]), at_work(kind, tmp_path):
        far = "4 of 10" if kind == "prints" else "5 of 10"
        told = heard(capsys, f"mine, item a: {far} after", "left of this step")
    assert "outlast" not in told


@pytest.mark.parametrize("kind", ["draws", "silent"])
def test_an_item_that_will_outlast_its_limit_is_told_once(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if kind == "silent":  # one of its size took long
        before(tmp_path, 640, 5000.0)
    with programs_watched(tmp_path / "logs", [SPEC]), at_work(kind, tmp_path, limit=100.0):
        told = heard(capsys, "mine will outlast its limit of", "--time-limit SECONDS gives it more")
        told += heard(capsys, "mine, item a:")
    assert (told + capsys.readouterr().err).count("outlast") == 1


def test_where_nothing_is_known_the_limit_is_told_and_of_the_next_the_time_of_the_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with programs_watched(tmp_path / "logs", [SPEC]):
        with at_work("silent", tmp_path):
            told = heard(capsys, "mine, item a: after", "of at most 1 h")
            time.sleep(1)  # it takes longer than the next will have to be told
        assert "left" not in told
        (tmp_path / "mine-goes-on").unlink()
        capsys.readouterr()
        with at_work("silent", tmp_path):
            told = heard(capsys, "mine, item a: after", "left, as clips of its size took")
    assert "of this step" not in told


def test_of_a_program_that_says_nothing_the_first_item_is_estimated_by_a_small_clip_and_the_estimate_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The made clip of the check before a run is one of those."""
    before(tmp_path, 64, 500.0)
    with programs_watched(tmp_path / "logs", [SPEC]):
        with at_work("silent", tmp_path, limit=100.0):
            told = heard(
                capsys, "mine, item a: after", "roughly 1 h 23 min left, by a clip that was 10 times smaller", "may outlast"
            )
            assert "about" not in told
        told = heard(capsys, "mine, item a: took", "where roughly 1 h 23 min were estimated")
    assert capsys.readouterr().err.count("were estimated") == 0, "it is judged once"


def test_what_has_ended_or_runs_for_nobody_is_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for label in ("ended", "killed"):
        (tmp_path / "logs" / label).mkdir(parents=True)
        (tmp_path / "logs" / label / "a.txt").write_text("$ cd /\n37%|###7   | 37/100 [00:12<04:20, 3.00it/s]")
    with programs_watched(tmp_path / "logs", [SPEC]):
        (tmp_path / "logs" / "killed" / f"a{RUNNING}").write_text("[1.0, 1.0, 60.0, 80, 8000]")  # nobody holds it
        with at_work("draws", tmp_path):
            told = heard(capsys, "mine, item a:")
        time.sleep(0.1)
    assert not any(word in told + capsys.readouterr().err for word in ("ended", "killed"))


def test_without_programs_nothing_is_looked_at(tmp_path: Path) -> None:
    before = threading.active_count()
    with programs_watched(tmp_path / "no folder", [MethodSpec("telea", "telea")]):
        assert threading.active_count() == before
