"""Facts of a published benchmark: how its data lie in folders, what is measured of them, and what was printed. Each is a file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, model_validator

from inpaintbench.catalogue import known_name
from inpaintbench.curation.sources import removal_layouts as layouts
from inpaintbench.errors import InputError
from inpaintbench.pages.words import count, some_of

_FOLDER = resources.files("inpaintbench.wings.named") / "benchmarks"
# Folders of a tree, by the names that ``removal_layouts.match`` has for them.
_SIDES = ("inputs", "masks", "truths")


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", use_attribute_docstrings=True)


class Published(_Facts):
    """Where the benchmark and its data come from."""

    paper: str
    authors: str
    venue: str
    arxiv: str = ""
    data: str
    """``hf:OWNER/NAME`` or ``github:OWNER/NAME``, or words."""
    code: str = ""
    """The released evaluation that was read, with its commit."""
    licence: str
    """Of the data, as it is stated; "not stated" where nobody does."""
    licence_note: str = ""


class Options(_Facts):
    """What the benchmark is built with; None where the recipe's own choice is right."""

    size: str | None = None
    fit: str | None = None
    resample: str | None = None
    frames: int | None = None
    dilations: int | None = None
    mask_values: str | None = None

    def given(self) -> dict[str, Any]:
        """Those that are stated."""
        return self.model_dump(exclude_none=True)


class Tree(_Facts):
    """One way in which the data lie below their folder."""

    note: str = ""
    layout: str = ""
    """Name of a layout that is read by code of its own, in the place of the three folders."""
    inputs: tuple[str, ...] = ()
    """Folders of clips, any of these names; "." is the root itself."""
    masks: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()
    """Empty where nobody has the truth."""
    prompts: tuple[str, ...] = ()
    """Table of prompts for edits, or a folder of such tables; the first of these that is there counts."""
    about: str = ""
    """Table of what clips show, their objects and the effects of these; a tree is one without it, too."""
    columns: Mapping[str, str] = {}
    """Our name of a column of the prompts, or of what clips show -> theirs."""
    example: tuple[str, ...] = ()
    """Paths that show how files are called."""
    options: Options = Options()
    """Options of the build for these data alone."""
    clips: int | None = None
    """How many of them the paper measures, where not all trees have as many."""
    printed: int = 1
    """Which of the printed tables is of them."""

    @model_validator(mode="after")
    def _says_where(self) -> Tree:
        if bool(self.layout) == bool(self.inputs):
            raise ValueError("a tree has either a layout or folders of inputs")
        if self.layout:
            known_name("layout", self.layout, layouts.NAMES)
        return self

    def folders(self) -> dict[str, tuple[str, ...]]:
        """Sides that it has -> names of their folder."""
        return {side: names for side in _SIDES if (names := getattr(self, side))}

    def sides(self) -> dict[str, tuple[str, ...]]:
        """The same with its layout or its tables of prompts."""
        more = {"layout": (self.layout,) if self.layout else (), "prompts": self.prompts}
        return {**self.folders(), **{side: names for side, names in more.items() if names}}

    def find(self, root: Path) -> Located:
        """Where everything of it lies below ``root``.

        Raises:
            InputError: something does not.
        """
        if self.layout:
            layouts.find(root, self.layout, allow_unmatched=True)
            return Located(self, {})
        places: dict[str, Path] = {}
        for side, names in self.sides().items():
            found = next((root / name for name in names if (root / name).exists()), None)
            if found is None:
                raise InputError(f"no {' or '.join(map(repr, names))} for the {side}")
            places[side] = found
        if self.about and (root / self.about).is_file():
            places["about"] = root / self.about
        return Located(self, places)

    def fits(self, root: Path) -> bool:
        """Whether it lies below ``root``."""
        with suppress(InputError, OSError):
            return bool(self.find(root))
        return False

    def there(self, root: Path) -> int:
        """How many of its folders and tables are below ``root``, of a layout by its examples."""
        beginnings = {(Path(path).parts[0],) for path in self.example} if self.layout else self.sides().values()
        return sum(any((root / name).exists() for name in names) for names in beginnings)


class Located(NamedTuple):
    """A tree that is there."""

    tree: Tree
    places: Mapping[str, Path]
    """``inputs``, ``masks``, ``truths``, ``prompts``, ``about``, as many as the tree has; none of a layout."""


class Expected(_Facts):
    """What the released data hold, as far as anybody says; None where nobody does."""

    clips: int | None = None
    edits: int | None = None
    """Of all clips, where a clip has several."""
    frames: int | None = None
    """Of every clip, where all have as many."""
    all_frames: int | None = None
    """Of all clips together, where they have not."""
    size: str | None = None
    """Of the films as they come; ``1920x1080 or 1080x1920`` where some are upright."""
    colour_range: Literal["limited", "full"] | None = None


class PrintedColumn(_Facts):
    """A column of the paper's tables, and what stands here for it."""

    label: str
    better: Literal["higher", "lower"]
    metric: str = ""
    """Ours; empty where there is none."""
    region: str = ""
    protocol: str = ""
    as_there: str
    """How the released code gets the number."""
    network: str = ""
    same: bool
    """The same files give the same number here: to a ten-thousandth, or to the rounding of single precision there."""
    why: str = ""
    """What differs, a clause; empty where nothing does."""
    scale: float = 1.0
    """Factor that brings our number to the unit of the print."""

    @model_validator(mode="after")
    def _says_why(self) -> PrintedColumn:
        if not self.same and not self.why:
            raise ValueError(f"column {self.label!r} says that numbers differ and not why")
        if bool(self.metric) != bool(self.protocol) or bool(self.metric) != bool(self.region):
            raise ValueError(f"column {self.label!r} needs metric, region and protocol, or none of them")
        if self.same and not self.metric:
            raise ValueError(f"column {self.label!r} has no metric that could be the same")
        return self


