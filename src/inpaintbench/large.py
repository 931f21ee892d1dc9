"""Arrays larger than a process should hold: they lie in files without a name, which the system takes from memory where that is
short. So scoring needs no more memory for a long film than for a short one, but room on a disk."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

# Bytes of an array in memory, of which a process that scores may fill three at once: 64 frames of 1080p.
MOST_IN_MEMORY = 384 << 20
# The folder of temporary files may itself be memory.
_FOLDER = Path("/var/tmp")


def is_large(shape: tuple[int, ...]) -> bool:
    """Return whether an array of so many bytes is to lie in a file, where the system can take room for it."""
    return math.prod(shape) > MOST_IN_MEMORY and hasattr(os, "posix_fallocate")


def nameless() -> IO[bytes]:
    """Open a file without a name, in TMPDIR or where files may be large; it is gone when nobody maps it any more."""
    if "TMPDIR" not in os.environ:
        with suppress(OSError):  # it is not there, or only read, as in some containers
            return tempfile.TemporaryFile(dir=_FOLDER, buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def mapped(file: IO[bytes], shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Array over a file, of a type of one byte; what the file does not hold is 0.

    Raises:
        OSError: no room: it is taken before anything is written, where a full disk would end the process.
    """
    try:
        os.posix_fallocate(file.fileno(), 0, math.prod(shape))
    except OSError as error:  # it may be another disk than that of the results
        error.filename = f"{math.prod(shape) / 1e9:.1f} GB for the frames of a long clip, in TMPDIR or {_FOLDER}"
        raise
    return np.ndarray(shape, dtype, mmap.mmap(file.fileno(), math.prod(shape)))


def zeros(shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """``np.zeros`` of truth values."""
    if not is_large(shape):
        return np.zeros(shape, np.bool_)
    with nameless() as file:
        return mapped(file, shape, np.bool_)
