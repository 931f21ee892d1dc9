"""Worker processes that may hang, crash or ask for too much memory without harm to the run, and what they do with a unit."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from multiprocessing import resource_tracker
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from inpaintbench import storage
from inpaintbench.errors import (
    InpaintBenchError,
    NetworkError,
    ProgramFailed,
    Rejected,
    UnknownNameError,
    VerifyError,
    is_disk_error,
)
from inpaintbench.executors.base import STATED, Job, given_to, load
from inpaintbench.lazily import lazily
from inpaintbench.tables import UNEXPECTED, rows_json
from inpaintbench.workspace import Blobs

pebble = lazily("pebble")

_STATUS, _CLEAR_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


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
        """Return what was read for ``jobs``, or None; begins to read for ``following``, unless that was begun already.

        Waits for what is still being read for ``jobs``.
        """
        found = None
        if self._reading is not None and self._reading.jobs == jobs:
            self._reading.join()
            found, self._reading = self._reading.found, None
        if self._reading is not None and (self._reading.jobs == following or self._reading.is_alive()):
            return found  # nothing more is read beside what nobody wants any more, but takes memory until it ends
        # What reads ahead for all of them; nothing where they are not done in one go.
        ways = {(job.step.together, job.step.ahead) for job in following}
        address = ways.pop()[1] if len(ways) == 1 else ""
        self._reading = _Reading(address, following, workspace, self.flag) if address else None
        if self._reading is not None:
            self._reading.start()
        return found

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
        self.found: Any = None

    def run(self) -> None:
        self._flag.value = 1
        # Whoever does the unit meets the same error and tells it.
        with contextlib.suppress(Exception):
            self.found = load(self._address)(given_to(self.jobs), blobs=Blobs(self._workspace))
        self._flag.value = 0


# One in each process, whoever gives it work.
AHEAD = Ahead()


def perform_all(jobs: Sequence[Job], workspace: str, following: Sequence[Job] = ()) -> list[dict[str, Any]]:
    """Do the tasks of one unit in this process, those with one ``together`` at once: a result for each as plain data; never
    raises (a worker must survive any input, and exceptions may not pickle).

    What is read ahead for ``following``, the jobs that this process is probably given next, counts for these jobs.

    ``status`` is ``done``, ``spoilt`` (done, but an unexpected error kept a row from a value), ``rejected`` (the input has no
    rows), ``failed`` (an unexpected error) or ``fatal`` (no item can succeed: disk full, missing extra). ``seconds`` are the
    equal share of each, ``peak_mebibytes`` common to all.
    """
    results: list[dict[str, Any]] = []
    for (together, ahead), alike in groupby(jobs, lambda job: (job.step.together, job.step.ahead)):
        some = tuple(alike)
        read = partial(AHEAD.swap, some, following, workspace) if ahead else None
        made = _perform(some, workspace, read) if together or len(some) == 1 else []
        if len(made) != len(some):  # one of them is guilty, where doing them at once failed
            made.clear()
            for job in some:
                made += _perform([job], workspace, read)
        results += made
    results[0]["asked"] = storage.traffic()
    return results


def _perform(some: Sequence[Job], workspace: str, read: Callable[[], Any] | None) -> list[dict[str, Any]]:
    """A result for each job, or a single one that says why there are none; ``read`` gives what was read ahead.

    A function of its own so that pixels of one task are gone before the peak of the next is measured.
    """
    with contextlib.suppress(OSError):  # Linux alone counts a process's peak anew
        _CLEAR_PEAK.write_text("5")
    STATED.clear()
    step, begun, blobs = some[0].step, time.perf_counter(), Blobs(workspace)
    try:
        ahead = {} if read is None else {"ahead": read()}
        given = given_to(some)
        if len(some) > 1 or not step.function:
            made = list(load(step.together)(given, blobs=blobs, **ahead))
        else:
            made = [load(step.function)(given[0][0], parameters=given[0][1], blobs=blobs, **ahead)]
        if len(made) != len(some):  # nobody could tell whose rows they are
            raise ValueError(f"{step.together} gave {len(made)} results for {len(some)}")
        done = [_not_done(each) if isinstance(each, InpaintBenchError) else _done(each) for each in made]
    except (Exception, SystemExit) as error:  # a method of somebody's own may call sys.exit
        done = [_not_done(error)]
        done[0]["reason"] += "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    if _STATUS.exists():
        peak = next(int(line.split()[1]) >> 10 for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    else:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20  # macOS counts bytes
    spent = {"seconds": round((time.perf_counter() - begun) / len(done), 4), "peak_mebibytes": peak}
    return [{**result, **spent, **STATED, "sent": blobs.sent} for result in done]


def _done(records: Sequence[Any]) -> dict[str, Any]:
    spoilt = any(UNEXPECTED in (getattr(record, "details", None) or ()) for record in records)
    return {"status": "spoilt" if spoilt else "done", "rows": rows_json(records)}


def _not_done(error: BaseException) -> dict[str, Any]:
    if isinstance(error, Rejected):
        return {"status": "rejected", "reason": str(error)}
    if isinstance(error, NetworkError | VerifyError):  # the next run tries it again, when the file may have been mended
        damaged = {"damaged": error.blob} if isinstance(error, VerifyError) else {}
        return {"status": "failed", "failure": True, "reason": str(error), **damaged}
    if isinstance(error, ProgramFailed):
        return {"status": "rejected", "failure": True, "reason": str(error)}
    if isinstance(error, MemoryError):
        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
        stated = f" (limit {limit / 2**30:.1f} GiB)" if limit != resource.RLIM_INFINITY else ""
        return {"status": "rejected", "failure": True, "reason": f"needs more memory than there is{stated}"}
    if isinstance(error, SystemExit):
        return {"status": "failed", "failure": True, "reason": f"it ended its process with exit status {error.code}"}
    if is_disk_error(error) or isinstance(error, UnknownNameError):
        return {"status": "fatal", "reason": _sentence(error)}
    if isinstance(error, InpaintBenchError):
        return {"status": "rejected", "reason": str(error)}
    trace = "".join(traceback.format_exception(error))
    return {"status": "failed", "failure": True, "reason": _sentence(error), "trace": trace}


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}" if error.filename else "")
    return str(error) if isinstance(error, InpaintBenchError) else f"{type(error).__name__}: {error}"


class Children:
    """A pool of spawned processes that can be killed one by one.

    Args:
        count: processes.
        memory_bytes: of private memory that each may have (Linux only); None = as much as there is.
        card: the only graphics card that they see; None = all that this process sees.
    """

    def __init__(self, count: int, *, memory_bytes: int | None = None, card: str | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._reading: Any = context.RawValue("b", 0)
        # The pool's threads inherit this mask, and workers theirs: Ctrl-C on a terminal goes to all processes, also to
        # workers that are still starting and would print a traceback.
        # The tracker comes first: starting it lifts the mask of whichever thread does.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            arguments = [memory_bytes, self._reading, card]
            self._pool = pebble.ProcessPool(count, context=context, initializer=start_worker, initargs=arguments)
            _ = self._pool.active  # starts the threads
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def schedule(
        self, jobs: Sequence[Job], *, workspace: str, time_limit_seconds: float, following: Sequence[Job] = ()
    ) -> Future[Any]:
        """Begin ``perform_all``; its future goes to ``result``."""
        arguments = (jobs, workspace, following)
        try:
            with _undisturbed():
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
        with _undisturbed():
            end()
            self._pool.join()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put Ctrl-C and SIGTERM off to the end of the block.

    An exception between the two lines of ``Condition.notify`` that wake a waiter and forget it leaves one that nobody waits at.
    It takes the next notice, and the pool's thread, which never learns that it should end, is joined for ever.
    """
    asked: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: asked.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for one in asked:
            signal.raise_signal(one)


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
    except pebble.ProcessExpired as error:
        code = error.exitcode or 0
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        # Killed from outside (by a person, or for want of memory) is not the input's doing for certain: the next run tries again.
        status = "failed" if code in (-signal.SIGKILL, -signal.SIGTERM) else "rejected"
        return [{"status": status, "failure": True, "reason": f"crashed the worker process ({how})"}]
    except OSError as error:  # the pool could not start a process
        return [{"status": "failed", "failure": True, "reason": f"worker could not run: {error}"}]


def start_worker(memory_bytes: int | None = None, reading: Any = None, card: str | None = None) -> None:
    """Make this process a good worker: one thread, own process group, dies with its parent, leaves Ctrl-C to it.

    ``reading`` is shared with the parent, and 1 while this process reads ahead; ``card`` is the only one that it sees.
    """
    if card is not None:  # before anything opens one
        os.environ["CUDA_VISIBLE_DEVICES"] = card
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
