"""How long PVCS, VFID, LPIPS and FID of a slice take on a graphics card, how busy it is, and how far from float32 they are.

python bench/devil_gpu.py [--quick] [--clips N] [--device cpu]

Clips are of 90 frames of 832x480: a few distinct ones under many names, read from files every time, nothing known of the truth.
Parameters are made up, which costs as much as trained ones. Seconds are those of scoring and of comparing the sets, with the
start of the workers; the compute phase is from the first to the last moment at which the card was seen busy. The plain
convolution is measured in the same run. ``--device cpu`` scores two short small clips, which shows that it runs: its times say
nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.scoring import precision as lower_precision
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.eval.scoring.sets import compare_sets
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Frames, Hole, Prediction, Score, Slice
from inpaintbench.workspace import Workspace

PROTOCOL = "devil/as-published"
METRICS = ("pvcs", "vfid", "lpips", "fid")
PRECISIONS = ("tf32", "bf16")
WORKERS, DISTINCT, METHOD = 4, 4, "made"
NOT_MEASURED = "not measured: no CUDA device here"
CHANNELS, SIDE, BATCH = 256, 64, 64
"""Of the plain convolution, 3x3."""
Item = tuple[Frames, Hole, Frames]
"""Truth, hole, prediction with black outside the hole."""


class Size(NamedTuple):
    """How much is scored."""

    clips: int
    frames: int
    window: tuple[slice, slice]
    """Rows and columns that are cut out."""


def items(size: Size) -> list[Item]:
    """The distinct ones."""
    from i3d_speed import clip

    view = clip(size.frames)[0]
    held = view.hole[(slice(None), *size.window)]
    truth, filled = (frames[(slice(None), *size.window)] for frames in (view.truth, view.prediction))
    rolled = [partial(np.roll, shift=40 * number, axis=2) for number in range(min(DISTINCT, size.clips))]
    return [(roll(truth), held, np.where(held[..., None], roll(filled), 0).astype(np.uint8)) for roll in rolled]


def write(folder: Path, size: Size) -> tuple[Dataset, list[Path]]:
    """The frozen dataset, and a prediction for each of its items."""
    distinct = items(size)
    for number, (truth, hole, filled) in enumerate(distinct):
        video.write_lossless(folder / f"truth-{number}.mkv", truth, fps=25.0)
        video.write_hole(folder / f"hole-{number}.mp4", hole, fps=25.0)
        video.write_lossless(folder / f"filled-{number}.mkv", filled, fps=25.0)
    height, width = distinct[0][0].shape[1:3]
    rows, predictions = [], []
    for place in range(size.clips):
        number, name = place % len(distinct), f"item-{place}"
        rows.append({
            "item_id": name, "source_id": name, "truth_rgb_sha256": name, "hole_sha256": name, "input_sha256": None,
            "truth_file_name": f"truth-{number}.mkv", "hole_file_name": f"hole-{number}.mp4", "input_file_name": None,
            "fill": 0, "hole_is_given": True, "frames": size.frames, "height": height, "width": width, "fps": 25.0,
        })  # fmt: skip
        predictions.append(folder / f"filled-{number}.mkv")
    names = tuple(str(row["item_id"]) for row in rows)
    return Dataset("made", {}, tuple(rows), (Slice("slice", "all", names),), {}, {}, {}), predictions


class Run:
    """A run folder with the predictions, and what is scored in it."""

    def __init__(self, folder: Path, data: Path, dataset: Dataset, predictions: list[Path]) -> None:
        self.workspace, self.data, self.dataset = Workspace(folder), data, dataset
        blobs = {path: self.workspace.blobs.put(".mkv", partial(_copy, path))[0] for path in set(predictions)}
        rows = zip(dataset.items, predictions, strict=True)
        self.predictions = [Prediction(METHOD, "1", str(row["item_id"]), blobs[path], False, 0) for row, path in rows]

    def scores(self, compute: Compute, *, workers: int) -> list[Score]:
        """The rows; the sets are compared, too."""
        with LocalExecutor(self.workspace, workers=workers) as executor:
            methods = [Predicted(METHOD, self.predictions)]
            scored = score(
                executor, self.dataset, root=self.data, methods=methods, protocol=PROTOCOL, metrics=METRICS, compute=compute
            )[METHOD]
            compare_sets(executor, self.dataset, protocol=PROTOCOL, methods=[METHOD])
        if lost := [row.reason for row in scored.records if row.reason and row.region == "frame"]:
            raise RuntimeError(f"{len(lost)} values are missing, the first since {lost[0]}")
        return scored.records


def _copy(path: Path, target: Path) -> None:
    target.write_bytes(path.read_bytes())


class Watch(threading.Thread):
    """Looks at the card ten times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: list[tuple[float, float]] = []
        """Moment in seconds, and per cent of the time in which a kernel ran."""
        self.used_bytes = 0
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.1):
            free, whole = torch.cuda.mem_get_info()
            self.used_bytes = max(self.used_bytes, whole - free)
            self.seen.append((time.perf_counter(), busy_percent()))

    def stop(self) -> tuple[float, float]:
        """Seconds of the compute phase, and the share of it in which the card was busy; 0 where it was never seen busy."""
        self._done.set()
        self.join()
        working = [place for place, (_, percent) in enumerate(self.seen) if percent > 0]
        if not working:
            return 0.0, 0.0
        phase = self.seen[working[0] : working[-1] + 1]
        return phase[-1][0] - phase[0][0], float(np.mean([percent for _, percent in phase])) / 100


