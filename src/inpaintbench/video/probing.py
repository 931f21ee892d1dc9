"""What a file holds, found by decoding all of it once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.errors import MediaError
from inpaintbench.video import colour
from inpaintbench.video.decoding import STILL_FPS, Decoder
from inpaintbench.video.images import is_image, read_image
from inpaintbench.video.upright import rotation


@dataclass(frozen=True)
class Probe:
    """What a file holds, found by decoding all of it."""

    codec: str
    pixel_format: str
    bit_depth: int
    width: int
    """Of the coded picture, before rotation."""
    height: int
    rotation_degrees: int
    """How far players turn the picture, counter-clockwise: 0, 90, 180 or 270."""
    mirrored: bool
    """Players flip the picture left to right before they turn it."""
    pixel_aspect: float
    """Width of a pixel over its height."""
    fps: float
    """Average over the timestamps of the frames; the container's figure when there is one frame."""
    variable_frame_rate: bool
    frames: int
    """How many frames decode."""
    header_frames: int
    """How many the container claims; 0 when it does not say."""
    damaged_packets: int
    truncated: bool
    """The container ended before its end."""
    start_seconds: float
    """Timestamp of the first frame; 0 where frames carry none."""
    duration_seconds: float
    """From the first frame until the last one has been shown."""
    transfer: str
    """FFmpeg's name of the transfer function, as tagged; ``unknown`` where untagged. The same of the next two."""
    primaries: str
    matrix: str
    colour_range: str
    """``limited``, ``full`` or ``unknown``, as tagged."""
    hdr: str
    """``pq``, ``hlg`` or ``none``."""
    interlaced: bool
    """Some frame is coded as two fields."""
    has_alpha: bool
    """Some pixel is not opaque."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Probe:
        """From facts by name, as tables hold them: truths and counts as numbers; facts of other names are left out."""
        kinds: dict[str, Callable[[Any], Any]] = {"str": str, "int": int, "float": float, "bool": bool}
        return cls(**{field.name: kinds[str(field.type)](facts[field.name]) for field in fields(cls)})


def probe(path: Path | str) -> Probe:
    """Decode the whole file and tell what it holds.

    Raises:
        MediaError: no video stream, a picture larger than ``LARGEST_SIDE`` or ``MOST_PIXELS``, or not one frame decodes; the text
            says why.
    """
    if is_image(path):
        return _probe_image(path)
    decoder = Decoder(path)
    times: list[float] = []
    first, frames, interlaced, has_alpha = None, 0, False, False
    for frame in decoder:
        first = first or frame
        frames += 1
        interlaced = interlaced or bool(frame.interlaced_frame)
        has_alpha = has_alpha or colour.opacity(frame) is not None
        if frame.pts is not None:
            times.append(float(frame.pts * frame.time_base))
    if first is None:
        raise MediaError(f"not one frame decodes{decoder.first_error and f': {decoder.first_error}'}")
    return _found(decoder, first, frames=frames, times=times, interlaced=interlaced, has_alpha=has_alpha)


def _found(decoder: Decoder, first: Any, *, frames: int, times: list[float], interlaced: bool, has_alpha: bool) -> Probe:
    fps, variable = _frame_rate(times, decoder.header_rate)
    degrees, mirrored = rotation(first)
    return Probe(
        codec=decoder.codec,
        pixel_format=first.format.name,
        bit_depth=first.format.components[0].bits,
        width=first.width,
        height=first.height,
        rotation_degrees=degrees,
        mirrored=mirrored,
        pixel_aspect=decoder.pixel_aspect,
        fps=fps,
        variable_frame_rate=variable,
        frames=frames,
        header_frames=decoder.header_frames,
        damaged_packets=decoder.damaged_packets,
        truncated=decoder.truncated,
        start_seconds=times[0] if times else 0.0,
        duration_seconds=(max(times) - min(times) if len(times) == frames else (frames - 1) / fps) + 1 / fps,
        **colour.names(first),
        hdr=colour.hdr_kind(first),
        interlaced=interlaced,
        has_alpha=has_alpha,
    )


def _probe_image(path: Path | str) -> Probe:
    height, width = read_image(path).shape[:2]
    return Probe(
        codec=Path(path).suffix.lower().removeprefix("."), pixel_format="rgb24", bit_depth=8, width=width, height=height,
        rotation_degrees=0, mirrored=False, pixel_aspect=1.0, fps=STILL_FPS, variable_frame_rate=False, frames=1, header_frames=1,
        damaged_packets=0, truncated=False, start_seconds=0.0, duration_seconds=1 / STILL_FPS, transfer=colour.UNKNOWN,
        primaries=colour.UNKNOWN, matrix=colour.UNKNOWN, colour_range="full", hdr="none", interlaced=False, has_alpha=False,
    )  # fmt: skip


def _frame_rate(times: list[float], header_rate: float) -> tuple[float, bool]:
    """Frames per second, and whether the gaps differ by more than the rounding of coarse (1 ms) timestamps."""
    gaps = np.diff(np.array(times))
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return header_rate or 30.0, False
    mean = float(gaps.mean())
    variable = bool(np.abs(gaps - mean).max() > max(0.25 * mean, 0.0021))
    constant_rate = header_rate if header_rate and abs(header_rate * mean - 1) < 0.01 else 1 / mean
    return (1 / mean if variable else constant_rate), variable
