"""Processor time of reading a clip as RGB: frames converted by tables that are kept, against PyAV's call for each frame.

python bench/decoding.py [--quick]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from skimage import data

from inpaintbench import video
from inpaintbench.types import Frames
from inpaintbench.video.decoding import whole

SIZES = ((288, 160), (512, 288), (1280, 720), (1920, 1080))
FRAMES, RUNS = 40, 5


def film(width: int, height: int, frames: int) -> Frames:
    """Return a pan over a photograph."""
    rows, columns = np.ogrid[:height, :width]
    picture = data.astronaut()
    return np.stack([picture[rows % 512, (columns + 2 * step) % 512] for step in range(frames)])


def cpu_milliseconds(work: Callable[[], object], frames: int) -> float:
    """Milliseconds of user and system time a frame, of the quickest of some runs."""
    taken = []
    for _ in range(RUNS):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken) / frames * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="reduced counts")
    quick = parser.parse_args().quick
    print("## Decoding to RGB\n")
    print("Processor time a frame of a 4:2:0 clip, the best of runs; the pixels are equal.\n")
    print("| size | decoding alone, ms | `read_frames`, ms | one `to_ndarray` a frame, ms | times |\n|---|---:|---:|---:|---:|")
    equal = True
    with tempfile.TemporaryDirectory() as folder:
        for width, height in SIZES[:2] if quick else SIZES:
            path = Path(folder) / f"{width}.mp4"
            video.write_browser(path, film(width, height, FRAMES), fps=25.0)
            coded = cpu_milliseconds(lambda path=path: [None for _ in whole(path)], FRAMES)
            ours = cpu_milliseconds(lambda path=path: video.read_frames(path), FRAMES)
            theirs = cpu_milliseconds(lambda path=path: _one_by_one(path), FRAMES)
            equal &= np.array_equal(video.read_frames(path), _one_by_one(path))
            print(f"| {width}x{height} | {coded:.2f} | {ours:.2f} | {theirs:.2f} | {theirs / ours:.1f} |")
    return 0 if equal else 1


def _one_by_one(path: Path) -> Frames:
    return np.stack([frame.to_ndarray(format="rgb24") for frame in whole(path)])


if __name__ == "__main__":
    raise SystemExit(main())
