"""A DEVIL benchmark from all real videos of the test assets: every file gives clips or a row with a reason.

python bench/real_videos.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from pathlib import Path

from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.verify import verify
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Clip, Source
from inpaintbench.workspace import Workspace


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
    return 1 if lost or problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
