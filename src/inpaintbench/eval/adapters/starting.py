"""Start a program without a shell, keep what it says, and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from inpaintbench.errors import ProgramFailed
from inpaintbench.eval.adapters.usage import Cards, Memory, Usage

# End of what a program wrote that a reason quotes.
_REPORTED_LINES, _REPORTED_BYTES = 5, 2000
# What is kept of a program's words: a progress bar that is drawn for hours fills disks.
_KEPT_BYTES = 1 << 20
# Pauses between looks at a program's memory.
_FIRST_LOOK_SECONDS, _LOOK_SECONDS = 0.01, 0.25
_PREFIX, _LOCK = "inpaintbench-run-", ".held"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder of one's own that is gone afterwards, also where this process is killed meanwhile.

    A shell waits on a pipe of which only this process holds the other end, and removes the folder when the kernel closes it. What
    a machine left that went down goes first: whoever uses a folder holds a lock in it.
    """
    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name, Path(name, _LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        # A second after us, when the program is gone too and writes no more.
        waits = ["/bin/sh", "-c", 'read _; sleep 1; rm -rf -- "$0"', name]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, process_group=0) as janitor:
            try:
                yield Path(name)
            finally:
                janitor.kill()


def _sweep(parent: Path) -> None:
    for lock in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), lock.open() as file:  # of others, or gone meanwhile
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)


def start(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path, seconds: float, limit_seconds: float
) -> Usage:
    """Run a program to its end, append what it says to ``log``, and return what it took.

    All processes that it started are killed when it ends, when its time is up and when this process dies.

    Args:
        arguments: program and arguments.
        cwd: where it runs.
        env: variables beside those of this process.
        log: file for both of its streams, between what was started and how it ended.
        seconds: how long it may take.
        limit_seconds: the limit that a reason names.

    Raises:
        ProgramFailed: it cannot be started, fails or takes too long; the text quotes its last lines.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    cards = Cards()
    with log.open("ab") as stream, _process_group() as group, cards.watched(group):
        changes = "".join(f"{name}={shlex.quote(value)} " for name, value in env.items())
        stream.write(f"$ cd {shlex.quote(str(cwd))}; {changes}{shlex.join(arguments)}\n".encode())
        stream.flush()
        said, begun = stream.tell(), time.monotonic()
        memory = Memory(group, besides=(group, cards.watcher or group))
        try:
            program = subprocess.Popen(
                arguments, cwd=cwd, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                process_group=group,
            )  # fmt: skip
        except OSError as error:
            raise ProgramFailed(f"{arguments[0]!r} cannot be started: {error.strerror}") from error
        status = _wait(program, seconds, memory)
        took = time.monotonic() - begun
    if status is None:
        ended = f"took longer than {limit_seconds:g} s and was stopped"
    elif status < 0:
        ended = f"was killed by signal {-status} ({signal.strsignal(-status)})"
    else:
        ended = f"ended with exit status {status}"
    words = _last_lines(log, said)
    shorten(log)
    with log.open("ab") as stream:
        stream.write(f"\n{ended}, after {took:.1f} s\n".encode())
    if status is None:
        raise ProgramFailed(f"{arguments[0]!r} {ended}")
    if status:
        raise ProgramFailed(f"{arguments[0]!r} {ended}{words}")
    return Usage(took, memory.peak_mebibytes, cards.peak_mebibytes)


def _wait(program: subprocess.Popen[bytes], seconds: float, memory: Memory) -> int | None:
    """The exit status; None where the time is up. ``memory`` is looked at meanwhile, often at first: programs may be short."""
    until, pause = time.monotonic() + seconds, _FIRST_LOOK_SECONDS
    try:
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return program.wait(timeout=min(pause, left))
            memory.look()
            pause = min(2 * pause, _LOOK_SECONDS)
        return None
    finally:
        program.kill()
        program.wait()


@contextlib.contextmanager
def _process_group() -> Iterator[int]:
    """The id of a process group that is killed at the end of the block, and when this process dies in it.

    The group's leader waits on a pipe of which only this process holds the other end; the kernel closes it however we die.
    """
    waits = ["/bin/sh", "-c", "read _; kill -KILL 0"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, process_group=0) as leader:
        try:
            yield leader.pid
        finally:
            # The leader is not reaped yet, so the id cannot mean another group; it may have been killed by the program.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader.pid, signal.SIGKILL)


def _last_lines(log: Path, start: int) -> str:
    """The last lines that were written behind ``start``, as the end of a sentence."""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _REPORTED_BYTES, start))
        lines = file.read().decode(errors="replace").replace("\r", "\n").strip().splitlines()[-_REPORTED_LINES:]
    return f": {' | '.join(lines)}" if lines else " and wrote nothing"


def shorten(log: Path) -> None:
    """Leave the first and the last of a log that is too long."""
    if log.stat().st_size <= _KEPT_BYTES:
        return
    text = log.read_bytes()
    log.write_bytes(text[: _KEPT_BYTES // 2] + b"\n[...]\n" + text[-_KEPT_BYTES // 2 :])
