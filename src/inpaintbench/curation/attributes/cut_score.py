"""How strongly a clip looks as if it held a cut."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import av
import av.filter
import numpy as np

from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView


class CutScore:
    """The largest scene-change score that FFmpeg's ``select`` filter gives to a frame of the clip.

    The score of a frame is the smaller of its mean absolute luma difference to the frame before, in levels, and of that
    difference's own change, over 100 and at most 1: even motion scores low and a cut high.
    """

    name = "cut_score"
    version = "1"
    unit = "scene score, 0..1"
    needs = ("luma",)

    def measure(self, view: ItemView) -> float:
        """The score, 0 when all frames are the same; ``NotMeasurable`` for a single frame."""
        luma = view.luma
        if len(luma) < 2:
            raise NotMeasurable("the clip has one frame, a cut lies between two")
        return max(scene_scores(luma), default=0.0)


def scene_scores(luma: Luma) -> Iterator[float]:
    """The FFmpeg scene scores above 0, in frame order; ``luma`` is ``uint8[T, H, W]``.

    FFmpeg scores a YUV video by its luma plane alone, so a grey video of that plane scores the same.
    """
    height, width = luma.shape[1:]
    graph, time_base = av.filter.Graph(), Fraction(1, 30)
    graph.link_nodes(
        graph.add_buffer(width=width, height=height, format=av.VideoFormat("gray"), time_base=time_base),
        graph.add("select", "gt(scene,0)"),
        graph.add("buffersink"),
    ).configure()
    for index, plane in enumerate(luma):
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(plane), format="gray")
        frame.pts, frame.time_base = index, time_base
        graph.vpush(frame)
        yield from _ready(graph)
    graph.vpush(None)
    yield from _ready(graph)


def _ready(graph: Any) -> Iterator[float]:
    """Scores of the frames that the filter lets out now."""
    while True:
        try:
            frame = graph.vpull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        yield float(frame.metadata["lavfi.scene_score"])
