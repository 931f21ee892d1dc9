"""Why a value does not fulfil a rule, in words."""

from __future__ import annotations

import re
from typing import Any

from inpaintbench.curation.rules import Rule, text_of

# How texts begin that are dates.
DATE = r"^[0-9]{4}(-|$)"
_OUTSIDE = {"at_least": "is below", "above": "is not above", "at_most": "is above", "below": "is not below"}


def outside(rule: Rule, value: float | str) -> str:
    """Why ``value``, which does not fulfil the rule, does not: ``cut_score 0.41 is above 0.3``."""
    for key, bound in rule.bounds.items():
        if isinstance(value, str) != isinstance(bound, str) or (isinstance(value, str) and not re.match(DATE, value)):
            return f"{rule.subject} is {value_text(value)}, which is no {'date' if isinstance(bound, str) else 'number'}"
        if not _fulfils(key, value, bound):
            return f"{rule.subject} {_told_apart(value, bound)} {_OUTSIDE[key]} {_bare(bound)}"
    if rule.none_of is not None:
        return f"{rule.subject} {value_text(value)} is refused"
    wanted = [rule.equals] if rule.equals is not None else list(rule.one_of or ())
    return f"{rule.subject} {value_text(value)} is not {' or '.join(value_text(one) for one in wanted if one is not None)}"


def _fulfils(key: str, value: float | str, bound: float | str) -> bool:
    one = value[: len(bound)] if isinstance(value, str) and isinstance(bound, str) else value
    both: Any = (one, bound)
    return bool({"at_least": both[0] >= both[1], "above": both[0] > both[1],
                 "at_most": both[0] <= both[1], "below": both[0] < both[1]}[key])  # fmt: skip


def _told_apart(value: float | str, bound: float | str) -> str:
    """A number with as many digits as tell it from ``bound``, four at least."""
    if isinstance(value, str) or isinstance(bound, str):
        return str(value)
    for digits in range(4, 17):
        if float(words := f"{value:.{digits}g}") != bound:
            return words
    return repr(value)


def _bare(value: float | str) -> str:
    return value if isinstance(value, str) else text_of(value)


def value_text(value: float | str) -> str:
    """A value for people: four digits, or a text in quotes."""
    return f"{value:.4g}" if isinstance(value, float | int) else f'"{value}"'
