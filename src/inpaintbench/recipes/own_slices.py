"""Slices of the builder's own, for every recipe: items whose facts fulfil a rule, as ``[[slice]]`` in a file states it.

    [[slice]]
    name = "light"
    level = "low"
    rule = 'exposure < 0.3 and licence != "CC0-1.0"'

Membership follows from the published row of an item alone, so an item that stays stays in its slices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.rules import Rule, fulfils, parse_rules
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Executor
from inpaintbench.types import Plain, Slice
from inpaintbench.workspace import Workspace

# Fact of a dataset: its slices of this kind, so that they go on where it is added to.
FACT = "own_slices"
_NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
# Columns of a row that rules may be about, besides its attributes.
_COLUMNS = ("split", "source_uri", "licence", "author", "frames", "width", "height", "fps", "generator", "task")


class OwnSlice(BaseModel):
    """Rule that makes a slice."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    name: str
    """What is fixed, such as ``light``."""
    rule: str
    """Expression over attributes and columns of items."""
    level: str | None = None
    """Which of several, such as ``low`` and ``high``; it comes behind the name."""

    @field_validator("name", "level")
    @classmethod
    def _short(cls, given: str | None) -> str | None:
        if given is not None and not _NAME.fullmatch(given):
            raise ValueError(f"{given!r} is no name of a slice: small letters, digits and _ alone")
        return given

    @field_validator("rule")
    @classmethod
    def _expression(cls, given: str) -> str:
        try:
            rules = parse_rules(given)
        except InputError as error:
            raise ValueError(str(error)) from error
        if asked := [rule.answer for rule in rules if rule.answer]:
            raise ValueError(f"answers are no facts of items: {asked[0]!r}; import them as labels (`curation label`)")
        return given

    @property
    def slice_name(self) -> str:
        """Name of the slice in the dataset."""
        return self.name if self.level is None else f"{self.name}-{self.level}"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Conditions, all of which an item has to fulfil."""
        return parse_rules(self.rule)


def make_slices(entries: Sequence[Any], *, where: str) -> tuple[OwnSlice, ...]:
    """Slices of plain data, one ``[[slice]]`` each.

    Raises:
        InputError: an entry that is no slice, or two of one name; one sentence that begins with ``where``.
    """
    slices: dict[str, OwnSlice] = {}
    for number, fields in enumerate(entries, 1):
        at = f"{where}, slice {number}"
        if not isinstance(fields, dict):
            raise InputError(f"{at}: {fields!r} is no table; begin each slice with the line [[slice]]")
        if unknown := [key for key in fields if key not in OwnSlice.model_fields]:
            raise InputError(f"{at}: {unknown_name('entry', unknown[0], list(OwnSlice.model_fields))}")
        if lacking := [name for name in ("name", "rule") if name not in fields]:
            raise InputError(f"{at}: it has no {lacking[0]}")
        try:
            part = OwnSlice(**fields)
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(f"{at}: {first['loc'][0]}: {first['msg'].removeprefix('Value error, ')}") from error
        if part.slice_name in slices:
            raise InputError(f"{at}: another slice is called {part.slice_name!r}")
        slices[part.slice_name] = part
    return tuple(slices.values())


def leaves(slices: Iterable[OwnSlice]) -> list[str]:
    """Attribute leaves that the rules are about."""
    return [name for name in dict.fromkeys(rule.subject for part in slices for rule in part.rules) if name in ATTRIBUTES]


def measure(slices: Sequence[OwnSlice], executor: Executor, workspace: Workspace) -> None:
    """Measure what the rules are about and no clip was measured with.

    Raises:
        InputError: there are no weights to measure with.
    """
    if names := leaves(slices):
        from inpaintbench.curation import measuring  # opens media, which the help of a build does without

        measuring.check_weights(names)
        measuring.measure_together(executor, workspace, leaves={name: {} for name in names})


class Members:
    """Members of slices, found among rows that come in any order."""

    def __init__(self, slices: Sequence[OwnSlice]) -> None:
        self._slices = [(part, part.rules) for part in slices]
        self._members: dict[str, list[str]] = {part.slice_name: [] for part in slices}
        self._known = set(_COLUMNS)

    def look_at(self, rows: Iterable[Plain]) -> None:
        """Some rows; all come once."""
        for row in rows if self._slices else ():
            self._known |= row["attributes"].keys()
            for part, rules in self._slices:
                if all(fulfils(rule, value_of(row, rule.subject)) for rule in rules):
                    self._members[part.slice_name].append(row["item_id"])

    def made(self, taken: Iterable[str]) -> tuple[list[Slice], dict[str, str]]:
        """The slices with their items, by id, and those without any with the reason; ``taken`` are names of others.

        Raises:
            InputError: a name that another slice has, or a rule on what no item has.
        """
        full, empty, others = list[Slice](), dict[str, str](), set(taken)
        for part, rules in self._slices:
            if part.slice_name in others:
                raise InputError(f"the recipe has a slice {part.slice_name!r} of its own; give yours another name")
            for rule in rules:
                if rule.subject not in self._known:
                    why = unknown_name("attribute", rule.subject, sorted(self._known)).removeprefix("unknown ")
                    raise InputError(f"slice {part.slice_name!r}: no item has {why}")
            if members := tuple(sorted(self._members[part.slice_name])):
                full.append(Slice(part.slice_name, part.rule, members))
            else:
                empty[part.slice_name] = f"no item fulfils {part.rule}"
        return full, empty


def value_of(row: Plain, subject: str) -> float | str | None:
    """Fact of an item that a rule can be about; None where it has none."""
    attributes: Mapping[str, Any] = row["attributes"]
    value = attributes.get(subject, row.get(subject) if subject in _COLUMNS else None)
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None
