"""Steps of an attribute over the same material: between two steps nothing else than the attribute is to change.

A mean over the items of a slice says how hard these items are too. Of masks that are spoilt step by step, and of side effects of
growing strength, the steps share their clips; where not all steps have all of them, those count that all have.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results, Series
from inpaintbench.types import content_id

# A step that has less than this share of the subjects of the fullest one is left out, so that the others need not wait for it.
FEWEST = 0.5
_MASKS, _KIND = "mask_iou", "mask.mask_kind"
_Subjects = dict[Hashable, list[str]]


class Compared(NamedTuple):
    """The steps of a series that a quantity is compared over."""

    series: Series
    items: tuple[tuple[str, tuple[str, ...]], ...]
    """What each step is called, and ids of its items; an exact mask counts once for each kind of spoilt ones."""
    shared: int | None
    """Clips, or exact masks, that all steps have; None where the steps have none in common and each has all of its items."""
    largest: int
    """How many the fullest step has."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Steps that too few of them have, and how many."""


def compared(results: Results, series: Sequence[Series]) -> dict[tuple[str, Quantity], Compared]:
    """The steps of every series, by its attribute, and quantity with the items that they are compared over.

    Args:
        results: scores and slices.
        series: of ``step_series``.
    """
    if not series:
        return {}
    steps: dict[str, list[tuple[str, _Subjects]]] = {}
    wanted = {item_id for one in series for _, part in one.steps for item_id in part.item_ids}
    rows = {row["item_id"]: row for row in results.dataset.items if row["item_id"] in wanted}
    for one in series:
        kinds = {rows[item_id].get("attributes", {}).get(_KIND) for _, part in one.steps for item_id in part.item_ids} - {None}
        steps[one.attribute] = [(step, _by_subject(part.item_ids, rows, one.attribute, kinds)) for step, part in one.steps]
    found = {}
    for quantity in results.quantities:
        known = _measured(results, quantity)
        for one in series:
            own = [(step, _kept(subjects, known)) for step, subjects in steps[one.attribute]]
            found[one.attribute, quantity] = _compared(one, own)
    return found


def _measured(results: Results, quantity: Quantity) -> set[str] | None:
    """Items that any method has a value of; None where sets are compared, of which nothing can be left out."""
    if quantity.of_sets:
        return None
    methods = results.contenders or results.methods
    return set().union(*(results.measured(results.everything, method, quantity) for method in methods))


def _kept(subjects: _Subjects, known: set[str] | None) -> _Subjects:
    return {subject: ids for subject, ids in subjects.items() if known is None or known.issuperset(ids)}


def _by_subject(
    item_ids: Sequence[str], rows: Mapping[str, Mapping[str, Any]], attribute: str, kinds: set[Any]
) -> _Subjects:  # fmt: skip
    """Items by what they share with those of other steps: their clip; of masks the exact one and, among all, the kind."""
    found: _Subjects = {}
    mixed = attribute == _MASKS
    for item_id in item_ids:
        row = rows[item_id]
        if not attribute.startswith(_MASKS):
            found.setdefault(row["clip_id"], []).append(item_id)
            continue
        parent = row.get("generator_parameters", {}).get("parent")
        exact = item_id if parent is None else content_id(row["clip_id"], parent)
        kind = row.get("attributes", {}).get(_KIND)
        # An exact mask stands beside those of every kind.
        for own in (sorted(kinds) if kinds and kind is None else [kind]) if mixed else [None]:
            found.setdefault((exact, own), []).append(item_id)
    return found


def _compared(series: Series, steps: Sequence[tuple[str, _Subjects]]) -> Compared:
    largest = max((len(subjects) for _, subjects in steps), default=0)
    full = [(step, subjects) for step, subjects in steps if subjects and len(subjects) >= FEWEST * largest]
    shared = set.intersection(*(set(subjects) for _, subjects in full)) if len(full) > 1 else set()
    if not shared:
        everything = ((step, tuple(item_id for ids in subjects.values() for item_id in ids)) for step, subjects in steps)
        return Compared(series, tuple(everything), None, largest)
    kept = (
        (step, tuple(item_id for name, ids in subjects.items() if name in shared for item_id in ids)) for step, subjects in full
    )
    names = {step for step, _ in full}
    left_out = tuple((step, len(subjects)) for step, subjects in steps if step not in names and subjects)
    return Compared(series, tuple(kept), len(shared), largest, left_out)
