"""What a program's file format alone costs: the clip it was given, written as it writes."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.types import Frames

_H264 = re.compile(r"h264-crf(\d+)")
# Qualities that OpenCV and Pillow, by which the released programs write, take by default or are given there.
_JPEG_QUALITY = 75


def ceiling_db(frames: Frames, how: str) -> float | None:
    """PSNR in dB over all samples of ``uint8[T, H, W, 3]`` after they were ``written`` and read again.

    No prediction of a program that writes so can be closer to a truth whose texture is like the clip's. None for H.264 where the
    encoder at hand writes none.

    Raises:
        InputError: an unknown form.
    """
    again = written(frames, how)
    if again is None:
        return None
    error = float(np.mean((frames[:, : again.shape[1], : again.shape[2]].astype(np.float32) - again) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(255**2 / error))


def written(frames: Frames, how: str) -> Frames | None:
    """Frames after they were written as ``how`` says and read again; None where the encoder at hand writes no H.264.

    ``mp4v`` is OpenCV's MPEG-4 (which drops an odd row or column), ``jpeg`` of quality 75, ``h264-crfN`` is libx264 in 4:2:0.

    Raises:
        InputError: an unknown form.
    """
    even = frames[:, : frames.shape[1] // 2 * 2, : frames.shape[2] // 2 * 2]
    factor = _H264.fullmatch(how)
    if how == "jpeg":
        flags = [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
        pictures = [cv2.imencode(".jpg", np.ascontiguousarray(frame[..., ::-1]), flags)[1] for frame in frames]
        return np.stack([np.asarray(cv2.imdecode(picture, cv2.IMREAD_COLOR), np.uint8)[..., ::-1] for picture in pictures])
    if how != "mp4v" and factor is None:
        raise InputError(f"unknown form {how!r} of a written result; give mp4v, jpeg or h264-crfN")
    if factor is not None and not video.writes_h264():
        return None
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        path = Path(folder, "clip.mp4")
        if factor is not None:
            video.write_browser(path, even, fps=24, crf=int(factor[1]))
        else:
            size = (even.shape[2], even.shape[1])
            writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), 24, size)
            for frame in even:
                writer.write(np.ascontiguousarray(frame[..., ::-1]))
            writer.release()
        return video.read_frames(path)
