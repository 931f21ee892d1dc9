"""Parts of sources, such as masks and films, brought to their clips: the same span of frames, the same scaling and cropping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.footage import without_name
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.errors import Rejected
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.steps import OBJECT_MASKS, PAIRED_INPUTS
from inpaintbench.types import Attribute, Clip, Hole, Plain, content_id
from inpaintbench.workspace import Blobs

MASKS_VERSION = INPUTS_VERSION = "1"


@dataclass(frozen=True)
class Wanted:
    """A part to make."""

    clip: Clip
    blob: str
    """Blob name of the part of its source."""
    variant: str | int | None
    """Tells the parts of a clip apart that one step makes."""
    name: str
    """Display name of the clip."""


def _fit(
    executor: Executor, wanted: Sequence[Wanted], step: str, version: str, *, function: Callable[..., Any],
    attribute: Callable[[Any], str], normalizer: Plain,
) -> Outcome:  # fmt: skip
    """Write the parts to ``attributes``, each made by ``function`` of its clip, blob and variant, and called by ``attribute``."""
    leaf = [normalizer["name"], NORMALIZERS.get(normalizer["name"]).version, without_name(normalizer)]
    made = Step(
        name=step, version=version, table="attributes", record=Attribute,
        function=f"{function.__module__}:{function.__name__}", parameters={"normalizer": leaf},
    )  # fmt: skip
    tasks = [
        Task(
            f"{one.clip.clip_id}:{attribute(one.variant)}", content_id(one.clip.clip_id, one.blob, one.variant),
            {"clip": asdict(one.clip), "blob": one.blob, "variant": one.variant}, one.name,
        )
        for one in wanted
    ]  # fmt: skip
    return executor.run(made, tasks)


def _normalizer_of(parameters: Mapping[str, Any]) -> Normalizer:
    name, _, constants = parameters["normalizer"]
    leaf: Normalizer = NORMALIZERS.get(name)(**constants)
    return leaf


def mask_name(number: int | str | None) -> str:
    """The attribute of a clip whose blob is the mask of an object or a part, and whose value is the object's share."""
    return "object_fraction" if number is None else f"object_fraction.{number}"


def fit_masks(executor: Executor, wanted: Sequence[Wanted], *, normalizer: Plain, step: str = OBJECT_MASKS) -> Outcome:
    """Write masks to ``attributes``: value = mean share of the frame, 0..1; blob = lossless track ``bool[T, H, W]``.

    Args:
        executor: who does the work.
        wanted: each mask once; the blob is ``uint8[T, H, W]``, the variant the value of the object; of None
            or a name, whatever is not 0 counts.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave the clips their size.
        step: its name.
    """
    return _fit(executor, wanted, step, MASKS_VERSION, function=fit_mask, attribute=mask_name, normalizer=normalizer)


def fit_mask(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """One mask.

    A pixel belongs to the object where the object covers at least half of it, by the filter that scales the frames.

    Raises:
        Rejected: too few masks, masks of another shape than the frames, or nothing or everything of the clip is the object.
    """
    clip, number = Clip(**payload["clip"]), payload["variant"] if isinstance(payload["variant"], int) else None
    levels = video.read_levels(blobs.proved(payload["blob"]))
    if len(levels) < clip.end_frame:
        raise Rejected(f"has {len(levels)} masks, but the clip shows frames up to {clip.end_frame}")
    leaf = _normalizer_of(parameters)
    inside = (levels == number) if number is not None else (levels > 0)
    mask = np.stack([fitted(plane, leaf) for plane in inside[clip.start_frame : clip.end_frame]])
    if mask.shape[1:] != (clip.height, clip.width):
        raise Rejected(
            f"has masks of another shape: they become {mask.shape[2]}x{mask.shape[1]}, the clip is {clip.width}x{clip.height}"
        )
    if not mask.any() or mask.all():
        raise Rejected(f"its object covers {'all' if mask.any() else 'nothing'} of the clip, once scaled and cropped")
    blob, _ = blobs.put(video.suffix_for(clip.frames), partial(video.write_hole, hole=mask, fps=clip.fps))
    share = float(mask.mean())
    return [Attribute(clip.clip_id, mask_name(payload["variant"]), share, None, OBJECT_MASKS, MASKS_VERSION, blob)]


def fitted(inside: Hole, leaf: Normalizer) -> Hole:
    """A mask ``bool[H, W]`` scaled and cropped as frames are, by the filter that scales these."""
    white = np.repeat((inside.astype(np.uint8) * 255)[..., None], 3, axis=2)
    made: Hole = leaf.apply(white, pixel_aspect=1.0)[..., 0] > 127
    return made


def input_name(variant: str) -> str:
    """The attribute of a clip whose blob is the input ``variant`` and whose value is the hash of its RGB frames."""
    return f"input.{variant}"


def fit_inputs(executor: Executor, wanted: Sequence[Wanted], *, normalizer: Plain) -> Outcome:
    """Write films of the same span, with an object in them, to ``attributes``: value = SHA-256 of the RGB frames; blob = the
    frames, without loss.

    Args:
        executor: who does the work.
        wanted: each input once; the blob is the film with the object.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave the clips their size.
    """
    return _fit(executor, wanted, PAIRED_INPUTS, INPUTS_VERSION, function=fit_input, attribute=input_name, normalizer=normalizer)


def fit_input(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """One input.

    Raises:
        Rejected: fewer frames than the clip shows, or frames of another shape.
    """
    clip, leaf, path = Clip(**payload["clip"]), _normalizer_of(parameters), str(blobs.proved(payload["blob"]))

    def frames() -> Iterator[npt.NDArray[np.uint8]]:
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

    write = partial(video.write_clip, frames=frames(), fps=clip.fps, form="lossless")
    blob, encoded = blobs.put(video.suffix_for(clip.frames), write)
    name = input_name(payload["variant"])
    return [Attribute(clip.clip_id, name, encoded.rgb_sha256, None, PAIRED_INPUTS, INPUTS_VERSION, blob)]
