"""Keep what a method in this process says: prints, warnings, and where it failed."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from inpaintbench.errors import InpaintBenchError
from inpaintbench.eval.adapters.starting import shorten


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
    with _Kept(log) as kept, _watched(kept, seconds if heading else None):
        try:
            with contextlib.redirect_stdout(_Here(kept, "stdout")), contextlib.redirect_stderr(_Here(kept, "stderr")):
                yield
        except (Exception, SystemExit) as error:
            if heading:
                own = isinstance(error, InpaintBenchError) and error.__cause__ is None  # says all in its sentence
                told = f"{error}\n" if own else "".join(traceback.format_exception(error))
                kept.write(told.encode(errors="replace"))
            raise
    if log.exists():
        shorten(log)
        if heading and log.stat().st_size == begun:
            log.unlink()


@contextlib.contextmanager
def _watched(kept: _Kept, seconds: float | None) -> Iterator[None]:
    """Write where every thread is, should the block take so long."""
    if seconds is None:
        yield
        return
    faulthandler.dump_traceback_later(seconds, file=kept.file())
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


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

    def write(self, text: bytes) -> None:
        self.file().write(text)


class _Here(io.TextIOBase):
    """A standard stream that goes to the file from this thread, and from others (a bar of progress) where it went before."""

    encoding = "utf-8"

    def __init__(self, kept: _Kept, name: str) -> None:
        self._kept, self._thread = kept, threading.get_ident()
        self._before: TextIO = getattr(sys, name)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread:
            return self._before.write(text)
        self._kept.write(text.encode(errors="replace"))
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() != self._thread:
            self._before.flush()

    def fileno(self) -> int:
        return self._kept.file().fileno()

    @property
    def buffer(self) -> BinaryIO:
        return self._kept.file()
