"""Rendered object removal: CPU time of building, exactness, scores by strength and by what other frames show.

python bench/removal.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.curation.sources import embedded
from inpaintbench.curation.sources.rendered_removal import scenes
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.removal import KINDS, STRENGTHS, RemovalRecipe
from inpaintbench.recipes.settings import build
from inpaintbench.types import Dataset, Plain
from inpaintbench.workspace import Workspace

ITEMS = 20
METHODS = ("telea", "temporal_median", "affine_propagation")


def built(folder: Path, items: int) -> tuple[Path, Dataset, float]:
    """The benchmark of ``items`` items of 288x160, and CPU seconds, user and system."""
    recipe, begin = RemovalRecipe(), time.process_time()
    with LocalExecutor(Workspace(folder / "workspace"), workers=0) as executor:
        root, dataset = build(recipe, [recipe.rendered(items)], executor, executor.workspace)
    return root, dataset, time.process_time() - begin


def exactness(root: Path, dataset: Dataset) -> dict[str, float]:
    """Truths that are their film to the byte, and the least intersection over union of the effect with what differs."""
    films = {scene.name: embedded.film(scene.shot, width=288, height=160).frames for scene in scenes(5)}
    equal, overlaps = 0, []
    for row in dataset.items:
        truth, shown = (video.read_frames(root / row[f"{part}_file_name"]) for part in ("truth", "input"))
        thing, effect = (video.read_hole(root / row[f"{part}_file_name"]) for part in ("object_mask", "effect_mask"))
        equal += bool((truth == films[row["source_uri"].partition(":")[2]]).all())
        known = (truth != shown).any(axis=-1) & ~thing
        overlaps.append((known & effect).sum() / max((known | effect).sum(), 1) if known.any() else float(not effect.any()))
    return {"truths": equal, "iou": min(overlaps)}


def scored(root: Path, dataset: Dataset, folder: Path) -> dict[tuple[str, str, str, str], float]:
    """(method, item, metric, region) -> value."""
    with LocalExecutor(Workspace(folder / "run"), workers=0) as executor:
        given = [
            Predicted(name, predict(executor, dataset, root=root, method=MethodSpec(name, name)).records) for name in METHODS
        ]
        found = score(executor, dataset, root=root, methods=given, protocol="removal/paired", metrics=["psnr", "effect_removed"])
    return {
        (name, row.item_id, row.metric, row.region): row.value
        for name, outcome in found.items()
        for row in outcome.records
        if row.value is not None
    }


def mean(values: dict[tuple[str, str, str, str], float], method: str, rows: list[Plain], metric: str, region: str) -> str:
    """Over the items that have a value."""
    numbers = [found for row in rows if (found := values.get((method, row["item_id"], metric, region))) is not None]
    return f"{np.mean(numbers):.2f}" if numbers else "-"


def main() -> None:
    """Print the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two films instead of five")
    items = 8 if parser.parse_args().quick else ITEMS
    with tempfile.TemporaryDirectory() as name:
        root, dataset, seconds = built(Path(name), items)
        exact = exactness(root, dataset)
        values = scored(root, dataset, Path(name))
        rows = [dict(row) for row in frozen.load(root).items]
    print("## Rendered object removal\n")
    films = len(rows) // 4
    print(f"{len(rows)} items of 288x160 and 40 frames, {films} films: **{seconds:.1f} CPU s** (user and system, one process)")
    print(f"from nothing to the frozen dataset. {exact['truths']} of {len(rows)} truths are the film without the object to the")
    print(f"byte; the least intersection over union of `effect` with what differs outside the object is {exact['iou']:g}.\n")
    print("PSNR in the side effects by strength, of methods that fill the hole alone:\n")
    print("| side effect | " + " | ".join(STRENGTHS) + " |\n|---|" + "---|" * len(STRENGTHS))
    for kind in KINDS:
        own = [row for row in rows if row["generator_parameters"].get("side_effect") == kind]
        steps = [[row for row in own if row["generator_parameters"].get("strength") == level] for level in STRENGTHS]
        print(f"| {kind} | " + " | ".join(mean(values, METHODS[0], step, "psnr", "effect") for step in steps) + " |")
    print("\nPSNR in the object by the share of it that other frames show:\n")
    print("| seen elsewhere | items | " + " | ".join(METHODS) + " |\n|---|---|" + "---|" * len(METHODS))
    for words, low, high in (("below 0.25", 0.0, 0.25), ("above 0.75", 0.75, 1.01)):
        some = [row for row in rows if low <= row["attributes"].get("mask.seen_elsewhere", -1) < high]
        cells = " | ".join(mean(values, method, some, "psnr", "object") for method in METHODS)
        print(f"| {words} | {len(some)} | {cells} |")


if __name__ == "__main__":
    main()
