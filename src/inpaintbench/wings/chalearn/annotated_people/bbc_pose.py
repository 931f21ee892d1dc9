"""Short BBC Pose: sign language interpreters; its larger sibling has the same fields in another order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import People, Person, PoseReader, Slot, image_name, number
from inpaintbench.wings.chalearn.annotated_people.files import load_variable, numbers, structs

# Order of the joints; the person's own left and right.
BBC_JOINTS: tuple[Slot, ...] = (
    ("head", None), ("wrist", "right"), ("wrist", "left"), ("elbow", "right"), ("elbow", "left"), ("shoulder", "right"),
    ("shoulder", "left"),
)  # fmt: skip
_VARIABLES = ("shortbbcpose", "bbcpose")
_FIELDS = ("videoName", "train_frames", "train_joints", "test_frames", "test_joints")


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
        videos = structs(self._load(annotations))
        missing = [name for name in _FIELDS if not videos or name not in videos[0]]
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

    def _load(self, annotations: Path | str) -> Any:
        try:
            return load_variable(annotations, _VARIABLES[0])
        except InputError as error:
            if "has no variable" not in str(error):
                raise
            return load_variable(annotations, _VARIABLES[1])

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
            index = people.next_number(image)
            people.add(Person(self.name, image, index, self._joints(people, f"{image}#{index}", points, index),
                             f"bbc_pose/{name}", published_split=split))  # fmt: skip

    def _joints(self, people: People, where: str, points: Any, person: int) -> tuple[Joint, ...]:
        joints = []
        for slot, point in zip(BBC_JOINTS, points, strict=True):
            x, y = (number(value) for value in point)
            if x is None or y is None:
                people.note(where, f"{slot[1] or ''} {slot[0]} has no coordinates".strip())
            else:
                joints.append(Joint(person, *slot, x - self.first_pixel, y - self.first_pixel))
        return tuple(joints)
