"""Steps that render corruptions (holes, overlays, degradations) for clips and measure them, in worker processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from inpaintbench import regions, video
from inpaintbench.errors import InputError, MaskShapeError, Rejected
from inpaintbench.executors.base import Executor, Outcome, Step, Tasks
from inpaintbench.lazily import lazily
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.measure import REFERENCE_FRAMES, REFERENCE_SIZE, measure, measured_labels, within_intervals
from inpaintbench.steps import MEASURED_MASKS
from inpaintbench.tables import flat, last_places, texts
from inpaintbench.types import (
    Attribute,
    Clip,
    Corruption,
    Hole,
    Joint,
    Plain,
    TextEvent,
    canonical_json,
    content_id,
    item_rng,
    stated,
)
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs

pc = lazily("pyarrow.compute")

# Part of every corruption's id: a change renders and measures everything anew.
VERSION = "2"
# Shape of the holes that `measure.EXPECTED_INTERVALS` are for.
PUBLISHED_SHAPE = (REFERENCE_FRAMES, REFERENCE_SIZE[1], REFERENCE_SIZE[0])
# Parts of a view that are lists of records -> type of the record.
_FROM_DATA: Mapping[str, type] = {"joints": Joint, "timed_text": TextEvent}


@dataclass(frozen=True)
class MaskRequest:
    """Request for one corruption: clip, generator and its parameters."""

    clip: Clip
    generator: str
    parameters: Plain
    seed: int
    draw: str = ""
    """Name of the random stream, besides seed and parameters; empty = equal parameters give equal holes for every clip."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Part of the view that the generator needs -> blob name of the JSON or picture."""
    parent_id: str | None = None
    """Corruption that this one is applied on top of: the hole excludes the parent's."""
    parent_hole: str | None = None
    """Blob name of the parent's hole."""
    where: Plain = field(default_factory=dict)
    """Parameters that are paths of this machine: passed to the generator, kept out of ids and tables."""
    name: str = ""
    """Name of the clip in messages."""
    input_form: str = "lossless"
    """One of ``video.CLIP_FORMS``, for corruptions that paint over pixels."""

    @property
    def corruption_id(self) -> str:
        """Id derived from everything that determines the hole."""
        return corruption_id(
            self.clip.clip_id, self.generator, self.parameters, self.seed, draw=self.draw, data=self.data,
            parent_id=self.parent_id, input_form=self.input_form,
        )  # fmt: skip


def corruption_id(
    clip_id: str, generator: str, parameters: Plain, seed: int, *, draw: str = "", data: Mapping[str, str] = MappingProxyType({}),
    parent_id: str | None = None, input_form: str = "lossless",
) -> str:  # fmt: skip
    """Return the id of what a ``MaskRequest`` with these fields asks for."""
    version = GENERATORS.get(generator).version
    more = [draw, dict(data), parent_id, input_form]
    return content_id(clip_id, generator, version, dict(parameters), seed, *more, VERSION)


def render(executor: Executor, requests: Sequence[MaskRequest], *, name: str = "render", ids: pa.Array | None = None) -> Outcome:
    """Render every distinct request into the table ``corruptions``, in order of id.

    Args:
        executor: runs the tasks.
        requests: corruptions to render.
        name: of the step; unique for each round of corruptions of a recipe.
        ids: their corruption ids, ``string[n]``, where ``requests`` makes millions of them when they are asked for, none of
            which has a name.

    Raises:
        UnknownNameError: no such generator.
    """
    lazy = ids is not None
    ids = ids if lazy else texts(request.corruption_id for request in requests)
    wanted = pc.unique(ids)
    wanted = wanted.take(pc.sort_indices(wanted))
    places = last_places(ids, wanted)
    step = Step(name=name, version=VERSION, table="corruptions", record=Corruption, function=f"{__name__}:render_one")
    names = None if lazy else texts(requests[place].name for place in places.tolist())
    return executor.run(step, Tasks(wanted, wanted, lambda place: {"request": asdict(requests[int(places[place])])}, names))


