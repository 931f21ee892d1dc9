"""Numbers of frames that a program takes, and how a clip is brought to one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, model_validator

from inpaintbench.errors import NotMeasurable


class FramesRule(BaseModel):
    """Rule for the number of frames: ``step * n + offset``, at least ``min``, at most ``max``.

    A shorter clip repeats its last frame; what was added is cut off again. ``lead`` frames more are repeated before the first and
    ``tail`` after the last, for programs that lose those. A longer clip is refused, or cut into windows that share ``overlap``
    frames: half of those come from either window.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    step: PositiveInt = 1
    offset: NonNegativeInt = 0
    min: PositiveInt = 1
    max: PositiveInt | None = None
    lead: NonNegativeInt = 0
    tail: NonNegativeInt = 0
    overlap: PositiveInt | None = None

    @model_validator(mode="after")
    def _windows_go_on(self) -> FramesRule:
        if self.overlap is not None and (self.max is None or self._longest() <= self.overlap):
            raise ValueError("overlap takes a max whose windows are longer than it")
        return self

    def count(self, frames: int) -> int:
        """Frames that a program is given for ``frames`` of a clip."""
        least = max(frames + self.lead + self.tail, self.min)
        return max(math.ceil((least - self.offset) / self.step), 0) * self.step + self.offset

    def order(self, frames: int) -> npt.NDArray[np.intp]:
        """Index of the clip's frame at each place of what the program is given, ``intp[count]``."""
        return np.clip(np.arange(self.count(frames)) - self.lead, 0, frames - 1)

    def windows(self, frames: int) -> list[tuple[int, int]]:
        """First frame and end of each window of a clip of ``frames``; one of all frames where the program takes them.

        Raises:
            NotMeasurable: more frames than it takes, and windows are not asked for.
        """
        if self.max is None or self.count(frames) <= self.max:
            return [(0, frames)]
        if self.overlap is None:
            raise NotMeasurable(
                f"the program takes at most {self.max} frames, the clip has {frames}; overlap=N cuts it into windows"
            )
        longest = self._longest()
        starts = [*range(0, frames - longest, longest - self.overlap), frames - longest]
        return [(start, start + longest) for start in starts]

    def _longest(self) -> int:
        assert self.max is not None
        return max((frames for frames in range(1, self.max + 1) if self.count(frames) <= self.max), default=0)


def joined(parts: list[npt.NDArray[np.uint8]], windows: list[tuple[int, int]]) -> npt.NDArray[np.uint8]:
    """One clip ``uint8[T, H, W, 3]`` of what was made of its windows: where two meet each gives its half of the shared frames."""
    cuts = [0, *((end + start) // 2 for (_, end), (start, _) in itertools.pairwise(windows)), windows[-1][1]]
    pieces = zip(parts, windows, cuts, cuts[1:], strict=False)
    return np.concatenate([part[first - start : last - start] for part, (start, _), first, last in pieces])
