"""Fast scanning of videos: selected frames, upright and downscaled, read by PyAV or, where it can be trusted, by decord.

PyAV decodes from the start and converts only the selected frames. decord seeks from key frame to key frame, which pays for a few
frames of a long video, and fails on many files: open groups of pictures, edit lists, rotation. So it reads a file only if the
packets show that seeking is safe and its first, middle and last frames equal PyAV's; all other files are read by PyAV, with the
reason in ``Scan.note``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, MissingExtraError, UnknownNameError
from inpaintbench.video.decoding import Decoder, packet_times, seek_and_decode
from inpaintbench.video.decord_child import resized
from inpaintbench.video.images import read_image
from inpaintbench.video.probing import Probe
from inpaintbench.video.suffixes import is_image
from inpaintbench.video.upright import Orientations, upright

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
        except BaseException:  # an interrupt, too: `with` closes only what was entered
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
        request = {"indices": list(indices), "width": width}
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError as error:
            raise ChildError(self._exit_message()) from error
        for _ in indices:
            shape = tuple(self._header()["shape"])
            count, deadline = int(np.prod(shape)), time.monotonic() + self._limit
            while len(self._unread) < count:
                self._receive(deadline)
            yield np.frombuffer(bytes(self._unread[:count]), np.uint8).reshape(shape)
            del self._unread[:count]

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


READERS = ("pyav", "decord")
# Largest difference of a value of decord's frames from PyAV's, 0..255: room for the rounding of another conversion to RGB.
TOLERANCE_LEVELS = 3
# Time for decord to open a file, and for each of its frames.
TIME_LIMIT_SECONDS = 30.0

Pixels = npt.NDArray[np.uint8]


class Scan:
    """Iterator over ``(index, uint8[h, w, 3])``, ascending; ``reader`` and ``note`` are valid from the first frame on."""

    def __init__(
        self, path: Path, probed: Probe, indices: Sequence[int], *, width: int | None, reader: str, hdr: str, limit: float
    ) -> None:
        self.reader = reader
        """Reader of the latest frames, one of ``READERS``."""
        self.note: str | None = None
        """Reason why decord, though requested, is not (or no longer) the reader."""
        self._path, self._probe, self._indices, self._width = path, probed, indices, width
        self._hdr, self._limit = hdr, limit

    def __iter__(self) -> Iterator[tuple[int, Pixels]]:
        remaining = list(self._indices)
        if self.reader == "decord" and remaining:
            try:
                times = _safe_times(self._path, self._probe)
                with DecordProcess(self._path, time_limit_seconds=self._limit) as child:
                    if child.frames != self._probe.frames:
                        raise _Untrusted(f"decord counts {child.frames} frames, and {self._probe.frames} decode")
                    _compare(self._path, child, times)
                    for pixels in child.frames_at(self._indices, width=self._width):
                        yield remaining.pop(0), pixels
            except (ChildError, _Untrusted) as error:
                self.reader, self.note = "pyav", str(error)
        yield from _by_pyav(self._path, remaining, width=self._width, hdr=self._hdr)


def scan(
    path: Path | str, *, probed: Probe, indices: Sequence[int] | None = None, every: int = 1, width: int | None = None,
    reader: str = "pyav", hdr: str = "exclude", time_limit_seconds: float = TIME_LIMIT_SECONDS,
) -> Scan:  # fmt: skip
    """Iterate over selected frames of a video, upright, ascending.

    Args:
        path: a video or an image.
        probed: its probe.
        indices: of the frames, ascending; by default every ``every``-th.
        every: step of the frames where ``indices`` is None.
        width: to which frames are downscaled by area averaging; by default they are not.
        reader: one of ``READERS``.
        hdr: one of ``HDR_POLICIES``.
        time_limit_seconds: for decord to open the file, and for each of its frames.

    Raises:
        InputError: unknown reader, or indices that are not ascending or not in the video.
        MissingExtraError: decord is requested and not installed.
        MediaError: while iterating: the file is HDR and ``hdr`` is ``exclude``, or it decodes to fewer frames than its probe.
    """
    require_reader(reader)
    if every < 1:
        raise InputError(f"every {every}th frame makes no sense: give 1 or more")
    selected = range(0, probed.frames, every) if indices is None else indices
    if any(index >= following for index, following in pairwise(selected)):
        raise InputError("frames to scan must be given in ascending order, each once")
    if len(selected) and (selected[0] < 0 or selected[-1] >= probed.frames):
        raise InputError(f"there is no frame {selected[0] if selected[0] < 0 else selected[-1]}: the video has {probed.frames}")
    return Scan(Path(path), probed, selected, width=width, reader=reader, hdr=hdr, limit=time_limit_seconds)


def require_reader(name: str) -> None:
    """Check that the reader ``name`` is known and installed.

    Raises:
        UnknownNameError: it is not one of ``READERS``.
        MissingExtraError: it is not installed.
    """
    if name not in READERS:
        raise UnknownNameError(unknown_name("reader", name, list(READERS)))
    if name == "decord" and importlib.util.find_spec("decord") is None:
        raise MissingExtraError("scanning with decord", "decord")


def _by_pyav(path: Path, indices: Sequence[int], *, width: int | None, hdr: str) -> Iterator[tuple[int, Pixels]]:
    remaining = list(reversed(indices))
    if remaining and is_image(path):
        yield remaining.pop(), resized(read_image(path), width)
    if not remaining:
        return
    orientations = Orientations()
    for index, frame in enumerate(Decoder(path)):
        if index == remaining[-1]:
            yield remaining.pop(), resized(upright(frame, hdr=hdr, orientations=orientations), width)
            if not remaining:
                return
    raise MediaError(f"fewer frames decode now than when it was probed (frame {remaining[-1]} is missing)")


# decord


class _Untrusted(Exception):
    """decord does not decode this file as PyAV does; the text is the reason."""


def _safe_times(path: Path, probed: Probe) -> list[tuple[int, bool]]:
    """Timestamps of the frames in presentation order, each with its key-frame flag.

    Raises:
        _Untrusted: a property that decord is known to get wrong, or one by which seeking to a key frame and counting from there
            may end at another frame.
    """
    unsupported = {
        "an image": is_image(path),
        "turned or mirrored": probed.rotation_degrees != 0 or probed.mirrored,
        "of more than 8 bits": probed.bit_depth > 8,
        "HDR": probed.hdr != "none",
        "not opaque": probed.has_alpha,
        "damaged": probed.damaged_packets > 0 or probed.truncated,
    }
    for kind, applies in unsupported.items():
        if applies:
            raise _Untrusted(f"decord is not used on what is {kind}")
    packets = packet_times(path)
    if packets is None or len(packets) != probed.frames or len({shown_at for shown_at, _ in packets}) != probed.frames:
        raise _Untrusted("decord is not used where packets and frames do not match one to one (edit list, missing timestamps)")
    last_key: int | None = None
    for shown_at, key in packets:
        last_key = shown_at if key else last_key
        if last_key is None or shown_at < last_key:
            raise _Untrusted("decord is not used where frames refer across key frames (open groups of pictures)")
    return sorted(packets)


def _compare(path: Path, child: DecordProcess, times: list[tuple[int, bool]]) -> None:
    """Compare decord with PyAV on the first frame, the one after the key frame nearest the middle, and the last one.

    Raises:
        _Untrusted: they differ.
    """
    count = len(times)
    keys = [index for index, (_, key) in enumerate(times) if key]
    middle = min(min(keys, key=lambda index: abs(index - count // 2)) + 1, count - 1)
    checked = sorted({0, middle, count - 1})
    for index, pixels in zip(checked, child.frames_at(checked, width=None), strict=True):
        frame = seek_and_decode(path, times[index][0])
        reference = upright(frame) if frame is not None else None
        if reference is None or reference.shape != pixels.shape:
            shape = None if reference is None else reference.shape
            raise _Untrusted(f"decord gives frame {index} as {pixels.shape}, PyAV as {shape}")
        difference = int(np.abs(reference.astype(np.int16) - pixels).max())
        if difference > TOLERANCE_LEVELS:
            raise _Untrusted(f"frame {index} differs by {difference} levels between decord and PyAV")
