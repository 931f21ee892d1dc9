"""Scale until the frame covers the target, then cut the centre out."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.errors import InputError


class Cover:
    """Cover resize and centre crop, with square pixels.

    As in DEVIL (CVPR 2022): ratio = max(W / w, H / h), each side rounded up, bicubic with anti-aliasing, and the crop's
    offset rounded down. 1920x1080 becomes 854x480, of which columns 11..842 stay. Changes of size inside a file are taken
    frame by frame.
    """

    name = "cover"
    version = "1"

    def __init__(self, *, width: int = 832, height: int = 480) -> None:
        if width < 16 or height < 16:
            raise InputError(f"a clip of {width}x{height} is too small; 16x16 is the least")
        self.width, self.height = width, height

    def apply(self, frame: npt.NDArray[np.uint8], *, pixel_aspect: float) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` -> ``uint8[height, width, 3]``."""
        rows, columns = frame.shape[0], frame.shape[1] * pixel_aspect
        ratio = max(self.width / columns, self.height / rows)
        # The tiny slack keeps exact multiples exact: 854.0000000001 must not become 855.
        scaled = (math.ceil(columns * ratio - 1e-6), math.ceil(rows * ratio - 1e-6))
        image = Image.fromarray(frame)
        if scaled != image.size:
            image = image.resize(scaled, Image.Resampling.BICUBIC)
        left, top = (scaled[0] - self.width) // 2, (scaled[1] - self.height) // 2
        return np.asarray(image.crop((left, top, left + self.width, top + self.height)))
