from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from inpaintbench.errors import WorkspaceError
from inpaintbench.files import read_text, replacing, sync_tree, wide_encoding


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and folders that were brought to disk, in order."""
    paths: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: paths.append(Path(os.readlink(f"/proc/self/fd/{descriptor}"))))
    return paths


def test_a_whole_folder_is_brought_to_disk_with_its_own_names(tmp_path: Path, synced: list[Path]) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("text")
    sync_tree(tmp_path / "a")
    assert set(synced) == {tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "file"}


def test_a_folder_takes_the_place_of_another_and_leaves_nothing_beside_it(tmp_path: Path, synced: list[Path]) -> None:
    target = tmp_path / "report"
    target.mkdir()
    (target / "old").write_text("old")
    (tmp_path / ".report.12345678.tmp").mkdir()  # of a run that was killed
    with replacing(target) as folder:
        (folder / "new").write_text("new")
        assert contents(target) == {"old": "old"}
    assert contents(tmp_path) == {"report/new": "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert folder / "new" in synced


def test_a_block_that_fails_keeps_the_old_folder_and_its_own_error(tmp_path: Path) -> None:
    target = tmp_path / "report"
    target.mkdir()
    (target / "old").write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(target) as folder:  # noqa: PT012
        (folder / "new").write_text("new")
        raise ZeroDivisionError
    with pytest.raises(ConnectionResetError), replacing(target):
        raise ConnectionResetError  # an error of the system, but none of the disk
    assert contents(tmp_path) == {"report/old": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


KILLED = """
import os, pathlib, signal, sys
from inpaintbench import files
target, exchanges, at = pathlib.Path(sys.argv[1]), sys.argv[2] == "exchanges", int(sys.argv[3])
steps, rename, exchanged = 0, pathlib.Path.rename, files._exchanged
def step(done):
    global steps
    steps += 1
    if steps == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return done
def by_exchange(one, other):
    step(None)
    return step(exchanged(one, other)) if exchanges else False
files._exchanged = by_exchange
pathlib.Path.rename = lambda one, other: (step(None), step(rename(one, other)))
with files.replacing(target) as folder:
    (folder / "new").write_text("new")
"""


@pytest.mark.parametrize("way", ["exchanges", "renames"])
def test_whoever_is_killed_in_the_middle_leaves_one_of_both_folders(tmp_path: Path, way: str) -> None:
    """Also where the file system cannot exchange folders, once somebody writes there again."""
    target, seen = tmp_path / "report", []
    for at in range(1, 7):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        (target / "old").write_text("old")
        words = [sys.executable, "-c", KILLED, str(target), way, str(at)]
        done = subprocess.run(words, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        seen.append("none" if not target.exists() else next(iter(contents(target))))
        assert way == "renames" or target.exists()
        with pytest.raises(ZeroDivisionError), replacing(target):
            raise ZeroDivisionError
        assert contents(tmp_path) in ({"report/old": "old"}, {"report/new": "new"})
        assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert contents(target) == {"new": "new"}
    assert seen == {"exchanges": ["old", "new"], "renames": ["old", "old", "none", "none", "new"]}[way]


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"^report '.*report' cannot be written: No space left on device$"):  # noqa: SIM117
        with replacing(tmp_path / "report", what="report "):
            raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_afterwards_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old folder with a file that somebody holds open on a network file system, say."""
    target = tmp_path / "report"
    target.mkdir()
    monkeypatch.setattr(os, "rmdir", lambda *_, **__: (_ for _ in ()).throw(OSError(16, "Device or resource busy")))
    with replacing(target) as folder:
        (folder / "new").write_text("new")
    assert stat.S_ISDIR(target.stat().st_mode)
    assert (target / "new").read_text() == "new"


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-32",
        "utf-16-le",
        "utf-16-be",
        "utf-32-le",
        "utf-32-be",
        "marked utf-16-be",
        "marked utf-32-be",
    ],
)
@pytest.mark.parametrize("words", ["cold water", "ผมไม่เคยคิดเลย" * 9, "你好，世界。" * 20, "Привет 😀" * 9, "مرحبا بالعالم" * 9])
def test_texts_of_people_are_read_in_every_encoding_of_unicode(encoding: str, words: str, tmp_path: Path) -> None:
    text = f'title = "{words}"\nquestions = 1\n'
    mark = "\ufeff" if encoding.startswith("marked ") else ""
    (tmp_path / "text").write_bytes((mark + text.replace("\n", "\r\n")).encode(encoding.removeprefix("marked ")))
    assert read_text(tmp_path / "text") == text


def test_a_text_from_a_pipe_keeps_its_beginning(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=("a,b\n1,2\n".encode("utf-16"),))
    writer.start()
    assert read_text(tmp_path / "pipe") == "a,b\n1,2\n"
    writer.join()


def test_damaged_texts_are_not_taken_for_wide_ones() -> None:
    draw = random.Random(17)
    for words in ("The quick brown fox, 00:00:01,000 --> 00:00:02,500\n", "ผมไม่เคยคิดเลย\n", "你好，世界\n", "Привет, мир\n"):
        for zeros in (1, 2, 40, 400):
            damaged = bytearray((words * 60).encode())
            for _ in range(zeros):
                damaged[draw.randrange(len(damaged))] = 0
            assert wide_encoding(bytes(damaged)) is None
            assert wide_encoding((words * 60).encode() + bytes(zeros)) is None
