"""Windows of equal duration."""

from __future__ import annotations

import math
from collections.abc import Iterator

from inpaintbench.curation.splitters.base import Splitter, windows_within
from inpaintbench.errors import InputError, Rejected
from inpaintbench.ranges import Duration


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

    def spans(
        self,
        path: str,  # noqa: ARG002 - needs no pixels
        *,
        frames: int,
        fps: float,
        retimed: bool = False,  # noqa: ARG002 - frames are counted at fps either way
    ) -> Iterator[tuple[int, int]]:
        """Spans ``[start_frame, end_frame)``.

        Raises:
            Rejected: shorter than the shortest clip.
        """
        length, shortest, stride = (
            max(1, round(seconds * fps)) for seconds in (self.length_seconds, self.shortest_seconds, self.stride_seconds)
        )
        if frames < shortest:
            raise Rejected(f"{frames / fps:.2f} s long ({frames} frames), a clip needs at least {self.shortest_seconds:g} s")
        yield from windows_within(0, frames, length=length, shortest=shortest, stride=stride)
