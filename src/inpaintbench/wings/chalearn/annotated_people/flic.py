"""Frames Labelled In Cinema, and its full set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import Box, People, Person, PoseReader, Slot, image_name, number, text
from inpaintbench.wings.chalearn.annotated_people.files import load_variable, numbers, structs

_PARTS = {
    "sho": "shoulder",
    "elb": "elbow",
    "wri": "wrist",
    "hip": "hip",
    "kne": "knee",
    "ank": "ankle",
    "eye": "eye",
    "ear": "ear",
}
_SLOTS = (
    "lsho", "lelb", "lwri", "rsho", "relb", "rwri", "lhip", "lkne", "lank", "rhip", "rkne", "rank", "leye", "reye", "lear",
    "rear", "nose",
)  # fmt: skip
_COLUMNS = 29


def _slot(name: str) -> Slot:
    return ("nose", None) if name == "nose" else (_PARTS[name[1:]], {"l": "left", "r": "right"}[name[0]])


# The first 17 of the 29 columns of `coords`; the others are middles between joints, computed and not labelled.
FLIC_JOINTS: tuple[Slot, ...] = tuple(_slot(name) for name in _SLOTS)


class FlicReader(PoseReader):
    """``examples.mat`` of FLIC or FLIC-full: the struct array ``examples``; coordinates count from 1, NaN = not labelled.

    Left and right are the person's. One example is one person; examples of one film share a split group. FLIC-full's
    examples that are marked bad are left out and named, unchecked ones are kept and named. Visibility is not stated.
    """

    name = "flic"
    version = "1"
    whole = False
    first_pixel = 1

    def read(self, annotations: Path | str) -> People:
        """All people, in the order of the file.

        Raises:
            InputError: not a file of this layout.
        """
        examples = structs(load_variable(annotations, "examples"))
        if not examples or "coords" not in examples[0]:
            fields = ", ".join(examples[0]) if examples else "nothing"
            raise InputError(f"{Path(annotations).name} is not FLIC's: examples has no field 'coords', only {fields}")
        people = People()
        for row, example in enumerate(examples):
            image = image_name(example.get("filepath"))
            if image is None:
                people.lose(f"examples({row + 1})", "no usable file name under 'filepath'")
            else:
                self._read_example(people, example, image=image, index=people.next_number(image))
        return people

    def _read_example(self, people: People, example: dict[str, Any], *, image: str, index: int) -> None:
        where = f"{image}#{index}"
        if number(example.get("isbad")):
            people.lose(where, "marked as bad by its annotators")
            return
        if number(example.get("isunchecked")):
            people.note(where, "not checked by its annotators")
        film = text(example.get("moviename"))
        if film is None:
            people.note(where, "no film is named: it is a split group of its own")
        torso = [number(corner) for corner in numbers(example.get("torsobox")).reshape(-1)]
        dataset = "flic_full" if "isbad" in example else self.name
        person = Person(
            dataset=dataset, image=image, number=index, joints=self._joints(people, where, example, index),
            split_group=f"flic/{film or image}", published_split=_split(example),
            torso_box=Box.of_corners(torso, first_pixel=self.first_pixel), size=_size(example),
        )  # fmt: skip
        if person.torso_box is None:
            people.note(where, "no torso box")
        people.add(person)

    def _joints(self, people: People, where: str, example: dict[str, Any], person: int) -> tuple[Joint, ...]:
        coords = numbers(example.get("coords"))
        if coords.shape != (2, _COLUMNS):
            people.note(where, f"coords is {coords.shape}, not (2, {_COLUMNS})")
            return ()
        joints = []
        for slot, column in zip(FLIC_JOINTS, coords.T, strict=False):
            x, y = (number(value) for value in column)
            if x is not None and y is not None:
                joints.append(Joint(person, *slot, x - self.first_pixel, y - self.first_pixel))
            elif (x is None) != (y is None):
                people.note(where, f"{slot[1] or ''} {slot[0]} has one coordinate only".strip())
        return tuple(joints)


def _split(example: dict[str, Any]) -> str | None:
    for name in ("train", "test"):
        if number(example.get(f"is{name}")):
            return name
    return None


def _size(example: dict[str, Any]) -> tuple[int, int] | None:
    """``imgdims`` is MATLAB's size: height, width, channels."""
    dims = [number(value) for value in numbers(example.get("imgdims")).reshape(-1)[:2]]
    if len(dims) != 2 or dims[0] is None or dims[1] is None:
        return None
    return int(dims[1]), int(dims[0])
