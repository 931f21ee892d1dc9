"""Frames as a GIF keeps them."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageSequence

from inpaintbench.types import Frames

_MILLISECONDS = 100


def gif_frames(frames: Frames) -> Frames:
    """``uint8[T', H, W, 3]``, T' at most T, of ``uint8[T, H, W, 3]``, as Pillow writes and reads them.

    Each frame gets a palette of its own by Pillow's default way. Frames that look the same in a row are merged into one that
    stays longer, and the time that they stay is not looked at again.
    """
    pictures = [Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=_MILLISECONDS, loop=0)
    file.seek(0)
    with Image.open(file) as opened:
        return np.stack([np.asarray(one.convert("RGB"), np.uint8) for one in ImageSequence.Iterator(opened)])
