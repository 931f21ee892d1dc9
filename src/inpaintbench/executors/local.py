"""Run steps on this machine, in spawned worker processes that may hang or crash without harm to the run."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any

from pebble import ProcessExpired, ProcessPool

from inpaintbench.errors import RunError, WorkspaceError
from inpaintbench.executors.base import Outcome, Progress, Rejection, Step, Task, finish, perform, task_key
from inpaintbench.workspace import Ledger, Workspace, blob_names

STOP_ASKED = threading.Event()
"""Set by whoever handles interrupts: an executor then ends with ``KeyboardInterrupt``."""
_LOOK_SECONDS = 0.5
_AHEAD = 2  # tasks queued for each worker: keeps them busy without holding the whole run in memory


class LocalExecutor:
    """Worker processes on this machine; use it as a context manager.

    Args:
        workspace: where results go.
        workers: processes; 0 runs everything in this process, for debugging (a hanging input then hangs the run).
        max_failures: end the run after this many crashes, time-outs and unexpected errors; None = never.
        retry_rejected: do again what an earlier run refused.
        progress: told after every task.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        workers: int = 1,
        max_failures: int | None = None,
        retry_rejected: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.workspace, self.workers = workspace, workers
        self.max_failures, self.retry_rejected = max_failures, retry_rejected
        self._progress = progress or _silent
        self._pool: ProcessPool | None = None
        self._held = contextlib.ExitStack()

    def __enter__(self) -> LocalExecutor:
        self._held.enter_context(self.workspace.locked())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            end = self._pool.close if kind is None else self._pool.stop
            end()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None
        self._held.close()

    def run(self, step: Step, tasks: Sequence[Task], *, rejected: Sequence[Rejection] = ()) -> Outcome:
        """Run what is missing, then write the step's table from the ledger.

        Raises:
            WorkspaceError: results cannot be written (disk full).
            RunError: more failures than ``max_failures``; what is done stays done.
        """
        ledger = self.workspace.ledger(step.name)
        entries = ledger.read()
        keys = [task_key(step, task) for task in tasks]
        todo = dict(zip(keys, tasks, strict=True))
        pending = [(key, task) for key, task in todo.items() if key not in entries or not self._stands(entries[key])]
        failures, done = 0, len(todo) - len(pending)
        self._progress(step.name, done, len(todo))
        try:
            for key, result in self._results(step, pending):
                self._keep(ledger, entries, key, result)
                failures += result.get("failure", False)
                done += 1
                self._progress(step.name, done, len(todo))
                if self.max_failures is not None and failures > self.max_failures:
                    raise RunError(f"{step.name}: more than {self.max_failures} failures, the last one: {result['reason']}")
        finally:
            ledger.close()
        return finish(self.workspace, step, tasks, entries, rejected, failures)

    def _stands(self, entry: dict[str, Any]) -> bool:
        """Whether an earlier result is still good."""
        if entry["status"] == "done":
            return all(self.workspace.blobs.path(name).exists() for row in entry["rows"] for name in blob_names(row))
        # An unexpected error may be a fault of the program or the machine, so it is tried again in every run.
        return entry["status"] == "rejected" and not self.retry_rejected

    def _keep(self, ledger: Ledger, entries: dict[str, Any], key: str, result: dict[str, Any]) -> None:
        if result["status"] == "fatal":
            raise WorkspaceError(result["reason"])
        entry = {"key": key, "finished_at": round(time.time(), 3), **result}
        ledger.append(entry)
        entries[key] = entry

    def _results(self, step: Step, pending: list[tuple[str, Task]]) -> Iterator[tuple[str, dict[str, Any]]]:
        folder = str(self.workspace.path.resolve())
        if self.workers == 0:
            for key, task in pending:
                yield key, perform(step.function, task.payload, step.parameters, folder)
            return
        waiting = iter(pending)
        running: dict[Any, str] = {}
        while True:
            while len(running) < self.workers * _AHEAD and (following := next(waiting, None)):
                key, task = following
                arguments = (step.function, task.payload, step.parameters, folder)
                running[self._workers().schedule(perform, args=arguments, timeout=step.time_limit_seconds)] = key
            if not running:
                return
            finished, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            if STOP_ASKED.is_set():
                raise KeyboardInterrupt
            for future in finished:
                yield running.pop(future), _result(future, step)

    def _workers(self) -> ProcessPool:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            # The pool's threads inherit this mask, and workers theirs: Ctrl-C on a terminal goes to all processes, also to
            # workers that are still starting and would print a traceback.
            # The tracker comes first: starting it lifts the mask of whichever thread does.
            resource_tracker.ensure_running()
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                self._pool = ProcessPool(self.workers, context=context, initializer=start_worker)
                _ = self._pool.active  # starts the threads
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return self._pool


def _result(future: Any, step: Step) -> dict[str, Any]:
    try:
        result: dict[str, Any] = future.result()
        return result
    except TimeoutError:
        reason = f"took longer than {step.time_limit_seconds:g} s and was stopped"
        return {"status": "rejected", "failure": True, "reason": reason}
    except ProcessExpired as error:
        return _crashed(error.exitcode or 0)
    except OSError as error:  # the pool could not start a process
        return {"status": "failed", "failure": True, "reason": f"worker could not run: {error}"}


def _crashed(exit_code: int) -> dict[str, Any]:
    how = f"signal {signal.Signals(-exit_code).name}" if exit_code < 0 else f"exit status {exit_code}"
    # Killed from outside (by a person, or for want of memory): not the input's doing for certain, so the next run tries again.
    outside = exit_code in (-signal.SIGKILL, -signal.SIGTERM)
    return {"status": "failed" if outside else "rejected", "failure": True, "reason": f"crashed the worker process ({how})"}


def _silent(step: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def start_worker() -> None:
    """Make this process a good worker: one thread, own process group, dies with its parent, leaves Ctrl-C to it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # how the pool ends a worker
    if sys.platform == "linux":
        # A hung worker would outlive a killed parent. PR_SET_PDEATHSIG is 1.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    import cv2  # only workers need it here

    cv2.setNumThreads(1)


def default_workers() -> int:
    """One worker a core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
