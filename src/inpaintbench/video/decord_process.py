"""Client of ``decord_child``: a subprocess that is killed when it does not answer in time."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

CHILD_PROGRAM = Path(__file__).with_name("decord_child.py")
_CHUNK_BYTES = 1 << 20
# Of a header; a child that writes no line end is noticed by the time limit.
_LONGEST_LINE_BYTES = 4096


class ChildError(Exception):
    """The child returned no frame; the text is the reason."""


class DecordProcess:
    """Video opened by decord in a subprocess, which is killed on leaving the context."""

    def __init__(self, path: Path, *, time_limit_seconds: float, program: Path = CHILD_PROGRAM) -> None:
        self._limit = time_limit_seconds
        # -P keeps the child's folder off its path, where modules would shadow others of the same names.
        command = [sys.executable, "-P", str(program), str(path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, start_new_session=True, bufsize=0, **pipes)  # type: ignore[call-overload]
        self._unread = bytearray()
        self.frames = 0
        """Number of frames by decord."""

    def __enter__(self) -> DecordProcess:
        try:
            self.frames = int(self._header()["frames"])
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return int(self._process.pid)

    def close(self) -> None:
        """Kill the child and the processes that it started."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def frames_at(self, indices: Sequence[int], *, width: int | None) -> Iterator[npt.NDArray[np.uint8]]:
        """Read the frames at ``indices``, ``uint8[H, W, C]`` as decord decodes them, downscaled to ``width``.

        Raises:
            ChildError: decord failed, ended, or took longer than the limit for one frame.
        """
        self._send({"indices": list(indices), "width": width})
        for _ in indices:
            shape = tuple(self._header()["shape"])
            yield np.frombuffer(self._bytes(int(np.prod(shape))), np.uint8).reshape(shape)

    def _send(self, request: dict[str, Any]) -> None:
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError as error:
            raise ChildError(self._exit_message()) from error

    def _header(self) -> dict[str, Any]:
        deadline = time.monotonic() + self._limit
        while b"\n" not in self._unread[:_LONGEST_LINE_BYTES]:
            self._receive(deadline)
        line = bytes(self._unread[:_LONGEST_LINE_BYTES]).partition(b"\n")[0]
        del self._unread[: len(line) + 1]
        header: dict[str, Any] = json.loads(line)
        if "error" in header:
            raise ChildError(f"decord failed: {header['error']}")
        return header

    def _bytes(self, count: int) -> bytes:
        deadline = time.monotonic() + self._limit
        while len(self._unread) < count:
            self._receive(deadline)
        data = bytes(self._unread[:count])
        del self._unread[:count]
        return data

    def _receive(self, deadline: float) -> None:
        ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            self.close()
            raise ChildError(f"decord did not answer within {self._limit:g} s and was stopped")
        data = os.read(self._process.stdout.fileno(), _CHUNK_BYTES)
        if not data:
            raise ChildError(self._exit_message())
        self._unread += data

    def _exit_message(self) -> str:
        return f"decord ended without an answer (exit status {self._process.wait()})"
