"""CPU time of building, predicting and scoring a paired benchmark beside one of as many items in slices of other clips.

python bench/paired_cost.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"

from inpaintbench.compute import Compute
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import score_all
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.workspace import Workspace

FILMS, WIDTH, HEIGHT, FRAMES, QUICK_FRAMES = 12, 288, 160, 48, 12
METHODS = ("telea", "temporal_median")
AXES = ("size", "pose", "displacement")
# Two slices an axis, whose items together are as many as a clip has of three axes: one unchanged, and one for each axis.
PER_SLICE = (1 + len(AXES)) * FILMS // (2 * len(AXES))
MOST = 1.15


class Cost(NamedTuple):
    """CPU seconds of one benchmark."""

    items: int
    build: float
    predict: float
    score: float

    @property
    def total(self) -> float:
        return self.build + self.predict + self.score


def cost(folder: Path, design: Literal["slices", "paired"], frames: int) -> Cost:
    """Of a benchmark of films that come with the program, in this process."""
    recipe = DevilRecipe(
        width=WIDTH, height=HEIGHT, clip_frames=frames, shortest_clip_frames=frames, design=design, sliced_by=AXES,
        per_slice=FILMS if design == "paired" else PER_SLICE,
    )  # fmt: skip
    films = SourceSpec("embedded", {"count": FILMS, "width": WIDTH, "height": HEIGHT, "frames": frames})
    times = [time.process_time()]
    workspace = Workspace(folder)
    with LocalExecutor(workspace, workers=0) as executor:
        root, dataset = build(recipe, [films], executor, workspace)
        times.append(time.process_time())
        for name in METHODS:
            predict(executor, dataset, root=root, method=MethodSpec(name, name))
        times.append(time.process_time())
        score_all(executor, dataset, root, METHODS, "devil/corrected", None, Compute())
        times.append(time.process_time())
    return Cost(len(dataset.items), *(after - before for before, after in pairwise(times)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a quarter of the frames, once")
    quick = parser.parse_args().quick
    frames = QUICK_FRAMES if quick else FRAMES
    found: dict[str, list[Cost]] = {"slices": [], "paired": []}
    with tempfile.TemporaryDirectory() as folder:
        cost(Path(folder) / "warm", "paired", QUICK_FRAMES)  # imports, and what is compiled once
        for turn in range(1 if quick else 2):
            for design in ("slices", "paired"):
                found[design].append(cost(Path(folder) / f"{design}{turn}", design, frames))
    least = {design: min(costs, key=lambda one: one.total / one.items) for design, costs in found.items()}
    ratio = least["paired"].total / least["paired"].items / (least["slices"].total / least["slices"].items)
    print("## A paired benchmark beside slices of other clips\n")
    print(f"{FILMS} films of {frames} frames at {WIDTH}x{HEIGHT}, {' and '.join(METHODS)}, devil/corrected, CPU seconds.\n")
    print("| design | items | build | predict | score | an item, all together |\n|---|---|---|---|---|---|")
    for design, one in least.items():
        print(f"| {design} | {one.items} | {one.build:.1f} | {one.predict:.1f} | {one.score:.1f} | {one.total / one.items:.2f} |")
    print(f"\nAn item of pairs costs {ratio:.2f} times as much; at most {MOST:g} times is wanted.")
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main())
