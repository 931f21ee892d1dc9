"""200 sources, 30 of them poisoned; workers and the run itself are killed at random: nothing lost, nothing twice.

python bench/faults.py [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

from disturbed import run_disturbed
from footage import contents
from poisoned import write_many

from inpaintbench.executors.base import Rejection
from inpaintbench.types import Attribute, Clip, Source
from inpaintbench.workspace import Workspace

MEASURED = ("cut_score", "camera_motion", "sharpness", "noise")


def commands(sources: Path, out: Path) -> list[list[str]]:
    measured = [part for name in MEASURED for part in ("--attribute", name)]
    return [
        ["curation", "clips", "--sources", str(sources), "--out", str(out), "--size", "128x80", "--workers", "2"],
        ["curation", "measure", str(out), *measured, "--workers", "2"],
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    good, poisoned, kills = (17, 3, 2) if quick else (170, 30, 12)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_many(folder / "sources", good=good, poisoned=poisoned)
        for command in commands(folder / "sources", folder / "peaceful"):
            subprocess.run([sys.executable, "-m", "inpaintbench", *command], check=True, capture_output=True)
        done = [
            run_disturbed(command, seed=place, parent_kills=kills, worker_kills=kills, pause_seconds=(0.8, 3.0))
            for place, command in enumerate(commands(folder / "sources", folder / "disturbed"))
        ]
        same = contents(folder / "disturbed") == contents(folder / "peaceful")
        workspace = Workspace(folder / "disturbed", create=False)
        found, clips = workspace.table("sources", Source), workspace.table("clips", Clip)
        rows = [row for row in workspace.table("attributes", Attribute) if row.name in MEASURED]
        refused = {row.name for row in workspace.table("rejected", Rejection)}
        twice = sum(times > 1 for times in Counter((row.subject_id, row.name) for row in rows).values())
        twice += sum(times > 1 for times in Counter(clip.clip_id for clip in clips).values())
    lost = good - len({clip.source_id for clip in clips}) + len(clips) * len(MEASURED) - len(rows)
    print("## A run with faults\n")
    print(f"{good + poisoned} sources, {poisoned} of them poisoned; `curation clips` and `curation measure`, two workers.\n")
    print("| what | asked | measured |\n|---|---|---|")
    print(f"| workers killed by SIGKILL | at random | {sum(one.workers_killed for one in done)} |")
    print(f"| runs killed by SIGKILL | at random | {sum(one.parents_killed for one in done)} |")
    print(f"| poisoned sources refused with a reason | {poisoned} | {len(refused)} |")
    print(f"| sources found, clips, measurements | | {len(found)}, {len(clips)}, {len(rows)} |")
    print(f"| lost | 0 | {lost} |")
    print(f"| twice | 0 | {twice} |")
    print(f"| tables and blobs byte-identical with an undisturbed run | yes | {'yes' if same else 'NO'} |")
    return 0 if same and not lost and not twice and len(refused) == poisoned else 1


if __name__ == "__main__":
    raise SystemExit(main())
