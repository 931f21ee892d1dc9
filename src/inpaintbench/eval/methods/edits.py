"""Edits without a network: another colour or style, and two that spoil what should stay."""

from __future__ import annotations

import re

import cv2
import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import WholeFrames
from inpaintbench.ranges import Amount, Offset, Whole
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# RGB.
COLOURS = {
    "red": (220, 30, 30), "orange": (240, 130, 20), "yellow": (235, 215, 30), "green": (40, 170, 60), "blue": (40, 80, 220),
    "purple": (130, 50, 180), "pink": (240, 120, 180), "brown": (125, 75, 35), "white": (245, 245, 245), "black": (20, 20, 20),
    "grey": (128, 128, 128),
}  # fmt: skip
DEFAULT = "blue"
# Of each channel in a poster; grey levels a pixel at which a line is fully black.
_LEVELS, _EDGE = 6, 60.0


class _Drawn(WholeFrames):
    """Mixes every frame with what is drawn of it."""

    def __init__(self, *, strength: Amount = 0.7) -> None:
        if not 0 <= strength <= 1:
            raise InputError(f"strength is {strength}, choose a number from 0 (nothing changes) to 1")
        self.strength = float(strength)

    def mixed(self, frame: Frames, drawn: Frames) -> Frames:
        """``uint8[H, W, 3]``: so much of ``drawn``, ``float[H, W, 3]``, as the strength says."""
        return np.asarray(np.clip(np.rint(frame + self.strength * (drawn - frame)), 0, 255), np.uint8)


class EditRecolour(_Drawn):
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
    uses = ("hole", "object_mask", "prompts")

    def changed(self, view: ItemView) -> Frames:
        """The tinted frames."""
        asked = view.prompts.target or view.prompts.instruction or "" if view.has("prompts") else ""
        words = re.findall(r"[a-z]+", asked.lower())
        colour = np.array(COLOURS[next((word for word in words if word in COLOURS), DEFAULT)], np.float32)
        frames = np.empty_like(view.input)
        for index, frame in enumerate(view.input):
            grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY).astype(np.float32)
            frames[index] = self.mixed(frame, grey[..., None] / max(float(colour.mean()), 1.0) * colour)
        return np.where(view.object_mask[..., None], frames, view.input) if view.has("object_mask") else frames


class EditStyle(_Drawn):
    """Flat colours with dark lines at edges, like a poster; the same for every frame, background and object alike.

    Args:
        strength: 0 leaves everything as it is, 1 is all poster.

    Raises:
        InputError: a strength that is not in 0..1.
    """

    name = "edit_style"
    version = "1"

    def changed(self, view: ItemView) -> Frames:
        """The posters."""
        frames = np.empty_like(view.input)
        for index, frame in enumerate(view.input):
            smooth = cv2.GaussianBlur(frame, (0, 0), 1.5)
            poster = (np.floor(smooth * (_LEVELS / 256.0)) + 0.5) * (256.0 / _LEVELS)
            grey = cv2.cvtColor(smooth, cv2.COLOR_RGB2GRAY)
            slope = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0, scale=0.25), cv2.Sobel(grey, cv2.CV_32F, 0, 1, scale=0.25))
            frames[index] = self.mixed(frame, poster * (1 - np.clip(slope / _EDGE, 0, 1))[..., None])
        return frames


class EditShift(WholeFrames):
    """Lays a copy of the object some pixels to the right over the frame; without a mask the whole frame moves, its left column
    repeated.

    Args:
        pixels: how far, 0 or more; 0 leaves everything as it is.

    Raises:
        InputError: a distance below 0.
    """

    name = "edit_shift"
    version = "1"
    uses = ("hole", "object_mask")

    def __init__(self, *, pixels: Offset = 12) -> None:
        if pixels < 0:
            raise InputError(f"pixels is {pixels}, choose how far the object moves, 0 or more")
        self.pixels = pixels

    def changed(self, view: ItemView) -> Frames:
        """The frames with the copy."""
        source = np.maximum(np.arange(view.width) - self.pixels, 0)
        frames = view.input[:, :, source]
        if view.has("object_mask"):
            inside = view.object_mask[:, :, source] & (np.arange(view.width) >= self.pixels)
            frames = np.where(inside[..., None], frames, view.input)
        return frames


class EditFlicker(WholeFrames):
    """Brightens and darkens frames in turn: FF-alpha and FF-beta rise with the strength.

    Args:
        levels: grey levels added to even frames and taken from odd ones, 0 to 127; 0 leaves everything as it is.

    Raises:
        InputError: levels outside 0..127.
    """

    name = "edit_flicker"
    version = "1"

    def __init__(self, *, levels: Whole = 12) -> None:
        if not 0 <= levels <= 127:
            raise InputError(f"levels is {levels}, choose grey levels from 0 (nothing changes) to 127")
        self.levels = levels

    def changed(self, view: ItemView) -> Frames:
        """The brighter and darker frames."""
        signs = np.where(np.arange(view.frames) % 2 == 0, self.levels, -self.levels)
        return np.clip(view.input.astype(np.int16) + signs[:, None, None, None], 0, 255).astype(np.uint8)
