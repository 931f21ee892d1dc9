"""Methods that PCons puts far above where everything else puts them.

A flat or blurred fill reappears exactly in the next frame, so PCons is high where nothing was inpainted (DEVIL, CVPR 2022,
discussion of Figure 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from inpaintbench.eval.report.labels import metric_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results, in_reading_order
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.pages.words import number
from inpaintbench.types import Slice

PCONS, SHARPNESS = "pcons", "hole_sharpness"
# Metrics that say nothing of reconstruction or realism.
_STEADINESS = (PCONS, SHARPNESS, "warp_error", "flicker", "temporal_difference")
# How far above: so many places, and so large a share of the number of methods.
LEAST_PLACES, LEAST_SHARE = 2.0, 1 / 3


@dataclass(frozen=True)
class Suspect:
    """A method whose rank by PCons is far above its others in a slice."""

    method: str
    region: str
    """Of the PCons."""
    pcons_place: int
    mean_place: float
    """Mean of its places by ``metrics``."""
    metrics: tuple[str, ...]
    sharpness: float | None
    """Mean gradient inside the hole as a share of the truth's; None where it was not measured."""
    slice: str = ALL_ITEMS


def suspects(results: Results, quantity: Quantity) -> list[Suspect]:
    """Methods to be careful with in a table of PCons, over all items first, then slice by slice.

    None for other quantities and where nothing else was measured.
    """
    others = _others(results)
    if quantity.metric != PCONS or not others:
        return []
    slices = (results.everything, *in_reading_order(results.slices))
    return [found for one in slices for found in _suspects_of(results, one, quantity, others)]


def _suspects_of(results: Results, one: Slice, quantity: Quantity, others: Sequence[Quantity]) -> list[Suspect]:
    found = []
    by_metric = [results.places(one, other) for other in others]
    for method, place in results.places(one, quantity).items():
        places = [of_metric[method] for of_metric in by_metric]
        known = [other for other in places if other is not None]
        if place is None or not known:
            continue
        mean_place = math.fsum(known) / len(known)
        if mean_place - place >= max(LEAST_PLACES, LEAST_SHARE * len(results.contenders)):
            metrics = tuple(other.metric for other, at in zip(others, places, strict=True) if at is not None)
            sharpness = _sharpness(results, one, method)
            found.append(Suspect(method, quantity.region, place, mean_place, metrics, sharpness, one.name))
    return found


def _others(results: Results) -> list[Quantity]:
    """Each metric of reconstruction or realism once, in the hole where it is measured there."""
    first: dict[str, Quantity] = {}
    for quantity in results.quantities:
        if quantity.metric not in _STEADINESS and quantity.ranked:
            first.setdefault(quantity.metric, quantity)
    return list(first.values())


def _sharpness(results: Results, one: Slice, method: str) -> float | None:
    found = (results.summary(one, method, quantity).mean for quantity in results.quantities if quantity.metric == SHARPNESS)
    return next(found, None)


def caution_sentences(results: Results, quantity: Quantity) -> list[str]:
    """A sentence for each method that PCons ranks too well, and how sharp each is inside the hole where that was measured; empty
    for other tables."""
    sentences = [f"{method} {words}" for method, words in _words(results, quantity).items()]
    sharpness = {method: _sharpness(results, results.everything, method) for method in results.methods}
    known = [f"{method} {number(value, 2)}" for method, value in sharpness.items() if value is not None]
    if quantity.metric == PCONS and known:
        sentences.append(f"To be read beside PCons, sharpness inside the hole (1 = that of the truth): {', '.join(known)}.")
    return sentences


def _words(results: Results, quantity: Quantity) -> dict[str, str]:
    """Method -> what to know of it, without its name; the first slice in full, the others by name."""
    by_method: dict[str, list[Suspect]] = {}
    for one in suspects(results, quantity):
        by_method.setdefault(one.method, []).append(one)
    return {method: _sentence(found[0], [one.slice for one in found[1:]]) for method, found in by_method.items()}


def _sentence(one: Suspect, also: Sequence[str]) -> str:
    metrics = ", ".join(metric_label(metric) for metric in one.metrics)
    where = "" if one.slice == ALL_ITEMS else f" in the slice {one.slice}"
    words = (
        f"is number {one.pcons_place} by PCons{where}, but {one.mean_place:.1f} on average by {metrics}: fills that are flat or "
        "blurred repeat from frame to frame, and PCons takes that for consistency."
    )
    if one.sharpness is not None:
        words += f" Gradients inside its holes are {number(one.sharpness, 2)} times as strong as the truth’s."
    return words + (f" The ranks are as far apart in {', '.join(also)}." if also else "")
