"""Any program as a method: it reads a folder of images and writes a folder of images."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.exchange import read_output, write_edit, write_input
from inpaintbench.eval.adapters.layouts import SUFFIX, layout_of
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.scoring.fitting import Divisor
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# End of what a program wrote to stderr that a reason quotes.
_REPORTED_LINES, _REPORTED_BYTES = 5, 2000
_ITEM_PLACES = ("{input}", "{output}")
_FRAME_PLACES = ("{frame}", "{hole}", "{prediction}")


class Command(Method):
    """Runs a program once an item or once a frame, in a temporary folder, without a shell and with the caller's environment.

    For an edit ``prompts.json`` lies beside the frames (``{"source": ..., "target": ...}``, source null where nobody knows it),
    and the mask of the object, where there is one, as ``object_mask_0000.png``, white = object.

    The program and arguments that name existing files may be relative to the folder the caller runs in, or to ``folder``. All
    processes that the program started are killed when it ends, when its time is up and when this process dies.

    Args:
        command: program and arguments; ``{input}`` and ``{output}`` stand for the two folders, or ``{frame}``, ``{hole}`` and
            ``{prediction}`` for the files of one frame, where the layout runs the program so. They are appended where none is
            named.
        time_limit_seconds: for one item.
        layout: a name in ``eval/adapters/layouts.toml``, or a file of that form, which ends in ``.toml``.
        divisor: what the program wants frame sides to be multiples of; one number or (width, height); that of the layout by
            default.
        folder: where the program runs; a temporary folder by default.

    Raises:
        InputError: a command that cannot be split, names some of its places only, or a program or folder that does not exist.
        UnknownNameError: no such layout.
    """

    name = "command"
    version = "2"
    needs = ("input",)
    uses = ("hole", "object_mask", "prompts")

    def __init__(
        self,
        *,
        command: str,
        time_limit_seconds: float = 3600.0,
        layout: str = "plain",
        divisor: Divisor | None = None,
        folder: str | None = None,
    ) -> None:
        self.layout = layout_of(layout)
        if folder is not None and not os.path.isdir(folder):
            raise InputError(f"no folder {folder!r} to run {command!r} in")
        self.folder = None if folder is None else Path(folder).absolute()
        self._places = _FRAME_PLACES if self.layout.runs == "frame" else _ITEM_PLACES
        self.arguments = _split(command, self._places, self.folder)
        self._read = [Path(layout).absolute()] if layout.endswith(SUFFIX) else []
        self.time_limit_seconds = time_limit_seconds
        self.divisor: Divisor = self.layout.divisor if divisor is None else divisor

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]`` as the program wrote it.

        Raises:
            NotMeasurable: the program fails, takes too long, or its frames are missing, unreadable or of another size; it runs
                once a frame, and the benchmark hides the hole.
        """
        hole = view.hole if view.has("hole") else None
        if hole is None and self.layout.runs == "frame":
            raise NotMeasurable("the program is told a file for each hole, which this benchmark does not give")
        with tempfile.TemporaryDirectory(prefix="inpaintbench-", ignore_cleanup_errors=True) as scratch:
            source, target = Path(scratch, "input"), Path(scratch, "output")
            source.mkdir()
            target.mkdir()
            write_input(source, self.layout, view.input, hole)
            if view.has("prompts"):
                write_edit(source, view.prompts, view.object_mask if view.has("object_mask") else None)
            if self.layout.runs == "frame":
                self._run_each(source, target, view.frames)
            else:
                self._run(source, target)
            size = {"height": view.height, "width": view.width}
            return np.stack([read_output(target, self.layout, place, frames=view.frames, **size) for place in range(view.frames)])

    def content(self, item_id: str) -> str:  # noqa: ARG002 - the program is the same for all items
        """Changes whenever the program or a file among its arguments does: names, sizes and times."""
        files = [*(Path(argument) for argument in self.arguments if os.path.isfile(argument)), *self._read]
        return repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])

    def _run(self, source: Path, target: Path) -> None:
        self._start({"{input}": source, "{output}": target}, source.parent, self.time_limit_seconds)

    def _run_each(self, source: Path, target: Path, frames: int) -> None:
        """Once a frame, all within the limit of one item."""
        until = time.monotonic() + self.time_limit_seconds
        for number in range(self.layout.first, self.layout.first + frames):
            written = target / self.layout.prediction.format(number)
            written.parent.mkdir(parents=True, exist_ok=True)
            given = {"{frame}": self.layout.frame, "{hole}": self.layout.hole}
            places = {place: source / name.format(number) for place, name in given.items()} | {"{prediction}": written}
            self._start(places, source.parent, max(until - time.monotonic(), 0))

    def _start(self, places: Mapping[str, Path], scratch: Path, seconds: float) -> None:
        arguments = [_replaced(argument, places) for argument in self.arguments]
        log = scratch / "stderr"
        with log.open("wb") as stderr, _process_group() as group:
            try:
                program = subprocess.Popen(
                    arguments,
                    cwd=self.folder or scratch,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    process_group=group,
                )
            except OSError as error:
                raise NotMeasurable(f"{arguments[0]!r} cannot be started: {error.strerror}") from error
            status = self._wait(program, arguments[0], seconds)
        if status:
            raise NotMeasurable(f"{_how_it_ended(arguments[0], status)}{_last_lines(log)}")

    def _wait(self, program: subprocess.Popen[bytes], name: str, seconds: float) -> int:
        try:
            return program.wait(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise NotMeasurable(f"{name!r} took longer than {self.time_limit_seconds:g} s and was stopped") from error
        finally:
            program.kill()
            program.wait()


def _split(command: str, places: tuple[str, ...], folder: Path | None) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"command {command!r} cannot be split into program and arguments: {error}") from error
    program = _program(words[0], folder) if words else None
    if program is None:
        raise InputError(f"command {command!r} names no program that can be run; name one on the PATH or by its path")
    named = [place in command for place in places]
    if any(named) and not all(named):
        there = ", ".join(places[:-1]) + f" and {places[-1]}"
        raise InputError(f"command {command!r} names only {_few(places, named)} of {there}; name {_all(places)} or none")
    # The program runs in another folder, where relative paths mean nothing.
    arguments = [_absolute(argument, folder) for argument in words[1:]]
    return [os.path.abspath(program), *arguments, *(() if all(named) else places)]


