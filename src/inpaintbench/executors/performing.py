"""Do the tasks of one unit in this process, read ahead for the next, and tell as plain data what came of them."""

from __future__ import annotations

import contextlib
import resource
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from inpaintbench.errors import (
    InpaintBenchError,
    NetworkError,
    ProgramFailed,
    Rejected,
    UnknownNameError,
    VerifyError,
    is_disk_error,
)
from inpaintbench.executors.base import Job, given_to, load
from inpaintbench.tables import UNEXPECTED, rows_json
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
        """Return what was read for ``jobs``, or None; begins to read for ``following``, unless that was begun already.

        Waits for what is still being read for ``jobs``.
        """
        frames = None
        if self._reading is not None and self._reading.jobs == jobs:
            frames = self._reading.result()
            self._reading = None
        if self._reading is None or self._reading.jobs != following:
            self._begin(following, workspace)
        return frames

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
    """Return what reads ahead for all of ``jobs``; nothing where they are not done in one go."""
    ways = {(job.step.together, job.step.ahead) for job in jobs}
    return ways.pop()[1] if len(ways) == 1 else ""


_STATUS, _CLEAR_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# One in each process, whoever gives it work.
_AHEAD = Ahead()
# What the task at hand stated of its cost.
_STATED: dict[str, float | str | None] = {}


def state_cost(**facts: float | str | None) -> None:
    """State what the task at hand cost, for its ledger, where the clock around it tells something else.

    Args:
        facts: columns of the ledger, ``seconds``, ``peak_mebibytes``, ``card_mebibytes``, ``machine``; None: unknown.
    """
    _STATED.update(facts)


def perform_all(jobs: Sequence[Job], workspace: str, following: Sequence[Job] = ()) -> list[dict[str, Any]]:
    """``perform`` for each job, those with one ``together`` at once.

    What is read ahead for ``following``, the jobs that this process is probably given next, counts for these jobs.
    """
    results = []
    for (together, ahead), group in groupby(jobs, lambda job: (job.step.together, job.step.ahead)):
        some = tuple(group)
        given = partial(_AHEAD.swap, some, following, workspace) if ahead else None
        at_once = perform(some, workspace, given) if together and len(some) > 1 else []
        # Where doing them at once failed, one of them is guilty.
        results += at_once if len(at_once) == len(some) else [perform([job], workspace, given)[0] for job in some]
    return results


def forget_ahead() -> None:
    """Let go of what was read for a unit that does not come."""
    _AHEAD.drop()


def show_reading(flag: Any) -> None:
    """Let the ``value`` of ``flag`` be 1 while this process reads ahead, else 0."""
    _AHEAD.flag = flag


def perform(jobs: Sequence[Job], workspace: str, given: Callable[[], Any] | None = None) -> list[dict[str, Any]]:
    """Do one task, or several at once, in this process: a result for each as plain data, or a single one that says why there are
    none; never raises (a worker must survive any input, and exceptions may not pickle).

    ``given`` is asked for what was read ahead. ``status`` is ``done``, ``spoilt`` (done, but an unexpected error kept a row from
    a value), ``rejected`` (the input has no rows), ``failed`` (an unexpected error) or ``fatal`` (no item can succeed: disk full,
    missing extra). ``seconds`` are the equal share of each, ``peak_mebibytes`` common to all.
    """
    _forget_peak()
    _STATED.clear()
    begun, blobs = time.perf_counter(), Blobs(workspace)
    try:
        ahead = {} if given is None else {"ahead": given()}
        if len(jobs) > 1:
            made = load(jobs[0].step.together)(given_to(jobs), blobs=blobs, **ahead)
        else:
            [(payload, parameters)] = given_to(jobs)
            made = [load(jobs[0].step.function)(payload, parameters=parameters, blobs=blobs, **ahead)]
        results = [_not_done(each) if isinstance(each, InpaintBenchError) else _done(each) for each in made]
    except (Exception, SystemExit) as error:  # a method of somebody's own may call sys.exit
        results = [_not_done(error)]
        results[0]["reason"] += "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    spent = {"seconds": round((time.perf_counter() - begun) / max(len(results), 1), 4), "peak_mebibytes": _peak_mebibytes()}
    return [{**result, **spent, **_STATED} for result in results]


def _done(records: Sequence[Any]) -> dict[str, Any]:
    spoilt = any(UNEXPECTED in (getattr(record, "details", None) or ()) for record in records)
    return {"status": "spoilt" if spoilt else "done", "rows": rows_json(records)}


def _forget_peak() -> None:
    with contextlib.suppress(OSError):  # Linux alone counts a process's peak anew
        _CLEAR_PEAK.write_text("5")


def _peak_mebibytes() -> int:
    if _STATUS.exists():
        kibibytes = next(line.split()[1] for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kibibytes) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20  # macOS counts bytes


def _not_done(error: BaseException) -> dict[str, Any]:
    if isinstance(error, Rejected):
        return {"status": "rejected", "reason": str(error)}
    if isinstance(error, NetworkError | VerifyError):  # the next run tries it again, when the file may have been mended
        damaged = {"damaged": True} if isinstance(error, VerifyError) else {}
        return {"status": "failed", "failure": True, "reason": str(error), **damaged}
    if isinstance(error, ProgramFailed):
        return {"status": "rejected", "failure": True, "reason": str(error)}
    if isinstance(error, MemoryError):
        return {"status": "rejected", "failure": True, "reason": _too_much_memory()}
    if isinstance(error, SystemExit):
        return {"status": "failed", "failure": True, "reason": f"it ended its process with exit status {error.code}"}
    if is_disk_error(error) or isinstance(error, UnknownNameError):
        return {"status": "fatal", "reason": _sentence(error)}
    if isinstance(error, InpaintBenchError):
        return {"status": "rejected", "reason": str(error)}
    trace = "".join(traceback.format_exception(error))
    return {"status": "failed", "failure": True, "reason": _sentence(error), "trace": trace}


def _too_much_memory() -> str:
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return "needs more memory than there is" + (f" (limit {limit / 2**30:.1f} GiB)" if limit != resource.RLIM_INFINITY else "")


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}" if error.filename else "")
    return str(error) if isinstance(error, InpaintBenchError) else f"{type(error).__name__}: {error}"
