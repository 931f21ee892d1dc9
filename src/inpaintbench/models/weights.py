"""Where the parameters of networks come from: a table of known files, found, fetched and checked by their SHA-256.

A file is looked for under its name in the folder of ``INPAINTBENCH_WEIGHTS`` and the folders in it, then in the cache folder:
``INPAINTBENCH_CACHE/models``, else ``XDG_CACHE_HOME/inpaintbench/models``, else ``~/.cache/inpaintbench/models``. A file with
other bytes than the table states is never used.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.workspace import file_sha256


@dataclass(frozen=True)
class Weights:
    """One file of parameters."""

    name: str
    file: str
    sha256: str
    bytes: int
    """Of the whole file; where ``bytes_are_known`` is False, the most that it can have."""
    licence: str
    """SPDX id."""
    origin: str | None
    """Public address of these very bytes; None where the file has to be imported."""
    used_by: tuple[str, ...]
    """Names of the attributes and metrics."""
    bytes_are_known: bool = True
    """Whether the size was published; the hash decides either way."""


@lru_cache(maxsize=1)
def known() -> dict[str, Weights]:
    """The table, by name."""
    table = tomllib.loads(files("inpaintbench.models").joinpath("weights.toml").read_text())
    return {name: _entry(name, row) for name, row in table.items()}


def _entry(name: str, row: Mapping[str, Any]) -> Weights:
    size = row["bytes"] if "bytes" in row else row["bytes_at_most"]
    return Weights(
        name, row["file"], row["sha256"], size, row["licence"], row.get("origin"), tuple(row["used_by"]), "bytes" in row
    )  # fmt: skip


def named(name: str) -> Weights:
    """The entry ``name`` of the table.

    Raises:
        UnknownNameError: there is none; the text suggests the nearest.
    """
    if name not in known():
        raise UnknownNameError(unknown_name("weights", name, list(known())))
    return known()[name]


def path_of(name: str) -> Path:
    """Where the checked file of the weights ``name`` lies.

    Raises:
        NotMeasurable: it is missing or damaged; the text says how to get it.
        UnknownNameError: no such entry in the table.
    """
    return located(named(name))


def located(weights: Weights) -> Path:
    """``path_of`` for an entry of the table."""
    places = list(_places(weights))
    for path in places:
        if is_whole(path, weights):
            return path
    if places:
        raise NotMeasurable(f"weights damaged: {damage(places[0], weights)}; delete it, then {_way_out(weights)}")
    raise NotMeasurable(f"weights missing: {_way_out(weights)}")


def state(weights: Weights) -> str:
    """``ready``, ``damaged`` or ``missing``: what a measurement with these weights depends on besides the clip."""
    try:
        places = list(_places(weights))
    except NotMeasurable:
        return "missing"
    return "ready" if any(is_whole(path, weights) for path in places) else "damaged" if places else "missing"


def lacks(names: Iterable[str]) -> dict[str, str]:
    """Those entries of the table that are not ready -> their state."""
    states = {name: state(named(name)) for name in names}
    return {name: found for name, found in states.items() if found != "ready"}


def needed(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The parameter of a step that says which weights it needs; nothing where it needs none.

    It says that they are there, which ``Step.lacks`` corrects: so did the keys of release 0.2, and what was measured then stands.
    """
    states = dict.fromkeys(names, "ready")
    return {"weights": states} if states else {}


def cache_folder(kind: str = "models") -> Path:
    """Where fetched and imported files lie, or what else of a user's is kept under the name ``kind``; not made here."""
    if own := os.environ.get("INPAINTBENCH_CACHE"):
        return Path(own) / kind
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inpaintbench" / kind


def is_whole(path: Path, weights: Weights) -> bool:
    """Whether the file has the bytes of the table; hashed once a process, and again when its size or time of change differs."""
    try:
        found = path.stat()
    except OSError:
        return False
    fits = found.st_size == weights.bytes if weights.bytes_are_known else found.st_size <= weights.bytes
    return fits and _sha256(str(path), found.st_size, found.st_mtime_ns) == weights.sha256


@lru_cache(maxsize=16)
def _sha256(path: str, size: int, changed: int) -> str:  # noqa: ARG001 - size and time are part of what is remembered
    return file_sha256(Path(path))


def _places(weights: Weights) -> Iterator[Path]:
    """Every file of that name where weights are looked for, in order."""
    if given := os.environ.get("INPAINTBENCH_WEIGHTS"):
        folder = Path(given)
        if not folder.is_dir():
            raise NotMeasurable(f"INPAINTBENCH_WEIGHTS names no folder: {_way_out(weights)}")
        yield from (path for path in [folder / weights.file, *sorted(folder.glob(f"*/{weights.file}"))] if path.is_file())
    if (path := cache_folder() / weights.file).is_file():
        yield path


def damage(path: Path, weights: Weights) -> str:
    """What is wrong with a file that is not whole, in words; without its folder, since the words go into tables."""
    size = path.stat().st_size
    other = weights.bytes_are_known and size != weights.bytes
    wrong = f"has {size} bytes instead of {weights.bytes}" if other else "has other bytes than its SHA-256 says"
    return f"the {path.name} that was found {wrong}"


def _way_out(weights: Weights) -> str:
    way = f"fetch {weights.name}" if weights.origin else f"import {weights.file}"
    return f"run `inpaintbench models {way}`, or put {weights.file} into a folder and set INPAINTBENCH_WEIGHTS to it"
