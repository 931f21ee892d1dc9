"""Registry of network weights: a table of known files, located and verified by their SHA-256.

A file is searched by its name in the folder of ``INPAINTBENCH_WEIGHTS`` and the folders in it, then in the cache folder:
``INPAINTBENCH_CACHE/models``, else ``XDG_CACHE_HOME/inpaintbench/models``, else ``~/.cache/inpaintbench/models``. A file whose
hash differs from the table's is never used.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from inpaintbench.catalogue import known_name
from inpaintbench.errors import NotMeasurable
from inpaintbench.files import file_sha256


@dataclass(frozen=True)
class Weights:
    """Entry of the table: one file of parameters."""

    name: str
    file: str
    sha256: str
    bytes: int
    """Size of the file; where ``bytes_are_known`` is False, an upper bound."""
    licence: str
    """SPDX id."""
    origin: str | None
    """Public address of the file; None where it has to be imported."""
    used_by: tuple[str, ...]
    """Names of the attributes and metrics that need it."""
    bytes_are_known: bool = True
    """True if the size was published; the hash decides either way."""


@lru_cache(maxsize=1)
def known() -> dict[str, Weights]:
    """Table of weights, by name."""
    table = tomllib.loads(files("inpaintbench.models").joinpath("weights.toml").read_text())
    return {
        name: Weights(
            name=name,
            file=row["file"],
            sha256=row["sha256"],
            bytes=row["bytes"] if "bytes" in row else row["bytes_at_most"],
            licence=row["licence"],
            origin=row.get("origin"),
            used_by=tuple(row["used_by"]),
            bytes_are_known="bytes" in row,
        )
        for name, row in table.items()
    }


def named(name: str) -> Weights:
    """Look up the entry ``name`` of the table.

    Raises:
        UnknownNameError: no such entry; the text suggests the nearest name.
    """
    return known()[known_name("weights", name, known())]


def path_of(name: str) -> Path:
    """Path of the verified file of the weights ``name``.

    Raises:
        NotMeasurable: the file is missing or damaged; the text says how to get it.
        UnknownNameError: no such entry in the table.
    """
    return located(named(name))


def located(weights: Weights) -> Path:
    """Path of the verified file of an entry; raises ``NotMeasurable`` as ``path_of``."""
    places = list(_places(weights))
    for path in places:
        if is_whole(path, weights):
            return path
    if places:
        raise NotMeasurable(f"weights damaged: {damage(places[0], weights)}; delete it, then {_way_out(weights)}")
    raise NotMeasurable(f"weights missing: {_way_out(weights)}")


def state(weights: Weights) -> str:
    """State of the file of an entry: ``ready``, ``damaged`` or ``missing``."""
    try:
        places = list(_places(weights))
    except NotMeasurable:
        return "missing"
    return "ready" if any(is_whole(path, weights) for path in places) else "damaged" if places else "missing"


def lacks(names: Iterable[str]) -> dict[str, str]:
    """Entries of the table that are not ready -> their state."""
    states = {name: state(named(name)) for name in names}
    return {name: status for name, status in states.items() if status != "ready"}


def needed(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Parameter of a step that names the weights it needs; empty where it needs none.

    The states are always ``ready`` and corrected by ``Step.lacks``: release 0.2 wrote them into the keys of the ledger, so that
    its measurements stay valid.
    """
    states = dict.fromkeys(names, "ready")
    return {"weights": states} if states else {}


def cache_folder(kind: str = "models") -> Path:
    """Cache folder of the user for files of ``kind``, by default downloaded and imported weights; it need not exist."""
    if cache := os.environ.get("INPAINTBENCH_CACHE"):
        return Path(cache) / kind
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inpaintbench" / kind


def is_whole(path: Path, weights: Weights) -> bool:
    """True if the file has the size and hash of the table; hashed once per process, and again after a change of size or time."""
    try:
        status = path.stat()
    except OSError:
        return False
    fits = status.st_size == weights.bytes if weights.bytes_are_known else status.st_size <= weights.bytes
    return fits and known_sha256(path) == weights.sha256


def known_sha256(path: Path) -> str:
    """SHA-256 of a file, hashed once per process, and again after a change of size or time."""
    status = path.stat()
    return _sha256(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _sha256(path: str, size: int, changed: int) -> str:  # noqa: ARG001 - size and time are part of the cache's key
    return file_sha256(Path(path))


def _places(weights: Weights) -> Iterator[Path]:
    """Files of that name in the searched folders, in order."""
    if variable := os.environ.get("INPAINTBENCH_WEIGHTS"):
        folder = Path(variable)
        if not folder.is_dir():
            raise NotMeasurable(f"INPAINTBENCH_WEIGHTS names no folder: {_way_out(weights)}")
        yield from (path for path in [folder / weights.file, *sorted(folder.glob(f"*/{weights.file}"))] if path.is_file())
    if (path := cache_folder() / weights.file).is_file():
        yield path


def damage(path: Path, weights: Weights) -> str:
    """Description of the damage of a file; without its folder, since it goes into tables."""
    size = path.stat().st_size
    differs = weights.bytes_are_known and size != weights.bytes
    fault = f"has {size} bytes instead of {weights.bytes}" if differs else "has other bytes than its SHA-256 says"
    return f"the {path.name} that was found {fault}"


def _way_out(weights: Weights) -> str:
    way = f"fetch {weights.name}" if weights.origin else f"import {weights.file}"
    return f"run `inpaintbench models {way}`, or put {weights.file} into a folder and set INPAINTBENCH_WEIGHTS to it"


# What a score says of a file that is not there.
MISSING = "missing"


@dataclass(frozen=True)
class Brought:
    """A file, or a folder of files, that a variable of the environment names."""

    variable: str
    what: str
    """What it is, after "set VARIABLE to"."""
    advice: str
    """Why it is not there and where it is from, before "and set VARIABLE to ..."."""
    files: tuple[str, ...] = ()
    """Patterns of the files of a folder, of each of which there has to be one; empty for a file."""

    def path(self) -> Path:
        """The file or folder that the user named.

        Raises:
            NotMeasurable: none was named, or it is not there.
        """
        given = os.environ.get(self.variable)
        if not given:
            raise NotMeasurable(f"{self.advice} and set {self.variable} to {self.what}")
        path = Path(given)
        if not (path.is_dir() if self.files else path.is_file()):
            kind = "folder" if self.files else "file"
            raise NotMeasurable(f"{self.variable} names no {kind}: {path.name!r}; set it to {self.what}")
        return path

    def member(self, pattern: str) -> Path:
        """The file of the folder whose name matches one of ``pattern``'s alternatives (``"a.bin|a.safetensors"``).

        Raises:
            NotMeasurable: it is not there.
        """
        folder = self.path()
        names = [folder / name for name in pattern.split("|") if (folder / name).is_file()]
        if not names:
            raise NotMeasurable(f"{self.variable} names {folder.name!r}, which has no {pattern.replace('|', ' or ')}")
        return names[0]

    def sha256(self) -> str:
        """The SHA-256 of the file, or of those of its folder, one after the other; ``MISSING`` where there is none."""
        try:
            hashes = [known_sha256(path) for path in self._all()]
        except NotMeasurable:
            return MISSING
        return hashlib.sha256("".join(hashes).encode()).hexdigest() if self.files else hashes[0]

    state = sha256

    def changed(self) -> int:
        """When the latest of its files changed, in nanoseconds; raises as ``path``."""
        return max(path.stat().st_mtime_ns for path in self._all())

    def _all(self) -> Iterator[Path]:
        yield from map(self.member, self.files) if self.files else [self.path()]
