"""Films of the same span with an object in them, brought to their clips: the same frames, the same scaling and cropping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation import fitting
from inpaintbench.curation.fitting import Wanted, normalizer_of
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.errors import Rejected
from inpaintbench.executors.base import Executor, Outcome
from inpaintbench.steps import PAIRED_INPUTS
from inpaintbench.types import Attribute, Clip, Plain
from inpaintbench.workspace import Blobs

NAME = "input"
VERSION = "1"


def attribute_name(variant: str) -> str:
    """The attribute of a clip whose blob is the input ``variant`` and whose value is the hash of its RGB frames."""
    return f"{NAME}.{variant}"


def fit(executor: Executor, wanted: Sequence[Wanted], *, normalizer: Plain) -> Outcome:
    """Write the inputs to ``attributes``: value = SHA-256 of the RGB frames; blob = the frames, without loss.

    Args:
        executor: who does the work.
        wanted: each input once; the blob is the film with the object.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave the clips their size.
    """
    return fitting.fit(
        executor, wanted, step=PAIRED_INPUTS, version=VERSION, function=fit_one, attribute=attribute_name, normalizer=normalizer
    )


def fit_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """One input.

    Raises:
        Rejected: fewer frames than the clip shows, or frames of another shape.
    """
    clip = Clip(**payload["clip"])
    frames = _frames(str(blobs.proved(payload["blob"])), clip, normalizer_of(parameters))
    blob, encoded = blobs.put(
        video.suffix_for(clip.frames), partial(video.write_clip, frames=frames, fps=clip.fps, form="lossless")
    )
    return [Attribute(clip.clip_id, attribute_name(payload["variant"]), encoded.rgb_sha256, None, PAIRED_INPUTS, VERSION, blob)]


def _frames(path: str, clip: Clip, leaf: Normalizer) -> Iterator[npt.NDArray[np.uint8]]:
    count = 0
    for count, (pixels, _) in enumerate(video.upright_frames(path), start=1):
        if not clip.start_frame < count <= clip.end_frame:
            continue
        frame = leaf.apply(pixels, pixel_aspect=1.0)
        if frame.shape[:2] != (clip.height, clip.width):
            raise Rejected(
                f"with and without its object it has other shapes: {frame.shape[1]}x{frame.shape[0]} with it, "
                f"{clip.width}x{clip.height} without"
            )
        yield frame
        if count == clip.end_frame:
            return
    raise Rejected(f"with its object it has {count} frames, without it at least {clip.end_frame}: the two are not one film")
