"""Run steps on this machine, in spawned worker processes that may hang or crash without harm to the run."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any

from inpaintbench.errors import RunError
from inpaintbench.executors.base import Progress, perform_all
from inpaintbench.executors.children import Children, default_memory_bytes, default_workers, result
from inpaintbench.executors.ledgered import STOP_ASKED, LedgeredExecutor, Results, Unit, check_for_stop
from inpaintbench.workspace import Workspace

__all__ = ["STOP_ASKED", "LocalExecutor", "default_workers"]
_LOOK_SECONDS = 0.5
_MOST_BREAKS = 5  # of the pool, with no result between them
_AHEAD = 2  # tasks queued for each worker: keeps them busy without holding the whole run in memory


class LocalExecutor(LedgeredExecutor):
    """Worker processes on this machine; use it as a context manager.

    Args:
        workspace: where results go.
        workers: processes; 0 runs everything in this process, for debugging (a hanging input then hangs the run).
        memory_bytes: that each worker may have (Linux only); by default an equal share of the machine's, at least 2 GiB.
        max_failures: end the run after this many crashes, time-outs and unexpected errors; None = never.
        retry_rejected: do again what an earlier run refused.
        progress: told after every task.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        workers: int = 1,
        memory_bytes: int | None = None,
        max_failures: int | None = None,
        retry_rejected: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(workspace, max_failures=max_failures, retry_rejected=retry_rejected, progress=progress)
        self.workers = workers
        self._memory_bytes = memory_bytes or default_memory_bytes(workers)
        self._children: Children | None = None

    def _close(self, *, kill: bool) -> None:
        if self._children is not None:
            self._children.close(kill=kill)
            self._children = None

    def _results(self, waiting: deque[Unit]) -> Results:
        folder = str(self.workspace.path.resolve())
        if self.workers == 0:
            while waiting:
                unit = waiting.popleft()
                yield unit, perform_all(unit.calls, folder)
            return
        running: dict[Any, Unit] = {}
        breaks = 0
        while waiting or running:
            while waiting and len(running) < self.workers * _AHEAD:
                unit = waiting.popleft()
                limit = unit.time_limit_seconds
                future = self._workers().schedule(unit.calls, workspace=folder, time_limit_seconds=limit)
                running[future] = unit
            finished, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            check_for_stop()
            for future in finished:
                unit = running.pop(future)
                results = result(future, time_limit_seconds=unit.time_limit_seconds)
                if results is None:
                    waiting.appendleft(unit)
                else:
                    breaks = 0
                    yield unit, results
            if self._workers().broken:
                breaks += 1
                if breaks > _MOST_BREAKS:
                    raise RunError("the worker processes end before they begin any task; is there memory for them?")
                waiting.extendleft(running.values())
                running.clear()
                self._close(kill=True)

    def _workers(self) -> Children:
        if self._children is None:
            self._children = Children(self.workers, memory_bytes=self._memory_bytes)
        return self._children
