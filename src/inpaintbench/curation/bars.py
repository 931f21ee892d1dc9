"""Letterbox and pillarbox bars: black, flat borders that stay for the whole source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.location import open_path
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.types import Attribute, Plain, Source
from inpaintbench.workspace import Blobs

VERSION = "1"
BLACK_LEVEL = 32
"""Of the brightest channel, 0..255: encoded black is rarely quite 0."""
FLAT_LEVELS = 6
"""Largest standard deviation along a line of a bar, in levels: coding noise, but no night sky over a town."""
LARGEST_SHARE = 0.35
"""Of a side; whatever is wider is a dark picture."""
_BLACK_PIXELS = 0.995
_SAMPLES = 48
_SOFT_EDGE_PIXELS = 2


@dataclass(frozen=True)
class Bars:
    """How many lines to cut off at each side, in upright pixels."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Bars:
        """From attributes ``bars.top`` ...; no bars where there are none."""
        return cls(*(int(facts.get(f"bars.{side}") or 0) for side in ("top", "bottom", "left", "right")))

    def cut(self, frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` without the bars."""
        height, width = frame.shape[:2]
        return frame[self.top : height - self.bottom, self.left : width - self.right]


def find_bars(frames: Sequence[npt.NDArray[np.uint8]]) -> Bars:
    """The bars that all ``frames``, ``uint8[h, w, 3]`` of one size, have in common.

    A line belongs to a bar when in every frame nearly all its pixels are black and it is flat, and so are all lines between it
    and the border. Frames that are black everywhere (fades) say nothing. A dark picture is not a bar: what would take more than
    ``LARGEST_SHARE`` of a side is left alone. One soft line is cut off with a bar.
    """
    brightest = [frame.max(axis=2) for frame in frames]
    telling = [levels for levels in brightest if np.mean(levels <= BLACK_LEVEL) < _BLACK_PIXELS]
    if not telling:
        return Bars()
    rows = np.all([_dark_lines(levels) for levels in telling], axis=0)
    columns = np.all([_dark_lines(levels.T) for levels in telling], axis=0)
    return Bars(*_ends(rows), *_ends(columns))


def _dark_lines(levels: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    black = np.mean(levels <= BLACK_LEVEL, axis=1) >= _BLACK_PIXELS
    flat: npt.NDArray[np.bool_] = black & (levels.std(axis=1) <= FLAT_LEVELS)
    return flat


def _ends(dark: npt.NDArray[np.bool_]) -> tuple[int, int]:
    bright = np.flatnonzero(~dark)
    widths = (int(bright[0]), int(len(dark) - 1 - bright[-1])) if len(bright) else (0, 0)
    first, last = (width if width <= LARGEST_SHARE * len(dark) else 0 for width in widths)
    return _with_soft_edge(first), _with_soft_edge(last)


def _with_soft_edge(width: int) -> int:
    return width + _SOFT_EDGE_PIXELS if width > _SOFT_EDGE_PIXELS else 0


def find(executor: Executor, sources: Sequence[Source], where: Mapping[str, Plain], frames: Mapping[str, int]) -> Outcome:
    """Look for bars in every source and write them to ``attributes``, in lines.

    Args:
        executor: who does the work.
        sources: to look at.
        where: source id -> where its file lies.
        frames: source id -> how many of its frames decode.
    """
    step = Step(
        name="bars",
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.bars:find_one",
        time_limit_seconds=900.0,
    )
    tasks = [
        Task(row.source_id, row.sha256, {"source_id": row.source_id, "where": where[row.source_id], "frames": count}, row.uri)
        for row in sources
        if (count := frames.get(row.source_id))
    ]
    return executor.run(step, tasks)


def find_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:  # noqa: ARG001 - step signature
    """Four rows, ``bars.top`` ... ``bars.right``; sources whose frames change size have none."""
    every = max(1, payload["frames"] // _SAMPLES)
    path = open_path(payload["where"], blobs)
    sampled = [pixels for index, (pixels, _) in enumerate(video.upright_frames(path)) if index % every == 0]
    bars = find_bars(sampled) if len({frame.shape for frame in sampled}) == 1 else Bars()
    found = {"top": bars.top, "bottom": bars.bottom, "left": bars.left, "right": bars.right}
    return [Attribute(payload["source_id"], f"bars.{side}", float(lines), None, "bars", VERSION) for side, lines in found.items()]
