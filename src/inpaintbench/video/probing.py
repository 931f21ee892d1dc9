"""Probing of media files: their properties, measured by decoding all frames once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.errors import MediaError
from inpaintbench.video import colour
from inpaintbench.video.decoding import STILL_FPS, Decoder
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


def probe(path: Path | str) -> Probe:
    """Measure the properties of a file by decoding all of it.

    Raises:
        MediaError: no video stream, a picture larger than ``LARGEST_SIDE`` or ``MOST_PIXELS``, or no frame decodes.
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
    return _probe_of(decoder, first, frames=frames, times=times, interlaced=interlaced, has_alpha=has_alpha)


def _probe_of(decoder: Decoder, first: Any, *, frames: int, times: list[float], interlaced: bool, has_alpha: bool) -> Probe:
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
    """Frames per second, and True if the gaps vary by more than the rounding of coarse (1 ms) timestamps."""
    gaps = np.diff(np.array(times))
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return header_rate or 30.0, False
    mean = float(gaps.mean())
    # Rounding of timestamps to 1 ms moves a gap by up to 2 ms against the mean; a quarter is room for jitter of cameras.
    variable = bool(np.abs(gaps - mean).max() > max(0.25 * mean, 0.0021))
    # The header's rate (29.97 ...) is exact where it agrees with the rounded timestamps.
    constant_rate = header_rate if header_rate and abs(header_rate * mean - 1) < 0.01 else 1 / mean
    return (1 / mean if variable else constant_rate), variable
