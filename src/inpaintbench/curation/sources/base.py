"""The base class of source leaves, the footage that they give, and where the files of sources lie."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from inpaintbench import storage
from inpaintbench.catalogue import Leaf, unknown_name
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected
from inpaintbench.files import read_toml
from inpaintbench.storage import Address, brought, check_state, in_cache, place, read
from inpaintbench.types import Plain, Source
from inpaintbench.workspace import Blobs

# Folder below `scratch` for further pictures of something rendered, `<part of the view>.png`.
PARTS = "parts"
# Between the name of a part and the number of the footage that brought it, where several share the bytes of one source.
_OF_FOOTAGE = "+"


@dataclass(frozen=True)
class Footage:
    """One piece of footage before anybody has opened it."""

    name: str
    """Unique among the footage of one source leaf."""
    uri: str
    """Origin, percent-encoded; the folder source's are relative to its folder."""
    origin: str
    """Name of the source leaf."""
    content: str
    """Changes whenever the footage changes (file size and time, or all parameters of something rendered)."""
    payload: Mapping[str, Any]
    """Data that a worker needs to obtain the file; JSON-able."""
    licence: str | None = None
    author: str | None = None
    page_url: str | None = None
    known: Mapping[str, str | float] = field(default_factory=dict)
    """Labels that are known without measuring."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Facts that are data, such as ``joints`` or ``timed_text``; JSON-able."""


class SourceLeaf(Leaf, ABC):
    """A place that footage comes from."""

    @abstractmethod
    def footage(self) -> Iterator[Footage]:
        """Everything there is, in a stable order.

        Raises:
            InputError: the place does not exist or cannot be listed.
        """

    @abstractmethod
    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Runs in a worker: the path of the footage as a file, written below the folder ``scratch`` if need be.

        Files in ``scratch/PARTS`` are kept along with it, by the names of parts of the view.
        """

    def nothing(self) -> str | None:
        """Why there is no footage at all, where that is seen before any work; else None."""
        return None

    def notes(self) -> list[tuple[str, str]]:
        """Unreadable or odd entries, (where, why), once ``footage`` was iterated."""
        return []


def shared_parts(parts: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """The parts of a source with those of further footage of the same bytes, whose names get its number, from 2 on."""
    number = 1 + len(parts_by_footage(parts))
    return {**parts, **{f"{name}{_OF_FOOTAGE}{number}": blob for name, blob in more.items()}}


def parts_by_footage(parts: Mapping[str, str]) -> list[dict[str, str]]:
    """The parts of a source, name -> blob, once for each piece of footage that has its bytes, in the order they were found."""
    grouped: dict[int, dict[str, str]] = {1: {}}
    for key, blob in parts.items():
        name, _, number = key.partition(_OF_FOOTAGE)
        grouped.setdefault(int(number or 1), {})[name] = blob
    return list(grouped.values())


def media_of(parts: Mapping[str, str]) -> dict[str, str]:
    """The parts that are pictures and films: name -> blob."""
    return {name: blob for name, blob in parts.items() if not blob.endswith(".json")}


def quoted_path(path: str | os.PathLike[str]) -> str:
    """A path percent-encoded, since names of files need not be UTF-8 and tables are."""
    return quote(os.fsencode(path))


def unquoted_path(text: str) -> str:
    """The path that ``quoted_path`` encoded."""
    return os.fsdecode(unquote_to_bytes(text))


def located(sources: Sequence[Source], footage: Sequence[Footage]) -> dict[str, Plain]:
    """Return where each source's file lies: payload for the steps that open it."""
    places = {piece.uri: {"path": piece.payload.get("path"), "state": piece.payload.get("state")} for piece in footage}
    return {row.source_id: {"blob": row.blob, "path": None, **places.get(row.uri, {})} for row in sources}


def open_path(where: Plain, blobs: Blobs) -> str:
    """The path of a source's file, from what ``located`` says of it."""
    return str(blobs.proved(where["blob"])) if where["blob"] else local_file(where["path"], state=where.get("state"))


def local_file(quoted: str, *, state: str | None = None) -> str:
    """The path of a file of this machine: of one that ``quoted_path`` encoded, or with what lies at an address, in its ``state``.

    Raises:
        Rejected: it is not there any more. NetworkError: it cannot be brought for now, or not with these credentials.
    """
    with _as_of_a_film():
        where = place(unquoted_path(quoted), listed=True)
        return str(where if isinstance(where, Path) else brought(where, state=state))


