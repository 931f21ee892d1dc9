"""`doctor`: what this installation can do."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version

from inpaintbench.cli import console

_PARTS = (
    ("PyAV", "av", "decoding and encoding"),
    ("datasets", "datasets", "loading exports"),
    ("torchcodec", "torchcodec", 'decoding through datasets: pip install "inpaintbench[export]"'),
    ("numba", "numba", 'growing fingerprints fast: pip install "inpaintbench[masks]"'),
    ("decord", "decord", 'a second decoder: pip install "inpaintbench[decord]"'),
)


def doctor() -> None:
    """Tell which parts are installed, and what is in their way."""
    rows = [(name, "yes" if importlib.util.find_spec(module) else "no", purpose) for name, module, purpose in _PARTS]
    rows.append(("ffmpeg program", "yes" if shutil.which("ffmpeg") else "no", "a second decoder for export verify"))
    console.print_table(f"inpaintbench on Python {platform.python_version()}", ["part", "installed", "for"], rows)
    if _installed("opencv-python") and _installed("opencv-python-headless"):
        console.err.print(
            "opencv-python and opencv-python-headless are both installed and overwrite each other: uninstall both, then "
            "install opencv-python-headless alone",
            markup=False,
        )


def _installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False
