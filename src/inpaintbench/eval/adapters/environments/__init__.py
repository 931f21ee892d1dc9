"""What released programs are installed with today, one file a preset; each was tried with the code of the preset's commit."""

from __future__ import annotations

import re
from importlib.resources import files

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import UnknownNameError

_SUFFIX = ".txt"
# With which they were tried, where their first line names no other.
_PYTHON = "3.11"
# Modules that stand for a package which no longer installs, and the presets of programs that import them. They lie here under
# another suffix: they are no part of this package.
_BESIDE = {"mmcv.py": ("e2fgvi", "e2fgvi-hq")}


def environments() -> list[str]:
    """Presets whose environment is known, sorted."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in files(__package__).iterdir() if file.name.endswith(_SUFFIX))


def requirements(name: str) -> str:
    """Requirements of a preset in pip's form, with a comment on each package that replaces another or is another's version.

    Raises:
        UnknownNameError: nobody has tried one.
    """
    if name not in environments():
        raise UnknownNameError(unknown_name("environment", name, environments()))
    return files(__package__).joinpath(f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def python_of(name: str) -> str:
    """The Python of an environment, such as 3.11; raises ``UnknownNameError`` as ``requirements``."""
    named = re.search(r"\bon Python (3\.\d+)", requirements(name).partition("\n")[0])
    return named[1] if named else _PYTHON


def conda_file(name: str) -> str:
    """The same requirements as an environment of conda or mamba, whose Python is of conda-forge and whose packages are of pip.

    Raises:
        UnknownNameError: nobody has tried one.
    """
    lines = requirements(name).splitlines()
    comments = [line for line in lines if line.startswith("#")]
    head = [f"name: {name}", "channels: [conda-forge]", "dependencies:", f"  - python={python_of(name)}", "  - pip", "  - pip:"]
    return "\n".join([*comments, *head, *(f"      - {line}" for line in lines if line not in comments)]) + "\n"


def beside(name: str) -> dict[str, str]:
    """File name -> text of the modules that stand for a package; they belong on ``PYTHONPATH`` of the program."""
    folder = files(__package__)
    named = [file for file, presets in _BESIDE.items() if name in presets]
    return {file: folder.joinpath(f"{file}.in").read_text(encoding="utf-8") for file in named}
