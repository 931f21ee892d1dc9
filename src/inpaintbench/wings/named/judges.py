"""Columns of published benchmarks that a model of the user's answers: FiVE-Acc, and CORE of BeyondMasks.

Both put questions that come with the user's data and are no part of this program, and read answers as the released code does.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from abc import abstractmethod
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval import judging
from inpaintbench.eval.judging import Picture
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.lazily import lazily
from inpaintbench.ranges import AtLeastOne, Positive, Seed, Side
from inpaintbench.types import ABOUT_OBJECTS, QUESTIONS
from inpaintbench.view import ItemView

cv2 = lazily("cv2")

# What is kept of a model's words, from their end, where the scores stand.
_KEPT_CHARACTERS = 1000
# Four steps of reasoning, and what a model thinks before.
_MOST_TOKENS = 8192


class Answers(NamedTuple):
    """What a model answered, by the names of what is read of it, and how it came about."""

    read: dict[str, int | None]
    details: dict[str, Any]


class _Answered(SingleRegionMetric):
    """A metric of answers that several metrics of an item share: they are asked for once."""

    version = "1"
    higher_is_better = True
    by_judge = True

    def __init__(self, *, seed: Seed, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.seed = seed

    @property
    def parts(self) -> tuple[str, ...]:
        """What it needs, and what the data set says, where it says something."""
        return tuple(dict.fromkeys((*super().parts, "prompts")))

    def answers_of(self, view: ItemView) -> Answers:
        """The answers about a view; raises what ``measurement`` raises."""
        _, model = judging.judge()
        key = (type(self).__base__, model, *(value for name, value in sorted(vars(self).items()) if name != "regions"))
        found: Answers = view.shared.once_of((view.composite,), key, lambda: self.asked(view, model))
        return found

    @abstractmethod
    def asked(self, view: ItemView, model: str) -> Answers:
        """Ask ``model``, as ``answers_of``."""


# FiVE


class _Five(_Answered):
    """A share of the three questions that FiVE puts about an edit; higher is better.

    FiVE-Bench, ICCV 2025: a question about the source that is to be answered no, where there is one, one about the target that is
    to be answered yes, and a choice whose b is right. An answer is what the model's words begin with.

    Args:
        moments: what the number of frames is divided by, and the frames by that: about every fourth is shown, for 4.
        seed: given to the model.
    """

    needs = ("composite", "prompts")
    decimals = 4
    bounds = (0.0, 1.0)
    brings = "a model that looks at pictures, as for `judge`: `INPAINTBENCH_JUDGE`"
    follows = "FiVE-Bench's `evaluation` (no licence file)"

    def __init__(self, *, moments: AtLeastOne, seed: Seed, **where: Unpack[Where]) -> None:
        super().__init__(seed=seed, **where)
        self.moments = moments

    @staticmethod
    def state() -> str:
        """The model's name, with the files of a program."""
        return judging.state()

    def asked(self, view: ItemView, model: str) -> Answers:
        """Whether the questions of yes and no are answered rightly, and whether the choice is."""
        told = (view.prompts.more or {}) if view.has("prompts") else {}
        source, target, choice = (told.get(name, "") for name in QUESTIONS)
        if not (target and choice):
            raise NotMeasurable(f"the data put no {QUESTIONS[1]} and {QUESTIONS[2]} about the edit")
        asked = {name: f"{told[name]}\n\nReply with YES or NO alone." for name in QUESTIONS[:2] if told.get(name)}
        asked |= {QUESTIONS[2]: f"{choice}\n\nReply with the letter of the right choice alone."}
        frames = list(view.composite[self.shown(view.frames)])
        said = judging.ask(asked, frames, seed=self.seed, fps=view.fps, item_id=view.item_id)
        begin = {name: words.rpartition("</think>")[2].strip().lower() for name, words in said.items()}
        right = begin[QUESTIONS[1]].startswith("yes") and (not source or begin[QUESTIONS[0]].startswith("no"))
        kept = [{"question": name, "prompt": asked[name], "said": said[name][:_KEPT_CHARACTERS]} for name in asked]
        details = {"model": model, "seed": self.seed, "answers": kept}
        return Answers({"yes_no": int(right), "choice": int(begin[QUESTIONS[2]].startswith("b"))}, details)

    def shown(self, frames: int) -> slice:
        """Those of ``frames`` that the model is shown.

        Raises:
            NotMeasurable: there are fewer than ``moments``.
        """
        if frames < self.moments:
            raise NotMeasurable(f"{frames} frames, fewer than the {self.moments} moments that are shown")
        stride = frames // (frames // self.moments)
        return slice(stride // 2, None, stride)

    def measurement(self, view: ItemView) -> Measurement:
        """What the column makes of the answers.

        Raises:
            NotMeasurable: no judge is named, the data put no questions, or the clip is too short.
            Unavailable: it cannot be asked, or answers something else.
        """
        read, details = self.answers_of(view)
        return Measurement(self.share(bool(read["yes_no"]), bool(read["choice"])), details=details)

    @staticmethod
    @abstractmethod
    def share(yes_no: bool, choice: bool) -> float:
        """The value of right and wrong answers."""


class FiveYesNo(_Five):
    """Share of edits whose questions of yes and no are answered rightly; higher is better. See ``FiveAccuracy``."""

    name, label = "five_yn", "FiVE YN"

    @staticmethod
    def share(yes_no: bool, choice: bool) -> float:  # noqa: ARG004 - as the others are called
        """1 where they are."""
        return float(yes_no)


class FiveChoice(_Five):
    """Share of edits whose choice is answered rightly; higher is better. See ``FiveAccuracy``."""

    name, label = "five_mc", "FiVE MC"

    @staticmethod
    def share(yes_no: bool, choice: bool) -> float:  # noqa: ARG004 - as the others are called
        """1 where it is."""
        return float(choice)


class FiveUnion(_Five):
    """Share of edits of which either is answered rightly; higher is better. See ``FiveAccuracy``."""

    name, label = "five_union", "FiVE union"

    @staticmethod
    def share(yes_no: bool, choice: bool) -> float:
        """1 where one of both is."""
        return float(yes_no or choice)


class FiveIntersection(_Five):
    """Share of edits of which both are answered rightly; higher is better. See ``FiveAccuracy``."""

    name, label = "five_intersection", "FiVE intersection"

    @staticmethod
    def share(yes_no: bool, choice: bool) -> float:
        """1 where both are."""
        return float(yes_no and choice)


class FiveAccuracy(_Five):
    """FiVE-Acc: the mean of ``five_yn``, ``five_mc``, ``five_union`` and ``five_intersection``; higher is better.

    FiVE-Bench, ICCV 2025. The questions are those of its data; which model answers them is the user's affair.

    Args:
        moments: what the number of frames is divided by, and the frames by that: about every fourth is shown, for 4.
        seed: given to the model.
    """

    name, label = "five_acc", "FiVE-Acc"

    @staticmethod
    def share(yes_no: bool, choice: bool) -> float:
        """The mean of the four, which is that of both: what union adds intersection takes away."""
        return (yes_no + choice + (yes_no or choice) + (yes_no and choice)) / 4


# BeyondMasks


class Rubric:
    """The question of BeyondMasks' CORE, read of its ``eval.py``, which the data set has and nothing of which is run."""

    variable = "INPAINTBENCH_CORE"
    _NAME = "PROMPT_TEMPLATE"

    def text(self) -> str:
        """It, with ``{fg_object}`` and ``{focus_effect}`` to be filled in.

        Raises:
            NotMeasurable: the file is not named, or holds no such text.
        """
        path = os.environ.get(self.variable)
        if not path:
            raise NotMeasurable(f"its question has no licence: set {self.variable} to the eval.py of BeyondMasks' data")
        try:
            tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError) as error:
            raise NotMeasurable(f"{self.variable}: {path!r} cannot be read: {error}") from error
        for node in tree.body:
            named = isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == self._NAME for to in node.targets)
            if named and isinstance(value := getattr(node, "value", None), ast.Constant) and isinstance(value.value, str):
                return value.value
        raise NotMeasurable(f"{self.variable}: {path!r} has no text called {self._NAME}")

    def state(self) -> str:
        """Changes with the model and with the question; ``missing`` where one of them is not there."""
        try:
            text = self.text()
        except NotMeasurable:
            return "missing"
        judge = judging.state()
        return judge if judge == "missing" else f"{judge} {hashlib.sha256(text.encode()).hexdigest()}"


