"""How much faster PVCS of several methods is than the form of the released code, and whether it gives the same numbers.

python bench/i3d_speed.py [--quick] [--clip]

The straightforward form runs both videos of every window and method through the whole network, one window at a time, with an
unfolded batch norm and with autograd on. Times are those of the processor, on one thread. Made-up parameters: they cost as much
as trained ones. ``--clip`` measures the memory of VFID on 90 frames instead.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import numpy as np
import torch
from skimage import data

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.passes.i3d_clip import Constants as ClipConstants
from inpaintbench.eval.passes.i3d_clip import i3d_clip
from inpaintbench.eval.passes.i3d_windows import Constants, i3d_windows
from inpaintbench.models import i3d
from inpaintbench.models.torch_networks import network
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))
import i3d_reference as reference

HEIGHT, WIDTH, METHODS, WINDOW_FRAMES = 480, 832, 4, 10
DEVIL = Constants(window_frames=WINDOW_FRAMES, stride_frames=1, input_low=0.0, input_high=1.0, batch_norm="eval")
COMPUTE = Compute(device="cpu", random_weights=3)


def clip(frames: int, compute: Compute = COMPUTE) -> list[ItemView]:
    """A photograph under a camera that moves 2 px a frame, and a drifting blob over a tenth of it, filled in several ways."""
    rng = np.random.default_rng(0)
    photograph = cv2.resize(data.rocket(), (WIDTH + 2 * frames, HEIGHT))
    clean = np.stack([photograph[:, 2 * index :][:, :WIDTH] for index in range(frames)])
    hole = np.zeros(clean.shape[:3], np.uint8)
    angles = np.linspace(0, 2 * np.pi, 90)
    radii = 112 * (1 + 0.15 * np.sin(3 * angles) + 0.1 * np.cos(5 * angles))
    for index, frame in enumerate(hole):
        outline = np.stack([330 + 2 * index + radii * np.cos(angles), 230 + index + radii * np.sin(angles)], axis=1)
        cv2.fillPoly(frame, [outline.astype(np.int32)], 1)
    shared = Shared(compute=compute)
    fills = [
        np.stack([np.clip(frame + rng.normal(0, 10 + 10 * index, frame.shape), 0, 255).astype(np.uint8) for frame in clean])
        for index in range(METHODS)
    ]
    return [ItemView.of_arrays(truth=clean, hole=hole.view(np.bool_), prediction=fill, shared=shared) for fill in fills]


def straightforward(views: list[ItemView], start: int) -> list[float]:
    """PVCS of one window for each method."""
    state = {
        name: value.requires_grad_(value.is_floating_point())
        for name, value in network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS).state_dict().items()
    }
    frames = slice(start, start + WINDOW_FRAMES)
    return [_distance(state, view.truth[frames], view.composite[frames]) for view in views]


def _distance(state: dict[str, torch.Tensor], truth: Frames, composite: Frames) -> float:
    layers = []
    for video in (truth, composite):
        found = reference.features(state, torch.from_numpy(video).permute(3, 0, 1, 2)[None].float() / 255)
        layers.append([found[name] / (found[name].norm(dim=1, keepdim=True) + 1e-10) for name in reference.LAYERS])
        del found
    return sum(float((a - b).square().sum(dim=1).mean().detach()) for a, b in zip(*layers, strict=True))


def speed(windows: int, straightforward_windows: int) -> None:
    views = clip(WINDOW_FRAMES - 1 + windows)
    for view in views:
        view.composite  # noqa: B018 - made before the clock starts
    print(f"hole: {100 * views[0].hole.mean():.1f} % of the frame; {METHODS} methods; {windows} windows of {WIDTH}x{HEIGHT}")
    i3d_windows([ItemView.of_arrays(truth=noise(), composite=255 - noise(), shared=Shared(compute=COMPUTE))], DEVIL)
    begin = time.process_time()
    ours = np.array([one.distances.sum(axis=0) for one in i3d_windows(views, DEVIL)])
    ours_seconds = (time.process_time() - begin) / windows
    halved_views = clip(WINDOW_FRAMES - 1 + windows, replace(COMPUTE, precision="bf16"))
    for view in halved_views:
        view.composite  # noqa: B018 - as above
    begin = time.process_time()
    halved = np.array([one.distances.sum(axis=0) for one in i3d_windows(halved_views, DEVIL)])
    halved_seconds = (time.process_time() - begin) / windows
    off = float(np.max(np.abs(halved - ours) / ours))
    chosen = np.linspace(0, windows - 1, straightforward_windows).round().astype(int).tolist()
    begin = time.process_time()
    expected = np.array([straightforward(views, start) for start in chosen]).T
    expected_seconds = (time.process_time() - begin) / len(chosen)
    difference = float(np.max(np.abs(ours[:, chosen] - expected) / expected))
    print("| form | processor seconds a window, all methods | times faster | largest relative difference of PVCS |")
    print("|---|---|---|---|")
    print(f"| straightforward ({len(chosen)} windows timed) | {expected_seconds:.2f} | 1 | |")
    print(f"| this package | {ours_seconds:.2f} | {expected_seconds / ours_seconds:.1f} | {difference:.1e} |")
    print(f"| this package, bfloat16 | {halved_seconds:.2f} | {expected_seconds / halved_seconds:.1f} | {off:.1e} |")


def noise() -> Frames:
    """A small clip that warms up."""
    return np.random.default_rng(0).integers(0, 256, (WINDOW_FRAMES, 64, 96, 3), dtype=np.uint8)


def memory(frames: int) -> None:
    views = clip(frames)
    truth, composites = views[0].truth, [view.composite for view in views]
    del views
    before = peak_gigabytes()
    begin = time.process_time()
    i3d_clip(truth, composites, ClipConstants(0.0, 1.0, "eval"), Shared(compute=COMPUTE))
    print("| frames | methods | processor seconds | peak before GB | peak GB |")
    print("|---|---|---|---|---|")
    print(f"| {frames} | {METHODS} | {time.process_time() - begin:.1f} | {before:.2f} | {peak_gigabytes():.2f} |")


def peak_gigabytes() -> float:
    """Of this process, all it ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clip", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.clip:
        memory(20 if options.quick else 90)
    else:
        speed(*((3, 1) if options.quick else (11, 3)))
