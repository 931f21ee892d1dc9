"""Synchronic Activities Stickmen: body parts as sticks, in a text file."""

from __future__ import annotations

import math
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import People, Person, PoseReader, image_name, number, read_bytes

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
