"""The contract of normalizers, whatever size they bring frames to."""

from __future__ import annotations

import numpy as np

from inpaintbench import contracts
from inpaintbench.contracts import checks_above, moving_texture, require
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.errors import Rejected

_SIZES = ((480, 832), (832, 480), (720, 1280), (97, 131))
_ASPECTS = (1.0, 1.0667, 0.9)


def states_its_facts(normalizer: Normalizer) -> None:
    """Name, version, documentation, and what it does in a few words."""
    contracts.states_its_facts(normalizer)
    require(normalizer.describe(), "it describes itself in no words")


def gives_frames_and_leaves_its_input_alone(normalizer: Normalizer) -> None:
    """``uint8[H, W, 3]`` for frames of any size and pixels of any shape, the same each time, or a reason."""
    for height, width in _SIZES:
        frame = moving_texture(1, height=height, width=width)[0]
        contracts.read_only(frame)
        for aspect in _ASPECTS:
            try:
                first, second = (normalizer.apply(frame, pixel_aspect=aspect) for _ in range(2))
            except Rejected as error:
                require(f"{height}" in str(error) or str(round(width * aspect)) in str(error), f"{error} names no size")
                continue
            fits = first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3 and first.size
            require(fits, f"of a frame of {width}x{height} it gives {first.dtype}{list(first.shape)}")
            require(np.array_equal(first, second), "the second time it gives other pixels")


CHECKS = checks_above(globals())
