"""How much memory scoring takes over more and more items, with and without decoding the next one meanwhile, and what it finds out
about a truth once.

python bench/scoring_memory.py [--quick] [--frames 90] [--metrics psnr,lpips] [--real VIDEOS --truths 9]

Items of 832x480 with the predictions of four methods under DEVIL's protocol, in one worker, whose resident memory is that of the
ledger. Many items with metrics that cost little; two with networks over frames and whole clips, or with ``--metrics``. Parameters
are made up and take the room of trained ones.

``--real`` takes films of the test assets below a folder instead: clips of 90 frames of 832x480 with two holes each, three simple
methods, all metrics of the default protocol that need no network. CPU seconds are told as multiples of what the flow fields alone
take in the same run, since both grow alike on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.flows import Dis
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.storage import CACHE, cache_folder
from inpaintbench.types import Dataset, Frames, Prediction
from inpaintbench.view import composite
from inpaintbench.workspace import Workspace

# Of the real clips: two methods first, then the third.
REAL_METRICS = ("psnr", "ssim", "mse", "pcons", "hole_sharpness", "flicker", "temporal_difference", "warp_error")
REAL_SIZE, REAL_FRAMES, REAL_METHODS = (832, 480), 90, ("grey", "median", "blurred")
PROTOCOL, METHODS = "devil/as-published", 4
CHEAP, HEAVY = ("psnr", "mse"), ("psnr", "ssim", "lpips", "vfid")
ASKED = 3 * 10**9 >> 20


def copies(dataset: Dataset, *, items: int) -> Dataset:
    """The one item many times over, under other names: to write others would take longer than to score them."""
    rows = tuple(
        {**dataset.items[0], **dict.fromkeys(("item_id", "truth_rgb_sha256"), f"item-{place}")} for place in range(items)
    )
    return Dataset("made", {}, rows, (), {}, {}, {})


def peaks(folder: Path, dataset: Dataset, metrics: tuple[str, ...], *, ahead: bool) -> list[int]:
    """The largest resident memory of the worker over each item, in MiB."""
    run = folder / "run"
    workspace, made = Workspace(run), []
    for method in range(METHODS):
        file = folder / f"method-{method}" / "item-0.mkv"
        blob, _ = workspace.blobs.put(".mkv", partial(shutil.copyfile, file))
        rows = [Prediction(f"method-{method}", "1", str(row["item_id"]), blob, False, 0) for row in dataset.items]
        made.append(Predicted(f"method-{method}", rows))
    compute = Compute(device="cpu", random_weights=3)
    with LocalExecutor(workspace, workers=1, ahead=ahead) as executor:
        scored = score(executor, dataset, root=folder, methods=made, protocol=PROTOCOL, metrics=metrics, compute=compute)
    unmeasured = {row.reason for outcome in scored.values() for row in outcome.records if row.reason}
    assert not unmeasured, unmeasured
    ledger = workspace.ledger(f"score.{PROTOCOL.replace('/', '.')}.method-0").read()
    found = [entry["peak_mebibytes"] for entry in ledger.values()]
    shutil.rmtree(run)
    return found


def over_many(folder: Path, one: Dataset, *, items: int) -> None:
    alone, meanwhile = (peaks(folder, copies(one, items=items), CHEAP, ahead=ahead) for ahead in (False, True))
    print(f"| items ({', '.join(CHEAP)}) | one at a time, MiB | the next decoded meanwhile, MiB |\n|---|---|---|")
    for count in (2, 4, 8):
        if count <= items:
            print(f"| {count} | {max(alone[:count])} | {max(meanwhile[:count])} |")
    print()


def of_two(folder: Path, one: Dataset, metrics: tuple[str, ...]) -> None:
    begin = time.perf_counter()
    largest = max(peaks(folder, copies(one, items=2), metrics, ahead=True))
    print("| metrics of 2 items | asked, MiB | measured, MiB |\n|---|---|---|")
    print(f"| {', '.join(metrics)} | under {ASKED} | {largest} |")
    print(f"\nThe last line took {time.perf_counter() - begin:.0f} s.")


def real_items(folder: Path, videos: Path, *, truths: int) -> Dataset:
    """Two items of each of the first films that are long enough, and what three simple methods make of them."""
    import cv2
    from _real_scores import FILMS, resized

    rows: list[dict[str, object]] = []
    (width, height), places = REAL_SIZE, np.mgrid[: REAL_SIZE[1], : REAL_SIZE[0]]
    for name in FILMS:
        frames = video.read_frames(videos / name)[:REAL_FRAMES]
        if len(frames) < REAL_FRAMES or len(rows) == 2 * truths:
            continue
        truth, of = resized(frames, REAL_SIZE), f"truth-{len(rows) // 2}"
        video.write_lossless(folder / f"{of}.mkv", truth, fps=25.0)
        filled = {
            "grey": np.full_like(truth, 128),
            "median": np.broadcast_to(np.median(truth[::6], axis=0).astype(np.uint8), truth.shape),
            "blurred": np.stack([cv2.GaussianBlur(frame, (0, 0), 20) for frame in truth]),
        }
        for radius, speed in ((110, (1.5, 0.5)), (60, (-1.0, -0.5))):
            item = f"item-{len(rows)}"
            across, down = (
                places[axis] - REAL_SIZE[1 - axis] / 2 - speed[1 - axis] * (np.arange(REAL_FRAMES) - 45)[:, None, None]
                for axis in (1, 0)
            )
            hole = across**2 / 1.5 + down**2 < radius**2
            video.write_hole(folder / f"{item}-hole.mp4", hole, fps=25.0)
            for method, fill in filled.items():
                (folder / method).mkdir(exist_ok=True)
                video.write_lossless(folder / method / f"{item}.mkv", composite(truth, hole, fill), fps=25.0)
            rows.append({
                "item_id": item, "source_id": of, "truth_rgb_sha256": of, "hole_sha256": item, "input_sha256": None,
                "truth_file_name": f"{of}.mkv", "hole_file_name": f"{item}-hole.mp4", "input_file_name": None,
                "fill": 0, "hole_is_given": True, "frames": REAL_FRAMES, "height": height, "width": width, "fps": 25.0,
            })  # fmt: skip
    return Dataset("made", {}, tuple(rows), (), {}, {}, {})


def scored_seconds(run: Path, folder: Path, dataset: Dataset, methods: tuple[str, ...], *, workers: int = 0) -> float:
    """CPU seconds that scoring takes of this process."""
    workspace, made = Workspace(run), []
    for method in methods:
        rows = []
        for row in dataset.items:
            file = folder / method / f"{row['item_id']}.mkv"
            blob, _ = workspace.blobs.put(".mkv", partial(shutil.copyfile, file))
            rows.append(Prediction(method, "1", str(row["item_id"]), blob, False, 0))
        made.append(Predicted(method, rows))
    begin = time.process_time()
    with LocalExecutor(workspace, workers=workers) as executor:
        score(executor, dataset, root=folder, methods=made, protocol="devil/corrected", metrics=REAL_METRICS)
    return time.process_time() - begin


def truth_once(videos: Path, *, truths: int) -> None:
    """Flow fields that are estimated, and CPU seconds, of two methods, a third, and the third in another run folder."""
    fields: list[int] = []
    alone: list[float] = []
    estimated = Dis.coarse

    def counted(self: Dis, one: Frames, other: Frames, compute: Compute) -> npt.NDArray[np.float32]:
        begin = time.process_time()
        found = estimated(self, one, other, compute)
        fields.append(len(one))
        alone.append(time.process_time() - begin)
        return found

    Dis.coarse = counted  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ[CACHE] = str(folder / "cache")
        dataset = real_items(folder, videos, truths=truths)
        count, (first, second, third) = len(dataset.items) // 2, REAL_METHODS
        asked = count * (REAL_FRAMES - 1) * 2
        print(
            f"{len(dataset.items)} items of {count} truths, {REAL_FRAMES} frames of 832x480; asked: {asked} "
            "flow fields in all, 1.56 and 0.78 times their CPU seconds.\n"
        )
        # Compiled code is made and read here.
        scored_seconds(folder / "before", folder, copies(dataset, items=1), (first,))
        shutil.rmtree(cache_folder() / "files")
        fields.clear(), alone.clear()
        print("| scored | flow fields so far | CPU s | times those of all fields |\n|---|---|---|---|")
        for run, methods, told in (
            ("run", (first, second), "two methods"),
            ("run", REAL_METHODS, "a third"),
            ("other", (third,), "the third in another run"),
        ):
            seconds = scored_seconds(folder / run, folder, dataset, methods)
            print(f"| {told} | {sum(fields)} | {seconds:.1f} | {seconds / sum(alone):.2f} |", flush=True)
        one = copies(dataset, items=1)
        scored_seconds(folder / "worker", folder, one, (first, second), workers=1)
        entries = Workspace(folder / "worker").ledger(f"score.devil.corrected.{first}").read().values()
        print(f"\nA worker with two methods of an item: {max(entry['peak_mebibytes'] for entry in entries)} MiB (asked: 700).")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter items")
    parser.add_argument("--frames", type=int, help="of an item; 90 by default")
    parser.add_argument("--metrics", default="", help="some, with commas between them; then these alone are measured")
    parser.add_argument("--real", type=Path, metavar="VIDEOS", help="take films below this folder, and count what is found out")
    parser.add_argument("--truths", type=int, default=9, help="clips of films, with two items each")
    options = parser.parse_args()
    if options.real:
        truth_once(options.real, truths=options.truths)
        return
    frames = options.frames or (20 if options.quick else 90)
    metrics = tuple(filter(None, options.metrics.split(",")))
    from devil_speed import write_items  # what that imports must not count: a worker imports this file, too

    print("## Memory of scoring\n")
    with tempfile.TemporaryDirectory() as folder:
        one = write_items(Path(folder), items=1, frames=frames)
        print(f"Items of {frames} frames of 832x480, {METHODS} methods; the largest resident memory of the one worker.\n")
        if not metrics:
            over_many(Path(folder), one, items=2 if options.quick else 8)
        of_two(Path(folder), one, metrics or HEAVY)
    if "INPAINTBENCH_TEST_ASSETS" in os.environ and not metrics:
        print("\n### Truth once\n")
        truth_once(Path(os.environ["INPAINTBENCH_TEST_ASSETS"]) / "videos", truths=1 if options.quick else options.truths)


if __name__ == "__main__":
    main()
