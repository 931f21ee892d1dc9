"""How much faster LPIPS of several methods is than the package frame by frame, and whether it gives the same numbers.

python bench/lpips_speed.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import lpips
import numpy as np
import torch
from skimage import data

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.metrics.lpips import Lpips
from inpaintbench.models import lpips_networks
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

HEIGHT, WIDTH, METHODS = 480, 832, 4
COMPUTE = Compute(device="cpu", random_weights=3)
HOLES = {"wandering ellipse": (110, 75), "half the frame": (330, 190)}
"""Half axes in pixels."""


def panned_clip(*, frames: int, axes: tuple[int, int]) -> tuple[Frames, Hole, list[Frames]]:
    """A photograph under a camera that moves 2 px a frame, an ellipse that wanders in it, and fills with noise."""
    rng = np.random.default_rng(0)
    photograph = cv2.resize(data.rocket(), (WIDTH + 2 * frames, HEIGHT))
    truth = np.stack([photograph[:, 2 * index :][:, :WIDTH] for index in range(frames)])
    hole = np.zeros(truth.shape[:3], np.uint8)
    for index, frame in enumerate(hole):
        cv2.ellipse(frame, (400 + 4 * index, 230 + index), axes, 2.0 * index, 0, 360, 1, cv2.FILLED)
    fills = [np.clip(truth + rng.normal(0, 6 + 4 * method, truth.shape), 0, 255).astype(np.uint8) for method in range(METHODS)]
    return truth, hole.view(np.bool_), fills


def package(net: str) -> Any:
    """The package's network with the parameters of ours."""
    ours = lpips_networks.lpips(net, COMPUTE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the names by which it asks torchvision for a trunk
        theirs = lpips.LPIPS(net=net, pretrained=False, pnet_rand=True, verbose=False)
    trunk = ours.trunk.state_dict()
    theirs.net.load_state_dict({name: trunk[name.split(".", 1)[1]] for name in theirs.net.state_dict()})
    for head, line in zip(ours.heads, theirs.lins, strict=True):
        line.model[-1].weight.data = head.data.reshape(1, -1, 1, 1)
    return theirs


def tensor(frame: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(frame.transpose(2, 0, 1).copy())[None].float() / 255 * 2 - 1


def one_round(net: str, theirs: Any, *, frames: int, axes: tuple[int, int]) -> tuple[float, float, float]:
    """CPU seconds of a frame and method by ours and by the package, and the largest relative difference of their values."""
    truth, hole, fills = panned_clip(frames=frames, axes=axes)
    shared = Shared(compute=COMPUTE)
    views = [ItemView.of_arrays(truth=truth, hole=hole, prediction=fill, shared=shared) for fill in fills]
    composites = [view.composite for view in views]
    metric = Lpips(regions=("frame", "hole", "band"), band_radius_pixels=8, net=net, version="0.1")
    start = time.process_time()
    found = metric.measure_together(views)
    ours = time.process_time() - start
    start = time.process_time()
    values = [
        np.mean([theirs(tensor(one), tensor(other)).item() for one, other in zip(composite, truth, strict=True)])
        for composite in composites
    ]
    loop = time.process_time() - start
    worst = max(abs(one["frame"].value / value - 1) for one, value in zip(found, values, strict=True))
    return ours / (frames * METHODS), loop / (frames * METHODS), float(worst)


def of_bf16(net: str, *, frames: int, axes: tuple[int, int]) -> tuple[float, float]:
    """CPU time in bfloat16, as a multiple of that in float32, and the largest relative difference of the values."""
    truth, hole, fills = panned_clip(frames=frames, axes=axes)
    metric = Lpips(regions=("frame", "hole", "band"), band_radius_pixels=8, net=net, version="0.1")
    seconds, values = [], []
    for compute in (COMPUTE, replace(COMPUTE, precision="bf16")):
        shared = Shared(compute=compute)
        views = [ItemView.of_arrays(truth=truth, hole=hole, prediction=fill, shared=shared) for fill in fills]
        for view in views:
            view.composite  # noqa: B018 - made before the clock starts
        start = time.process_time()
        found = metric.measure_together(views)
        seconds.append(time.process_time() - start)
        values.append(np.array([one[region].value for one in found for region in metric.regions]))
    return seconds[1] / seconds[0], float(np.max(np.abs(values[1] / values[0] - 1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="AlexNet alone, fewer frames")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    print("## LPIPS\n")
    print(
        f"{WIDTH}x{HEIGHT}, {METHODS} methods, one thread, CPU time, seeded random weights. The package: both pictures of each "
        "method and frame, one at a time, gradients on, the frame alone. Ours: `Lpips.measure_together`, frame, hole and band.\n"
    )
    print("| network | hole | faster | a frame and method | largest relative difference (asked 1e-4) |\n|---|---|---|---|---|")
    for net, frames in (("alex", 4 if quick else 12), *(() if quick else (("squeeze", 6), ("vgg", 1)))):
        theirs = package(net)
        one_round(net, theirs, frames=1, axes=(20, 20))  # warms up
        for name, axes in HOLES.items():
            ours, loop, worst = one_round(net, theirs, frames=frames, axes=axes)
            share = np.pi * axes[0] * axes[1] / (HEIGHT * WIDTH)
            print(
                f"| {net} | {name} ({share:.0%}) | {loop / ours:.1f} times | {1e3 * ours:.1f} ms against {1e3 * loop:.1f} ms "
                f"| {worst:.0e} |"
            )
    flags = Path("/proc/cpuinfo").read_text() if sys.platform == "linux" else ""
    units = [name for name in ("amx_bf16", "avx512_bf16") if name in flags]
    print(f"\nIn bfloat16, on a processor with {' and '.join(units) or 'neither AMX nor AVX-512 for it'}:\n")
    print("| network | hole | times the CPU time of float32 | largest relative difference |\n|---|---|---|---|")
    for net, frames in (("alex", 4), *(() if quick else (("squeeze", 4), ("vgg", 1)))):
        for name, axes in HOLES.items():
            ratio, worst = of_bf16(net, frames=frames, axes=axes)
            print(f"| {net} | {name} | {ratio:.2f} | {worst:.0e} |")


if __name__ == "__main__":
    main()
