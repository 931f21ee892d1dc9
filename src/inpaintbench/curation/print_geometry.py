"""Where cores and deltas of synthetic prints lie in the published picture, after every distortion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from inpaintbench.curation.footage import data_attribute
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.fingerprints.geometry import points_in_truth
from inpaintbench.fingerprints.records import Point, Print
from inpaintbench.types import Attribute, Clip, Plain
from inpaintbench.workspace import Blobs

NAME = "print_geometry"
VERSION = "1"


def measure(executor: Executor, clips: Sequence[Clip], prints: Mapping[str, str]) -> Outcome:
    """Write ``cores`` and ``deltas`` of every clip to the table ``attributes``: [x, y] in pixels of the truth.

    Points that a distortion moved off the picture are left out.

    Args:
        executor: who does the work.
        clips: pictures of prints.
        prints: source id -> blob name of what determines the print.
    """
    step = Step(
        name=f"measure.{NAME}",
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.print_geometry:measure_one",
    )
    tasks = [
        Task(clip.clip_id, prints[clip.source_id], {"clip_id": clip.clip_id, "print": prints[clip.source_id]}) for clip in clips
    ]
    return executor.run(step, tasks)


def measure_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:  # noqa: ARG001 - step signature
    """Two rows, each a list of points."""
    fields = Print.of_plain(json.loads(blobs.path(payload["print"]).read_bytes()))
    points = {"cores": fields.finger.cores, "deltas": fields.finger.deltas}
    return [
        data_attribute(blobs, payload["clip_id"], name, _seen(fields, places), producer=NAME) for name, places in points.items()
    ]


def _seen(fields: Print, places: tuple[Point, ...]) -> list[list[float]]:
    moved = points_in_truth(fields, places)
    return [[round(x, 2), round(y, 2)] for x, y in (point for point in moved if point is not None)]
