"""MPII Human Pose: its MATLAB file, and the JSON lists that others made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import Box, People, Person, PoseReader, Slot, image_name, number
from inpaintbench.wings.chalearn.annotated_people.files import load_json, load_variable, pairs, struct, structs

# Joint id -> name and the person's own side.
MPII_JOINTS: tuple[Slot, ...] = (
    ("ankle", "right"), ("knee", "right"), ("hip", "right"), ("hip", "left"), ("knee", "left"), ("ankle", "left"),
    ("pelvis", None), ("thorax", None), ("upper_neck", None), ("head_top", None), ("wrist", "right"), ("elbow", "right"),
    ("shoulder", "right"), ("shoulder", "left"), ("elbow", "left"), ("wrist", "left"),
)  # fmt: skip


class MpiiReader(PoseReader):
    """``mpii_human_pose_v1_u12_1.mat``, or a JSON list of ``{"image", "joints", "joints_vis", "scale", ...}``.

    Coordinates count from 1 in both and from 0 in what is read. People of one YouTube video share a split group; where
    the file does not name the video (JSON), people of one photograph do. In the JSON form ``joints_vis`` 0 marks joints
    that are not labelled, so it does not tell which are occluded.
    """

    name = "mpii"
    version = "1"
    whole = False
    first_pixel = 1

    def read(self, annotations: Path | str) -> People:
        """All people, in the order of the file.

        Raises:
            InputError: neither of the two forms.
        """
        if Path(annotations).suffix.lower() == ".json":
            return self._read_json(load_json(annotations), Path(annotations).name)
        return self._read_release(load_variable(annotations, "RELEASE"), Path(annotations).name)

    def _read_release(self, value: Any, file: str) -> People:
        release = struct(value)
        if "annolist" not in release:
            raise InputError(f"{file} is not MPII's: RELEASE has no field 'annolist', only {', '.join(release) or 'nothing'}")
        rows = structs(release["annolist"])
        flags = release.get("img_train")
        train = [number(flag) for flag in flags.flat] if isinstance(flags, np.ndarray) else []
        people = People()
        if len(train) != len(rows):
            people.note("img_train", f"{len(train)} flags for {len(rows)} pictures: no original split is given")
            train = [None] * len(rows)
        for row, (picture, flag) in enumerate(zip(rows, train, strict=True)):
            self._read_picture(people, row, picture, published={0.0: "test", 1.0: "train"}.get(_or_minus_one(flag)))
        return people

    def _read_picture(self, read_people: People, row: int, picture: dict[str, Any], *, published: str | None) -> None:
        image = image_name(struct(picture.get("image")).get("name"))
        if image is None:
            read_people.lose(f"annolist({row + 1})", "the picture has no usable file name")
            return
        people = structs(picture.get("annorect"))
        if not people:
            read_people.lose(image, "nobody is labelled in it")
        video = number(picture.get("vidx"))
        group = f"mpii/{image}" if video is None else f"mpii/video {video:.0f}"
        for rectangle in people:
            index = read_people.next_number(image)
            corners = [number(rectangle.get(name)) for name in ("x1", "y1", "x2", "y2")]
            person = Person(
                dataset=self.name, image=image, number=index, joints=self._points(read_people, f"{image}#{index}", rectangle),
                split_group=group, published_split=published, head_box=Box.of_corners(corners, first_pixel=self.first_pixel),
                scale=number(rectangle.get("scale")),
            )  # fmt: skip
            if person.joints and person.head_box is None:
                read_people.note(f"{image}#{index}", "no head box")
            read_people.add(person)

    def _points(self, people: People, where: str, rectangle: dict[str, Any]) -> tuple[Joint, ...]:
        joints: dict[Slot, Joint] = {}
        for point in structs(struct(rectangle.get("annopoints")).get("point")):
            joint_id, x, y = (number(point.get(name)) for name in ("id", "x", "y"))
            if joint_id is None or joint_id not in range(len(MPII_JOINTS)):
                people.note(where, f"a point has the joint id {joint_id}, not 0..{len(MPII_JOINTS) - 1}")
                continue
            slot = MPII_JOINTS[int(joint_id)]
            if x is None or y is None:
                people.note(where, f"joint {joint_id:.0f} has no coordinates")
            elif slot in joints:
                people.note(where, f"joint {joint_id:.0f} is labelled twice, the first is kept")
            else:
                visible = {0.0: False, 1.0: True}.get(_or_minus_one(number(point.get("is_visible"))))
                person = int(where.rpartition("#")[2])
                joints[slot] = Joint(person, *slot, x - self.first_pixel, y - self.first_pixel, visible)
        return tuple(joints.values())

    def _read_json(self, rows: Any, file: str) -> People:
        if not isinstance(rows, list):
            raise InputError(f"{file} is not a list of people as MPII's JSON form is, but a {type(rows).__name__}")
        read_people = People()
        for row, entry in enumerate(rows):
            image = image_name(entry.get("image")) if isinstance(entry, dict) else None
            if image is None:
                read_people.lose(f"row {row}", "no usable file name under 'image'")
                continue
            index = read_people.next_number(image)
            joints = self._json_joints(read_people, f"{image}#{index}", entry, index)
            read_people.add(Person(self.name, image, index, joints, f"mpii/{image}", scale=number(entry.get("scale"))))
        return read_people

    def _json_joints(self, people: People, where: str, entry: dict[str, Any], person: int) -> tuple[Joint, ...]:
        points, labelled = pairs(entry.get("joints")), entry.get("joints_vis")
        flags = [number(flag) for flag in labelled] if isinstance(labelled, list) else []
        if len(points) != len(MPII_JOINTS) or len(flags) != len(MPII_JOINTS):
            people.note(where, f"{len(points)} joints with {len(flags)} flags instead of {len(MPII_JOINTS)}")
            return ()
        joints = []
        for index, (slot, (x, y), flag) in enumerate(zip(MPII_JOINTS, points, flags, strict=True)):
            if flag == 0:
                continue
            if x is None or y is None or flag is None:
                people.note(where, f"joint {index} has no coordinates or no flag")
            else:
                joints.append(Joint(person, *slot, x - self.first_pixel, y - self.first_pixel))
        return tuple(joints)


def _or_minus_one(value: float | None) -> float:
    return -1.0 if value is None else value
