"""Rules over stored facts: records that a recipe holds, a small TOML file, and expressions that say the same in one line.

Every rule can be written as an expression, ``camera_motion > 0.2 and source.licence in ("CC0", "CC-BY-2.0")``, and read back from
it. The table ``selection`` names rules that way, so that it says by itself what was asked.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError
from inpaintbench.files import read_toml

# Tells what people answered from what was measured, in expressions.
ANSWER_PREFIX = "answer:"
_NAME = re.compile(r"[A-Za-z_][\w.:/-]*\Z")
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d([T ][\d:.+Z-]*)?)?)?\Z")
_BOUNDS = {"at_least": ">=", "above": ">", "at_most": "<=", "below": "<"}
_LISTS = {"one_of": "in", "none_of": "not in"}


def _plain(given: Any) -> Any:
    """Numbers as floats, dates as text; anything else, also what is no number, unchanged."""
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
        return float(given)
    return given


def _bound(given: Any) -> Any:
    value = _plain(given)
    finite = isinstance(value, float) and math.isfinite(value)
    if value is None or finite or (isinstance(value, str) and _DATE.match(value)):
        return value
    raise ValueError(f"{given!r} is neither a number nor a date such as 2019-12-31")


def _word(given: Any) -> Any:
    if isinstance(given, bool):
        raise ValueError(f"{given!r} is neither a number nor a text; yes and no are stored as 1 and 0")
    value = _plain(given)
    if value is None or isinstance(value, str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"{given!r} is neither a number nor a text")


def _words(given: Any) -> Any:
    if given is not None and not (isinstance(given, list | tuple) and given):
        raise ValueError(f"{given!r} is not a list of values")
    return given if given is None else tuple(_word(value) for value in given)


Bound = Annotated[float | str | None, BeforeValidator(_bound)]
Words = Annotated[tuple[float | str, ...] | None, BeforeValidator(_words)]


class Rule(BaseModel):
    """Condition on the clips of a benchmark: on one attribute of a clip or its source, or on one answer of people."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    attribute: str | None = None
    """Attribute of the clip, or else of its source: ``cut_score``, ``probe.width``. ``clip.frames`` and ``source.licence`` are
    columns of their tables, ``source.uploaded`` is what the listing said."""
    answer: str | None = None
    """The question that people answered, instead of an attribute: ``keep_reject``."""
    at_least: Bound = None
    at_most: Bound = None
    above: Bound = None
    below: Bound = None
    """Bounds are numbers, or dates as ``2019``, ``2019-06`` or ``2019-06-30``, each standing for the whole of it."""
    equals: Annotated[float | str | None, BeforeValidator(_word)] = None
    one_of: Words = None
    none_of: Words = None
    missing: Literal["drop", "keep"] = "drop"
    """Verdict on a clip without a value."""
    flag: bool = Field(False, exclude_if=lambda flag: not flag)
    """Every clip is kept, and those that do not fulfil the rule are marked in ``selection`` and on the funnel page."""
    name: str | None = None
    """Display name of the rule."""

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
        for loose, other in (("at_least", "above"), ("at_most", "below")):
            if getattr(self, loose) is not None and getattr(self, other) is not None:
                raise ValueError(f"{loose} and {other} bound the same side; give one of them")
        low = self.at_least if self.above is None else self.above
        high = self.at_most if self.below is None else self.below
        if low is not None and high is not None:
            if isinstance(low, str) != isinstance(high, str):
                raise ValueError(f"one bound is a number and the other a date: {low!r}, {high!r}")
            closed = self.above is None and self.below is None
            if low > high or (low == high and not closed):  # type: ignore[operator]
                raise ValueError(f"no value fulfils both bounds: {text_of(low)} to {text_of(high)}")
        return self

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
        return " and ".join(clauses) + (" or flag" if self.flag else " or missing" if self.missing == "keep" else "")

    @property
    def label(self) -> str:
        """Name of the rule in the table ``selection``: its expression, behind its name where it has one."""
        return f"{self.name} ({self.words})" if self.name else self.words


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
    document = read_toml(path, called="the file of rules")
    if unknown := [key for key in document if key != "rule"]:
        raise InputError(f"rules {str(path)!r}: {unknown_name('table', unknown[0], ['rule'])}")
    tables = document.get("rule")
    if not isinstance(tables, list) or not tables or not all(isinstance(entry, dict) for entry in tables):
        raise InputError(f"rules {str(path)!r} hold no [[rule]]; write one with attribute = ... and at_most = ...")
    return checked(
        [make_rule(entry, where=f"{path.name}, rule {number}") for number, entry in enumerate(tables, 1)], where=path.name
    )


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


