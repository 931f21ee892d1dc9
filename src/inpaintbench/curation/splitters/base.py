"""The base class of splitter leaves, which divide a source into spans of frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from inpaintbench.catalogue import Leaf


class Splitter(Leaf, ABC):
    """Divides one source into spans that become clips."""

    by_index: ClassVar[bool] = False
    """Whether films are taken at the word of their index, where they have one, and no frame outside of the spans is looked at."""

    @abstractmethod
    def spans(self, path: str, *, frames: int, fps: float, retimed: bool = False) -> Iterator[tuple[int, int]]:
        """Half-open, ascending, non-overlapping spans ``[start_frame, end_frame)`` over ``frames`` frames.

        Args:
            path: the source's file, for leaves that look at pixels.
            frames: how many decode, or how many there are at ``fps`` where the source is retimed.
            fps: frames per second of the clips.
            retimed: the clips are the source brought to ``fps`` by timestamps, not its frames as they decode.

        Raises:
            Rejected: no span, with the reason.
        """


def windows_within(start_frame: int, end_frame: int, *, length: int, shortest: int, stride: int) -> Iterator[tuple[int, int]]:
    """Windows of ``length`` frames, one every ``stride``, inside ``[start_frame, end_frame)``; the last may have ``shortest``."""
    for start in range(start_frame, end_frame, stride):
        end = min(start + length, end_frame)
        if end - start >= shortest:
            yield start, end
