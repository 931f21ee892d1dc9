"""Files that serve a study in a container: ``Dockerfile``, lock file, ``start.sh``; ``README.md`` for Hugging Face Spaces."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from zipfile import is_zipfile

from inpaintbench.errors import InputError
from inpaintbench.files import replacing

_FILES = ("Dockerfile", "requirements.lock", "start.sh", "README.md")


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
    if wheel is not None and not (wheel.suffix == ".whl" and is_zipfile(wheel)):
        raise InputError(f"{str(wheel)!r} is no wheel; `pip wheel --no-deps PATH_TO_CLONE` makes one")
    with replacing(out) as made:
        (made / "wheels").mkdir()
        (made / "wheels" / ".keep").touch()
        if wheel is not None:
            shutil.copy(wheel, made / "wheels")
        for name in _FILES:
            text = files("inpaintbench.annotate.space").joinpath(name).read_text(encoding="utf-8")
            named = json.dumps(title, ensure_ascii=False)  # YAML knows no pairs of surrogates
            (made / name).write_text(
                text.replace("{{ version }}", version("inpaintbench")).replace("{{ title }}", named), "utf-8"
            )
    return [out / name for name in _FILES]
