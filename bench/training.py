"""What the trainable baselines of ChaLearn's tracks 2 and 3 reach on held-out items after a short training on one thread.

python bench/training.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import numpy as np
from skimage.metrics import structural_similarity

from inpaintbench import frozen
from inpaintbench.eval.scoring import predict
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset, Frames, Plain
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import FingerprintRecipe
from inpaintbench.wings.chalearn.methods.trained import FrameAutoencoder, PatchAutoencoder, ResidualEncoder
from inpaintbench.wings.chalearn.training.networks import named
from inpaintbench.wings.chalearn.training.train import Limits, Trained, train
from inpaintbench.workspace import Workspace

SPLITS = {"train": 0.7, "test": 0.3}
Method = Callable[[ItemView], Frames]


class Training(NamedTuple):
    method: Any
    steps: int
    quick_steps: int
    settings: Mapping[str, float]


TRAININGS = (
    Training(FrameAutoencoder, 400, 40, {"width": 8, "batch": 8, "learning_rate": 0.002}),
    Training(PatchAutoencoder, 500, 60, {"width": 16, "batch": 64}),
    Training(ResidualEncoder, 400, 60, {"width": 8}),
)


def datasets(folder: Path, *, quick: bool) -> dict[str, tuple[Path, Dataset]]:
    """A dataset of each track."""
    films = SourceSpec("embedded", {"count": 12 if quick else 48, "width": 192, "height": 128, "frames": 40})
    decaption = DecaptionRecipe(side=128, clip_frames=16, splits=SPLITS)
    fingerprint = FingerprintRecipe(fingers=20 if quick else 160, law="uniform", splits=SPLITS)
    made = {}
    for recipe, source in ((decaption, films), (fingerprint, fingerprint.source)):
        workspace = Workspace(folder / recipe.kind)
        with LocalExecutor(workspace, workers=0) as executor:
            made[recipe.kind] = build(recipe, [source], executor, workspace)
    return made


def scores(kind: str, truth: Frames, found: Frames) -> tuple[float, float, float]:
    """MSE, PSNR and SSIM as the track's released code has them, means over frames."""
    rows = []
    for one, other in zip(truth, found, strict=True):
        if kind == "fingerprint":
            one, other = (cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (one, other))
        levels, others = one / 255, other / 255
        mse = float(((levels - others) ** 2).mean())
        how = {"data_range": 2} if kind == "fingerprint" else {"data_range": 1, "gaussian_weights": True, "channel_axis": 2}
        ssim = structural_similarity(levels, others, **how)  # type: ignore[no-untyped-call]
        rows.append((mse, 10 * np.log10(1 / max(mse, 1e-10)), float(ssim)))
    mean = np.mean(rows, axis=0)
    return float(mean[0]), float(mean[1]), float(mean[2])


def mean_grey(root: Path, rows: list[Plain]) -> Method:
    """The mean level of the truths that were trained on, everywhere."""
    level = np.mean([frozen.truth_and_hole(root, row)[0].mean() for row in rows])
    return lambda view: np.full_like(view.input, round(float(level)))


def measured(kind: str, root: Path, rows: list[Plain], method: Method) -> list[tuple[float, float, float]]:
    return [scores(kind, frozen.truth_and_hole(root, row)[0], method(frozen.input_view(root, row))) for row in rows]


def print_row(
    track: str, name: str, asked: str, found: list[tuple[float, float, float]], copy: list[tuple[float, float, float]]
) -> None:
    mse, psnr, ssim = np.mean(found, axis=0)
    better = sum(one[0] < other[0] for one, other in zip(found, copy, strict=True))
    print(f"| {track} | {name} | {asked} | {mse:.4f} | {psnr:.2f} | {ssim:.3f} | {better} of {len(found)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small datasets and too few steps to ask anything")
    quick = parser.parse_args().quick
    cv2.setNumThreads(1)
    print("## Trained baselines\n")
    print(
        "Networks much narrower than the published ones, trained from a seed on one thread, judged on held-out items of the same "
        "build (other sources); means over items, SSIM as each track's released code has it.\n"
    )
    print("| track | method | asked | MSE | PSNR | SSIM | MSE below the copy's |\n|---|---|---|---|---|---|---|")
    notes = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, (root, dataset) in datasets(folder, quick=quick).items():
            learnt = [row for row in dataset.items if row["split"] == "train"]
            judged = [row for row in dataset.items if row["split"] != "train"]
            copy = measured(kind, root, judged, lambda view: view.input)
            print_row(kind, "copy (`blank`)", "", copy, copy)
            print_row(kind, "mean grey", "", measured(kind, root, judged, mean_grey(root, learnt)), copy)
            for one in TRAININGS:
                if named(one.method.name).recipe == kind:
                    done = trained(one, dataset, root, folder / one.method.name, quick=quick)
                    leaf = one.method(checkpoint=str(done.folder), device="cpu")
                    found = measured(kind, root, judged, lambda view, leaf=leaf: predict.run(leaf, view))  # type: ignore[misc]
                    print_row(kind, f"`{one.method.name}`", "" if quick else "MSE below both", found, copy)
                    words = ", ".join(f"{key}={value:g}" for key, value in one.settings.items())
                    notes.append(f"`{one.method.name}` ({words}): {done.steps} steps on {done.items} items, {done.seconds:.0f} s")
    print(f"\n{'; '.join(notes)}.")


def trained(one: Training, dataset: Dataset, root: Path, folder: Path, *, quick: bool) -> Trained:
    limits = Limits(steps=one.quick_steps if quick else one.steps)
    return train(named(one.method.name), dataset, root=root, folder=folder, limits=limits, settings=one.settings, device="cpu")


if __name__ == "__main__":
    main()
