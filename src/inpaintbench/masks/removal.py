"""Objects to be removed: what they change around them, how strongly, and how much of what they hide another frame shows.

Where input and truth were rendered, a pixel outside the object is its side effect if any of its channels differs. Two films of a
real place differ everywhere, by noise, coding and light; there a difference counts that is well above what is found far away
from the object, and where even that is large nothing is said of side effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import regions, video
from inpaintbench.errors import MaskShapeError, Rejected
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.lazily import lazily
from inpaintbench.masks.render import hole_sha256
from inpaintbench.types import UNPAIRED, Clip, Corruption, Frames, Hole, Plain, content_id
from inpaintbench.workspace import Blobs

cv2 = lazily("cv2")

# `Corruption.generator` of items whose truth is known.
REMOVAL = "removal"
STEP = "removal"
VERSION = "1"
# Of real pairs: distance from the object's box beyond which nothing is its effect; how far above the differences there one has to
# be; and from where on, in levels and dB, such differences say nothing.
FAR_PIXELS, FACTOR, PERCENTILE = 32, 3.0, 99.0
MOST_LEVELS, FEWEST_DECIBELS = 12.0, 35.0


@dataclass(frozen=True)
class Pair:
    """One input of a clip, to be made an item of."""

    clip: Clip
    object_mask: str
    """Blob name of the mask of the object, ``bool[T, H, W]``."""
    input: str | None
    """Blob name of the film with the object; None where the clip itself shows it, and nobody has the truth."""
    input_sha256: str
    exact: bool
    """Whether input and truth are equal wherever the object changes nothing."""
    said: Plain
    """What is known of it: kind, level and strength of side effects."""
    homographies: Sequence[Sequence[Sequence[float]]] | None = None
    """``[T, 3, 3]``: pixels (x, y) of each frame to those of the scene; None where the camera or the scene is not known."""
    name: str = ""
    """Display name of the clip."""
    more: Plain = field(default_factory=dict)
    """Further facts."""
    effect_mask: str | None = None
    """Blob name of the mask of the object and its side effects, where a data set has one."""


def pair(executor: Executor, pairs: Sequence[Pair]) -> Outcome:
    """Write a corruption for each pair, in order of id, with ``effect_mask`` where it can be known."""
    step = Step(name=STEP, version=VERSION, table="corruptions", record=Corruption, function=f"{__name__}:pair_one")
    tasks = sorted(
        (Task(corruption_id(one), corruption_id(one), {"pair": asdict(one)}, one.name) for one in pairs),
        key=lambda task: task.subject_id,
    )
    return executor.run(step, tasks)


def corruption_id(one: Pair) -> str:
    """Id derived from everything that determines the item but its clip's pixels, which its clip's id stands for."""
    said = [dict(one.said), dict(one.more), one.exact, one.homographies, *filter(None, [one.effect_mask])]
    return content_id(one.clip.clip_id, REMOVAL, VERSION, one.object_mask, one.input_sha256, *said)


def pair_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Corruption]:  # noqa: ARG001 - step signature
    """One corruption: the hole is the object.

    Raises:
        Rejected: the object is nowhere, or in all pixels.
        MaskShapeError: the mask does not fit the clip.
    """
    given = payload["pair"]
    one = Pair(**{**given, "clip": Clip(**given["clip"])})
    clip, thing = one.clip, video.read_hole(blobs.proved(one.object_mask))
    if thing.shape != (shape := (clip.frames, clip.height, clip.width)):
        raise MaskShapeError(f"object mask {thing.shape} != clip {shape}")
    if not thing.any() or thing.all():
        raise Rejected(f"its object is in {'all pixels' if thing.any() else 'no pixel'} of the clip")
    sha256 = hole_sha256(thing)
    made = Corruption(
        corruption_id=corruption_id(one), clip_id=clip.clip_id, generator=REMOVAL if one.input else UNPAIRED,
        parameters=dict(one.said), seed=0, parent_id=None, hole=one.object_mask, hole_sha256=sha256,
        input=one.input or clip.blob, input_sha256=one.input_sha256, object_mask=one.object_mask, object_mask_sha256=sha256,
        facts={"empty_frames": int((~thing.any(axis=(1, 2))).sum()), **one.more},
    )  # fmt: skip
    if one.input is None:
        return [made if one.effect_mask is None else _with_stated_effect(made, one, thing, blobs)]
    return [_with_effect(made, one, thing, blobs)]


def _with_stated_effect(made: Corruption, one: Pair, thing: Hole, blobs: Blobs) -> Corruption:
    """An item without a truth whose data set says what the object changes."""
    effect = video.read_hole(blobs.proved(str(one.effect_mask))) & ~thing
    blob, _ = blobs.put(video.suffix_for(len(effect)), partial(video.write_hole, hole=effect, fps=one.clip.fps))
    facts = {**made.facts, "effect_known": "given", "effect_fraction": float(effect.mean())}
    return replace(made, effect_mask=blob, effect_mask_sha256=hole_sha256(effect), facts=facts)


def _with_effect(made: Corruption, one: Pair, thing: Hole, blobs: Blobs) -> Corruption:
    truth, shown = (video.read_frames(blobs.proved(str(name))) for name in (one.clip.blob, one.input))
    difference = largest_difference(shown, truth)
    effect, reason = (difference >= 1) & ~thing, None
    if one.effect_mask is not None:
        effect = video.read_hole(blobs.proved(one.effect_mask)) & ~thing
    elif not one.exact:
        effect, reason = derived_effect(difference, thing, shown=shown, truth=truth)
    facts: dict[str, Any] = {"effect_known": "exactly" if one.exact else reason or ("given" if one.effect_mask else "derived")}
    if reason is None:
        facts |= {"effect_fraction": float(effect.mean()), "effect_levels": mean_levels(shown, truth, effect)}
        blob, _ = blobs.put(video.suffix_for(len(effect)), partial(video.write_hole, hole=effect, fps=one.clip.fps))
        made = replace(made, effect_mask=blob, effect_mask_sha256=hole_sha256(effect))
    if one.homographies is not None:
        facts["seen_elsewhere"] = seen_elsewhere(thing, thing | effect, np.array(one.homographies))
    return replace(made, facts={**made.facts, **{name: value for name, value in facts.items() if value is not None}})


def shown(executor: Executor, holes: Sequence[Corruption], clips: Mapping[str, Clip]) -> Outcome:
    """Write a corruption for each of ``holes`` whose input is stored, black where the hole is, so that another mask may be given.

    What the new one leaves out of the hole is then seen as missing, not as the truth. The hole is the object mask too.
    """
    step = Step(name="shown", version=VERSION, table="corruptions", record=Corruption, function=f"{__name__}:show_one")
    tasks = []
    for row in sorted(holes, key=lambda row: row.corruption_id):
        payload = {"hole": asdict(row), "clip": asdict(clips[row.clip_id])}
        tasks.append(Task(row.corruption_id, content_id(row.corruption_id, row.hole_sha256), payload))
    return executor.run(step, tasks)


def show_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Corruption]:  # noqa: ARG001 - step signature
    """The corruption with its input, without loss."""
    row, clip = Corruption(**payload["hole"]), Clip(**payload["clip"])
    hole = video.read_hole(blobs.proved(str(row.hole)))
    frames = video.read_frames(blobs.proved(clip.blob))
    frames[hole] = 0
    blob, encoded = blobs.put(
        video.suffix_for(clip.frames), partial(video.write_clip, frames=frames, fps=clip.fps, form="lossless")
    )
    return [
        replace(
            row,
            corruption_id=content_id(row.corruption_id, "shown", VERSION),
            input=blob,
            input_sha256=encoded.rgb_sha256,
            object_mask=row.hole,
            object_mask_sha256=row.hole_sha256,
            parameters={**row.parameters, "parent": row.corruption_id},
        )
    ]


def largest_difference(one: Frames, other: Frames) -> npt.NDArray[np.uint8]:
    """The largest difference of a channel at each pixel, ``uint8[T, H, W]`` levels."""
    return np.stack([cv2.absdiff(frame, before).max(axis=2) for frame, before in zip(one, other, strict=True)])


def mean_levels(one: Frames, other: Frames, where: Hole) -> float | None:
    """Mean difference of the levels of all channels over the pixels ``where``; None without any."""
    count = int(where.sum())
    if not count:
        return None
    pairs = zip(one, other, where, strict=True)
    return sum(float(cv2.norm(frame, before, cv2.NORM_L1, mask.view(np.uint8))) for frame, before, mask in pairs) / (3 * count)


def derived_effect(
    difference: npt.NDArray[np.uint8], thing: Hole, *, shown: Frames, truth: Frames
) -> tuple[Hole, str | None]:  # fmt: skip
    """The side effects of an object in two films of a real place, ``bool[T, H, W]``, and why they say nothing, or None.

    Args:
        difference: of ``largest_difference``.
        thing: the object.
        shown: the film with it, ``uint8[T, H, W, 3]``.
        truth: the film without it.
    """
    far = ~_grown_boxes(thing, FAR_PIXELS)
    if not far.any():
        return np.zeros_like(thing), f"no pixel is farther than {FAR_PIXELS} from the object's box"
    limit = FACTOR * float(np.percentile(difference[far], PERCENTILE))
    if limit > MOST_LEVELS:
        return np.zeros_like(thing), f"input and truth differ by {limit / FACTOR:g} levels far from the object"
    square = np.ones((3, 3), np.uint8)
    above = (difference > limit) & ~thing
    effect = np.stack([cv2.morphologyEx(frame.view(np.uint8), cv2.MORPH_OPEN, square) for frame in above]).view(np.bool_)
    rest = regions.select(thing, "rest", band_radius=1, object_mask=thing, effect_mask=effect)
    if rest.any():
        errors = sum(
            float(cv2.norm(one, other, cv2.NORM_L2SQR, mask.view(np.uint8)))
            for one, other, mask in zip(shown, truth, rest, strict=True)
        )
        decibels = 10 * np.log10(255**2 * 3 * rest.sum() / errors) if errors else np.inf
        if decibels < FEWEST_DECIBELS:
            return np.zeros_like(thing), f"input and truth are {decibels:.1f} dB apart where nothing of the object is"
    return effect, None


def _grown_boxes(thing: Hole, reach: int) -> Hole:
    """The box of the object in each frame, grown on all sides."""
    boxes = np.zeros_like(thing)
    for grown, frame in zip(boxes, thing, strict=True):
        if box := regions.box_of(frame):
            grown[tuple(slice(max(0, side.start - reach), side.stop + reach) for side in box)] = True
    return boxes


def seen_elsewhere(hole: Hole, changed: Hole, homographies: npt.NDArray[np.float64]) -> float | None:
    """Share of hole pixels whose point of the scene another frame shows unchanged, 0..1; None without hole pixels.

    Args:
        hole: ``bool[T, H, W]``.
        changed: pixels that do not show the scene as it is: object and side effects.
        homographies: pixels (x, y) of each frame to those of the scene, ``float64[T, 3, 3]``, the last row (0, 0, 1).
    """
    height, width = hole.shape[1:]
    seen = total = 0
    inverse = np.linalg.inv(homographies)
    for index, frame in enumerate(hole):
        y, x = np.nonzero(frame)
        total += len(x)
        points = np.stack([x, y, np.ones(len(x))]).astype(np.float64)
        # The farthest frames first: they show most, and what was seen once need not be looked for again.
        for other in sorted(range(len(hole)), key=lambda one: -abs(one - index)):
            if other == index or not points.shape[1]:
                continue
            across, down = np.rint((inverse[other] @ homographies[index])[:2] @ points).astype(np.int64)
            inside = (across >= 0) & (across < width) & (down >= 0) & (down < height)
            there = inside.copy()
            there[inside] = ~changed[other, down[inside], across[inside]]
            seen += int(there.sum())
            points = points[:, ~there]
    return seen / total if total else None
