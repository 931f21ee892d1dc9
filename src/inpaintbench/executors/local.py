"""Run steps on this machine, in spawned worker processes that may hang or crash without harm to the run: what such a process does
with a unit, the pools of them, and who is given what."""

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
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import resource_tracker
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pebble import ProcessExpired, ProcessPool

from inpaintbench.errors import (
    InpaintBenchError,
    NetworkError,
    ProgramFailed,
    Rejected,
    RunError,
    UnknownNameError,
    VerifyError,
    is_disk_error,
)
from inpaintbench.executors.base import STATED, Job, Progress, given_to, load
from inpaintbench.executors.ledgered import LedgeredExecutor, Results, Unit, Waiting, check_for_stop
from inpaintbench.tables import UNEXPECTED, rows_json
from inpaintbench.workspace import Blobs, Workspace


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


_STATUS, _CLEAR_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
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
    waiting: deque[tuple[Sequence[Job], Sequence[Job]]] = deque()  # what was read for all of a group, and some of it to be done
    for _, alike in groupby(jobs, lambda job: (job.step.together, job.step.ahead)):
        group: Sequence[Job] = tuple(alike)
        waiting += [(group, group)] if group[0].step.together else [(group, (job,)) for job in group]
    while waiting:
        group, some = waiting.popleft()
        with contextlib.suppress(OSError):  # Linux alone counts a process's peak anew
            _CLEAR_PEAK.write_text("5")
        STATED.clear()
        step, begun, blobs = some[0].step, time.perf_counter(), Blobs(workspace)
        try:
            ahead = {"ahead": AHEAD.swap(group, following, workspace)} if step.ahead else {}
            given = given_to(some)
            if len(some) > 1 or not step.function:
                made = load(step.together)(given, blobs=blobs, **ahead)
            else:
                made = [load(step.function)(given[0][0], parameters=given[0][1], blobs=blobs, **ahead)]
            done = []
            for each in made:
                if isinstance(each, InpaintBenchError):
                    done.append(_not_done(each))
                else:
                    spoilt = any(UNEXPECTED in (getattr(record, "details", None) or ()) for record in each)
                    done.append({"status": "spoilt" if spoilt else "done", "rows": rows_json(each)})
        except (Exception, SystemExit) as error:  # a method of somebody's own may call sys.exit
            done = [_not_done(error)]
            done[0]["reason"] += "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        if len(some) > 1 and len(done) != len(some):  # one of them is guilty
            waiting.extendleft([(group, (job,)) for job in reversed(some)])
            continue
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20  # macOS counts bytes
        if _STATUS.exists():
            peak = next(int(line.split()[1]) >> 10 for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        spent = {"seconds": round((time.perf_counter() - begun) / len(done), 4), "peak_mebibytes": peak}
        results += [{**result, **spent, **STATED} for result in done]
    return results


def _not_done(error: BaseException) -> dict[str, Any]:
    if isinstance(error, Rejected):
        return {"status": "rejected", "reason": str(error)}
    if isinstance(error, NetworkError | VerifyError):  # the next run tries it again, when the file may have been mended
        damaged = {"damaged": True} if isinstance(error, VerifyError) else {}
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


_LOOK_SECONDS = 0.5
_MOST_BREAKS = 5  # of a pool, with no result between them
# Processes that share a graphics card: each has a context of its own there, of half a GiB, and loads every network. One computes
# while others decode, composite and measure on the processor.
_MOST_ON_CARD = 4
_QUEUED = 2  # units for each worker: keeps them busy without holding the whole run in memory


@dataclass
class _Lane:
    """Processes that units are given to, whichever of them is free.

    Where steps read ahead every process has a lane of its own, so that it can be told what comes next. That binds nobody: once
    nothing else waits, another lane takes the unit.
    """

    children: Children
    room: int
    """Units at once."""
    running: dict[Future[Any], tuple[Unit, Unit | None]] = field(default_factory=dict)
    """Each with what is read ahead beside it."""
    following: Unit | None = None
    """Unit that its process was told of, and nobody has begun."""
    done: set[str] = field(default_factory=set)
    """Groups of the units that its process was given, where a step keeps them apart."""


class LocalExecutor(LedgeredExecutor):
    """Worker processes on this machine; use it as a context manager.

    Args:
        workspace: where results go.
        workers: processes, at most four for steps that use a graphics card; 0 runs everything in this process, for debugging (a
            hanging input then hangs the run), but what has to be kept apart.
        memory_bytes: that each worker may have (Linux only); by default an equal share of the machine's, at least 2 GiB. Workers
            that open a graphics card have no such limit: its driver maps more of their address space than the machine has memory.
        ahead: let steps that can do so read their next item while they work on one; the results are the same without.
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
        ahead: bool = True,
        max_failures: int | None = None,
        retry_rejected: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(workspace, max_failures=max_failures, retry_rejected=retry_rejected, progress=progress)
        self.workers, self.ahead = workers, ahead
        self._memory_bytes = memory_bytes or default_memory_bytes(workers)
        self._lanes: list[_Lane] = []
        self._on_card = False
        self._suspects: set[tuple[str, int]] = set()

    def _close(self, *, kill: bool) -> None:
        AHEAD.drop()
        for lane in self._lanes:
            lane.children.close(kill=kill)
        self._lanes = []

    def _results(self, waiting: Waiting) -> Results:
        folder, ahead = str(self.workspace.path.resolve()), self.ahead and waiting.reads_ahead and not waiting.apart
        self._suspects = set()
        if self.workers or waiting.apart:
            yield from self._outside(waiting, folder, ahead=ahead)
            return
        while waiting:
            unit = waiting.popleft()
            yield unit, perform_all(unit.jobs, folder, waiting.peek().jobs if ahead and waiting else ())
        AHEAD.drop()

    def _outside(self, waiting: Waiting, folder: str, *, ahead: bool) -> Results:
        breaks = 0
        if not waiting:
            return
        # Nothing tells what groups processes from before have done.
        self._open(apart=ahead or waiting.apart, on_card=waiting.on_card, anew=waiting.apart)
        while waiting or any(lane.running or lane.following for lane in self._lanes):
            for lane in self._lanes:
                self._fill(lane, waiting, folder, ahead=ahead)
            running = {future: lane for lane in self._lanes for future in lane.running}
            finished, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            check_for_stop()
            for future in finished:
                lane = running[future]
                unit, later = lane.running.pop(future)
                results = result(future, time_limit_seconds=unit.time_limit_seconds)
                if results is None or (future.exception() and self._suspicious(lane, unit, later)):
                    waiting.put_first([unit])
                else:
                    yield unit, results
                breaks = breaks if results is None else 0
            for broken in [lane for lane in self._lanes if lane.children.broken]:
                breaks += 1
                if breaks > _MOST_BREAKS * len(self._lanes):
                    raise RunError("the worker processes end before they begin any task; is there memory for them?")
                self._mend(broken, waiting)

    def _fill(self, lane: _Lane, waiting: Waiting, folder: str, *, ahead: bool) -> None:
        """Give the lane what it has room for, and tell it what comes next."""
        idle = sum(not other.running for other in self._lanes if other is not lane)
        take = self._apart if waiting.apart else self._next
        while len(lane.running) < lane.room and (unit := take(lane, waiting)):
            later = None
            if ahead and len(waiting) > idle and self._suspects.isdisjoint({unit.subject, waiting.peek().subject}):
                later = lane.following = waiting.popleft()
            future = lane.children.schedule(
                unit.jobs, workspace=folder, time_limit_seconds=unit.time_limit_seconds, following=later.jobs if later else ()
            )
            lane.running[future] = unit, later

    def _next(self, lane: _Lane, waiting: Waiting) -> Unit | None:
        source = next((candidate for candidate in (lane, *self._lanes) if candidate.following), None)
        if source is None or (waiting and source is not lane):
            return waiting.popleft() if waiting else None
        unit, source.following = source.following, None
        return unit

    def _apart(self, lane: _Lane, waiting: Waiting) -> Unit | None:
        """The next unit of a group that the lane's process has not done; that process ends where there is none."""
        unit = waiting.pop_unlike(lane.done)
        if unit is None and waiting:
            lane.children.close()
            lane.children, lane.done = self._children(1), set()
            unit = waiting.popleft()
        if unit is not None:
            lane.done.add(unit.group)
        return unit

    def _suspicious(self, lane: _Lane, unit: Unit, later: Unit | None) -> bool:
        """Return whether a worker died while it read ahead.

        Either may be guilty, and each is then done with nothing beside it.
        """
        if not lane.children.died_reading():
            return False
        self._suspects |= {piece.subject for piece in (unit, later) if piece}
        return True

    def _open(self, *, apart: bool, on_card: bool, anew: bool = False) -> None:
        workers = max(min(self.workers, _MOST_ON_CARD) if on_card else self.workers, 1)
        count, processes, room = (workers, 1, 1) if apart else (1, workers, workers * _QUEUED)
        given_up = any(lane.running or lane.following for lane in self._lanes)  # by a run that ended with an error
        if anew or given_up or on_card != self._on_card or [lane.room for lane in self._lanes] != [room] * count:
            self._close(kill=given_up)
            self._on_card = on_card
            self._lanes = [_Lane(self._children(processes), room) for _ in range(count)]

    def _children(self, count: int) -> Children:
        return Children(count, memory_bytes=None if self._on_card else self._memory_bytes)

    def _mend(self, lane: _Lane, waiting: Waiting) -> None:
        """New processes for a lane whose pool has ended; nothing that it was given is lost."""
        waiting.put_first(unit for unit, _ in lane.running.values())
        lane.running.clear()
        lane.children.close(kill=True)
        lane.children, lane.done = self._children(max(lane.room // _QUEUED, 1)), set()
