"""Processor time until a command answers, until a worker process can work, and of `export verify` on a small dataset.

python bench/start_up.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from export_speed import world

from inpaintbench.export.freeze import freeze

RUNS = 5
ITEMS = 30
_WORKER = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from inpaintbench.executors.local import LocalExecutor

if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        processes.submit(int).result()
"""


def cpu_seconds(arguments: list[str], *, runs: int) -> float:
    """User and system time of a program and all that it starts, of the quickest of some runs."""
    taken = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="reduced counts")
    quick = parser.parse_args().quick
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    runs = 1 if quick else RUNS
    rows: list[tuple[str, float | None, float]] = [("`python -c pass`", None, cpu_seconds(["-c", "pass"], runs=runs))]
    for name, bar in (("", 0.3), ("build devil", 0.5), ("eval run", None), ("export verify", None)):
        arguments = ["-m", "inpaintbench", *name.split(), "--help"]
        rows.append((f"`inpaintbench {name} --help`".replace("  ", " "), bar, cpu_seconds(arguments, runs=runs)))
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "worker.py"
        program.write_text(_WORKER)
        rows.append(
            ("a parent with the executor's modules, and one spawned worker", None, cpu_seconds([str(program)], runs=runs))
        )
        folder = Path(place) / "dataset"
        freeze(folder, **world(Path(place) / "workspace", ITEMS))  # type: ignore[arg-type]
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        seconds = cpu_seconds(["-m", "inpaintbench", "export", "verify", str(folder)], runs=min(runs, 3))
        rows.append((f"`inpaintbench export verify`, {size:.1f} MB, both decoders", 5.0, seconds))
    print("## Start-up\n")
    print("User and system time of a program and all that it starts, the least of runs.\n")
    print("| what | asked, s | measured, s |\n|---|---:|---:|")
    for name, bar, seconds in rows:
        print(f"| {name} | {'' if bar is None else f'at most {bar:g}'} | {seconds:.2f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
