"""Proxies for tests of the rater's page: every tile carries the number of its frame as a barcode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video

BITS = 8
WIDTH, HEIGHT = 320, 180
"""Of a tile."""
LABELS = "ABCDEFGHI"


def barcode(frame: int, *, hue: int) -> npt.NDArray[np.uint8]:
    """A tile: grey below, and the number's bits as black and white bars over the upper half, twice: once in its left quarter."""
    picture = np.full((HEIGHT, WIDTH, 3), 110, np.uint8)
    picture[HEIGHT // 2 :, :] = COLOURS[hue % len(COLOURS)]
    bits = [(frame >> bit) & 1 for bit in range(BITS)]
    for number, bit in enumerate(bits):
        width = WIDTH // 2 // BITS
        picture[: HEIGHT // 2, number * width : (number + 1) * width] = 235 * bit + 10
    return picture


COLOURS = [
    (200, 60, 50),
    (50, 90, 200),
    (60, 160, 70),
    (200, 170, 40),
    (150, 70, 170),
    (60, 170, 170),
    (90, 90, 90),
    (220, 120, 60),
]


def outline(frame: int) -> npt.NDArray[np.uint8]:
    """White lines on black: a rectangle."""
    picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    picture[100:150, 100:220] = 255
    picture[104:146, 104:216] = 0
    return picture


def halves() -> npt.NDArray[np.uint8]:
    """Left white, right black."""
    picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    picture[:, : WIDTH // 2] = 255
    return picture


def write_proxy(path: Path, *, players: int, frames: int, fps: float, plain: bool = False) -> dict[str, Any]:
    """Write a proxy of ``players`` tiles and an outline; returns ``media``, ``tiles`` and ``outline`` of a card."""
    columns = 2 if players > 1 else 1
    rows = -(-(players + 1) // columns)
    whole = np.zeros((frames, rows * HEIGHT, columns * WIDTH, 3), np.uint8)
    places = [
        {"x": n % columns * WIDTH, "y": n // columns * HEIGHT, "width": WIDTH, "height": HEIGHT} for n in range(players + 1)
    ]
    for number in range(frames):
        for hue, place in enumerate(places):
            picture = outline(number) if hue == players else halves() if plain else barcode(number, hue=hue)
            whole[number, place["y"] : place["y"] + HEIGHT, place["x"] : place["x"] + WIDTH] = picture
    if path.suffix == ".png":
        video.write_image(path, whole[0])
    else:
        video.write_browser(path, whole, fps=fps, crf=12)
    kind = "image" if path.suffix == ".png" else "video"
    media = {
        "url": f"/media/{path.name}",
        "kind": kind,
        "fps": fps,
        "frames": frames,
        "width": whole.shape[2],
        "height": whole.shape[1],
    }
    return {"media": media, "tiles": places[:players], "outline": places[players]}
