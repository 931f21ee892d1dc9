"""Grey levels of pictures in colour, for protocols that measure those alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# Shares of ITU-R 601 luma in 65,536ths.
_RED, _GREEN, _BLUE = 19595, 38470, 7471


def grey(frames: Frames) -> Frames:
    """The ITU-R 601 luma of ``uint8[..., 3]`` in all three channels, rounded as Pillow's conversion to mode L rounds."""
    channels = frames.astype(np.uint32)
    levels = (_RED * channels[..., 0] + _GREEN * channels[..., 1] + _BLUE * channels[..., 2] + (1 << 15)) >> 16
    return np.repeat(levels.astype(np.uint8)[..., None], 3, axis=-1)


def grey_view(view: ItemView) -> ItemView:
    """What a metric sees of an item when colours do not count: three equal channels weigh as one."""
    parts: dict[str, Callable[[], Any]] = {
        "hole": lambda: view.hole,
        "truth": lambda: view.shared.once("grey truth", lambda: grey(view.truth)),
        "prediction": lambda: grey(view.prediction),
        "composite": lambda: grey(view.composite),
    }
    return ItemView(
        item_id=view.item_id, frames=view.frames, height=view.height, width=view.width, fps=view.fps, parts=parts,
        shared=view.shared,
    )  # fmt: skip
