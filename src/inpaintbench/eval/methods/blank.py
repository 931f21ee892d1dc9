"""The input as it is."""

from __future__ import annotations

from inpaintbench.eval.methods.base import Method
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class Blank(Method):
    """Fills nothing: holes keep the fill value of the input, which is the floor any method has to beat."""

    name = "blank"
    version = "1"
    stateless = True
    needs = ("input",)
    reference = True

    def inpaint(self, view: ItemView) -> Frames:
        """A copy of the input, ``uint8[T, H, W, 3]``."""
        return view.input.copy()
