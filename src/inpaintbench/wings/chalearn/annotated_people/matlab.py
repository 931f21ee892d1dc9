"""Sets whose makers published MATLAB files: BBC Pose, FLIC, Leeds Sports Poses, and MPII with the JSON lists made of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError
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
    load_variable,
    number,
    numbers,
    pairs,
    struct,
    structs,
    text,
)

# Order of the joints of BBC Pose; the person's own left and right, as everywhere here.
BBC_JOINTS: tuple[Slot, ...] = (
    ("head", None), ("wrist", "right"), ("wrist", "left"), ("elbow", "right"), ("elbow", "left"), ("shoulder", "right"),
    ("shoulder", "left"),
)  # fmt: skip
_BBC_FIELDS = ("videoName", "train_frames", "train_joints", "test_frames", "test_joints")
# The first 17 of the 29 columns of FLIC's `coords`; the others are middles between joints, computed and not labelled.
FLIC_JOINTS: tuple[Slot, ...] = (
    *((name, side) for side in ("left", "right") for name in ("shoulder", "elbow", "wrist")),
    *((name, side) for side in ("left", "right") for name in ("hip", "knee", "ankle")),
    ("eye", "left"), ("eye", "right"), ("ear", "left"), ("ear", "right"), ("nose", None),
)  # fmt: skip
_FLIC_COLUMNS = 29
# MPII's joint id -> name and side.
MPII_JOINTS: tuple[Slot, ...] = (
    ("ankle", "right"), ("knee", "right"), ("hip", "right"), ("hip", "left"), ("knee", "left"), ("ankle", "left"),
    ("pelvis", None), ("thorax", None), ("upper_neck", None), ("head_top", None), ("wrist", "right"), ("elbow", "right"),
    ("shoulder", "right"), ("shoulder", "left"), ("elbow", "left"), ("wrist", "left"),
)  # fmt: skip
# Order of the joints of LSP. The last two are called neck and head top.
LSP_JOINTS = tuple(MPII_JOINTS[joint_id] for joint_id in (0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 8, 9))
ThirdRow = Literal["auto", "occluded", "visible"]
_LSP_TRAIN_PICTURES = 1000
_CLEAR_MAJORITY, _ENOUGH_JOINTS = 0.6, 100


class BbcPoseReader(PoseReader):
    """``shortbbcpose.mat`` (or ``bbcpose.mat``): structs with the joints 2 x 7 x F of each video; coordinates count from 1.

    Fields go by name: in one of the files train comes first, in the other test. Pictures are ``<video>/<frame>.jpg``.
    The challenge used the frames that were labelled by hand, which are those of ``published_split`` ``test``.
    """

    name = "bbc_pose"
    version = "1"
    whole = True
    first_pixel = 1

    def read(self, annotations: Path | str) -> People:
        """All people, one a picture, by video, train before test.

        Raises:
            InputError: not a file of this layout.
        """
        try:
            content = load_variable(annotations, "shortbbcpose")
        except InputError as error:
            if "has no variable" not in str(error):
                raise
            content = load_variable(annotations, "bbcpose")
        videos = structs(content)
        missing = [name for name in _BBC_FIELDS if not videos or name not in videos[0]]
        if missing:
            raise InputError(f"{Path(annotations).name} is not BBC Pose's: the field {missing[0]!r} is missing")
        people = People()
        for row, video in enumerate(videos):
            label = number(video.get("videoName"))
            name = image_name(video.get("videoName") if label is None else f"{label:.0f}")
            if name is None:
                people.lose(f"video {row + 1}", "no usable name under 'videoName'")
                continue
            for split in ("train", "test"):
                self._read_part(people, video, name=name, split=split)
        return people

    def _read_part(self, people: People, video: dict[str, Any], *, name: str, split: str) -> None:
        frames, joints = numbers(video.get(f"{split}_frames")).reshape(-1), numbers(video.get(f"{split}_joints"))
        if not frames.size and not joints.size:
            return
        if joints.ndim == 2:  # MATLAB drops a last dimension of 1
            joints = joints[:, :, None]
        if joints.shape[:2] != (2, len(BBC_JOINTS)):
            people.lose(f"{name}: {split}_joints", f"has the shape {joints.shape}, not (2, {len(BBC_JOINTS)}, F)")
            return
        if joints.shape[2] != len(frames):
            reason = f"{len(frames)} frames but joints for {joints.shape[2]}: the surplus is left out"
            people.lose(f"{name}: {split}_frames", reason)
        for frame, points in zip(frames.tolist(), joints.transpose(2, 1, 0), strict=False):
            if number(frame) is None or frame != int(frame):
                people.lose(f"{name}: {split}_frames", f"{frame} is not a frame number")
                continue
            image = f"{name}/{frame:.0f}.jpg"
            index, found = people.next_number(image), []
            for slot, point in zip(BBC_JOINTS, points, strict=True):
                x, y = (number(value) for value in point)
                if x is None or y is None:
                    people.note(f"{image}#{index}", f"{called(slot)} has no coordinates")
                else:
                    found.append(Joint(index, *slot, x - self.first_pixel, y - self.first_pixel))
            people.add(Person(self.name, image, index, tuple(found), f"bbc_pose/{name}", published_split=split))


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
        # MATLAB's size: height, width, channels.
        height, width, *_ = *(number(value) for value in numbers(example.get("imgdims")).reshape(-1)[:2]), None, None
        person = Person(
            dataset="flic_full" if "isbad" in example else self.name,
            image=image,
            number=index,
            joints=self._joints(people, where, example, index),
            split_group=f"flic/{film or image}",
            published_split=next((split for split in ("train", "test") if number(example.get(f"is{split}"))), None),
            torso_box=Box.of_corners(torso, first_pixel=self.first_pixel),
            size=None if height is None or width is None else (int(width), int(height)),
        )
        if person.torso_box is None:
            people.note(where, "no torso box")
        people.add(person)

    def _joints(self, people: People, where: str, example: dict[str, Any], person: int) -> tuple[Joint, ...]:
        coords = numbers(example.get("coords"))
        if coords.shape != (2, _FLIC_COLUMNS):
            people.note(where, f"coords is {coords.shape}, not (2, {_FLIC_COLUMNS})")
            return ()
        joints = []
        for slot, column in zip(FLIC_JOINTS, coords.T, strict=False):
            x, y = (number(value) for value in column)
            if x is not None and y is not None:
                joints.append(Joint(person, *slot, x - self.first_pixel, y - self.first_pixel))
            elif (x is None) != (y is None):
                people.note(where, f"{called(slot)} has one coordinate only")
        return tuple(joints)


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
        file = Path(annotations).name
        if Path(annotations).suffix.lower() == ".json":
            return self._read_json(load_json(annotations), file)
        release = struct(load_variable(annotations, "RELEASE"))
        if "annolist" not in release:
            raise InputError(f"{file} is not MPII's: RELEASE has no field 'annolist', only {', '.join(release) or 'nothing'}")
        rows = structs(release["annolist"])
        flags = release.get("img_train")
        train = [number(flag) for flag in flags.flat] if isinstance(flags, np.ndarray) else []
        people = People()
        if len(train) != len(rows):
            people.note("img_train", f"{len(train)} flags for {len(rows)} pictures: no original split is given")
            train = [None] * len(rows)
        split_of: Mapping[float | None, str] = {0.0: "test", 1.0: "train"}
        for row, (picture, flag) in enumerate(zip(rows, train, strict=True)):
            self._read_picture(people, row, picture, published=split_of.get(flag))
        return people

    def _read_picture(self, people: People, row: int, picture: dict[str, Any], *, published: str | None) -> None:
        image = image_name(struct(picture.get("image")).get("name"))
        if image is None:
            people.lose(f"annolist({row + 1})", "the picture has no usable file name")
            return
        rectangles = structs(picture.get("annorect"))
        if not rectangles:
            people.lose(image, "nobody is labelled in it")
        video = number(picture.get("vidx"))
        for rectangle in rectangles:
            index = people.next_number(image)
            corners = [number(rectangle.get(name)) for name in ("x1", "y1", "x2", "y2")]
            person = Person(
                dataset=self.name,
                image=image,
                number=index,
                joints=self._joints(people, f"{image}#{index}", rectangle, index),
                split_group=f"mpii/{image}" if video is None else f"mpii/video {video:.0f}",
                published_split=published,
                head_box=Box.of_corners(corners, first_pixel=self.first_pixel),
                scale=number(rectangle.get("scale")),
            )
            if person.joints and person.head_box is None:
                people.note(f"{image}#{index}", "no head box")
            people.add(person)

    def _joints(self, people: People, where: str, rectangle: dict[str, Any], person: int) -> tuple[Joint, ...]:
        joints: dict[Slot, Joint] = {}
        seen: Mapping[float | None, bool] = {0.0: False, 1.0: True}
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
                visible = seen.get(number(point.get("is_visible")))
                joints[slot] = Joint(person, *slot, x - self.first_pixel, y - self.first_pixel, visible)
        return tuple(joints.values())

    def _read_json(self, rows: Any, file: str) -> People:
        if not isinstance(rows, list):
            raise InputError(f"{file} is not a list of people as MPII's JSON form is, but a {type(rows).__name__}")
        people = People()
        for row, entry in enumerate(rows):
            image = image_name(entry.get("image")) if isinstance(entry, dict) else None
            if image is None:
                people.lose(f"row {row}", "no usable file name under 'image'")
                continue
            index = people.next_number(image)
            joints = self._json_joints(people, f"{image}#{index}", entry, index)
            people.add(Person(self.name, image, index, joints, f"mpii/{image}", scale=number(entry.get("scale"))))
        return people

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


class LspReader(PoseReader):
    """``joints.mat``: ``joints`` is 3 x 14 x N (LSP) or 14 x 3 x N (LSP-extended); coordinates count from 1.

    The third row is documented as visibility. LSP's 1 means **occluded** all the same, LSP-extended's means visible.
    ``third_row="auto"`` starts from that and checks it on the data: in photographs of people most joints are seen, so when
    over 60 % of at least 100 joints would come out occluded the row is read the other way round, with a note.
    """

    name = "lsp"
    version = "1"
    whole = True
    first_pixel = 1

    def __init__(self, *, third_row: ThirdRow = "auto") -> None:
        if third_row not in get_args(ThirdRow):
            raise UnknownNameError(unknown_name("meaning of the third row", third_row, list(get_args(ThirdRow))))
        self.third_row = third_row

    def read(self, annotations: Path | str) -> People:
        """All people, one a picture, in the order of the file.

        Raises:
            InputError: not a file of this layout.
        """
        joints = numbers(load_variable(annotations, "joints"))
        shape = joints.shape
        if joints.ndim == 2:  # MATLAB drops a last dimension of 1
            joints = joints[:, :, None]
        extended = joints.shape[:2] == (14, 3)
        if joints.shape[:2] != (3, 14) and not extended:
            raise InputError(f"{Path(annotations).name} is not LSP's: joints is {shape}, not (3, 14, N) or (14, 3, N)")
        rows = joints.transpose(2, 0, 1) if extended else joints.transpose(2, 1, 0)
        people = People()
        visible_of = self._visible_of(people, rows, extended=extended)
        dataset = "lsp_extended" if extended else self.name
        for row, points in enumerate(rows):
            image, found = f"im{row + 1:05d}.jpg" if extended else f"im{row + 1:04d}.jpg", []
            where = f"{image}#0"
            for slot, (x, y, flag) in zip(LSP_JOINTS, points.tolist(), strict=True):
                if not np.isfinite([x, y]).all():
                    people.note(where, f"{called(slot)} has no coordinates")
                elif extended and flag == 0 and x <= 0 and y <= 0:
                    people.note(where, f"{called(slot)} is not labelled")
                else:
                    if flag not in (0, 1):
                        people.note(where, f"the third row of {called(slot)} is {flag:g}, not 0 or 1")
                    found.append(Joint(0, *slot, x - self.first_pixel, y - self.first_pixel, visible_of.get(flag)))
            split = "train" if extended or row < _LSP_TRAIN_PICTURES else "test"
            people.add(Person(dataset, image, 0, tuple(found), f"{dataset}/{image}", published_split=split))
        return people

    def _visible_of(self, people: People, rows: npt.NDArray[np.float64], *, extended: bool) -> dict[float, bool]:
        """Flag of the third row -> whether the joint is seen."""
        meaning: str = self.third_row
        if meaning == "auto":
            meaning, other = ("visible", "occluded") if extended else ("occluded", "visible")
            labelled = rows[np.isfinite(rows).all(axis=2)]
            occluded = labelled[:, 2] == (1 if meaning == "occluded" else 0)
            if len(labelled) >= _ENOUGH_JOINTS and occluded.mean() > _CLEAR_MAJORITY:
                people.note("third row", f"{occluded.mean():.0%} would be occluded if 1 meant {meaning}: read as 1 = {other}")
                meaning = other
        return {0: meaning == "occluded", 1: meaning == "visible"}
