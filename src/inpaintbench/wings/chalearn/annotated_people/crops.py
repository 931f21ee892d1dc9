"""One person cut out of a picture, with the joints in the coordinates of the cut-out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from inpaintbench.errors import InputError, Rejected
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import Box, Person


@dataclass(frozen=True)
class CropRule:
    """Rule for cutting people out. The challenge never published its rule: these defaults give crops like those it showed."""

    grow: float = 0.5
    """The box is wider and higher by this share, half of it on each side."""
    shortest_side: int = 224
    """Least width and height of a crop, in pixels of the picture."""
    fewest_joints: int = 3
    most_covered: float = 0.5
    """Largest share of the crop that the joints of one other person may span."""
    torso_scale: float = 1.5
    """Torso boxes are made this much wider and higher first: they end at the shoulders."""

    def __post_init__(self) -> None:
        for name, value, least in (
            ("grow", self.grow, 0),
            ("torso_scale", self.torso_scale, 0),
            ("most_covered", self.most_covered, 0),
        ):
            if not (math.isfinite(value) and value >= least):
                raise InputError(f"crop rule {name} = {value} is not a number of at least {least}")
        for name, count in (("shortest_side", self.shortest_side), ("fewest_joints", self.fewest_joints)):
            if count < 1:
                raise InputError(f"crop rule {name} = {count} is not at least 1")


@dataclass(frozen=True)
class Crop:
    """A rectangle ``[left, right) x [top, bottom)`` of whole pixels, and the person's joints counted from its corner."""

    left: int
    top: int
    right: int
    bottom: int
    joints: tuple[Joint, ...]
    """Those of this person alone, as person 0; joints outside the picture lie outside the crop too."""


def cut_out(person: Person, others: Sequence[Person], rule: CropRule, *, size: tuple[int, int] | None = None) -> Crop:
    """The crop of ``person``: the box around joints, head box and torso box, grown and clipped to the picture.

    Args:
        person: whom to cut out.
        others: everybody else in the same picture.
        rule: how.
        size: (width, height) of the picture in pixels, by default the one that the annotations state. Where nobody knows
            it, the crop may end beyond the picture; ``clipped`` sets that right without moving the joints.

    Raises:
        Rejected: too few joints, too small, or somebody else fills the crop.
    """
    size = size or person.size
    if len(person.joints) < rule.fewest_joints:
        raise Rejected(f"{len(person.joints)} labelled joints, fewer than {rule.fewest_joints}")
    box = person_box(person, rule).scaled(1 + rule.grow)
    left, top = max(0, math.floor(box.left)), max(0, math.floor(box.top))
    crop = Crop(left, top, math.floor(box.right) + 1, math.floor(box.bottom) + 1, ())
    crop = clipped(crop, size=size or (crop.right, crop.bottom), shortest_side=rule.shortest_side)
    for other in others:
        share = _share_covered(crop, other)
        if share > rule.most_covered:
            raise Rejected(f"the joints of person {other.number} span {share:.0%} of it, over {rule.most_covered:.0%}")
    return replace(crop, joints=tuple(_moved(joint, left, top) for joint in person.joints))


def clipped(crop: Crop, *, size: tuple[int, int], shortest_side: int) -> Crop:
    """The part of ``crop`` inside a picture of ``size`` = (width, height).

    Raises:
        Rejected: a side has fewer than ``shortest_side`` pixels.
    """
    right, bottom = min(crop.right, size[0]), min(crop.bottom, size[1])
    width, height = max(0, right - crop.left), max(0, bottom - crop.top)
    if min(width, height) < shortest_side:
        raise Rejected(f"the crop is {width}x{height} pixels, a side is under {shortest_side}")
    return replace(crop, right=right, bottom=bottom)


def person_box(person: Person, rule: CropRule) -> Box:
    """The box around a person's joints, head box and enlarged torso box, before it grows."""
    box = Box.around(person.joints)
    if person.head_box is not None:
        box = box.union(person.head_box)
    if person.torso_box is not None:
        box = box.union(person.torso_box.scaled(rule.torso_scale))
    return box


def _share_covered(crop: Crop, other: Person) -> float:
    """The share of the crop's area that lies in the box around those joints of ``other`` that lie in the crop."""
    inside = [joint for joint in other.joints if crop.left <= joint.x < crop.right and crop.top <= joint.y < crop.bottom]
    if not inside:
        return 0.0
    box = Box.around(inside)
    return (box.right - box.left) * (box.bottom - box.top) / ((crop.right - crop.left) * (crop.bottom - crop.top))


def _moved(joint: Joint, left: int, top: int) -> Joint:
    return replace(joint, person=0, x=joint.x - left, y=joint.y - top)
