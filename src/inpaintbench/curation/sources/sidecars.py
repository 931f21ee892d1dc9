"""Licence, author and page of footage in a folder: TOML files beside it, and what holds where they say nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.files import read_toml

# Of all files of its folder and of those below, as far as nothing nearer to them says otherwise.
OF_FOLDER = "footage.toml"
# After the whole name of a file or folder: `waves.mp4.toml`.
_OF_FILE = ".toml"


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
        sidecar = path.with_name(path.name + _OF_FILE)
        return said.beneath(_read(sidecar)) if sidecar.is_file() else said

    def _of_folder(self, folder: Path) -> Origin:
        if folder not in self._of_folders:
            outermost = folder in (self._folder, folder.parent)
            said, sidecar = self._otherwise if outermost else self._of_folder(folder.parent), folder / OF_FOLDER
            self._of_folders[folder] = said.beneath(_read(sidecar)) if sidecar.is_file() else said
        return self._of_folders[folder]


def _read(path: Path) -> Origin:
    said = read_toml(path, called="the file about footage")
    known = [field.name for field in fields(Origin)]
    if unknown := [name for name in said if name not in known]:
        raise InputError(f"the file about footage {str(path)!r}: {unknown_name('entry', unknown[0], known)}")
    for name, value in said.items():
        if not (isinstance(value, str) and value.strip() and value.isprintable()):
            raise InputError(f"the file about footage {str(path)!r}: {name} is {value!r}, not one line of words")
    return Origin(**said)
