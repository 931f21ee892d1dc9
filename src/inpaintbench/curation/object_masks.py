"""Object masks of sources, brought to their clips: the same span of frames, the same scaling and cropping."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from inpaintbench import video
from inpaintbench.curation import fitting
from inpaintbench.curation.fitting import Wanted, normalizer_of
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.errors import Rejected
from inpaintbench.executors.base import Executor, Outcome
from inpaintbench.steps import OBJECT_MASKS
from inpaintbench.types import Attribute, Clip, Hole, Plain
from inpaintbench.workspace import Blobs

NAME = "object_fraction"
VERSION = "1"


def attribute_name(number: int | str | None) -> str:
    """The attribute of a clip whose blob is the mask of an object or a part, and whose value is the object's share."""
    return NAME if number is None else f"{NAME}.{number}"


def fit(executor: Executor, wanted: Sequence[Wanted], *, normalizer: Plain) -> Outcome:
    """Write the masks to ``attributes``: value = mean share of the frame, 0..1; blob = lossless track ``bool[T, H, W]``.

    Args:
        executor: who does the work.
        wanted: each mask once; the blob is ``uint8[T, H, W]``, the variant the value of the object; of None
            or a name, whatever is not 0 counts.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave the clips their size.
    """
    return fitting.fit(
        executor, wanted, step=OBJECT_MASKS, version=VERSION, function=fit_one, attribute=attribute_name, normalizer=normalizer
    )


def fit_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """One mask.

    A pixel belongs to the object where the object covers at least half of it, by the filter that scales the frames.

    Raises:
        Rejected: too few masks, masks of another shape than the frames, or nothing or everything of the clip is the object.
    """
    clip, number = Clip(**payload["clip"]), payload["variant"] if isinstance(payload["variant"], int) else None
    levels = video.read_levels(blobs.proved(payload["blob"]))
    if len(levels) < clip.end_frame:
        raise Rejected(f"has {len(levels)} masks, but the clip shows frames up to {clip.end_frame}")
    leaf = normalizer_of(parameters)
    inside = (levels == number) if number is not None else (levels > 0)
    mask = np.stack([fitted(plane, leaf) for plane in inside[clip.start_frame : clip.end_frame]])
    if mask.shape[1:] != (clip.height, clip.width):
        raise Rejected(
            f"has masks of another shape: they become {mask.shape[2]}x{mask.shape[1]}, the clip is {clip.width}x{clip.height}"
        )
    if not mask.any() or mask.all():
        raise Rejected(f"its object covers {'all' if mask.any() else 'nothing'} of the clip, once scaled and cropped")
    blob, _ = blobs.put(video.suffix_for(clip.frames), partial(video.write_hole, hole=mask, fps=clip.fps))
    return [Attribute(clip.clip_id, attribute_name(payload["variant"]), float(mask.mean()), None, OBJECT_MASKS, VERSION, blob)]


def fitted(inside: Hole, leaf: Normalizer) -> Hole:
    """A mask ``bool[H, W]`` scaled and cropped as frames are, by the filter that scales these."""
    white = np.repeat((inside.astype(np.uint8) * 255)[..., None], 3, axis=2)
    made: Hole = leaf.apply(white, pixel_aspect=1.0)[..., 0] > 127
    return made
