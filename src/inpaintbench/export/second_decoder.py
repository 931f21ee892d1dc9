"""Decode files with a decoder other than PyAV (pictures: OpenCV instead of Pillow) and compare.

Runs as a program of its own, so that it can be killed.

``python -m inpaintbench.export.second_decoder NAME`` reads one path a line and prints one JSON object a line:
``{"path": ..., "max_difference": ...}`` in grey levels, or ``{"path": ..., "error": ...}``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import MediaError, MissingExtraError, UnknownNameError
from inpaintbench.types import Frames


def _torchcodec(path: str, frames: Frames) -> Any:
    from torchcodec.decoders import VideoDecoder  # type: ignore[attr-defined,unused-ignore]

    decoded = VideoDecoder(path, dimension_order="NHWC", num_ffmpeg_threads=1)
    return decoded.get_frames_in_range(0, len(frames)).data.numpy()


def _decord(path: str, frames: Frames) -> Any:
    from decord import VideoReader

    return VideoReader(path, num_threads=1).get_batch(range(len(frames))).asnumpy()


def _ffmpeg(path: str, frames: Frames) -> Any:
    command = ["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout
    return np.frombuffer(raw, np.uint8).reshape(frames.shape)


def _opencv(path: str, frames: Frames) -> Any:  # noqa: ARG001 - one signature for all decoders
    picture = cv2.imread(path, cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError("OpenCV cannot read the picture")
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)[None]


_DECODERS: dict[str, Callable[[str, Frames], Any]] = {"torchcodec": _torchcodec, "ffmpeg": _ffmpeg, "decord": _decord}
DECODERS = tuple(_DECODERS)


def available() -> list[str]:
    """The second decoders that are installed, the most telling first."""
    return [name for name in DECODERS if (shutil.which(name) if name == "ffmpeg" else importlib.util.find_spec(name))]


def require(name: str) -> None:
    """Raise one clear sentence unless the decoder ``name`` is known and installed."""
    if name not in DECODERS:
        raise UnknownNameError(unknown_name("decoder", name, list(DECODERS)))
    if name not in available():
        raise MissingExtraError(f"decoding with {name}", {"torchcodec": "export", "decord": "decord"}.get(name, "export"))


def compare(paths: list[str], *, decoder: str, time_limit_seconds: float) -> dict[str, dict[str, Any]]:
    """Decode ``paths`` with ``decoder`` in a child process and compare with ``video.read_frames``.

    Returns:
        Path -> ``{"max_difference": int}`` or ``{"error": sentence}``. A child that hangs is killed; what it had not done is
        an error.
    """
    command = [sys.executable, "-m", __name__, decoder]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as child:  # type: ignore[call-overload]
        try:
            output, _ = child.communicate("\n".join(paths), timeout=time_limit_seconds)
            end = f"exit status {child.returncode}"
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # with whatever it started
            output, _ = child.communicate()
            end = f"stopped after {time_limit_seconds:g} s"
    results = {row["path"]: row for row in map(json.loads, output.splitlines())}
    return {path: results.get(path, {"error": f"{decoder} gave no result ({end})"}) for path in paths}


def _main(decoder: str) -> None:
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            frames = video.read_frames(path)
            other = (_opencv if video.is_image(path) else _DECODERS[decoder])(path, frames)
            difference = int(np.abs(frames.astype(np.int16) - other).max())
            row: dict[str, Any] = {"path": path, "max_difference": difference}
        except MediaError as error:
            row = {"path": path, "error": f"PyAV: {error}"}
        except (ValueError, RuntimeError, IndexError, ImportError, OSError, subprocess.SubprocessError) as error:
            row = {"path": path, "error": f"{decoder}: {error}".splitlines()[0]}
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1])
