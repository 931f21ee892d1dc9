"""Put questions about pictures to a model: a server of the common chat-completion form, or a program."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable, Unavailable
from inpaintbench.eval.adapters.posting import is_address, posted
from inpaintbench.eval.passes.brought_programs import BroughtProgram

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


def ask(prompts: Mapping[str, str], pictures: Sequence[Picture], *, seed: int, fps: float, item_id: str) -> dict[str, str]:
    """A model's words to each of ``prompts``, by their names.

    Args:
        prompts: name -> text.
        pictures: ``uint8[H, W, 3]`` each, which all questions are about.
        seed: given to the model.
        fps: of the item.
        item_id: of the item.

    Raises:
        NotMeasurable: no judge is named.
        Unavailable: it cannot be asked, or answers something else.
    """
    where, model = judge()
    if is_address(where):
        return {name: _completion(where, model, text, pictures, seed) for name, text in prompts.items()}
    facts = {"model": model, "seed": seed, "questions": dict(prompts)}
    said = PROGRAM.numbers(pictures, fps=fps, item_id=item_id, facts=facts).get("answers")
    if not isinstance(said, dict) or set(said) != set(prompts) or not all(isinstance(words, str) for words in said.values()):
        raise Unavailable(f"the program of {PROGRAM.variable} wrote no answers to {', '.join(prompts)}")
    return {name: said[name] for name in prompts}


def _completion(url: str, model: str, text: str, pictures: Sequence[Picture], seed: int) -> str:
    content = [{"type": "text", "text": text}, *({"type": "image_url", "image_url": {"url": _url(one)}} for one in pictures)]
    body = {
        "model": model, "seed": seed, "temperature": 0, "max_tokens": _MOST_TOKENS,
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


def _url(picture: Picture) -> str:
    _, encoded = cv2.imencode(".png", picture[..., ::-1])
    return f"data:image/png;base64,{base64.b64encode(encoded.tobytes()).decode()}"
