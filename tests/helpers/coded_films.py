"""Films of moving noise as cameras and programs write them, with key frames and an index of many kinds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np


def write_film(
    path: Path, *, frames: int, width: int = 96, height: int = 64, codec: str = "libx264", group: int = 20,
    options: dict[str, str] | None = None, container: dict[str, str] | None = None, jitter: bool = False, seed: int = 0,
) -> Path:  # fmt: skip
    """A film at 25 frames a second, with sound of the same length beside it.

    Args:
        path: where it is written; the suffix says the container.
        frames: how many.
        width, height: of them, px.
        codec: of its pictures.
        group: frames from key frame to key frame.
        options: further ones of the codec.
        container: those of the container, such as ``movflags``.
        jitter: its timestamps are as uneven as those of telephones.
        seed: of its noise.
    """
    rng = np.random.default_rng(seed)
    with av.open(str(path), "w", options=container or {}) as out:
        stream = out.add_stream(codec, rate=25, options={"preset": "ultrafast", "threads": "1", **(options or {})})
        stream.width, stream.height, stream.pix_fmt, stream.codec_context.gop_size = width, height, "yuv420p", group
        stream.codec_context.time_base = Fraction(1, 1000)
        sound = out.add_stream("aac", rate=48000, layout="mono")
        time = 0
        for number in range(frames):
            picture = rng.integers(0, 255, (height // 8, width // 8, 3), np.uint8).repeat(8, 0).repeat(8, 1)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            time += 40 + (int(rng.integers(-15, 16)) if jitter else 0)
            out.mux(stream.encode(frame))
            tone = av.AudioFrame.from_ndarray(rng.normal(0, 0.1, (1, 1920)).astype(np.float32), format="fltp", layout="mono")
            tone.sample_rate, tone.pts, tone.time_base = 48000, number * 1920, Fraction(1, 48000)
            out.mux(sound.encode(tone))
        out.mux(stream.encode())
        out.mux(sound.encode())
    return path
