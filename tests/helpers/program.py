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
    """Exit status, standard output and standard error of the program.

    As after a process of its own, nothing is left of the path and of the modules that it imported from its folder: another
    test's file of the same name would be taken for the first one's.
    """
    words, out, err, status = list(map(str, arguments)), io.StringIO(), io.StringIO(), 0
    folder, paths, modules = (cwd or Path.cwd()).resolve(), list(sys.path), set(sys.modules)
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
        sys.path[:] = paths
        for name in set(sys.modules) - modules:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").resolve().parent == folder:
                del sys.modules[name]
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())
