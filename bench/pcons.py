"""How much faster PCons is than the loop that defines it, and whether it gives the same numbers.

python bench/pcons.py [--quick]
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
from skimage.metrics import peak_signal_noise_ratio

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.view import ItemView

HEIGHT, WIDTH, PATCH = 480, 832, 50
OFFSETS = range(-20, 20)
PAIRS_A_ROUND = 5

Picture = npt.NDArray[np.float32]


def panned_clip(*, frames: int) -> ItemView:
    """A photograph under a camera that moves 2 px a frame, with sensor noise, and a wandering ellipse with a noisy fill."""
    rng = np.random.default_rng(0)
    photograph = cv2.resize(data.rocket(), (WIDTH + 2 * frames, HEIGHT))
    clean = np.stack([photograph[:, 2 * index :][:, :WIDTH] for index in range(frames)])
    truth, prediction = (np.clip(clean + rng.normal(0, sigma, clean.shape), 0, 255).astype(np.uint8) for sigma in (2, 6))
    hole = np.zeros(truth.shape[:3], np.uint8)
    for index, frame in enumerate(hole):
        cv2.ellipse(frame, (200 + 4 * index, 220 + index), (70, 45), 2.0 * index, 0, 360, 1, cv2.FILLED)
    return ItemView.of_arrays(truth=truth, hole=hole.view(np.bool_), prediction=prediction)


def part(clip: ItemView, *, first: int, frames: int) -> ItemView:
    some = slice(first, first + frames)
    return ItemView.of_arrays(composite=clip.composite[some], hole=clip.hole[some])


def published_metric() -> Metric:
    """PCons by the definition of the paper: around the hole only."""
    metric: Metric = METRICS.get("pcons")(
        regions=("hole",), band_radius_pixels=8, **PROTOCOLS.get("devil/as-published").metrics["pcons"]
    )
    return metric


def corner(hole: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Top left of the patch around the centroid."""
    top, left = (int(np.floor(indices.mean() - PATCH // 2)) for indices in np.nonzero(hole))
    return min(max(top, 0), HEIGHT - PATCH), min(max(left, 0), WIDTH - PATCH)


def loop(frame: Picture, following: Picture, *, top: int, left: int) -> float:
    """The definition: scikit-image at every offset."""
    patch = frame[top : top + PATCH, left : left + PATCH]
    best = -np.inf
    for row in range(top + OFFSETS.start, top + OFFSETS.stop):
        for column in range(left + OFFSETS.start, left + OFFSETS.stop):
            if 0 <= row <= HEIGHT - PATCH and 0 <= column <= WIDTH - PATCH:
                candidate = following[row : row + PATCH, column : column + PATCH]
                best = max(best, peak_signal_noise_ratio(patch, candidate, data_range=1))
    return best


def one_round(clip: ItemView, metric: Metric) -> tuple[float, float, float]:
    """CPU seconds a pair of ``metric`` and of the loop, and the largest difference between their values in dB."""
    start = time.process_time()
    metric.measure(clip)
    ours = (time.process_time() - start) / (clip.frames - 1)
    pictures = clip.composite[: PAIRS_A_ROUND + 1].astype(np.float32) / np.float32(255)
    places = [corner(hole) for hole in clip.hole[:PAIRS_A_ROUND]]
    start = time.process_time()
    values = [loop(pictures[at], pictures[at + 1], top=top, left=left) for at, (top, left) in enumerate(places)]
    theirs = (time.process_time() - start) / PAIRS_A_ROUND
    pairs = [metric.measure(part(clip, first=index, frames=2))["hole"].value for index in range(PAIRS_A_ROUND)]
    return ours, theirs, float(np.abs(np.subtract(pairs, values)).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 3 if parser.parse_args().quick else 12
    cv2.setNumThreads(1)
    metric = published_metric()
    whole = panned_clip(frames=90)
    clips = [part(whole, first=index * PAIRS_A_ROUND, frames=30) for index in range(rounds)]
    metric.measure(clips[0])
    ours, theirs, differences = (np.array(column) for column in zip(*(one_round(clip, metric) for clip in clips), strict=True))
    print("## PCons\n")
    print(
        f"{WIDTH}x{HEIGHT}, one thread, CPU time, medians of {rounds} rounds; each is one `Pcons.measure` of 30 frames "
        f"(centroid, search, PSNR) and a scikit-image loop over {len(OFFSETS) ** 2:,} offsets (search alone) on "
        f"{PAIRS_A_ROUND} of the same pairs.\n"
    )
    print("| what | asked | measured |\n|---|---|---|")
    print(
        f"| speed against the loop | at least 40 times | {np.median(theirs / ours):.0f} times (least {min(theirs / ours):.0f}) |"
    )
    print(f"| one pair of frames | | {1e3 * np.median(ours):.2f} ms against {1e3 * np.median(theirs):.1f} ms |")
    print(f"| largest difference over {rounds * PAIRS_A_ROUND} pairs | 1e-6 dB | {differences.max():.1e} dB |")


if __name__ == "__main__":
    main()
