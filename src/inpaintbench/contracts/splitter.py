"""The contract of splitters, however they divide films."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

from inpaintbench import video
from inpaintbench.contracts import checks_above, moving_texture, require, states_its_facts
from inpaintbench.curation.splitters.base import Splitter
from inpaintbench.errors import Rejected

FRAMES, FPS = 100, 10.0
Spans = list[tuple[int, int]]


def spans_lie_within_the_film_in_order(splitter: Splitter) -> None:
    """Half open, not empty, each behind the one before."""
    spans = _spans(splitter, FRAMES)
    require(all(0 <= start < end <= FRAMES for start, end in spans), f"of {FRAMES} frames it gives the spans {spans}")
    require(all(before[1] <= after[0] for before, after in pairwise(spans)), f"its spans are out of order or overlap: {spans}")


def gives_the_same_twice(splitter: Splitter) -> None:
    """Equal films have equal spans."""
    require(_spans(splitter, FRAMES) == _spans(splitter, FRAMES), "the second time it gives other spans")


def takes_films_of_a_single_frame(splitter: Splitter) -> None:
    """A span, or a reason why there is none."""
    require(_spans(splitter, 1) in ([], [(0, 1)]), f"of 1 frame it gives {_spans(splitter, 1)}")


CHECKS = (states_its_facts, *checks_above(globals()))


def _spans(splitter: Splitter, frames: int) -> Spans:
    """The spans of a film of so many frames; none where it says why."""
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        film = Path(folder, "film.mp4")
        video.write_lossless(film, moving_texture(frames, height=48, width=64), fps=FPS)
        try:
            return list(splitter.spans(str(film), frames=frames, fps=FPS))
        except Rejected as error:
            require(str(error), "it refuses a film without a reason")
            return []
