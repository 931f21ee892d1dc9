"""Decode files with a decoder other than PyAV (pictures: OpenCV instead of Pillow) and compare.

Runs as a program of its own, so that it can be killed, and so that what has started it goes on meanwhile and never loads torch.

``python -m inpaintbench.export.second_decoder NAME`` reads ``{"path": ..., "rgb_sha256": ...}`` a line and prints one JSON object
a line: ``{"path": ..., "max_difference": ...}`` in grey levels, ``{"path": ..., "error": ...}``, or ``{"path": ...,
"unable": ...}`` where the decoder cannot decode files of that kind, which says nothing of the file. Frames whose hash is that of
the RGB frames which PyAV gave are equal to them; PyAV decodes a file again only where they are not.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from types import ModuleType, TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import known_name
from inpaintbench.errors import MediaError, MissingExtraError

Bytes = npt.NDArray[np.uint8]
_COMPILER = "torch._dynamo"


class _UnableError(Exception):
    """A decoder cannot decode files of this kind."""


class _CompilerOnDemand(ModuleType):
    """torch's compiler, which torchcodec tells of its operators as it is loaded: half of its start. Nothing is compiled here."""

    def disallow_in_graph(self, operator: Any) -> Any:
        return operator

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked of every module by `inspect`
            raise AttributeError(name)
        sys.modules.pop(_COMPILER, None)
        return getattr(importlib.import_module(_COMPILER), name)


def _torchcodec(path: str) -> Bytes:
    if _COMPILER not in sys.modules:
        importlib.import_module("torch")
        sys.modules[_COMPILER] = _CompilerOnDemand(_COMPILER)
    from torchcodec.decoders import VideoDecoder  # type: ignore[attr-defined,unused-ignore]

    decoder = VideoDecoder(path, dimension_order="NHWC", num_ffmpeg_threads=1)
    frames: Bytes = decoder.get_frames_in_range(0, len(decoder)).data.numpy()
    return frames


def _decord(path: str) -> Bytes:
    from decord import VideoReader

    reader = VideoReader(path, num_threads=1)
    # Of planes of red, green and blue, as exact truths are stored, it makes four channels of nonsense.
    if reader[0].shape[2] != 3:
        raise _UnableError("decord cannot decode videos that store colours as RGB")
    frames: Bytes = reader.get_batch(range(len(reader))).asnumpy()
    return frames


def _ffmpeg(path: str) -> Bytes:
    command = ["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return np.frombuffer(subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout, np.uint8)


def _opencv(path: str) -> Bytes:
    import cv2

    picture = cv2.imread(path, cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError("OpenCV cannot read the picture")
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8)


_DECODERS: dict[str, Callable[[str], Bytes]] = {"torchcodec": _torchcodec, "ffmpeg": _ffmpeg, "decord": _decord}
DECODERS = tuple(_DECODERS)
"""Each gives the bytes of all RGB frames of a file, in any shape."""


def available() -> list[str]:
    """The second decoders that are installed, the most telling first."""
    return [name for name in DECODERS if (shutil.which(name) if name == "ffmpeg" else importlib.util.find_spec(name))]


def require(name: str) -> None:
    """Raise one clear sentence unless the decoder ``name`` is known and installed."""
    known_name("decoder", name, DECODERS)
    if name not in available():
        raise MissingExtraError(f"decoding with {name}", {"torchcodec": "export", "decord": "decord"}.get(name, "export"))


class SecondDecoder:
    """A child process that decodes files with another decoder while its parent works on.

    Leaving its context ends the child, with whatever it started.
    """

    def __init__(self, rgb_sha256: Mapping[str, str], *, decoder: str) -> None:
        """Start the child.

        Args:
            rgb_sha256: path -> SHA-256 of the RGB frames that PyAV makes of it.
            decoder: one of ``DECODERS``.
        """
        self._paths, self._decoder = list(rgb_sha256), decoder
        lines = (json.dumps({"path": path, "rgb_sha256": digest}) + "\n" for path, digest in rgb_sha256.items())
        # Files rather than pipes: nobody has to read while the parent works on.
        self._output = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed by __exit__
        with tempfile.TemporaryFile("w+", encoding="utf-8") as wanted:
            wanted.writelines(lines)
            wanted.seek(0)
            command = [sys.executable, "-m", __name__, decoder]
            self._child = subprocess.Popen(
                command, stdin=wanted, stdout=self._output, stderr=subprocess.DEVNULL, start_new_session=True
            )

    def __enter__(self) -> SecondDecoder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        self._output.close()

    def results(self, *, time_limit_seconds: float) -> dict[str, dict[str, Any]]:
        """Wait for the child, so long at most.

        Returns:
            Path -> ``{"max_difference": int}``, ``{"error": sentence}`` or ``{"unable": sentence}``. A child that hangs is
            killed; what it had not done is an error.
        """
        try:
            end = f"exit status {self._child.wait(time_limit_seconds)}"
        except subprocess.TimeoutExpired:
            self._end()
            end = f"stopped after {time_limit_seconds:g} s"
        self._output.seek(0)
        rows = {row["path"]: row for row in map(json.loads, self._output)}
        return {path: rows.get(path, {"error": f"{self._decoder} gave no result ({end})"}) for path in self._paths}

    def _end(self) -> None:
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)  # with whatever it started
            self._child.wait()


def _main(decoder: str) -> None:
    assert decoder in DECODERS
    for line in sys.stdin:
        wanted = json.loads(line)
        path = wanted["path"]
        try:
            row: dict[str, Any] = {"path": path, "max_difference": _difference(path, wanted["rgb_sha256"], decoder)}
        except MediaError as error:
            row = {"path": path, "error": f"PyAV: {error}"}
        except _UnableError as error:
            row = {"path": path, "unable": str(error)}
        except Exception as error:  # decoders raise many kinds, decord one of its own; one file must not end the others
            row = {"path": path, "error": f"{decoder}: {error}".splitlines()[0]}
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def _difference(path: str, rgb_sha256: str, decoder: str) -> int:
    from inpaintbench import video

    if not video.is_image(path):
        next(iter(video.Decoder(path)))  # which opens no list of other films, as the others do
    other = (_opencv if video.is_image(path) else _DECODERS[decoder])(path)
    if hashlib.sha256(other.tobytes()).hexdigest() == rgb_sha256:
        return 0
    frames = video.read_frames(path)
    return int(np.abs(frames.astype(np.int16) - other.reshape(frames.shape)).max())


if __name__ == "__main__":
    _main(sys.argv[1])
    os._exit(0)  # every line is written; torch takes half as long to be taken down as to be loaded
