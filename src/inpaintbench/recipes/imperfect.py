"""Items once more with masks as detectors give them: the same input and truth, and a hole that is not exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from inpaintbench.catalogue import unknown_name
from inpaintbench.executors.base import Executor
from inpaintbench.masks import render
from inpaintbench.masks.mask_errors import FIXED, KINDS
from inpaintbench.recipes import stages
from inpaintbench.recipes.options import MASKS, Option
from inpaintbench.types import Attribute, Clip, Corruption, Item, Slice, content_id
from inpaintbench.workspace import Workspace

# Steps by the IoU with the exact mask, and shares of frames that lack a mask.
IOU_BINS = ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0))
DROPPED = (0.1, 0.25, 0.5)
# Of the attributes of items with such masks.
STEP = "imperfect"


def _known(kinds: tuple[str, ...]) -> tuple[str, ...]:
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(unknown_name("kind of imperfect mask", kind, list(KINDS)))
    return tuple(dict.fromkeys(kinds))


# What recipes without such masks are called, they were called before there were any.
ImperfectMasks = Annotated[
    tuple[str, ...],
    AfterValidator(_known),
    Option(MASKS, "--imperfect", shown="none", repeatable=True, names=KINDS),
    Field(
        exclude_if=lambda kinds: not kinds,
        description="Masks that are spoilt so, beside the exact ones, in steps of their IoU. Repeatable.",
    ),
]


def spoilt(
    executor: Executor,
    workspace: Workspace,
    parents: Sequence[Corruption],
    clips: Mapping[str, Clip],
    measured: Sequence[Attribute],
    *,
    kinds: Sequence[str],
    seed: int,
) -> tuple[list[Corruption], list[Attribute]]:
    """Each of ``parents`` again with every imperfect mask of its object, and what is measured of it.

    Args:
        executor: who draws the masks.
        workspace: gets the corruptions and their attributes.
        parents: with an input and an object mask.
        clips: clip id -> clip.
        measured: attributes of the parents; those of their masks, ``mask.*``, hold for the children too.
        kinds: some of ``KINDS``.
        seed: of the masks.
    """
    names = stages.clip_names(workspace, list(clips.values()))
    wanted = {
        (row.clip_id, row.object_mask): [
            render.MaskRequest(
                clips[row.clip_id], "imperfect_mask", parameters, seed, draw=row.clip_id,
                data={"object_mask": str(row.object_mask)}, name=f"{names[row.clip_id]}, {parameters['kind']}",
            )
            for parameters in _ways(kinds)
        ]
        for row in parents
    }  # fmt: skip
    drawn = render.render(executor, [request for requests in wanted.values() for request in requests], name=STEP)
    mask_of = {row.corruption_id: row for row in drawn.records}
    of_mask = _by_subject(render.measure_all(executor, drawn, name=f"measure.{STEP}").records)
    of_parent = _by_subject([fact for fact in measured if fact.name.startswith("mask.")])
    rows, facts = [], []
    for parent in parents:
        for request in wanted[parent.clip_id, parent.object_mask]:
            mask = mask_of.get(request.corruption_id)
            if mask is None:
                continue
            exact = parent.parameters.get("parent", parent.corruption_id)
            one = replace(
                parent, corruption_id=content_id(parent.corruption_id, mask.corruption_id), hole=mask.hole,
                hole_sha256=mask.hole_sha256, seed=mask.seed, facts={**parent.facts, **mask.facts},
                parameters={**parent.parameters, "mask": dict(mask.parameters), "parent": exact},
            )  # fmt: skip
            rows.append(one)
            known = {fact.name: fact for fact in (*of_parent.get(parent.corruption_id, ()), *of_mask[mask.corruption_id])}
            facts += [replace(fact, subject_id=one.corruption_id) for fact in known.values()]
    workspace.write_table("corruptions", f"{STEP}_items", rows, Corruption)
    workspace.write_table("attributes", STEP, facts, Attribute)
    return rows, facts


def _by_subject(facts: Sequence[Attribute]) -> dict[str, list[Attribute]]:
    grouped: dict[str, list[Attribute]] = {}
    for fact in facts:
        grouped.setdefault(fact.subject_id, []).append(fact)
    return grouped


def _ways(kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Parameters of the imperfect masks of one object."""
    for kind in kinds:
        if kind in FIXED:
            yield {"kind": kind}
        elif kind == "drop":
            yield from ({"kind": kind, "amount": amount} for amount in DROPPED)
        else:
            yield from ({"kind": kind, "iou": list(step)} for step in IOU_BINS)


def by_mask(items: Sequence[Item], rows: Sequence[Corruption]) -> list[Slice]:
    """A slice for each kind of mask, and for each step of its IoU with the exact one; dropped frames have no steps.

    Args:
        items: all, those with exact masks too.
        rows: the corruption of each.
    """
    groups: dict[str, list[str]] = {}
    kinds = sorted({str(row.facts["mask_kind"]) for row in rows if "mask_kind" in row.facts} - {"drop", *FIXED})
    for item, row in zip(items, rows, strict=True):
        kind, iou = str(row.facts.get("mask_kind", "exact")), float(row.facts.get("mask_iou", 1.0))
        groups.setdefault(f"mask-{kind}", []).append(item.item_id)
        low, high = next((step for step in IOU_BINS if step[0] <= iou < step[1]), (1.0, 1.0))
        step = f"{100 * low:g}-{100 * high:g}"
        stepped = [kind] if kind != "exact" else kinds
        for name in stepped if not set(stepped) & {"drop", *FIXED} else ():
            groups.setdefault(f"mask_iou-{name}-{step}", []).append(item.item_id)
        if kind != "drop":
            groups.setdefault(f"mask_iou-{step}", []).append(item.item_id)
    order = sorted(groups, key=lambda name: (name.rstrip("0123456789").rstrip("-").rstrip("0123456789"), _first_number(name)))
    return [Slice(name, f"{name.replace('-', ' ', 1)}: IoU of the mask with the object", tuple(groups[name])) for name in order]


def _first_number(name: str) -> int:
    numbers = [int(part) for part in name.split("-") if part.isdecimal()]
    return numbers[0] if numbers else 0
