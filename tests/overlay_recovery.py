"""How the participants of the 2018 challenge found the overlay: from the clip with subtitles (X) and the clip without (Y)."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.types import Frames, Hole

PATCH = 32


def by_patch(with_text: Frames, without: Frames) -> Hole:
    """Patches of 32 x 32 in which some value differs by more than 0.2 of the range."""
    far = (np.abs(with_text.astype(int) - without) > 0.2 * 255).any(axis=-1)
    frames, height, width = far.shape
    patches = far.reshape(frames, height // PATCH, PATCH, width // PATCH, PATCH).any(axis=(2, 4))
    return patches.repeat(PATCH, axis=1).repeat(PATCH, axis=2)


def by_difference(with_text: Frames, without: Frames) -> Hole:
    """Pixels that differ by more than 0.21 of -1..1 in a channel, grown twice by a square of 3 x 3."""
    far = (np.abs(with_text.astype(int) - without) > 0.21 * 127.5).any(axis=-1).astype(np.uint8)
    grown = [cv2.dilate(frame, np.ones((3, 3), np.uint8), iterations=2) for frame in far]
    return np.stack(grown).astype(bool)


def by_blur(with_text: Frames, without: Frames) -> Hole:
    """Pixels where the mean difference of the channels, averaged over 5 x 5, is more than 0.05 of -1..1."""
    mean = np.abs(with_text.astype(np.float32) - without).mean(axis=-1)
    return np.stack([cv2.blur(frame, (5, 5)) for frame in mean]) > 0.05 * 127.5


RULES = {"patches": by_patch, "difference": by_difference, "blur": by_blur}