@contextmanager
def _as_of_a_film() -> Iterator[None]:
    try:
        yield
    except Gone as error:
        raise Rejected(str(error)) from error
    except InputError as error:  # credentials run out: a film is not dropped for them
        raise NetworkError(str(error)) from error


def stated_sha256(where: Mapping[str, Any]) -> str | None:
    """The SHA-256 of a film at an address that is known there, where it is. Raises what ``local_file`` raises."""
    with _as_of_a_film():
        at = place(unquoted_path(where["path"]), listed=True)
        return storage.stated_sha256(at, state=where["state"]) if isinstance(at, Address) else None


@contextmanager
def in_parts(where: Plain, blobs: Blobs) -> Iterator[tuple[Callable[[int, int], bytes], int]]:
    """Yield what gives the bytes of a source's file from the first number to before the second, and the size of all.

    Of what lies at an address the parts alone are brought, unless the whole is in the cache.

    Raises:
        Rejected: the file cannot be read, or is not what it was when the block ends. NetworkError: as ``local_file``.
    """
    at = None if where["blob"] else place(unquoted_path(where["path"]), listed=True)
    if isinstance(at, Address) and not in_cache(at, where["state"]):

        def part(begin: int, end: int) -> bytes:
            with _as_of_a_film():
                return read(at, begin, end)

        yield part, int(where["state"].partition(":")[0])
        with _as_of_a_film():
            check_state(at, where["state"])
        return
    try:
        file = os.open(open_path(where, blobs), os.O_RDONLY)
    except OSError as error:
        raise Rejected(f"cannot be read: {error.strerror}") from error
    try:
        yield lambda begin, end: os.pread(file, end - begin, begin), os.fstat(file).st_size
    finally:
        os.close(file)


# Of all files of its folder and of those below, as far as nothing nearer to them says otherwise.
OF_FOLDER = "footage.toml"
# After the whole name of a file or folder: `waves.mp4.toml`.
OF_FILE = ".toml"


@dataclass(frozen=True)
class Origin:
    """Whose a piece of footage is; None = not said."""

    licence: str | None = None
    author: str | None = None
    page: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """As a piece of footage names them."""
        return {"licence": self.licence, "author": self.author, "page_url": self.page}

    @property
    def state(self) -> list[str | None]:
        """Changes with what is said; empty where nothing is, so that footage of before is found to be the same."""
        return list(asdict(self).values()) if self != Origin() else []

    def beneath(self, nearer: Origin) -> Origin:
        """What ``nearer`` says, and this where that says nothing."""
        return replace(self, **{name: value for name, value in asdict(nearer).items() if value is not None})


class Sidecars:
    """Files of TOML below one folder that say whose footage is; each is read once.

    Args:
        folder: where footage lies.
        otherwise: of what no file says anything of.
    """

    def __init__(self, folder: Path, *, otherwise: Origin) -> None:
        self._folder, self._otherwise = folder, otherwise
        self._of_folders: dict[Path, Origin] = {}

    def of(self, path: Path) -> Origin:
        """What is said of a file or folder below the folder.

        Raises:
            InputError: a file that cannot be read, or says something else.
        """
        said = self._of_folder(path.parent)
        sidecar = path.with_name(path.name + OF_FILE)
        return said.beneath(_read_sidecar(sidecar)) if sidecar.is_file() else said

    def _of_folder(self, folder: Path) -> Origin:
        if folder not in self._of_folders:
            outermost = folder in (self._folder, folder.parent)
            said, sidecar = self._otherwise if outermost else self._of_folder(folder.parent), folder / OF_FOLDER
            self._of_folders[folder] = said.beneath(_read_sidecar(sidecar)) if sidecar.is_file() else said
        return self._of_folders[folder]


def _read_sidecar(path: Path) -> Origin:
    said = read_toml(path, called="the file about footage")
    known = [field.name for field in fields(Origin)]
    if unknown := [name for name in said if name not in known]:
        raise InputError(f"the file about footage {str(path)!r}: {unknown_name('entry', unknown[0], known)}")
    for name, value in said.items():
        if not (isinstance(value, str) and value.strip() and value.isprintable()):
            raise InputError(f"the file about footage {str(path)!r}: {name} is {value!r}, not one line of words")
    return Origin(**said)
