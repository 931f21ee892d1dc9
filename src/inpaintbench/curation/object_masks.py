"""Object masks of sources, brought to their clips: the same span of frames, the same scaling and cropping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from inpaintbench import video
from inpaintbench.curation.footage import without_name
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.errors import Rejected
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.steps import OBJECT_MASKS
from inpaintbench.types import Attribute, Clip, Hole, Plain, content_id
from inpaintbench.workspace import Blobs

NAME = "object_fraction"
VERSION = "1"


@dataclass(frozen=True)
class Wanted:
    """A mask to make."""

    clip: Clip
    levels: str
    """Blob name of the masks of its source, ``uint8[T, H, W]``."""
    object: int | None
    """Value of the object; None = whatever is not 0."""
    name: str
    """Display name of the clip."""


def attribute_name(number: int | None) -> str:
    """The attribute of a clip whose blob is the mask of the object ``number`` and whose value is the object's share."""
    return NAME if number is None else f"{NAME}.{number}"


def fit(executor: Executor, wanted: Sequence[Wanted], *, normalizer: Plain) -> Outcome:
    """Write the masks to ``attributes``: value = mean share of the frame, 0..1; blob = lossless track ``bool[T, H, W]``.

    Args:
        executor: who does the work.
        wanted: each mask once.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave the clips their size.
    """
    leaf = [normalizer["name"], NORMALIZERS.get(normalizer["name"]).version, without_name(normalizer)]
    step = Step(
        name=OBJECT_MASKS,
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.object_masks:fit_one",
        parameters={"normalizer": leaf},
    )
    tasks = [
        Task(
            f"{mask.clip.clip_id}:{attribute_name(mask.object)}",
            content_id(mask.clip.clip_id, mask.levels, mask.object),
            {"clip": asdict(mask.clip), "levels": mask.levels, "object": mask.object},
            mask.name,
        )
        for mask in wanted
    ]
    return executor.run(step, tasks)


def fit_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """One mask.

    A pixel belongs to the object where the object covers at least half of it, by the filter that scales the frames.

    Raises:
        Rejected: too few masks, masks of another shape than the frames, or nothing or everything of the clip is the object.
    """
    clip, number = Clip(**payload["clip"]), payload["object"]
    levels = video.read_levels(blobs.path(payload["levels"]))
    if len(levels) < clip.end_frame:
        raise Rejected(f"has {len(levels)} masks, but the clip shows frames up to {clip.end_frame}")
    name, _, constants = parameters["normalizer"]
    leaf = NORMALIZERS.get(name)(**constants)
    inside = (levels == number) if number is not None else (levels > 0)
    mask = np.stack([_fitted(plane, leaf) for plane in inside[clip.start_frame : clip.end_frame]])
    if mask.shape[1:] != (clip.height, clip.width):
        raise Rejected(
            f"has masks of another shape: they become {mask.shape[2]}x{mask.shape[1]}, the clip is {clip.width}x{clip.height}"
        )
    if not mask.any() or mask.all():
        raise Rejected(f"its object covers {'all' if mask.any() else 'nothing'} of the clip, once scaled and cropped")
    blob, _ = blobs.put(video.suffix_for(clip.frames), partial(video.write_hole, hole=mask, fps=clip.fps))
    return [Attribute(clip.clip_id, attribute_name(number), float(mask.mean()), None, OBJECT_MASKS, VERSION, blob)]


def _fitted(inside: Hole, leaf: object) -> Hole:
    white = np.repeat((inside.astype(np.uint8) * 255)[..., None], 3, axis=2)
    fitted: Hole = leaf.apply(white, pixel_aspect=1.0)[..., 0] > 127  # type: ignore[attr-defined]
    return fitted
