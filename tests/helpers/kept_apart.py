"""A cache of the tests' own, which lends what was downloaded into the user's."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from inpaintbench.storage import CACHE, cache_folder


def kept_apart() -> None:
    """Let this process and those that it starts write into another folder, until it ends."""
    usual, own = cache_folder(), Path(tempfile.mkdtemp(prefix="inpaintbench-cache-"))
    for path in usual.glob("*"):
        if path.name not in ("files", "locks"):
            (own / path.name).symlink_to(path.resolve())
    os.environ[CACHE] = str(own)
    atexit.register(shutil.rmtree, own, ignore_errors=True)
