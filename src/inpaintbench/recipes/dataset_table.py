"""The table ``[dataset]``: what whoever builds a dataset says of it, in a TOML file or by options; a workspace keeps it.

No item depends on it: a dataset with another title or contact has the same content. The tables ``[[slice]]`` of the file, slices
of the builder's own, go along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.export.licences import check_usable
from inpaintbench.files import read_toml, write_atomically
from inpaintbench.recipes.options import read_splits
from inpaintbench.recipes.own_slices import OwnSlice
from inpaintbench.types import canonical_json
from inpaintbench.workspace import Workspace

_FILE = "dataset_table.json"
_ADDRESS = re.compile(r"https?://[^\s<>\"|\\^`{}]+")
# Tables of the file, all of them optional.
TABLES = ("dataset", "slice", "rai")


class DatasetTable(BaseModel):
    """Title, authors and terms of a dataset; None and empty = not said."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    title: str | None = None
    """Name of the dataset; by default that of the recipe."""
    authors: tuple[str, ...] = ()
    """Who built the dataset; who made its footage stands with each source."""
    licence: str | None = None
    """Licence of the sources that state none."""
    contact: str | None = None
    """Where to write to: an address of mail or a page."""
    citation: str | None = None
    """How to cite the dataset: BibTeX or words."""
    homepage: str | None = None
    splits: Mapping[str, float] | None = None
    """Split -> its share of the items; by default those of the recipe."""
    slices: tuple[OwnSlice, ...] = ()
    """Besides those of the recipe."""
    rai: Mapping[str, str] = {}
    """What the fields of Croissant for responsible AI say that no program knows, by the entries of the table ``[rai]``."""

    @field_validator("title", "contact")
    @classmethod
    def _in_words(cls, given: str | None) -> str | None:
        if given is not None and not _is_line(given):
            raise ValueError(f"{given!r} is not one line of words")
        return given

    @field_validator("authors", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        names = [given] if isinstance(given, str) else given
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) and _is_line(name) for name in names):
            raise ValueError(f'{given!r} are no names, such as ["Ada Lovelace", "Alan Turing"]')
        return tuple(names)

    @field_validator("licence")
    @classmethod
    def _usable(cls, given: str | None) -> str | None:
        if given is not None:
            try:
                check_usable(given)
            except InputError as error:
                raise ValueError(str(error)) from error
        return given

    @field_validator("citation")
    @classmethod
    def _words(cls, given: str | None) -> str | None:
        if given is not None and not given.strip():
            raise ValueError("it is empty; leave it out instead")
        return given

    @field_validator("homepage")
    @classmethod
    def _address(cls, given: str | None) -> str | None:
        if given is not None and not (_ADDRESS.fullmatch(given) and given.isprintable()):
            raise ValueError(f"{given!r} is not an address, such as https://example.org/dataset")
        return given

    @field_validator("rai", mode="before")
    @classmethod
    def _sentences(cls, given: Any) -> Any:
        from inpaintbench.export.documents import STATED  # with the card, whose figures the help of a build does without

        if not isinstance(given, Mapping):
            raise ValueError("rai is a table; begin it with the line [rai]")
        if unknown := [name for name in given if name not in STATED]:
            raise ValueError(unknown_name("entry of [rai]", str(unknown[0]), list(STATED)))
        if empty := [name for name, text in given.items() if not isinstance(text, str) or not text.strip()]:
            raise ValueError(f"{empty[0]} is not a text; leave it out where there is nothing to say")
        return {name: " ".join(text.split()) for name, text in given.items()}

    @field_validator("splits", mode="before")
    @classmethod
    def _shares(cls, given: Any) -> Any:
        if isinstance(given, str):
            return read_splits(given)
        if isinstance(given, Mapping):
            if unknown := [name for name in given if name not in ("train", "validation", "test")]:
                raise ValueError(unknown_name("split", str(unknown[0]), ["train", "validation", "test"]))
            if not all(isinstance(share, int | float) and not isinstance(share, bool) for share in given.values()):
                raise ValueError(f"{dict(given)} are not shares, such as {{train = 8, test = 2}}")
            return read_splits(",".join(str(given.get(name, 0)) for name in ("train", "validation", "test")))
        return given

    @property
    def facts(self) -> dict[str, Any]:
        """What the documents of a dataset tell of it besides its title: those of the entries that were given."""
        told = {"authors": list(self.authors), "contact": self.contact, "citation": self.citation, "homepage": self.homepage}
        return {name: value for name, value in told.items() if value}


# Of the table in the file.
_ENTRIES = [name for name in DatasetTable.model_fields if name not in ("slices", "rai")]
# Nothing is said.
SILENT = DatasetTable()


def _is_line(text: str) -> bool:
    return bool(text.strip()) and text.isprintable()


def read_file(path: Path) -> dict[str, Any]:
    """The tables of a file that says what a dataset is, as plain data by their names.

    Raises:
        InputError: not readable, not TOML, or a table that is none of ``TABLES``.
    """
    document = read_toml(path, called="the file about the dataset")
    if unknown := [key for key in document if key not in TABLES]:
        raise InputError(f"{path.name}: {unknown_name('table', unknown[0], list(TABLES))}")
    if not isinstance(document.get("dataset", {}), dict):
        raise InputError(f"{path.name}: dataset is a table; begin it with the line [dataset]")
    if not isinstance(document.get("slice", []), list):
        raise InputError(f"{path.name}: there may be several slices; begin each with the line [[slice]]")
    return document


def make_table(fields: Mapping[str, Any], *, where: str) -> DatasetTable:
    """The table of plain data.

    Raises:
        InputError: an entry that is unknown or cannot be used; one sentence that begins with ``where``.
    """
    if unknown := [key for key in fields if key not in DatasetTable.model_fields]:
        raise InputError(f"{where}: {unknown_name('entry', unknown[0], _ENTRIES)}")
    try:
        return DatasetTable(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        shown = "" if first["type"] == "value_error" else f" and not {first['input']!r}"
        raise InputError(f"{where}: {first['loc'][0]}: {said}{shown}") from error


def with_entries(table: DatasetTable, entries: Sequence[str]) -> DatasetTable:
    """The table with ``NAME=VALUE`` in the place of its own; what is given several times, such as authors, is a list.

    Raises:
        InputError: text that is no such entry, or an entry that cannot be used.
    """
    given: dict[str, list[str]] = {}
    for text in entries:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--about {text!r} is not NAME=VALUE, such as title=Waves")
        given.setdefault(name.strip(), []).append(value.strip())
    for name, values in given.items():
        if len(values) > 1 and name != "authors":
            raise InputError(f"--about gives {name} {len(values)} times: {' and '.join(map(repr, values))}")
    said = {name: values if name == "authors" else values[0] for name, values in given.items()}
    return make_table(table.model_dump() | said, where="--about")


def keep(workspace: Workspace, table: DatasetTable) -> None:
    """Keep ``table`` in the workspace, in the place of an earlier one."""
    path = workspace.path / _FILE
    if table == SILENT:
        path.unlink(missing_ok=True)
    else:
        write_atomically(path, canonical_json(table.model_dump(mode="json")).encode() + b"\n")


def kept(workspace: Workspace) -> DatasetTable:
    """The table of the workspace, empty where nothing was said.

    Raises:
        WorkspaceError: the file is damaged.
    """
    path = workspace.path / _FILE
    if not path.exists():
        return SILENT
    try:
        return make_table(json.loads(path.read_text()), where=path.name)
    except (ValueError, TypeError, InputError) as error:
        raise WorkspaceError(f"{str(path)!r} is damaged: {error}; delete it, and say again what the dataset is") from error
