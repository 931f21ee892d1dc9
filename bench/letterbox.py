"""How exact bars are found, on generated and on real clips.

python bench/letterbox.py [--quick]
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
import time
from collections import Counter
from dataclasses import astuple, replace
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import av
import cv2
import numpy as np

from inpaintbench.curation.bars import Bars, find_bars, looked_at
from inpaintbench.curation.sources.embedded import Shot, film
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS
from inpaintbench.types import Frames, item_rng

cv2.setNumThreads(1)

KINDS = ("letterbox", "pillarbox", "both", "one side", "noisy black", "not quite black", "dark film", "subtitled", "coloured")
MOTIONS = ("tripod", "pan_right", "hand_shake", "zoom_in")
REAL_BARS = Path(__file__).parents[1] / "tests" / "curation" / "real_bars.csv"
FRAMES = 50


def case(index: int) -> tuple[str, Frames, Bars]:
    """A film of two seconds with known bars."""
    kind = KINDS[index % len(KINDS)]
    rng = item_rng(index, "letterbox case", kind)
    width, height = int(rng.integers(140, 240)), int(rng.integers(90, 140))
    shot = Shot(str(index), str(rng.choice(list(PHOTOGRAPHS))), str(rng.choice(MOTIONS)), 0.05, FRAMES, seed=index)
    frames = film(shot, width=width, height=height).frames
    if kind == "dark film":
        frames = (frames // 4).astype(np.uint8)
    bars = widths(kind, rng, width=width, height=height)
    return kind, boxed(frames, bars, kind, rng), bars


def widths(kind: str, rng: np.random.Generator, *, width: int, height: int) -> Bars:
    """Bars of 2 lines to a quarter of the side that they make; 0 where the kind has none."""
    drawn = Bars(*(max(2, round(side * share / (1 - 2 * 0.25))) for side, share in zip(
        (height, height, width, width), rng.uniform(0.0, 0.25, 4), strict=True)))  # fmt: skip
    if kind == "pillarbox":
        return replace(drawn, top=0, bottom=0)
    if kind == "both":
        return drawn
    if kind == "one side":
        return Bars(top=drawn.top)
    if kind == "coloured":
        return Bars(top=max(drawn.top, 6), bottom=max(drawn.top, 6))
    if kind == "subtitled":
        return Bars(drawn.top, max(drawn.bottom, 24))
    return replace(drawn, left=0, right=0)


def boxed(frames: Frames, bars: Bars, kind: str, rng: np.random.Generator) -> Frames:
    """The film with its bars; even sides, by lines of the picture that are left off, so that 4:2:0 takes it."""
    odd = [(frames.shape[1] + bars.top + bars.bottom) % 2, (frames.shape[2] + bars.left + bars.right) % 2]
    frames = frames[:, : frames.shape[1] - odd[0], : frames.shape[2] - odd[1]]
    colour = {"not quite black": int(rng.integers(16, 25)), "coloured": rng.integers(60, 200, 3)}.get(kind, 0)
    size = (frames.shape[1] + bars.top + bars.bottom, frames.shape[2] + bars.left + bars.right)
    made = np.empty((len(frames), *size, 3), np.uint8)
    made[:] = colour
    if kind == "noisy black":
        made[:] = np.clip(rng.normal(6, 3, made.shape), 0, 255).astype(np.uint8)
    made[:, bars.top : size[0] - bars.bottom, bars.left : size[1] - bars.right] = frames
    if kind == "subtitled":
        for frame in made[10:40]:
            place = (size[1] // 4, size[0] - bars.bottom // 2 + 3)
            cv2.putText(frame, "words in a bar", place, cv2.FONT_HERSHEY_SIMPLEX, 0.35, (255, 255, 255))
    return made


def write(path: Path, frames: Frames, *, crf: int) -> None:
    """Ordinary 4:2:0 H.264."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"crf": str(crf), "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = frames.shape[2], frames.shape[1], "yuv420p"
        stream.codec_context.thread_count = 1
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")))
        container.mux(stream.encode(None))


def generated(count: int) -> list[tuple[str, int]]:
    """Kind and largest error in lines of each case."""
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        for index in range(count):
            kind, frames, bars = case(index)
            write(path, frames, crf=(18, 23, 28)[index // len(KINDS) % 3])
            found = find_bars(looked_at(str(path)), frames=len(frames))
            error = max(abs(one - other) for span in found for one, other in zip(astuple(span.bars), astuple(bars), strict=True))
            errors.append((kind, error))
    return errors


def real(limit: int | None) -> tuple[list[str], int, float]:
    """Real clips whose bars are not what the eye saw, how many were looked at, and CPU seconds for all."""
    folder = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    seen = {row["file"]: row for row in csv.DictReader(REAL_BARS.read_text().splitlines())}
    wrong, seconds = [], 0.0
    for name, row in list(seen.items())[:limit]:
        started = time.process_time()
        spans = find_bars(looked_at(str(folder / name)), frames=1)
        seconds += time.process_time() - started
        seen_widths = [int(row[side]) for side in ("top", "bottom", "left", "right")]
        off = np.abs(np.subtract(astuple(spans[0].bars), seen_widths))
        if off.max() > int(row["tolerance"]):
            wrong.append(f"{name} {astuple(spans[0].bars)}")
    return wrong, len(list(seen)[:limit]), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="27 generated cases and 8 real clips instead of 200 and all")
    quick = parser.parse_args().quick
    errors = generated(27 if quick else 200)
    print("## Letterbox\n")
    print(
        "Two-second films of a virtual camera over photographs inside bars of 0 to 25 % a side, 4:2:0 H.264 at CRF 18, 23 and "
        "28; an error is the largest of the four sides, in lines.\n"
    )
    print("| bars | films | exact | off by 1 | worse |\n| --- | --- | --- | --- | --- |")
    for kind in (*KINDS, "all"):
        own = Counter(min(error, 2) for name, error in errors if kind in (name, "all"))
        print(f"| {kind} | {own.total()} | {own[0]} | {own[1]} | {own[2]} |")
    if "INPAINTBENCH_TEST_ASSETS" in os.environ:
        wrong, count, seconds = real(8 if quick else None)
        print(f"\nReal clips with bars that the eye did not see, or other ones: {len(wrong)} of {count}. {'; '.join(wrong)}")
        print(f"CPU seconds for all of them, decoding included: {seconds:.1f}.")


if __name__ == "__main__":
    main()