# How texts begin that are dates.
DATE = r"^[0-9]{4}(-|$)"
_OUTSIDE = {"at_least": "is below", "above": "is not above", "at_most": "is above", "below": "is not below"}


def outside(rule: Rule, value: float | str) -> str:
    """Return why ``value``, which does not fulfil the rule, does not: ``cut_score 0.41 is above 0.3``."""
    for key, bound in rule.bounds.items():
        if isinstance(value, str) != isinstance(bound, str) or (isinstance(value, str) and not re.match(DATE, value)):
            return f"{rule.subject} is {value_text(value)}, which is no {'date' if isinstance(bound, str) else 'number'}"
        if not _fulfils(key, value, bound):
            if isinstance(value, str) or isinstance(bound, str):
                return f"{rule.subject} {value} {_OUTSIDE[key]} {bound}"
            # As many digits as tell it from the bound, four at least.
            spelled = (f"{value:.{digits}g}" for digits in range(4, 17))
            shown = next((words for words in spelled if float(words) != bound), repr(value))
            return f"{rule.subject} {shown} {_OUTSIDE[key]} {text_of(bound)}"
    if rule.none_of is not None:
        return f"{rule.subject} {value_text(value)} is refused"
    wanted = [rule.equals] if rule.equals is not None else list(rule.one_of or ())
    return f"{rule.subject} {value_text(value)} is not {' or '.join(value_text(mask) for mask in wanted if mask is not None)}"


def fulfils(rule: Rule, value: float | str | None) -> bool:
    """Whether a value fulfils the rule; None is a missing one. A number is no text and no date, and the other way round."""
    if value is None:
        return rule.missing == "keep"
    if rule.equals is not None:
        return value == rule.equals
    if rule.one_of is not None:
        return value in rule.one_of
    if rule.none_of is not None:
        return value not in rule.none_of
    for key, bound in rule.bounds.items():
        if isinstance(value, str) != isinstance(bound, str) or (isinstance(value, str) and not re.match(DATE, value)):
            return False
        if not _fulfils(key, value, bound):
            return False
    return True


def _fulfils(key: str, value: float | str, bound: float | str) -> bool:
    compared = value[: len(bound)] if isinstance(value, str) and isinstance(bound, str) else value
    both: Any = (compared, bound)
    return bool({"at_least": both[0] >= both[1], "above": both[0] > both[1],
                 "at_most": both[0] <= both[1], "below": both[0] < both[1]}[key])  # fmt: skip


def value_text(value: float | str) -> str:
    """A value for people: four digits, or a text in quotes."""
    return f"{value:.4g}" if isinstance(value, float | int) else f'"{value}"'


