"""What scanning costs with either reader on real files, short and long, and which real files decord is refused on.

python bench/scanning.py [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import av

from inpaintbench import video
from inpaintbench.errors import MediaError

REAL = (
    "videos/scenery/scenery-pexels-videopainter/000000000855_854996_seg_696_890.mp4",
    "videos/general/general-flutter/butterfly.mp4",
)
LOOPS, QUICK_LOOPS = 12, 3
SPARSE, WIDTH = 100, 320


def loop(source: Path, target: Path, loops: int) -> None:
    """The same packets again and again, without encoding anything."""
    with av.open(str(target), "w") as out:
        stream = None
        for turn in range(loops):
            with av.open(str(source)) as container:
                inner = container.streams.video[0]
                stream = stream or out.add_stream_from_template(inner)
                length = round(inner.frames / inner.average_rate / inner.time_base)
                for packet in container.demux(inner):
                    if packet.dts is not None:
                        packet.pts, packet.dts = packet.pts + turn * length, packet.dts + turn * length
                        packet.stream = stream
                        out.mux(packet)


def measured(path: Path, found: video.Probe, *, every: int, reader: str) -> dict[str, object]:
    """One scan in a process of its own."""
    command = [sys.executable, __file__, "--one", json.dumps([str(path), asdict(found), every, reader])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def one(task: str) -> None:
    path, found, every, reader = json.loads(task)
    start = time.perf_counter()
    scan = video.scan(path, probed=video.Probe(**found), every=every, width=WIDTH, reader=reader)
    frames = sum(1 for _ in scan)
    peaks = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    row = {"seconds": time.perf_counter() - start, "frames": frames, "reader": scan.reader, "note": scan.note, "peaks": peaks}
    print(json.dumps(row))


def speed_rows(assets: Path, names: tuple[str, ...], loops: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            files = [assets / name, Path(scratch) / f"long_{Path(name).name}"]
            loop(*files, loops)
            for path in files:
                start = time.perf_counter()
                found = video.probe(path)
                probing = time.perf_counter() - start
                for every in (1, SPARSE):
                    own, other = (measured(path, found, every=every, reader=reader) for reader in video.READERS)
                    by = other["reader"] if other["reader"] == "decord" else f"pyav ({other['note']})"
                    yield (
                        f"| {found.width}x{found.height}, {found.frames} frames | {probing:.1f} | every {every} | "
                        f"{own['seconds']:.1f} | {other['seconds']:.1f} | {by} | {own['peaks'][0]} | {sum(other['peaks'])} |"
                    )


def refusals(assets: Path, most: int | None) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path in sorted(path for path in (assets / "videos").rglob("*") if path.suffix in video.VIDEO_SUFFIXES)[:most]:
        try:
            found = video.probe(path)
            scan = video.scan(path, probed=found, indices=[found.frames // 2], reader="decord")
            list(scan)
        except MediaError as error:
            counts[str(error)] = counts.get(str(error), 0) + 1
            continue
        reason = (scan.note or "read by decord").split("(")[0].strip()
        reason = "levels differ" if "levels between" in reason else reason
        counts[reason] = counts.get(reason, 0) + 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one shorter long file, and five real files instead of all")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one)
        return
    assets = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    print("## Scanning\n")
    print(
        f"Frames brought down to {WIDTH} px, one thread a reader; decord includes starting its process, opening the file and the "
        "comparison with PyAV. The long files are the short ones' packets repeated. Seconds; memory is the peak of the process "
        "and, for decord, of both.\n"
    )
    print("| file | probe s | frames | pyav s | decord s | read by | pyav MB | decord MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in speed_rows(assets, REAL[:1] if arguments.quick else REAL, QUICK_LOOPS if arguments.quick else LOOPS):
        print(row, flush=True)
    print("\n| of the real files | count |\n| --- | --- |")
    for reason, count in sorted(refusals(assets, 5 if arguments.quick else None).items(), key=lambda pair: -pair[1]):
        print(f"| {reason} | {count} |")


if __name__ == "__main__":
    main()
