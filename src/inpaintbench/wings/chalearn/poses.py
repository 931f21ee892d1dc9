"""Pose estimators: each says where the joints of people in a picture are; their base class, and joints as JSON."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import Catalogue, Leaf, unknown_name
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, NotMeasurable, reason_of
from inpaintbench.eval.methods.command import Command
from inpaintbench.files import file_sha256, open_text
from inpaintbench.models import torch_networks
from inpaintbench.types import Joint, content_id

Picture = npt.NDArray[np.uint8]
# What the picture is.
Of = Literal["truth", "prediction"]

# Joints that people have two of, then those that they have one of.
SIDED = ("ankle", "knee", "hip", "wrist", "elbow", "shoulder", "eye", "ear")
MIDDLE = ("pelvis", "thorax", "upper_neck", "head_top", "nose", "head")
JOINT_NAMES = (*SIDED, *MIDDLE)


class PoseEstimator(Leaf, ABC):
    """A way to find joints."""

    argument: str | None = None
    """Name of the one text that it is built with, such as "file"; None = it is built with nothing."""

    joint_names: tuple[str, ...]
    """Joints that it can find; labelled joints of another name are left out of a comparison instead of counting as lost."""

    @abstractmethod
    def estimate(self, picture: Picture, *, item_id: str, of: Of, compute: Compute) -> tuple[Joint, ...]:
        """The joints of everybody in ``picture``, ``uint8[H, W, 3]`` RGB; nothing where nobody is found.

        Raises:
            NotMeasurable: there is no answer; the text says why.
        """

    @abstractmethod
    def content(self) -> str:
        """Changes whenever the file or the program behind it does."""


POSES: Catalogue[type[PoseEstimator]] = Catalogue(
    "pose estimator",
    {
        "stored": "inpaintbench.wings.chalearn.poses:Stored",
        "keypoint_rcnn": "inpaintbench.wings.chalearn.poses:KeypointRcnn",
        "command": "inpaintbench.wings.chalearn.poses:CommandPose",
    },
    base="inpaintbench.wings.chalearn.poses:PoseEstimator",
)


def identity(spec: str) -> str:
    """16 hex digits that change with the estimator, its version and the file or program that it is given.

    Raises:
        UnknownNameError: no such estimator.
        InputError: an argument is missing, too much or cannot be used.
    """
    leaf = estimator(spec)
    return content_id(leaf.name, leaf.version, leaf.content())


def estimator(spec: str) -> PoseEstimator:
    """The estimator of ``keypoint_rcnn``, ``stored:FILE`` or ``command:PROGRAM ARGUMENTS``, built once a process.

    Raises:
        UnknownNameError: no such estimator.
        InputError: an argument is missing, too much or cannot be used.
    """
    argument = spec.partition(":")[2]
    state = os.stat(argument) if os.path.isfile(argument) else None
    return _built(spec, None if state is None else (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=4)
def _built(spec: str, state: tuple[int, int] | None) -> PoseEstimator:  # noqa: ARG001 - a file that changed is read again
    name, colon, argument = spec.partition(":")
    leaf = POSES.get(name)
    build: Callable[..., PoseEstimator] = leaf  # with one text, or with nothing
    wanted = leaf.argument
    if wanted and not argument:
        raise InputError(f"pose estimator {spec!r} lacks its {wanted}: write {name}:{wanted.upper()}")
    if colon and not wanted:
        raise InputError(f"pose estimator {name!r} takes nothing after its name, {spec!r} gives {argument!r}")
    return build(argument) if wanted else build()


def joints_of(rows: Iterable[Mapping[str, Any]], *, where: str) -> tuple[Joint, ...]:
    """Joints from plain data: ``name``, ``x`` and ``y``, and where known ``side``, ``person``, ``side_of``.

    Args:
        rows: as read from JSON or CSV.
        where: what they are from, for errors.

    Raises:
        InputError: an unknown joint or side, or a coordinate that is no number.
    """
    joints = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"a joint of {where} is {row!r}; wanted name, side, x and y")
        name, side = str(row.get("name")), row.get("side") or None
        if name not in JOINT_NAMES:
            raise InputError(f"{where}: {unknown_name('joint', name, list(JOINT_NAMES))}")
        if side not in (None, "left", "right"):
            raise InputError(f"side of the {name} of {where} is {side!r}; write left, right or nothing")
        try:
            person, x, y = int(row.get("person") or 0), float(row["x"]), float(row["y"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"the {name} of {where} has no x, y or person that is a number: {dict(row)}") from error
        if not (math.isfinite(x) and math.isfinite(y)):
            raise InputError(f"the {name} of {where} lies at ({x}, {y}); leave a joint out that was not found")
        joints.append(Joint(person, name, side, x, y, side_of=str(row.get("side_of") or "person")))
    return tuple(joints)


# Columns that a CSV file has to have; sha256, person and side may be there.
_COLUMNS = ("item", "of", "name", "x", "y")


class _Entry(NamedTuple):
    sha256: str | None
    joints: tuple[Joint, ...]


class Stored(PoseEstimator):
    """Joints from a JSON or CSV file, for estimators that run elsewhere.

    JSON: ``{"pictures": [{"item": ITEM, "of": "truth" or "prediction", "sha256": ..., "joints": [{"name": "knee", "side":
    "left", "person": 0, "x": 10.5, "y": 20}, ...]}, ...]}``. CSV: a row a joint with the columns item, of, name, x, y and, where
    known, sha256, person, side; a row without a name says that nobody was found. ``sha256`` is that of the picture's RGB bytes,
    row by row: it tells the predictions of several methods apart, and may be left out where the file holds those of one.

    Args:
        file: its path.

    Raises:
        InputError: it cannot be read, or holds other things.
    """

    name = "stored"
    version = "1"
    argument = "file"
    joint_names: tuple[str, ...]

    def __init__(self, file: str) -> None:
        self._file = Path(file)
        try:
            rows = list(_csv(self._file) if self._file.suffix.lower() == ".csv" else _json(self._file))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"stored joints {file!r} cannot be read: {reason_of(error)}") from error
        self._entries: dict[tuple[str, str], list[_Entry]] = {}
        for item, of, entry in rows:
            self._entries.setdefault((item, of), []).append(entry)
        self._sha256 = file_sha256(self._file)
        found = {joint.name for entries in self._entries.values() for entry in entries for joint in entry.joints}
        self.joint_names = tuple(name for name in JOINT_NAMES if name in found)

    def content(self) -> str:
        """The hash of the file."""
        return self._sha256

    def estimate(self, picture: Picture, *, item_id: str, of: Of, compute: Compute) -> tuple[Joint, ...]:  # noqa: ARG002
        """The stored joints.

        Raises:
            NotMeasurable: none for this picture, or several without a hash that could tell them apart.
        """
        entries = self._entries.get((item_id, of), [])
        if not entries:
            raise NotMeasurable(f"{self._file.name} has no joints of the {of} of item {item_id!r}")
        digest = hashlib.sha256(np.ascontiguousarray(picture).tobytes()).hexdigest()
        fitting = [entry for entry in entries if entry.sha256 == digest] or [entry for entry in entries if not entry.sha256]
        if not fitting:
            raise NotMeasurable(
                f"{self._file.name} has joints of item {item_id!r} of another {of} than this one (SHA-256 {digest})"
            )
        if len(fitting) > 1:
            raise NotMeasurable(
                f"{self._file.name} has {len(fitting)} entries for the {of} of item {item_id!r}; give each its sha256"
            )
        return fitting[0].joints


def _json(path: Path) -> Iterator[tuple[str, str, _Entry]]:
    try:
        pictures = json.loads(path.read_bytes())["pictures"]
        for number, one in enumerate(pictures, start=1):
            item, of = str(one["item"]), _checked_of(one["of"], f"entry {number} of {path.name}")
            yield item, of, _Entry(one.get("sha256"), joints_of(one["joints"], where=f"item {item!r} in {path.name}"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f'{path.name} is not {{"pictures": [{{"item": ..., "of": ..., "joints": [...]}}, ...]}}: '
            f"{type(error).__name__} {error}"
        ) from error


def _csv(path: Path) -> Iterator[tuple[str, str, _Entry]]:
    with open_text(path, newline="") as file:
        reader = csv.DictReader(file)
        if lacking := [column for column in _COLUMNS if column not in (reader.fieldnames or ())]:
            raise InputError(f"{path.name} lacks the column {lacking[0]!r}; wanted {', '.join(_COLUMNS)}")
        if twice := [column for column in reader.fieldnames or () if (reader.fieldnames or ()).count(column) > 1]:
            raise InputError(f"{path.name} has two columns {twice[0]!r}; keep one")
        rows: dict[tuple[str, str, str | None], list[Mapping[str, Any]]] = {}
        for row in reader:
            of = _checked_of(row["of"], f"line {reader.line_num} of {path.name}")
            joints = rows.setdefault((row["item"], of, row.get("sha256") or None), [])
            joints += [row] if row["name"] else []
    for (item, of, sha256), found in rows.items():
        yield item, of, _Entry(sha256, joints_of(found, where=f"item {item!r} in {path.name}"))


def _checked_of(of: Any, where: str) -> str:
    if of not in ("truth", "prediction"):
        raise InputError(f"{where} is of {of!r}; write truth or prediction")
    return str(of)


# The entry of `weights.toml`.
WEIGHTS = "keypoint-rcnn"
# Of a person; the network's own scores are 0..1.
LEAST_SCORE = 0.5
# In the order of the network's answer, that of COCO.
KEYPOINTS: tuple[tuple[str, str | None], ...] = (
    ("nose", None), ("eye", "left"), ("eye", "right"), ("ear", "left"), ("ear", "right"), ("shoulder", "left"),
    ("shoulder", "right"), ("elbow", "left"), ("elbow", "right"), ("wrist", "left"), ("wrist", "right"), ("hip", "left"),
    ("hip", "right"), ("knee", "left"), ("knee", "right"), ("ankle", "left"), ("ankle", "right"),
)  # fmt: skip


class KeypointRcnn(PoseEstimator):
    """The seventeen joints of COCO for everybody whom the network is at least half sure of (He et al., "Mask R-CNN", 2017).

    It knows no pelvis, thorax, neck or head top. A person who is found has all seventeen.
    """

    name = "keypoint_rcnn"
    version = "1"
    joint_names = tuple(dict.fromkeys(name for name, _ in KEYPOINTS))

    def content(self) -> str:
        """Nothing: its weights have a hash of their own."""
        return ""

    def estimate(self, picture: Picture, *, item_id: str, of: Of, compute: Compute) -> tuple[Joint, ...]:  # noqa: ARG002
        """The joints of everybody, the surest person first.

        Raises:
            NotMeasurable: the weights are missing, damaged or others.
            MissingExtraError: PyTorch is not installed.
        """
        network = torch_networks.network(_keypoint_network, compute, weights_name=WEIGHTS)
        with torch_networks.running(compute) as device:
            tensor = torch_networks.pictures(np.array(picture)[None], device)
            [found] = network(list(tensor))
        return people(found["scores"].float().cpu().numpy(), found["keypoints"].float().cpu().numpy())


def people(scores: Any, keypoints: Any) -> tuple[Joint, ...]:
    """Joints from ``float[n]`` scores and ``float[n, 17, 3]`` points: x, y, and a 1 that says nothing."""
    order = [index for index in np.argsort(-scores, kind="stable") if scores[index] >= LEAST_SCORE]
    return tuple(
        Joint(person, name, side, float(x), float(y))
        for person, index in enumerate(order)
        for (name, side), (x, y) in zip(KEYPOINTS, keypoints[index, :, :2], strict=True)
    )


def _keypoint_network() -> Any:
    # As torchvision builds it for its own parameters: frozen batch normalisation without an epsilon. No keypoints are looked for
    # where nobody would be believed.
    detection = import_module("torchvision.models.detection")
    frozen = import_module("torchvision.ops.misc").FrozenBatchNorm2d
    backbone = detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet50", weights=None, norm_layer=frozen)
    made = detection.KeypointRCNN(backbone, num_classes=2, box_score_thresh=LEAST_SCORE)
    detection._utils.overwrite_eps(made, 0.0)
    return made


PICTURE, JOINTS = "picture.png", "joints.json"
# Time limit of a program for one picture.
_SECONDS = 600.0


class CommandPose(PoseEstimator):
    """Runs a program once a picture, as the method ``command`` runs programs.

    The input folder holds ``picture.png``. The program writes ``joints.json`` into the output folder: a list of ``{"name":
    "knee", "side": "left", "x": 10.5, "y": 20, "person": 0}``, empty where it finds nobody. Coordinates are pixels, (0, 0) is the
    centre of the upper left one, and sides are the person's own.

    Args:
        command: program and arguments; ``{input}`` and ``{output}`` stand for the two folders, which else are appended.

    Raises:
        InputError: a command that cannot be split, names only one of the folders, or a program that does not exist.
    """

    name = "command"
    version = "1"
    argument = "program"
    joint_names = JOINT_NAMES

    def __init__(self, command: str) -> None:
        self._program = Command(command=command, time_limit_seconds=_SECONDS)

    def content(self) -> str:
        """The command with names, sizes and times of its files."""
        return f"{self._program.arguments[1:]} {self._program.content('')}"

    def estimate(self, picture: Picture, *, item_id: str, of: Of, compute: Compute) -> tuple[Joint, ...]:  # noqa: ARG002
        """Joints that the program wrote.

        Raises:
            NotMeasurable: it fails, takes too long, or writes no joints.
        """
        with tempfile.TemporaryDirectory(prefix="inpaintbench-", ignore_cleanup_errors=True) as scratch:
            source, target = Path(scratch, "input"), Path(scratch, "output")
            source.mkdir()
            target.mkdir()
            video.write_image(source / PICTURE, picture)
            self._program.run_on(source, target)
            try:
                rows = json.loads((target / JOINTS).read_bytes())
                if not isinstance(rows, list):
                    raise NotMeasurable(f"the program's {JOINTS} holds a {type(rows).__name__}, wanted a list of joints")
                return joints_of(rows, where=f"the program's {JOINTS}")
            except FileNotFoundError as error:
                raise NotMeasurable(f"the program wrote no {JOINTS}") from error
            except ValueError as error:
                raise NotMeasurable(f"the program's {JOINTS} is no JSON: {error}") from error
            except InputError as error:
                raise NotMeasurable(str(error)) from error
