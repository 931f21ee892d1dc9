"""People of published pose datasets: one still picture a person, with labelled joints."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources.base import Footage, Origin, Sidecars, SourceLeaf, quoted_path, unquoted_path
from inpaintbench.errors import InputError, MediaError, Rejected, UnknownNameError
from inpaintbench.ranges import Amount, Share, Side, Whole
from inpaintbench.types import Joint, content_id
from inpaintbench.wings.chalearn.annotated_people import POSE_READERS
from inpaintbench.wings.chalearn.annotated_people.base import Box, Person, PoseReader


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
        for name in ("grow", "torso_scale", "most_covered"):
            if not (math.isfinite(value := getattr(self, name)) and value >= 0):
                raise InputError(f"crop rule {name} = {value} is not a number of at least 0")
        for name in ("shortest_side", "fewest_joints"):
            if (count := getattr(self, name)) < 1:
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
        inside = [joint for joint in other.joints if crop.left <= joint.x < crop.right and crop.top <= joint.y < crop.bottom]
        if inside:
            box = Box.around(inside)
            area = (crop.right - crop.left) * (crop.bottom - crop.top)
            share = (box.right - box.left) * (box.bottom - box.top) / area
            if share > rule.most_covered:
                raise Rejected(f"the joints of person {other.number} span {share:.0%} of it, over {rule.most_covered:.0%}")
    joints = tuple(replace(joint, person=0, x=joint.x - left, y=joint.y - top) for joint in person.joints)
    return replace(crop, joints=joints)


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


# `person` cuts out everybody; `whole` keeps the pictures; `published` does what the 2018 challenge did for the format.
FRAMINGS = ("published", "person", "whole")


@dataclass(frozen=True)
class _Piece:
    """A picture to be made, or why it is not."""

    name: str
    image: str
    joints: tuple[Joint, ...]
    crop: Crop | None
    refused: str | None
    known: Mapping[str, str | float]


class PeopleSource(SourceLeaf):
    """The people of one annotation file and its folder of pictures.

    Names look like ``mpii/015601864.jpg#0``: set, picture, and number of the person; whole pictures go without number.
    Whoever cannot be used is offered all the same, refused with its reason, so that it becomes a row of ``rejected``.

    Args (all constants):
        format: a name of ``POSE_READERS``.
        annotations: the file, as published.
        images: the folder that its file names are relative to.
        dataset: what the set is called; the name of the format by default.
        framing: one of ``FRAMINGS``.
        grow, shortest_side, fewest_joints, most_covered, torso_scale: see ``CropRule``; whole pictures need one joint.
        published_split: only people whom the file assigns to this split (``train`` or ``test``).
        limit: so many usable pictures, the first of the file.
        licence, author: of pictures that ``sidecars`` say nothing of.

    Raises:
        InputError: a path or constant that cannot be used.
    """

    name = "people"
    version = "1"

    def __init__(
        self,
        *,
        format: str,  # noqa: A002 - the word that users look for
        annotations: str,
        images: str,
        dataset: str | None = None,
        framing: str = "published",
        grow: Amount = 0.5,
        shortest_side: Side = 224,
        fewest_joints: Whole = 3,
        most_covered: Share = 0.5,
        torso_scale: Amount = 1.5,
        published_split: str | None = None,
        limit: Whole | None = None,
        licence: str | None = None,
        author: str | None = None,
    ) -> None:
        if framing not in FRAMINGS:
            raise UnknownNameError(unknown_name("framing", framing, list(FRAMINGS)))
        if published_split not in (None, "train", "test"):
            raise UnknownNameError(unknown_name("published split", published_split, ["train", "test"]))
        if limit is not None and limit < 1:
            raise InputError(f"limit is {limit}, at least 1 picture is needed")
        self.reader: PoseReader = POSE_READERS.get(format)()
        self.rule = CropRule(grow, shortest_side, fewest_joints, most_covered, torso_scale)
        self.annotations, self.images = Path(annotations), Path(images)
        if not self.annotations.is_file():
            raise InputError(f"annotations {annotations!r} is not a file")
        if not self.images.is_dir():
            raise InputError(f"folder of pictures {images!r} does not exist or is not a folder")
        self.whole = self.reader.whole if framing == "published" else framing == "whole"
        self.published_split, self.limit = published_split, limit
        self.dataset = dataset or self.reader.name
        self._notes: list[tuple[str, str]] = []
        self._sidecars = Sidecars(self.images, otherwise=Origin(licence, author))

    def notes(self) -> list[tuple[str, str]]:
        """Missing or spoilt annotations of people who are used all the same: (name, reason), after ``footage``."""
        return self._notes

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a person (or whole picture), in the order of the file; then what could not be read."""
        usable, names = 0, Counter[str]()
        for piece in self._pieces():
            if self.limit is not None and usable == self.limit:
                return
            usable += piece.refused is None
            names[piece.name] += 1
            # Two things can be wrong in one place; "?" is percent-encoded in file names, so this cannot be one.
            name = piece.name if names[piece.name] == 1 else f"{piece.name}?{names[piece.name]}"
            yield self._footage(piece, name)

    def _footage(self, piece: _Piece, name: str) -> Footage:
        crop = [piece.crop.left, piece.crop.top, piece.crop.right, piece.crop.bottom] if piece.crop else None
        payload = {"image": quoted_path(piece.image), "crop": crop, "refused": piece.refused}
        joints = [asdict(joint) for joint in piece.joints]
        path = self.images / piece.image
        # Size and time of change: another picture of the same name is another content.
        state = [path.stat().st_size, path.stat().st_mtime_ns] if piece.image and os.path.exists(path) else []
        said = self._sidecars.of(path)
        return Footage(
            name=name,
            uri=name,
            origin=self.name,
            content=content_id(self.version, self.reader.version, payload, self.rule.shortest_side, joints, state, *said.state),
            payload=payload,
            **said.columns,
            known=piece.known,
            data={"joints": joints} if joints else {},
        )

    def _pieces(self) -> Iterator[_Piece]:
        read = self.reader.read(self.annotations)
        self._notes = [(f"{self.dataset}/{_quoted(row.where)}", row.reason) for row in read.problems if not row.lost]
        people: dict[str, list[Person]] = {}
        for person in read.people:
            people.setdefault(person.image, []).append(person)
        for image, group in people.items():
            chosen = [person for person in group if self.published_split in (None, person.published_split)]
            name = f"{self.dataset}/{quoted_path(image)}"
            if chosen and self.whole:
                joints = tuple(chain.from_iterable(person.joints for person in group))
                yield _Piece(name, image, joints, None, None, self._known(group[0]))
                continue
            for person in chosen:
                crop, refused = None, None
                try:
                    crop = cut_out(person, [other for other in group if other is not person], self.rule)
                except Rejected as error:
                    refused = str(error)
                cropped = crop.joints if crop else ()
                yield _Piece(f"{name}#{person.number}", image, cropped, crop, refused, self._known(person))
        for problem in (problem for problem in read.problems if problem.lost):
            yield _Piece(f"{self.dataset}/{_quoted(problem.where)}", "", (), None, problem.reason, {})

    def _known(self, person: Person) -> dict[str, str | float]:
        group = f"{self.dataset}/{person.split_group.removeprefix(f'{self.reader.name}/')}"
        known: dict[str, str | float] = {"set": self.dataset, "split_group": group}
        if person.published_split is not None:
            known["published_split"] = person.published_split
        return known

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Write the picture as PNG.

        Raises:
            Rejected: refused beforehand, no readable picture, or too little of the crop lies in it.
        """
        if payload["refused"]:
            raise Rejected(payload["refused"])
        path = self.images / unquoted_path(payload["image"])
        if not path.is_file():
            raise Rejected(f"there is no picture {payload['image']} in the folder of pictures")
        try:
            picture = video.read_image(path)
        except MediaError as error:
            raise Rejected(str(error)) from error
        if payload["crop"]:
            size = (picture.shape[1], picture.shape[0])
            left, top, right, bottom = payload["crop"]
            crop = clipped(Crop(left, top, right, bottom, ()), size=size, shortest_side=self.rule.shortest_side)
            picture = picture[crop.top : crop.bottom, crop.left : crop.right]
        target = Path(scratch, "picture.png")
        video.write_image(target, picture)
        return str(target)


def _quoted(name: str) -> str:
    """Percent-encoded, but for the mark between picture and person."""
    return quote(os.fsencode(name), safe="/#")
