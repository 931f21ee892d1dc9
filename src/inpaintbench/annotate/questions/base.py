"""What a question is: a form that the browser draws, and the sense of what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from inpaintbench.errors import InputError

Subject = Literal["clip", "one", "pair", "set"]
"""What one task shows: a clip to be labelled; one, two or all of the predictions of an item."""
Scale = Literal["nominal", "ordinal", "interval"]
"""Of the main answers, for agreement: only equal or not; ranked; numbers."""
PLACE = "place-"
"""Begins the option that chooses the candidate shown at a place, counted from 0: ``place-0`` is the left of two."""
TEXT_LIMIT = 500
"""Characters of free text."""


@dataclass(frozen=True)
class Option:
    """One button."""

    value: str
    """What is sent and stored; ``place-<n>`` is turned into the candidate shown there before it is stored."""
    label: str
    key: str
    """One character, or a name of ``KeyboardEvent.key`` such as ``ArrowLeft``; unique in the form's part, and none of the
    player's own keys."""


@dataclass(frozen=True)
class Part:
    """One decision of a form; parts are asked one after the other on the same page."""

    name: str
    prompt: str
    options: tuple[Option, ...]
    when: tuple[str, str] | None = None
    """(part, value): asked only after this answer."""
    text_with: str | None = None
    """The option that asks for a few words too; they are sent as ``<name>_text``."""


@dataclass(frozen=True)
class Form:
    """Everything a rater fills in for one task. The first part is the main one."""

    title: str
    instruction: str
    parts: tuple[Part, ...]

    def json(self) -> dict[str, Any]:
        """For the browser."""
        return {
            "title": self.title,
            "instruction": self.instruction,
            "parts": [
                {
                    "name": part.name,
                    "prompt": part.prompt,
                    "options": [{"value": one.value, "label": one.label, "key": one.key} for one in part.options],
                    "when": list(part.when) if part.when else None,
                    "text_with": part.text_with,
                }
                for part in self.parts
            ],
        }


PLAYER_KEYS = frozenset(
    {" ", "ArrowLeft", "ArrowRight", ",", ".", "l", "m", "z", "f", "w", "o", "h", "?", "+", "-", "u", "s", "Backspace", "Escape"}
)
"""Play or pause, step back and on (twice), loop, slow motion, zoom, flip, wipe, outline, original, help, faster, slower, undo,
skip. Options use others: digits, Enter and the letters that are left."""


class Question(Protocol):
    """A leaf. Its constants come from the study file.

    Votes are counted over what ``choice`` gives: for labels the value of the main part, for comparisons the name of the chosen
    candidate or ``tie``, ``both_bad``.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    subject: ClassVar[Subject]
    scale: ClassVar[Scale]

    def form(self, *, candidates: int) -> Form:
        """The form of a task that shows ``candidates`` predictions (0 for clips)."""
        ...

    def choice(self, given: Mapping[str, str], *, shown: Sequence[str]) -> str:
        """The main answer, in the names of what was shown; call ``checked`` first."""
        ...


def checked(form: Form, given: Mapping[str, Any]) -> dict[str, str]:
    """``given`` when it fills in the form exactly.

    Args:
        form: as it was shown.
        given: part -> value of the chosen option; ``<part>_text`` -> words.

    Returns:
        Part -> value, in the form's order, and the texts, stripped.

    Raises:
        InputError: a part is missing or not asked for, a value that it does not offer, a text that is missing, too long, or
            not asked for.
    """
    answer: dict[str, str] = {}
    for part in form.parts:
        asked = part.when is None or answer.get(part.when[0]) == part.when[1]
        if not asked:
            continue
        value = given.get(part.name)
        if value not in [one.value for one in part.options]:
            raise InputError(f"{part.name} is {value!r}, choose from {', '.join(one.value for one in part.options)}")
        answer[part.name] = str(value)
        if value == part.text_with:
            answer[f"{part.name}_text"] = _text(part, given.get(f"{part.name}_text"))
    if strange := sorted(set(given) - set(answer)):
        raise InputError(f"the form does not ask for {strange[0]!r} here")
    return answer


def _text(part: Part, text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{part.name}: please say in a few words what it is")
    if len(text) > TEXT_LIMIT:
        raise InputError(f"{part.name}: {len(text)} characters are too many, at most {TEXT_LIMIT}")
    return text.strip()


def candidate(value: str, *, shown: Sequence[str]) -> str:
    """The candidate that ``place-<n>`` chose; other values as they are.

    Raises:
        InputError: no such place.
    """
    if not value.startswith(PLACE):
        return value
    number = value.removeprefix(PLACE)
    if not number.isdecimal() or int(number) >= len(shown):
        raise InputError(f"{value!r} is no place among {len(shown)}")
    return shown[int(number)]
