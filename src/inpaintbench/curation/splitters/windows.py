"""Windows of equal length, counted in frames or in seconds; what a film shows plays no part."""

from __future__ import annotations

import math
from collections.abc import Iterator

from inpaintbench.curation.splitters.base import Splitter, windows_within
from inpaintbench.errors import InputError, Rejected
from inpaintbench.ranges import AtLeastOne, Duration


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

    def spans(self, path: str, *, frames: int, fps: float, retimed: bool = False) -> Iterator[tuple[int, int]]:  # noqa: ARG002
        """Spans ``[start_frame, end_frame)``.

        Raises:
            Rejected: fewer frames than the shortest clip.
        """
        if frames < self.shortest:
            raise Rejected(f"{frames} frames decode, a clip needs at least {self.shortest}")
        yield from windows_within(0, frames, length=self.length, shortest=self.shortest, stride=self.length)


class Seconds(Splitter):
    """Windows of ``length_seconds``, one every ``stride_seconds``; the remainder stays when it lasts ``shortest_seconds``.

    Durations become the nearest whole number of frames, the same for all windows of a source. ChaLearn LAP 2018
    decaptioning uses 5 s at 25 fps: 125 frames.
    """

    name = "seconds"
    version = "1"

    def __init__(
        self, *, length_seconds: Duration = 3.0, shortest_seconds: Duration | None = None, stride_seconds: Duration | None = None
    ) -> None:
        shortest = length_seconds if shortest_seconds is None else shortest_seconds
        stride = length_seconds if stride_seconds is None else stride_seconds
        if not 0 < shortest <= length_seconds <= stride < math.inf:
            raise InputError(
                "seconds need 0 < shortest_seconds <= length_seconds <= stride_seconds, "
                f"got {shortest:g}, {length_seconds:g} and {stride:g}"
            )
        self.length_seconds, self.shortest_seconds, self.stride_seconds = length_seconds, shortest, stride

    def spans(self, path: str, *, frames: int, fps: float, retimed: bool = False) -> Iterator[tuple[int, int]]:  # noqa: ARG002
        """Spans ``[start_frame, end_frame)``.

        Raises:
            Rejected: shorter than the shortest clip.
        """
        lasting = (self.length_seconds, self.shortest_seconds, self.stride_seconds)
        length, shortest, stride = (max(1, round(seconds * fps)) for seconds in lasting)
        if frames < shortest:
            raise Rejected(f"{frames / fps:.2f} s long ({frames} frames), a clip needs at least {self.shortest_seconds:g} s")
        yield from windows_within(0, frames, length=length, shortest=shortest, stride=stride)


class Samples(Seconds):
    """Windows of ``length_seconds``, one every ``stride_seconds``; nothing between them is read, but for the index of the film.

    Size, rate and number of frames are what an MP4 or MOV file promises, and damage outside of the windows is not seen. Other
    films, and those that promise what does not decode, are read whole, as by ``seconds``.
    """

    name = "samples"
    version = "1"
    by_index = True

    def __init__(
        self, *, length_seconds: Duration = 3.0, shortest_seconds: Duration | None = None, stride_seconds: Duration = 60.0
    ) -> None:
        super().__init__(length_seconds=length_seconds, shortest_seconds=shortest_seconds, stride_seconds=stride_seconds)
