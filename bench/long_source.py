"""Memory of a worker over a source of an hour in 1080p, stage by stage.

python bench/long_source.py [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from inpaintbench import video
from inpaintbench.curation.sources.embedded import film, shots
from inpaintbench.types import Clip
from inpaintbench.workspace import Workspace

FPS = 2.0
SHOT_SECONDS = 20


def write_hour(path: Path, *, minutes: int) -> None:
    """Twenty seconds of film in 1920x1080, again and again without encoding anew."""
    frames = int(FPS * SHOT_SECONDS)
    shot = shots(1, width=640, height=360, frames=frames)[0]
    small = film(shot, width=640, height=360).frames
    large = np.repeat(np.repeat(small, 3, axis=1), 3, axis=2)
    piece = path.with_name("piece.mp4")
    video.write_browser(piece, large, fps=FPS)
    loops = minutes * 60 // SHOT_SECONDS - 1
    command = ["ffmpeg", "-v", "error", "-stream_loop", str(loops), "-i", str(piece), "-c", "copy", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    piece.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    minutes = 2 if parser.parse_args().quick else 60
    with tempfile.TemporaryDirectory() as scratch:
        folder, out = Path(scratch) / "sources", Path(scratch) / "workspace"
        folder.mkdir()
        write_hour(folder / "hour.mp4", minutes=minutes)
        size = (folder / "hour.mp4").stat().st_size
        program = [sys.executable, "-m", "inpaintbench", "curation"]
        splitter = "seconds,length_seconds=45,shortest_seconds=20,stride_seconds=600"
        clips = [
            "clips",
            "--sources",
            str(folder),
            "--out",
            str(out),
            "--splitter",
            splitter,
            "--cut-bars",
            "--size",
            "1920x1080",
            "--workers",
            "1",
        ]
        subprocess.run([*program, *clips], check=True, capture_output=True)
        subprocess.run([*program, "measure", str(out), "--workers", "1"], check=True, capture_output=True)
        made = len(Workspace(out).table("clips", Clip))
        peaks: dict[str, int] = defaultdict(int)
        spent: dict[str, float] = defaultdict(float)
        for path in sorted((out / "ledger").glob("*.jsonl")):
            step = "all attributes" if path.stem.startswith("measure.") else path.stem
            for entry in Workspace(out).ledger(path.stem).read().values():
                peaks[step] = max(peaks[step], entry["peak_mebibytes"])
                spent[step] += entry["seconds"]
    print("## A long source\n")
    print(f"{minutes} minutes of 1920x1080 at {FPS:g} frames a second ({size / 1e6:.0f} MB).")
    print(f"{made} clips of 90 frames were cut from it in 1920x1080.\n")
    print("| stage | peak of the worker, asked below 1,000 MB | seconds |\n|---|---|---|")
    for step, peak in peaks.items():
        print(f"| {step} | {peak * 1.048576:.0f} MB | {spent[step]:.0f} |")
    return 0 if max(peaks.values()) * 1.048576 < 1000 else 1


if __name__ == "__main__":
    raise SystemExit(main())
