"""People with exactly known joints that need no download: painted figures in front of photographs, and one real portrait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.curation.sources.figure import (
    POSES,
    SIDES,
    Figure,
    draw_look,
    ground_shadow,
    labels,
    paint,
    place_figure,
    skeleton,
    vary,
)
from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS, Image, add_sensor_noise
from inpaintbench.errors import InputError
from inpaintbench.ranges import Seed, Whole
from inpaintbench.types import Joint, item_rng

# Photographs with a stated free licence and nobody in them.
BACKGROUNDS = ("coffee", "chelsea", "rocket", "retina", "hubble")
# Standard deviation in grey levels.
SENSOR_NOISE = 1.5
_PAIR_EVERY = 4
_CUT_EVERY = 3
# Poses that show best from the side.
_SIDE_POSES = ("walking", "striding", "reaching", "sitting")
PORTRAIT = "astronaut"
# Placed by eye on the photograph; of joints inside clothing the likely place.
PORTRAIT_JOINTS: tuple[Joint, ...] = (
    Joint(0, "head_top", None, 236, 17),
    Joint(0, "eye", "right", 203, 101),
    Joint(0, "eye", "left", 246, 103),
    Joint(0, "nose", None, 222, 128),
    Joint(0, "upper_neck", None, 221, 180),
    Joint(0, "thorax", None, 224, 262, False),
    Joint(0, "shoulder", "right", 78, 262),
    Joint(0, "shoulder", "left", 326, 268),
    Joint(0, "elbow", "right", 46, 446),
    Joint(0, "wrist", "right", 138, 500),
)


@dataclass(frozen=True)
class Picture:
    """One painted picture; everything that determines it."""

    name: str
    photograph: str
    poses: tuple[str, ...]
    """One of ``figure_pose.POSES`` for each person."""
    width: int
    height: int
    whole_body: bool
    """False cuts the figures off below the knees."""
    seed: int


@dataclass(frozen=True)
class Painting:
    """A painted picture with its joints."""

    image: Image
    joints: tuple[Joint, ...]


def pictures(count: int, *, seed: int = 0) -> Iterator[Picture]:
    """The first ``count`` pictures: every pose and background in turn, 400 to 640 pixels on the long side."""
    names = list(POSES)
    for index in range(count):
        rng = item_rng(seed, "drawn people plan", str(index))
        people = 2 if index % _PAIR_EVERY == _PAIR_EVERY - 1 else 1
        poses = tuple(names[(index + 4 * person) % len(names)] for person in range(people))
        long_side = int(rng.integers(480, 641))
        aspect = float(rng.uniform(0.95, 1.25) if people == 2 else rng.uniform(0.66, 0.9))
        width, height = (long_side, round(long_side / aspect)) if aspect > 1 else (round(long_side * aspect), long_side)
        photograph = BACKGROUNDS[(index + index // len(BACKGROUNDS)) % len(BACKGROUNDS)]
        name = f"{index:03d}_{'_and_'.join(poses)}"
        whole = index % _CUT_EVERY != _CUT_EVERY - 1 or "sitting" in poses
        yield Picture(name, photograph, poses, width, height, whole, seed)


def paint_picture(picture: Picture) -> Painting:
    """Paint a picture: the same bytes every time."""
    figures, joints = _staged(picture)
    canvas = _background(picture)
    weave = _rng(picture, "weave").standard_normal(canvas.shape[:2]).astype(np.float32)
    weave = np.asarray(cv2.GaussianBlur(weave, (0, 0), 0.8) * 2, np.float32)
    for figure, size in figures:
        feet = [
            (float(figure.joints["ankle", side][0]), float(figure.joints["ankle", side][1]) + 0.03 * size) for side, _ in SIDES
        ]
        ground_shadow(canvas, feet, size=size)
        for part in figure.parts:
            paint(canvas, part, weave=weave)
    frames = np.clip(np.rint(canvas), 0, 255).astype(np.uint8)[None]
    add_sensor_noise(frames, sigma=SENSOR_NOISE, rng=_rng(picture, "noise"))
    return Painting(frames[0], joints)


def joints_of(picture: Picture) -> tuple[Joint, ...]:
    """The joints of ``paint_picture``, without painting."""
    return _staged(picture)[1]


def _staged(picture: Picture) -> tuple[list[tuple[Figure, float]], tuple[Joint, ...]]:
    """The figures with their heights in pixels, the hindmost first, and their joints."""
    staged = [_figure(picture, person) for person in range(len(picture.poses))]
    joints = labels([figure for figure, _ in staged], width=picture.width, height=picture.height)
    return staged, tuple(joints)


def _figure(picture: Picture, person: int) -> tuple[Figure, float]:
    rng = _rng(picture, f"figure {person}")
    pose, people = picture.poses[person], len(picture.poses)
    # Degrees: to the side for poses that show best so, else towards the viewer, sometimes away.
    if pose in _SIDE_POSES:
        turn = float(rng.choice([-1, 1]) * rng.uniform(35, 85))
    else:
        turn = float(rng.uniform(-40, 40) + (180 if rng.random() < 0.12 else 0))
    bones = skeleton(vary(POSES[pose], rng), turn_degrees=turn)
    share = (0.5 + (person - (people - 1) / 2) * 0.44) * picture.width
    top, bottom = 0.05 + 0.05 * float(rng.random()), 0.93 + 0.03 * float(rng.random())
    # What is to be seen of the figure, in its heights below the pelvis.
    lowest = ("toe", "ankle") if picture.whole_body else ("knee",)
    feet = max(point[1] for (name, _), point in bones.items() if name in lowest)
    begin = float(min(point[1] for point in bones.values())) - 0.03
    end = float(feet) + (0.03 if picture.whole_body else 0.1)
    size = (bottom - top) * picture.height / (end - begin)
    left, right = min(point[0] for point in bones.values()) - 0.05, max(point[0] for point in bones.values()) + 0.05
    size = min(size, (0.98 if people == 1 else 0.62) * picture.width / (right - left)) * float(rng.uniform(0.93, 1))
    middle = share + float(rng.uniform(-0.03, 0.03)) * picture.width - size * (left + right) / 2
    pelvis = (middle, bottom * picture.height - size * end)
    look = draw_look(rng, size=size)
    return place_figure(bones, look, turn_degrees=turn, size=size, pelvis=pelvis, seated=pose == "sitting"), size


def _background(picture: Picture) -> Any:
    """A part of the photograph, a little out of focus, ``float32[H, W, 3]``."""
    rng = _rng(picture, "background")
    photograph = video.read_image(PHOTOGRAPHS[picture.photograph].path())
    height, width = photograph.shape[:2]
    scale = min(width / picture.width, height / picture.height) * float(rng.uniform(0.6, 0.8))
    across, down = round(picture.width * scale), round(picture.height * scale)
    # From the middle: the retina is black in the corners.
    left, top = (int(rng.uniform(0.35, 0.65) * room) for room in (width - across, height - down))
    part = photograph[top : top + down, left : left + across]
    if rng.random() < 0.5:
        part = part[:, ::-1]
    shrinks = scale > 1
    resized = cv2.resize(
        np.ascontiguousarray(part), (picture.width, picture.height), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    )
    soft = cv2.GaussianBlur(resized.astype(np.float32), (0, 0), float(rng.uniform(0.8, 2.2)))
    return soft * np.float32(rng.uniform(0.85, 1.05)) + np.float32(6)


def _rng(picture: Picture, step: str) -> np.random.Generator:
    return item_rng(picture.seed, f"drawn people {step}", picture.name)


class DrawnPeople(SourceLeaf):
    """Painted figures in front of photographs of the scikit-image wheel, with exact joints, and the portrait it holds."""

    name = "drawn_people"
    version = "1"

    def __init__(self, *, count: Whole = 24, portrait: bool = True, seed: Seed = 0) -> None:
        """``count``: painted pictures; ``portrait``: whether the photograph of an astronaut comes first."""
        if count < 0 or (count == 0 and not portrait):
            raise InputError(f"count is {count}, there must be at least one picture")
        self.count, self.portrait, self.seed = count, portrait, seed

    def footage(self) -> Iterator[Footage]:
        """The portrait, then the painted pictures, with their joints in ``data``."""
        painted = [(one.name, one.photograph, one) for one in pictures(self.count, seed=self.seed)]
        for name, photograph, picture in [*([(PORTRAIT, PORTRAIT, None)] if self.portrait else []), *painted]:
            payload = {"name": name, "picture": None if picture is None else asdict(picture) | {"poses": list(picture.poses)}}
            joints = PORTRAIT_JOINTS if picture is None else joints_of(picture)
            yield PHOTOGRAPHS[photograph].footage(
                self, name, payload, content=[payload], data={"joints": [asdict(joint) for joint in joints]},
                known={"set": "drawn" if picture else "portrait", "split_group": name},
            )  # fmt: skip

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Paint or copy the picture of ``payload`` as a PNG into the folder ``scratch``; its path."""
        fields = payload["picture"]
        if fields is None:
            image = video.read_image(PHOTOGRAPHS[PORTRAIT].path())
        else:
            image = paint_picture(Picture(**{**fields, "poses": tuple(fields["poses"])})).image
        path = Path(scratch) / f"{payload['name']}.png"
        video.write_image(path, image)
        return str(path)
