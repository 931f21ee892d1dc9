"""Joints that somebody else estimated, from a file."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, NotMeasurable, reason_of
from inpaintbench.files import file_sha256, open_text
from inpaintbench.types import Joint
from inpaintbench.wings.chalearn.poses import JOINT_NAMES, Of, Picture, PoseEstimator, joints_of

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
