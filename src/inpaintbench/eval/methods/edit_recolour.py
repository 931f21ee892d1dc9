"""An edit without a network: the object in another colour."""

from __future__ import annotations

import re

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.eval.methods.edit_style import share
from inpaintbench.ranges import Amount
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# RGB.
COLOURS = {
    "red": (220, 30, 30), "orange": (240, 130, 20), "yellow": (235, 215, 30), "green": (40, 170, 60), "blue": (40, 80, 220),
    "purple": (130, 50, 180), "pink": (240, 120, 180), "brown": (125, 75, 35), "white": (245, 245, 245), "black": (20, 20, 20),
    "grey": (128, 128, 128),
}  # fmt: skip
DEFAULT = "blue"


class EditRecolour(Method):
    """Tints the object, or the whole frame where no mask is given, with the first colour that the target prompt names.

    Light and dark stay: the colour is taken in proportion to the grey level. Nothing outside the mask changes, so the semantic
    score of an item with a mask is 0 at any strength.

    Args:
        strength: 0 leaves everything as it is, 1 is all tint.

    Raises:
        InputError: a strength that is not in 0..1.
    """

    name = "edit_recolour"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole", "object_mask", "prompts")

    def __init__(self, *, strength: Amount = 0.7) -> None:
        self.strength = share("strength", strength)

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        words = re.findall(r"[a-z]+", view.prompts.target.lower()) if view.has("prompts") else []
        name = next((word for word in words if word in COLOURS), DEFAULT)  # the first colour that is named
        colour = np.array(COLOURS[name], np.float32)
        frames = np.stack([self._tinted(frame, colour) for frame in view.input])
        if view.has("object_mask"):
            frames = np.where(view.object_mask[..., None], frames, view.input)
        return where_judged(view, frames)

    def _tinted(self, frame: Frames, colour: npt.NDArray[np.float32]) -> Frames:
        grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY).astype(np.float32)
        tint = grey[..., None] / max(float(colour.mean()), 1.0) * colour
        return np.asarray(np.clip(np.rint(frame + self.strength * (tint - frame)), 0, 255), np.uint8)
