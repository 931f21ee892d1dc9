"""Films of which parts alone are read: what their index promises, and the frames of spans, from the key frames before them on.

The index of an MP4 or MOV file, in front or at the end, tells where each frame lies and when it is shown. Frames are those that
decoding from the front gives, or none at all: what was not promised raises ``Misread``.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import av

from inpaintbench.errors import MediaError
from inpaintbench.video.decoding import Packet, _decode_function, _open, packets_of
from inpaintbench.video.probing import Probe, ProbingDecoder
from inpaintbench.video.upright import _SAME_TIME_SECONDS

_BLOCK = 1 << 16
# Of a span at once, and as much stays in memory behind it.
_AT_ONCE = 1 << 24
_LARGEST_INDEX = 1 << 26
# Parts of a file at its highest level that are looked at for the index.
_MOST_BOXES = 64


class Misread(MediaError):
    """A film holds other frames than its index promises: it is to be read from the front."""


class _Parts(io.RawIOBase):
    """A file whose blocks come when they are asked for; while it is ``hollow``, zeros stand for those that are not here."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        super().__init__()
        self.size, self.hollow = size, False
        self._read, self._at = read, 0
        # Those of the beginning and the index stay.
        self._kept, self._passing = dict[int, bytes](), dict[int, bytes]()
        self._first, self._last = 0, 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self.size)[whence]
        return self._at

    def readinto(self, into: Any) -> int:
        count = max(0, min(len(into), self.size - self._at))
        data = self.between(self._at, self._at + count)
        into[:count] = data
        self._at += count
        return count

    def between(self, begin: int, end: int) -> bytes:
        """The bytes from ``begin`` to before ``end``, which is in the file."""
        first, last = begin // _BLOCK, -(-end // _BLOCK)
        data = b"".join(map(self._block, range(first, last)))
        return data[begin - first * _BLOCK : end - first * _BLOCK]

    def _block(self, number: int) -> bytes:
        found = self._kept.get(number) or self._passing.get(number)
        if found is None and self.hollow:
            return bytes(min(_BLOCK, self.size - number * _BLOCK))
        if found is None and self._first <= number < self._last:
            self._passing = self._brought(number, min(self._last, number + _AT_ONCE // _BLOCK))
            found = self._passing[number]
        elif found is None:
            self._kept |= self._brought(number, number + 1)
            found = self._kept[number]
        return found

    def _brought(self, first: int, last: int) -> dict[int, bytes]:
        begin, end = first * _BLOCK, min(last * _BLOCK, self.size)
        data = self._read(begin, end)
        if len(data) != end - begin:
            raise Misread("it is shorter than it was")
        return {first + place // _BLOCK: data[place : place + _BLOCK] for place in range(0, len(data), _BLOCK)}

    def keep(self, begin: int, end: int) -> None:
        """Bring these bytes, and keep them."""
        numbers = range(begin // _BLOCK, -(-end // _BLOCK))
        if missing := [number for number in numbers if number not in self._kept]:
            self._kept |= self._brought(missing[0], missing[-1] + 1)

    def expect(self, begin: int, end: int) -> None:
        """Bring what follows of these bytes with the first of them that is asked for, and forget those of before."""
        self._first, self._last = begin // _BLOCK, -(-end // _BLOCK)
        self._passing = {}

    def index(self) -> tuple[int, int] | None:
        """Where the index of an MP4 or MOV file lies; None where it has none."""
        at = 0
        for _ in range(_MOST_BOXES):
            if at + 16 > self.size:
                return None
            head = self.between(at, at + 16)
            size = int.from_bytes(head[8:] if head[:4] == b"\0\0\0\1" else head[:4])
            if head[4:8] == b"moov":
                return (at, at + size) if at + size <= self.size and size <= _LARGEST_INDEX else None
            if size < 8:
                return None
            at += size
        return None


class IndexedFilm:
    """A film that is known by its index.

    Args:
        read: gives the bytes from the first number to before the second.
        size: of the whole film, bytes.
    """

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._file = _Parts(read, size)
        self._packets = list[Packet]()
        self._shown = list[int]()
        """Place of each frame's packet, in the order in which they are shown."""
        self._seconds = list[float]()

    def foreseen(self) -> Probe | None:
        """What ``probe`` finds where all frames decode, by the index and the first frame; None where there is no such index."""
        index = self._file.index()
        if index is None:
            return None
        self._file.keep(*index)
        first = ProbingDecoder(self._file)
        try:
            frame = next(coming := iter(first), None)
            coming.close()  # type: ignore[attr-defined] # it is a generator
            self._file.hollow = True
            packets = packets_of(self._file)
            with _open(self._file) as (_, stream):  # packets tell of themselves by what is in them
                keys = {entry.pos for entry in stream.index_entries if entry.is_keyframe}
        except MediaError:
            return None
        finally:
            self._file.hollow = False
        if frame is None or not packets or not len(packets) == len({packet.time for packet in packets}) == first.header_frames:
            return None
        if any(one.begin < 0 or one.begin + one.bytes > self._file.size for one in packets):
            return None
        self._packets = [one._replace(is_key=one.begin in keys) for one in packets]
        self._shown = sorted(range(len(packets)), key=lambda place: packets[place].time)
        self._seconds = [float(packets[place].time * frame.time_base) for place in self._shown]
        return first._measured(self._seconds, len(packets))

    def frames(self, start_frame: int, end_frame: int, *, fps: float | None = None) -> Iterator[Any]:
        """The frames ``[start_frame, end_frame)`` (``av.VideoFrame``) of a film that was ``foreseen``, not rotated.

        Args:
            start_frame: the first one.
            end_frame: the one behind the last.
            fps: count them at this constant rate, as ``upright_frames`` does; some may then come several times, and others never.

        Raises:
            Misread: they are not what the index promises.
        """
        numbers = range(start_frame, end_frame)
        times = Counter(numbers if fps is None else (self._at(number / fps) for number in numbers))
        first, last = min(times), max(times)
        places, begins = self._shown[first : last + 1], self._packets[self._shown[first]].time
        stop = max(places)
        keys = [place for place in range(min(places) + 1) if self._packets[place].is_key and self._packets[place].time <= begins]
        if not keys:
            raise Misread("no key frame lies before its frames")
        needed = self._packets[keys[-1] : stop + 1]
        self._file.expect(min(one.begin for one in needed), max(one.begin + one.bytes for one in needed))
        expected = first
        for frame in self._decoded(needed):
            # What stands for the lost parts of a picture depends on what was decoded before it. Those that lead an open group are
            # no part of it.
            if frame.is_corrupt and (frame.pts is None or frame.pts >= needed[0].time):
                raise Misread("its frames are damaged")
            if frame.pts is None or frame.pts < begins:
                continue
            if frame.pts != self._packets[self._shown[expected]].time:
                break
            for _ in range(times[expected]):
                yield frame
            expected += 1
            if expected > last:
                return
        raise Misread(f"frame {expected} does not decode")

    def _at(self, seconds: float) -> int:
        """The frame on screen so long after the first."""
        begins = self._seconds[0]
        return max(0, bisect_right(self._seconds, seconds, key=lambda one: one - begins - _SAME_TIME_SECONDS) - 1)

    def _decoded(self, needed: list[Packet]) -> Iterator[Any]:
        try:
            with _open(self._file) as (container, stream):
                for other in container.streams:
                    if other is not stream:
                        other.discard = av.stream.Discard.all
                container.seek(needed[0].time, stream=stream)
                decode = _decode_function(stream)
                for one, packet in zip(needed, container.demux(stream), strict=False):
                    if packet.pts != one.time:
                        raise Misread("its packets lie elsewhere")
                    yield from decode(packet)
                yield from decode(None)  # the decoder is emptied
        except (av.error.FFmpegError, ValueError) as error:
            raise Misread(f"its frames do not decode: {error}") from error
