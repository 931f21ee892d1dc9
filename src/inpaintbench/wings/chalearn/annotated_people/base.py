"""The base class of readers of pose annotations, their records (people with joints, problems of reading), and files as Python.

MATLAB structs become dictionaries, whatever their nesting; JSON may be damaged.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Leaf
from inpaintbench.errors import InputError
from inpaintbench.types import Joint

# One point as a name and a side, in the order of an annotation format.
Slot = tuple[str, str | None]

_TIME_LIMIT_SECONDS = 600.0
_HDF5_AT = 512
_HDF5_MARK = b"\x89HDF\r\n\x1a\n"


@dataclass(frozen=True)
class Box:
    """An upright box in pixels; the centre of the upper left pixel of the picture is (0, 0)."""

    left: float
    top: float
    right: float
    bottom: float

    def union(self, other: Box) -> Box:
        """The smallest box around both."""
        return Box(
            min(self.left, other.left), min(self.top, other.top), max(self.right, other.right), max(self.bottom, other.bottom)
        )

    def scaled(self, factor: float) -> Box:
        """This box, ``factor`` times as wide and high, around the same centre."""
        across, down = (factor - 1) * (self.right - self.left) / 2, (factor - 1) * (self.bottom - self.top) / 2
        return Box(self.left - across, self.top - down, self.right + across, self.bottom + down)

    @classmethod
    def around(cls, joints: Iterable[Joint]) -> Box:
        """The smallest box around at least one joint."""
        points = [(joint.x, joint.y) for joint in joints]
        return cls(min(x for x, _ in points), min(y for _, y in points), max(x for x, _ in points), max(y for _, y in points))

    @classmethod
    def of_corners(cls, corners: Iterable[float | None], *, first_pixel: int) -> Box | None:
        """The box of two opposite corners ``x1 y1 x2 y2``; None unless all four are numbers and it has an area."""
        numbers = [corner for corner in corners if corner is not None]
        if len(numbers) != 4:
            return None
        x1, y1, x2, y2 = (number - first_pixel for number in numbers)
        box = cls(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
        return box if box.right > box.left and box.bottom > box.top else None


@dataclass(frozen=True)
class Person:
    """One labelled person in one picture."""

    dataset: str
    """Annotation set, e.g. ``mpii`` or ``lsp_extended``."""
    image: str
    """File name below the folder of pictures, with forward slashes."""
    number: int
    """In the picture, from 0."""
    joints: tuple[Joint, ...]
    """At least one; those outside the picture are kept, and named in the problems where its size is known."""
    split_group: str
    """People of one group must stay in one split: the photograph, or the film or video that it was taken from."""
    published_split: str | None = None
    """``train`` or ``test`` where the file says so."""
    head_box: Box | None = None
    torso_box: Box | None = None
    person_box: Box | None = None
    scale: float | None = None
    """Height of the person in units of 200 pixels, where stated."""
    size: tuple[int, int] | None = None
    """(width, height) of the picture in pixels, where stated."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, or that is odd."""

    where: str
    """The picture and the person, or the row of the file."""
    reason: str
    lost: bool = False
    """True when no ``Person`` came of it; False when the person is there, with less."""


@dataclass
class People:
    """All that one annotation file holds. Nothing is lost silently: what is not in ``people`` is in ``problems``."""

    people: list[Person] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _numbers: Counter[str] = field(default_factory=Counter)

    def next_number(self, image: str) -> int:
        """Number of one more person in ``image``: from 0, in the order in which they come."""
        self._numbers[image] += 1
        return self._numbers[image] - 1

    def lose(self, where: str, reason: str) -> None:
        """Note that nobody came of ``where``."""
        self.problems.append(Problem(where, reason, lost=True))

    def note(self, where: str, reason: str) -> None:
        """Note that something about ``where`` is odd or missing."""
        self.problems.append(Problem(where, reason))

    def add(self, person: Person) -> None:
        """Keep a person, or note that it has no joints; joints outside a picture of known size are noted."""
        where = f"{person.image}#{person.number}"
        if not person.joints:
            self.lose(where, "no labelled joints")
            return
        if person.size is not None:
            width, height = person.size
            for joint in person.joints:
                if not (-0.5 <= joint.x <= width - 0.5 and -0.5 <= joint.y <= height - 0.5):
                    self.note(where, f"{called((joint.name, joint.side))} at ({joint.x:g}, {joint.y:g}) is outside")
        self.people.append(person)


class PoseReader(Leaf, ABC):
    """A format of pose annotations."""

    whole: bool
    """True when the 2018 challenge used these pictures whole instead of cropping people out."""
    first_pixel: int
    """Coordinate that the file gives the centre of the first pixel: 1 for files from MATLAB, else 0. Readers give 0."""

    @abstractmethod
    def read(self, annotations: Path | str) -> People:
        """All people of a file, in the order of the file.

        Raises:
            InputError: the file is not of this format; the text says why.
        """


