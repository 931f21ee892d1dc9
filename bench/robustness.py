"""Kill `build` at random moments, run it again, and compare every byte with an uninterrupted run; and other worker counts."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

from footage import build_command as command
from footage import contents, write_labels, write_sources

from inpaintbench import video


def killed_then_finished(folder: Path, name: str, *, after_seconds: float) -> tuple[bool, dict[str, str]]:
    """Whether the run was still going when it was killed, and what the second run left."""
    log = (folder / f"{name}.log").open("w")
    run = subprocess.Popen(command(folder, name, workers=2), stdout=log, stderr=log)
    time.sleep(after_seconds)
    going = run.poll() is None
    os.kill(run.pid, signal.SIGKILL) if going else None
    run.wait()
    subprocess.run(command(folder, name, workers=2), check=True, stdout=log, stderr=log)
    return going, contents(folder / name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    kills = 2 if parser.parse_args().quick else 10
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_sources(folder / "sources")
        write_labels(folder / "labels.csv")
        begun = time.perf_counter()
        subprocess.run(command(folder, "whole", workers=1), check=True, capture_output=True)
        seconds = time.perf_counter() - begun
        whole = contents(folder / "whole")
        subprocess.run(command(folder, "four", workers=4), check=True, capture_output=True)
        workers_equal = contents(folder / "four") == whole
        moments = [random.Random(place).uniform(0.05, 0.95) * seconds * 0.8 for place in range(kills)]
        results = []
        for place, moment in enumerate(moments):
            results.append(killed_then_finished(folder, f"killed{place}", after_seconds=moment))
            shutil.rmtree(folder / f"killed{place}")
        hashes = encode_hashes(folder)
    equal = sum(made == whole for _, made in results)
    print("## Interruption, worker counts, encoding\n")
    print(f"A benchmark of {len(whole)} files (tables, blobs, export) from six clips, compared byte by byte.\n")
    print("| what | asked | measured |\n|---|---|---|")
    print(f"| runs killed by SIGKILL while going | {kills} | {sum(going for going, _ in results)} |")
    print(f"| byte-identical after running again | {kills} of {kills} | {equal} of {kills} |")
    print(f"| 1 and 4 workers byte-identical | yes | {'yes' if workers_equal else 'NO'} |")
    print(f"| distinct hashes of ten encodes of one clip | 1 | {hashes} |")
    return 0 if equal == kills and workers_equal and hashes == 1 else 1


def encode_hashes(folder: Path) -> int:
    source = video.read_frames(sorted((folder / "sources").iterdir())[1])
    found = set()
    for _ in range(10):
        video.write_clip(folder / "clip.mp4", source, fps=25.0)
        found.add(hashlib.sha256((folder / "clip.mp4").read_bytes()).hexdigest())
    return len(found)


if __name__ == "__main__":
    raise SystemExit(main())
