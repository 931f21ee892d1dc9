"""Freezing and proving a thousand items, and hashing against the programs that do nothing else.

python bench/export_speed.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from skimage import data

from inpaintbench import video
from inpaintbench.export.freeze import freeze
from inpaintbench.export.verify import file_problems, verify
from inpaintbench.types import Clip, Corruption, Frames, Item, Slice, Source
from inpaintbench.workspace import Blobs

ITEMS, FRAMES, HEIGHT, WIDTH = 1000, 12, 120, 208
HASHED_FILES, HASHED_MEGABYTES = 1000, 2000
GOAL_MEGABYTES_A_SECOND = 1000
RUNS = 3


def pan(place: int, frames: int) -> Frames:
    """A pan over a photograph with noise of its own: a real picture, and no two alike."""
    photographs = (data.coffee(), data.astronaut(), data.chelsea())
    picture = photographs[place % len(photographs)]
    rng = np.random.default_rng(place)
    top, left = int(rng.integers(0, picture.shape[0] - HEIGHT)), int(rng.integers(0, picture.shape[1] - WIDTH - frames))
    cut = np.stack([picture[top : top + HEIGHT, left + step : left + step + WIDTH] for step in range(frames)])
    return np.clip(cut + rng.normal(0, 2, cut.shape), 0, 255).astype(np.uint8)


def world(folder: Path, count: int) -> dict[str, object]:
    """What ``freeze`` takes: ``count`` items of as many clips and sources, in four slices."""
    import hashlib

    blobs = Blobs(folder)
    sources, clips, corruptions, items = [], [], [], []
    for place in range(count):
        hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
        hole[:, 20 + place % 40 : 60 + place % 40, 30 + place % 90 : 80 + place % 90] = True
        clip, encoded = blobs.put(".mp4", lambda path, place=place: video.write_clip(path, pan(place, FRAMES), fps=25.0))
        track, _ = blobs.put(".mp4", lambda path, hole=hole: video.write_hole(path, hole, fps=25.0))
        yuv, rgb = video.decoded_hashes(blobs.path(clip))
        name = f"{place:016x}"
        sources.append(Source(name, f"film%20{place}.mp4", "0" * 64, 1, "folder", licence="CC-BY-4.0"))
        clips.append(Clip(name, name, 0, FRAMES, 25.0, WIDTH, HEIGHT, FRAMES, clip, yuv, rgb, encoded.crf, encoded.psnr_db))
        digest = hashlib.sha256(hole.tobytes()).hexdigest()
        corruptions.append(Corruption(name, name, "box", {}, 0, None, track, digest))
        items.append(Item(name, name, name))
    ids = [item.item_id for item in items]
    slices = [Slice(f"part-{number}", f"part {number}", tuple(ids[number::4])) for number in range(4)]
    return {
        "name": "speed", "blobs": blobs, "items": items, "slices": slices, "left_out": {}, "sources": sources, "clips": clips,
        "corruptions": corruptions, "attributes": [], "recipe": {"recipe": "speed"},
    }  # fmt: skip


def hashing(folder: Path, megabytes: int) -> None:
    """Hash files of one size out of the page cache: by ``verify``, and by programs that do nothing else, one process a core."""
    (folder / "truth").mkdir(parents=True)
    size = megabytes * 1_000_000 // HASHED_FILES
    block = np.random.default_rng(0).bytes(size)
    names = []
    for place in range(HASHED_FILES):
        names.append(f"truth/{place:04d}.mp4")
        (folder / names[-1]).write_bytes(block[place:] + block[:place])
    seconds = {"`export verify`, the step that hashes": best(lambda: hashed_by_us(folder, names))}
    for program, arguments in (("sha256sum", []), ("openssl", ["dgst", "-sha256"])):
        if shutil.which(program):
            one = ["xargs", "-n", "32", "-P", str(os.cpu_count()), program, *arguments]
            given = "\n".join(names).encode()
            seconds[f"`{program}`, one process a core"] = best(
                lambda one=one, given=given: subprocess.run(one, input=given, cwd=folder, stdout=subprocess.DEVNULL, check=True)
            )
    print(f"Hashing {HASHED_FILES} files, {megabytes} MB in the page cache, the best of {RUNS}:\n")
    print("| program | MB/s | against `export verify` |\n|---|---:|---:|")
    ours = next(iter(seconds.values()))
    for name, taken in seconds.items():
        print(f"| {name} | {megabytes / taken:,.0f} | {ours / taken:.2f} |")
    reached = "reached" if megabytes / ours >= GOAL_MEGABYTES_A_SECOND else "not reached"
    print(f"\nThe bar, {GOAL_MEGABYTES_A_SECOND:,} MB/s on two cores, is {reached}.\n")


def hashed_by_us(folder: Path, names: list[str]) -> None:
    from inpaintbench.executors.base import unwatched
    from inpaintbench.export.verify import Verification, _file_problems
    from inpaintbench.types import Dataset

    wrong = Dataset("", {}, (), (), {}, dict.fromkeys(names, ""), {})
    assert sum(1 for _ in _file_problems(folder, wrong, Verification(), unwatched)) == len(names)


def best(work: object) -> float:
    """Seconds of the quickest of some runs."""
    taken = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        work()  # type: ignore[operator]
        taken.append(time.perf_counter() - begun)
    return min(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="reduced counts")
    quick = parser.parse_args().quick
    count, megabytes = (40, 200) if quick else (ITEMS, HASHED_MEGABYTES)
    print("## Export and verify\n")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = world(folder / "workspace", count)
        rows, begun = [], time.perf_counter()
        freeze(folder / "one", **made)  # type: ignore[arg-type]
        rows.append(("freeze", time.perf_counter() - begun))
        begun = time.perf_counter()
        freeze(folder / "two", **made)  # type: ignore[arg-type]
        same = all((folder / "two" / path.relative_to(folder / "one")).read_bytes() == path.read_bytes()
                   for path in (folder / "one").rglob("*") if path.is_file())  # fmt: skip
        begun = time.perf_counter()
        assert file_problems(folder / "one") == []
        rows.append(("hash every file", time.perf_counter() - begun))
        some = count // 10
        for name, sample in ((f"verify, {some} items decoded", some), ("verify, all decoded", None)):
            begun = time.perf_counter()
            result = verify(folder / "one", sample=sample)
            rows.append((name, time.perf_counter() - begun))
            assert result.problems == [], result.problems[:3]
        size = sum(path.stat().st_size for path in (folder / "one").rglob("*") if path.is_file())
        print(f"{count} items of {FRAMES} frames {WIDTH}x{HEIGHT}, {result.files} files, {size / 1e6:.1f} MB, 4 slices;")
        print(f"second decoder {result.second_decoder}, largest difference {result.largest_difference};")
        print(f"a second export is {'the same bytes' if same else 'NOT THE SAME BYTES'}.\n")
        print("| work | s | items/s |\n|---|---:|---:|")
        for name, taken in rows:
            print(f"| {name} | {taken:.2f} | {count / taken:,.0f} |")
        print()
        hashing(folder / "hashed", megabytes)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
