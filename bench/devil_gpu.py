"""How long the default protocol and PVCS, VFID, LPIPS and FID of a slice take on a graphics card, how busy it is, and how far
from float32 they are; with a verdict on each bar.

python bench/devil_gpu.py [--quick] [--clips N] [--device cpu]

Clips are of 90 frames of 832x480: a few distinct ones under many names, each with another hole (32 of them, of all sizes and
places) and filled by four methods, read from files every time, nothing known of the truth.
Parameters are made up, which costs as much as trained ones. Seconds are those of scoring and of comparing the sets, with the
start of the workers; the compute phase is from the first to the last moment at which the card was seen busy. The plain
convolution is measured in the same run. Shapes and bytes are counted in a pass of its own, in this process. The default protocol
is measured whole, with a worker a core, and first; what would begin after eight minutes is left out. ``--device cpu`` scores two
short small clips and counts over 32 of them, without FID: its times say nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch
from i3d_speed import clip
from torch.utils.flop_counter import FlopCounterMode

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring import precision as lower_precision
from inpaintbench.eval.scoring.score import Predicted, compare_sets, score
from inpaintbench.executors import default_workers
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.models import torch_networks
from inpaintbench.types import Dataset, Frames, Prediction, Slice
from inpaintbench.workspace import Workspace

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))
from few_shapes_probes import Convolutions, as_on_card, views, wandering_hole

PROTOCOL = "devil/as-published"
METRICS = ("pvcs", "vfid", "lpips", "fid")
PRECISIONS = ("tf32", "bf16")
WORKERS, DISTINCT, HOLES, MOST_SIZES, MOST_MOVED = 4, 4, 32, 64, 1.2
METHODS = ("first", "second", "third", "fourth")
DEFAULT, CLIPS, MOST_SECONDS, LAST_BEGIN_SECONDS = "devil/corrected", 150, 120.0, 480.0
NOT_MEASURED = "not measured: no CUDA device here"
CHANNELS, SIDE, BATCH = 256, 64, 64
"""Of the plain convolution, 3x3."""
Made = tuple[Dataset, dict[str, list[Path]]]
"""The frozen dataset, and for each method a prediction of each item."""


class Size(NamedTuple):
    """How much is scored."""

    clips: int
    frames: int
    window: tuple[slice, slice]
    """Rows and columns that are cut out."""


def truths(size: Size) -> list[Frames]:
    """The distinct ones."""
    truth = clip(size.frames)[0].truth[(slice(None), *size.window)]
    return [np.roll(truth, 40 * number, axis=2) for number in range(min(DISTINCT, size.clips))]


def write(folder: Path, size: Size) -> Made:
    """Write the dataset and the predictions."""
    distinct = truths(size)
    height, width = distinct[0].shape[1:3]
    for number, truth in enumerate(distinct):
        video.write_lossless(folder / f"truth-{number}.mkv", truth, fps=25.0)
        for shift, method in enumerate(METHODS, start=1):
            video.write_lossless(folder / f"{method}-{number}.mkv", np.roll(truth, 3 * shift, axis=1), fps=25.0)
    for number in range(min(HOLES, size.clips)):
        hole = wandering_hole(number, frames=size.frames, height=height, width=width)
        video.write_hole(folder / f"hole-{number}.mp4", hole, fps=25.0)
    rows: list[dict[str, Any]] = []
    predictions: dict[str, list[Path]] = {method: [] for method in METHODS}
    for place in range(size.clips):
        number, name = place % len(distinct), f"item-{place}"
        rows.append({
            "item_id": name, "source_id": name, "truth_rgb_sha256": name, "hole_sha256": name, "input_sha256": None,
            "truth_file_name": f"truth-{number}.mkv", "hole_file_name": f"hole-{place % HOLES}.mp4", "input_file_name": None,
            "fill": 0, "hole_is_given": True, "frames": size.frames, "height": height, "width": width, "fps": 25.0,
        })  # fmt: skip
        for method in METHODS:
            predictions[method].append(folder / f"{method}-{number}.mkv")
    names = tuple(str(row["item_id"]) for row in rows)
    return Dataset("made", {}, tuple(rows), (Slice("slice", "all", names),), {}, {}, {}), predictions


class Run:
    """A run folder with the predictions, and what is scored in it."""

    def __init__(self, folder: Path, data: Path, dataset: Dataset, predictions: dict[str, list[Path]]) -> None:
        self.workspace, self.data, self.dataset = Workspace(folder), data, dataset
        paths = {path for of_method in predictions.values() for path in of_method}
        blobs = {path: self.workspace.blobs.put(".mkv", partial(_copy, path))[0] for path in paths}
        self.methods = [
            Predicted(method, [
                Prediction(method, "1", str(row["item_id"]), blobs[path], False, 0)
                for row, path in zip(dataset.items, of_method, strict=True)
            ])
            for method, of_method in predictions.items()
        ]  # fmt: skip

    def score(
        self, compute: Compute, *, workers: int, protocol: str = PROTOCOL, metrics: Sequence[str] | None = METRICS
    ) -> int:  # fmt: skip
        """Score all methods, and compare their sets; returns how many processes had opened a card."""
        with LocalExecutor(self.workspace, workers=workers) as executor:
            scored = score(
                executor, self.dataset, root=self.data, methods=self.methods, protocol=protocol, metrics=metrics, compute=compute
            )
            opened = sum("/dev/nvidia" in Path(f"/proc/{process}/maps").read_text() for process in below(os.getpid()))
            compare_sets(executor, self.dataset, protocol=protocol, methods=METHODS)
        rows = [row for outcome in scored.values() for row in outcome.records]
        if lost := [row.reason for row in rows if row.reason and row.region == "frame"]:
            raise RuntimeError(f"{len(lost)} values are missing, the first since {lost[0]}")
        return opened


def below(process: int) -> list[int]:
    """The processes that a process has begun, and theirs."""
    found = [process]
    for one in found:
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, path.read_text().split())
    return found[1:]


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


class Counts(NamedTuple):
    """Of one pass over clips with different holes, all methods of a clip at once."""

    clips: int
    convolutions: Convolutions
    copies: float
    """To the device, for each clip."""
    moved: float
    """Bytes of these over those of the true frames and the composites."""
    operations: float
    """For each clip."""


def counted(size: Size, device: str) -> Counts:
    """Count over ``HOLES`` clips."""
    height, width = (len(range(*part.indices(length))) for part, length in zip(size.window, (480, 832), strict=True))
    metrics = PROTOCOLS.get(PROTOCOL).build_metrics([name for name in METRICS if name != "fid" or device == "cuda"])
    given = views(
        _compute(device, "fp32"), count=HOLES, methods=len(METHODS), frames=size.frames, height=height, width=width
    )  # fmt: skip
    copies, moved = 0, 0
    with as_on_card(), Convolutions() as seen, FlopCounterMode(display=False) as counter:
        for item in given:
            torch_networks.UPLOADS.clear()
            for metric in metrics:
                metric.measure_together(item)
            copies, moved = copies + len(torch_networks.UPLOADS), moved + sum(torch_networks.UPLOADS)
    whole = HOLES * (1 + len(METHODS)) * size.frames * height * width * 3
    return Counts(HOLES, seen, copies / HOLES, moved / whole, float(counter.get_total_flops()) / HOLES)


def errors(folder: Path, data: Path, made: Made, device: str) -> dict[str, list[float]]:
    """Precision -> largest relative error of each metric against float32, on the first clip of the method that is farthest off:
    where two clips hardly differ a relative error says nothing."""
    dataset, predictions = made
    one = Dataset("made", {}, dataset.items[:1], (), {}, {}, {})
    given = [({**dataset.items[0], "full_frames": False}, predictions[METHODS[-1]][0])]

    def numbers(precision: str) -> dict[str, list[lower_precision.Numbers]]:
        return lower_precision.numbers(
            folder / f"one-{precision}", one, root=data, predictions=given, protocol=PROTOCOL, metrics=METRICS,
            compute=_compute(device, precision),
        )  # fmt: skip

    exact = numbers("fp32")
    found = {
        precision: [one.relative for one in lower_precision.differences(numbers(precision), exact)] for precision in PRECISIONS
    }
    if lost := [precision for precision, row in found.items() if len(row) < len(METRICS) or None in row]:
        raise RuntimeError(f"values are missing in {lost[0]} or in float32")
    return {precision: [float(value or 0) for value in row] for precision, row in found.items()}


def _compute(device: str, precision: Any) -> Compute:
    return Compute(device="cpu" if device == "cpu" else "cuda", precision=precision, random_weights=3, few_shapes=True)


def whole_protocol(folder: Path, data: Path, made: Made, device: str) -> None:
    """The default protocol with all that it measures, in two lanes; on the processor a made-up card has one of them."""
    run, workers = Run(folder / "whole", data, *made), default_workers() if device == "cuda" else 2
    lane = nullcontext() if device == "cuda" else mock.patch.object(torch_networks, "on_card", return_value=True)
    watch = Watch() if device == "cuda" else None
    begin = time.perf_counter()
    if watch:
        watch.start()
    with lane:
        opened = run.score(_compute(device, "tf32"), workers=workers, protocol=DEFAULT, metrics=None)
    seconds = time.perf_counter() - begin
    phase, busy = watch.stop() if watch else (seconds, 0.0)
    clips = len(made[0].items)
    print(f"`{DEFAULT}`, all metrics, {clips} clips, {len(METHODS)} methods, tf32.\n\n{WHOLE}")
    print(f"| {workers} | {opened} | {seconds:.1f} | {phase:.1f} | {100 * busy:.0f} % |")
    if device == "cuda" and clips == CLIPS:
        print(
            f"\nAt most {MOST_SECONDS:g} s: {'met' if seconds <= MOST_SECONDS else 'MISSED'}. One process a card: ",
            end="",
        )
        print(f"{'met' if opened == torch.cuda.device_count() else 'MISSED'}.")
    else:
        print(f"\nNo verdict: that is asked of {CLIPS} clips on a card.")
    print()


WHOLE = (
    "| workers | processes that opened a card | seconds (asked: 120 for 150 clips) | of it the card's phase | busy in it |\n"
    "|---|---|---|---|---|"
)


def measure(folder: Path, size: Size, device: str) -> None:
    begun = time.perf_counter()
    data = folder / "data"
    data.mkdir()
    made = write(data, size)
    whole_protocol(folder, data, made, device)
    found, counts = errors(folder, data, made, device), counted(size, device)
    lines = []
    for precision in PRECISIONS:
        if time.perf_counter() - begun > LAST_BEGIN_SECONDS:
            lines.append(f"| {precision} | not measured: {LAST_BEGIN_SECONDS:g} s are over | | | | | | |")
            continue
        plain = plain_convolution(precision, device=device)
        run = Run(folder / precision, data, *made)
        torch.cuda.empty_cache()  # the workers need it; nothing where there is no card
        watch = Watch() if device == "cuda" else None
        begin = time.perf_counter()
        if watch:
            watch.start()
        run.score(_compute(device, precision), workers=WORKERS if device == "cuda" else 0)
        seconds = time.perf_counter() - begin
        phase, busy = watch.stop() if watch else (seconds, 0.0)
        rate = size.clips * counts.operations / max(phase, 1e-9)
        used = f"{watch.used_bytes / 2**30:.1f}" if watch else "-"
        lines.append(
            f"| {precision} | {seconds:.1f} | {phase:.1f} | {100 * busy:.0f} % | {rate / 1e12:.2f} | {plain / 1e12:.2f} |"
            f" {100 * rate / plain:.0f} % | {used} |"
        )
    workers = WORKERS if device == "cuda" else 0
    name = torch.cuda.get_device_name() if device == "cuda" else "the processor: times say nothing"
    print(f"{size.clips} clips of {size.frames} frames, {len(METHODS)} methods, {workers} workers, on {name};")
    print(f"{counts.operations / 1e12:.2f} TFLOP a clip in convolutions and products.\n")
    print_speed(lines)
    print_counts(counts)
    print_errors([f"| {precision} | " + " | ".join(f"{value:.1e}" for value in row) + " |" for precision, row in found.items()])
    if device == "cuda":
        shapes, moved = len(counts.convolutions.sizes), counts.moved
        print(f"\nShapes: {'met' if shapes <= MOST_SIZES else 'MISSED'}; bytes: {'met' if moved <= MOST_MOVED else 'MISSED'}.")


def print_speed(lines: list[str]) -> None:
    print(
        "| precision | seconds (asked: 120 for 150 clips) | of it the compute phase | busy in it (asked: 80 %) | TFLOP/s in it |",
        end="",
    )
    print(" TFLOP/s of a plain convolution | share of that | most memory of the card, GiB |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))


def print_counts(counts: Counts) -> None:
    seen = counts.convolutions
    print(f"\n{counts.clips} clips with different holes, counted in one process.\n")
    print("| count | asked | found |\n|---|---|---|")
    print(f"| sizes of what convolutions are given, of {seen.calls} calls | at most {MOST_SIZES} | {len(seen.sizes)} |")
    print(f"| with their channels, batches and weights | | {len(seen.plans)} |")
    print(f"| copies to the device, a clip of {len(METHODS)} methods | | {counts.copies:.1f} |")
    print(f"| bytes of these over those of the clips | at most {MOST_MOVED} | {counts.moved:.2f} |")


def print_errors(lines: list[str]) -> None:
    print("\nLargest relative error against float32 on one clip, in any region; for VFID and FID of a vector, by its length.\n")
    print("| precision | " + " | ".join(METRICS) + " |\n|---|" + "---|" * len(METRICS))
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="eight clips")
    parser.add_argument("--clips", type=int, default=CLIPS)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args()
    print("## Scoring a slice on a graphics card\n")
    whole = Size(8 if options.quick else options.clips, 90, (slice(None), slice(None)))
    small = Size(2, 11, (slice(180, 244), slice(280, 376)))
    if options.device == "cuda" and not torch.cuda.is_available():
        print(f"`{DEFAULT}`, all metrics, {len(METHODS)} methods, tf32.\n\n{WHOLE}\n| {NOT_MEASURED} | | | | |\n")
        print_speed([f"| {precision} | {NOT_MEASURED} | | | | | | |" for precision in PRECISIONS])
        print_errors([f"| {precision} | {NOT_MEASURED} |" + " |" * (len(METRICS) - 1) for precision in PRECISIONS])
        print("\nCounted on the processor with the convolutions of a card: frames of 96x64, without FID, which has 8 sizes more.")
        print_counts(counted(small, "cpu"))
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), whole if options.device == "cuda" else small, options.device)


if __name__ == "__main__":
    sys.exit(main())
