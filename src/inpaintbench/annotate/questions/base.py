"""Base of questions: a form that the browser draws, and the meaning of the answers."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from inpaintbench.catalogue import Leaf
from inpaintbench.errors import InputError

# What one task shows: a clip to be labelled; one, two or all of the predictions of an item.
Subject = Literal["clip", "one", "pair", "set"]
# Of the main answers, for agreement: only equal or not; ranked; numbers.
Scale = Literal["nominal", "ordinal", "interval"]
# What the main answers are: numbers of a scale of grades; shares in per cent; words; which of two; which of several.
Kind = Literal["grade", "share", "label", "pair", "best"]
SCALES: Mapping[Kind, Scale] = {
    "grade": "ordinal", "share": "interval", "label": "nominal", "pair": "nominal", "best": "nominal",
}  # fmt: skip
# Kind of a question about single subjects that states its scale alone.
_KINDS: Mapping[Scale, Kind] = {"ordinal": "grade", "interval": "share", "nominal": "label"}
# Predictions that a task shows, of a set at least.
SHOWN: Mapping[Subject, int] = {"clip": 0, "one": 1, "pair": 2, "set": 2}
# Begins the option that chooses the candidate shown at a place, counted from 0: `place-0` is the left of two.
PLACE = "place-"
# Characters of free text.
TEXT_LIMIT = 500


@dataclass(frozen=True)
class Option:
    """One button."""

    value: str
    """Value that is sent and stored; ``place-<n>`` is turned into the candidate shown there before it is stored."""
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
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


# Play or pause, step back and on (twice), loop, slow motion, zoom, flip, wipe, outline, original, help, faster, slower, undo,
# skip, the whole instruction, other players of narrow screens. Options use others: digits, Enter and the letters that are left.
PLAYER_KEYS = frozenset({*" ,.lmzfwoh?+-usit", "ArrowLeft", "ArrowRight", "Backspace", "Escape"})


class Question(Leaf, ABC):
    """A leaf. Its constants come from the study file.

    Votes are counted over what ``choice`` gives: for a pair or the best of several the name of the chosen candidate or ``tie``,
    ``both_bad``; else the value of the main part.
    """

    subject: Subject
    kind: Kind
    """Kind of its main answers, which decides how votes are counted, ranked and reported."""
    scale: Scale
    """That of ``kind``."""
    unsure: tuple[str, ...] = ()
    """Choices that are no value: missing for agreement, labels, medians and means."""
    good: tuple[str, ...] = ()
    """Choices of a label that speak for a prediction, whose share among the sure votes is its score."""
    attributes: Mapping[str, str] = {}
    """For clips: part of the form -> the attribute that its answer becomes."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        stated = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        if "kind" in stated:
            cls.scale = SCALES[cls.kind]
        elif "scale" in stated:  # questions used to state their scale alone
            cls.kind = {"pair": "pair", "set": "best"}.get(cls.subject) or _KINDS[cls.scale]  # type: ignore[assignment]

    @abstractmethod
    def form(self, *, candidates: int) -> Form:
        """The form of a task that shows ``candidates`` predictions (0 for clips)."""

    def choice(self, given: Mapping[str, str], *, shown: Sequence[str]) -> str:
        """The main answer, in the names of what was ``shown``; call ``checked`` first.

        By default the value of the main part, or the candidate at the place that it names.
        """
        return candidate(given[self.parts()[0].name], shown=shown)

    def reasons(self, answer: str | None, given: Sequence[Mapping[str, str]]) -> str | None:  # noqa: ARG002 - few ask for any
        """Return why the ``given`` forms came to ``answer`` (None = to no answer), in words of raters.

        None where they said nothing.
        """
        return None

    def parts(self) -> tuple[Part, ...]:
        """The parts of its form; of a set of predictions those of a task that shows two."""
        return self.form(candidates=SHOWN[self.subject]).parts

    def number(self, choice: str) -> float | None:
        """Number of ``choice`` in means: a grade, a share of 0..1, 1 or 0 for a label that is good or not; else None."""
        if choice in self.unsure or (self.kind == "label" and not self.good):
            return None
        if self.kind == "label":
            return float(choice in self.good)
        value = number(choice) if self.kind in ("grade", "share") else None
        return value / 100 if value is not None and self.kind == "share" else value

    def ends(self) -> tuple[float, float] | None:
        """The least and the largest ``number`` of its answers; None where they have none."""
        numbers = [value for option in self.parts()[0].options if (value := self.number(option.value)) is not None]
        return (min(numbers), max(numbers)) if numbers else None


def number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


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
        applies = part.when is None or answer.get(part.when[0]) == part.when[1]
        if not applies:
            continue
        value = given.get(part.name)
        if value not in [option.value for option in part.options]:
            raise InputError(f"{part.name} is {value!r}, choose from {', '.join(option.value for option in part.options)}")
        answer[part.name] = str(value)
        if value == part.text_with:
            words = given.get(f"{part.name}_text")
            if not isinstance(words, str) or not words.strip():
                raise InputError(f"{part.name}: please say in a few words what it is")
            if len(words) > TEXT_LIMIT:
                raise InputError(f"{part.name}: {len(words)} characters are too many, at most {TEXT_LIMIT}")
            answer[f"{part.name}_text"] = words.strip()
    if strange := sorted(set(given) - set(answer)):
        raise InputError(f"the form does not ask for {strange[0]!r} here")
    return answer


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
