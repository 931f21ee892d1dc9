"""Look through a video fast: chosen frames, upright and small, read by PyAV or, where it can be trusted, by decord.

PyAV decodes from the front and converts only the frames asked for. decord jumps from key frame to key frame, which pays for a
few frames of a long video, and goes wrong on many files: open groups of pictures, edit lists, rotation. So it reads a file only
if the packets say that jumping is safe and its first, middle and last frames equal PyAV's; the others are read by PyAV, with
the reason.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MediaError, MissingExtraError, UnknownNameError
from inpaintbench.video.decoding import Decoder, packet_times, seek_and_decode
from inpaintbench.video.decord_child import resized
from inpaintbench.video.decord_process import ChildError, DecordProcess
from inpaintbench.video.images import is_image, read_image
from inpaintbench.video.probing import Probe
from inpaintbench.video.upright import Orientations, upright

READERS = ("pyav", "decord")
# Largest difference of a value of decord's frames from PyAV's, 0..255.
TOLERANCE_LEVELS = 3
# For decord to open a file, and for each of its frames.
TIME_LIMIT_SECONDS = 30.0

Pixels = npt.NDArray[np.uint8]


class Scan:
    """Iterates over ``(index, uint8[h, w, 3])``, ascending; says afterwards, and from the first frame on, who read them."""

    def __init__(
        self, path: Path, found: Probe, indices: Sequence[int], *, width: int | None, reader: str, hdr: str, limit: float
    ) -> None:
        self.reader = reader
        """Who read the frames that came last."""
        self.note: str | None = None
        """Why decord was asked for and is not, or no longer, the reader."""
        self._path, self._found, self._indices, self._width = path, found, indices, width
        self._hdr, self._limit = hdr, limit

    def __iter__(self) -> Iterator[tuple[int, Pixels]]:
        left = list(self._indices)
        if self.reader == "decord" and left:
            try:
                for index, pixels in _by_decord(self._path, self._found, left, width=self._width, limit=self._limit):
                    yield index, pixels
                    left = left[1:]
            except (ChildError, _Untrusted) as error:
                self.reader, self.note = "pyav", str(error)
        yield from _by_pyav(self._path, left, width=self._width, hdr=self._hdr)


def scan(
    path: Path | str, *, found: Probe, indices: Sequence[int] | None = None, every: int = 1, width: int | None = None,
    reader: str = "pyav", hdr: str = "exclude", time_limit_seconds: float = TIME_LIMIT_SECONDS,
) -> Scan:  # fmt: skip
    """Chosen frames of a video, upright, ascending.

    Args:
        path: a video or an image.
        found: its probe.
        indices: which frames, ascending; by default every ``every``-th.
        every: distance of the frames where ``indices`` is not given.
        width: bring frames down to this width by averaging; by default they keep theirs.
        reader: one of ``READERS``.
        hdr: one of ``HDR_POLICIES``.
        time_limit_seconds: for decord to open the file, and for each of its frames.

    Raises:
        InputError: unknown reader, or frames that the video does not have.
        MissingExtraError: decord is asked for and not installed.
        MediaError: while iterating: the file is HDR and ``hdr`` is ``exclude``, or it does not decode as when it was probed.
    """
    require_reader(reader)
    if every < 1:
        raise InputError(f"every {every}th frame makes no sense: give 1 or more")
    chosen = range(0, found.frames, every) if indices is None else indices
    if any(one >= other for one, other in pairwise(chosen)):
        raise InputError("frames to scan must be given in ascending order, each once")
    if len(chosen) and (chosen[0] < 0 or chosen[-1] >= found.frames):
        raise InputError(f"there is no frame {chosen[0] if chosen[0] < 0 else chosen[-1]}: the video has {found.frames}")
    return Scan(Path(path), found, chosen, width=width, reader=reader, hdr=hdr, limit=time_limit_seconds)


def require_reader(name: str) -> None:
    """Raise one clear sentence unless the reader ``name`` is known and installed."""
    if name not in READERS:
        raise UnknownNameError(unknown_name("reader", name, list(READERS)))
    if name == "decord" and importlib.util.find_spec("decord") is None:
        raise MissingExtraError("scanning with decord", "decord")


def _by_pyav(path: Path, indices: Sequence[int], *, width: int | None, hdr: str) -> Iterator[tuple[int, Pixels]]:
    left = list(reversed(indices))
    if left and is_image(path):
        yield left.pop(), resized(read_image(path), width)
    if not left:
        return
    orientations = Orientations()
    for index, frame in enumerate(Decoder(path)):
        if index == left[-1]:
            yield left.pop(), resized(upright(frame, hdr=hdr, orientations=orientations), width)
            if not left:
                return
    raise MediaError(f"fewer frames decode now than when it was probed (frame {left[-1]} is missing)")


# decord


class _Untrusted(Exception):
    """decord does not give this file's frames as PyAV does; the text says where."""


def _by_decord(
    path: Path, found: Probe, indices: Sequence[int], *, width: int | None, limit: float
) -> Iterator[tuple[int, Pixels]]:
    times = _safe_times(path, found)
    with DecordProcess(path, time_limit_seconds=limit) as child:
        if child.frames != found.frames:
            raise _Untrusted(f"decord counts {child.frames} frames, and {found.frames} decode")
        _compare(path, child, times)
        yield from zip(indices, child.frames_at(indices, width=width), strict=True)


def _safe_times(path: Path, found: Probe) -> list[tuple[int, bool]]:
    """Timestamp of each frame in the order they are shown, and whether it is a key frame.

    Raises:
        _Untrusted: something that decord is known to get wrong, or jumping to a key frame and counting from there may give
            another frame.
    """
    odd = {
        "an image": is_image(path),
        "turned or mirrored": found.rotation_degrees != 0 or found.mirrored,
        "of more than 8 bits": found.bit_depth > 8,
        "HDR": found.hdr != "none",
        "not opaque": found.has_alpha,
        "damaged": found.damaged_packets > 0 or found.truncated,
    }
    for what, is_so in odd.items():
        if is_so:
            raise _Untrusted(f"decord is not used on what is {what}")
    packets = packet_times(path)
    if packets is None or len(packets) != found.frames or len({time for time, _ in packets}) != found.frames:
        raise _Untrusted("decord is not used where packets and frames do not match one to one (edit list, missing timestamps)")
    last_key: int | None = None
    for time, key in packets:
        last_key = time if key else last_key
        if last_key is None or time < last_key:
            raise _Untrusted("decord is not used where frames refer across key frames (open groups of pictures)")
    return sorted(packets)


def _compare(path: Path, child: DecordProcess, times: list[tuple[int, bool]]) -> None:
    """The first frame, the one after the key frame nearest the middle, and the last one, decoded by both."""
    count = len(times)
    keys = [index for index, (_, key) in enumerate(times) if key]
    middle = min(min(keys, key=lambda index: abs(index - count // 2)) + 1, count - 1)
    checked = sorted({0, middle, count - 1})
    for index, other in zip(checked, child.frames_at(checked, width=None), strict=True):
        frame = seek_and_decode(path, times[index][0])
        own = upright(frame) if frame is not None else None
        if own is None or own.shape != other.shape:
            raise _Untrusted(f"decord gives frame {index} as {other.shape}, PyAV as {None if own is None else own.shape}")
        difference = int(np.abs(own.astype(np.int16) - other).max())
        if difference > TOLERANCE_LEVELS:
            raise _Untrusted(f"frame {index} differs by {difference} levels between decord and PyAV")
