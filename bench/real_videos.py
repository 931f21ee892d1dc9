"""A DEVIL benchmark from all real videos of the test assets: every file gives clips or a row with a reason.

python bench/real_videos.py [--quick]
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from collections import Counter
from pathlib import Path

from inpaintbench.curation.facts import Facts
from inpaintbench.curation.funnel.stages import funnel_words
from inpaintbench.curation.judging import stored_selection
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.verify import verify
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import LEVELS
from inpaintbench.types import Attribute, Clip, Selection, Source
from inpaintbench.workspace import Workspace

REAL_CUTS = Path(__file__).parents[1] / "tests" / "real_cuts.csv"


def by_default(videos: str) -> None:
    """Clips kept with and without the default rules for one's own footage, beside what the eye marked."""
    marked = [row for row in csv.DictReader(REAL_CUTS.read_text().splitlines()) if row["kind"] in ("cut", "gradual")]
    spans = [
        (Path(row["file"]).name, int(row["start_frame"]), max(int(row["end_frame"]), int(row["start_frame"]) + 1), row["kind"])
        for row in marked
        if not row["note"].startswith("jump cut")
    ]
    print("\nAll clips of these films, with the default rules of `build devil` and without; transitions were marked by eye.\n")
    print("| rules | clips | kept | with a cut inside | with a fade or dissolve | sources of camera_motion low, high |")
    print("|---|---|---|---|---|---|")
    told: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch) / "workspace")
        with LocalExecutor(workspace, workers=4) as executor:
            for name, rules in (("none", ()), ("default", devil.rules_of_footage([], without=["text"]))):
                recipe = devil.DevilRecipe(width=416, height=240, rules=rules)
                devil.curate(recipe, [SourceSpec("folder", {"folder": videos})], executor, workspace)
                devil.label(recipe, executor, workspace)
                dropped = {row.clip_id for row in workspace.table("selection", Selection) if not row.keep}
                clips = workspace.table("clips", Clip)
                kept = [clip for clip in clips if clip.clip_id not in dropped]
                uri = {row.source_id: Path(row.uri).name for row in workspace.table("sources", Source)}
                holding = {
                    kind: sum(any(uri[clip.source_id] == file and of == kind and start < clip.end_frame and clip.start_frame < end
                                  for file, start, end, of in spans) for clip in kept)
                    for kind in ("cut", "gradual")
                }  # fmt: skip
                levels = workspace.table("attributes", Attribute, step=LEVELS)
                source_of = {clip.clip_id: clip.source_id for clip in kept}
                resting = []
                for level in ("low", "high"):
                    own = [source_of[row.subject_id] for row in levels if row.value == level]
                    resting.append(f"{len(own)} clips of {len(set(own))}")
                print(f"| {name} | {len(clips)} | {len(kept)} | {holding['cut']} | {holding['gradual']} | {', '.join(resting)} |")
                told.append(funnel_words(workspace, stored_selection(workspace, Facts.of_workspace(workspace, ()))))
    print(f"\n{told[-1]}.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="masks for fewer clips")
    quick = parser.parse_args().quick
    print("## Real videos\n")
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not assets:
        print("Not measured: INPAINTBENCH_TEST_ASSETS is not set.")
        return 0
    videos = str(Path(assets) / "videos")
    recipe = devil.DevilRecipe(width=416, height=240, per_slice=2 if quick else 10)
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch) / "workspace")
        with LocalExecutor(workspace, workers=2) as executor:
            folder, dataset = devil.build(recipe, SourceSpec("folder", {"folder": videos}), executor, workspace)
        problems = verify(folder).problems
        found = {piece.uri for piece in FolderSource(folder=videos).footage()}
        sources = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        with_clips = {sources[clip.source_id] for clip in workspace.table("clips", Clip)}
        refused = {row.name: row.reason for row in workspace.table("rejected", Rejection) if row.step != "pair"}
    lost = found - with_clips - set(refused)
    print("Asked: every file gives clips or a row with a reason, and the build ends with a verified dataset.\n")
    print("| files | with clips | refused with a reason | lost | items | slices | problems found by verify |")
    print("|---|---|---|---|---|---|---|")
    print(
        f"| {len(found)} | {len(with_clips)} | {len(set(refused) - with_clips)} | {len(lost)} | {len(dataset.items)} "
        f"| {len(dataset.slices)} | {len(problems)} |\n"
    )
    reasons = Counter(reason for name, reason in refused.items() if name not in with_clips)
    print("\n".join(f"- {count} x {reason}" for reason, count in reasons.most_common()))
    by_default(videos)
    return 1 if lost or problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
