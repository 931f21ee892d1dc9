"""How much memory scoring takes over more and more items, with and without decoding the next one meanwhile.

python bench/scoring_memory.py [--quick] [--frames 90] [--metrics psnr,lpips]

Items of 832x480 with the predictions of four methods under DEVIL's protocol, in one worker, whose resident memory is that of the
ledger. Many items with metrics that cost little; two with networks over frames and whole clips, or with ``--metrics``. Parameters
are made up and take the room of trained ones.
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

from inpaintbench.compute import Compute
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter items")
    parser.add_argument("--frames", type=int, help="of an item; 90 by default")
    parser.add_argument("--metrics", default="", help="some, with commas between them; then these alone are measured")
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
