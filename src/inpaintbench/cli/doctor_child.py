"""Imports parts one after the other and tells of each on a line of JSON: a process of its own, for parts that end theirs.

Run by its path with the names of modules; it imports nothing of this package.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def _tell(module: str, **told: Any) -> None:
    sys.__stdout__.write(json.dumps({"module": module, **told}) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def _version(found: Any) -> str:
    return str(getattr(found, "__version__", ""))


def _av(found: Any) -> dict[str, Any]:
    libraries = {name: ".".join(map(str, number)) for name, number in found.library_versions.items()}
    from av.codec import codecs_available

    return {"libraries": libraries, "ffmpeg": getattr(found, "ffmpeg_version_info", ""), "x264": "libx264" in codecs_available}


def _torch(found: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"cuda_build": found.version.cuda, "devices": [], "mps": False}
    told["mps"] = bool(found.backends.mps.is_available())
    if found.cuda.is_available():
        for number in range(found.cuda.device_count()):
            one = found.cuda.get_device_properties(number)
            told["devices"].append({"name": one.name, "bytes": one.total_memory})
    return told


def _torchcodec(found: Any) -> dict[str, Any]:  # noqa: ARG001
    importlib.import_module("torchcodec.decoders")  # the package alone may import where its libraries do not
    return {}


_MORE = {"av": _av, "torch": _torch, "torchcodec": _torchcodec}


def main(modules: list[str]) -> None:
    """Tell of every module."""
    for name in modules:
        _tell(name, begun=True)
        try:
            found = importlib.import_module(name)
            _tell(name, works=True, version=_version(found), **_MORE.get(name, lambda _: {})(found))
        except BaseException as error:  # whatever a broken part may raise
            _tell(name, works=False, error=" ".join(f"{type(error).__name__}: {error}".split())[:300])


if __name__ == "__main__":
    main(sys.argv[1:])
