"""Where methods fail: the effects and response curves of `eval diagnose`, of the items that a filter leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.eval.diagnosis import diagnose, left_out_words
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.effects import (
    differences,
    factor_label,
    own_effects,
    quantity_words,
    shown_groups,
    step_of,
    steps,
    told_sentences,
)
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages.panels import plain
from inpaintbench.pages.words import p_words
from inpaintbench.steps import LEVEL_OF
from inpaintbench.types import Dataset, Score, Slice
from inpaintbench.workbench.joining import Joined

# Values of methods at most: beyond, a diagnosis takes longer than anybody looks at a page.
MOST_VALUES = 200_000


def results_of(joined: Joined, dataset: Dataset, quantity: Quantity, methods: Sequence[str], items: Sequence[int]) -> Results:
    """The scores of some methods on some items, by one quantity.

    Args:
        joined: what is looked at.
        dataset: that it is of.
        quantity: one that was measured of items.
        methods: as they are called there.
        items: places in ``joined.ids``.

    Raises:
        InputError: fewer than two items, too many values, or scores of no protocol that is known here.
    """
    if joined.protocol not in PROTOCOLS:
        raise InputError("effects are told of scores under a protocol that is known here")
    if len(items) * len(methods) > MOST_VALUES:
        raise InputError(f"effects of at most {MOST_VALUES:,} values are told at once: filter items, or leave out methods")
    chosen = {joined.ids[place]: place for place in items}
    rows = tuple(row for row in dataset.items if row["item_id"] in chosen)
    slices = (Slice(part.name, part.rule, tuple(one for one in part.item_ids if one in chosen)) for part in dataset.slices)
    scores = [
        Score(method, item_id, quantity.metric, quantity.region, joined.protocol, joined.fingerprint, value, None, {})
        for method in methods
        for item_id, place in chosen.items()
        if not math.isnan(value := float(joined.values[quantity.key, method][place]))
    ]
    if not scores:
        raise InputError("none of these items has a score")
    return Results(
        replace(dataset, items=rows, slices=tuple(slices)), scores, protocol=PROTOCOLS.get(joined.protocol),
        references=[one.name for one in joined.methods if one.reference],
    )  # fmt: skip


def diagnosed(results: Results, quantity: Quantity, base: str = "") -> dict[str, Any]:
    """The diagnosis as the page draws it.

    Args:
        results: of the items that are seen.
        quantity: the only one of them.
        base: a method; effects are then those on the lead of each other one over it.

    Returns:
        ``rows``, one for each step of a factor with its ``effects`` (method -> value, low, high, told, p) and the items of a
        ``pair`` that shows it; ``curves``; ``sentences`` on effects that are more than chance; ``without``, what is left out.
    """
    found = diagnose(results)
    others = [name for name in results.contenders if name != base]
    effects = own_effects(found, quantity)
    if base:
        effects = [effect for name in others for effect in differences(found, quantity, name, base)]
    groups = shown_groups(results, found, quantity)
    rows = []
    for step in steps(found):
        own = {effect.one: effect for effect in effects if step_of(effect) == step}
        group = groups.get(step.factor.name, {}) if step.factor.kind == "paired" else {}
        rows.append({
            "kind": step.factor.kind, "label": factor_label(step.factor), "step": step.levels, "levels": [step.low, step.high],
            "fact": LEVEL_OF + step.factor.name if step.factor.kind == "paired" else step.factor.name,
            "pair": [group[level] for level in (step.low, step.high)] if {step.low, step.high} <= group.keys() else [],
            "effects": {
                name: {"value": one.value, "low": one.low, "high": one.high, "told": one.told, "p": p_words(one.p), "n": one.n[0]}
                for name, one in own.items()
                if math.isfinite(one.reach)
            },
        })  # fmt: skip
    words = [plain(one.words) for one in told_sentences(found, quantity)]
    return {
        "title": quantity_words(quantity), "rows": [row for row in rows if row["effects"]], "sentences": words,
        "without": left_out_words(found),
        "curves": [
            {"fact": one.factor.name, "label": factor_label(one.factor), "method": one.method, "at": one.at, "mean": one.mean}
            | {"low": one.low, "high": one.high}
            for one in found.curves
        ],
    }  # fmt: skip
