"""Degradation of frames by the GIF format."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageSequence

from inpaintbench.types import Frames

# Of each frame; GIF needs a duration, and its value changes no pixel.
_MILLISECONDS = 100


def gif_frames(frames: Frames) -> Frames:
    """Frames after a round trip through a GIF of Pillow: ``uint8[T, H, W, 3]`` -> ``uint8[T', H, W, 3]``, T' <= T.

    Each frame gets its own palette by Pillow's default quantisation. Runs of equal frames are merged into one of longer duration;
    durations are ignored when reading.
    """
    pictures = [Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=_MILLISECONDS, loop=0)
    file.seek(0)
    with Image.open(file) as opened:
        return np.stack([np.asarray(frame.convert("RGB"), np.uint8) for frame in ImageSequence.Iterator(opened)])