def render_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Corruption]:  # noqa: ARG001 - step signature
    """Generate one corruption, check it, and store its tracks losslessly.

    Raises:
        Rejected: the hole is empty, or covers all of the clip.
        MaskShapeError: the hole does not fit the clip.
    """
    fields = payload["request"]
    request = MaskRequest(**(fields | {"clip": Clip(**fields["clip"])}))
    clip, suffix = request.clip, video.suffix_for(request.clip.frames)
    size = {"frames": clip.frames, "height": clip.height, "width": clip.width}
    parts: dict[str, Any] = {part: _part(part, blobs.proved(name)) for part, name in request.data.items()}
    if request.parent_hole:
        parts["first_hole"] = video.read_hole(blobs.proved(request.parent_hole))
    drawn = generate(
        request.generator,
        request.parameters,
        where=request.where,
        seed=request.seed,
        draw=request.draw,
        fps=clip.fps,
        parts=parts,
        **size,
    )
    corruption = Corruption(
        corruption_id=request.corruption_id,
        clip_id=clip.clip_id,
        generator=request.generator,
        parameters=dict(request.parameters),
        seed=request.seed,
        parent_id=request.parent_id,
        hole=None,
        hole_sha256=None,
        facts=dict(drawn.facts),
    )
    shown = None
    if drawn.hole is None:
        shown = drawn.input
        if shown is None:
            raise ValueError(f"generator {request.generator!r} gave neither a hole nor an input")
        if shown.shape != (shape := (clip.frames, clip.height, clip.width, 3)):
            raise MaskShapeError(f"input {shown.shape} != clip {clip.clip_id!r} {shape}")
    else:
        hole = _checked(drawn.hole, request, blobs)
        blob, _ = blobs.put(suffix, partial(video.write_hole, hole=hole, fps=clip.fps))
        corruption = replace(corruption, hole=blob, hole_sha256=hole_sha256(hole))
    if drawn.hole is not None and drawn.alpha is not None:
        from inpaintbench.masks.overlays.raster import over

        if drawn.colour is None:
            raise ValueError(f"generator {request.generator!r} gave an opacity without colours")
        opacity, _ = blobs.put(suffix, partial(video.write_levels, levels=drawn.alpha, fps=clip.fps))
        corruption = replace(corruption, alpha=opacity)
        shown = over(video.read_frames(blobs.proved(clip.blob)), drawn.alpha, drawn.colour)
    if shown is not None:  # what methods see is more than the truth with its hole filled
        write = partial(video.write_clip, frames=shown, fps=clip.fps, form=request.input_form)
        blob, encoded = blobs.put(suffix, write)
        corruption = replace(corruption, input=blob, input_sha256=encoded.rgb_sha256)
    return [corruption]


def _part(part: str, path: Path) -> Any:
    if part == "object_mask":
        return video.read_hole(path)
    if video.is_image(path):
        return video.read_frames(path)
    data = json.loads(path.read_bytes())
    return tuple(_FROM_DATA[part](**row) for row in data) if part in _FROM_DATA else data


def _checked(hole: Hole, request: MaskRequest, blobs: Blobs) -> Hole:
    clip = request.clip
    regions.check_shape(hole, frames=clip.frames, height=clip.height, width=clip.width, subject=clip.clip_id)
    if request.parent_hole:
        hole = hole & ~video.read_hole(blobs.proved(request.parent_hole))
    if not hole.any():
        raise Rejected("the hole is empty: nothing is missing")
    if hole.all():
        raise Rejected("the hole covers all frames: nothing is known")
    return hole


def generate(
    generator: str,
    parameters: Plain,
    *,
    seed: int,
    frames: int,
    height: int,
    width: int,
    fps: float = 30.0,
    draw: str = "",
    parts: Mapping[str, Any] = MappingProxyType({}),
    where: Plain = MappingProxyType({}),
) -> Drawn:
    """Draw one corruption with a generator; its hole is ``bool[frames, height, width]``.

    The random stream is keyed by seed, generator, parameters and ``draw``, so without ``draw`` equal parameters give equal holes
    for every clip. No random number depends on parameters that the leaf names in ``same_draw`` (a mask in reverse is the same
    mask played backwards), nor on those in ``where``, paths of this machine.

    Raises:
        UnknownNameError: no such generator.
        InputError: the generator does not take these parameters.
        Rejected: no hole for this clip.
    """
    leaf = build(generator, {**parameters, **where})
    keyed = {name: value for name, value in parameters.items() if name not in leaf.same_draw}
    stream = [keyed, draw] if draw else [keyed]
    rng = item_rng(seed, f"masks.{generator}", content_id(*stream))
    loaders = {part: partial(parts.__getitem__, part) for part in parts}
    view = ItemView(item_id=draw, frames=frames, height=height, width=width, fps=fps, parts=loaders)
    drawn: Drawn = leaf.generate(view.declaring(generator, leaf.needs), rng)
    return drawn


