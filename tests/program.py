"""The program run in this process, for tests of many small commands: as its own process, each would first import for seconds."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

from inpaintbench.cli import main


def run_here(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Exit status, standard output and standard error of the program."""
    words, out, err, status = list(map(str, arguments)), io.StringIO(), io.StringIO(), 0
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    place = contextlib.chdir(cwd) if cwd else contextlib.nullcontext()
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    try:
        with place, mock.patch.object(sys, "argv", ["inpaintbench", *words]), streams[0], streams[1]:
            main()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())
