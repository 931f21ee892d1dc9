"""Do the tasks of one unit in this process, and tell as plain data what came of them."""

from __future__ import annotations

import contextlib
import resource
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from inpaintbench.errors import InpaintBenchError, NetworkError, Rejected, UnknownNameError
from inpaintbench.executors.ahead import Ahead
from inpaintbench.executors.base import Call, load
from inpaintbench.workspace import Blobs, is_disk_error

_STATUS, _CLEAR_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_AHEAD = Ahead()
"""One in each process, whoever gives it work."""
Given = Callable[[], dict[str, Any]]


def perform_all(calls: Sequence[Call], workspace: str, following: Sequence[Call] = ()) -> list[dict[str, Any]]:
    """``perform`` for each call, those with one ``together`` at once.

    Each result also tells its ``seconds`` and ``peak_mebibytes``: of calls done at once, their equal share and common peak.
    What is read ahead for ``following``, the calls that this process is probably given next, counts for these calls.
    """
    results = []
    for (together, ahead), group in groupby(calls, lambda call: (call.together, call.ahead)):
        some = list(group)
        given = partial(_given, some, following, workspace) if ahead else _nothing_given
        at_once = _measured(partial(_perform_together, together, some, workspace, given)) if together and len(some) > 1 else []
        # Where doing them at once failed, one of them is guilty.
        results += at_once if len(at_once) == len(some) else [
            _measured(partial(_alone, call, workspace, given))[0] for call in some
        ]  # fmt: skip
    return results


def forget_ahead() -> None:
    """Let go of what was read for a unit that does not come."""
    _AHEAD.drop()


def show_reading(flag: Any) -> None:
    """Let the ``value`` of ``flag`` be 1 while this process reads ahead, else 0."""
    _AHEAD.flag = flag


def _given(calls: Sequence[Call], following: Sequence[Call], workspace: str) -> dict[str, Any]:
    return {"ahead": _AHEAD.swap(calls, following, workspace)}


def _nothing_given() -> dict[str, Any]:
    return {}


def _alone(call: Call, workspace: str, given: Given) -> list[dict[str, Any]]:
    return [perform(call, workspace, given)]


def _measured(work: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    _forget_peak()
    begun = time.perf_counter()
    results = work()
    spent = {"seconds": round((time.perf_counter() - begun) / len(results), 4), "peak_mebibytes": _peak_mebibytes()}
    return [{**result, **spent} for result in results]


def _forget_peak() -> None:
    with contextlib.suppress(OSError):  # Linux alone counts a process's peak anew
        _CLEAR_PEAK.write_text("5")


def _peak_mebibytes() -> int:
    if _STATUS.exists():
        kibibytes = next(line.split()[1] for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kibibytes) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20  # macOS counts bytes


def perform(call: Call, workspace: str, given: Given = _nothing_given) -> dict[str, Any]:
    """Do one task in this process and tell the result as plain data; never raises (exceptions may not pickle).

    ``given`` tells what else the function takes. ``status`` is ``done``, ``rejected`` (the input has no rows), ``failed`` (an
    unexpected error) or ``fatal`` (no item can succeed: disk full, missing extra).
    """
    blobs = Blobs(workspace)
    return _safely(lambda: [load(call.function)(call.payload, parameters=call.parameters, blobs=blobs, **given())])[0]


def _perform_together(together: str, calls: Sequence[Call], workspace: str, given: Given) -> list[dict[str, Any]]:
    """One result for each call, or a single one that says why there are none."""
    jobs = [(call.payload, call.parameters) for call in calls]
    return _safely(lambda: load(together)(jobs, blobs=Blobs(workspace), **given()))


def _safely(work: Callable[[], Sequence[Sequence[Any]]]) -> list[dict[str, Any]]:
    """Results of the lists of records that ``work`` gives, or a single one that says why it gave none.

    A broad ``except``: a worker must survive any input.
    """
    try:
        return [{"status": "done", "rows": [asdict(record) for record in records]} for records in work()]
    except Rejected as error:
        return [{"status": "rejected", "reason": str(error)}]
    except NetworkError as error:  # the next run tries it again
        return [{"status": "failed", "failure": True, "reason": str(error)}]
    except MemoryError:
        return [{"status": "rejected", "failure": True, "reason": _too_much_memory()}]
    except SystemExit as error:  # a method of somebody's own may call sys.exit
        return [{"status": "failed", "failure": True, "reason": f"it ended its process with exit status {error.code}"}]
    except Exception as error:
        if is_disk_error(error) or isinstance(error, UnknownNameError):
            return [{"status": "fatal", "reason": _sentence(error)}]
        if isinstance(error, InpaintBenchError):
            return [{"status": "rejected", "reason": str(error)}]
        return [{"status": "failed", "failure": True, "reason": _sentence(error), "trace": traceback.format_exc()}]


def _too_much_memory() -> str:
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return "needs more memory than there is" + (f" (limit {limit / 2**30:.1f} GiB)" if limit != resource.RLIM_INFINITY else "")


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}" if error.filename else "")
    return str(error) if isinstance(error, InpaintBenchError) else f"{type(error).__name__}: {error}"
