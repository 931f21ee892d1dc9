"""Rules over stored facts: records that a recipe holds, a small TOML file, and expressions that say the same in one line.

Every rule can be written as an expression, ``camera_motion >= 0.2 and camera_motion <= 0.9``, and read back from it. The table
``selection`` names rules that way, so that it says by itself what was asked.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, reason_of

# Tells what people answered from what was measured, in expressions.
ANSWER_PREFIX = "answer:"
_NAME = re.compile(r"[A-Za-z_][\w.:/-]*\Z")
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d([T ][\d:.+Z-]*)?)?)?\Z")
_BOUNDS = {"at_least": ">=", "above": ">", "at_most": "<=", "below": "<"}
_LISTS = {"one_of": "in", "none_of": "not in"}


class Rule(BaseModel):
    """What the clips of a benchmark must fulfil, in one attribute of a clip or its source, or in one answer of people."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attribute: str | None = None
    """Of the clip, or else of its source: ``cut_score``, ``probe.width``; ``clip.frames`` and ``source.licence`` are columns of
    their tables, ``source.uploaded`` is what the listing said."""
    answer: str | None = None
    """The question that people answered, instead of an attribute: ``keep_reject``."""
    at_least: float | str | None = None
    at_most: float | str | None = None
    above: float | str | None = None
    below: float | str | None = None
    """Bounds are numbers, or dates as ``2019``, ``2019-06`` or ``2019-06-30``, each standing for the whole of it."""
    equals: float | str | None = None
    one_of: tuple[float | str, ...] | None = None
    none_of: tuple[float | str, ...] | None = None
    missing: Literal["drop", "keep"] = "drop"
    """What becomes of a clip without a value."""
    name: str | None = None
    """What people call the rule."""

    @field_validator("at_least", "at_most", "above", "below", mode="before")
    @classmethod
    def _bound(cls, given: Any) -> Any:
        value = _plain(given)
        finite = isinstance(value, float) and math.isfinite(value)
        if value is None or finite or (isinstance(value, str) and _DATE.match(value)):
            return value
        raise ValueError(f"{given!r} is neither a number nor a date such as 2019-12-31")

    @field_validator("equals", mode="before")
    @classmethod
    def _equal(cls, given: Any) -> Any:
        return _word(given)

    @field_validator("one_of", "none_of", mode="before")
    @classmethod
    def _list(cls, given: Any) -> Any:
        if given is not None and not (isinstance(given, list | tuple) and given):
            raise ValueError(f"{given!r} is not a list of values")
        return given if given is None else tuple(_word(one) for one in given)

    @field_validator("attribute", "answer")
    @classmethod
    def _named(cls, given: str | None) -> str | None:
        if given is not None and not _NAME.match(given):
            raise ValueError(f"{given!r} is not a name such as cut_score or probe.width")
        if given is not None and given.startswith(ANSWER_PREFIX):
            raise ValueError(f"{given!r} is an answer; write answer = {given.removeprefix(ANSWER_PREFIX)!r}")
        return given

    @field_validator("name")
    @classmethod
    def _titled(cls, given: str | None) -> str | None:
        if given is not None and not (given.strip() and given.isprintable()):
            raise ValueError(f"{given!r} is no title: it must be one line of words")
        return given

    @model_validator(mode="after")
    def _whole(self) -> Rule:
        if (self.attribute is None) == (self.answer is None):
            raise ValueError("give either attribute or answer, and not both")
        bounded = [key for key in _BOUNDS if getattr(self, key) is not None]
        others = [key for key in ("equals", *_LISTS) if getattr(self, key) is not None]
        if not bounded and not others:
            raise ValueError(f"no bound; give one of {', '.join((*_BOUNDS, 'equals', *_LISTS))}")
        if len(others) > 1 or (others and bounded):
            raise ValueError(f"{' and '.join((*others, *bounded))} exclude each other; write two rules")
        if self.answer and bounded:
            raise ValueError("an answer is a word: use equals, one_of or none_of")
        self._check_bounds()
        return self

    def _check_bounds(self) -> None:
        for one, other in (("at_least", "above"), ("at_most", "below")):
            if getattr(self, one) is not None and getattr(self, other) is not None:
                raise ValueError(f"{one} and {other} bound the same side; give one of them")
        low = self.at_least if self.above is None else self.above
        high = self.at_most if self.below is None else self.below
        if low is None or high is None:
            return
        if isinstance(low, str) != isinstance(high, str):
            raise ValueError(f"one bound is a number and the other a date: {low!r}, {high!r}")
        closed = self.above is None and self.below is None
        if low > high or (low == high and not closed):  # type: ignore[operator]
            raise ValueError(f"no value fulfils both bounds: {text_of(low)} to {text_of(high)}")

    @property
    def subject(self) -> str:
        """The attribute, or ``answer:`` and the question."""
        return self.attribute if self.attribute is not None else f"{ANSWER_PREFIX}{self.answer}"

    @property
    def bounds(self) -> dict[str, float | str]:
        """The bounds that are given, by key."""
        return {key: value for key in _BOUNDS if (value := getattr(self, key)) is not None}

    @property
    def words(self) -> str:
        """The rule as an expression, such as ``cut_score <= 0.3``."""
        clauses = [f"{self.subject} {_BOUNDS[key]} {text_of(value)}" for key, value in self.bounds.items()]
        if self.equals is not None:
            clauses = [f"{self.subject} = {text_of(self.equals)}"]
        for key, operator in _LISTS.items():
            if (values := getattr(self, key)) is not None:
                clauses = [f"{self.subject} {operator} ({', '.join(map(text_of, values))})"]
        return " and ".join(clauses) + (" or missing" if self.missing == "keep" else "")

    @property
    def label(self) -> str:
        """What the table ``selection`` calls the rule: its expression, behind its name where it has one."""
        return f"{self.name} ({self.words})" if self.name else self.words


