"""What several tests need and what takes long is made once, for all processes of a test run."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path


def once(shared: Path, name: str, make: Callable[[Path], None]) -> Path:
    """``shared/name``, made by the first process that asks for it; for reading alone."""
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / name
        if not folder.exists():
            work = shared / f"{name}.work"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            make(work / name)
            (work / name).rename(folder)
        return folder
