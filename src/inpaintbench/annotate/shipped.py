"""The studies that come with the package, to be completed with one's own workspace or dataset."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from inpaintbench.annotate.study import StudyFile, parse_study
from inpaintbench.catalogue import joined, unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.files import write_atomically

STUDY_FILE = "study.toml"
_SUFFIX = ".toml"
_FOLDER = files("inpaintbench.annotate").joinpath("studies")


def _files() -> dict[str, Traversable]:
    """Name -> file of every shipped study, those of wings among them."""
    own = {entry.name.removesuffix(_SUFFIX): entry for entry in _FOLDER.iterdir() if entry.name.endswith(_SUFFIX)}
    places = {name: address.partition(":") for name, address in joined("study").items()}
    return own | {name: files(package).joinpath(file) for name, (package, _, file) in places.items()}


def names() -> list[str]:
    """Names of the shipped studies, sorted."""
    return sorted(_files())


def text(name: str) -> str:
    """The file of a shipped study, with comments that explain its fields and capitals where paths and methods belong.

    Raises:
        UnknownNameError: no such study; the text suggests the nearest.
    """
    if name not in names():
        raise UnknownNameError(unknown_name("study", name, names()))
    return _files()[name].read_text(encoding="utf-8")


def read(name: str, *, folder: Path) -> StudyFile:
    """A shipped study as it would be read from ``folder``, capitals and all.

    Raises:
        UnknownNameError: no such study.
    """
    return parse_study(tomllib.loads(text(name)), where=name, folder=folder)


def write(name: str, target: Path) -> Path:
    """Put a shipped study at ``target``, as ``study.toml`` in it unless it is named ``.toml`` itself.

    Returns:
        The path of the file.

    Raises:
        UnknownNameError: no such study.
        InputError: there is a file already, or it cannot be written.
    """
    path = target if target.suffix == _SUFFIX else target / STUDY_FILE
    content = text(name).encode()
    if path.exists():
        raise InputError(f"{str(path)!r} is there already; choose another folder or remove it")
    try:
        write_atomically(path, content)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    return path
