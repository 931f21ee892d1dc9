"""Backgrounds of prints: procedural materials by name, and photographs of the user's."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from inpaintbench import video
from inpaintbench.errors import InputError, MediaError
from inpaintbench.lazily import lazily
from inpaintbench.wings.chalearn.degradations.planes import (
    Colour,
    Plane,
    Rgb,
    blended,
    bumps,
    cells,
    clouds,
    coloured,
    coordinates,
    grain,
    levels,
    mixed,
    multiplied,
    relief,
    softened,
    streaks,
)

cv2 = lazily("cv2")

# Materials with a direction or a fine grain: paper, wood, brushed metal, fabric. Each returns ``uint8[H, W, 3]``.
#
# ``unit`` is the pixels per unit of length: the longer side of the picture over 400.

_PAPERS: tuple[tuple[Colour, Colour], ...] = (
    ((224, 222, 216), (246, 245, 241)),
    ((214, 205, 182), (240, 233, 214)),
    ((196, 199, 203), (230, 232, 235)),
    ((166, 130, 88), (205, 171, 126)),
    ((188, 168, 128), (226, 208, 170)),
    ((176, 196, 205), (214, 228, 233)),
)
_WOODS: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((176, 124, 70), (214, 168, 110), (232, 194, 140)),
    ((132, 88, 48), (172, 124, 76), (198, 152, 102)),
    ((84, 52, 32), (122, 80, 52), (150, 106, 74)),
    ((122, 116, 108), (160, 154, 145), (190, 185, 176)),
    ((128, 62, 34), (170, 92, 54), (198, 122, 78)),
)
_METALS: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((128, 131, 135), (182, 185, 188), (232, 234, 236)),
    ((96, 100, 106), (140, 144, 150), (190, 194, 200)),
    ((150, 112, 56), (198, 160, 96), (240, 214, 156)),
    ((140, 84, 58), (192, 128, 96), (236, 184, 154)),
    ((170, 172, 174), (208, 209, 210), (240, 240, 240)),
)
_RUST: tuple[Colour, ...] = ((74, 42, 28), (140, 76, 36), (196, 132, 74))
# (warp, weft).
_YARNS: tuple[tuple[Colour, Colour], ...] = (
    ((206, 198, 180), (188, 178, 156)),
    ((72, 92, 132), (176, 186, 202)),
    ((150, 60, 56), (172, 86, 78)),
    ((126, 132, 110), (150, 154, 130)),
    ((188, 152, 92), (166, 130, 76)),
    ((176, 176, 178), (132, 134, 138)),
)


def paper(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    """Draw a sheet of paper: fibres and stains, and on most sheets crumples or folds."""
    size = (height, width)
    tooth = softened(grain(*size, rng=rng), sigma_pixels=0.5 * unit) * np.float32(rng.uniform(0.04, 0.2))
    stains = clouds(*size, period_pixels=260 * unit, octaves=6, rng=rng, gain=rng.uniform(0.45, 0.72))
    shade = np.float32(0.65) + tooth + stains * np.float32(rng.uniform(0.05, 0.22))
    kind = rng.choice(3)
    if kind == 1:
        shade += _crumples(height, width, unit=unit, rng=rng)
    elif kind == 2:
        for _ in range(int(rng.integers(1, 4))):
            shade += _fold(height, width, unit=unit, rng=rng)
    colours = _PAPERS[int(rng.integers(len(_PAPERS)))]
    # Short fibres, lighter or darker, as grey levels to add.
    plane = np.zeros((height, width), np.float32)
    count = int(rng.integers(20, 160))
    starts, turns = rng.uniform((0, 0), (width, height), (count, 2)), rng.uniform(0, 2 * math.pi, count)
    lengths, steps = rng.uniform(3, 14, (count, 1)) * unit, np.linspace(0, 1, 6)
    bends = turns[:, None] + 1.2 * steps
    points = starts[:, None] + (steps * lengths)[..., None] * np.stack([np.cos(bends), np.sin(bends)], axis=-1)
    lines = np.array_split(np.rint(points * 8).astype(np.int32), 16)
    for group, tone in zip(lines, rng.uniform(-22, 16, len(lines)), strict=True):
        cv2.polylines(plane, list(group), False, float(tone), max(1, round(0.8 * unit)), cv2.LINE_8, 3)
    return coloured(shade, colours, lighter=softened(plane, sigma_pixels=0.5 * unit))


def _crumples(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Plane:
    """Shading of a crumpled sheet: facets of random tilts, with worn creases between them."""
    # Half the resolution is enough: light on paper is soft.
    rows, columns, unit = (height + 1) // 2, (width + 1) // 2, unit / 2
    along_it, across = coordinates(rows, columns, degrees=0)
    shade = np.zeros((rows, columns), np.float32)
    for spacing, share in ((rng.uniform(90, 150) * unit, 0.09), (rng.uniform(34, 60) * unit, 0.05)):
        numbers, far = cells(rows, columns, spacing_pixels=spacing, bend_pixels=0.07 * spacing, rng=rng)
        tilt_x, tilt_y, own = rng.standard_normal((3, 4096), dtype=np.float32)
        index, reach = numbers & 4095, np.float32(2.5 * spacing)
        slope = np.sin((along_it * tilt_x[index] + across * tilt_y[index]) / reach)
        crease = np.exp(-far / np.float32(1.3 * unit)) * own[index]
        shade += np.float32(share) * (own[index] + np.float32(0.7) * slope + np.float32(1.3) * crease)
    soft = softened(shade, sigma_pixels=0.6 * unit) * np.float32(rng.uniform(0.5, 1.1))
    return np.asarray(cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def _fold(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Plane:
    """Shading of a fold: lighter on one side, darker on the other, worn along its edge."""
    across = coordinates(height, width, degrees=float(rng.choice([0, 90])) + rng.normal(0, 3))[1]
    across = across - np.float32(rng.uniform(-0.3, 0.3) * max(height, width))
    across += bumps(height, width, period_pixels=90 * unit, rng=rng) * np.float32(0.5 * unit)
    side = np.tanh(across / np.float32(unit)) * np.exp(-np.abs(across) / np.float32(40 * unit))
    worn = np.exp(-((across / np.float32(1.2 * unit)) ** 2))
    shade = side * np.float32(rng.choice([-0.14, 0.14])) + worn * np.float32(rng.choice([-0.3, 0.3]))
    return np.asarray(shade, np.float32)


def wood(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    """Draw boards of one tree: growth rings cut lengthwise, fibres, pores, seams between boards, sometimes a knot."""
    degrees = float(rng.choice([0, 90])) + float(rng.normal(0, 2))
    along_it, across = coordinates(height, width, degrees=degrees)
    board_width = rng.uniform(70, 400) * unit
    place = (across + np.float32(rng.uniform(0, board_width))) / np.float32(board_width)
    board = np.floor(place)
    # The sine hash common in shaders: a pseudo-random shift along the trunk for every board.
    hashed = np.sin(board * np.float32(12.9898) + np.float32(rng.uniform(0, 6))) * np.float32(43758.547)
    shift = hashed - np.floor(hashed)
    depth = (along_it + shift * np.float32(900 * unit)) / np.float32(620 * unit)
    # Deviation of rings, in rings: slow along the trunk, faster across it.
    wave = np.zeros_like(along_it)
    for period, amount in ((520, 1.0), (210, 0.22), (80, 0.045)):
        phase, lean = rng.uniform(0, 2 * math.pi), rng.uniform(-1.6, 1.6)
        place_along = (along_it + across * np.float32(lean)) * np.float32(2 * math.pi / (period * unit))
        wave += np.sin(place_along + np.float32(phase)) * amount
    rings = across / np.float32(rng.uniform(9, 22) * unit) + shift * np.float32(37) + wave + np.cos(depth * 2.2) * np.float32(2.4)
    rings += _knot(along_it, across, unit=unit, rng=rng)
    early = rings - np.floor(rings)
    ring = np.minimum(early / np.float32(0.78), (1 - early) / np.float32(0.22)) ** 2  # dark late wood ends abruptly
    fibres = streaks(height, width, length_pixels=90 * unit, degrees=degrees, rng=rng)
    pores = np.maximum(streaks(height, width, length_pixels=22 * unit, degrees=degrees, rng=rng) - np.float32(1.5), 0)
    tone = clouds(height, width, period_pixels=240 * unit, octaves=2, rng=rng) * np.float32(0.07)
    shade = np.float32(0.72) - ring * np.float32(rng.uniform(0.2, 0.42)) + fibres * np.float32(0.07) - pores * np.float32(0.22)
    shade += tone + (shift - np.float32(0.5)) * np.float32(0.25)
    seam = np.abs(place - np.rint(place)) * np.float32(board_width)
    shade -= np.exp(-((seam / np.float32(1.1 * unit)) ** 2))
    dark = levels(np.float32(255) - np.float32(115) * np.exp(-((seam / np.float32(unit)) ** 2)))
    return multiplied(coloured(shade, _WOODS[int(rng.integers(len(_WOODS)))]), dark)


def _knot(along_it: Plane, across: Plane, *, unit: float, rng: np.random.Generator) -> Plane:
    """Deviation of rings around a branch, in rings; zero on half of the pieces."""
    if rng.random() < 0.5:
        return np.zeros_like(along_it)
    reach = max(along_it.max(), across.max())
    x, y = along_it - np.float32(rng.uniform(-0.6, 0.6) * reach), across - np.float32(rng.uniform(-0.6, 0.6) * reach)
    far = np.sqrt((x / 3) ** 2 + y**2) / np.float32(rng.uniform(9, 16) * unit)
    return np.float32(5) * np.exp(-far)


def brushed_metal(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    """Draw a brushed plate: fine parallel lines, bands of reflected light, scratches, on some plates tarnish."""
    degrees = float(rng.choice([0, 90, rng.uniform(0, 180)]))
    brushing = streaks(height, width, length_pixels=260 * unit, degrees=degrees, rng=rng) * np.float32(rng.uniform(0.06, 0.14))
    brushing += streaks(height, width, length_pixels=40 * unit, degrees=degrees, rng=rng) * np.float32(0.03)
    along_it, across = coordinates(height, width, degrees=degrees)
    span = np.float32(max(height, width) * rng.uniform(0.5, 1.2))
    turn, lean = np.float32(rng.uniform(0, 2 * math.pi)), np.float32(rng.uniform(-0.4, 0.4))
    place = (along_it + across * lean) / span
    glint = np.cos(place * np.float32(2 * math.pi) + turn) + np.float32(0.4) * np.cos(place * np.float32(11) + turn)
    shade = np.float32(0.5) + brushing + glint * np.float32(rng.uniform(0.08, 0.25))
    plane = np.zeros((height, width), np.float32)
    for _ in range(int(rng.integers(0, 14))):
        start = rng.uniform((0, 0), (width, height))
        end = start + rng.normal(0, 0.25 * max(height, width), 2)
        ends = np.rint(np.stack([start, end]) * 8).astype(np.int32)
        cv2.polylines(plane, [ends], False, float(rng.uniform(-0.2, 0.35)), max(1, round(0.8 * unit)), cv2.LINE_8, 3)
    shade += softened(plane, sigma_pixels=0.5 * unit)
    picture = coloured(shade, _METALS[int(rng.integers(len(_METALS)))])
    if rng.random() < 0.4:
        stains = clouds(height, width, period_pixels=190 * unit, octaves=6, rng=rng, gain=0.62)
        crust = clouds(height, width, period_pixels=14 * unit, octaves=3, rng=rng, gain=0.8)
        eaten = stains + crust * np.float32(0.22) - np.float32(rng.uniform(0.3, 1.2))
        rust = np.clip(eaten * np.float32(1.2), 0, np.float32(0.9))
        level = np.float32(0.2) + crust * np.float32(0.3) + rust * np.float32(0.4)
        picture = mixed(coloured(level, _RUST), picture, levels(rust * np.float32(255)))
    return picture


def fabric(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Rgb:
    """Draw woven cloth, plain or twill: round threads of uneven thickness and colour that pass over and under each other."""
    along_it, across = coordinates(height, width, degrees=rng.uniform(-12, 12))
    period = np.float32(rng.uniform(4.2, 8.0) * unit)
    sway = [clouds(height, width, period_pixels=120 * unit, octaves=1, rng=rng) * np.float32(0.4) for _ in range(2)]
    x, y = along_it / period + sway[0] + np.float32(1000), across / period + sway[1] + np.float32(1000)
    column, row = x.astype(np.int32), y.astype(np.int32)
    over = (((column + row) & (1 if rng.random() < 0.5 else 2)) == 0).astype(np.float32)
    from_warp, from_weft = (4 * (place - index - np.float32(0.5)) ** 2 for place, index in ((x, column), (y, row)))
    beside = from_weft + over * (from_warp - from_weft)
    beyond = from_warp + from_weft - beside
    round_ = np.sqrt(1 - np.float32(0.8) * beside) * (1 - np.float32(0.3) * beyond)
    tones = rng.normal(0, 0.08, (2, 256)).astype(np.float32)
    warp_tone, weft_tone = (cv2.LUT(index.astype(np.uint8), tone) for index, tone in zip((column, row), tones, strict=True))
    thread_tone = weft_tone + over * (warp_tone - weft_tone)
    fuzz = grain(height, width, rng=rng) * np.float32(0.05)
    worn = clouds(height, width, period_pixels=240 * unit, octaves=4, rng=rng) * np.float32(0.06)
    light = np.float32(0.42) + np.float32(0.66) * round_ + thread_tone + fuzz + worn
    warp, weft = _YARNS[int(rng.integers(len(_YARNS)))]
    above = over * light
    return blended([(warp, above), (weft, light - above)])


# Materials of plates or of one colour: cracks, leather, saturated colour. Each returns ``uint8[H, W, 3]``.
#
# ``unit`` is the pixels per unit of length: the longer side of the picture over 400.

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


# Longer side, pixels, that lengths of materials refer to; they grow with the picture, as in photographs.
REFERENCE_SIDE = 400
# Least pixels per unit of length; below it textures would be finer than a pixel.
LEAST_UNIT = 0.2
MATERIALS: Mapping[str, Callable[..., Rgb]] = {
    "paper": paper,
    "wood": wood,
    "brushed_metal": brushed_metal,
    "fabric": fabric,
    "cracks": cracks,
    "leather": leather,
    "saturated_colour": saturated_colour,
}


def draw_material(kind: str, height: int, width: int, *, rng: np.random.Generator) -> Rgb:
    """Draw the material ``kind``, one of ``MATERIALS``, ``uint8[height, width, 3]``; no part of it repeats."""
    return MATERIALS[kind](height, width, unit=max(max(height, width) / REFERENCE_SIDE, LEAST_UNIT), rng=rng)


def list_photographs(folder: str) -> tuple[Path, ...]:
    """List the pictures in a folder and its subfolders, sorted.

    Raises:
        InputError: no such folder, or no pictures in it.
    """
    if not Path(folder).is_dir():
        raise InputError(f"folder of backgrounds {folder!r} is not a folder: give one that holds pictures")
    pictures = (path for path in Path(folder).rglob("*") if path.is_file() and video.is_image(path))
    paths = tuple(sorted(path for path in pictures if not video.is_hidden(path.relative_to(folder))))
    if not paths:
        endings = ", ".join(video.IMAGE_SUFFIXES)
        raise InputError(f"folder of backgrounds {folder!r} holds no pictures: put some in it ({endings})")
    return paths


def check_photographs(folder: str) -> None:
    """Check that every picture in a folder of backgrounds can be read.

    Raises:
        InputError: no folder, no pictures, or one cannot be read; it is named.
    """
    for path in list_photographs(folder):
        read_photograph(path)


def read_photograph(path: Path) -> Rgb:
    """Read a picture, ``uint8[H, W, 3]``.

    Raises:
        InputError: it cannot be read; it is named.
    """
    try:
        return video.read_image(path)
    except MediaError as error:
        raise InputError(f"background {error}: remove it from its folder or replace it") from error


def fit_photograph(picture: Rgb, height: int, width: int, *, smooth: bool, rng: np.random.Generator) -> Rgb:
    """Crop the largest part of ``picture`` with the aspect ratio of ``height`` x ``width`` at a random position, and resize it.

    ``smooth`` resamples by area averaging or cubic interpolation; without it by nearest neighbour, as in the challenge.
    """
    rows, columns = picture.shape[:2]
    scale = min(rows / height, columns / width)
    down, across = (max(1, min(round(side * scale), room)) for side, room in ((height, rows), (width, columns)))
    top, left = round(float(rng.random()) * (rows - down)), round(float(rng.random()) * (columns - across))
    part = np.ascontiguousarray(picture[top : top + down, left : left + across])
    resampling = cv2.INTER_NEAREST_EXACT if not smooth else cv2.INTER_AREA if scale > 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(part, (width, height), interpolation=resampling), np.uint8)