def called(slot: Slot) -> str:
    """A joint in words: ``left knee``, ``nose``."""
    name, side = slot
    return f"{side or ''} {name}".strip()


def number(value: Any) -> float | None:
    """One finite number: a scalar, an array of one, or text that spells it; else None."""
    if isinstance(value, np.ndarray):
        return number(value.reshape(-1)[0]) if value.size == 1 and value.dtype.names is None else None
    if not isinstance(value, int | float | str | np.number | np.bool_) or isinstance(value, np.complexfloating):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def text(value: Any) -> str | None:
    """One text: a string, or an array of one; None when empty or something else."""
    if isinstance(value, np.ndarray):
        return text(value.reshape(-1)[0]) if value.size == 1 and value.dtype.names is None else None
    return str(value).strip() or None if isinstance(value, str) else None


def image_name(value: Any) -> str | None:
    """A file name that stays below its folder, with forward slashes; None when empty, absolute, climbing or unprintable."""
    name = (text(value) or "").replace("\\", "/")
    parts = PurePosixPath(name).parts
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return None
    return None if not parts or parts[0] == "/" or ".." in parts or not name.isprintable() else str(PurePosixPath(name))


def read_bytes(path: Path | str, *, most: int = -1) -> bytes:
    """The first ``most`` bytes of an annotation file, or all.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise InputError(f"annotations {str(path)!r} cannot be read: {error.strerror}") from error


def load_variable(path: Path | str, variable: str) -> Any:
    """One variable of a MATLAB file up to version 7.2, nothing squeezed.

    Raises:
        InputError: no such file or variable, a version 7.3 (HDF5) file, or damage.
    """
    path = Path(path)
    head = read_bytes(path, most=_HDF5_AT + len(_HDF5_MARK))
    if _HDF5_MARK in (head[: len(_HDF5_MARK)], head[_HDF5_AT:]):
        raise InputError(f"{path.name} is a MATLAB 7.3 (HDF5) file, save it with MATLAB's option '-v7' first")
    # What is none of MATLAB's needs no process of its own to be refused. Source: "MAT-File Format": version 5 ends its header of
    # 128 bytes with the order of bytes; version 4 begins with the type of its first matrix, 32 bits of at most four digits.
    first = min(int.from_bytes(head[:4], order) for order in ("little", "big"))
    if head[126:128] not in (b"IM", b"MI") and first >= 10_000:
        raise InputError(f"{path.name} cannot be read as a MATLAB file: it does not begin as one")
    program = Path(__file__).with_name("matlab_child.py")
    command = [sys.executable, "-I", str(program), str(path.absolute()), variable]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_TIME_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        kind, value = "error", f"no end in {_TIME_LIMIT_SECONDS:.0f} s, it is damaged or far too large"
    else:
        kind, value = "error", f"the reader ended with status {done.returncode}, the file is damaged"
        if done.returncode == 0:
            # What our own child wrote, of plain arrays that SciPy read.
            kind, value = pickle.loads(done.stdout)  # nosec B301
    if kind == "error":
        raise InputError(f"{path.name} cannot be read as a MATLAB file: {value}")
    if kind == "names":
        listed = ", ".join(repr(name) for name in value) or "nothing"
        raise InputError(f"{path.name} has no variable {variable!r}, only {listed}")
    return value


def structs(value: Any) -> list[dict[str, Any]]:
    """The structs of a struct array, of one struct, or of a cell array of them; none of anything else."""
    if isinstance(value, np.void) and value.dtype.names:
        return [{name: value[name] for name in value.dtype.names}]
    if not isinstance(value, np.ndarray) or not (value.dtype.names or value.dtype == object):
        return []
    # MATLAB counts columns first.
    return [struct for entry in value.reshape(-1, order="F") for struct in structs(entry)]


def struct(value: Any) -> dict[str, Any]:
    """The one struct in ``value``; empty when there is none or there are several."""
    inner = structs(value)
    return inner[0] if len(inner) == 1 else {}


def numbers(value: Any) -> npt.NDArray[np.float64]:
    """An array of real numbers as float64 of the same shape; empty when it is something else."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value.astype(np.float64)
    return np.zeros(0)


def load_json(path: Path | str) -> Any:
    """Content of a JSON file.

    Raises:
        InputError: the file cannot be read or is not JSON.
    """
    try:
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{Path(path).name} is not JSON: {error}") from error


def pairs(value: Any) -> list[tuple[float | None, float | None]]:
    """A list of points; None for what is no number, (None, None) for what is no pair, empty for what is no list."""
    entries = value if isinstance(value, list) else []
    return [
        (number(entry[0]), number(entry[1])) if isinstance(entry, list) and len(entry) == 2 else (None, None) for entry in entries
    ]
