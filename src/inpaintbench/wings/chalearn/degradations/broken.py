"""Materials of plates or of one colour: cracks, leather, saturated colour. Each returns ``uint8[H, W, 3]``.

``unit`` is the pixels per unit of length: the longer side of the picture over 400.
"""

from __future__ import annotations

import colorsys

import cv2
import numpy as np

from inpaintbench.wings.chalearn.degradations.planes import (
    Colour,
    Plane,
    Rgb,
    blended,
    cells,
    clouds,
    coloured,
    grain,
    relief,
    softened,
)

# (gap, plate in the shade, plate in the light).
_GROUNDS: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((92, 84, 66), (206, 203, 198), (246, 245, 244)),
    ((84, 58, 36), (170, 130, 92), (206, 170, 128)),
    ((62, 64, 66), (160, 160, 158), (206, 206, 202)),
    ((70, 62, 52), (190, 182, 160), (226, 220, 202)),
    ((86, 60, 48), (128, 158, 160), (178, 200, 196)),
)
# (surface, crack).
_GLAZES: tuple[tuple[Colour, Colour], ...] = (
    ((168, 168, 168), (255, 255, 255)),
    ((148, 158, 170), (244, 248, 252)),
    ((196, 180, 148), (250, 246, 232)),
    ((214, 212, 206), (112, 104, 96)),
    ((182, 194, 182), (246, 250, 244)),
)
# Least luma of a saturated colour, 0..255, so that ink can be seen on it: a little less than that of pure red.
_LEAST_LUMA = 68.0
_HIDES: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((74, 42, 22), (142, 90, 50), (192, 138, 88)),
    ((60, 50, 44), (110, 95, 85), (160, 144, 132)),
    ((98, 26, 22), (152, 52, 44), (200, 104, 92)),
    ((126, 88, 50), (188, 146, 94), (224, 190, 142)),
    ((54, 62, 76), (100, 112, 128), (150, 162, 176)),
    ((118, 112, 104), (180, 174, 164), (222, 218, 210)),
)


