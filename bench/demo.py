"""Time and memory of `inpaintbench demo` on this machine, set-up excluded. Linux only: memory is read from /proc.

Processor time is what stays the same on a machine that does other work; the load says how much of that there was.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


def tree_megabytes(root: int) -> float:
    """Memory of a process and all its descendants, shared pages counted once (PSS)."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    family, grown = {root}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    return sum(map(_pss_kilobytes, family)) / 1024


def _pss_kilobytes(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the same; there is nothing to reduce")
    parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "inpaintbench", "demo", "--out", str(Path(folder) / "demo")]
        load, begun = os.getloadavg()[0], time.perf_counter()
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        peak = 0.0
        done = threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.5):
                peak = max(peak, tree_megabytes(run.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        output, _ = run.communicate()
        seconds, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        done.set()
        watcher.join()
        page = Path(output.rpartition("Report: ")[2].splitlines()[0])
        megabytes = page.stat().st_size / 1e6 if page.is_file() else float("nan")
    print("## Demo\n")
    cores = len(os.sched_getaffinity(0))
    machine = f"a machine of {os.cpu_count()}, whose load was {load:.1f} before (niceness {os.nice(0)})"
    print(f"`inpaintbench demo` in an empty folder on {cores} cores of {machine}.")
    print("Memory is that of all processes, sampled twice a second.\n")
    print("| what | asked | measured |\n|---|---|---|")
    print(f"| time | under 60 s | {seconds:.0f} s |")
    print(f"| processor time | | {used.ru_utime:.0f} s, and {used.ru_stime:.0f} s of the system |")
    print(f"| largest memory | under 2,000 MB | {peak:,.0f} MB |")
    print(f"| report | under 8 MB | {megabytes:.1f} MB |")
    return run.returncode


if __name__ == "__main__":
    raise SystemExit(main())
