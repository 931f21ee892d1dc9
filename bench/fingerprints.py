"""Truth, speed and memory of synthetic fingerprints and of their degradation, and methods on degraded prints."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter, map_coordinates
from tests.wings.chalearn.fingerprints.classes import recovered_class, singular_points

from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import item_rng
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.degradations import generator
from inpaintbench.wings.chalearn.degradations.generator import FingerprintDegradation
from inpaintbench.wings.chalearn.fingerprints import skin
from inpaintbench.wings.chalearn.fingerprints.estimation import (
    estimate_orientation,
    measure_periods,
    orientation_rmsd,
    print_area,
    shrunk,
)
from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger, mirrored
from inpaintbench.wings.chalearn.fingerprints.impressions import draw_impression, printed
from inpaintbench.wings.chalearn.fingerprints.master import master, orientation, ridge_period, select_backend
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES, Elastic, Finger, Print
from inpaintbench.wings.chalearn.fingerprints.skin import orientation_in_truth
from inpaintbench.wings.chalearn.fingerprints.source import REACH_PIXELS, STRENGTH_PIXELS
from inpaintbench.wings.chalearn.metrics.minutiae import find_minutiae

Picture = npt.NDArray[np.uint8]
BORDER = 40
PERIOD_POINTS = 600
METHODS_SHOWN = ("blank", "gaussian", "median", "oriented_gabor")
MIRRORED = {"left_loop": "right_loop", "right_loop": "left_loop"}
Check = tuple[str, str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 prints a class instead of 10")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    if options.memory:
        print(_peak_megabytes())
        return
    each = 2 if options.quick else 10
    fingers = [_finger(name, number) for name in CLASSES for number in range(each)]
    pictures = [master(finger) for finger in fingers]
    prints = {
        style: [_print(finger, number, style) for number, finger in enumerate(fingers)] for style in ("challenge", "natural")
    }
    made = {style: [printed(one, of) for one, of in zip(pictures, prints[style], strict=True)] for style in prints}
    print("## Synthetic fingerprints\n")
    print(f"{len(fingers)} prints, {each} a class, 275x400 at 500 pixels per inch. What a generated print must be, and is:\n")
    _table(("what", "asked", "measured"), _validation(fingers, pictures, prints, made))
    print("\nCPU time of one thread, best of three rounds.\n")
    _table(("what", "asked", "measured"), [*_speed(fingers, prints["natural"], made["natural"]), _memory()])
    print(f"\nMethods on {len(fingers)} degraded prints of natural style, protocol fingerprint/corrected, recipe corrected:\n")
    _table(("method", "MSE", "PSNR, dB", "SSIM"), _methods(prints["natural"], made["natural"]))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def _finger(name: str, number: int) -> Finger:
    return draw_finger(item_rng(7, name, str(number)), finger_class=name, seed=number)


def _print(finger: Finger, number: int, style: str) -> Print:
    rng = item_rng(8, style, str(number))
    field = Elastic(number, STRENGTH_PIXELS, REACH_PIXELS)
    return Print(finger, draw_impression(rng, finger=finger, number=0, seed=number, style=style), field)


# What a print must be


def _validation(
    fingers: Sequence[Finger],
    pictures: Sequence[Picture],
    prints: dict[str, list[Print]],
    made: dict[str, list[tuple[Picture, Picture]]],
) -> list[Check]:
    fields = [orientation(finger) for finger in fingers]
    placed = sum(_placed(finger, field) for finger, field in zip(fingers, fields, strict=True))
    errors = [_error(picture, field) for picture, field in zip(pictures, fields, strict=True)]
    periods = [_period(picture, finger, field) for picture, finger, field in zip(pictures, fingers, fields, strict=True)]
    ink = [float(np.mean(picture == 0)) for picture in pictures]
    truths = {style: [truth for _, truth in pairs] for style, pairs in made.items()}
    squares = {style: [float(np.mean((truth / 255.0) ** 2)) for truth in of] for style, of in truths.items()}
    whole = np.ones(pictures[0].shape, np.bool_)
    count = len(fingers)
    minutiae = {style: [len(find_minutiae(truth)) for truth in of] for style, of in truths.items()}
    whole_minutiae = [len(find_minutiae(picture)) for picture in pictures]
    turned = [mirrored(finger) for finger in fingers]
    back = sum(
        recovered_class(master(one), whole) == MIRRORED.get(old.finger_class, old.finger_class)
        for one, old in zip(turned, fingers, strict=True)
    )
    return [
        ("singular points where they were placed and nowhere else", "all", f"{placed} of {count} prints"),
        ("orientation of the master, root mean square error", "below 5°", f"{np.mean(errors):.2f}°, largest {max(errors):.2f}°"),
        *_truth_errors(prints, truths),
        ("median ridge period over the nominal one", "0.95-1.05", f"{min(periods):.3f}-{max(periods):.3f}"),
        ("ink of the master", "0.36-0.41", f"{min(ink):.3f}-{max(ink):.3f}"),
        ("mean square of the truth, challenge style", "0.698-0.758", _spread(squares["challenge"])),
        ("mean square of the truth, natural style", "-", _spread(squares["natural"])),
        ("class recovered from the master", "at least 95 %", _share(pictures, fingers, whole)),
        *(
            (f"class recovered from the truth, {style} style", "at least 95 %", _share(of, fingers, None))
            for style, of in truths.items()
        ),
        ("class recovered from the master of the mirrored finger", "left for right", f"{back} of {count}"),
        ("minutiae of a master", "20-70", _range(whole_minutiae)),
        *((f"minutiae of a truth, {style} style", "20-70", _range(counts)) for style, counts in minutiae.items()),
    ]  # fmt: skip


def _placed(finger: Finger, field: npt.NDArray[np.float32]) -> bool:
    found = sorted((int(point.x), int(point.y), point.half_turns) for point in singular_points(field))
    wanted = [(int(x), int(y), 1) for x, y in finger.cores] + [(int(x), int(y), -1) for x, y in finger.deltas]
    return found == sorted(wanted)


def _error(picture: Picture, field: npt.NDArray[np.float32]) -> float:
    inner = np.zeros(picture.shape, np.bool_)
    inner[BORDER:-BORDER, BORDER:-BORDER] = True
    return orientation_rmsd(estimate_orientation(picture), field, mask=inner)


def _truth_errors(prints: dict[str, list[Print]], truths: dict[str, list[Picture]]) -> list[Check]:
    rows = []
    for style, of in truths.items():
        errors = [
            orientation_rmsd(estimate_orientation(truth), orientation_in_truth(one), mask=shrunk(print_area(truth), BORDER / 2))
            for one, truth in zip(prints[style], of, strict=True)
        ]
        told = f"{np.mean(errors):.2f}°, largest {max(errors):.2f}°"
        rows.append((f"orientation of the truth, {style} style, against the published field", "-", told))
    return rows


def _period(picture: Picture, finger: Finger, field: npt.NDArray[np.float32]) -> float:
    rng = item_rng(9, "points", str(finger.seed))
    low, high = np.array((BORDER, BORDER)), np.array((finger.width - BORDER, finger.height - BORDER))
    points = rng.uniform(low, high, (PERIOD_POINTS, 2))
    nominal = ridge_period(finger)[points[:, 1].astype(int), points[:, 0].astype(int)]
    return float(np.nanmedian(measure_periods(picture, field, points=points) / nominal))


def _range(counts: Sequence[int]) -> str:
    outside = sum(not 20 <= count <= 70 for count in counts)
    return f"{min(counts)}-{max(counts)}, median {np.median(counts):.0f}; {outside} of {len(counts)} outside"


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f}-{max(values):.3f})"


def _share(pictures: Sequence[Picture], fingers: Sequence[Finger], mask: npt.NDArray[np.bool_] | None) -> str:
    right = sum(recovered_class(one, mask) == finger.finger_class for one, finger in zip(pictures, fingers, strict=True))
    return f"{100 * right / len(fingers):.0f} % ({right} of {len(fingers)})"


# Speed and memory


def _speed(fingers: Sequence[Finger], prints: Sequence[Print], made: Sequence[tuple[Picture, Picture]]) -> list[Check]:
    some = list(zip(fingers, prints, strict=True))
    fast = _rate(lambda: [printed(master(finger), one) for finger, one in some], len(some))
    few = some[:: max(1, len(some) // 6)]
    plain = _rate(lambda: [printed(master(finger, backend="numpy"), one) for finger, one in few], len(few), rounds=1)
    rows = [
        ("master, impression and elastic field", "12/s", f"{fast:.1f}/s with {select_backend('auto')}"),
        ("the same in plain numpy, same bytes", "-", f"{plain:.1f}/s, {fast / plain:.1f} times slower"),
    ]
    views = [_view(one, pair) for one, pair in zip(prints, made, strict=True)]
    for recipe in ("corrected", "as-published"):
        leaf = FingerprintDegradation(recipe=recipe, jpeg_quality=75 if recipe == "as-published" else None)  # type: ignore[arg-type]
        fast = _degradation_rate(leaf, views)
        plain = _rate_with_plain_field(leaf, views)
        told = f"{fast:.0f}/s; {fast / plain:.1f} times as many as with the field by scipy's filter and interpolation"
        rows.append((f"degradations, {recipe}", "40/s", told))
    return rows


def _degradation_rate(leaf: FingerprintDegradation, views: Sequence[ItemView]) -> float:
    return _rate(lambda: [_degraded(leaf, view, number) for number, view in enumerate(views)], len(views))


def _rate_with_plain_field(leaf: FingerprintDegradation, views: Sequence[ItemView]) -> float:
    kept = skin.elastic_field, generator.warp
    skin.elastic_field, generator.warp = _plain_field, _plain_warp  # type: ignore[assignment]
    try:
        return _degradation_rate(leaf, views)
    finally:
        skin.elastic_field, generator.warp = kept  # type: ignore[assignment]


def _plain_field(height: int, width: int, *, seed: int, strength: float, reach: float) -> Any:
    rng = item_rng(seed, "plain", "")
    return tuple(gaussian_filter(rng.uniform(-1, 1, (height, width)), reach, mode="constant") * strength for _ in "xy")


def _plain_warp(picture: Picture, field: Any) -> Picture:
    rows, columns = np.mgrid[: picture.shape[0], : picture.shape[1]]
    moved = map_coordinates(picture.astype(float), [rows + field[1], columns + field[0]], order=1, cval=255.0)
    return np.rint(moved).astype(np.uint8)


def _rate(work: Callable[[], object], count: int, *, rounds: int = 3) -> float:
    work()  # compiles, fills caches
    spent = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return count / min(spent)


def _memory() -> Check:
    done = subprocess.run([sys.executable, __file__, "--memory"], capture_output=True, text=True, check=True)
    return ("memory of a process that makes and degrades prints", "below 500 MB", f"{float(done.stdout):.0f} MB")


def _peak_megabytes() -> float:
    for number in range(4):
        one = _print(_finger(CLASSES[number], number), number, "natural")
        _degraded(FingerprintDegradation(), _view(one, printed(master(one.finger), one)), number)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# Methods


def _view(one: Print, pair: tuple[Picture, Picture]) -> ItemView:
    undistorted, truth = (np.repeat(picture[None, ..., None], 3, axis=3) for picture in pair)
    parts = {"undistorted": lambda: undistorted, "print": lambda: asdict(one), "truth": lambda: truth}
    return ItemView(item_id="", frames=1, height=truth.shape[1], width=truth.shape[2], fps=1.0, parts=parts)


def _degraded(leaf: FingerprintDegradation, view: ItemView, number: int) -> npt.NDArray[np.uint8]:
    drawn = leaf.generate(view, item_rng(10, "degrade", str(number))).input
    assert drawn is not None
    return drawn


def _methods(prints: Sequence[Print], made: Sequence[tuple[Picture, Picture]]) -> list[tuple[str, ...]]:
    leaf, protocol = FingerprintDegradation(), PROTOCOLS.get("fingerprint/corrected")
    views = [_view(one, pair) for one, pair in zip(prints, made, strict=True)]
    inputs = [_degraded(leaf, view, number) for number, view in enumerate(views)]
    metrics = protocol.build_metrics()
    rows = []
    for name in METHODS_SHOWN:
        method = METHODS.get(name)()
        found: dict[str, list[float]] = {metric.name: [] for metric in metrics}
        for view, seen in zip(views, inputs, strict=True):
            cleaned = method.inpaint(ItemView.of_arrays(input=seen))
            scored = ItemView.of_arrays(truth=view.truth, prediction=cleaned, hole=np.ones(seen.shape[:3], np.bool_))
            for metric in metrics:
                found[metric.name].append(float(metric.measure(scored)["frame"].value))
        rows.append((f"`{name}`", *(f"{np.mean(found[metric.name]):.{metric.decimals}f}" for metric in metrics)))
    return rows


if __name__ == "__main__":
    main()
