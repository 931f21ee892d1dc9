"""Leeds Sports Poses and their extended training set."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.annotated_people.base import People, Person, PoseReader
from inpaintbench.wings.chalearn.annotated_people.files import load_variable, numbers
from inpaintbench.wings.chalearn.annotated_people.mpii import MPII_JOINTS

ThirdRow = Literal["auto", "occluded", "visible"]

# Order of the joints; the person's own left and right. The last two are called neck and head top.
LSP_JOINTS = tuple(MPII_JOINTS[joint_id] for joint_id in (0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 8, 9))
_TRAIN_PICTURES = 1000
_CLEAR_MAJORITY = 0.6
_ENOUGH_JOINTS = 100


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
        people = joints.transpose(2, 0, 1) if extended else joints.transpose(2, 1, 0)
        read_people = People()
        meaning = self._meaning(read_people, people, extended=extended)
        for row, person in enumerate(people):
            self._read_person(read_people, row, person, extended=extended, meaning=meaning)
        return read_people

    def _meaning(self, read_people: People, people: npt.NDArray[np.float64], *, extended: bool) -> str:
        """Meaning of a 1 in the third row: ``occluded`` or ``visible``."""
        if self.third_row != "auto":
            return self.third_row
        expected, other = ("visible", "occluded") if extended else ("occluded", "visible")
        labelled = people[np.isfinite(people).all(axis=2)]
        occluded = labelled[:, 2] == (1 if expected == "occluded" else 0)
        if len(labelled) < _ENOUGH_JOINTS or occluded.mean() <= _CLEAR_MAJORITY:
            return expected
        read_people.note("third row", f"{occluded.mean():.0%} would be occluded if 1 meant {expected}: read as 1 = {other}")
        return other

    def _read_person(self, people: People, row: int, person: npt.NDArray[np.float64], *, extended: bool, meaning: str) -> None:
        image = f"im{row + 1:05d}.jpg" if extended else f"im{row + 1:04d}.jpg"
        where, joints = f"{image}#0", []
        for (name, side), (x, y, flag) in zip(LSP_JOINTS, person.tolist(), strict=True):
            if not np.isfinite([x, y]).all():
                people.note(where, f"{side or ''} {name} has no coordinates".strip())
            elif extended and flag == 0 and x <= 0 and y <= 0:
                people.note(where, f"{side or ''} {name} is not labelled".strip())
            else:
                if flag not in (0, 1):
                    people.note(where, f"the third row of {side or ''} {name} is {flag:g}, not 0 or 1")
                visible = {0: meaning == "occluded", 1: meaning == "visible"}.get(flag)
                joints.append(Joint(0, name, side, x - self.first_pixel, y - self.first_pixel, visible))
        dataset = "lsp_extended" if extended else self.name
        split = "train" if extended or row < _TRAIN_PICTURES else "test"
        people.add(Person(dataset, image, 0, tuple(joints), f"{dataset}/{image}", published_split=split))
