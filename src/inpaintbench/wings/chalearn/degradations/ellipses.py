"""Soft elliptic regions that effects are confined to."""

from __future__ import annotations

import math

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from inpaintbench.wings.chalearn.degradations.planes import Grey

# Largest extent of an ellipse beyond the picture, its least half width, and the blur of its rim; pixels at 500 per inch.
MARGIN_PIXELS = 25.0
# The mask is computed at an eighth of the resolution, which is enough for so soft a rim.
_STEP = 8
# Pillow's Gaussian of standard deviation s is three box filters, whose support ends before 3 s + 6 pixels.
BOXES_REACH = 3.0
# (left, top, right, bottom) of the ellipse.
Box = tuple[float, float, float, float]


def published_ellipse(height: int, width: int, *, scale: float, rng: np.random.Generator) -> Image.Image:
    """Draw a white ellipse on black with a blurred rim, as in the 2018 challenge: its top is limited by the *width*.

    So on an upright picture no ellipse begins in the lowest part. A box that is upside down, as on pictures far wider than high,
    is flipped.
    """
    left, top, right, bottom = _box(height, width, top_below=width, scale=scale, rng=rng)
    mask = Image.new("L", (width, height), 0)
    ImageDraw.Draw(mask).ellipse((min(left, right), min(top, bottom), max(left, right), max(top, bottom)), fill=255)
    return _blurred(mask, MARGIN_PIXELS * scale)


def soft_ellipse(height: int, width: int, *, scale: float, rng: np.random.Generator) -> Grey:
    """Draw an ellipse with its top anywhere in the height, ``uint8[height, width]``, 255 = full effect."""
    left, top, right, bottom = _box(height, width, top_below=height, scale=scale, rng=rng)
    step = max(1.0, _STEP * min(scale, 1.0))
    rows, columns = math.ceil(height / step), math.ceil(width / step)
    y = (np.arange(rows, dtype=np.float32) + 0.5) * (height / rows)
    x = (np.arange(columns, dtype=np.float32) + 0.5) * (width / columns)
    down = ((2 * y - (top + bottom)) / (bottom - top))[:, None]
    across = ((2 * x - (left + right)) / (right - left))[None]
    # Coverage of each coarse pixel, by its distance from the ellipse: the implicit equation over its gradient.
    slope = 4 * np.sqrt((down / (bottom - top)) ** 2 + (across / (right - left)) ** 2)
    inside = np.clip(0.5 + (1 - down**2 - across**2) / np.maximum(slope * step, 1e-6), 0, 1).astype(np.float32)
    sigma = MARGIN_PIXELS * scale / step
    soft = cv2.GaussianBlur(inside, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    coarse = cv2.convertScaleAbs(soft, alpha=255)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def _blurred(mask: Image.Image, sigma_pixels: float) -> Image.Image:
    """Pillow's Gaussian of a mask, to the last bit, computed only where it can differ from 0: along rows, then columns."""
    box = mask.getbbox()
    if box is None:
        return mask
    reach = math.ceil(BOXES_REACH * sigma_pixels) + 6
    left, right = max(0, box[0] - reach), min(mask.width, box[2] + reach)
    top, bottom = max(0, box[1] - reach), min(mask.height, box[3] + reach)
    part = Image.new("L", (right - left, bottom - top), 0)
    part.paste(mask.crop((left, box[1], right, box[3])).filter(ImageFilter.GaussianBlur((sigma_pixels, 0))), (0, box[1] - top))
    blurred = Image.new("L", mask.size, 0)
    blurred.paste(part.filter(ImageFilter.GaussianBlur((0, sigma_pixels))), (left, top))
    return blurred


def _box(height: int, width: int, *, top_below: int, scale: float, rng: np.random.Generator) -> Box:
    margin = MARGIN_PIXELS * scale
    left, top = rng.uniform(0, width) - margin, rng.uniform(0, top_below) - margin
    right, bottom = _between(left + margin, width, rng) + margin, _between(top + margin, height, rng) + margin
    return left, top, right, bottom


def _between(start: float, end: float, rng: np.random.Generator) -> float:
    """Draw uniformly between two numbers, in either order."""
    return start + (end - start) * float(rng.random())