RUBRIC = Rubric()


class _Core(_Answered):
    """A score that a model gives a removal beside the truth; higher is better.

    BeyondMasks, ECCV 2026. The model is shown the clip with the object, the truth and the result, a picture a second, and its
    question, which says what the object and its after-effects are.

    Args:
        per_second: pictures of each of the three that it is shown.
        width, height: to which they are brought, by OpenCV's area filter.
        seed: given to the model.
    """

    needs = ("input", "truth", "composite")
    decimals = 3
    bounds = (1.0, 5.0)
    brings = "BeyondMasks' `eval.py` (no licence stated), whose question a judge is asked, `INPAINTBENCH_CORE`"
    brought = RUBRIC
    follows = "BeyondMasks' `eval.py` (no licence stated)"
    field: str
    """What its score is called in the answer."""

    def __init__(self, *, per_second: Positive, width: Side, height: Side, seed: Seed, **where: Unpack[Where]) -> None:
        super().__init__(seed=seed, **where)
        self.per_second, self.width, self.height = float(per_second), width, height

    def asked(self, view: ItemView, model: str) -> Answers:
        """Both scores of one answer."""
        text, told = RUBRIC.text(), (view.prompts.more or {}) if view.has("prompts") else {}
        if lacking := [name for name in ABOUT_OBJECTS if not told.get(name)]:
            raise NotMeasurable(f"the data do not say {' and '.join(lacking)} of the clip, which the question has")
        thing, effects = (told[name] for name in ABOUT_OBJECTS)
        prompt = text.replace("{fg_object}", thing).replace("{focus_effect}", effects)
        films = {"INPUT VIDEO": view.input, "GT VIDEO": view.truth, "RESULT VIDEO": view.composite}
        pictures = {head: [self._small(film[at]) for at in self.shown(view)] for head, film in films.items()}
        said = judging.ask(
            {"core": prompt}, [one for some in pictures.values() for one in some], seed=self.seed, fps=view.fps,
            item_id=view.item_id, headed={head: len(some) for head, some in pictures.items()}, most_tokens=_MOST_TOKENS,
        )["core"].rpartition("</think>")[2]  # fmt: skip
        fields = (CoreObject.field, CoreEffects.field)
        found = {field: re.search(rf"{field}\s*:\s*([1-5])", said, re.IGNORECASE) for field in fields}
        kept = {
            "question": hashlib.sha256(text.encode()).hexdigest(), "object": thing, "effects": effects,
            "said": said[-_KEPT_CHARACTERS:],
        }  # fmt: skip
        details = {"model": model, "seed": self.seed, "answers": [kept]}
        return Answers({field: int(match[1]) if match else None for field, match in found.items()}, details)

    def shown(self, view: ItemView) -> list[int]:
        """The frames that the model is shown: those of every second from the first on."""
        step = view.fps / self.per_second
        return [round(number * step) for number in range(view.frames) if round(number * step) < view.frames]

    def _small(self, frame: Picture) -> Picture:
        return np.asarray(cv2.resize(frame, (self.width, self.height), interpolation=cv2.INTER_AREA), np.uint8)

    def measurement(self, view: ItemView) -> Measurement:
        """The score.

        Raises:
            NotMeasurable: no judge or no question is named, or the data do not say what the object and its effects are.
            Unavailable: it cannot be asked, or answers something else.
        """
        read, details = self.answers_of(view)
        score = read[self.field]
        if score is None:
            return Measurement(None, f"the model's words hold no {self.field} of 1 to 5", details)
        return Measurement(float(score), details=details)


class CoreObject(_Core):
    """CORE-OS: how completely a model finds the object gone, 1..5; higher is better. See ``CoreEffects``."""

    name, label, field = "core_object", "CORE-OS", "ObjectScore"


class CoreEffects(_Core):
    """CORE-AES: how far a model finds shadows, reflections and other after-effects gone, 1..5; higher is better.

    BeyondMasks, ECCV 2026. The model is shown the clip with the object, the truth and the result, a picture a second, and the
    question of the authors' ``eval.py``, which ``INPAINTBENCH_CORE`` names.

    Args:
        per_second: pictures of each of the three that it is shown.
        width, height: to which they are brought, by OpenCV's area filter.
        seed: given to the model.
    """

    name, label, field = "core_effects", "CORE-AES", "AftereffectScore"
