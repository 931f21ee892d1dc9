"""Questions about an item that a model of the user's answers in place of people: a chat-completion server, or a program."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from inpaintbench.catalogue import joined, known_name, tables_at
from inpaintbench.errors import NotMeasurable, Unavailable
from inpaintbench.eval.adapters.posting import is_address, posted
from inpaintbench.eval.passes.brought_programs import BroughtProgram
from inpaintbench.types import Prompts

# Stored questions about an item, what their answers are worth, and how an answer is read from a model's words.

# What models write around an answer.
_AROUND = " \t.*_`\"'()[]<>"
Share = Annotated[float, Field(ge=0, le=1)]


class _Question(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

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

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

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
    of_wings = {name: tables_at(address)[name] for name, address in joined("questions of a judge").items()}
    return TypeAdapter(dict[str, Questions]).validate_python(tables_at(f"{__name__}:questions.toml") | of_wings)


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


Picture = npt.NDArray[np.uint8]
# Of the environment: the server's address, or a command; and the name of the model.
PROGRAM = BroughtProgram(
    "INPAINTBENCH_JUDGE",
    'writes the answers, {"answers": {...}}, or to http://HOST:PORT/v1/chat/completions',
    "no judge is named",
)
MODEL = "INPAINTBENCH_JUDGE_MODEL"
_SECONDS = 600.0
# Thoughts of a model that is asked for one word.
_MOST_TOKENS = 2048


def judge() -> tuple[str, str]:
    """Address or command, and name of the model.

    Raises:
        NotMeasurable: one of the two is not named.
    """
    where, model = os.environ.get(PROGRAM.variable), os.environ.get(MODEL)
    if not where:
        raise NotMeasurable(f"{PROGRAM.licence}: set {PROGRAM.variable} to a program that {PROGRAM.what}")
    if not model:
        raise NotMeasurable(f"{PROGRAM.variable} names a judge; set {MODEL} to the name and version of its model")
    return where, model


def state() -> str:
    """Changes with the model, and with a program's files; ``missing`` where no judge is named."""
    try:
        where, model = judge()
    except NotMeasurable:
        return "missing"
    return model if is_address(where) else f"{model} {PROGRAM.state()}"


def ask(
    prompts: Mapping[str, str], pictures: Sequence[Picture], *, seed: int, fps: float, item_id: str,
    headed: Mapping[str, int] | None = None, most_tokens: int = _MOST_TOKENS,
) -> dict[str, str]:  # fmt: skip
    """A model's words to each of ``prompts``, by their names.

    Args:
        prompts: name -> text.
        pictures: ``uint8[H, W, 3]`` each, which all questions are about.
        seed: given to the model.
        fps: of the item.
        item_id: of the item.
        headed: words that are put before so many of the pictures, in their order, and the question after all; None = the
            question, and then the pictures.
        most_tokens: that an answer may have.

    Raises:
        NotMeasurable: no judge is named.
        Unavailable: it cannot be asked, or answers something else.
    """
    where, model = judge()
    if is_address(where):
        contents = {name: _content(text, pictures, headed) for name, text in prompts.items()}
        return {name: _completion(where, model, content, seed, most_tokens) for name, content in contents.items()}
    facts: dict[str, Any] = {"model": model, "seed": seed, "questions": dict(prompts)}
    facts |= {"headed": dict(headed)} if headed else {}
    said = PROGRAM.numbers(pictures, fps=fps, item_id=item_id, facts=facts).get("answers")
    if not isinstance(said, dict) or set(said) != set(prompts) or not all(isinstance(words, str) for words in said.values()):
        raise Unavailable(f"the program of {PROGRAM.variable} wrote no answers to {', '.join(prompts)}")
    return {name: said[name] for name in prompts}


Content = list[dict[str, object]]


def _content(text: str, pictures: Sequence[Picture], headed: Mapping[str, int] | None) -> Content:
    question: Content = [{"type": "text", "text": text}]
    shown: Content = []
    for picture in pictures:
        _, encoded = cv2.imencode(".png", picture[..., ::-1])
        address = f"data:image/png;base64,{base64.b64encode(encoded.tobytes()).decode()}"
        shown.append({"type": "image_url", "image_url": {"url": address}})
    if not headed:
        return question + shown
    made, rest = list[dict[str, object]](), iter(shown)
    for words, many in headed.items():
        made += [{"type": "text", "text": words}, *islice(rest, many)]
    return made + question


def _completion(url: str, model: str, content: Content, seed: int, most_tokens: int) -> str:
    body = {
        "model": model, "seed": seed, "temperature": 0, "max_tokens": most_tokens,
        "messages": [{"role": "user", "content": content}],
    }  # fmt: skip
    answer = posted(url, json.dumps(body).encode(), content_type="application/json", seconds=_SECONDS)
    try:
        said = json.loads(answer)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise Unavailable(f"the answer of {url} is no chat completion") from error
    if not isinstance(said, str):
        raise Unavailable(f"the answer of {url} holds no text")
    return said