class PrintedTable(_Facts):
    """Rows as they were printed, digit for digit."""

    source: str
    """Table, page, paper and version."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    no_methods: tuple[str, ...] = ()
    """Rows that are no method's, such as the source itself, which nobody has to beat."""
    alike: tuple[str, ...] = ()
    """Rows that are known to be made by the settings that the benchmark has here, which alone are compared; empty: all."""
    note: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> PrintedTable:
        if ragged := [name for name, values in self.rows.items() if len(values) != len(self.columns)]:
            raise ValueError(f"row {ragged[0]!r} of {self.source!r} has not a value for each of its columns")
        for name in (*self.no_methods, *self.alike):
            known_name(f"row of {self.source!r}", name, self.rows)
        return self


class Named(_Facts):
    """A published benchmark."""

    name: str
    title: str
    about: str
    """One sentence."""
    recipe: Literal["removal", "benchmark", "editing"]
    inferred: tuple[str, ...]
    """What could not be seen in a card, script, file list or paper, a clause each."""
    source: Published
    tree: tuple[Tree, ...]
    options: Options = Options()
    expected: Expected = Expected()
    alike: str = ""
    """Axis whose slices weigh the same in the paper's numbers, whatever items they have; empty where all items do."""
    column: tuple[PrintedColumn, ...]
    printed: tuple[PrintedTable, ...] = ()
    """Of these the first stands beside measured rows; the others, of other data or settings, are shown alone."""

    @model_validator(mode="after")
    def _fits_together(self) -> Named:
        labels = [column.label for column in self.column]
        for tree in self.tree:
            if not 1 <= tree.printed <= max(1, len(self.printed)):
                raise ValueError(f"a tree is of printed table {tree.printed}, there are {len(self.printed)}")
        for table in self.printed:
            for label in table.columns:
                known_name(f"column of {table.source!r}", label, labels)
        return self

    def of_tree(self, tree: Tree) -> Named:
        """The same where the data are those of one of its trees: that many clips, and its printed table comes first."""
        expected = self.expected if tree.clips is None else self.expected.model_copy(update={"clips": tree.clips})
        place = tree.printed - 1
        printed = (*self.printed[place : place + 1], *self.printed[:place], *self.printed[place + 1 :])
        return self.model_copy(update={"expected": expected, "printed": printed})

    @property
    def measured(self) -> dict[str, list[str]]:
        """Protocol -> metrics that its columns are measured by, in their order."""
        found: dict[str, list[str]] = {}
        for column in self.column:
            if column.metric and column.metric not in found.setdefault(column.protocol, []):
                found[column.protocol].append(column.metric)
        return found

    def locate(self, root: Path, *, number: int | None = None) -> Located:
        """Where its data lie below ``root``: the first tree that is there, or the one of that ``number``, from 1.

        Where ``root`` is a table of clips, the films that it names stand for those of the tree, of which the facts are.

        Raises:
            InputError: they do not, with what was looked for, or that tree is none of its.
        """
        if not root.is_dir() and (not root.is_file() or self.recipe == "editing"):
            raise InputError(f"no folder {str(root)!r}")
        if number is not None and number > len(self.tree):
            raise InputError(
                f"{self.title} has {count(len(self.tree), 'tree')}; `inpaintbench bench show {self.name}` tells them"
            )
        if root.is_file():
            return Located(self.tree[(number or 1) - 1], {})
        nearest, reason = -1, ""
        for tree in self.tree if number is None else (self.tree[number - 1],):
            try:
                return tree.find(root)
            except InputError as error:
                if (there := tree.there(root)) > nearest:
                    nearest, reason = there, re.sub(rf"^{re.escape(repr(str(root)))} is\\b", "it is", str(error))
        held = sorted(path for path in root.iterdir() if not path.name.startswith("."))
        has = f"; it has {some_of([path.name for path in held]) or 'nothing'}" if "; it has" not in reason else ""
        others = [
            place for place in (*held, root.resolve().parent) if place.is_dir() and any(tree.fits(place) for tree in self.tree)
        ]
        raise InputError(
            f"{str(root)!r} is not {self.title} as it comes: {reason}{has}"
            f"{f'; {str(others[0])!r} is: give that' if others else ''}; "
            f"`inpaintbench bench show {self.name}` tells how the data lie{', and what of it is inferred' * bool(self.inferred)}"
        )


def names() -> list[str]:
    """Names of the benchmarks that are known; none is read for it."""
    return sorted(path.name.removesuffix(".toml") for path in _FOLDER.iterdir() if path.name.endswith(".toml"))


@cache
def named(name: str) -> Named:
    """The benchmark ``name``; raises ``UnknownNameError``."""
    known_name("benchmark", name, names())
    return read((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"), name=name)


def read(text: str, *, name: str) -> Named:
    """A benchmark of the text of its file.

    Raises:
        ValueError: facts that are missing or do not fit together.
    """
    return Named(name=name, **tomllib.loads(text))
