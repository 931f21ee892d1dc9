"""The base class of readers of pose annotations, and their records: people with joints, and problems of reading."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from inpaintbench.catalogue import Leaf
from inpaintbench.types import Joint

# Columns of `joint_table`.
JOINT_COLUMNS = ("dataset", "image", "person", "joint", "side", "side_of", "x", "y", "visible")

# One point as a name and a side, in the order of an annotation format.
Slot = tuple[str, str | None]


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
                    self.note(where, f"{joint.side or ''} {joint.name} at ({joint.x:g}, {joint.y:g}) is outside".strip())
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


def joint_table(people: Iterable[Person]) -> pd.DataFrame:
    """One row a joint, with the columns ``JOINT_COLUMNS``; ``x`` and ``y`` in pixels, ``visible`` may be missing."""
    rows = [
        (person.dataset, person.image, person.number, joint.name, joint.side, joint.side_of, joint.x, joint.y, joint.visible)
        for person in people
        for joint in person.joints
    ]
    table = pd.DataFrame(rows, columns=list(JOINT_COLUMNS))
    return table.astype({"person": "int64", "x": "float64", "y": "float64", "visible": "boolean"})


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