def build(generator: str, parameters: Plain) -> Any:
    """Build a generator leaf with its parameters.

    Raises:
        UnknownNameError: no such generator.
        InputError: the generator does not take these parameters.
    """
    leaf = GENERATORS.get(generator)
    try:
        return leaf(**parameters)
    except TypeError as error:
        raise InputError(f"mask generator {generator!r} cannot be built with {dict(parameters)}: {error}") from error


def hole_sha256(hole: Hole) -> str:
    """SHA-256 of the hole's ``bool[T, H, W]`` bytes."""
    return hashlib.sha256(hole.tobytes()).hexdigest()


def measure_all(executor: Executor, corruptions: Outcome, *, name: str = MEASURED_MASKS) -> Outcome:
    """Measure every corruption that ``render`` made into the table ``attributes``, subject = corruption id."""
    step = Step(name=name, version=VERSION, table="attributes", record=Attribute, function=f"{__name__}:measure_one")
    rows = corruptions.one_by_one("corruption_id", "hole", "generator", "parameters", "facts")

    def payload(place: int) -> dict[str, Any]:
        row = rows(place)
        preset = json.loads(row["parameters"]).get("preset") if row["generator"] == "devil_blobs" else None
        return {"corruption_id": row["corruption_id"], "hole": row["hole"], "preset": preset, "facts": json.loads(row["facts"])}

    contents = texts(
        content_id(sha256, json.loads(facts))
        for batch in corruptions.batches("hole_sha256", "facts")
        for sha256, facts in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    return executor.run(step, Tasks(flat(corruptions.columns("corruption_id")["corruption_id"]), contents, payload))


def measure_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:  # noqa: ARG001 - step signature
    """Rows for each measurement, ``hole.<measurement>``, and each fact of the generator, ``mask.<fact>``.

    Without a hole there are only the facts, ``degradation.<fact>``.

    Masks of a preset with labels get a row for each measured label, ``<label>_level_measured``.
    """
    subject, facts = payload["corruption_id"], payload["facts"]
    if payload["hole"] is None:
        return [_row(subject, f"degradation.{name}", _plain(value)) for name, value in facts.items()]
    hole = video.read_hole(blobs.proved(payload["hole"]))
    measured = measure(hole)
    values = {name: value for name, value in asdict(measured).items() if name not in ("frames", "reasons")}
    rows: list[tuple[str, float | str | None, str | None]]
    rows = [
        (f"hole.{name}", None if value is None else float(value), measured.reasons.get(name)) for name, value in values.items()
    ]
    rows += [(f"mask.{name}", _plain(value), None) for name, value in facts.items()]
    if payload["preset"]:
        labels = measured_labels(measured, width=hole.shape[2], height=hole.shape[1])
        rows += [(f"{name}_level_measured", level, None if level else "not measurable") for name, level in labels.items()]
        if hole.shape == PUBLISHED_SHAPE:
            rows.append(("within_published_intervals", "yes" if within_intervals(measured, payload["preset"]) else "no", None))
    return [_row(subject, name, value, reason) for name, value, reason in rows]


def _row(subject: str, name: str, value: float | str | None, reason: str | None = None) -> Attribute:
    return Attribute(subject, name, value, reason, "masks.measure", VERSION)


def _plain(value: Any) -> float | str:
    """Fact as a number or a text; lists as JSON."""
    if isinstance(value, str):
        return value
    return float(value) if isinstance(value, int | float) else canonical_json(stated(value))
