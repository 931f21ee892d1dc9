"""Consecutive windows of equal length."""

from __future__ import annotations

from collections.abc import Iterator

from inpaintbench.curation.splitters.base import Splitter, windows_within
from inpaintbench.errors import InputError, Rejected
from inpaintbench.ranges import AtLeastOne


class Windows(Splitter):
    """Windows of ``length`` frames from frame 0; the remainder is kept when it has at least ``shortest`` frames.

    DEVIL (CVPR 2022) uses 90 and 45 at the native frame rate.
    """

    name = "windows"
    version = "1"

    def __init__(self, *, length: AtLeastOne = 90, shortest: AtLeastOne = 45) -> None:
        if not 1 <= shortest <= length:
            raise InputError(f"windows need 1 <= shortest <= length, got shortest {shortest} and length {length}")
        self.length, self.shortest = length, shortest

    def spans(
        self,
        path: str,  # noqa: ARG002 - needs no pixels
        *,
        frames: int,
        fps: float,  # noqa: ARG002 - counts frames
        retimed: bool = False,  # noqa: ARG002
    ) -> Iterator[tuple[int, int]]:
        """Spans ``[start_frame, end_frame)``.

        Raises:
            Rejected: fewer frames than the shortest clip.
        """
        if frames < self.shortest:
            raise Rejected(f"{frames} frames decode, a clip needs at least {self.shortest}")
        yield from windows_within(0, frames, length=self.length, shortest=self.shortest, stride=self.length)
