"""Materials with a direction or a fine grain: paper, wood, brushed metal, fabric. Each returns ``uint8[H, W, 3]``.

``unit`` is the pixels per unit of length: the longer side of the picture over 400.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

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
    softened,
    streaks,
)

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
    return coloured(shade, colours, lighter=_flecks(height, width, unit=unit, rng=rng))


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


def _flecks(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Plane:
    """Short fibres, lighter or darker, as grey levels to add."""
    plane = np.zeros((height, width), np.float32)
    count = int(rng.integers(20, 160))
    starts, turns = rng.uniform((0, 0), (width, height), (count, 2)), rng.uniform(0, 2 * math.pi, count)
    lengths, steps = rng.uniform(3, 14, (count, 1)) * unit, np.linspace(0, 1, 6)
    bends = turns[:, None] + 1.2 * steps
    points = starts[:, None] + (steps * lengths)[..., None] * np.stack([np.cos(bends), np.sin(bends)], axis=-1)
    lines = np.array_split(np.rint(points * 8).astype(np.int32), 16)
    for group, tone in zip(lines, rng.uniform(-22, 16, len(lines)), strict=True):
        cv2.polylines(plane, list(group), False, float(tone), max(1, round(0.8 * unit)), cv2.LINE_8, 3)
    return softened(plane, sigma_pixels=0.5 * unit)


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
    wave = _waves(along_it, across, unit=unit, rng=rng)
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


def _waves(along_it: Plane, across: Plane, *, unit: float, rng: np.random.Generator) -> Plane:
    """Deviation of rings, in rings: slow along the trunk, faster across it."""
    stray = np.zeros_like(along_it)
    for period, amount in ((520, 1.0), (210, 0.22), (80, 0.045)):
        phase, lean = rng.uniform(0, 2 * math.pi), rng.uniform(-1.6, 1.6)
        stray += (
            np.sin((along_it + across * np.float32(lean)) * np.float32(2 * math.pi / (period * unit)) + np.float32(phase))
            * amount
        )
    return stray


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
    shade += _scratches(height, width, unit=unit, rng=rng)
    picture = coloured(shade, _METALS[int(rng.integers(len(_METALS)))])
    if rng.random() < 0.4:
        stains = clouds(height, width, period_pixels=190 * unit, octaves=6, rng=rng, gain=0.62)
        crust = clouds(height, width, period_pixels=14 * unit, octaves=3, rng=rng, gain=0.8)
        eaten = stains + crust * np.float32(0.22) - np.float32(rng.uniform(0.3, 1.2))
        rust = np.clip(eaten * np.float32(1.2), 0, np.float32(0.9))
        level = np.float32(0.2) + crust * np.float32(0.3) + rust * np.float32(0.4)
        picture = mixed(coloured(level, _RUST), picture, levels(rust * np.float32(255)))
    return picture


def _scratches(height: int, width: int, *, unit: float, rng: np.random.Generator) -> Plane:
    plane = np.zeros((height, width), np.float32)
    for _ in range(int(rng.integers(0, 14))):
        start = rng.uniform((0, 0), (width, height))
        end = start + rng.normal(0, 0.25 * max(height, width), 2)
        ends = np.rint(np.stack([start, end]) * 8).astype(np.int32)
        cv2.polylines(plane, [ends], False, float(rng.uniform(-0.2, 0.35)), max(1, round(0.8 * unit)), cv2.LINE_8, 3)
    return softened(plane, sigma_pixels=0.5 * unit)


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
