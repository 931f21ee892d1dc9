"""Files that serve a study in a container: ``Dockerfile``, ``start.sh`` and, for Hugging Face Spaces, ``README.md``."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from inpaintbench.errors import InputError

_FILES = ("Dockerfile", "start.sh", "README.md")


def write_space(out: Path, *, title: str, wheel: Path | None = None) -> list[Path]:
    """Write the files into a folder that is empty or new; nothing of the study is in them, and nothing is sent anywhere.

    Args:
        out: the folder.
        title: of the study.
        wheel: of this package; the image cannot be built before one lies in ``wheels/``, since no package index has it.

    Raises:
        InputError: the folder holds something, or there is no such wheel.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{str(out)!r} is not empty; choose another folder")
    if wheel is not None and not (wheel.is_file() and wheel.suffix == ".whl"):
        raise InputError(f"{str(wheel)!r} is no wheel; `pip wheel --no-deps PATH_TO_CLONE` makes one")
    (out / "wheels").mkdir(parents=True)
    (out / "wheels" / ".keep").touch()
    if wheel is not None:
        shutil.copy(wheel, out / "wheels")
    written = []
    for name in _FILES:
        text = files("inpaintbench.annotate.space").joinpath(name).read_text()
        filled = text.replace("{{ version }}", version("inpaintbench")).replace("{{ title }}", json.dumps(title))
        (out / name).write_text(filled)
        written.append(out / name)
    return written
