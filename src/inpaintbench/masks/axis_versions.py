"""Steps that make the versions of items along an axis, in worker processes.

An axis that changes clips has two: new clips, once for all items of a clip, and their holes. The others have the second.
Either all versions of an item can be made or none is: whoever compares levels finds the same clips in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from inpaintbench import regions, video
from inpaintbench.errors import InputError, Rejected
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.frozen import filled
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.base import Axis
from inpaintbench.masks.generators.given import Varied as Generator
from inpaintbench.masks.mask_errors import agreement
from inpaintbench.masks.render import generate, hole_sha256
from inpaintbench.steps import AXIS_CLIPS as TABLE
from inpaintbench.types import Clip, Corruption, Frames, Hole, Plain, content_id, item_rng
from inpaintbench.workspace import Blobs

VERSION = "1"
# `Corruption.generator` of what is made here.
GENERATOR = Generator.name
# Level of missing pixels in inputs that are stored, as in those that are not.
FILL = 0


class Varied(NamedTuple):
    """What ``vary`` made."""

    clips: list[Clip]
    """New clips, of axes that change them; rows of the table ``axis_clips``."""
    corruptions: list[Corruption]
    """In order of the item that they are of, and of levels; ``parameters`` say ``axis``, ``level`` and ``parent``."""
    outcome: Outcome
    """Of the step that made the corruptions, for ``render.measure_all``."""
    refused: list[str]
    """Why items have no versions."""


def vary(
    executor: Executor, axis: str, bases: Sequence[tuple[Clip, Corruption]], *, seed: int, form: str = "lossless",
    names: Mapping[str, str] = MappingProxyType({}),
) -> Varied:  # fmt: skip
    """Make every level of an axis but the one that the unchanged items have.

    Args:
        executor: runs the steps.
        axis: of ``AXES``, but none of presets.
        bases: unchanged items: a clip and its hole, whose input is the truth with the hole filled.
        seed: of what is drawn.
        form: of new clips, one of ``video.CLIP_FORMS``; what loses anything would smooth these clips a second time, and not those
            of the unchanged items.
        names: clip id -> what people call the clip.

    Raises:
        UnknownNameError: no such axis.
        InputError: an axis of presets, or a base whose input is stored.
    """
    leaf = AXES.get(axis)()
    if leaf.changes == "preset":
        raise InputError(f"the axis {axis!r} is one of presets: devil_blobs draws its holes")
    for _, base in bases:
        if base.hole is None or base.input is not None or base.alpha is not None:
            raise InputError(f"the axis {axis!r} takes items whose input is the clip with a hole, not those of {base.generator}")
    shared: dict[str, Any] = {"axis": axis, "axis_version": leaf.version}
    made_of: dict[str, dict[str, Clip]] = {}
    clips: list[Clip] = []
    refused: list[str] = []
    if leaf.changes == "clip":
        step = Step(
            name=f"{TABLE}.{axis}", version=VERSION, table=TABLE, record=Clip, function=f"{__name__}:clips_of",
            parameters={**shared, "form": form},
        )  # fmt: skip
        sources = {clip.clip_id: clip for clip, _ in bases}
        tasks = [
            Task(clip_id, content_id(clip_id, clip.rgb_sha256), {"clip": asdict(clip)}, names.get(clip_id, ""))
            for clip_id, clip in sorted(sources.items())
        ]
        cut = executor.run(step, tasks)
        clips, refused = cut.records, [row.reason for row in cut.rejected]
        by_id = {clip.clip_id: clip for clip in clips}
        for clip_id in sources:
            ids = {level: clip_id_of(clip_id, leaf, level, form) for level in made_levels(leaf)}
            if set(ids.values()) <= set(by_id):
                made_of[clip_id] = {level: by_id[made] for level, made in ids.items()}
        bases = [(clip, base) for clip, base in bases if clip.clip_id in made_of]
    step = Step(
        name=f"{GENERATOR}.{axis}", version=VERSION, table="corruptions", record=Corruption, function=f"{__name__}:versions_of",
        parameters={**shared, "seed": seed, "generator": Generator.version},
    )  # fmt: skip
    tasks = []
    for clip, base in sorted(bases, key=lambda pair: pair[1].corruption_id):
        made = {level: asdict(other) for level, other in made_of.get(clip.clip_id, {}).items()}
        content = content_id(base.hole_sha256, clip.rgb_sha256, {level: other["rgb_sha256"] for level, other in made.items()})
        payload = {"clip": asdict(clip), "base": asdict(base), "clips": made}
        tasks.append(Task(base.corruption_id, content, payload, names.get(clip.clip_id, "")))
    outcome = executor.run(step, tasks)
    return Varied(clips, outcome.records, outcome, [*refused, *(row.reason for row in outcome.rejected)])


def made_levels(axis: Axis) -> tuple[str, ...]:
    """Levels that the unchanged item does not have, in their order."""
    return tuple(level for level in axis.levels if level != axis.base_level)


def clip_id_of(clip_id: str, axis: Axis, level: str, form: str) -> str:
    """Id of the clip that an axis makes of another."""
    return content_id(clip_id, TABLE, VERSION, axis.name, axis.version, level, form)


def clips_of(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Clip]:
    """The clip at every level that is made, encoded.

    Raises:
        Rejected: the axis cannot make one of them.
    """
    leaf, clip = AXES.get(parameters["axis"])(), Clip(**payload["clip"])
    truth = video.read_frames(blobs.proved(clip.blob))
    made = {level: leaf.clip(level, truth, clip.fps) for level in made_levels(leaf)}
    rows = []
    for level, (frames, fps) in ((level, new) for level, new in made.items() if new is not None):
        write = partial(video.write_clip, frames=frames, fps=fps, form=parameters["form"])
        blob, encoded = blobs.put(video.suffix_for(len(frames)), write)
        # The same span in seconds, rounded inwards: neighbouring clips of a film do not come to overlap.
        start = -int(-clip.start_frame * fps // clip.fps)
        row = Clip(
            clip_id=clip_id_of(clip.clip_id, leaf, level, parameters["form"]), source_id=clip.source_id, start_frame=start,
            end_frame=max(start + 1, int(clip.end_frame * fps // clip.fps)), fps=fps, width=encoded.width, height=encoded.height,
            frames=len(frames), blob=blob, yuv_sha256=encoded.yuv_sha256, rgb_sha256=encoded.rgb_sha256, encode_crf=encoded.crf,
            encode_psnr_db=encoded.psnr_db, encoder=encoded.encoder,
        )  # fmt: skip
        rows.append(row)
    return rows


def versions_of(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Corruption]:
    """The corruption of every level that is made of one item.

    Raises:
        Rejected: the axis cannot make one of them.
        MaskShapeError: a hole does not fit its clip.
    """
    leaf, seed = AXES.get(parameters["axis"])(), parameters["seed"]
    clip, base = Clip(**payload["clip"]), Corruption(**payload["base"])
    missing = video.read_hole(blobs.proved(str(base.hole)))
    truth = video.read_frames(blobs.proved(clip.blob)) if leaf.changes == "input" or not leaf.exact else None
    stated = partial(leaf.facts, frames=clip.frames, height=clip.height, width=clip.width)
    rows = []
    for level in made_levels(leaf):
        of = Clip(**payload["clips"][level]) if level in payload["clips"] else clip
        hole = generate(
            GENERATOR, {"axis": leaf.name, "level": level}, seed=seed, frames=of.frames, height=of.height, width=of.width,
            fps=of.fps, draw=base.corruption_id, parts={"object_mask": missing},
        ).hole  # fmt: skip
        assert hole is not None, "an axis makes a hole"
        regions.check_shape(hole, frames=of.frames, height=of.height, width=of.width, subject=of.clip_id)
        if not hole.any() or hole.all():
            raise Rejected("nothing of the hole is left" if not hole.any() else "the hole covers all frames: nothing is known")
        # Versions that show another clip say how it was cut from the film.
        told = {"axis": leaf.name, "level": level, "parent": base.corruption_id}
        told |= {} if of.clip_id == clip.clip_id else {"of_clip": clip.clip_id}
        row = Corruption(
            corruption_id=content_id(
                base.corruption_id, GENERATOR, Generator.version, VERSION, leaf.name, leaf.version, level, seed, of.clip_id
            ),
            clip_id=of.clip_id, generator=GENERATOR, seed=seed, parent_id=None, hole=base.hole, hole_sha256=base.hole_sha256,
            parameters=told,
        )  # fmt: skip
        if hole is not missing:
            blob, _ = blobs.put(video.suffix_for(len(hole)), partial(video.write_hole, hole=hole, fps=of.fps))
            row = replace(row, hole=blob, hole_sha256=hole_sha256(hole))
        facts: dict[str, Any] = {**stated(level), "share_of_frames": float(hole.any(axis=(1, 2)).mean())}
        if not leaf.exact:
            row = replace(row, object_mask=base.hole, object_mask_sha256=base.hole_sha256)
            facts |= agreement(hole, missing)
        shown = None
        if truth is not None:
            shown = input_of(leaf, level, truth, hole, missing, fps=clip.fps, draw=base.corruption_id, seed=seed)
        if truth is not None and shown is not None:
            write = partial(video.write_clip, frames=shown, fps=clip.fps, form="lossless")
            blob, encoded = blobs.put(video.suffix_for(len(shown)), write)
            row = replace(row, input=blob, input_sha256=encoded.rgb_sha256)
            facts["known_psnr_db"] = known_psnr(shown, truth, hole | missing)
        rows.append(replace(row, facts={f"axis_{name}": value for name, value in facts.items() if value is not None}))
    return rows


def input_of(
    leaf: Axis, level: str, truth: Frames, hole: Hole, missing: Hole, *, fps: float, draw: str, seed: int
) -> Frames | None:
    """What methods see, ``uint8[T, H, W, 3]``; None where that is the truth with its hole filled.

    Args:
        leaf: the axis.
        level: of its levels.
        truth: of this version, ``uint8[T, H, W, 3]``.
        hole: that methods are given, ``bool[T, H, W]``; it is filled too.
        missing: what is missing, ``bool[T, H, W]``; another only where the hole is not exact.
        fps: frames a second.
        draw: name of the random stream.
        seed: of it.
    """
    rng = item_rng(seed, f"masks.axes.{leaf.name}", draw)
    shown = leaf.input(level, truth, hole, fps, rng)
    if shown is None and (leaf.exact or not (missing & ~hole).any()):
        return None
    gone = hole if leaf.exact else hole | missing
    return filled(truth if shown is None else shown, gone, fill=FILL)


def known_psnr(shown: Frames, truth: Frames, hidden: Hole) -> float | None:
    """PSNR of the pixels outside ``hidden``, in dB over all channels; None where they are equal, or there are none."""
    squared = count = 0.0
    for one, other, mask in zip(shown, truth, ~hidden, strict=True):
        squared += float(np.square(np.subtract(one[mask], other[mask], dtype=np.float32)).sum(dtype=np.float64))
        count += 3 * int(mask.sum())
    return float(10 * np.log10(255**2 * count / squared)) if squared else None
