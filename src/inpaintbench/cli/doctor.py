"""`doctor`: what this installation can do."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version

from inpaintbench.cli import console
from inpaintbench.models.weights import Weights, known, state

_PARTS = (
    ("PyAV", "av", "decoding and encoding"),
    ("datasets", "datasets", "loading exports"),
    ("torchcodec", "torchcodec", 'decoding through datasets: pip install "inpaintbench[export]"'),
    ("numba", "numba", 'growing fingerprints and filling from exemplars fast: pip install "inpaintbench[masks]"'),
    ("decord", "decord", 'a second decoder: pip install "inpaintbench[decord]"'),
    ("scenedetect", "scenedetect", 'the splitter shots: pip install "inpaintbench[curation]"'),
    ("yt-dlp", "yt_dlp", 'curation fetch site: pip install "inpaintbench[sites]"'),
    ("flickrapi", "flickrapi", 'curation fetch flickr: pip install "inpaintbench[flickr]"'),
    ("Ray", "ray", 'the option --ray: pip install "inpaintbench[ray]"'),
)
_FLICKR_KEY = ("FLICKR_API_KEY", "FLICKR_API_SECRET")


def doctor() -> None:
    """Tell which parts are installed, and what is in their way."""
    rows = [(name, _yes(importlib.util.find_spec(module)), purpose) for name, module, purpose in _PARTS]
    rows.append(("ffmpeg program", _yes(shutil.which("ffmpeg")), "a second decoder for export verify"))
    key = all(os.environ.get(name) for name in _FLICKR_KEY)
    rows.append(("Flickr key", _yes(key), f"curation fetch flickr: {' and '.join(_FLICKR_KEY)} in the environment"))
    rows += [(f"{one.name} weights", state(one), _used_by(one)) for one in known().values()]
    console.print_table(f"inpaintbench on Python {platform.python_version()}", ["part", "here", "for"], rows)
    if _installed("opencv-python") and _installed("opencv-python-headless"):
        console.err.print(
            "opencv-python and opencv-python-headless are both installed and overwrite each other: uninstall both, then "
            "install opencv-python-headless alone",
            markup=False,
        )


def _yes(found: object) -> str:
    return "yes" if found else "no"


def _used_by(weights: Weights) -> str:
    way = f"fetch {weights.name}" if weights.origin else "import FILE"
    return f"measuring {', '.join(weights.used_by)}: inpaintbench models {way}"


def _installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False
