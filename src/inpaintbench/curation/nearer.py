"""Clips from nearer: a square window around an object, out of films with pixels to spare.

The object covers two to four times the share of the frame, and nothing is enlarged. What else is in the window is as much larger,
and moves as much farther in a frame; what is around it is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import NamedTuple

import numpy as np

from inpaintbench import video
from inpaintbench.curation.fitting import fitted
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.errors import Rejected
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.steps import AXIS_CLIPS
from inpaintbench.types import Clip, Hole, Plain, content_id
from inpaintbench.workspace import Blobs

VERSION = "1"
# How much larger than the clips the frames are that windows are cut from.
ZOOM = 2


class Wanted(NamedTuple):
    """A clip that is wanted from nearer."""

    clip: Clip
    large: Clip
    """The same frames, ``ZOOM`` times as large."""
    mask: str
    """Blob of the object there, ``bool[T, H, W]``."""
    name: str
    """Display name of the clip."""


def film(executor: Executor, wanted: Sequence[Wanted], *, step: str) -> Outcome:
    """Write the clips from nearer to the table ``axis_clips``; a clip whose object does not stay in a window is refused."""
    made = Step(
        name=f"{AXIS_CLIPS}.{step}", version=VERSION, table=AXIS_CLIPS, record=Clip, function=f"{__name__}:film_one",
        parameters={"zoom": ZOOM},
    )  # fmt: skip
    tasks = [
        Task(
            clip_id_of(one.clip, one.mask), content_id(one.large.rgb_sha256, one.mask),
            {"clip": asdict(one.clip), "large": asdict(one.large), "mask": one.mask}, one.name,
        )
        for one in wanted
    ]  # fmt: skip
    return executor.run(made, list({task.subject_id: task for task in tasks}.values()))


def clip_id_of(clip: Clip, mask: str) -> str:
    """Id of the clip around the object of ``mask``, the name of its blob."""
    return content_id(clip.clip_id, AXIS_CLIPS, "nearer", VERSION, ZOOM, mask)


def film_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Clip]:  # noqa: ARG001 - step signature
    """One clip, stored without loss.

    Raises:
        Rejected: its object does not stay in a window.
    """
    clip, large = Clip(**payload["clip"]), Clip(**payload["large"])
    rows, columns = window(video.read_hole(blobs.proved(payload["mask"])))
    leaf = Cover(width=clip.width, height=clip.height)
    seen = video.read_frames(blobs.proved(large.blob))[:, rows, columns]
    frames = np.stack([leaf.apply(frame, pixel_aspect=1.0) for frame in seen])
    write = partial(video.write_clip, frames=frames, fps=clip.fps, form="lossless")
    blob, encoded = blobs.put(video.suffix_for(len(frames)), write)
    return [
        Clip(
            clip_id=clip_id_of(clip, payload["mask"]), source_id=clip.source_id, start_frame=clip.start_frame,
            end_frame=clip.end_frame, fps=clip.fps, width=encoded.width, height=encoded.height, frames=len(frames), blob=blob,
            yuv_sha256=encoded.yuv_sha256, rgb_sha256=encoded.rgb_sha256, encode_crf=encoded.crf,
            encode_psnr_db=encoded.psnr_db, encoder=encoded.encoder,
        )
    ]  # fmt: skip


def mask_of(mask: Hole) -> Hole:
    """The mask of the object in the clip from nearer, of that in the large frames, both ``bool[T, H, W]``."""
    side = mask.shape[1] // ZOOM
    rows, columns = window(mask)
    return np.stack([fitted(plane, Cover(width=side, height=side)) for plane in mask[:, rows, columns]])


def window(mask: Hole) -> tuple[slice, slice]:
    """Rows and columns of the least square window, of half the side at least, with the object in its middle, as far as frames go.

    Args:
        mask: of the object in square frames, ``bool[T, H, H]``.

    Raises:
        Rejected: the object is so large, or moves so far, that in no window it covers twice the share.
    """
    side, union = mask.shape[1], np.asarray(mask.any(axis=0))
    ends = [(int(places[0]), int(places[-1]) + 1) for places in (np.flatnonzero(union.any(axis=axis)) for axis in (1, 0))]
    least = max(side // ZOOM, *(end - begin for begin, end in ends))
    if 2 * least**2 > side**2:
        raise Rejected("its object does not stay within half of the area of the frame, so it cannot be shown from nearer")
    begins = (min(max((begin + end - least) // 2, 0), side - least) for begin, end in ends)
    rows, columns = (slice(begin, begin + least) for begin in begins)
    return rows, columns
