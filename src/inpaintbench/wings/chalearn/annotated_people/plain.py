"""Readers of files that are no MATLAB's.

COCO keypoints, and many sets published in its layout; and Synchronic Activities Stickmen: body parts as sticks, in a text file.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import (
    Box,
    People,
    Person,
    PoseReader,
    Slot,
    called,
    image_name,
    load_json,
    number,
    read_bytes,
)

_SIDED = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "eye", "ear")
_MIDDLE = {"nose": "nose", "neck": "upper_neck", "head": "head", "top_head": "head_top", "pelvis": "pelvis", "thorax": "thorax"}
# Keypoint name of a category -> name and the person's own side.
COCO_JOINTS: dict[str, Slot] = {
    **{f"{side}_{name}": (name, side) for name in _SIDED for side in ("left", "right")},
    **{theirs: (ours, None) for theirs, ours in _MIDDLE.items()},
}


class CocoReader(PoseReader):
    """A JSON object with ``images``, ``annotations`` and ``categories`` that name their keypoints; coordinates count from 0.

    Flag 0 = not labelled, 1 = labelled though occluded, 2 = visible. Crowds are left out and named; keypoints of other
    names (contours, toes) are not body joints of ours and are named once.
    """

    name = "coco"
    version = "1"
    whole = False
    first_pixel = 0

    def read(self, annotations: Path | str) -> People:
        """All people, in the order of the file.

        Raises:
            InputError: not a file of this layout.
        """
        content, file = load_json(annotations), Path(annotations).name
        for name in ("images", "annotations", "categories"):
            if not isinstance(content, dict) or not isinstance(content.get(name), list):
                raise InputError(f"{file} is not in COCO's layout: it has no list {name!r}")
        people = People()
        images = {str(image.get("id")): image for image in content["images"] if isinstance(image, dict)}
        categories = {str(kind.get("id")): self._slots(people, kind) for kind in content["categories"] if isinstance(kind, dict)}
        if not any(categories.values()):
            raise InputError(f"{file} has no category with keypoints of a person")
        for row, annotation in enumerate(content["annotations"]):
            self._read_person(people, row, annotation, images=images, categories=categories)
        return people

    def _slots(self, people: People, category: dict[str, Any]) -> list[Slot | None]:
        names = category.get("keypoints")
        names = names if isinstance(names, list) else []
        unknown = [name for name in names if not isinstance(name, str) or name not in COCO_JOINTS]
        if unknown:
            people.note(f"category {category.get('name')}", f"keypoints left out: {', '.join(map(str, unknown))}")
        return [COCO_JOINTS.get(name) if isinstance(name, str) else None for name in names]

    def _read_person(
        self, people: People, row: int, annotation: Any,
        *, images: dict[str, dict[str, Any]], categories: dict[str, list[Slot | None]],
    ) -> None:  # fmt: skip
        entry = annotation if isinstance(annotation, dict) else {}
        picture = images.get(str(entry.get("image_id")), {})
        image = image_name(picture.get("file_name"))
        if image is None:
            people.lose(f"annotations[{row}]", f"no picture with a usable file name for image_id {entry.get('image_id')!r}")
            return
        index = people.next_number(image)
        where, slots = f"{image}#{index}", categories.get(str(entry.get("category_id")), [])
        if not slots or number(entry.get("iscrowd")):
            people.lose(where, "a crowd" if slots else f"category {entry.get('category_id')!r} has no keypoints")
            return
        joints, box = self._joints(people, where, entry, slots, index), entry.get("bbox")
        values = [number(value) for value in box] if isinstance(box, list) and len(box) == 4 else [None] * 4
        left, top, across, down = values
        person_box = None
        if left is not None and top is not None and across is not None and down is not None:
            person_box = Box.of_corners((left, top, left + across, top + down), first_pixel=0)
        width, height = number(picture.get("width")), number(picture.get("height"))
        people.add(
            Person(
                self.name,
                image,
                index,
                joints,
                split_group=f"coco/{image}",
                person_box=person_box,
                size=None if width is None or height is None else (int(width), int(height)),
            )
        )

    def _joints(
        self, people: People, where: str, entry: dict[str, Any], slots: list[Slot | None], person: int
    ) -> tuple[Joint, ...]:
        values = entry.get("keypoints")
        if not isinstance(values, list) or len(values) != 3 * len(slots):
            people.note(where, f"keypoints are not {len(slots)} times x, y, flag")
            return ()
        joints = []
        for index, slot in enumerate(slots):
            x, y, flag = (number(value) for value in values[3 * index : 3 * index + 3])
            if slot is None or flag == 0:
                continue
            if x is None or y is None or flag not in (1, 2):
                people.note(where, f"{called(slot)} is ({x}, {y}) with flag {flag}")
            else:
                joints.append(Joint(person, *slot, x, y, flag == 2))
        return tuple(joints)


_PARTS = ("torso", "left upper arm", "right upper arm", "left lower arm", "right lower arm", "head")
_SIDE_OF = "image"

Point = tuple[float, float]
Stick = tuple[Point, Point]


class SynchronicReader(PoseReader):
    """A text file: ``<image> <people> 6``, then six lines ``x1 y1 x2 y2`` for each of its people; ``NaN`` = occluded.

    Left and right are those that the viewer sees (``side_of`` is ``image``). The files come from MATLAB, so coordinates
    are taken to count from 1. Joints are derived: the elbow is the mean of the two nearest ends of upper and lower arm,
    shoulder and wrist are their other ends, the thorax is the middle of the torso, and of the head's ends the upper one is
    the head top, the lower one the upper neck. Of an arm with one stick nobody can tell which end is the elbow, so it
    gives no joints.
    """

    name = "synchronic"
    version = "1"
    whole = False
    first_pixel = 1

    def read(self, annotations: Path | str) -> People:
        """All people, in the order of the file.

        Raises:
            InputError: the file cannot be read, or has no line that announces a picture.
        """
        lines = read_bytes(annotations).decode("latin-1").splitlines()
        read_people, row = People(), 0
        while row < len(lines):
            header = _header(lines[row])
            row += 1
            if header is None:
                if lines[row - 1].strip():
                    read_people.lose(f"line {row}", f"is neither '<image> <people> {len(_PARTS)}' nor part of a person")
                continue
            for _ in range(header[1]):
                index = read_people.next_number(header[0])
                sticks = []
                for line in lines[row : row + len(_PARTS)]:
                    if (stick := _stick(line)) is None:
                        break
                    sticks.append(stick)
                row += len(sticks)
                if len(sticks) < len(_PARTS):
                    read_people.lose(
                        f"{header[0]}#{index}", f"has {len(sticks)} of {len(_PARTS)} sticks, then line {row + 1} differs"
                    )
                    break
                self._read_person(read_people, header[0], index, [self._moved(stick) for stick in sticks])
        if not read_people.people and not any("#" in problem.where for problem in read_people.problems):
            raise InputError(f"{Path(annotations).name} has no line '<image> <people> {len(_PARTS)}' with people below it")
        return read_people

    def _moved(self, stick: tuple[float | None, ...]) -> Stick | None:
        x1, y1, x2, y2 = stick
        if x1 is None or y1 is None or x2 is None or y2 is None:
            return None
        return (x1 - self.first_pixel, y1 - self.first_pixel), (x2 - self.first_pixel, y2 - self.first_pixel)

    def _read_person(self, people: People, image: str, index: int, sticks: list[Stick | None]) -> None:
        where = f"{image}#{index}"
        for part, stick in zip(_PARTS, sticks, strict=True):
            if stick is None:
                people.note(where, f"the {part} is occluded")
        torso, left_upper, right_upper, left_lower, right_lower, head = sticks
        joints = [Joint(index, "thorax", None, *_middle(*torso), side_of=_SIDE_OF)] if torso else []
        for side, upper, lower in (("left", left_upper, left_lower), ("right", right_upper, right_lower)):
            if upper and lower:
                ends = [(near, far) for near in (0, 1) for far in (0, 1)]
                near, far = min(ends, key=lambda pair: math.dist(upper[pair[0]], lower[pair[1]]))
                points = {"shoulder": upper[1 - near], "elbow": _middle(upper[near], lower[far]), "wrist": lower[1 - far]}
                joints += [Joint(index, name, side, *point, side_of=_SIDE_OF) for name, point in points.items()]
            elif upper or lower:
                people.note(where, f"the {side} arm has one stick: its joints cannot be told apart")
        if head:
            top, neck = sorted(head, key=lambda point: point[1])
            joints += [
                Joint(index, "head_top", None, *top, side_of=_SIDE_OF),
                Joint(index, "upper_neck", None, *neck, side_of=_SIDE_OF),
            ]
        people.add(Person(self.name, image, index, tuple(joints), f"synchronic/{image}"))


def _middle(first: Point, second: Point) -> Point:
    return (first[0] + second[0]) / 2, (first[1] + second[1]) / 2


def _header(line: str) -> tuple[str, int] | None:
    """The picture and how many people follow."""
    words = line.rsplit(maxsplit=2)
    # Four numbers would make a header too: a stick whose last coordinate happens to be 6.
    if len(words) != 3 or words[2] != str(len(_PARTS)) or not (words[1].isascii() and words[1].isdigit()) or len(words[1]) > 6:
        return None
    image = image_name(words[0])
    return None if image is None or _stick(line) else (image, int(words[1]))


def _stick(line: str) -> tuple[float | None, ...] | None:
    """Four coordinates, None for those that are not numbers; None when the line is something else."""
    words = line.split()
    if len(words) != 4:
        return None
    numbers = tuple(number(word) for word in words)
    plain = all(coordinate is not None or word.lower() == "nan" for word, coordinate in zip(words, numbers, strict=True))
    return numbers if plain else None
