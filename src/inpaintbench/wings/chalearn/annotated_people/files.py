"""Annotation files as plain Python: MATLAB structs as dictionaries, whatever their nesting, and JSON that may be damaged."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.annotated_people.base import number

_TIME_LIMIT_SECONDS = 600.0
_HDF5_AT = 512
_HDF5_MARK = b"\x89HDF\r\n\x1a\n"


def load_variable(path: Path | str, variable: str) -> Any:
    """One variable of a MATLAB file up to version 7.2, nothing squeezed.

    Raises:
        InputError: no such file or variable, a version 7.3 (HDF5) file, or damage.
    """
    path = Path(path)
    head = _head(path)
    if _HDF5_MARK in (head[: len(_HDF5_MARK)], head[_HDF5_AT:]):
        raise InputError(f"{path.name} is a MATLAB 7.3 (HDF5) file, save it with MATLAB's option '-v7' first")
    if not _of_version_4_or_5(head):
        raise InputError(f"{path.name} cannot be read as a MATLAB file: it does not begin as one")
    kind, value = _ask_child(path, variable)
    if kind == "error":
        raise InputError(f"{path.name} cannot be read as a MATLAB file: {value}")
    if kind == "names":
        listed = ", ".join(repr(name) for name in value) or "nothing"
        raise InputError(f"{path.name} has no variable {variable!r}, only {listed}")
    return value


def _ask_child(path: Path, variable: str) -> tuple[str, Any]:
    """Answer of ``matlab_child``; an error when it crashes or hangs on a damaged file."""
    program = Path(__file__).with_name("matlab_child.py")
    command = [sys.executable, "-I", str(program), str(path.absolute()), variable]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_TIME_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return "error", f"no end in {_TIME_LIMIT_SECONDS:.0f} s, it is damaged or far too large"
    if done.returncode != 0:
        return "error", f"the reader ended with status {done.returncode}, the file is damaged"
    # What our own child wrote, of plain arrays that SciPy read.
    kind, value = pickle.loads(done.stdout)  # nosec B301
    return kind, value


def structs(value: Any) -> list[dict[str, Any]]:
    """The structs of a struct array, of one struct, or of a cell array of them; none of anything else."""
    if isinstance(value, np.void) and value.dtype.names:
        return [{name: value[name] for name in value.dtype.names}]
    if not isinstance(value, np.ndarray) or not (value.dtype.names or value.dtype == object):
        return []
    # MATLAB counts columns first.
    return [struct for entry in value.reshape(-1, order="F") for struct in structs(entry)]


def struct(value: Any) -> dict[str, Any]:
    """The one struct in ``value``; empty when there is none or there are several."""
    inner = structs(value)
    return inner[0] if len(inner) == 1 else {}


def numbers(value: Any) -> npt.NDArray[np.float64]:
    """An array of real numbers as float64 of the same shape; empty when it is something else."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value.astype(np.float64)
    return np.zeros(0)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HDF5_AT + len(_HDF5_MARK))
    except OSError as error:
        raise InputError(f"annotations {str(path)!r} cannot be read: {error.strerror}") from error


def _of_version_4_or_5(head: bytes) -> bool:
    """Whether a file may be one of MATLAB's: what is none needs no process of its own to be refused.

    Source: MATLAB's "MAT-File Format": version 5 ends its header of 128 bytes with the order of bytes; version 4 begins with the
    type of its first matrix, a 32-bit number of at most four decimal digits.
    """
    return head[126:128] in (b"IM", b"MI") or min(int.from_bytes(head[:4], order) for order in ("little", "big")) < 10_000


def load_json(path: Path | str) -> Any:
    """Content of a JSON file.

    Raises:
        InputError: the file cannot be read or is not JSON.
    """
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"annotations {str(path)!r} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{Path(path).name} is not JSON: {error}") from error


def pairs(value: Any) -> list[tuple[float | None, float | None]]:
    """A list of points; None for what is no number, (None, None) for what is no pair, empty for what is no list."""
    entries = value if isinstance(value, list) else []
    return [
        (number(entry[0]), number(entry[1])) if isinstance(entry, list) and len(entry) == 2 else (None, None) for entry in entries
    ]
