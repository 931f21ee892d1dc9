"""Start a program without a shell, keep what it says and what it takes, and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

from inpaintbench.errors import InpaintBenchError, ProgramFailed

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CARDS = ["--query-gpu=index,memory.used", "--format=csv,noheader,nounits"]
# How often cards are asked, in milliseconds; one answer may take seconds on machines of many cards.
_CARD_PERIOD, _CARD_SECONDS = 500, 20


class Usage(NamedTuple):
    """What one item took."""

    seconds: float
    peak_mebibytes: int | None = None
    """Most memory of all processes of the program together; None where nobody can tell."""
    card_mebibytes: int | None = None
    """Most memory that was taken on graphics cards beside what was taken before; None where there is none."""


def both(one: Usage | None, other: Usage) -> Usage:
    """What two programs took that ran one after the other."""
    if one is None:
        return other
    peaks = (_most(getattr(took, name) for took in (one, other)) for name in ("peak_mebibytes", "card_mebibytes"))
    return Usage(one.seconds + other.seconds, *peaks)


def forget_card_peak() -> None:
    """Let the memory that this process takes on its card count anew."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.reset_peak_memory_stats()


def card_peak_mebibytes() -> int | None:
    """Most memory that this process has taken on its card since ``forget_card_peak``; None where it uses none."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return int(torch.cuda.max_memory_reserved()) >> 20


@lru_cache(maxsize=1)
def machine() -> str:
    """Cores of this machine, and the names of its cards."""
    names = _ask_cards(["--query-gpu=name", "--format=csv,noheader"]) if has_card() else []
    return ", ".join([f"{os.cpu_count()} cores", *dict.fromkeys(names)])


def has_card() -> bool:
    """Return whether an NVIDIA card is there, without a library that would open it."""
    return any(Path("/dev").glob("nvidia[0-9]*"))


class Cards:
    """Most memory on the graphics cards while a block runs; others who use them meanwhile count too."""

    def __init__(self) -> None:
        self.peak_mebibytes: int | None = None
        self.watcher: int | None = None
        """Id of the process that watches."""

    @contextlib.contextmanager
    def watched(self, group: int) -> Iterator[None]:
        """Watch them by a process of this group, so that it never outlives the others."""
        before = _held(_ask_cards(_CARDS)) if has_card() else {}
        if not before:
            yield
            return
        words = ["nvidia-smi", *_CARDS, f"--loop-ms={_CARD_PERIOD}"]
        with tempfile.TemporaryFile("w+") as told:
            with subprocess.Popen(words, stdout=told, stderr=subprocess.DEVNULL, process_group=group) as process:
                self.watcher = process.pid
                try:
                    yield
                finally:
                    process.kill()
            told.seek(0)
            most = _held(told)
        self.peak_mebibytes = sum(max(most.get(card, 0) - held, 0) for card, held in before.items())


def _ask_cards(query: list[str]) -> list[str]:
    try:
        done = subprocess.run(["nvidia-smi", *query], capture_output=True, text=True, timeout=_CARD_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):  # the first where there is no such program
        return []
    return done.stdout.splitlines()


def _held(lines: Iterable[str]) -> dict[str, int]:
    """Card -> most mebibytes; lines of another form, such as a torn last one, do not count."""
    found: dict[str, int] = {}
    for line in lines:
        card, _, held = line.partition(",")
        if held.strip().isdigit():
            found[card] = max(found.get(card, 0), int(held))
    return found


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


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

    What a machine left that went down goes first: whoever uses a folder holds a lock in it.
    """
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), lock.open() as file:  # of others, or gone meanwhile
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name, Path(name, _LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        # A second after us, when the program is gone too and writes no more.
        with _waiting('read _; sleep 1; rm -rf -- "$0"', name) as janitor:
            try:
                yield Path(name)
            finally:
                janitor.kill()


def _waiting(script: str, *words: str) -> subprocess.Popen[bytes]:
    """A shell, leader of a process group, that waits on a pipe of which only this process holds the other end: the kernel closes
    it however we die."""
    quiet = subprocess.DEVNULL
    line = ["/bin/sh", "-c", script, *words]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, process_group=0)


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
        try:
            program = subprocess.Popen(
                arguments, cwd=cwd, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                process_group=group,
            )  # fmt: skip
        except OSError as error:
            raise ProgramFailed(f"{arguments[0]!r} cannot be started: {error.strerror}") from error
        status, peak = _wait(program, seconds, group, besides={group, cards.watcher})
        took = time.monotonic() - begun
    if status is None:
        ended = f"took longer than {limit_seconds:g} s and was stopped"
    elif status < 0:
        ended = f"was killed by signal {-status} ({signal.strsignal(-status)})"
    else:
        ended = f"ended with exit status {status}"
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _REPORTED_BYTES, said))
        lines = file.read().decode(errors="replace").replace("\r", "\n").strip().splitlines()[-_REPORTED_LINES:]
    shorten(log)
    with log.open("ab") as stream:
        stream.write(f"\n{ended}, after {took:.1f} s\n".encode())
    if status is None:
        raise ProgramFailed(f"{arguments[0]!r} {ended}")
    if status:
        raise ProgramFailed(f"{arguments[0]!r} {ended}" + (f": {' | '.join(lines)}" if lines else " and wrote nothing"))
    return Usage(took, peak, cards.peak_mebibytes)


