"""Conversion of frames from one pixel format to another, by tables that are made once for frames that are alike."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
from av.video.reformatter import VideoReformatter


class _Converters(threading.local):
    """One converter a format and thread, so that decoding and encoding in turns do not make each other's tables anew."""

    def __init__(self) -> None:
        self.to: defaultdict[str, VideoReformatter] = defaultdict(VideoReformatter)


_OF_THIS_THREAD = _Converters()


def converted(frame: Any, pixel_format: str, **colours: int) -> Any:
    """Return an ``av.VideoFrame`` in another pixel format.

    The pixels are those of ``frame.reformat``, which makes its tables and starts a thread a core for every frame: at 288x160 that
    takes ten times as long as the conversion. With one thread, samples of 16 bits at odd widths are right too: several threads
    write over each other's rows there.

    Args:
        frame: an ``av.VideoFrame``.
        pixel_format: FFmpeg's name.
        colours: colour spaces and ranges, as of ``frame.reformat``.
    """
    return _OF_THIS_THREAD.to[pixel_format].reformat(frame, format=pixel_format, threads=1, **colours)


def to_rgb(frame: Any, pixel_format: str = "rgb24") -> npt.NDArray[Any]:
    """Return a frame as an array: ``uint8[H, W, 3]`` RGB, or as ``pixel_format`` has it."""
    return np.asarray(converted(frame, pixel_format).to_ndarray())
