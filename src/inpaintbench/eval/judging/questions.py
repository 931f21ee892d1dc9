"""Stored questions about an item, what their answers are worth, and how an answer is read from a model's words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from inpaintbench.catalogue import known_name
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Prompts

# What models write around an answer.
_AROUND = " \t.*_`\"'()[]<>"
Share = Annotated[float, Field(ge=0, le=1)]


class _Question(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    text: str


class YesNo(_Question):
    """A question that one of yes and no is the better answer to."""

    kind: Literal["yes_no"]
    best: Literal["yes", "no"]

    @property
    def worth(self) -> Mapping[str, float]:
        """Answer -> value in 0..1."""
        return {answer: float(answer == self.best) for answer in ("yes", "no")}


class Choice(_Question):
    """A question with answers of its own."""

    kind: Literal["choice"]
    values: Mapping[str, Share] = Field(min_length=2)

    @property
    def worth(self) -> Mapping[str, float]:
        """Answer -> value in 0..1."""
        return self.values


class Scale(_Question):
    """A question for a whole number from 1 on, the most being best."""

    kind: Literal["scale"]
    steps: int = Field(ge=2, le=10)

    @property
    def worth(self) -> Mapping[str, float]:
        """Answer -> value in 0..1."""
        return {str(step + 1): step / (self.steps - 1) for step in range(self.steps)}


Question = Annotated[YesNo | Choice | Scale, Field(discriminator="kind")]


class Questions(BaseModel):
    """Questions that are asked about the same pictures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shown: str
    """What the pictures show; ``{target}`` stands for the prompt of an edit."""
    questions: tuple[Question, ...] = Field(min_length=1)

    def prompt(self, question: YesNo | Choice | Scale, prompts: Prompts | None) -> str:
        """The whole text that is put to a model; raises ``NotMeasurable`` where it speaks of a prompt and there is none."""
        if "{target}" in self.shown and not (prompts and prompts.target.strip()):
            raise NotMeasurable("the item has no prompt that says what was to be edited")
        shown = self.shown.replace("{target}", prompts.target if prompts else "")
        answers = ", ".join(question.worth)
        return f'{shown}\n\n{question.text}\n\nEnd with a line "ANSWER: " and one of: {answers}.'


@lru_cache(maxsize=1)
def _stored() -> dict[str, Questions]:
    table = tomllib.loads(files("inpaintbench.eval.judging").joinpath("questions.toml").read_text())
    return TypeAdapter(dict[str, Questions]).validate_python(table)


def stored_names() -> tuple[str, ...]:
    """The names of all sets of questions."""
    return tuple(_stored())


def stored(name: str) -> Questions:
    """The set of questions ``name``; raises ``UnknownNameError``."""
    return _stored()[known_name("set of questions", name, stored_names())]


def read_answer(said: str, answers: Mapping[str, float]) -> str | None:
    """The answer in a model's words; None where there is none, or more than one.

    What stands after the last ``ANSWER:`` counts; without one, what the words begin with, if no other answer occurs in them: "no"
    and "all" stand in many sentences that say the opposite. A model's thoughts, up to ``</think>``, do not count.
    """
    words = said.rpartition("</think>")[2].lower()
    _, marked, last = words.rpartition("answer:")
    names = {answer.lower(): answer for answer in answers}
    # Longer ones first, so that the "trace" of "a trace" is not taken for an answer of its own.
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    told = next((line for line in (last if marked else words).splitlines() if line.strip(_AROUND)), "").strip(_AROUND)
    begins = re.match(rf"({either})(?=\W*$|[.,;:!)(*—-](?!\d))", told)
    if not begins or (not marked and len(set(re.findall(rf"(?<!\w)(?:{either})(?!\w)", words))) > 1):
        return None
    return names[begins[1]]
