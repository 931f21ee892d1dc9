"""Where methods fail: the effects and response curves of `eval diagnose`, of the items that a filter leaves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.looked_at import looked_at
from inpaintbench.eval.diagnosis import diagnose, left_out_words
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.effects import (
    differences,
    factor_label,
    own_effects,
    quantity_words,
    sentence,
    shown_groups,
    step_of,
    steps,
)
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages.panels import plain
from inpaintbench.pages.words import along, number, p_words
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
        raise InputError(f"effects of at most {MOST_VALUES:,} values are told at once: filter items, or tick fewer runs")
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


def diagnosed(
    results: Results, quantity: Quantity, bases: Mapping[str, str], *, against: bool, claims: bool = True
) -> dict[str, Any]:
    """The diagnosis as the page draws it.

    Args:
        results: of the items that are seen, and of all methods: what is said of one does not depend on which others are hidden.
        quantity: the only one of them.
        bases: each method that is seen -> the one that it is held against, or an empty text.
        against: effects are those on the lead of each method over its base, and those without one have none.
        claims: whether anything but the values is told; without, intervals are None.

    Returns:
        ``rows``, one for each step of a factor with its ``effects`` (method -> value, low, high, told, p) and the items of a
        ``pair`` that shows it; ``curves``; ``sentences`` on those of these effects that are more than chance, of the same
        comparison and with the same interval; ``of`` and ``compared``, for how many methods and comparisons the intervals
        hold together; ``without``, what is left out.
    """
    found = diagnose(results)
    effects = [effect for effect in own_effects(found, quantity) if effect.one in bases]
    if against:
        effects = [effect for name, base in bases.items() if base for effect in differences(found, quantity, name, base)]
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
                name: {
                    "value": one.value, "low": one.low if claims else None, "high": one.high if claims else None,
                    "told": one.told and claims, "p": p_words(one.p) if claims else "", "n": one.n[0],
                }
                for name, one in own.items()
                if math.isfinite(one.reach)
            },
        })  # fmt: skip
    words = [plain(sentence(one)) for one in sorted(effects, key=lambda one: -one.surely) if one.told and claims]
    return {
        "title": quantity_words(quantity), "rows": [row for row in rows if row["effects"]], "sentences": words,
        "without": left_out_words(found), "of": len(results.contenders), "compared": len(looked_at(results)),
        "curves": [
            {"fact": one.factor.name, "label": factor_label(one.factor), "method": one.method, "at": one.at, "mean": one.mean}
            | {"low": one.low, "high": one.high}
            for one in found.curves
            if one.method in bases
        ],
    }  # fmt: skip


def plots(curves: Sequence[Mapping[str, Any]], decimals: int) -> list[dict[str, Any]]:
    """Response curves as they are drawn, a plot for each attribute, all on one scale of scores.

    Args:
        curves: ``curves`` of ``diagnosed``.
        decimals: of the scores.

    Returns:
        ``fact``, ``label``, ``ends`` of the attribute, ``told`` in words, and ``lines`` of method, band and mean: points of a
        square whose sides are 100.
    """
    means = [value for one in curves for value in one["mean"]]
    room = 0.3 * (max(means, default=0.0) - min(means, default=0.0)) or 1.0
    scale = (max(means, default=0.0) + room, min(means, default=0.0) - room)
    found = []
    for fact in dict.fromkeys(one["fact"] for one in curves):
        own = [one for one in curves if one["fact"] == fact]
        ends = [end(at for one in own for at in one["at"]) for end in (min, max)]

        def points(one: Mapping[str, Any], name: str, ends: Sequence[float] = ends) -> list[str]:
            pairs = zip(one["at"], one[name], strict=True)
            return [f"{100 * along(at, ends):.1f},{100 * along(value, scale):.1f}" for at, value in pairs]

        lines = [
            (one["method"], " ".join([*points(one, "high"), *reversed(points(one, "low"))]), " ".join(points(one, "mean")))
            for one in own
        ]
        told = "; ".join(
            f"{one['method']}: " + ", ".join(f"{number(one['mean'][at], decimals)} at {number(one['at'][at])}" for at in (0, -1))
            for one in own
        )
        found.append({"fact": fact, "label": own[0]["label"], "ends": ends, "told": told, "lines": lines})
    return found
