"""Tests of one module run in forks of this process, which has imported what is heavy but nothing of the package.

They are those of a copy of the checkout: programs that tests start see the changed file, too, and work may go on meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import multiprocessing.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Any

ROOT = Path(__file__).parents[1]
OUT = ROOT / "bench" / "out" / "mutation"
TREE = OUT / "tree"
PACKAGE = TREE / "src" / "inpaintbench"
HEAVY = (
    "pytest", "numpy", "cv2", "scipy.stats", "scipy.optimize", "scipy.ndimage", "scipy.signal", "pandas", "pyarrow.parquet",
    "skimage.metrics", "skimage.data", "pydantic", "hypothesis.strategies", "av", "PIL.Image", "rich.console", "typer.testing",
    "yaml", "datasets", "torch", "sqlalchemy.orm", "pebble", "skimage.restoration", "skimage.morphology",
)  # fmt: skip
QUIET = ("-q", "-x", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", "--no-header", "--tb=no", "-m", "not long",
         "-W", "ignore::pytest.PytestAssertRewriteWarning")  # fmt: skip
SLOWER, LEAST_SECONDS = 2.5, 20.0
"""A mutant is stopped, and counts as caught, after so many times what its tests take, at least these seconds: other programs
share the machine."""


_held: IO[str]


def prepare() -> None:
    """Copy the checkout and import what is heavy. One run at a time: two would see each other's faults."""
    global _held
    _held = (OUT / "lock").open("w")
    try:
        fcntl.flock(_held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(f"another run of bench/mutation.py is at work in {OUT}; let it end first") from None
    shutil.rmtree(TREE, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, TREE / name)
    os.environ |= {
        "PYTHONPATH": str(PACKAGE.parent),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(OUT / "hypothesis"),
        "OMP_NUM_THREADS": "1",
        "NUMBA_DISABLE_JIT": "1",  # which lines of compiled loops a test runs would not be seen
    }
    sys.path.insert(0, str(PACKAGE.parent))
    os.chdir(TREE)
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # pytest collects garbage twice, and every child would look through all of this
    assert not any(name.partition(".")[0] == "inpaintbench" for name in sys.modules)


def write(module: str, source: bytes) -> None:
    """Put a file into the copy; what was compiled of it goes away, since equal sizes within a second look like the same file."""
    path = PACKAGE / f"{module}.py"
    path.write_bytes(source)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


class Plugin:
    """Which lines of the module each test runs, and how long it takes; lines of shared fixtures count for a whole file."""

    def __init__(self, file: str) -> None:
        self.file, self.here, self.started = file, "import", time.monotonic()
        self.lines: dict[str, set[int]] = {}
        self.seconds: dict[str, float] = {}
        self.starters: set[str] = set()
        """Tests that start programs, in which nobody sees what lines are run."""
        sys.addaudithook(self.hear)
        spawn = multiprocessing.util.spawnv_passfds  # has no event of its own

        def heard(*arguments: Any) -> Any:
            self.starters.add(self.here)
            return spawn(*arguments)

        multiprocessing.util.spawnv_passfds = heard

    def hear(self, event: str, _: Any) -> None:
        """For `sys.addaudithook`."""
        if event == "subprocess.Popen":
            self.starters.add(self.here)

    def trace(self, frame: FrameType, *_: Any) -> Callable[..., Any] | None:
        """For `sys.settrace`."""
        if frame.f_code.co_filename != self.file:
            return None
        lines = self.lines.setdefault(self.here, set())
        lines.add(frame.f_lineno)

        def local(frame: FrameType, *_: Any) -> Any:
            self.lines.setdefault(self.here, set()).add(frame.f_lineno)
            return local

        return local

    def pytest_runtest_setup(self, item: Any) -> None:
        self.here, self.started = item.nodeid.partition("::")[0], time.monotonic()

    def pytest_runtest_call(self, item: Any) -> None:
        self.here = item.nodeid

    def pytest_runtest_teardown(self, item: Any) -> None:
        self.here = item.nodeid.partition("::")[0]
        self.seconds[item.nodeid] = time.monotonic() - self.started


def forked(work: Callable[[], int], *, limit_seconds: float, log: Path) -> int | None:
    """The exit status of ``work`` in a child of its own process group; None = it took too long."""
    child = os.fork()
    if not child:
        os.setsid()
        _held.close()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        status = 70
        try:
            status = work()
        except BaseException:  # nothing of this child may go on as its parent
            traceback.print_exc()
        os._exit(status)
    until, status = time.monotonic() + limit_seconds, None
    while status is None and time.monotonic() < until:
        ended, told = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(told) if ended else None
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what tests have started, too
    if status is None:
        os.waitpid(child, 0)
    return status


def pytest_main(arguments: Sequence[str], plugins: Sequence[Any] = ()) -> int:
    """In a child: a temporary folder of its own, which goes away at the end."""
    import pytest

    folder = OUT / "tmp" / str(os.getpid())
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        return int(pytest.main([*QUIET, f"--basetemp={folder}", *arguments], plugins=list(plugins)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def learn(module: str, tests: Sequence[str]) -> dict[str, Any]:
    """Run the tests as the module stands: ``lines`` and ``seconds`` of each test, or what is wrong as ``error``."""
    told = OUT / "learnt.json"
    told.unlink(missing_ok=True)

    def work() -> int:
        plugin = Plugin(str(PACKAGE / f"{module}.py"))
        threading.settrace(plugin.trace)
        sys.settrace(plugin.trace)
        status = pytest_main(tests, [plugin])
        sys.settrace(None)
        lines = {name: sorted(found) for name, found in plugin.lines.items()}
        told.write_text(json.dumps({"lines": lines, "seconds": plugin.seconds, "starters": sorted(plugin.starters)}))
        return status

    status = forked(work, limit_seconds=570, log=OUT / "log.txt")
    if status or not told.exists():
        return {"error": f"pytest ended with {status}: {(OUT / 'log.txt').read_text()[-600:]}"}
    learnt: dict[str, Any] = json.loads(told.read_text())
    return learnt


def chosen(line: int, last: int, learnt: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The tests that run one of the lines, quick ones first, and further ones that start programs, which may run them."""
    places = {name for name, lines in learnt["lines"].items() if any(line <= one <= last for one in lines)}
    return _tests_of(places, learnt), _tests_of(set(learnt["starters"]) - places, learnt)


def _tests_of(places: set[str], learnt: dict[str, Any]) -> list[str]:
    """Each of the tests, and all of a file whose shared fixtures or imports are meant."""
    everything = learnt["seconds"] if "import" in places else ()
    tests = [one for one in learnt["seconds"] if one in places or one.partition("::")[0] in places or one in everything]
    return sorted(tests, key=lambda name: learnt["seconds"][name])


def caught_by(tests: Sequence[str], *, seconds: float) -> str:
    """What became of the changed package: ``caught``, ``time`` (stopped) or ``survived``."""

    def work() -> int:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        return pytest_main(tests)

    status = forked(work, limit_seconds=max(LEAST_SECONDS, SLOWER * seconds), log=OUT / "log.txt")
    return "time" if status is None else "survived" if status == 0 else "caught"