def cracks(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    """Draw plates with dark gaps, as of dry ground or peeling paint, or a web of fine cracks in a smooth surface."""
    return (_plates if rng.random() < 0.55 else _web)(height, width, unit=unit, rng=rng)


def _plates(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    spacing = rng.uniform(20, 52) * unit
    numbers, far = cells(height, width, spacing_pixels=spacing, bend_pixels=0.34 * spacing, rng=rng)
    rough = clouds(height, width, period_pixels=16 * unit, octaves=4, rng=rng, gain=0.75)
    gap = np.float32(rng.uniform(0.6, 1.8) * unit) * (
        1 + np.float32(0.4) * clouds(height, width, period_pixels=80 * unit, octaves=2, rng=rng)
    )
    raised = softened(np.minimum(far - gap, np.float32(5 * unit)) + rough * np.float32(0.8 * unit), sigma_pixels=0.7 * unit)
    lit = relief(raised, light_degrees=rng.uniform(200, 290)) / np.float32(unit)
    tones = rng.normal(0, 0.12, 4096).astype(np.float32)[numbers & 4095]
    plate = np.float32(0.78) + tones + lit * np.float32(0.24) + rough * np.float32(0.06)
    inside = softened(np.clip(far - gap + np.float32(0.5), 0, 1), sigma_pixels=0.5 * unit)
    return coloured(np.clip(plate, 0.42, 1) * inside + np.float32(0.1) * (1 - inside), _GROUNDS[int(rng.integers(len(_GROUNDS)))])


def _web(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    size = (height, width)
    spread = clouds(*size, period_pixels=150 * unit, octaves=3, rng=rng)
    crack = np.zeros(size, np.float32)
    for spacing, least, most in (
        (rng.uniform(80, 150), 0.5, 4.2),
        (rng.uniform(26, 44), -0.6, 1.5),
        (rng.uniform(9, 14), -1.6, 1.0),
    ):
        # Fine branches concentrate where the noise is high and end elsewhere.
        half_width = np.clip(np.float32(least) + spread * np.float32(0.8), 0, most) * np.float32(0.75 * unit)
        left, top, across, down = cv2.boundingRect((half_width > 0).view(np.uint8))
        if across == 0:
            continue
        part = (slice(top, top + down), slice(left, left + across))
        far = cells(down, across, spacing_pixels=spacing * unit, bend_pixels=0.3 * spacing * unit, rng=rng)[1]
        lines = np.clip(half_width[part] + np.float32(0.5) - far, 0, 1) * (half_width[part] > 0)
        np.maximum(crack[part], lines, out=crack[part])
    powder = clouds(*size, period_pixels=40 * unit, octaves=4, rng=rng, gain=0.8)
    chipped = np.clip((powder - np.float32(2.1)) * np.float32(2), 0, 1) * np.float32(0.8)
    crack = np.maximum(softened(crack, sigma_pixels=0.5 * unit) * np.float32(rng.uniform(0.7, 1)), chipped)
    surface, colour = _GLAZES[int(rng.integers(len(_GLAZES)))]
    tone = (
        1
        + clouds(*size, period_pixels=260 * unit, octaves=4, rng=rng) * np.float32(0.035)
        + grain(*size, rng=rng) * np.float32(0.01)
    )
    return blended([(surface, tone * (1 - crack)), (colour, crack)])


def leather(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    """Draw hide: small domed pebbles between creases, wrinkles, darker towards the edges."""
    size = (height, width)
    spacing = rng.uniform(7, 13) * unit
    _, far = cells(*size, spacing_pixels=spacing, bend_pixels=0.25 * spacing, rng=rng)
    dome = softened(np.sqrt(np.minimum(far / np.float32(0.36 * spacing), 1)), sigma_pixels=0.7 * unit) * np.float32(2.2 * unit)
    folds = clouds(*size, period_pixels=120 * unit, octaves=3, rng=rng)
    wrinkle = np.exp(-np.abs(folds) * np.float32(9)) * np.float32(-1.6 * unit)
    surface = dome + softened(wrinkle, sigma_pixels=unit) + grain(*size, rng=rng) * np.float32(0.12 * unit)
    lit = relief(surface, light_degrees=rng.uniform(200, 290)) / np.float32(unit)
    dye = clouds(*size, period_pixels=200 * unit, octaves=5, rng=rng) * np.float32(0.1)
    depth = (dome - np.float32(1.6 * unit)) / np.float32(unit)
    shade = (
        np.float32(0.55)
        + lit * np.float32(0.42)
        + depth * np.float32(0.13)
        + dye
        - _corners(*size) * np.float32(rng.uniform(0, 0.4))
    )
    return coloured(shade, _HIDES[int(rng.integers(len(_HIDES)))])


def saturated_colour(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    """Draw one saturated colour, as painted or dyed: fine grain, specks of another colour, slowly varying light."""
    size = (height, width)
    hue, saturation, value = rng.random(), rng.uniform(0.75, 1), rng.uniform(0.72, 1)
    base, speck = _rgb(hue, saturation, value), _rgb(hue + rng.normal(0, 0.06), 0.7 * saturation, min(1.0, value + 0.1))
    slow = clouds(*size, period_pixels=300 * unit, octaves=3, rng=rng) * np.float32(rng.uniform(0.01, 0.06))
    fine = softened(grain(*size, rng=rng), sigma_pixels=0.5 * unit) * np.float32(rng.uniform(0.01, 0.16))
    light = 1 + slow + fine - _corners(*size) * np.float32(rng.uniform(0, 0.25))
    specks = clouds(*size, period_pixels=rng.uniform(3, 9) * unit, octaves=2, rng=rng) + slow * np.float32(8)
    share = np.clip((specks - np.float32(rng.uniform(1.6, 3))) * np.float32(1.4), 0, np.float32(0.7)) * light
    return blended([(base, light - share), (speck, share)])


def _rgb(hue: float, saturation: float, value: float) -> Colour:
    """Colour of that hue, mixed with white up to ``_LEAST_LUMA`` (pure blue is almost black)."""
    red, green, blue = (255 * channel for channel in colorsys.hsv_to_rgb(hue % 1, saturation, value))
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    share = max(0.0, (_LEAST_LUMA - luma) / (255 - luma))
    return (red + (255 - red) * share, green + (255 - green) * share, blue + (255 - blue) * share)


def _corners(height: int, width: int) -> Plane:
    """Vignette: 0 in the centre to about 1 in the corners."""
    x, y = (np.linspace(-1, 1, length, dtype=np.float32) ** 2 for length in (width, height))
    return np.asarray((x[None] + y[:, None]) / 2, np.float32)
