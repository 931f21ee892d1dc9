"""Copies share blocks where the file system can, and never the fate of their source."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from inpaintbench import files
from inpaintbench.files import copy_file

DATA = os.urandom(1_060_921)


def test_a_copy_that_is_edited_in_place_leaves_its_source(tmp_path: Path) -> None:
    source, target = tmp_path / "blob", tmp_path / "exported"
    source.write_bytes(DATA)
    source.chmod(0o600)
    copy_file(source, target)
    assert target.read_bytes() == DATA
    with target.open("r+b") as file:
        file.write(b"edited")
    assert (source.read_bytes(), target.read_bytes()) == (DATA, b"edited" + DATA[6:])
    assert source.stat().st_nlink == target.stat().st_nlink == 1
    assert source.stat().st_ino != target.stat().st_ino


def test_nothing_is_copied_where_the_file_system_clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "blob", tmp_path / "exported"
    source.write_bytes(DATA)
    asked = list[tuple[int, str, str]]()

    def clone(made: int, request: int, given: int) -> int:
        asked.append((request, os.readlink(f"/proc/self/fd/{given}"), os.readlink(f"/proc/self/fd/{made}")))
        os.pwrite(made, DATA, 0)
        return 0

    monkeypatch.setattr(fcntl, "ioctl", clone)
    monkeypatch.setattr(files.shutil, "copyfile", lambda *arguments: pytest.fail("copied"))
    copy_file(source, target)
    assert asked == [(0x40049409, str(source), str(target))]
    assert target.read_bytes() == DATA


@pytest.mark.parametrize("reason", [errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EPERM])
def test_bytes_are_copied_where_it_does_not(reason: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "blob", tmp_path / "exported"
    source.write_bytes(DATA)
    target.write_bytes(DATA * 2)

    def refuse(*arguments: int) -> int:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(fcntl, "ioctl", refuse)
    copy_file(source, target)
    assert target.read_bytes() == DATA


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "blob"
    source.write_bytes(DATA)

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fcntl, "ioctl", full)
    monkeypatch.setattr(files.shutil, "copyfile", full)
    with pytest.raises(OSError, match="No space left"):
        copy_file(source, tmp_path / "exported")
