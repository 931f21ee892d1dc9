"""Program that reads frames with decord, in a process that can be killed: decord can hang while it holds the interpreter lock.

``python decord_child.py PATH`` answers on its standard output. First it writes one JSON line, ``{"frames": N}``.
Then it reads requests, one JSON object a line, ``{"indices": [...], "width": W or null}``, and writes for each index a JSON line
``{"shape": [H, W, C]}`` and the bytes. Any failure is a JSON line ``{"error": sentence}``, after which it ends. Nothing of the
package is imported, so that it starts fast.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sys
from typing import Any, BinaryIO

import cv2
import numpy as np
import numpy.typing as npt


def resized(pixels: npt.NDArray[np.uint8], width: int | None) -> npt.NDArray[np.uint8]:
    """Downscale ``uint8[H, W, 3]`` to ``width`` by area averaging, keeping the aspect ratio; never enlarges."""
    height, full_width = pixels.shape[:2]
    if width is None or width >= full_width:
        return pixels
    size = (width, max(1, round(height * width / full_width)))
    return np.asarray(cv2.resize(pixels, size, None, 0, 0, cv2.INTER_AREA), np.uint8)


def _main(path: str) -> None:
    # The parent may be killed while this hangs. PR_SET_PDEATHSIG is 1; decord is for Linux alone.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    cv2.setNumThreads(1)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of the libraries must not mix with the answers
    try:
        import decord

        decord.logging.set_level(decord.logging.QUIET)
        reader = decord.VideoReader(path, num_threads=1)
        _send(out, {"frames": len(reader)})
        for line in sys.stdin:
            request = json.loads(line)
            for index in request["indices"]:
                pixels = reader[index].asnumpy()
                # decord gives four channels for some files; the parent refuses those.
                small = resized(pixels, request["width"]) if pixels.shape[2] == 3 else pixels
                _send(out, {"shape": small.shape}, np.ascontiguousarray(small).tobytes())
    except Exception as error:  # decord raises many kinds; the parent falls back to PyAV on all of them
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        # Strips the time, the position in decord's source and the local paths from its messages.
        _send(out, {"error": re.sub(r"\[[^]]*\]|\S+\.cc:\d+:", "", first_line).strip()[:200]})


def _send(out: BinaryIO, header: dict[str, Any], data: bytes = b"") -> None:
    out.write(json.dumps(header).encode() + b"\n" + data)
    out.flush()


if __name__ == "__main__":
    _main(sys.argv[1])
