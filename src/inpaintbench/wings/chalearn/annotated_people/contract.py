"""The contract of pose readers, whatever format they read."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from inpaintbench import contracts
from inpaintbench.contracts import Check, ContractError, require
from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.annotated_people.base import PoseReader

# Endings that formats are told apart by, and content that is no annotation file: none, noise, and JSON of another shape.
_SUFFIXES = (".mat", ".json", ".txt")
_CONTENTS = {"nothing": b"", "noise": np.random.default_rng(0).bytes(2000), "other JSON": b'{"other": [1, 2]}'}


def states_its_facts(reader: PoseReader) -> None:
    """Name, version, documentation, how its pictures were used, and the coordinate of the first pixel."""
    contracts.states_its_facts(reader, "whole", "first_pixel")
    require(isinstance(reader.whole, bool), f"its whole is {reader.whole!r}, not True or False")
    require(reader.first_pixel in (0, 1), f"its first_pixel is {reader.first_pixel!r}; files count from 0 or 1")


def refuses_files_of_no_known_format(reader: PoseReader) -> None:
    """``InputError`` in one line that names the file, not nobody and not an exception of a parser."""
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        for suffix in _SUFFIXES:
            path = Path(folder, f"annotations{suffix}")
            _require_refusal(reader, path, f"a missing {suffix} file")
            for kind, content in _CONTENTS.items():
                path.write_bytes(content)
                _require_refusal(reader, path, f"a {suffix} file of {kind}")
            path.unlink()


def _require_refusal(reader: PoseReader, path: Path, file: str) -> None:
    try:
        people = reader.read(path)
    except InputError as error:
        require(path.name in str(error) and "\n" not in str(error), f"of {file} it says {str(error)!r}, which does not name it")
    else:
        raise ContractError(
            f"in {file} it finds {len(people.people)} people and {len(people.problems)} problems; raise InputError"
        )


CHECKS: tuple[Check, ...] = (states_its_facts, refuses_files_of_no_known_format)
