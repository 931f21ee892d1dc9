"""Draw the loop of the README, docs/pictures/loop.webp: a hole moves, a camera begins to pan, and two methods part.

The photograph is CC0 and comes with scikit-image; camera, hole, methods and PSNR are those of the program.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from inpaintbench import regions, video
from inpaintbench.curation.sources import virtual_camera
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS, Motion
from inpaintbench.eval.methods import METHODS
from inpaintbench.masks.generators.devil_blobs import DevilBlobs
from inpaintbench.pages.colours import COLOURS, PALETTE, method_styles
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

PLACE = Path(__file__).parent.parent / "docs" / "pictures" / "loop.webp"
WIDTH, HEIGHT, RATE = 400, 224, 15
STILL, MOVING = 60, 36
"""Frames before the camera moves, and while it does."""
METHODS_SHOWN = ("temporal_median", "affine_propagation")
COLOUR_OF = {name: PALETTE[COLOURS.index(style.colour)] for name, style in method_styles(METHODS_SHOWN).items()}
MARGIN, PLOT, HEAD = 16, 96, 30
GROUND, INK, SOFT, YELLOW = "#ffffff", "#16181d", "#5b6470", "#ffd400"
LOW, HIGH = 10.0, 50.0
"""Ends of the axis in dB."""


def main() -> None:
    """Film, dig the hole, fill it by both methods, draw."""
    truth, hole = film(), blob()
    given = truth.copy()
    given[hole] = 0
    view = ItemView.of_arrays(input=given, hole=hole)
    results = {}
    for name in METHODS_SHOWN:
        filled = METHODS.get(name)().inpaint(view)
        results[name] = np.where(hole[..., None], filled, truth)
    curves = {name: decibels(truth, frames, hole) for name, frames in results.items()}
    pictures = [drawn(at, results, hole, curves) for at in range(len(truth))]
    pictures[0].save(PLACE, save_all=True, append_images=pictures[1:], duration=round(1000 / RATE), loop=0, quality=72, method=6)


def film() -> Frames:
    """A photograph from a tripod, and then panned over, ``uint8[T, H, W, 3]``."""
    photograph = video.read_image(PHOTOGRAPHS["coffee"].path())
    pan = virtual_camera.transforms(
        Motion(pan=1), speed=0.36, frames=MOVING, view=(WIDTH, HEIGHT), photograph=(600, 400), focus=(290.0, 190.0), lift=0,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    path = np.concatenate([np.repeat(pan[:1], STILL, axis=0), pan])
    frames = np.stack(list(virtual_camera.capture(photograph, path, width=WIDTH, height=HEIGHT)))
    virtual_camera.add_sensor_noise(frames, sigma=1.0, rng=np.random.default_rng(1))
    return frames


def blob() -> Hole:
    """A small blob that moves far, ``bool[T, H, W]``."""
    clip = ItemView.of_arrays(undistorted=np.zeros((STILL + MOVING, HEIGHT, WIDTH, 3), np.uint8))
    hole = DevilBlobs(preset="size-low_pose-high_displacement-high").generate(clip, np.random.default_rng(4)).hole
    assert hole is not None
    return hole


def decibels(truth: Frames, frames: Frames, hole: Hole) -> list[float]:
    """PSNR in the hole of each frame, as far as the axis goes."""
    squares = ((one.astype(float) - other)[where] ** 2 for one, other, where in zip(truth, frames, hole, strict=True))
    return [float(np.clip(10 * np.log10(255**2 / max(square.mean(), 1e-9)), LOW, HIGH)) for square in squares]


def font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's own."""
    return ImageFont.load_default(size)


def drawn(at: int, results: dict[str, Frames], hole: Hole, curves: dict[str, list[float]]) -> Image.Image:
    """One frame of the loop: one method left of the divider, the other right of it, and what both came to so far."""
    left, right = METHODS_SHOWN
    # The divider swings, and stays over the hole while the camera moves.
    centre = regions.centroids(hole)[at][1] if hole[at].any() else WIDTH / 2
    divider = round(float(centre + 40 * np.sin(at / 7)))
    picture = results[right][at].copy()
    picture[:, :divider] = results[left][at][:, :divider]
    edge = regions.dilate(hole[at : at + 1], radius=2)[0] & ~hole[at]
    picture[edge] = (255, 212, 0)
    picture[:, max(divider - 1, 0) : divider + 1] = 255
    sheet = Image.new("RGB", (WIDTH + 2 * MARGIN, HEAD + HEIGHT + PLOT + MARGIN), GROUND)
    sheet.paste(Image.fromarray(picture), (MARGIN, HEAD))
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, 9), left, fill=COLOUR_OF[left], font=font(14))
    pen.text((MARGIN + WIDTH, 9), right, fill=COLOUR_OF[right], font=font(14), anchor="ra")
    words = "camera on a tripod" if at < STILL else "camera pans"
    pen.text((MARGIN + WIDTH / 2, 9), words, fill=INK if at >= STILL else SOFT, font=font(14), anchor="ma")
    plot(pen, at, curves, top=HEAD + HEIGHT + 14)
    return sheet


def plot(pen: ImageDraw.ImageDraw, at: int, curves: dict[str, list[float]], *, top: int) -> None:
    """PSNR in the hole up to this frame."""
    bottom = top + PLOT - 26
    start, frames = MARGIN + 34, STILL + MOVING

    def place(frame: int, value: float) -> tuple[float, float]:
        across = start + (WIDTH - 34) * frame / (frames - 1)
        return across, bottom - (bottom - top) * (value - LOW) / (HIGH - LOW)

    for value in (LOW, 30.0, HIGH):
        pen.line([place(0, value), place(frames - 1, value)], fill="#e3e7ec")
        pen.text((start - 6, place(0, value)[1]), f"{value:g}", fill=SOFT, font=font(11), anchor="rm")
    pen.text((start, bottom + 5), "PSNR in the hole, dB", fill=SOFT, font=font(11))
    pen.line([place(STILL, LOW), place(STILL, HIGH)], fill=SOFT)
    for name, values in curves.items():
        points = [place(frame, value) for frame, value in enumerate(values[: at + 1])]
        if len(points) > 1:
            pen.line(points, fill=COLOUR_OF[name], width=2, joint="curve")
        pen.ellipse([points[-1][0] - 3, points[-1][1] - 3, points[-1][0] + 3, points[-1][1] + 3], fill=COLOUR_OF[name])


if __name__ == "__main__":
    main()
