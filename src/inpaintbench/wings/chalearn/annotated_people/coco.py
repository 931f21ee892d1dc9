"""COCO keypoints, and the many sets published in its layout."""

from __future__ import annotations

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