def _wait(
    program: subprocess.Popen[bytes], seconds: float, group: int, *, besides: Collection[int | None]
) -> tuple[int | None, int | None]:
    """The exit status, None where the time is up; and most memory of the processes of a group but for some, in MiB.

    They are looked at often at first: programs may be short. Pages that several share count once for each.
    """
    until, pause, peak = time.monotonic() + seconds, _FIRST_LOOK_SECONDS, None
    try:
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return program.wait(timeout=min(pause, left)), peak
            pages = []
            for path in _PROC.glob("[0-9]*/stat"):
                with contextlib.suppress(OSError):  # it ended meanwhile
                    fields = path.read_text().rpartition(")")[2].split()
                    if int(fields[2]) == group and int(path.parent.name) not in besides:
                        pages.append(int(fields[21]))
            peak = _most([peak, sum(pages) * _PAGE_BYTES >> 20]) if pages else peak
            pause = min(2 * pause, _LOOK_SECONDS)
        return None, peak
    finally:
        program.kill()
        program.wait()


@contextlib.contextmanager
def _process_group() -> Iterator[int]:
    """The id of a process group that is killed at the end of the block, and when this process dies in it."""
    with _waiting("read _; kill -KILL 0") as leader:
        try:
            yield leader.pid
        finally:
            # The leader is not reaped yet, so the id cannot mean another group; it may have been killed by the program.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader.pid, signal.SIGKILL)


def shorten(log: Path) -> None:
    """Leave the first and the last of a log that is too long."""
    if log.stat().st_size <= _KEPT_BYTES:
        return
    text = log.read_bytes()
    log.write_bytes(text[: _KEPT_BYTES // 2] + b"\n[...]\n" + text[-_KEPT_BYTES // 2 :])


@contextlib.contextmanager
def words_kept(log: Path, *, heading: str = "", seconds: float | None = None) -> Iterator[None]:
    """Append to ``log`` what this thread prints while the block runs, and how the block fails.

    A log with a heading is there from the start, so that it tells of a process that dies, and is removed where nothing follows.
    Without one there is no file until something is printed.

    Args:
        log: the file.
        heading: its first line.
        seconds: after these a log with a heading is told where the block is at: it hangs, and is killed soon.
    """
    begun = 0
    if heading:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{heading}\n", encoding="utf-8")
        begun = log.stat().st_size
    with _Kept(log) as kept, contextlib.ExitStack() as at_end:
        if heading and seconds is not None:
            faulthandler.dump_traceback_later(seconds, file=kept.file())
            at_end.callback(faulthandler.cancel_dump_traceback_later)
        try:
            with contextlib.redirect_stdout(_Here(kept, sys.stdout)), contextlib.redirect_stderr(_Here(kept, sys.stderr)):
                yield
        except (Exception, SystemExit) as error:
            if heading:
                own = isinstance(error, InpaintBenchError) and error.__cause__ is None  # says all in its sentence
                told = f"{error}\n" if own else "".join(traceback.format_exception(error))
                kept.file().write(told.encode(errors="replace"))
            raise
    if log.exists():
        shorten(log)
        if heading and log.stat().st_size == begun:
            log.unlink()


class _Kept:
    """A file that is opened by the first word."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def file(self) -> BinaryIO:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab", buffering=0)
        return self._file


class _Here(io.TextIOBase):
    """A standard stream that goes to the file from this thread, and from others (a bar of progress) where it went before."""

    encoding = "utf-8"

    def __init__(self, kept: _Kept, before: TextIO) -> None:
        self._kept, self._before, self._thread = kept, before, threading.get_ident()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread:
            return self._before.write(text)
        self._kept.file().write(text.encode(errors="replace"))
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() != self._thread:
            self._before.flush()

    def fileno(self) -> int:
        return self._kept.file().fileno()

    @property
    def buffer(self) -> BinaryIO:
        return self._kept.file()
