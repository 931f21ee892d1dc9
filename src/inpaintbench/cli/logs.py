"""Log of a command, as JSON lines beside the console; and its end: the status that scripts see, and one sentence.

    0  done
    1  the work failed, or the data are wrong
    2  the command was called wrongly: unknown names, bad values, options that do not go together
    3  a run waits for people's answers; nothing is wrong
    130  stopped by Ctrl-C or SIGTERM; the same command goes on, or says that it begins anew

A command that writes into a workspace or a run folder leaves ``logs/TIME-COMMAND-ID.jsonl`` there, a file of its own, so that
shards on many machines never share one; ``--log FILE`` or ``INPAINTBENCH_LOG`` add to a file of the user's choice. Every line
has ``at`` (UTC), ``level`` and ``event``:

    begun     command, version, python, platform, packages, folder, process
    step      step, done, total: when a step begins, every ten seconds, and when it ends
    rejected  step, name, reason: what was refused and was not before
    warning   text
    error     text, and traceback where it was unexpected
    ended     status, seconds

Passwords, tokens and queries of addresses are left out of all of them. A log that cannot be written stops nothing.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import re
import shlex
import sys
import tempfile
import time
import traceback
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import inpaintbench
from inpaintbench.errors import InpaintBenchError, UnknownNameError, UsageError, Waiting, WorkspaceError, is_disk_error
from inpaintbench.files import without_controls

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
    what = without_secrets(" ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":"))
    return f"unexpected error, a fault of this program: {what[:300]} ({_where_to_look(error)})"


def _where_to_look(error: Exception) -> str:
    trace = without_secrets("".join(traceback.format_exception(error)))
    if os.environ.get(DEBUG, "") not in ("", "0"):
        os.write(2, trace.encode())
        return "its traceback stands above"
    if (log := place()) is not None:
        note("error", "error", text=str(error), traceback=trace)
        return f"its traceback lies in {log}"
    try:  # for nobody else's eyes, and under a name that nobody can have taken
        file, path = tempfile.mkstemp(prefix=f"inpaintbench-{time.strftime('%Y%m%dT%H%M%S')}-", suffix=".traceback")
        with os.fdopen(file, "w", encoding="utf-8", errors="replace") as opened:
            opened.write(trace)
    except OSError:
        return f"{DEBUG}=1 prints its traceback"
    return f"its traceback lies in {path}"


FOLDER = "logs"
PACKAGES = ("av", "numpy", "opencv-python-headless", "datasets", "torch", "torchvision")
# Lines at most from before the log has a place.
_BEFORE = 1000
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|_KEY$|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 6
_HIDDEN = "***"
_SECRET = r"(?:[\w-]*[-_])?(?:apikey|key|token|secret|password|passwd)"
_IN_TEXT = (
    (re.compile(r"(://)[^/@\s'\"]+@"), rf"\1{_HIDDEN}@"),
    (re.compile(r"(\w+://[^\s?#'\"]*)[?#][^\s'\"]+"), rf"\1?{_HIDDEN}"),
    (re.compile(rf"(--{_SECRET}[= ])[^\s'\"]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    (re.compile(rf"(\b{_SECRET}[\"']?\s*[=:]\s*[\"']?)[^\s'\",]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    (re.compile(r"\bhf_\w{8,}"), _HIDDEN),
)


class _Log:
    """The lines of one command, and the files that they go to."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self._begun = time.monotonic()
        self._lines: deque[str] = deque(maxlen=_BEFORE)
        self.files: list[Path] = []
        self._first = _line("info", "begun", {"command": shlex.join(["inpaintbench", *self.words]), "process": os.getpid()})

    def note(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        line = _line(level, event, fields)
        if not self.files:
            self._lines.append(line)
        for path in self.files:
            _append(path, line)

    def into(self, path: Path) -> bool:
        """Write to ``path`` too, from the beginning; False where that is impossible."""
        if path not in self.files:
            versions = {}
            for name in PACKAGES:
                with contextlib.suppress(PackageNotFoundError):
                    versions[name] = version(name)
            first = json.loads(self._first) | {
                "version": inpaintbench.__version__, "python": platform.python_version(), "platform": platform.platform(),
                "packages": versions, "folder": str(Path.cwd()), "executable": sys.executable,
            }  # fmt: skip
            if not _append(path, _dumped(first) + "".join(self._lines)):
                return False
            self.files.append(path)
        return True

    def end(self, status: int) -> None:
        seconds = round(time.monotonic() - self._begun, 3)
        self.note("info" if status == 0 else "error", "ended", {"status": status, "seconds": seconds})


# That of the running command, if the program itself runs it.
_current: list[_Log] = []


@contextmanager
def of_command(words: Sequence[str]) -> Iterator[None]:
    """Keep a log while the block runs, which ends with ``SystemExit`` or normally."""
    log, status = _Log(words), 1
    _current.append(log)
    try:
        yield
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    finally:
        log.end(status)
        _current.remove(log)


def note(level: str, event: str, **fields: Any) -> None:
    """Add a line."""
    if _current:
        _current[-1].note(level, event, fields)


def beside(folder: Path) -> None:
    """Keep the log in the workspace or run folder ``folder`` from now on; what was noted before goes there, too."""
    if not _current:
        return
    log = _current[-1]
    place = folder / FOLDER
    if any(path.parent == place for path in log.files):
        return
    with contextlib.suppress(OSError):
        place.mkdir(exist_ok=True)
        command = "-".join(word for word in log.words[:2] if re.fullmatch(r"[a-z]+", word)) or "inpaintbench"
        log.into(place / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{command}-{uuid.uuid4().hex[:8]}.jsonl")


def also_into(file: Path) -> None:
    """Append the log to ``file`` of the user's choice.

    Raises:
        WorkspaceError: it cannot be written.
    """
    if _current and not _current[-1].into(file.absolute()):
        raise WorkspaceError(f"the log {str(file)!r} cannot be written; give --log another file")


def place() -> Path | None:
    """The file that the log of the running command goes to."""
    return _current[-1].files[0] if _current and _current[-1].files else None


def without_secrets(text: str) -> str:
    """``text`` without passwords, queries of addresses, and what the environment calls a token, secret or key."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _is_secret(name):
            text = text.replace(value, _HIDDEN)
    for pattern, instead in _IN_TEXT:
        text = pattern.sub(instead, text)
    return text


@lru_cache(maxsize=1024)
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _line(level: str, event: str, fields: Mapping[str, Any]) -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    clean = {name: without_secrets(value) if isinstance(value, str) else value for name, value in fields.items()}
    return _dumped({"at": now, "level": level, "event": event, **clean})


def _dumped(row: Mapping[str, Any]) -> str:
    return without_controls(json.dumps(row, ensure_ascii=False, default=str)) + "\n"  # people look at it on a terminal


def _append(path: Path, text: str) -> bool:
    """In one write, so that processes that share a file do not cut each other's lines."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(number, text.encode(errors="backslashreplace"))
        finally:
            os.close(number)
    except OSError:
        return False
    return True
