from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from inpaintbench.errors import WorkspaceError
from inpaintbench.files import replacing, sync_tree


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
