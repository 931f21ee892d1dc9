"""How much faster EditBoard's three metrics of fidelity are than loops over pixels and than whole arrays edit by edit.

python bench/editboard_speed.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from skimage import data

from inpaintbench.compute import Shared
from inpaintbench.eval.metrics.edits import FfAlpha, FfBeta, SemanticScore
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

SIDE, EDITS, CROP = 512, 4, 128
FRAME: dict[str, Any] = {"regions": ("frame",), "band_radius_pixels": 8}
SOURCE = {"flow": "farneback", "mask": "luma_at_most", "mask_level": 5, "least_valid_share": 0.0}
METRICS = {
    "ff_alpha": FfAlpha(**FRAME, **SOURCE, empty="no_value"),
    "ff_beta": FfBeta(**FRAME, **SOURCE, least_motion_pixels=0.0),
    "semantic_score": SemanticScore(**FRAME, empty="no_value"),
}
Measure = Callable[[Frames, Frames, Hole], float]
Found = dict[str, list[float]]
"""Metric -> the value of each edit."""


def clip(*, frames: int, side: int) -> tuple[Frames, Hole, list[Frames]]:
    """A photograph under a camera that moves 2 px a frame, the mask of an object, and edits in other colours that flicker."""
    rng = np.random.default_rng(0)
    photograph = cv2.resize(data.astronaut(), (side + 2 * frames, side), interpolation=cv2.INTER_AREA)
    truth = np.stack([photograph[:, 2 * index :][:, :side] for index in range(frames)])
    mask = np.zeros((frames, side, side), np.uint8)
    for index, frame in enumerate(mask):
        cv2.ellipse(frame, (side // 2 - 2 * index, side // 2), (side // 4, side // 3), 0, 0, 360, 1, cv2.FILLED)
    edits = []
    for number in range(EDITS):
        tint = rng.uniform(0.6, 1.0, 3)
        noise = [cv2.resize(rng.normal(0, 5 + 5 * number, (side // 8, side // 8, 3)), (side, side)) for _ in truth]
        edits.append(np.clip(truth * tint + np.stack(noise), 0, 255).astype(np.uint8))
    return truth, mask.view(np.bool_), edits


def flow_of(frames: Frames, index: int) -> npt.NDArray[Any]:
    one, other = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in frames[index : index + 2])
    return cv2.calcOpticalFlowFarneback(one, other, None, 0.5, 3, 15, 3, 5, 1.2, 0)


def moved(frame: npt.NDArray[Any], flow: npt.NDArray[Any]) -> npt.NDArray[Any]:
    columns, rows = np.meshgrid(np.arange(flow.shape[1]), np.arange(flow.shape[0]))
    places = (np.stack([columns, rows], axis=-1) - flow).astype(np.float32)
    return cv2.remap(frame, places, None, cv2.INTER_LINEAR)


# Whole arrays, each metric of each edit from the frames


def array_alpha(truth: Frames, edit: Frames, _: Hole) -> float:
    values = []
    for index in range(len(truth) - 1):
        flow = flow_of(truth, index)
        residual = cv2.absdiff(truth[index + 1], moved(truth[index], flow))
        valid = cv2.cvtColor(residual, cv2.COLOR_RGB2GRAY) <= 5
        change = cv2.absdiff(edit[index + 1], moved(edit[index], flow)).max(axis=-1)
        values.append(change[valid].mean())
    return float(np.mean(values))


def array_beta(truth: Frames, edit: Frames, _: Hole) -> float:
    values = []
    for index in range(len(truth) - 1):
        one, other = flow_of(truth, index), flow_of(edit, index)
        lengths = (np.linalg.norm(one, axis=-1) + 1e-7) * (np.linalg.norm(other, axis=-1) + 1e-7)
        values.append((1 - (one * other).sum(axis=-1) / lengths).mean())
    return float(np.mean(values))


def array_semantic(truth: Frames, edit: Frames, mask: Hole) -> float:
    pairs = zip(edit, truth, mask, strict=True)
    return float(np.mean([cv2.absdiff(one, other).max(axis=-1)[~inside].mean() for one, other, inside in pairs]))


# Loops over pixels, as in the released code


def loop_alpha(truth: Frames, edit: Frames, _: Hole) -> float:
    values = []
    for index in range(len(truth) - 1):
        flow = flow_of(truth, index)
        source, ours = moved(truth[index], flow), moved(edit[index], flow)
        grey = cv2.cvtColor(cv2.absdiff(truth[index + 1], source), cv2.COLOR_RGB2GRAY)
        total = count = 0
        for y in range(grey.shape[0]):
            for x in range(grey.shape[1]):
                if grey[y, x] <= 5:
                    total += max(abs(int(edit[index + 1, y, x, channel]) - int(ours[y, x, channel])) for channel in range(3))
                    count += 1
        values.append(total / count)
    return float(np.mean(values))


def loop_beta(truth: Frames, edit: Frames, _: Hole) -> float:
    values = []
    for index in range(len(truth) - 1):
        one, other = flow_of(truth, index), flow_of(edit, index)
        total = 0.0
        for y in range(one.shape[0]):
            for x in range(one.shape[1]):
                a, b = one[y, x], other[y, x]
                total += 1 - np.dot(a, b) / ((np.linalg.norm(a) + 1e-7) * (np.linalg.norm(b) + 1e-7))
        values.append(total / (one.shape[0] * one.shape[1]))
    return float(np.mean(values))


def loop_semantic(truth: Frames, edit: Frames, mask: Hole) -> float:
    values = []
    for index in range(len(truth)):
        total = count = 0
        for y in range(truth.shape[1]):
            for x in range(truth.shape[2]):
                if not mask[index, y, x]:
                    total += max(abs(int(edit[index, y, x, channel]) - int(truth[index, y, x, channel])) for channel in range(3))
                    count += 1
        values.append(total / count)
    return float(np.mean(values))


ARRAYS: dict[str, Measure] = {"ff_alpha": array_alpha, "ff_beta": array_beta, "semantic_score": array_semantic}
LOOPS: dict[str, Measure] = {"ff_alpha": loop_alpha, "ff_beta": loop_beta, "semantic_score": loop_semantic}


def ours(names: Sequence[str], truth: Frames, edits: Sequence[Frames], mask: Hole) -> Found:
    """All edits of one item, as they are scored: with nothing known of the source before."""
    shared = Shared()
    views = [ItemView.of_arrays(truth=truth, prediction=edit, object_mask=mask, shared=shared) for edit in edits]
    found = {}
    for name in names:
        found[name] = [float(one["frame"].value) for one in METRICS[name].measure_together(views)]
    return found


def theirs(measures: dict[str, Measure], names: Sequence[str], truth: Frames, edits: Sequence[Frames], mask: Hole) -> Found:
    return {name: [measures[name](truth, edit, mask) for edit in edits] for name in names}


def seconds(work: Callable[[], Found], *, rounds: int, clock: Callable[[], float]) -> tuple[float, Found]:
    """Best of some rounds, and what was found."""
    spent, found = [], {}
    for _ in range(rounds):
        begun = clock()
        found = work()
        spent.append(clock() - begun)
    return min(spent), found


def difference(one: Found, other: Found) -> float:
    return max(abs(a - b) for name in one for a, b in zip(one[name], other[name], strict=True))


def row(names: list[str], item: tuple[Frames, list[Frames], Hole], small: tuple[Frames, list[Frames], Hole], rounds: int) -> str:
    """One line of the table."""
    cv2.setNumThreads(1)
    cpu = {"rounds": rounds, "clock": time.process_time}
    fast, found = seconds(partial(ours, names, *item), **cpu)
    arrays, same = seconds(partial(theirs, ARRAYS, names, *item), **cpu)
    loops, slow = seconds(partial(theirs, LOOPS, names, *small), rounds=1, clock=time.process_time)
    worst = difference(found, same), difference(ours(names, *small), slow)
    cv2.setNumThreads(os.cpu_count() or 1)
    wall = {"rounds": rounds, "clock": time.perf_counter}
    fast_wall, again = seconds(partial(ours, names, *item), **wall)
    arrays_wall, _ = seconds(partial(theirs, ARRAYS, names, *item), **wall)
    assert again == found, "threads change numbers"
    each = fast / (EDITS * (len(item[0]) - 1))
    named = ", ".join(f"`{name}`" for name in names)
    return (
        f"| {named} | {1e3 * each:.1f} ms | {arrays / fast:.1f} | {arrays_wall / fast_wall:.1f} "
        f"| {loops * (SIDE // CROP) ** 2 / each:.0f} | {worst[0]:.0e}, {worst[1]:.0e} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer frames, one round")
    quick = parser.parse_args().quick
    frames, rounds = (3, 1) if quick else (9, 2)
    truth, mask, edits = clip(frames=frames, side=SIDE)
    small_truth, small_mask, small_edits = clip(frames=2, side=CROP)
    small = small_truth, small_edits[:1], small_mask
    ours(list(METRICS), *small)  # warms up
    print("## EditBoard's metrics of fidelity\n")
    print(
        f"{EDITS} edits of one source, {frames} frames of {SIDE}x{SIDE}, best of {rounds}; the same flow in all, by OpenCV. "
        "Whole arrays: numpy and OpenCV, the flow of the source anew for every edit and metric. Loops: over the pixels of one "
        f"pair of {CROP}x{CROP}, its time times {(SIDE // CROP) ** 2} for as many pixels. Optical flow takes nearly all of ours: "
        f"once for the source and once for each edit, {EDITS + 1} times, against {3 * EDITS} in whole arrays.\n"
    )
    print(
        "| metrics | CPU time of a pair of frames of an edit | times faster than whole arrays, CPU time of one thread (asked: 3) "
        f"| the same, elapsed on {os.cpu_count()} cores | times faster than loops (asked: 30) | largest difference to arrays, to "
        "loops |\n|---|---|---|---|---|---|"
    )
    for names in (["ff_alpha"], ["ff_beta"], ["semantic_score"], list(METRICS)):
        print(row(names, (truth, edits, mask), small, rounds), flush=True)


if __name__ == "__main__":
    main()
