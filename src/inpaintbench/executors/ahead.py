"""What a worker reads for its next unit while it works on this one: one unit at most, in one thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from inpaintbench.executors.base import Job, given_to, load
from inpaintbench.workspace import Blobs


class Ahead:
    """Holds what was read for one unit, until it is asked for or another unit takes its place.

    What was announced may not come (another worker may take it) and reading it may fail. Both cost the time alone: whoever does
    a unit then reads for itself.
    """

    def __init__(self) -> None:
        self.flag: Any = None
        """Whose ``value`` tells another process whether something is being read."""
        self._reading: _Reading | None = None

    def swap(self, jobs: Sequence[Job], following: Sequence[Job], workspace: str) -> Any:
        """What was read for ``jobs``, or None; begins to read for ``following``, unless that was begun already.

        Waits for what is still being read for ``jobs``.
        """
        found = None
        if self._reading is not None and self._reading.jobs == jobs:
            found = self._reading.result()
            self._reading = None
        if self._reading is None or self._reading.jobs != following:
            self._begin(following, workspace)
        return found

    def _begin(self, jobs: Sequence[Job], workspace: str) -> None:
        if self._reading is not None and self._reading.is_alive():
            return  # what nobody wants any more, but it takes memory until it ends
        self._reading = None
        if address := _address(jobs):
            self._reading = _Reading(address, jobs, workspace, self.flag)
            self._reading.start()

    def drop(self) -> None:
        """Let go of whatever was read; its thread has ended when this returns."""
        if self._reading is not None:
            self._reading.join()
            self._reading = None


class _Reading(threading.Thread):
    def __init__(self, address: str, jobs: Sequence[Job], workspace: str, flag: Any) -> None:
        super().__init__(name="ahead", daemon=True)  # one that hangs must not keep a process from its end
        self.jobs, self._address, self._workspace = jobs, address, workspace
        self._flag = SimpleNamespace() if flag is None else flag
        self._found: Any = None

    def run(self) -> None:
        self._flag.value = 1
        # Whoever does the unit meets the same error and tells it.
        with contextlib.suppress(Exception):
            self._found = load(self._address)(given_to(self.jobs), blobs=Blobs(self._workspace))
        self._flag.value = 0

    def result(self) -> Any:
        self.join()
        return self._found


def _address(jobs: Sequence[Job]) -> str:
    """What reads ahead for all of ``jobs``; nothing where they are not done in one go."""
    ways = {(job.step.together, job.step.ahead) for job in jobs}
    return ways.pop()[1] if len(ways) == 1 else ""
