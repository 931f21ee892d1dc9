"""Degradations of the 2018 denoising challenge as published, in Pillow, with Pillow's defaults of that time.

Source: "ChaLearn Looking at People: inpainting and denoising challenges" (2021), track 3, and its public kit's constants. At
strength 1 and 500 pixels per inch the numbers are the challenge's. ``as-published`` keeps its oddities: regions begin within
the width even downwards, white lines go only down and right, a brighter black stays black, resampling takes the nearest pixel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter

from inpaintbench.lazily import lazily
from inpaintbench.wings.chalearn.degradations.planes import MARGIN_PIXELS, Grey, Rgb, ellipse_box, mixed

cv2 = lazily("cv2")

MOST_LINES = 20
# Pillow's Gaussian of standard deviation s is three box filters, whose support ends before 3 s + 6 pixels.
_BOXES_REACH, _BOXES_MORE = 3.0, 6
Facts = dict[str, Any]


def draw_lines(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Draw 0 to 20 white lines, 1 to 5 pixels wide, over ``uint8[H, W]``."""
    image = Image.fromarray(picture)
    pen, (width, height) = ImageDraw.Draw(image), image.size
    count = round(strength * int(rng.integers(0, MOST_LINES, endpoint=True)))
    for _ in range(count):
        x, y = rng.uniform(0, width), rng.uniform(0, width)  # y within the width: one of the challenge's oddities
        end = x + (width - x) * rng.random(), y + (height - y) * rng.random()
        pen.line(((x, y), end), fill=255, width=max(1, int(rng.uniform(0, 6) * scale)))
    return np.array(image), {"count": count}


def blur(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Blur a region by a Gaussian of radius 0 to 3."""
    radius = strength * rng.uniform(0, 3) * scale
    original, region = _opened(picture, scale, rng)
    box = _blurred_box(region.getbbox() or (0, 0, 1, 1), region, radius)
    smooth = original.copy()
    smooth.paste(original.crop(box).filter(ImageFilter.GaussianBlur(radius)), box[:2])
    return _mixed(smooth, original, region), {"radius_pixels": radius}


def brightness(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Multiply grey levels of a region by 1 to 4, in proportion to their darkness."""
    factor = 1 + strength * rng.uniform(0, 3)
    original, region = _opened(picture, scale, rng)
    return _mixed(ImageEnhance.Brightness(original).enhance(factor), original, _dark(region, original)), {"factor": factor}


def contrast(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Divide differences from the mean grey by 1 to 5 in a region, in proportion to its darkness."""
    divisor = 1 + strength * rng.uniform(0, 4)
    original, region = _opened(picture, scale, rng)
    return _mixed(ImageEnhance.Contrast(original).enhance(1 / divisor), original, _dark(region, original)), {"divisor": divisor}


def resolution(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Reduce the resolution of a region by 1 to 4, by nearest neighbour."""
    divisor = 1 + strength * rng.uniform(0, 3)
    original, region = _opened(picture, scale, rng)
    small = original.resize(
        (max(1, int(original.width / divisor)), max(1, int(original.height / divisor))), Image.Resampling.NEAREST
    )
    return _mixed(small.resize(original.size, Image.Resampling.NEAREST), original, region), {"divisor": divisor}


def rotation(picture: Grey, *, strength: float, scale: float, rng: np.random.Generator) -> tuple[Grey, Facts]:
    """Rotate a region by up to 10 degrees about the centre of the picture, by nearest neighbour."""
    degrees = strength * rng.uniform(-10, 10)
    original, region = _opened(picture, scale, rng)
    turned = original.rotate(degrees, Image.Resampling.NEAREST, fillcolor=255)
    return _mixed(turned, original, region), {"degrees": degrees}


def composite(picture: Grey, background: Rgb) -> Rgb:
    """Composite of a print and a background, ``uint8[H, W, 3]``: white shows the background, black hides it, grey stays grey."""
    grey = np.asarray(cv2.merge([picture, picture, picture]), np.uint8)
    return mixed(background, grey, picture)


Effect = Callable[..., tuple[Grey, Facts]]
# Applied once each, in random order, each in its own region.
EFFECTS: Mapping[str, Effect] = {
    "blur": blur,
    "brightness": brightness,
    "contrast": contrast,
    "resolution": resolution,
    "rotation": rotation,
}


def published_ellipse(height: int, width: int, *, scale: float, rng: np.random.Generator) -> Image.Image:
    """Draw a white ellipse on black with a blurred rim, as in the 2018 challenge: its top is limited by the *width*.

    So on an upright picture no ellipse begins in the lowest part. A box that is upside down, as on pictures far wider than high,
    is flipped.
    """
    left, top, right, bottom = ellipse_box(height, width, top_below=width, scale=scale, rng=rng)
    mask = Image.new("L", (width, height), 0)
    ImageDraw.Draw(mask).ellipse((min(left, right), min(top, bottom), max(left, right), max(top, bottom)), fill=255)
    # Pillow's Gaussian to the last bit, computed only where it can differ from 0: along rows, then columns.
    inked, sigma = mask.getbbox(), MARGIN_PIXELS * scale
    if inked is None:
        return mask
    box = _blurred_box(inked, mask, sigma)
    part = Image.new("L", (box[2] - box[0], box[3] - box[1]), 0)
    rows = mask.crop((box[0], inked[1], box[2], inked[3])).filter(ImageFilter.GaussianBlur((sigma, 0)))
    part.paste(rows, (0, inked[1] - box[1]))
    blurred = Image.new("L", mask.size, 0)
    blurred.paste(part.filter(ImageFilter.GaussianBlur((0, sigma))), box[:2])
    return blurred


def _blurred_box(inked: tuple[int, int, int, int], mask: Image.Image, sigma_pixels: float) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of what a blur of ``inked``, a part of ``mask``, can reach."""
    reach = math.ceil(_BOXES_REACH * sigma_pixels) + _BOXES_MORE
    left, top, right, bottom = inked
    return max(0, left - reach), max(0, top - reach), min(mask.width, right + reach), min(mask.height, bottom + reach)


def _opened(picture: Grey, scale: float, rng: np.random.Generator) -> tuple[Image.Image, Image.Image]:
    return Image.fromarray(picture), published_ellipse(*picture.shape, scale=scale, rng=rng)


def _mixed(changed: Image.Image, original: Image.Image, region: Image.Image) -> Grey:
    return np.array(Image.composite(changed, original, region))


def _dark(region: Image.Image, original: Image.Image) -> Image.Image:
    """Region weighted by the darkness of the picture: ridges fade, valleys stay."""
    return ImageChops.multiply(region, ImageChops.invert(original))
