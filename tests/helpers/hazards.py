"""Files as users have them: each maker writes one file and says nothing about what should happen to it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from inpaintbench import video


def moving(frames: int, *, width: int = 160, height: int = 96, seed: int = 0) -> np.ndarray:
    """A blurred random texture that pans by 2 px a frame, ``uint8[T, H, W, 3]``."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (height // 8 + 2, (width + 2 * frames) // 8 + 2, 3), dtype=np.uint8)
    wide = np.kron(coarse, np.ones((8, 8, 1), np.uint8))
    return np.stack([wide[:height, 2 * t : 2 * t + width] for t in range(frames)])


def encode(
    path: Path, frames: np.ndarray, *, codec: str = "libx264", pixel_format: str = "yuv420p", pts: list[int] | None = None
) -> None:
    """Write an ordinary video, at 30 frames a second unless ``pts`` (in 1/30 s) says otherwise."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=30)
        stream.width, stream.height, stream.pix_fmt = frames.shape[2], frames.shape[1], pixel_format
        for index, pixels in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = (pts[index] if pts else index), Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def good(path: Path) -> None:
    encode(path, moving(60))


def zero_bytes(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("this is not a video\n" * 100)


def truncated(path: Path) -> None:
    """The index of an mp4 is at its end, so a cut-off one cannot be opened."""
    good(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def truncated_matroska(path: Path) -> None:
    """Matroska plays up to where it was cut."""
    encode(path, moving(120))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * 0.7)])


def damaged(path: Path) -> None:
    """Bytes in the middle overwritten."""
    good(path)
    data = bytearray(path.read_bytes())
    place = data.index(b"mdat") + 2000
    data[place : place + 300] = b"\x55" * 300
    path.write_bytes(bytes(data))


def audio_only(path: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100)
        samples = np.zeros((1, 44100), np.float32)
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        frame.rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def one_frame(path: Path) -> None:
    encode(path, moving(1))


def odd_size(path: Path) -> None:
    encode(path, moving(60, width=161, height=97), pixel_format="yuv444p")


def portrait(path: Path) -> None:
    encode(path, moving(60, width=96, height=160))


def rotated(path: Path) -> None:
    """Turned by the display matrix of the track header, as telephones do."""
    good(path)
    data = bytearray(path.read_bytes())
    place = data.index(b"tkhd") + 4
    matrix = place + 40 if data[place] == 0 else place + 52
    data[matrix : matrix + 36] = struct.pack(">9i", 0, 65536, 0, -65536, 0, 0, 96 << 16, 0, 1 << 30)
    path.write_bytes(bytes(data))


def variable_frame_rate(path: Path) -> None:
    gaps = np.random.default_rng(0).integers(1, 4, 60)
    encode(path, moving(60), pts=[0, *np.cumsum(gaps)[:-1].tolist()])


def ten_bit(path: Path) -> None:
    encode(path, moving(60), pixel_format="yuv420p10le")


def wrong_frame_count(path: Path) -> None:
    """The AVI header claims 9999 frames."""
    encode(path, moving(60), codec="mpeg4")
    data = bytearray(path.read_bytes())
    header = data.index(b"avih") + 8
    data[header + 16 : header + 20] = struct.pack("<I", 9999)
    stream = data.index(b"strh") + 8
    data[stream + 32 : stream + 36] = struct.pack("<I", 9999)
    path.write_bytes(bytes(data))


def unreadable(path: Path) -> None:
    good(path)
    path.chmod(0)


def broken_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere.mp4")


def lossless(path: Path) -> None:
    video.write_lossless(path, moving(60), fps=30.0)


Maker = Callable[[Path], None]
"""Writes the hazard to a path."""

HAZARDS: dict[str, tuple[Maker, str | None]] = {
    # file name -> maker, and what the reason must hold (None: it gives clips)
    "good.mp4": (good, None),
    "zero.mp4": (zero_bytes, "empty (0 bytes)"),
    "text.mp4": (text, "cannot be opened as video"),
    "truncated.mp4": (truncated, "cannot be opened as video"),
    "truncated.mkv": (truncated_matroska, None),
    "audio.mp4": (audio_only, "no video stream, only audio"),
    "one.mp4": (one_frame, "1 frames decode, a clip needs at least 45"),
    "odd.mp4": (odd_size, None),
    "portrait.mp4": (portrait, None),
    "rotated.mp4": (rotated, None),
    "variable.mp4": (variable_frame_rate, None),
    "ten_bit.mp4": (ten_bit, None),
    "wrong_count.avi": (wrong_frame_count, None),
    "link.mp4": (broken_link, "cannot be read: No such file"),
    "a name, with 'quotes' \"and\"\nnewline Ærøskøbing 湖.mp4": (lossless, None),
}
