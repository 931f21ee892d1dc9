"""How much better borrowing from aligned frames fills a hole than Telea, and what each method costs.

python bench/methods.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import numpy as np
import numpy.typing as npt
from skimage import data

from inpaintbench.eval.methods import METHODS
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

PHOTOGRAPHS = ("coffee", "rocket", "chelsea", "astronaut", "motorcycle", "retina")
QUICK = ("coffee", "rocket")
TIMED = ("blank", "telea", "navier_stokes", "temporal_median", "affine_propagation")
PAN_PIXELS, NOISE_SIGMA = 3, 2.0
WIDTH, HEIGHT, FRAMES = 272, 208, 60


def photograph(name: str) -> npt.NDArray[np.uint8]:
    pixels: npt.NDArray[np.uint8] = data.stereo_motorcycle()[0] if name == "motorcycle" else getattr(data, name)()
    return pixels


def pan(pixels: npt.NDArray[np.uint8], *, width: int, height: int, frames: int) -> Frames:
    """A window that moves right over the photograph, with sensor noise; the photograph is enlarged only if it is too small."""
    reach = width + PAN_PIXELS * (frames - 1)
    scale = max(1.0, reach / pixels.shape[1], height / pixels.shape[0])
    if scale > 1:
        pixels = cv2.resize(pixels, None, fx=scale + 0.002, fy=scale + 0.002, interpolation=cv2.INTER_CUBIC)
    top = (pixels.shape[0] - height) // 2
    clean = np.stack([pixels[top : top + height, PAN_PIXELS * index :][:, :width] for index in range(frames)])
    noise = np.random.default_rng(0).normal(0, NOISE_SIGMA, clean.shape)
    return np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8)


def still_hole(shape: tuple[int, int, int]) -> Hole:
    """An ellipse of 4 % of the view in the middle of every frame."""
    frame = np.zeros(shape[1:], np.uint8)
    radius = round((0.04 * frame.size / np.pi / 1.4) ** 0.5)
    cv2.ellipse(frame, (shape[2] // 2, shape[1] // 2), (round(1.4 * radius), radius), 20, 0, 360, 1, cv2.FILLED)
    return np.repeat(frame[None].astype(np.bool_), shape[0], axis=0)


def item(name: str, *, width: int, height: int, frames: int) -> ItemView:
    truth = pan(photograph(name), width=width, height=height, frames=frames)
    hole = still_hole(truth.shape[:3])
    return ItemView.of_arrays(truth=truth, hole=hole, input=np.where(hole[..., None], np.uint8(0), truth))


def hole_psnr(view: ItemView, method: str) -> float:
    found = METHODS.get(method)().inpaint(view.declaring(method, ("input", "hole")))
    difference = found[view.hole].astype(np.float64) - view.truth[view.hole]
    return float(10 * np.log10(255**2 / np.mean(difference**2)))


def cpu_seconds(view: ItemView, method: str, *, rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        METHODS.get(method)().inpaint(view)
        seconds.append(time.process_time() - start)
    return float(np.median(seconds))


def print_quality(names: tuple[str, ...]) -> None:
    for name in names:
        view = item(name, width=WIDTH, height=HEIGHT, frames=FRAMES)
        telea, ours = hole_psnr(view, "telea"), hole_psnr(view, "affine_propagation")
        figures = f"{ours - telea:.1f} dB ({telea:.1f} to {ours:.1f})"
        print(f"| `affine_propagation` above `telea` in the hole, {name} | at least 8 dB | {figures} |")


def print_costs(sizes: list[tuple[int, int, int]], *, rounds: int) -> None:
    for width, height, frames in sizes:
        view = item("coffee", width=width, height=height, frames=frames)
        METHODS.get("affine_propagation")().inpaint(ItemView.of_arrays(input=view.input[:3], hole=view.hole[:3]))
        seconds = {method: cpu_seconds(view, method, rounds=rounds) for method in TIMED}
        for method, spent in seconds.items():
            figures = f"{spent:.2f} s, {spent / seconds['telea']:.2f} times `telea`"
            print(f"| `{method}`, one clip {width}x{height}, {frames} frames | | {figures} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two photographs, the small clip")
    quick = parser.parse_args().quick
    cv2.setNumThreads(1)
    print("## Methods\n")
    print(
        f"Photographs seen through a window of {WIDTH}x{HEIGHT} that moves {PAN_PIXELS} px a frame for {FRAMES} frames, sensor "
        f"noise of {NOISE_SIGMA:g} levels, a still elliptic hole of 4 % of the view, PSNR over hole pixels (the "
        "noise alone leaves about 39 dB); costs are CPU seconds on one thread, medians, on the same pan over one photograph.\n"
    )
    print("| what | asked | measured |\n|---|---|---|")
    print_quality(QUICK if quick else PHOTOGRAPHS)
    print_costs([(416, 240, 75)] if quick else [(416, 240, 75), (832, 480, 90)], rounds=1 if quick else 3)


if __name__ == "__main__":
    main()
