"""Worker processes that may hang, crash or ask for too much memory without harm to the run."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import Any

from pebble import ProcessExpired, ProcessPool

from inpaintbench.executors.base import Job
from inpaintbench.executors.performing import AHEAD, perform_all


class Children:
    """A pool of spawned processes that can be killed one by one.

    Args:
        count: processes.
        memory_bytes: of private memory that each may have (Linux only); None = as much as there is.
    """

    def __init__(self, count: int, *, memory_bytes: int | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._reading: Any = context.RawValue("b", 0)
        # The pool's threads inherit this mask, and workers theirs: Ctrl-C on a terminal goes to all processes, also to
        # workers that are still starting and would print a traceback.
        # The tracker comes first: starting it lifts the mask of whichever thread does.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            arguments = [memory_bytes, self._reading]
            self._pool = ProcessPool(count, context=context, initializer=start_worker, initargs=arguments)
            _ = self._pool.active  # starts the threads
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def schedule(
        self, jobs: Sequence[Job], *, workspace: str, time_limit_seconds: float, following: Sequence[Job] = ()
    ) -> Future[Any]:
        """Begin ``perform_all``; its future goes to ``result``."""
        arguments = (jobs, workspace, following)
        try:
            future: Future[Any] = self._pool.schedule(perform_all, args=arguments, timeout=time_limit_seconds)
        except RuntimeError as error:
            future = Future()
            future.set_exception(BrokenProcessPool(str(error)))
        return future

    @property
    def broken(self) -> bool:
        """Return whether a process died before it began anything: that ends the pool, with all its tasks undone."""
        return not self._pool.active

    def died_reading(self) -> bool:
        """Return whether the process that died was reading ahead; asked once for each death, and only of a single process."""
        died = bool(self._reading.value)
        self._reading.value = 0
        return died

    def close(self, *, kill: bool = False) -> None:
        """Let the processes end, or end them now."""
        end = self._pool.stop if kill else self._pool.close
        end()  # type: ignore[no-untyped-call]
        self._pool.join()


def result(future: Future[Any], *, time_limit_seconds: float) -> list[dict[str, Any]] | None:
    """Return what ``perform_all`` gave, or one entry that says why it gave nothing; None if the pool broke before it began."""
    try:
        results: list[dict[str, Any]] = future.result()
        return results
    except TimeoutError:
        reason = f"took longer than {time_limit_seconds:g} s and was stopped"
        return [{"status": "rejected", "failure": True, "reason": reason, "seconds": time_limit_seconds}]
    except BrokenProcessPool:
        return None
    except ProcessExpired as error:
        code = error.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        # Killed from outside (by a person, or for want of memory) is not the input's doing for certain: the next run tries again.
        status = "failed" if code in (-signal.SIGKILL, -signal.SIGTERM) else "rejected"
        return [{"status": status, "failure": True, "reason": f"crashed the worker process ({how})"}]
    except OSError as error:  # the pool could not start a process
        return [{"status": "failed", "failure": True, "reason": f"worker could not run: {error}"}]


def start_worker(memory_bytes: int | None = None, reading: Any = None) -> None:
    """Make this process a good worker: one thread, own process group, dies with its parent, leaves Ctrl-C to it.

    ``reading`` is shared with the parent, and 1 while this process reads ahead.
    """
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # how the pool ends a worker
    if sys.platform == "linux":
        # A hung worker would outlive a killed parent. PR_SET_PDEATHSIG is 1.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        if memory_bytes:
            resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    AHEAD.flag = reading
    import cv2  # only workers need it here

    cv2.setNumThreads(1)


def default_memory_bytes(workers: int) -> int | None:
    """An equal share of this machine's memory for each worker, at least 2 GiB; None where the machine does not tell."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
    return max(whole // max(workers, 1), 2 << 30)