def _few(places: tuple[str, ...], named: list[bool]) -> str:
    return "one" if len(places) == 2 or sum(named) == 1 else "two"


def _all(places: tuple[str, ...]) -> str:
    return "both" if len(places) == 2 else "all"


def _program(word: str, folder: Path | None) -> str | None:
    """Return where a program lies: in ``folder`` when it is named by a path from there, else as the shell would find it."""
    there = None if folder is None or os.sep not in word else shutil.which(str(folder / word))
    return there or shutil.which(word)


def _absolute(argument: str, folder: Path | None) -> str:
    """An argument that names a file or folder, by its whole path; ``folder`` is where the program runs."""
    if folder is not None and (folder / argument).exists():
        return str(folder / argument)
    return os.path.abspath(argument) if os.path.exists(argument) else argument


def _replaced(argument: str, places: Mapping[str, Path]) -> str:
    for placeholder, path in places.items():
        argument = argument.replace(placeholder, str(path))
    return argument


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


def _how_it_ended(program: str, status: int) -> str:
    if status < 0:
        return f"{program!r} was killed by signal {-status} ({signal.strsignal(-status)})"
    return f"{program!r} ended with exit status {status}"


def _last_lines(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _REPORTED_BYTES, 0))
        lines = file.read().decode(errors="replace").strip().splitlines()[-_REPORTED_LINES:]
    return f": {' | '.join(lines)}" if lines else " and wrote nothing to stderr"
