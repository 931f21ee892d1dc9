"""Windows that lie within one shot each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from inpaintbench import video
from inpaintbench.curation.shots import Transition, transitions
from inpaintbench.curation.splitters.base import Splitter, windows_within
from inpaintbench.errors import InputError, Rejected
from inpaintbench.ranges import AtLeastOne, Whole


class Shots(Splitter):
    """Windows of ``length`` frames inside every shot; a shot's remainder is kept when it has ``shortest`` frames.

    ``margin`` frames are left out at either side of a transition, and all frames of a fade or dissolve with a quarter of its
    length at either side, as its faint ends do not show. Flashes and fast pans do not end a shot.
    """

    name = "shots"
    version = "3"

    def __init__(self, *, length: AtLeastOne = 90, shortest: AtLeastOne = 45, margin: Whole = 2) -> None:
        if not 1 <= shortest <= length:
            raise InputError(f"shots need 1 <= shortest <= length, got shortest {shortest} and length {length}")
        if margin < 0:
            raise InputError(f"margin is {margin}, it must be a number of frames from 0")
        self.length, self.shortest, self.margin = length, shortest, margin

    def spans(self, path: str, *, frames: int, fps: float, retimed: bool = False) -> Iterator[tuple[int, int]]:
        """Spans ``[start_frame, end_frame)``; the film is decoded once.

        Raises:
            Rejected: no shot is long enough.
        """
        if frames < self.shortest:
            raise Rejected(f"{frames} frames decode, a clip needs at least {self.shortest}")
        pixels = (frame for frame, _ in islice(video.upright_frames(path, fps=fps if retimed else None, hdr="tone_map"), frames))
        cuts = transitions(pixels)
        shots = list(shots_between(cuts, frames=frames, margin=self.margin))
        if max((end - start for start, end in shots), default=0) < self.shortest:
            raise Rejected(
                f"no shot of {self.shortest} frames or more between {len(cuts)} transitions and {self.margin} frames beside each"
            )
        yield from self._windows(shots)

    def _windows(self, shots: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for start, end in shots:
            yield from windows_within(start, end, length=self.length, shortest=self.shortest, stride=self.length)


def shots_between(cuts: Sequence[Transition], *, frames: int, margin: int) -> Iterator[tuple[int, int]]:
    """Half-open spans of the frames between transitions, ascending, shorter by ``margin`` at each and by the faint ends."""
    start = 0
    for transition in cuts:
        left_out = margin + (transition.end_frame - transition.start_frame) // 4
        end = transition.start_frame - left_out
        if end > start:
            yield start, end
        start = max(start, transition.end_frame + left_out)
    if frames > start:
        yield start, frames