_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>"(?:[^"\\]|\\.)*")
        | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.:/+-])
        | (?P<operator><=|>=|==|!=|<|>|=)
        | (?P<mark>[(),])
        | (?P<word>[\w.:/+-]+)
    )""",
    re.VERBOSE,
)
_KEYS = {"<=": "at_most", ">=": "at_least", "<": "below", ">": "above", "=": "equals", "==": "equals", "!=": "none_of"}
_EXAMPLE = '"camera_motion > 0.2 and cut_score <= 0.3"'


def parse_rules(expression: str) -> tuple[Rule, ...]:
    """The rules that ``expression`` states, one for each attribute, in its order.

    It is ``NAME OPERATOR VALUE`` joined by ``and``, with the operators ``< <= > >= = !=``, ``in (...)`` and ``not in (...)``.
    A clause may end in ``or missing``: clips without a value are kept; or in ``or flag``: all are, and those that do not fulfil
    it are marked. Nothing in it is executed.

    Raises:
        InputError: not such an expression; the text shows where it ends to be one.
    """
    return _Parser(expression).rules()


def parse_label(label: str) -> Rule | None:
    """The rule that the table ``selection`` calls ``label``; None when no rule of this kind is called so."""
    starts = [0, *(match.end() for match in re.finditer(r" \(", label))]
    for start in starts:
        words = label if start == 0 else label[start:].removesuffix(")")
        try:
            (rule,) = parse_rules(words)
        except (InputError, ValueError):
            continue
        named = rule.model_copy(update={"name": label[: start - 2]}) if start else rule
        return named if named.label == label else None
    return None


class _Parser:
    """Reads one expression from left to right."""

    def __init__(self, expression: str) -> None:
        self._expression, self._place = expression, 0
        # Kind, text and place of each token.
        self._tokens: list[tuple[str, str, int]] = []
        at = 0
        while expression[at:].strip():
            match = _TOKEN.match(expression, at)
            if not match or not match.lastgroup:
                raise self._wrong("a name, an operator or a value", at)
            self._tokens.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            at = match.end()

    def rules(self) -> tuple[Rule, ...]:
        """All rules of the expression."""
        if not self._tokens:
            raise InputError(f"the expression is empty; write one such as {_EXAMPLE}")
        fields: dict[str, dict[str, Any]] = {}
        while True:
            name = self._next("a name", "word")
            kind = "answer" if name.startswith(ANSWER_PREFIX) else "attribute"
            rule = fields.setdefault(name, {kind: name.removeprefix(ANSWER_PREFIX)})
            key, value = self._comparison()
            if key in rule:
                raise InputError(f"expression {self._expression!r} says {key} of {name} twice")
            rule[key] = value
            if self._taken("word", "or"):
                if self._taken("word", "flag"):
                    rule["flag"] = True
                elif self._peek()[0] != "word":
                    raise self._wrong("missing or flag")
                else:
                    self._expect("missing")
                    rule["missing"] = "keep"
            if self._place == len(self._tokens):
                break
            self._expect("and")
        where = f"expression {self._expression!r}"
        return checked([make_rule(field, where=where) for field in fields.values()], where=where)

    def _comparison(self) -> tuple[str, Any]:
        if self._taken("word", "in"):
            return "one_of", self._values()
        if self._taken("word", "not"):
            self._expect("in")
            return "none_of", self._values()
        operator = self._next("an operator such as <=", "operator")
        value = self._value()
        return _KEYS[operator], [value] if operator == "!=" else value

    def _values(self) -> list[float | str]:
        self._expect("(")
        values = [self._value()]
        while self._taken("mark", ","):
            values.append(self._value())
        self._expect(")")
        return values

    def _value(self) -> float | str:
        kind = self._peek()[0]
        token = self._next("a value", "text", "number", "word")
        if kind == "text":
            try:
                return str(json.loads(token))
            except ValueError as error:
                raise InputError(f"expression {self._expression!r}: {token} is not a text in double quotes") from error
        return float(token) if kind == "number" else token

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._place][:2] if self._place < len(self._tokens) else ("end", "")

    def _taken(self, *token: str) -> bool:
        """Whether that token comes next, which is taken then."""
        found = self._peek() == token
        self._place += found
        return found

    def _next(self, wanted: str, *kinds: str) -> str:
        kind, token = self._peek()
        if kind not in kinds:
            raise self._wrong(wanted)
        self._place += 1
        return token

    def _expect(self, token: str) -> None:
        if self._peek()[1] != token:
            raise self._wrong(repr(token))
        self._place += 1

    def _wrong(self, wanted: str, at: int | None = None) -> InputError:
        if at is None:
            at = self._tokens[self._place][2] if self._place < len(self._tokens) else len(self._expression)
        rest = self._expression[at:].strip()
        place = f"instead of {rest!r}" if rest else "at its end"
        return InputError(f"expression {self._expression!r} needs {wanted} {place}; write one such as {_EXAMPLE}")
