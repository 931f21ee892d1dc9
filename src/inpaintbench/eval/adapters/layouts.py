"""The table of layouts, this package's own and those of others in a file of the same form."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, PositiveInt, ValidationError

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError

# A layout whose name ends so is a file, not a row of the table.
SUFFIX = ".toml"


def _numbered(template: str) -> str:
    """A file name that tells frames apart and stays in its folder."""
    try:
        names = [template.format(number) for number in (1, 2)]
    except (IndexError, KeyError, ValueError) as error:
        raise ValueError(f"{template!r} is no file name with one place for a number, such as frame_{{:04d}}.png") from error
    if names[0] == names[1] or Path(names[0]).is_absolute() or ".." in Path(names[0]).parts:
        raise ValueError(f"{template!r} needs a place for a number, such as frame_{{:04d}}.png, below the folder")
    return template


def _written(template: str) -> str:
    if not template.endswith(".png"):
        raise ValueError(f"{template!r} does not end in .png, which alone is written: frames must arrive without loss")
    return template


Template = Annotated[str, AfterValidator(_numbered)]
Written = Annotated[Template, AfterValidator(_written)]


class Layout(BaseModel):
    """Layout of the folders of a program: one row of the table, whose head says what its fields mean."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    frame: Written
    hole: Written
    prediction: Template
    hole_level: Literal["white", "black"]
    hole_mode: Literal["1", "L", "RGB"] = "L"
    first: int = 0
    runs: Literal["item", "frame"] = "item"
    divisor: PositiveInt | tuple[PositiveInt, PositiveInt] = 1
    size: tuple[PositiveInt, PositiveInt] | None = None
    command: str = "PROGRAM"
    home: str | None = None
    licence: str | None = None
    source: str = "a file of yours"
    unchecked: tuple[str, ...] = ()

    def __str__(self) -> str:
        level = f"{self.hole_level} is hole"
        size = f", {self.size[0]}x{self.size[1]}" if self.size else ""
        return f"{self.frame}, {self.hole} ({level}) -> {self.prediction}{size}"


@lru_cache(maxsize=1)
def layouts() -> dict[str, Layout]:
    """The layouts of this package, by name."""
    text = files("inpaintbench.eval.adapters").joinpath("layouts.toml").read_text()
    return {name: Layout(**row) for name, row in tomllib.loads(text).items()}


def layout_of(name: str) -> Layout:
    """The layout ``name``; a name that ends in ``.toml`` is a file with the fields of one.

    Raises:
        UnknownNameError: no such layout. InputError: no such file, or one with other fields.
    """
    if name.endswith(SUFFIX):
        return _read(Path(name))
    if name not in layouts():
        raise UnknownNameError(unknown_name("layout", name, layouts()))
    return layouts()[name]


def _read(path: Path) -> Layout:
    try:
        fields = tomllib.loads(path.read_text())
        return Layout(**({"title": path.stem} | fields))
    except OSError as error:
        raise InputError(f"the layout {str(path)!r} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = min(error.errors(), key=lambda one: one["type"] == "missing")  # what is wrong before what is not there yet
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"the layout {str(path)!r} is not one: {where}: {first['msg']}") from error
    except ValueError as error:
        raise InputError(f"the layout {str(path)!r} is not TOML: {error}") from error
