"""Base classes of methods, and the frame-by-frame filling that several methods end with.

A method is built with keyword-only constants. Padding to its divisor, saving and time limits belong to the step around it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Leaf
from inpaintbench.eval.adapters.exchange import Shape
from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.adapters.layouts import Task
from inpaintbench.eval.adapters.parts import Parts
from inpaintbench.eval.adapters.starting import Usage
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView, composite_in_place

cv2 = lazily("cv2")


class Method(Leaf, ABC):
    """A way to fill holes."""

    needs: tuple[str, ...]
    """Parts of the view: at most ``input``, ``hole``, ``prompts`` and ``object_mask``, never the truth."""
    uses: tuple[str, ...] = ()
    """Parts that it can do without, such as the hole where a benchmark hides it."""
    divisor: Divisor = 1
    """Multiples that the sides of the frames it is given are padded to."""
    value_range: str | None = None
    """Range of the floats that it gives, "0..1", "-1..1" or "0..255"; None where it gives bytes."""
    any_size: bool = False
    """True when it passes on what others made, whose frames may be of another size where whole frames are judged."""
    reference: bool = False
    """True when it fills nothing, a floor to see others against: shown beside the others, never ranked, averaged or tested."""
    lossy: str | None = None
    """Form in which its result is written where that loses something (see ``eval/adapters/fitting.py``), else None."""
    log: Path | None = None
    """File for what it says about the item at hand; None where nobody keeps it."""
    heading: str = ""
    """First line of that file, of methods whose code is the user's: how they fail stands in it."""
    given: Frames | None = None
    """The copy that the last call could write into, where the input itself was not handed over."""
    parts: Parts | None = None
    """Windows of the item at hand that an earlier call finished, and where those of this one are kept; None where nobody does."""
    usage: Usage | None = None
    """What the last item took, where other processes than this one did the work."""
    stateless: bool = False
    """True when it keeps nothing of an item; of methods of your own the word is tested. Others are run by processes none of which
    sees two items of one clip."""
    unwatched: bool = False
    """True where its results come from what no process here begins anew: folders, servers."""
    computes: bool = True
    """False where it passes on what was made elsewhere: its time says nothing."""

    def content(self, item_id: str) -> str:  # noqa: ARG002 - most methods are nothing but their code
        """Changes whenever the file or the program behind the prediction of an item does; else empty."""
        return ""

    def departures(self, shapes: Iterable[Shape], *, task: Task) -> list[str]:  # noqa: ARG002 - most methods take items as they are
        """Sentences on where its task in a run is not the one that it was published with: other sizes, other pixels in holes.

        Args:
            shapes: of the run's items.
            task: of the dataset.
        """
        return []

    @abstractmethod
    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]`` of the size of ``view.input``, which stays as it is; only hole pixels of the result count.

        Raises:
            NotMeasurable: there is no prediction for this item; the text says why.
        """


class EachFrame(Method):
    """Fills the holes of each frame by itself; a frame that is all hole has nothing to draw from and stays as it is."""

    stateless = True
    needs = ("input", "hole")

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; a frame that is all hole stays as it is.

        Raises:
            InputError, NotMeasurable: what ``fill`` raises.
        """
        frames, hole = view.input.copy(), view.hole
        for index in np.flatnonzero(hole.any(axis=(1, 2)) & ~hole.all(axis=(1, 2))):
            missing = np.ascontiguousarray(hole[index])
            frames[index][missing] = self.fill(np.ascontiguousarray(frames[index]), missing)[missing]
        return frames

    @abstractmethod
    def fill(self, picture: Frames, missing: npt.NDArray[np.bool_]) -> Frames:
        """One frame, ``uint8[H, W, 3]``, of which pixels ``bool[H, W]`` are missing, with these filled; it is not written to."""


class WholeFrames(Method):
    """Gives every pixel another colour; where a hole is given, what it gives there alone counts."""

    stateless = True
    needs: tuple[str, ...] = ("input",)
    uses: tuple[str, ...] = ("hole",)

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``."""
        return where_judged(view, self.changed(view))

    @abstractmethod
    def changed(self, view: ItemView) -> Frames:
        """All frames, ``uint8[T, H, W, 3]``, to be written into."""


def fill_in_place(frames: Frames, hole: Hole, *, radius_pixels: float) -> Frames:
    """Fill holes from the known pixels of the same frame, as ``telea`` does.

    Args:
        frames: ``uint8[T, H, W, 3]``, written into.
        hole: ``bool[T, H, W]``.
        radius_pixels: how far around a pixel its colour is drawn from.

    Returns:
        ``frames``; one that is all hole has nothing to draw from and stays as it is.
    """
    for index in np.flatnonzero(hole.any(axis=(1, 2)) & ~hole.all(axis=(1, 2))):
        missing = np.ascontiguousarray(hole[index]).view(np.uint8)
        frames[index] = cv2.inpaint(np.ascontiguousarray(frames[index]), missing, radius_pixels, cv2.INPAINT_TELEA)
    return frames


def where_judged(view: ItemView, frames: Frames) -> Frames:
    """``frames`` in the hole and the input elsewhere; all of them where no hole is given: whole frames are judged then.

    They are the method's own and are written into.
    """
    return composite_in_place(view.input, view.hole, frames) if view.has("hole") else frames
