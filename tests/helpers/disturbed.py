"""Runs that are disturbed: their workers, and they themselves, are killed at random moments and begun again."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Disturbance:
    """What was done to a run, and how often it was begun."""

    workers_killed: int = 0
    parents_killed: int = 0
    starts: int = 0
    statuses: list[int] = field(default_factory=list)


def run_disturbed(
    command: Sequence[str], *, seed: int, parent_kills: int, worker_kills: int, pause_seconds: tuple[float, float]
) -> Disturbance:
    """Run ``python -m inpaintbench COMMAND`` to its end through kills; the last start is left in peace.

    Pauses are counted from when it has workers.
    """
    rng = random.Random(seed)
    done = Disturbance()
    while True:
        run = subprocess.Popen([sys.executable, "-m", "inpaintbench", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        done.starts += 1
        kill_parent = done.parents_killed < parent_kills
        for _ in range(rng.randint(1, 3)):
            _wait_for_workers(run)
            time.sleep(rng.uniform(*pause_seconds))
            if done.workers_killed < worker_kills and (workers := workers_of(run.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(workers), signal.SIGKILL)
                    done.workers_killed += 1
        if kill_parent and run.poll() is None:
            run.send_signal(signal.SIGKILL)
            done.parents_killed += 1
        output = run.communicate()[0].decode(errors="replace")
        done.statuses.append(run.returncode)
        if run.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(f"{' '.join(command)} ended with {run.returncode}:\n{output[-2000:]}")
        if run.returncode == 0 and not (done.parents_killed < parent_kills or done.workers_killed < worker_kills):
            break
        if done.starts > 3 * (parent_kills + worker_kills) + 3:  # it finishes faster than it can be disturbed
            break
    subprocess.run([sys.executable, "-m", "inpaintbench", *command], check=True, capture_output=True)
    return done


def _wait_for_workers(run: subprocess.Popen[bytes]) -> None:
    """Until it has begun to work or is over: what is killed while it starts loses nothing."""
    while run.poll() is None and not workers_of(run.pid):
        time.sleep(0.05)


def workers_of(parent: int) -> list[int]:
    """Processes that a process has spawned as workers; the resource tracker is not one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                arguments = (stat.parent / "cmdline").read_text()
                if "resource_tracker" not in arguments:
                    found.append(int(stat.parent.name))
    return found
