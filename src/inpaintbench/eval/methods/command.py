"""Any program as a method: it reads a folder of images and writes a folder of images."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, NotMeasurable, UnknownNameError
from inpaintbench.eval.padding import Divisor
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView


class Layout(NamedTuple):
    """File names in the two folders, by frame number."""

    frame: str
    hole: str
    prediction: str
    hole_is_black: bool
    """One-bit images in which black is hole; else eight-bit images in which 255 is hole."""


LAYOUTS: Mapping[str, Layout] = {
    "plain": Layout("frame_{:04d}.png", "hole_{:04d}.png", "frame_{:04d}.png", hole_is_black=False),
    # Programs written for DEVIL (CVPR 2022) run unchanged, but find the corrupted input where that benchmark put the truth.
    "devil": Layout("frame_{:04d}_gt.png", "frame_{:04d}_mask.png", "frame_{:04d}_pred.png", hole_is_black=True),
}
_REPORTED_LINES, _REPORTED_BYTES = 5, 2000


class Command:
    """Runs a program once an item, in a temporary folder, without a shell and with the caller's environment.

    The program and arguments that name existing files may be relative to the folder the caller runs in. All processes that the
    program started are killed when it ends, when its time is up and when this process dies.

    Args:
        command: program and arguments; ``{input}`` and ``{output}`` stand for the two folders, which else are appended.
        time_limit_seconds: for one item.
        layout: one of ``LAYOUTS``.
        divisor: what the program wants frame sides to be multiples of; one number or (width, height).

    Raises:
        InputError: a command that cannot be split, names only one of the folders, or a program that does not exist.
        UnknownNameError: no such layout.
    """

    name = "command"
    version = "1"
    needs: tuple[str, ...] = ("input",)
    uses: tuple[str, ...] = ("hole",)

    def __init__(self, *, command: str, time_limit_seconds: float = 3600.0, layout: str = "plain", divisor: Divisor = 1) -> None:
        if layout not in LAYOUTS:
            raise UnknownNameError(unknown_name("layout", layout, LAYOUTS))
        self.arguments = _split(command)
        self.time_limit_seconds = time_limit_seconds
        self.layout = LAYOUTS[layout]
        self.divisor: Divisor = divisor

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]`` as the program wrote it.

        Raises:
            NotMeasurable: the program fails, takes too long, or its frames are missing, unreadable or of another size.
        """
        with tempfile.TemporaryDirectory(prefix="inpaintbench-", ignore_cleanup_errors=True) as scratch:
            source, target = Path(scratch, "input"), Path(scratch, "output")
            source.mkdir()
            target.mkdir()
            self._write(source, view.input, view.hole if view.has("hole") else None)
            self._run(source, target)
            return np.stack([self._read(target, index, view=view) for index in range(view.frames)])

    def content(self, item_id: str) -> str:  # noqa: ARG002 - the program is the same for all items
        """Changes whenever the program or a file among its arguments does: names, sizes and times."""
        files = [Path(argument) for argument in self.arguments if os.path.isfile(argument)]
        return repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])

    def _write(self, folder: Path, frames: Frames, hole: Hole | None) -> None:
        for index, frame in enumerate(frames):
            video.write_image(folder / self.layout.frame.format(index), frame)
        for index, missing in enumerate(() if hole is None else hole):
            levels: npt.NDArray[Any] = ~missing if self.layout.hole_is_black else missing * np.uint8(255)
            video.write_image(folder / self.layout.hole.format(index), levels)

    def _run(self, source: Path, target: Path) -> None:
        folders = {"{input}": str(source), "{output}": str(target)}
        arguments = [_replaced(argument, folders) for argument in self.arguments]
        log = source.parent / "stderr"
        with log.open("wb") as stderr, _process_group() as group:
            try:
                program = subprocess.Popen(
                    arguments,
                    cwd=source.parent,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    process_group=group,
                )
            except OSError as error:
                raise NotMeasurable(f"{arguments[0]!r} cannot be started: {error.strerror}") from error
            status = self._wait(program, arguments[0])
        if status:
            raise NotMeasurable(f"{_how_it_ended(arguments[0], status)}{_last_lines(log)}")

    def _wait(self, program: subprocess.Popen[bytes], name: str) -> int:
        try:
            return program.wait(timeout=self.time_limit_seconds)
        except subprocess.TimeoutExpired as error:
            raise NotMeasurable(f"{name!r} took longer than {self.time_limit_seconds:g} s and was stopped") from error
        finally:
            program.kill()
            program.wait()

    def _read(self, folder: Path, index: int, *, view: ItemView) -> npt.NDArray[np.uint8]:
        path = folder / self.layout.prediction.format(index)
        if not path.exists():
            raise NotMeasurable(f"the program wrote no {path.name}, wanted {view.frames} frames")
        try:
            frame = video.read_image(path)
        except MediaError as error:
            raise NotMeasurable(f"the program's {error}") from error
        if frame.shape != (view.height, view.width, 3):
            wanted = f"{view.width}x{view.height}"
            raise NotMeasurable(f"the program's {path.name} is {frame.shape[1]}x{frame.shape[0]}, wanted {wanted}")
        return frame


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"command {command!r} cannot be split into program and arguments: {error}") from error
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise InputError(f"command {command!r} names no program that can be run; name one on the PATH or by its path")
    named = [folder in command for folder in ("{input}", "{output}")]
    if any(named) and not all(named):
        raise InputError(f"command {command!r} names only one of {{input}} and {{output}}; name both or neither")
    # The program runs in another folder, where relative paths mean nothing.
    absolute = [os.path.abspath(argument) if os.path.exists(argument) else argument for argument in words[1:]]
    return [os.path.abspath(found), *absolute, *([] if all(named) else ["{input}", "{output}"])]


def _replaced(argument: str, folders: Mapping[str, str]) -> str:
    for placeholder, folder in folders.items():
        argument = argument.replace(placeholder, folder)
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