def busy_percent() -> float:
    """Of the last moments, by NVML, or by the program that comes with the driver where its package is not installed."""
    try:
        return float(torch.cuda.utilization())
    except ModuleNotFoundError:
        command = ["nvidia-smi", "--id=0", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def plain_convolution(precision: str, *, device: str, seconds: float = 1.0) -> float:
    """Operations a second of a 3x3 convolution that suits the card."""
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    batch, channels, side = (BATCH, CHANNELS, SIDE) if device == "cuda" else (1, 16, 16)
    x = torch.randn(batch, channels, side, side, device=device, dtype=kind).to(memory_format=torch.channels_last)
    weight = torch.randn(channels, channels, 3, 3, device=device, dtype=kind).to(memory_format=torch.channels_last)
    rounds = [_timed(x, weight, device, count) for count in (5, 20)]
    most = max(20, int(20 * seconds / rounds[-1])) if device == "cuda" else 5
    spent = _timed(x, weight, device, most)
    torch.backends.cudnn.allow_tf32 = before
    return most * 2.0 * batch * side**2 * channels**2 * 9 / spent


def _timed(x: torch.Tensor, weight: torch.Tensor, device: str, count: int) -> float:
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()
    begin = time.perf_counter()
    with torch.inference_mode():
        for _ in range(count):
            torch.nn.functional.conv2d(x, weight, padding=1)
    wait()
    return time.perf_counter() - begin


def errors(folder: Path, data: Path, made: tuple[Dataset, list[Path]], device: str) -> tuple[dict[str, list[float]], float]:
    """Precision -> largest relative error of each metric against float32, on the first clip; and its operations."""
    dataset, predictions = made
    one = Dataset("made", {}, dataset.items[:1], (), {}, {}, {})
    given = [({**dataset.items[0], "full_frames": False}, predictions[0])]

    def numbers(precision: str) -> dict[str, list[lower_precision.Numbers]]:
        return lower_precision.numbers(
            folder / f"one-{precision}", one, root=data, predictions=given, protocol=PROTOCOL, metrics=METRICS,
            compute=_compute(device, precision),
        )  # fmt: skip

    with FlopCounterMode(display=False) as counted:
        exact = numbers("fp32")
    found = {
        precision: [one.relative for one in lower_precision.differences(numbers(precision), exact)] for precision in PRECISIONS
    }
    if lost := [precision for precision, row in found.items() if len(row) < len(METRICS) or None in row]:
        raise RuntimeError(f"values are missing in {lost[0]} or in float32")
    return {precision: [float(value or 0) for value in row] for precision, row in found.items()}, float(counted.get_total_flops())


def _compute(device: str, precision: Any) -> Compute:
    return Compute(device="cpu" if device == "cpu" else "cuda", precision=precision, random_weights=3)


def measure(folder: Path, size: Size, device: str) -> None:
    data = folder / "data"
    data.mkdir()
    made = write(data, size)
    found, operations = errors(folder, data, made, device)
    lines = []
    for precision in PRECISIONS:
        plain = plain_convolution(precision, device=device)
        run = Run(folder / precision, data, *made)
        torch.cuda.empty_cache()  # the workers need it; nothing where there is no card
        watch = Watch() if device == "cuda" else None
        begin = time.perf_counter()
        if watch:
            watch.start()
        run.scores(_compute(device, precision), workers=WORKERS if device == "cuda" else 0)
        seconds = time.perf_counter() - begin
        phase, busy = watch.stop() if watch else (seconds, 0.0)
        rate = size.clips * operations / max(phase, 1e-9)
        used = f"{watch.used_bytes / 2**30:.1f}" if watch else "-"
        lines.append(
            f"| {precision} | {seconds:.1f} | {phase:.1f} | {100 * busy:.0f} % | {rate / 1e12:.2f} | {plain / 1e12:.2f} |"
            f" {100 * rate / plain:.0f} % | {used} |"
        )
    workers = WORKERS if device == "cuda" else 0
    name = torch.cuda.get_device_name() if device == "cuda" else "the processor: times say nothing"
    print(f"{size.clips} clips of {size.frames} frames, one method, {workers} workers, on {name};")
    print(f"{operations / 1e12:.2f} TFLOP a clip in convolutions and products.\n")
    print_speed(lines)
    print_errors([f"| {precision} | " + " | ".join(f"{value:.1e}" for value in row) + " |" for precision, row in found.items()])


def print_speed(lines: list[str]) -> None:
    print(
        "| precision | seconds (asked: 120 for 150 clips) | of it the compute phase | busy in it (asked: 80 %) | TFLOP/s in it |",
        end="",
    )
    print(" TFLOP/s of a plain convolution | share of that | most memory of the card, GiB |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))


def print_errors(lines: list[str]) -> None:
    print("\nLargest relative error against float32 on one clip, in any region; for VFID and FID of a vector, by its length.\n")
    print("| precision | " + " | ".join(METRICS) + " |\n|---|" + "---|" * len(METRICS))
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="eight clips")
    parser.add_argument("--clips", type=int, default=150)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args()
    print("## Scoring a slice on a graphics card\n")
    if options.device == "cuda" and not torch.cuda.is_available():
        print_speed([f"| {precision} | {NOT_MEASURED} | | | | | | |" for precision in PRECISIONS])
        print_errors([f"| {precision} | {NOT_MEASURED} |" + " |" * (len(METRICS) - 1) for precision in PRECISIONS])
        return
    whole = Size(8 if options.quick else options.clips, 90, (slice(None), slice(None)))
    small = Size(2, 11, (slice(180, 244), slice(280, 376)))
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), whole if options.device == "cuda" else small, options.device)


if __name__ == "__main__":
    sys.exit(main())
