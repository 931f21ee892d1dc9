"""Licences of the sources, truths that are held back, and items that were taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from inpaintbench.export.card.content import sources
from inpaintbench.export.card.words import counted, plain, table
from inpaintbench.export.licences import NOT_STATED
from inpaintbench.types import Dataset

_FEWEST_SHOWN = 200


def licences(dataset: Dataset) -> list[str]:
    """How many sources are under which licence; who they are by stands in NOTICE."""
    per_source = {name: row["licence"] or NOT_STATED for name, row in sources(dataset.items).items()}
    lines = [
        "## Licences of the sources",
        "",
        *_counted(Counter(per_source.values())),
        "",
        "[NOTICE](NOTICE) names every source with its author, its page, its licence and what was changed; keep it with copies.",
        "",
    ]
    if stated := dataset.facts.get("licences_stated"):
        told = "These sources came without a known licence; their publisher states it, in the column `licence` too."
        lines += ["### Stated by the publisher", "", told, "", *_counted(stated), ""]
    for words, new in dataset.facts.get("licences_stated_over", {}).items():
        lines += [f"- The dataset said {plain(words)}; now {plain(name)}: {counted(n, 'source')}" for name, n in new.items()]
        lines.append("")
    return [*lines, *_held_back(dataset)]


def _held_back(dataset: Dataset) -> list[str]:
    held = dataset.facts.get("held_back")
    if not held:
        return []
    splits = ", ".join(f"`{plain(name)}`" for name in held["splits"])
    where = f" It is in the dataset {plain(held['truth_dataset'])}." if held.get("truth_dataset") else ""
    return [
        "### Held back truth",
        "",
        f"Of {counted(int(held['items']), 'item')} in {splits} the truth is not here, nor where they came from: methods see the"
        f" input alone, and whoever has the truth scores them.{where}",
        *_shown(held.get("shown_by_other_inputs"), held.get("allowed")),
        "",
    ]


def _shown(found: Mapping[str, Any] | None, allowed: object) -> list[str]:
    """How much of the truth the inputs show together, and why that may be."""
    if not found:
        return []
    share = f"{100 * found['hole_pixels']:.1f} %"
    return [
        f"Items of one clip show part of each other's truth: {share} of all hole pixels, in {counted(found['items'], 'item')}."
        + (f" It is allowed because: {plain(allowed)}." if allowed else "")
    ]


def removed(dataset: Dataset) -> list[str]:
    """Items that an earlier version had; their ids are never given again."""
    if not dataset.removed:
        return []
    rows = [[f"`{plain(one['item_id'])}`", plain(one["reason"])] for one in dataset.removed]
    shown = rows[:_FEWEST_SHOWN]
    more = [f"And {len(rows) - len(shown):,} more, in `dataset.json`.", ""] if len(rows) > len(shown) else []
    return [
        "## Removed items",
        "",
        f"{counted(len(rows), 'item')} of earlier versions {'is' if len(rows) == 1 else 'are'} gone. Delete them from copies;"
        " their ids are never given again.",
        "",
        *table(["item", "reason"], shown),
        *more,
    ]


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"- {plain(licence)}: {counted(count, 'source')}" for licence, count in sorted(counts.items())]
