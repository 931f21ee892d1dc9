"""MATLAB files as plain Python: structs as dictionaries, whatever their nesting."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import io

from inpaintbench.errors import InputError

_HDF5_AT = 512
_HDF5_MARK = b"\x89HDF\r\n\x1a\n"


def load_variable(path: Path | str, variable: str) -> Any:
    """One variable of a MATLAB file up to version 7.2, nothing squeezed.

    Raises:
        InputError: no such file or variable, a version 7.3 (HDF5) file, or damage.
    """
    path = Path(path)
    if _is_hdf5(path):
        raise InputError(f"{path.name} is a MATLAB 7.3 (HDF5) file, save it with MATLAB's option '-v7' first")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", io.matlab.MatReadWarning)
            found = io.loadmat(str(path), variable_names=[variable], appendmat=False, verify_compressed_data_integrity=True)
    except Exception as error:  # on damaged bytes SciPy raises nearly anything
        raise InputError(f"{path.name} cannot be read as a MATLAB file: {error or type(error).__name__}") from error
    if variable not in found:
        raise InputError(f"{path.name} has no variable {variable!r}, only {_names(path)}")
    return found[variable]


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
    found = structs(value)
    return found[0] if len(found) == 1 else {}


def numbers(value: Any) -> npt.NDArray[np.float64]:
    """An array of real numbers as float64 of the same shape; empty when it is something else."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value.astype(np.float64)
    return np.zeros(0)


def _is_hdf5(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_HDF5_AT + len(_HDF5_MARK))
    except OSError as error:
        raise InputError(f"annotations {str(path)!r} cannot be read: {error.strerror}") from error
    return _HDF5_MARK in (head[: len(_HDF5_MARK)], head[_HDF5_AT:])


def _names(path: Path) -> str:
    try:
        return ", ".join(repr(name) for name, _, _ in io.whosmat(str(path), appendmat=False)) or "nothing"
    except Exception:
        return "damaged ones"
