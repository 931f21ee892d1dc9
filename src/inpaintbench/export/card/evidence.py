"""How far people agree with each other, and rules with people: what is known of the errors of labels and of selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.export.card.words import code, counted, number, plain, table
from inpaintbench.types import Dataset


def evidence(dataset: Dataset) -> list[str]:
    """Agreement of raters, what rules dropped, and how often they were right; nothing where nothing was measured."""
    return [*_raters(dataset), *_selection(dataset), *_rules(dataset)]


def _raters(dataset: Dataset) -> list[str]:
    found = dataset.facts.get("raters", ())
    if not found:
        return []
    rows = [
        [
            plain(one["question"]) + (f", {plain(one['part'])}" if one.get("part") else ""),
            _or_dash(one.get("raters")),
            f"{one['clips']:,}",
            f"{one['votes']:,}",
            f"{one['undecided']:,}",
            _percent(one.get("agreement")),
            _alpha(one),
        ]
        for one in found
    ]
    return [
        "## Agreement of raters",
        "",
        "Agreement is the mean share of a clip's votes that its answer has, over clips with two votes or more. Krippendorff's"
        " alpha takes off what chance alone would give: 1 is perfect, 0 is chance; with its 95 % interval over sources, of"
        f" which it takes {ENOUGH_SOURCES}.",
        "",
        *table(["question", "raters", "clips", "votes", "undecided", "agreement", "alpha"], rows),
    ]


def _alpha(one: Mapping[str, Any]) -> str:
    value, low, high = (one.get(name) for name in ("alpha", "alpha_low", "alpha_high"))
    if value is None:
        return plain(one.get("alpha_reason") or "not measured")
    return number(value) + (f" ({number(low)} to {number(high)})" if low is not None and high is not None else "")


def _selection(dataset: Dataset) -> list[str]:
    found = dataset.facts.get("selection")
    if not found:
        return []
    rows = [[code(one["rule"]), f"{one['judged']:,}", f"{one['dropped']:,}", f"{one['alone']:,}"] for one in found["rules"]]
    return [
        "## Selection",
        "",
        f"{counted(found['clips'], 'clip')} {'was' if found['clips'] == 1 else 'were'} judged by rules,"
        f" {found['kept']:,} kept; not every clip that is kept is in a slice.",
        "",
        *table(["rule", "judged", "dropped", "by it alone"], rows),
    ]


def _rules(dataset: Dataset) -> list[str]:
    found = dataset.facts.get("rules", ())
    if not found:
        return []
    rows = [[code(one["rule"]), f"{one['n']:,}", _share(one["precision"]), _share(one["recall"])] for one in found]
    return [
        "## Rules against people",
        "",
        "Precision: of the clips that a rule drops, the share that people reject. Recall: of the clips that people reject, the"
        " share that the rule drops. Both over the clips that people looked at, with 95 % intervals (Wilson's, sources drawn)"
        f" where there are {ENOUGH_SOURCES} sources;"
        " clips picked near a threshold make both look worse than they are over all clips.",
        "",
        *table(["rule", "clips", "precision", "recall"], rows),
    ]


def _share(share: Mapping[str, Any]) -> str:
    if share["value"] is None:
        return f"none: {plain(share['reason'])}"
    interval = "" if share["low"] is None else f"{_percent(share['low'])} to {_percent(share['high'])}; "
    return f"{_percent(share['value'])} ({interval}{share['count']:,} of {share['total']:,})"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _or_dash(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
