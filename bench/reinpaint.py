"""Does D tell natural pictures from blended ones, with second methods that need no weights, and how long does it take?

python bench/reinpaint.py [--quick]

The accuracy part needs the real photographs of INPAINTBENCH_TEST_ASSETS and says so where they are not there. F2, patch size,
ratio and sub-metric are chosen on one half of the photographs; the other half is reported.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import numpy as np
from skimage import data

from inpaintbench import video
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols.base import SSIM_VARIANTS, mean_of_decibels
from inpaintbench.masks.generators.brush_box import BrushBox
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView
from inpaintbench.wings.reinpaint import engine
from inpaintbench.wings.reinpaint.setting import Patches, patch_mask, second_hole

METRICS = {"psnr": mean_of_decibels("count"), "ssim": SSIM_VARIANTS["uniform_7"]}
HIGHER = {"psnr": True, "ssim": True}
BINS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6))
SECONDS = ("telea", "navier_stokes", "biharmonic", "exemplar")
SLOW, FEW = ("biharmonic", "exemplar"), ((8, 0.2), (16, 0.4))
"""Second methods that are tried with few settings (side of a patch, ratio)."""
WORKERS = 2


class Trial(NamedTuple):
    """One way to inpaint again."""

    second: str
    patch_pixels: int
    ratio: float


def photographs(side: int) -> list[Frames]:
    """Every real photograph of the assets that is large enough, no mask and no copy of another, as a square."""
    folder = Path(os.environ["INPAINTBENCH_TEST_ASSETS"]) / "photos"
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in (".png", ".jpg") and _is_photograph(path)]
    found: list[Frames] = []
    thumbnails: list[np.ndarray] = []
    for path in paths:
        picture = video.read_image(path)
        small = square(picture, 16).mean(axis=3).ravel()
        if min(picture.shape[:2]) >= 256 and all(np.corrcoef(small, other)[0, 1] < 0.9 for other in thumbnails):
            found.append(square(picture, side))
            thumbnails.append(small)
    return found


def _is_photograph(path: Path) -> bool:
    words = str(path).lower()
    return not any(word in words for word in ("mask", "result", "_out", "output", "edge", "comodgan"))


def square(picture: np.ndarray, side: int) -> Frames:
    height, width = picture.shape[:2]
    cut = min(height, width)
    top, left = (height - cut) // 2, (width - cut) // 2
    middle = picture[top : top + cut, left : left + cut]
    return np.ascontiguousarray(cv2.resize(middle, (side, side), interpolation=cv2.INTER_AREA)[None])


def first_hole(side: int, area: tuple[float, float], seed: int) -> Hole:
    view = ItemView.of_arrays(input=np.zeros((1, side, side, 3), np.uint8))
    preset = "medium-256" if side < 400 else "medium-512"
    drawn = BrushBox(preset=preset, area=list(area)).generate(view, np.random.default_rng(seed))
    assert drawn.hole is not None
    return drawn.hole


def pair(index: int, trial: Trial, *, pictures: Sequence[Frames], masks: int) -> list[tuple[int, dict[str, tuple[float, float]]]]:
    """(bin, sub-metric -> D of the natural picture and of the blended one) of one photograph."""
    cv2.setNumThreads(1)
    truth, side, found = pictures[index], pictures[index].shape[1], []
    other = pictures[(index + 1 + index % 5) % len(pictures)]
    patches = Patches(ratio=trial.ratio, size_pixels=trial.patch_pixels)
    leaf = METHODS.get(trial.second)()
    for number, area in enumerate(BINS):
        hole = first_hole(side, area, seed=31 * index + number)
        drawn = [
            patch_mask(patches, item_id=f"{index}.{number}", number=k, frames=1, height=side, width=side) for k in range(masks)
        ]
        holes = [second_hole(one, hole) for one in drawn]
        firsts = (truth, engine.blend(truth, hole, other))
        values: list[dict[str, float]] = []
        for first in firsts:
            again = [engine.inpaint_again(leaf, first, one, fill=0, composited=True) for one in holes]
            means = {name: engine.mean_over_masks(one) for name, one in engine.distances(first, again, metrics=METRICS).items()}
            values.append({name: float(one.value or 0.0) for name, one in means.items()})
        found.append((number, {name: (values[0][name], values[1][name]) for name in METRICS}))
    return found


def separated(found: Any, name: str, bins: Sequence[int]) -> float:
    """Share of pairs in which the natural picture is the more consistent one."""
    won = [(one > other) == HIGHER[name] and one != other for rows in found for number, of in rows if number in bins
           for one, other in [of[name]]]  # fmt: skip
    return float(np.mean(won))


def accuracy(*, quick: bool) -> None:
    side, masks = (128, 2) if quick else (192, 3)
    pictures = photographs(side)[: 12 if quick else 40]
    order = np.random.default_rng(0).permutation(len(pictures))
    choosing, reporting = sorted(order[::2]), sorted(order[1::2])
    trials = [Trial(*one) for one in product([name for name in SECONDS if name in METHODS], (8, 16, 32), (0.2, 0.4, 0.6))]
    trials = trials[:2] if quick else [one for one in trials if one.second not in SLOW or one[1:] in FEW]
    results = {}
    with ProcessPoolExecutor(WORKERS) as pool:
        for trial in trials:
            run = partial(pair, trial=trial, pictures=pictures, masks=masks)
            results[trial] = list(pool.map(run, range(len(pictures)), chunksize=1))
    print(
        f"{len(pictures)} photographs at {side}x{side}, {len(BINS)} first holes each, K {masks}, composited; chosen on "
        f"{len(choosing)}, reported on {len(reporting)}. Share of pairs in which the natural picture is the more consistent one "
        "(asked: 90 % on the other half).\n"
    )
    print("| second method | best setting on the chosen half | chosen half | other half | 0-20% | 20-40% | 40-60% |")
    print("|---|---|---|---|---|---|---|")
    for second in dict.fromkeys(trial.second for trial in trials):
        own = [(trial, name) for trial in trials if trial.second == second for name in METRICS]
        share = {one: separated([results[one[0]][i] for i in choosing], one[1], range(3)) for one in own}
        trial, name = max(share, key=lambda one: share[one])
        other = [results[trial][i] for i in reporting]
        shares = [separated(other, name, bins) for bins in (range(3), [0], [1], [2])]
        setting = f"S {trial.patch_pixels}, P {trial.ratio:.0%}, {name.upper()}"
        print(f"| {second} | {setting} | {share[trial, name]:.0%} | " + " | ".join(f"{one:.0%}" for one in shares) + " |")


def speed(*, quick: bool) -> None:
    count, masks, side = (4, 2, 256) if quick else (100, 10, 512)
    names = [name for name in SECONDS if name in METHODS]
    print(
        f"\n{count} pictures of {side}x{side}, K {masks}, P 40%, S 32, PSNR and SSIM, {WORKERS} processes (asked: 4 minutes for "
        "100 pictures of 512x512 with K 10).\n"
    )
    print("| second method | wall time | processor time / 2 | processor time of a second result |\n|---|---|---|---|")
    for name in names:
        some = count if name in ("telea", "navier_stokes") else max(WORKERS, count // 10)
        begun = time.perf_counter()
        with ProcessPoolExecutor(WORKERS) as pool:
            busy = sum(pool.map(partial(timed, second=name, side=side, masks=masks), range(some))) * count / some
        spent = (time.perf_counter() - begun) * count / some
        scaled = "" if some == count else f" (from {some})"
        print(f"| {name} | {spent:.0f} s{scaled} | {busy / WORKERS:.0f} s | {1000 * busy / (count * masks):.0f} ms |")


def timed(index: int, *, second: str, side: int, masks: int) -> float:
    """Seconds of processor time for one picture: everything that a score needs."""
    begun = time.process_time()
    cv2.setNumThreads(1)
    sources: tuple[Any, ...] = (data.astronaut, data.coffee, data.chelsea, data.rocket)
    first = np.roll(square(sources[index % len(sources)](), side), 17 * index, axis=2)
    hole = first_hole(side, BINS[index % 3], seed=index)
    leaf = METHODS.get(second)()
    drawn = [patch_mask(Patches(), item_id=str(index), number=k, frames=1, height=side, width=side) for k in range(masks)]
    again = [engine.inpaint_again(leaf, first, second_hole(one, hole), fill=0, composited=True) for one in drawn]
    engine.distances(first, again, metrics=METRICS)
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small pictures, few settings")
    quick = parser.parse_args().quick
    print("## Re-inpainting without weights\n")
    if os.environ.get("INPAINTBENCH_TEST_ASSETS"):
        accuracy(quick=quick)
    else:
        print("INPAINTBENCH_TEST_ASSETS is not set: no real photographs to tell natural from blended on.", file=sys.stdout)
    speed(quick=quick)


if __name__ == "__main__":
    main()
