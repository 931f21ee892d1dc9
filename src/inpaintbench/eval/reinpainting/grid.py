"""F2 x second masks x bins of first masks x objective x sub-metric: what `eval reinpaint grid` measures and tabulates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from inpaintbench.claims import too_few
from inpaintbench.eval.predict import MethodSpec
from inpaintbench.eval.reinpainting.leaves import metric_of
from inpaintbench.eval.reinpainting.second_masks import Patches
from inpaintbench.eval.reinpainting.setting import Setting
from inpaintbench.eval.reinpainting.tables import Cell, Grid
from inpaintbench.eval.slices import source_of
from inpaintbench.eval.statistics import mean_of
from inpaintbench.types import Dataset, Score

# How the slices of a bin of first masks are called: `area-20-40`.
BIN = "area-"
EVERY = "all"
Ratio = float | tuple[float, float] | None


def settings_of(base: Setting, *, seconds: Sequence[MethodSpec], ratios: Sequence[Ratio]) -> dict[tuple[str, str], Setting]:
    """(label of F2, ratio in words) -> setting; a ratio of None takes the second masks of the dataset."""
    patches = base.patches or Patches()
    return {
        (second.label, ratio_words(ratio)): replace(
            base, second=second, patches=None if ratio is None else replace(patches, ratio=ratio)
        )
        for second, ratio in product(seconds, ratios)
    }


def ratio_words(ratio: Ratio) -> str:
    """``40%``, ``20-60%``, or ``published`` for the second masks of the dataset."""
    if ratio is None:
        return "published"
    shares = ratio if isinstance(ratio, tuple) else (ratio,)
    return "-".join(f"{100 * share:.3g}" for share in shares) + "%"


def bins_of(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Bin of first masks in words -> its items, from the dataset's slices of area; all items where there are none."""
    found = {
        f"{one.name.removeprefix(BIN)}%": one.item_ids for one in dataset.slices if one.name.startswith(BIN) and one.item_ids
    }
    return found or {EVERY: tuple(row["item_id"] for row in dataset.items)}


def grid_of(
    found: Mapping[tuple[str, str], Sequence[Score]], settings: Mapping[tuple[str, str], Setting], dataset: Dataset
) -> Grid:
    """Means over the items of each bin; a mean leaves out items whose value is missing or infinite, and is None without any.

    Args:
        found: (label of the first method, key of the setting) -> rows, as ``step.inpaint_again_all`` gives them.
        settings: as ``settings_of`` gives them.
        dataset: whose slices are the bins.
    """
    bins = bins_of(dataset)
    methods = tuple(dict.fromkeys(label for label, _ in found))
    some = next(iter(settings.values()))
    values: dict[Cell, float | None] = {}
    left_out: dict[Cell, int] = {}
    for (second, ratio), setting in settings.items():
        for method in methods:
            column = {(row.metric, row.item_id): row.value for row in found[method, setting.key]}
            for first, objective, name in product(bins, setting.objectives, setting.metrics):
                cell = Cell(second, ratio, first, method, objective, name)
                given = (column.get((metric_of(objective, name), item)) for item in bins[first])
                known = [value for value in given if value is not None]
                values[cell] = mean_of(known)
                if infinite := sum(map(math.isinf, known)):
                    left_out[cell] = infinite
    return Grid(
        seconds=tuple(dict.fromkeys(second for second, _ in settings)),
        ratios=tuple(dict.fromkeys(ratio for _, ratio in settings)),
        firsts=tuple(bins),
        methods=methods,
        objectives=some.objectives,
        submetrics=tuple(some.metrics),
        values=values,
        origin=f"{dataset.name}: {len(dataset.items)} items, K {some.masks}.",
        unsure=_unsure(dataset, bins),
        left_out=left_out,
    )


def _unsure(dataset: Dataset, bins: Mapping[str, Sequence[str]]) -> str | None:
    """Why the items of some bin are of too few sources for a claim; None where all have enough."""
    sources = {row["item_id"]: source_of(row) for row in dataset.items}
    counts = {name: len({sources[item] for item in items}) for name, items in bins.items()}
    fewest = min(counts, key=lambda name: counts[name])
    few = too_few(counts[fewest])
    return few and f"the bin {fewest} has {few}"


def missing_of(found: Mapping[tuple[str, str], Sequence[Score]]) -> dict[str, int]:
    """Reason -> how many values it cost."""
    reasons: dict[str, int] = {}
    for rows in found.values():
        for row in rows:
            if row.value is None:
                reasons[row.reason or "no reason given"] = reasons.get(row.reason or "no reason given", 0) + 1
    return reasons
