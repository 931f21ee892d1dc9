"""Ends of commands: the status that scripts see, and one sentence for whatever went wrong.

0  done
1  the work failed, or the data are wrong
2  the command was called wrongly: unknown names, bad values, options that do not go together
3  a run waits for people's answers; nothing is wrong
130  stopped by Ctrl-C or SIGTERM; the same command goes on, or says that it begins anew
"""

from __future__ import annotations

import errno
import os
import tempfile
import time
import traceback

from inpaintbench.cli import logs
from inpaintbench.errors import InpaintBenchError, UnknownNameError, UsageError, Waiting, is_disk_error

FAILED, WRONG_USE, WAITING, STOPPED = 1, 2, 3, 130
# Errors of places where something of the other kind is, as `--out` may name.
_OTHER_KIND = {
    errno.EISDIR: "is a folder, and a file is wanted there", errno.EEXIST: "is a file, and a folder is wanted there",
    errno.ENOTDIR: "lies below a file, and a folder is wanted there",
}  # fmt: skip
# Environment variable: 1 prints the traceback of unexpected errors.
DEBUG = "INPAINTBENCH_DEBUG"


class StoppedError(InpaintBenchError):
    """Ctrl-C or SIGTERM stopped what keeps nothing, so that the same command begins anew."""


def status_of(error: BaseException) -> int:
    """The exit status for an error that ended a command."""
    if isinstance(error, Waiting):
        return WAITING
    if isinstance(error, StoppedError):
        return STOPPED
    return WRONG_USE if isinstance(error, UsageError | UnknownNameError) else FAILED


def sentence_of(error: Exception) -> str:
    """One sentence for an error that ended a command; the traceback of an unexpected one goes into a file that it names."""
    if isinstance(error, InpaintBenchError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _OTHER_KIND and error.filename:
        return f"{str(error.filename)!r} {_OTHER_KIND[error.errno]}; choose another place"
    if isinstance(error, OSError) and error.strerror:
        doing = "cannot write" if is_disk_error(error) else "cannot read or write"
        return f"{doing}: {error.strerror}" + (f": {error.filename}" if error.filename else "")
    if isinstance(error, MemoryError):
        return "out of memory; fewer --workers, or smaller clips, need less"
    if isinstance(error, ImportError):  # parts are loaded when they are asked for, so that a broken one is met here, too
        what = " ".join(str(error).split())
        return f"cannot start: {what}; pip install --force-reinstall PATH_TO_CLONE mends what it needs"
    what = logs.without_secrets(" ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":"))
    return f"unexpected error, a fault of this program: {what[:300]} ({_where_to_look(error)})"


def _where_to_look(error: Exception) -> str:
    trace = logs.without_secrets("".join(traceback.format_exception(error)))
    if os.environ.get(DEBUG, "") not in ("", "0"):
        os.write(2, trace.encode())
        return "its traceback stands above"
    if (log := logs.place()) is not None:
        logs.note("error", "error", text=str(error), traceback=trace)
        return f"its traceback lies in {log}"
    try:  # for nobody else's eyes, and under a name that nobody can have taken
        file, path = tempfile.mkstemp(prefix=f"inpaintbench-{time.strftime('%Y%m%dT%H%M%S')}-", suffix=".traceback")
        with os.fdopen(file, "w", encoding="utf-8", errors="replace") as opened:
            opened.write(trace)
    except OSError:
        return f"{DEBUG}=1 prints its traceback"
    return f"its traceback lies in {path}"