def _plain(given: Any) -> Any:
    """Numbers as floats, dates as text; anything else, also what is no number, unchanged."""
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
        return float(given)
    return given


def _word(given: Any) -> Any:
    if isinstance(given, bool):
        raise ValueError(f"{given!r} is neither a number nor a text; yes and no are stored as 1 and 0")
    value = _plain(given)
    if value is None or isinstance(value, str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"{given!r} is neither a number nor a text")


def text_of(value: float | str) -> str:
    """A value as an expression spells it: short where that is exact, texts in double quotes, dates bare."""
    if isinstance(value, str):
        return value if re.fullmatch(r"\d{4}-\d\d(-\d\d)?", value) else json.dumps(value, ensure_ascii=False)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def make_rule(fields: Mapping[str, Any], *, where: str) -> Rule:
    """A rule of plain data.

    Raises:
        InputError: not a rule; one sentence that begins with ``where``.
    """
    if unknown := [key for key in fields if key not in Rule.model_fields]:
        raise InputError(f"{where}: {unknown_name('key', unknown[0], list(Rule.model_fields))}")
    try:
        return Rule(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        key = f"{first['loc'][0]}: " if first["loc"] else ""
        shown = "" if first["type"] == "value_error" else f" and not {first['input']!r}"
        raise InputError(f"{where}: {key}{said}{shown}") from error


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a TOML file, one ``[[rule]]`` each, in its order.

    Raises:
        InputError: not readable, not TOML, no rule, or one that is wrong.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"rules {str(path)!r} cannot be read: {reason_of(error)}") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"rules {str(path)!r} are not TOML: {error}") from error
    if unknown := [key for key in found if key != "rule"]:
        raise InputError(f"rules {str(path)!r}: {unknown_name('table', unknown[0], ['rule'])}")
    tables = found.get("rule")
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise InputError(f"rules {str(path)!r} hold no [[rule]]; write one with attribute = ... and at_most = ...")
    return checked([make_rule(one, where=f"{path.name}, rule {number}") for number, one in enumerate(tables, 1)], where=path.name)


def checked(rules: Sequence[Rule], *, where: str) -> tuple[Rule, ...]:
    """``rules``, each given once.

    Raises:
        InputError: two say the same.
    """
    seen: dict[str, int] = {}
    for number, rule in enumerate(rules, 1):
        if (earlier := seen.setdefault(rule.words, number)) != number:
            raise InputError(f"{where}: rule {number} repeats rule {earlier}, {rule.words}")
    return tuple(rules)
