"""Places of cores and deltas of synthetic prints, and how their ridges run, in the published picture: after every distortion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from inpaintbench import video
from inpaintbench.curation.footage import data_attribute
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.types import Attribute, Clip, Plain
from inpaintbench.wings.chalearn.fingerprints.records import Print
from inpaintbench.wings.chalearn.fingerprints.skin import orientation_in_truth, points_in_truth
from inpaintbench.workspace import Blobs

NAME = "print_geometry"
VERSION = "1"
# Attribute that names the picture of orientation of a clip, and the folder it is published in.
FIELD, FOLDER = "orientation_file", "orientations"
# Steps of half a turn in such a picture.
ANGLES = 2**16


def measure(executor: Executor, clips: Sequence[Clip], prints: Mapping[str, str], *, orientation: bool = False) -> Outcome:
    """Write ``cores`` and ``deltas`` of every clip to the table ``attributes``: [x, y] in pixels of the truth.

    Points that a distortion moved off the picture are left out. With ``orientation`` the row ``FIELD`` names a 16-bit picture of
    the ridge angle, counter-clockwise from the horizontal, in steps of pi / ``ANGLES``; the picture is the row's blob.

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
        function="inpaintbench.wings.chalearn.print_geometry:measure_one",
        parameters={"orientation": orientation},
    )
    tasks = [
        Task(clip.clip_id, prints[clip.source_id], {"clip_id": clip.clip_id, "print": prints[clip.source_id]}) for clip in clips
    ]
    return executor.run(step, tasks)


def measure_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """Two rows, each a list of points, and one for the picture of orientation where it is asked for."""
    fields = Print.of_plain(json.loads(blobs.proved(payload["print"]).read_bytes()))
    points = {"cores": fields.finger.cores, "deltas": fields.finger.deltas}
    clip_id = payload["clip_id"]
    rows = []
    for name, places in points.items():
        seen = [[round(point[0], 2), round(point[1], 2)] for point in points_in_truth(fields, places) if point is not None]
        rows.append(data_attribute(blobs, clip_id, name, seen, producer=NAME))
    if parameters["orientation"]:
        steps = np.rint(orientation_in_truth(fields) * (ANGLES / np.pi)).astype(np.int64) % ANGLES
        blob, _ = blobs.put(".png", lambda path: path.write_bytes(video.png_bytes(steps.astype(np.uint16))))
        rows.append(Attribute(clip_id, FIELD, f"{FOLDER}/{clip_id}.png", None, NAME, VERSION, blob))
    return rows
