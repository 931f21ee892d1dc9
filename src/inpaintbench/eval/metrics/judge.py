"""A model's answers to questions about a clip, in place of people's."""

from __future__ import annotations

import math
from typing import Unpack

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval import judging
from inpaintbench.eval.judging import read_answer, stored
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where
from inpaintbench.ranges import AtLeastOne, Seed, Side
from inpaintbench.regions import dilate
from inpaintbench.view import ItemView

Picture = npt.NDArray[np.uint8]
_OUTLINE = (255, 0, 0)
# The outline keeps this far from what it is around, so that small objects stay in sight.
_OUTLINE_DISTANCE_PIXELS, _GAP_PIXELS = 3, 8
# What is kept of a model's words.
_KEPT_CHARACTERS = 1000


class Judge(SingleRegionMetric):
    """Mean worth of a model's answers to stored questions about a clip, 0..1; higher is better.

    Some moments of the clip are shown, before (the hole or the object outlined) and after side by side. Each answer is worth 0..1
    by ``eval/judging/questions.toml``; a clip has the mean over all questions, and none where an answer cannot be read. Prompts,
    answers, name of the model and seed are in the details. Nothing is known of how far a model agrees with people: compare it
    with votes by `eval align` before it is believed. ``INPAINTBENCH_JUDGE`` names the address of a server of the common
    chat-completion form, or a command (docs/metrics.md), ``INPAINTBENCH_JUDGE_MODEL`` the model.

    Args:
        questions: name of the set.
        moments: frames that are shown, evenly spaced among those that the mask covers a part of.
        longer_side: to which larger frames are shrunk, pixels.
        seed: given to the model.
    """

    name = "judge"
    label = "Judge"
    by_judge = True
    version = "2"
    higher_is_better = True
    decimals = 3
    bounds = (0.0, 1.0)
    needs = ("input", "composite")
    brings = "a model that looks at pictures, behind a server or as a program (its own licence), `INPAINTBENCH_JUDGE`"

    def __init__(self, *, questions: str, moments: AtLeastOne, longer_side: Side, seed: Seed, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        if moments < 1 or longer_side < 1:
            raise ValueError(f"moments is {moments} and longer_side {longer_side}, choose at least 1")
        self.questions, self.moments, self.longer_side, self.seed = stored(questions), moments, longer_side, seed

    @property
    def parts(self) -> tuple[str, ...]:
        """What it needs, and what it shows where an item has it."""
        return (*super().parts, "hole", "object_mask", "prompts")

    @staticmethod
    def state() -> str:
        """The model's name, with the files of a program."""
        return judging.state()

    def measurement(self, view: ItemView) -> Measurement:
        """The mean worth of the answers.

        Raises:
            NotMeasurable: no judge is named, the edit has no prompt, or the mask is empty throughout.
            Unavailable: it cannot be asked, or answers something else.
        """
        _, model = judging.judge()
        asked = {one.name: one for one in self.questions.questions}
        edit = view.prompts if view.has("prompts") else None
        prompts = {name: self.questions.prompt(one, edit) for name, one in asked.items()}
        said = judging.ask(prompts, self.pictures(view), seed=self.seed, fps=view.fps, item_id=view.item_id)
        read = {name: read_answer(said[name], one.worth) for name, one in asked.items()}
        answers = [
            {"question": name, "prompt": prompts[name], "said": said[name][:_KEPT_CHARACTERS], "answer": read[name]}
            for name in asked
        ]
        details = {"model": model, "seed": self.seed, "answers": answers}
        if unread := [name for name, answer in read.items() if answer is None]:
            return Measurement(None, f"no answer can be read from what the model said about {', '.join(unread)}", details)
        worth = [one.worth[str(read[name])] for name, one in asked.items()]
        return Measurement(math.fsum(worth) / len(worth), details=details)

    def pictures(self, view: ItemView) -> list[Picture]:
        """The moments, before and after side by side, ``uint8[h, 2 w + 8, 3]`` each.

        Raises:
            NotMeasurable: the mask is empty throughout.
        """
        mask = next((getattr(view, part) for part in ("object_mask", "hole") if view.has(part)), None)
        around = None if mask is None else dilate(mask, radius=_OUTLINE_DISTANCE_PIXELS)
        shown = np.arange(view.frames) if mask is None else np.flatnonzero(mask.any(axis=(1, 2)))
        if not len(shown):
            raise NotMeasurable("the mask is empty in every frame, so there is nothing to ask about")
        moments = shown[np.unique(np.linspace(0, len(shown) - 1, self.moments).round().astype(int))].tolist()
        scale = min(1.0, self.longer_side / max(view.height, view.width))
        made = []
        for at in moments:
            before = view.input[at].copy()
            if around is not None:
                outline, _ = cv2.findContours(around[at].view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
                cv2.drawContours(before, outline, -1, _OUTLINE)
            gap = np.full((view.height, _GAP_PIXELS, 3), 255, np.uint8)
            both = np.concatenate([before, gap, view.composite[at]], axis=1)
            size = (round(both.shape[1] * scale), round(both.shape[0] * scale))
            made.append(np.asarray(cv2.resize(both, size, interpolation=cv2.INTER_AREA) if scale < 1 else both, np.uint8))
        return made
