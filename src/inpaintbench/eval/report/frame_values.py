"""Metrics frame by frame, for the items that the report shows: measured on the originals when the report is written.

A run folder keeps one number for each item, so the frames are measured again, by the protocol's own metrics, one frame at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from inpaintbench.errors import InpaintBenchError
from inpaintbench.eval.adapters.fitting import grey_view
from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

# Metrics that each frame has a value of by itself, quick to measure again.
BY_FRAMES = ("psnr", "ssim")
Values = list[float | None]


class Recipe(NamedTuple):
    """Quantities measured of each frame, with the metrics that give them; or none, and the reason."""

    quantities: tuple[Quantity, ...]
    metrics: tuple[Metric, ...]
    grey: bool
    reason: str | None


def recipe_of(
    protocol: Protocol, quantities: Sequence[Quantity], *, region: str, sizes: Collection[tuple[int, int]] = ()
) -> Recipe:
    """Those of ``BY_FRAMES`` that were scored in ``region``; none for a protocol that does not measure the item's own frames.

    Args:
        protocol: that they were scored under.
        quantities: all that were scored.
        region: one of its regions.
        sizes: width and height of the items; a protocol that measures at the size of all of them measures their own frames.
    """
    wanted = tuple(quantity for quantity in quantities if quantity.metric in BY_FRAMES and quantity.region == region)
    grey = protocol.colours == "grey"
    resized = protocol.size is not None and set(sizes) != {protocol.size}
    others = [
        *(["at another size"] if resized else []),
        *(["with a hole that it grows"] if protocol.hole_dilations else []),
        *(["with the input around the hole"] if protocol.composite and protocol.known_from != "truth" else []),
        *([] if protocol.composite else ["whole predictions"]),
    ]
    if others:
        return Recipe((), (), grey, f"{protocol.name} measures other pixels than the report has: {', '.join(others)}")
    if not wanted:
        return Recipe((), (), grey, f"neither PSNR nor SSIM was scored in the region {region!r}")
    return Recipe(wanted, tuple(protocol.build_metrics([one.metric for one in wanted], regions=[region])), grey, None)


def frame_values(recipe: Recipe, truth: Frames, composite: Frames, hole: Hole) -> dict[Quantity, Values]:
    """Each quantity of every frame, of a perfect copy the ceiling or infinite, None for a frame without a pixel of the region.

    Args:
        recipe: what is measured.
        truth: ``uint8[T, H, W, 3]``.
        composite: the same shape.
        hole: ``bool[T, H, W]``; all True where every pixel is degraded.
    """
    views = [_view(truth[at : at + 1], composite[at : at + 1], hole[at : at + 1], grey=recipe.grey) for at in range(len(truth))]
    pairs = zip(recipe.quantities, recipe.metrics, strict=True)
    return {quantity: [_value(metric, quantity.region, view) for view in views] for quantity, metric in pairs}


def _view(truth: Frames, composite: Frames, hole: Hole, *, grey: bool) -> ItemView:
    view = ItemView.of_arrays(truth=truth, composite=composite, hole=hole)
    return grey_view(view) if grey else view


def _value(metric: Metric, region: str, view: ItemView) -> float | None:
    try:
        return metric.measure(view)[region].value
    except InpaintBenchError:  # frames too small for the metric: its score is missing with that reason
        return None


def rounded(values: Sequence[float | None], digits: Callable[[float], float]) -> list[float | str | None]:
    """Values that JSON can hold: infinity as the text ``inf``."""
    return [value if value is None else digits(value) if math.isfinite(value) else "inf" for value in values]
