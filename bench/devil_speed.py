"""How much faster a whole slice is scored under DEVIL's protocol than in the released code's way.

python bench/devil_speed.py [--quick]

The straightforward way decodes an item anew for every metric and method, runs LPIPS frame by frame and I3D window by window with
autograd on, truth and composite for every method, searches patches one by one, and takes the square root of a matrix for every
Frechet distance. Features of the truth for FID, VFID and VFID-clips are made once, as there. Times are those of the processor, on
one thread; parameters are made up, which costs as much as trained ones.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import scipy.linalg
import torch
from i3d_speed import COMPUTE, METHODS, WINDOW_FRAMES, clip, reference, straightforward
from lpips_speed import package, tensor
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from inpaintbench import frozen, video
from inpaintbench.eval.metrics import inception
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, compare_sets, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.models import i3d
from inpaintbench.models.torch_networks import network
from inpaintbench.types import Dataset, Frames, Plain, Slice
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

PROTOCOL = "devil/as-published"
METRICS = ("psnr", "ssim", "pcons", "lpips", "pvcs", "fid", "vfid", "vfid_clips")


def write_items(folder: Path, *, items: int, frames: int) -> Dataset:
    """A frozen dataset of moving pictures, and beside it the predictions of four methods."""
    rows = []
    for number in range(items):
        name, views = f"item-{number}", clip(frames)
        truth, hole = np.roll(views[0].truth, 40 * number, axis=2), views[0].hole
        video.write_lossless(folder / f"{name}.mkv", truth, fps=25.0)
        video.write_hole(folder / f"{name}-hole.mp4", hole, fps=25.0)
        for method, view in enumerate(views):
            (folder / f"method-{method}").mkdir(exist_ok=True)
            video.write_lossless(
                folder / f"method-{method}" / f"{name}.mkv", np.roll(view.prediction, 40 * number, axis=2), fps=25.0
            )
        rows.append({
            "item_id": name, "source_id": name, "truth_rgb_sha256": name, "hole_sha256": name, "input_sha256": None,
            "truth_file_name": f"{name}.mkv", "hole_file_name": f"{name}-hole.mp4", "input_file_name": None,
            "fill": 0, "hole_is_given": True, "frames": frames, "height": truth.shape[1], "width": truth.shape[2], "fps": 25.0,
        })  # fmt: skip
    names = tuple(str(row["item_id"]) for row in rows)
    return Dataset("made", {}, tuple(rows), (Slice("slice", "all", names),), {}, {}, {})


def ours(dataset: Dataset, folder: Path, metrics: tuple[str, ...]) -> tuple[dict[str, list[float | None]], float]:
    """Values of each metric by method and item, and processor seconds."""
    workspace = Workspace(folder / "run")
    with LocalExecutor(workspace, workers=0) as executor:
        made = []
        for method in range(METHODS):
            spec = MethodSpec(f"method-{method}", "saved_folder", {"folder": str(folder / f"method-{method}")})
            made.append(Predicted(spec.label, predict(executor, dataset, root=folder, method=spec).records))
        begin = time.process_time()
        scored = score(executor, dataset, root=folder, methods=made, protocol=PROTOCOL, metrics=metrics, compute=COMPUTE)
        compared = compare_sets(executor, dataset, protocol=PROTOCOL, methods=[one.method for one in made])
        seconds = time.process_time() - begin
    rows = [row for outcome in scored.values() for row in outcome.records]
    values = {name: [row.value for row in rows if row.metric == name and row.region == _region(name)] for name in metrics}
    for outcome in compared.values():
        for row in outcome.records:
            if row.slice == "slice":
                values[row.metric] = [*(value for value in values[row.metric] if value is not None), row.value]
    return values, seconds


def _region(metric: str) -> str:
    return "hole" if metric == "pcons" else "frame"


class Reference:
    """The straightforward way: every metric reads the files again."""

    def __init__(self, dataset: Dataset, folder: Path) -> None:
        self.dataset, self.folder = dataset, folder
        self.lpips = package("alex")
        self.inception = inception.inception(COMPUTE)
        self.i3d = {
            name: value.requires_grad_(value.is_floating_point())
            for name, value in network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS).state_dict().items()
        }

    def view(self, row: Plain, method: int) -> ItemView:
        path = self.folder / f"method-{method}" / f"{row['item_id']}.mkv"
        return frozen.scoring_views(self.folder, row, predictions=[lambda: video.read_frames(path)])[0]

    def items(self, measure: Callable[[ItemView], Any]) -> list[Any]:
        return [measure(self.view(row, method)) for method in range(METHODS) for row in self.dataset.items]

    def psnr(self, view: ItemView) -> float:
        pairs = zip(view.truth, view.composite, strict=True)
        return float(np.mean([peak_signal_noise_ratio(a / np.float32(255), b / np.float32(255), data_range=1) for a, b in pairs]))

    def ssim(self, view: ItemView) -> float:
        pairs = zip(view.truth, view.composite, strict=True)
        return float(np.mean([
            structural_similarity(a / np.float32(255), b / np.float32(255), data_range=2, channel_axis=2) for a, b in pairs
        ]))  # fmt: skip

    def pcons(self, view: ItemView) -> float:
        values = []
        for index in range(view.frames - 1):
            rows, columns = np.nonzero(view.hole[index])
            top, left = (
                int(np.clip(places.mean() - 25, 0, side - 50)) for places, side in ((rows, view.height), (columns, view.width))
            )
            patch, after = view.composite[index][top : top + 50, left : left + 50] / np.float32(255), view.composite[index + 1]
            found = [
                peak_signal_noise_ratio(patch, after[y : y + 50, x : x + 50] / np.float32(255), data_range=1)
                for y in range(top - 20, top + 20)
                for x in range(left - 20, left + 20)
                if 0 <= y <= view.height - 50 and 0 <= x <= view.width - 50
            ]
            values.append(max(found))
        return float(np.mean(values))

    def lpips_of(self, view: ItemView) -> float:
        pairs = zip(view.truth, view.composite, strict=True)
        return float(np.mean([float(self.lpips(tensor(a), tensor(b)).detach()) for a, b in pairs]))

    def pvcs(self, view: ItemView) -> float:
        return float(np.mean([straightforward([view], start)[0] for start in range(view.frames - WINDOW_FRAMES + 1)]))

    def fid(self, frames: Frames) -> list[Any]:
        found = []
        for frame in frames:
            picture = torch.from_numpy(frame.copy()).permute(2, 0, 1)[None].float() / 255
            side = torch.nn.functional.interpolate(picture, (299, 299), mode="bilinear", align_corners=False)
            found.append(self.inception(side * 2 - 1)[0].detach().numpy())
        return found

    def vector(self, frames: Frames) -> Any:
        x = torch.from_numpy(frames.copy()).permute(3, 0, 1, 2)[None].float() / 255
        return reference.features(self.i3d, x)["Mixed_5c"].mean(dim=(2, 3, 4))[0].detach().numpy()

    def windows(self, frames: Frames) -> list[Any]:
        return [self.vector(frames[start : start + WINDOW_FRAMES]) for start in range(len(frames) - WINDOW_FRAMES + 1)]

    def distances(self, features: Callable[[Frames], list[Any]]) -> list[float]:
        truth = np.concatenate([features(self.view(row, 0).truth) for row in self.dataset.items])
        found = []
        for method in range(METHODS):
            made = np.concatenate([features(self.view(row, method).composite) for row in self.dataset.items])
            root = scipy.linalg.sqrtm(np.cov(made, rowvar=False) @ np.cov(truth, rowvar=False))
            trace = np.trace(np.cov(made, rowvar=False)) + np.trace(np.cov(truth, rowvar=False)) - 2 * np.trace(root).real
            found.append(float(((made.mean(axis=0) - truth.mean(axis=0)) ** 2).sum() + trace))
        return found

    def all(self, metrics: tuple[str, ...]) -> dict[str, tuple[list[float], float]]:
        ways: dict[str, Callable[[], list[float]]] = {
            "psnr": lambda: self.items(self.psnr),
            "ssim": lambda: self.items(self.ssim),
            "pcons": lambda: self.items(self.pcons),
            "lpips": lambda: self.items(self.lpips_of),
            "pvcs": lambda: self.items(self.pvcs),
            "fid": lambda: self.distances(self.fid),
            "vfid": lambda: self.distances(lambda frames: [self.vector(frames)]),
            "vfid_clips": lambda: self.distances(self.windows),
        }
        found = {}
        for name in metrics:
            begin = time.process_time()
            values = ways[name]()
            found[name] = (values, time.process_time() - begin)
        return found


def speed(folder: Path, *, items: int, frames: int) -> None:
    dataset = write_items(folder, items=items, frames=frames)
    mine, seconds = ours(dataset, folder, METRICS)
    theirs = Reference(dataset, folder).all(METRICS)
    total = sum(spent for _, spent in theirs.values())
    print(f"{items} items of {frames} frames of 832x480 ({frames - WINDOW_FRAMES + 1} windows each), {METHODS} methods.\n")
    print("| metric | straightforward, processor seconds | largest relative difference of values |")
    print("|---|---|---|")
    for name, (values, spent) in theirs.items():
        pairs = [(a, b) for a, b in zip(mine[name], values, strict=True) if a is not None]
        difference = max(abs(a - b) / abs(b) for a, b in pairs)
        print(f"| {name} | {spent:.1f} | {difference:.1e} |")
    print(f"\n| all | processor seconds | times faster |\n|---|---|---|\n| straightforward | {total:.1f} | 1 |")
    print(f"| this package, measured at once | {seconds:.1f} | {total / seconds:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter items")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("## Scoring a whole slice\n")
        speed(Path(folder), items=2, frames=10 if options.quick else 11)


if __name__ == "__main__":
    sys.exit(main())
