"""An edit without a network: a filter over whole frames."""

from __future__ import annotations

import cv2
import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.ranges import Amount
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# Of each channel in a poster.
_LEVELS = 6
# Grey levels a pixel at which a line is fully black.
_EDGE = 60.0


class EditStyle(Method):
    """Flat colours with dark lines at edges, like a poster; the same for every frame, background and object alike.

    Args:
        strength: 0 leaves everything as it is, 1 is all poster.

    Raises:
        InputError: a strength that is not in 0..1.
    """

    name = "edit_style"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def __init__(self, *, strength: Amount = 0.7) -> None:
        self.strength = share("strength", strength)

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        return where_judged(view, np.stack([self._styled(frame) for frame in view.input]))

    def _styled(self, frame: Frames) -> Frames:
        smooth = cv2.GaussianBlur(frame, (0, 0), 1.5)
        poster = (np.floor(smooth * (_LEVELS / 256.0)) + 0.5) * (256.0 / _LEVELS)
        grey = cv2.cvtColor(smooth, cv2.COLOR_RGB2GRAY)
        slope = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0, scale=0.25), cv2.Sobel(grey, cv2.CV_32F, 0, 1, scale=0.25))
        drawn = poster * (1 - np.clip(slope / _EDGE, 0, 1))[..., None]
        return np.asarray(np.clip(np.rint(frame + self.strength * (drawn - frame)), 0, 255), np.uint8)


def share(name: str, value: float) -> float:
    """``value``, a number in 0..1.

    Raises:
        InputError: it is not.
    """
    if not 0 <= value <= 1:
        raise InputError(f"{name} is {value}, choose a number from 0 (nothing changes) to 1")
    return float(value)
