"""What a paired benchmark of real films tells of built-in methods, and whether as many other films confirm it.

The films of the test assets that show one scene for long enough are halved, by turns in the order of their names; each half
becomes a benchmark with the default options, and every effect that one half tells is looked for in the other.

python bench/real_films.py [--quick] [--size WxH] [--frames N] [--per-slice N] [--masks-per-clip N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.workspace import Workspace

METHODS = ("telea", "temporal_median", "affine_propagation")
# One file of each film, no test patterns and no captions; shorter than half a clip or a copy of another are left out.
LEFT_OUT = {
    "flower.webm", "stream-of-water.webm", "stream-of-water-audioless.webm", "brink_20_640x360.mp4", "cherries_30_320x180.mp4",
    "carphone_distorted.mp4", "big_buck_bunny_432_433.webm", "issue-134-rotate.mp4", "delayed_start.mp4", "fire2.mp4",
    "counter.mp4", "smpte-2997.mp4", "fades.mp4", "boats_mask.mp4", "video3.mp4",
}  # fmt: skip
CLEAREST = 8
"""Effects that are shown where fewer are told."""
TOO_FEW = "too few films"
Effect = tuple[str, str, str, str | None]
"""Factor, step, method and the one whose effect is subtracted."""


def films(folder: Path) -> list[Path]:
    """By name."""
    return sorted((path for path in folder.rglob("*") if path.suffix in (".mp4", ".webm") and path.name not in LEFT_OUT),
                  key=lambda path: path.name)  # fmt: skip


def told_by(some: list[Path], scratch: Path, options: argparse.Namespace) -> tuple[dict[Effect, dict[str, Any]], str]:
    """Effects on PSNR in the hole by what they are of, and the size of the benchmark in words."""
    folder = scratch / "films"
    folder.mkdir(parents=True, exist_ok=True)
    for path in some:
        if not (folder / path.name).exists():
            (folder / path.name).symlink_to(path)
    width, height = options.size
    usual = devil.DevilRecipe.model_fields
    recipe = devil.DevilRecipe(
        design="paired", width=width, height=height, rules=devil.rules_of_footage([]),
        clip_frames=options.frames or usual["clip_frames"].default, per_slice=options.per_slice or usual["per_slice"].default,
        shortest_clip_frames=min(options.frames or 45, 45),
        masks_per_clip=options.masks_per_clip or usual["masks_per_clip"].default,
    )  # fmt: skip
    workspace = Workspace(scratch / "workspace")
    begun = time.perf_counter()
    with LocalExecutor(workspace, workers=options.workers) as executor:
        root, dataset = build(recipe, [SourceSpec("folder", {"folder": str(folder)})], executor, workspace)
    clips, sources = ({row[key] for row in dataset.items} for key in ("clip_id", "source_id"))
    run = scratch / "run"
    workers = ["--workers", str(options.workers)]
    _call("run", root, "--run", run, *(part for method in METHODS for part in ("--method", method)), *workers)
    _call("score", root, "--run", run, "--metric", "psnr", *workers)
    found = json.loads(_call("diagnose", root, "--run", run, "--json"))
    effects: dict[Effect, dict[str, Any]] = {}
    for row in found["effects"]:
        if (row["metric"], row["region"]) == ("psnr", "hole"):
            step = f"{row['low_level']} to {row['high_level']}" if row["low_level"] else row["kind"]
            effects[row["factor"], step, row["method"], row["other"]] = row
    minutes = (time.perf_counter() - begun) / 60
    return effects, f"{len(dataset.items)} items of {len(clips)} clips of {len(sources)} films ({minutes:.0f} min)"


def _call(*words: object) -> str:
    command = [sys.executable, "-m", "inpaintbench", "eval", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr[-2000:]}")
    return done.stdout


def _size(text: str) -> tuple[int, int]:
    width, height = text.split("x")
    return int(width), int(height)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small clips, few of them")
    parser.add_argument("--size", type=_size, default=(480, 270))
    parser.add_argument("--frames", type=int, help="of a clip; by default as the recipe has it")
    parser.add_argument("--per-slice", type=int, help="clips of an axis; by default as the recipe has it")
    parser.add_argument("--masks-per-clip", type=int, help="by default as the recipe has it")
    parser.add_argument("--keep", type=Path, help="folder for workspaces and runs, which is used again")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.quick:
        options.size, options.frames, options.per_slice = (144, 80), 16, 7
    print("## What real films tell\n")
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not assets:
        print("Not measured: INPAINTBENCH_TEST_ASSETS is not set.")
        return 0
    every = films(Path(assets) / "videos")
    with tempfile.TemporaryDirectory() as scratch:
        halves = [told_by(every[place::2], (options.keep or Path(scratch)) / str(place), options) for place in (0, 1)]
    first, second = (effects for effects, _ in halves)
    sizes = [words for _, words in halves]
    width, height = options.size
    frames, clips, masks = (
        given or "the usual number of" for given in (options.frames, options.per_slice, options.masks_per_clip)
    )
    print(
        f"{len(every)} films in halves, {width}x{height}, {frames} frames a clip, {clips} clips an axis, {masks} masks a clip; "
        f"{', '.join(METHODS)}; "
        f"PSNR in the hole. First half: {sizes[0]}; second: {sizes[1]}. Confirmed: told of one half, of the same sign in the "
        "other, and the intervals meet.\n"
    )
    print("| factor | step | method | first half, dB | p | second half, dB | p | told by | confirmed |")
    print("|---|---|---|---|---|---|---|---|---|")
    halves_of = {of: [half[of] for half in (first, second) if of in half] for of in [*first, *second]}
    named = {"first": first, "second": second}
    told = {of: [name for name, half in named.items() if of in half and half[of]["told"]] for of in halves_of}
    clearest = sorted(halves_of, key=lambda of: min(row["p_corrected"] for row in halves_of[of]))
    for of in clearest[: max(sum(map(bool, told.values())), CLEAREST)]:
        factor, step, method, other = of
        cells = [factor, step, f"{method} less {other}" if other else method,
                 *(text for half in (first, second) for text in _cells(half.get(of))),
                 " and ".join(told[of]), _confirmed(halves_of[of]) if told[of] else ""]  # fmt: skip
        print(f"| {' | '.join(cells)} |")
    print()
    for name, half in named.items():
        own = [_confirmed(halves_of[of]) for of, row in half.items() if row["told"]]
        lacking = f", which has too few films for {own.count(TOO_FEW)}" if TOO_FEW in own else ""
        words = f"{len(own)} of {len(half)} effects told of the {name} half (asked: 4)"
        print(f"{words}, {own.count('yes')} of them confirmed by the other{lacking}.\n")
    return 0


def _confirmed(rows: list[dict[str, Any]]) -> str:
    """Whether an effect of both halves, or of the only one that has it, is confirmed."""
    if len(rows) < 2:
        return TOO_FEW
    one, other = rows
    meet = one["interval_low"] <= other["interval_high"] and other["interval_low"] <= one["interval_high"]
    return "yes" if meet and (one["value"] > 0) == (other["value"] > 0) else "no"


def _cells(row: dict[str, Any] | None) -> tuple[str, str]:
    if row is None:
        return "", ""
    return f"{row['value']:+.1f} ({row['interval_low']:+.1f} to {row['interval_high']:+.1f})", f"{row['p_corrected']:.3f}"


if __name__ == "__main__":
    raise SystemExit(main())
