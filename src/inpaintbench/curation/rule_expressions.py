"""Rules written in one line: ``camera_motion > 0.2 and source.licence in ("CC0", "CC-BY-2.0")``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from inpaintbench.curation.rules import ANSWER_PREFIX, Rule, checked, make_rule
from inpaintbench.errors import InputError

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
    A clause may end in ``or missing``: clips without a value are kept. Nothing in it is executed.

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
        self._expression = expression
        self._tokens = list(self._split())
        self._place = 0

    def _split(self) -> Iterator[tuple[str, str, int]]:
        at = 0
        while self._expression[at:].strip():
            found = _TOKEN.match(self._expression, at)
            if not found or not found.lastgroup:
                raise self._wrong("a name, an operator or a value", at)
            yield found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)
            at = found.end()

    def rules(self) -> tuple[Rule, ...]:
        """All rules of the expression."""
        if not self._tokens:
            raise InputError(f"the expression is empty; write one such as {_EXAMPLE}")
        fields: dict[str, dict[str, Any]] = {}
        while True:
            self._clause(fields)
            if self._place == len(self._tokens):
                break
            self._expect("and")
        where = f"expression {self._expression!r}"
        return checked([make_rule(one, where=where) for one in fields.values()], where=where)

    def _clause(self, fields: dict[str, dict[str, Any]]) -> None:
        name = self._next("a name", "word")
        kind = "answer" if name.startswith(ANSWER_PREFIX) else "attribute"
        rule = fields.setdefault(name, {kind: name.removeprefix(ANSWER_PREFIX)})
        key, value = self._comparison()
        if key in rule:
            raise InputError(f"expression {self._expression!r} says {key} of {name} twice")
        rule[key] = value
        if self._peek() == ("word", "or"):
            self._place += 1
            self._expect("missing")
            rule["missing"] = "keep"

    def _comparison(self) -> tuple[str, Any]:
        if self._peek() == ("word", "in"):
            self._place += 1
            return "one_of", self._values()
        if self._peek() == ("word", "not"):
            self._place += 1
            self._expect("in")
            return "none_of", self._values()
        operator = self._next("an operator such as <=", "operator")
        value = self._value()
        return _KEYS[operator], [value] if operator == "!=" else value

    def _values(self) -> list[float | str]:
        self._expect("(")
        values = [self._value()]
        while self._peek() == ("mark", ","):
            self._place += 1
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

    def _next(self, wanted: str, *kinds: str) -> str:
        kind, token = self._peek()
        if kind not in kinds:
            raise self._wrong(wanted, self._at())
        self._place += 1
        return token

    def _expect(self, token: str) -> None:
        if self._peek()[1] != token:
            raise self._wrong(repr(token), self._at())
        self._place += 1

    def _at(self) -> int:
        return self._tokens[self._place][2] if self._place < len(self._tokens) else len(self._expression)

    def _wrong(self, wanted: str, at: int) -> InputError:
        rest = self._expression[at:].strip()
        found = f"instead of {rest!r}" if rest else "at its end"
        return InputError(f"expression {self._expression!r} needs {wanted} {found}; write one such as {_EXAMPLE}")
