"""Imports parts one after the other and tells of each on a line of JSON: a process of its own, for parts that end theirs.

Run by its path with the names of modules; it imports nothing of this package.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def _tell(module: str, **facts: Any) -> None:
    sys.__stdout__.write(json.dumps({"module": module, **facts}) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def _av(module: Any) -> dict[str, Any]:
    libraries = {name: ".".join(map(str, number)) for name, number in module.library_versions.items()}
    from av.codec import codecs_available

    gpl = sorted({"libx264", "libx265"} & codecs_available)
    facts: dict[str, Any] = {"libraries": libraries, "ffmpeg": getattr(module, "ffmpeg_version_info", ""), "gpl": gpl}
    facts["encoders"] = [name for name in ("libx264", "libvpx-vp9") if name in codecs_available]
    try:
        facts["licence"] = importlib.import_module("av._core").library_meta["libavcodec"]["license"]
    except (ImportError, AttributeError, KeyError):  # a name that PyAV does not promise
        facts["licence"] = ""
    return facts


def _torch(torch: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"cuda_build": torch.version.cuda, "devices": [], "mps": False}
    facts["mps"] = bool(torch.backends.mps.is_available())
    if torch.cuda.is_available():
        for number in range(torch.cuda.device_count()):
            device = torch.cuda.get_device_properties(number)
            facts["devices"].append({"name": device.name, "bytes": device.total_memory})
    return facts


def _torchcodec(module: Any) -> dict[str, Any]:  # noqa: ARG001
    importlib.import_module("torchcodec.decoders")  # the package alone may import where its libraries do not
    return {}


_MORE = {"av": _av, "torch": _torch, "torchcodec": _torchcodec}


def main(modules: list[str]) -> None:
    """Tell of every module."""
    for name in modules:
        _tell(name, begun=True)
        try:
            package = importlib.import_module(name)
            _tell(name, works=True, version=str(getattr(package, "__version__", "")), **_MORE.get(name, lambda _: {})(package))
        except BaseException as error:  # whatever a broken part may raise
            _tell(name, works=False, error=" ".join(f"{type(error).__name__}: {error}".split())[:300])


if __name__ == "__main__":
    main(sys.argv[1:])
