"""Probing of media files: their properties, measured by decoding all frames once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from io import RawIOBase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import MediaError
from inpaintbench.video import colour
from inpaintbench.video.decoding import FALLBACK_RATE, STILL_FPS, Decoder, packets_of
from inpaintbench.video.images import read_image
from inpaintbench.video.suffixes import is_image
from inpaintbench.video.upright import rotation


@dataclass(frozen=True)
class Probe:
    """Properties of a media file."""

    codec: str
    pixel_format: str
    bit_depth: int
    width: int
    """Width of the coded picture, before rotation."""
    height: int
    rotation_degrees: int
    """Rotation by players, counter-clockwise: 0, 90, 180 or 270."""
    mirrored: bool
    """Players mirror the picture left to right before they rotate it."""
    pixel_aspect: float
    """Width of a pixel over its height."""
    fps: float
    """Average over the timestamps of the frames; the container's figure when there is one frame."""
    variable_frame_rate: bool
    frames: int
    """Number of frames that decode."""
    header_frames: int
    """Number of frames by the container's header; 0 = not stated."""
    damaged_packets: int
    truncated: bool
    """The container ends early."""
    start_seconds: float
    """Timestamp of the first frame; 0 where frames carry none."""
    duration_seconds: float
    """From the start of the first frame to the end of the last."""
    transfer: str
    """FFmpeg's name of the transfer function, as tagged; ``unknown`` where untagged. The same of the next two."""
    primaries: str
    matrix: str
    colour_range: str
    """``limited``, ``full`` or ``unknown``, as tagged."""
    hdr: str
    """``pq``, ``hlg`` or ``none``."""
    interlaced: bool
    """At least one frame is coded as two fields."""
    has_alpha: bool
    """At least one pixel is not opaque."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Probe:
        """Build a probe from facts by name, as tables hold them (booleans and counts as numbers); other names are ignored."""
        kinds: dict[str, Callable[[Any], Any]] = {"str": str, "int": int, "float": float, "bool": bool}
        return cls(**{field.name: kinds[str(field.type)](facts[field.name]) for field in fields(cls)})


class ProbingDecoder(Decoder):
    """Iterator over the frames of a video that measures, while somebody takes them, what ``probe`` tells of it."""

    def __init__(self, path: Path | str | RawIOBase, *, watching: Callable[[Any], object] | None = None) -> None:
        """Measure the file at ``path``, or an open one; ``watching`` gets every frame (``av.VideoFrame``), once and in order."""
        super().__init__(path)
        self._watching = watching
        self._coming = self._noted()
        self._first: dict[str, Any] = {}
        self._times: list[float] = []
        self._frames, self._interlaced, self._has_alpha = 0, False, False

    def __iter__(self) -> Iterator[Any]:
        return self._coming

    def _noted(self) -> Iterator[Any]:
        for frame in super().__iter__():
            # Kept before anybody tags the frame otherwise.
            self._first = self._first or _facts_of(frame)
            self._frames += 1
            self._interlaced = self._interlaced or bool(frame.interlaced_frame)
            self._has_alpha = self._has_alpha or colour.opacity(frame) is not None
            if frame.pts is not None:
                self._times.append(float(frame.pts * frame.time_base))
            if self._watching:
                self._watching(frame)
            yield frame

    def probe(self) -> Probe:
        """Decode what is left, and return what ``probe`` returns.

        Raises:
            MediaError: as ``probe``.
        """
        for _ in self._coming:
            pass
        if not self._frames:
            raise MediaError(f"not one frame decodes{self.first_error and f': {self.first_error}'}")
        return self._measured(self._times, self._frames)

    def _measured(self, times: list[float], frames: int) -> Probe:
        fps, variable = _frame_rate(times, self.header_rate)
        spanned = max(times) - min(times) if len(times) == frames else (frames - 1) / fps
        return Probe(
            codec=self.codec,
            pixel_aspect=self.pixel_aspect,
            fps=fps,
            variable_frame_rate=variable,
            frames=frames,
            header_frames=self.header_frames,
            damaged_packets=self.damaged_packets,
            truncated=self.truncated,
            start_seconds=times[0] if times else 0.0,
            duration_seconds=spanned + 1 / fps,
            interlaced=self._interlaced,
            has_alpha=self._has_alpha,
            **self._first,
        )

    def foreseen(self) -> Probe | None:
        """Return what ``probe`` will find, if every packet is a frame that decodes; None where packets do not say.

        Decodes the first frame of the file, with a decoder of its own.
        """
        try:
            packets = packets_of(self.path)
            first = ProbingDecoder(self.path)
            frame = next(iter(first), None)
        except MediaError:
            return None
        if not packets or frame is None:
            return None
        return first._measured(
            [float(time * frame.time_base) for time in sorted(packet.time for packet in packets)], len(packets)
        )


def probe(path: Path | str, *, watching: Callable[[Any], object] | None = None) -> Probe:
    """Measure the properties of a file by decoding all of it; of a video ``watching`` gets every frame, once and in order.

    Raises:
        MediaError: no video stream, a picture larger than ``LARGEST_SIDE`` or ``MOST_PIXELS``, or no frame decodes.
    """
    if not is_image(path):
        return ProbingDecoder(path, watching=watching).probe()
    height, width = read_image(path).shape[:2]
    return Probe(
        codec=Path(path).suffix.lower().removeprefix("."),
        pixel_format="rgb24",
        bit_depth=8,
        width=width,
        height=height,
        rotation_degrees=0,
        mirrored=False,
        pixel_aspect=1.0,
        fps=STILL_FPS,
        variable_frame_rate=False,
        frames=1,
        header_frames=1,
        damaged_packets=0,
        truncated=False,
        start_seconds=0.0,
        duration_seconds=1 / STILL_FPS,
        transfer=colour.UNKNOWN,
        primaries=colour.UNKNOWN,
        matrix=colour.UNKNOWN,
        colour_range="full",
        hdr="none",
        interlaced=False,
        has_alpha=False,
    )


def thumbnail(frame: Any, *, pixels: int) -> npt.NDArray[np.uint8]:
    """RGB of a decoded frame (``av.VideoFrame``) at an area of at most about ``pixels``, ``uint8[h, w, 3]``, not rotated."""
    scale = min(1.0, (pixels / (frame.height * frame.width)) ** 0.5)
    size = {"width": max(8, round(frame.width * scale)), "height": max(8, round(frame.height * scale))}
    return np.asarray(frame.reformat(**size, format="rgb24").to_ndarray(), np.uint8)


def _facts_of(frame: Any) -> dict[str, Any]:
    """Return what the first frame alone tells."""
    degrees, mirrored = rotation(frame)
    return {
        "pixel_format": frame.format.name,
        "bit_depth": frame.format.components[0].bits,
        "width": frame.width,
        "height": frame.height,
        "rotation_degrees": degrees,
        "mirrored": mirrored,
        "hdr": colour.hdr_kind(frame),
        **colour.names(frame),
    }


def _frame_rate(times: list[float], header_rate: float) -> tuple[float, bool]:
    """Frames per second, and True if the gaps vary by more than the rounding of coarse (1 ms) timestamps."""
    gaps = np.diff(np.array(times))
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return header_rate or FALLBACK_RATE, False
    mean = float(gaps.mean())
    # Rounding of timestamps to 1 ms moves a gap by up to 2 ms against the mean; a quarter is room for jitter of cameras.
    variable = bool(np.abs(gaps - mean).max() > max(0.25 * mean, 0.0021))
    # The header's rate (29.97 ...) is exact where it agrees with the rounded timestamps.
    constant_rate = header_rate if header_rate and abs(header_rate * mean - 1) < 0.01 else 1 / mean
    return (1 / mean if variable else constant_rate), variable
