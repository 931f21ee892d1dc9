"""Sentences to know before a table of one metric is believed, and the sizes of sets that numbers come from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from inpaintbench.eval.reinpainting.leaves import EXCESS, SECOND, submetric_of
from inpaintbench.eval.report.labels import metric_label, quantity_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results, in_reading_order
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.pages.words import number
from inpaintbench.types import Slice, SliceScore


def cautions(results: Results, quantity: Quantity) -> list[str]:
    """Plain sentences: small sets, steady methods that nothing else ranks so well, methods not told from a floor."""
    small = set_warning(results, quantity)
    return [*([small] if small else []), *caution_sentences(results, quantity), *floor_sentences(results, quantity)]


def set_sizes(score: SliceScore | None) -> tuple[int | None, int | None]:
    """Number of vectors in the smaller set and their length; None where nothing was compared."""
    if score is None:
        return None, None
    n, d = (score.details.get(key) for key in ("n", "d"))
    return (None if n is None else int(n)), (None if d is None else int(d))


def size_words(score: SliceScore | None) -> str:
    """``N = 14, d = 1024``; empty where nothing was compared."""
    n, d = set_sizes(score)
    return "" if n is None or d is None else f"N = {n}, d = {d}"


def set_warning(results: Results, quantity: Quantity) -> str:
    """Share of a metric's numbers that come from small sets, and what that means; empty where none does."""
    slices = [*in_reading_order(results.slices), results.everything]
    compared = (results.slice_score(slice_, method, quantity) for slice_ in slices for method in results.methods)
    scores = [score for score in compared if score is not None and score.value is not None]
    small = [score for score in scores if score.details.get("warning")]
    if not small:
        return ""
    worst = min(small, key=lambda score: set_sizes(score)[0] or 0)
    return (
        f"{quantity_label(quantity)}: {len(small)} of {len(scores)} numbers come from small sets and are biased: compare "
        f"them within a row only, never with other sets or papers. The smallest: {worst.details['warning']}."
    )


# Standard deviations of the floor's items that a method's mean must be away from the floor's. Cohen's bound of a small effect: a
# smaller difference drowns in what items differ by anyway.
LEAST_EFFECT = 0.2


@dataclass(frozen=True)
class Untold:
    """A metric that does not put every method above a floor, over all items."""

    metric: str
    region: str
    floor: str
    alike: tuple[str, ...]
    """Methods less than ``LEAST_EFFECT`` away from it."""
    below: tuple[str, ...]
    """Methods that it beats by as much or more."""
    methods: int
    """That could be compared with it."""


def untold(results: Results, quantity: Quantity) -> list[Untold]:
    """The floors that a ranked metric of items does not tell some method from; none where there is no floor."""
    if not quantity.ranked or quantity.of_sets:
        return []
    found = []
    for floor in results.references:
        effects = {
            method: effect for method in results.contenders if (effect := _effect(results, method, floor, quantity)) is not None
        }
        alike = tuple(method for method, effect in effects.items() if abs(effect) < LEAST_EFFECT)
        below = tuple(method for method, effect in effects.items() if effect <= -LEAST_EFFECT)
        if alike or below:
            found.append(Untold(quantity.metric, quantity.region, floor, alike, below, len(effects)))
    return found


def _effect(results: Results, method: str, floor: str, quantity: Quantity) -> float | None:
    """Lead of a method's mean over the items of both, in standard deviations of the floor's items; None below two items."""
    pairs = [
        (value, base)
        for item_id in results.sources
        if (value := results.value(method, item_id, quantity)) is not None and math.isfinite(value)
        and (base := results.value(floor, item_id, quantity)) is not None and math.isfinite(base)
    ]  # fmt: skip
    if len(pairs) < 2:
        return None
    lead = math.fsum(value - base for value, base in pairs) / len(pairs) * (1 if quantity.higher_is_better else -1)
    spread = statistics.stdev(base for _, base in pairs)
    return lead / spread if spread else math.copysign(math.inf, lead) if lead else 0.0


def floor_sentences(results: Results, quantity: Quantity) -> list[str]:
    """Sentences to know before ranking by a metric; plain text, none where it tells every method from every floor."""
    return [_floor_sentence(one, quantity) for one in untold(results, quantity)]


def _floor_sentence(one: Untold, quantity: Quantity) -> str:
    told = f"{quantity_label(quantity)} cannot be read alone: "
    parts = []
    if one.alike:
        most = "most methods, " if 2 * len(one.alike) > one.methods > 2 else ""
        parts.append(
            f"{most}{', '.join(one.alike)} {'score' if len(one.alike) > 1 else 'scores'} like {one.floor}, which fills nothing "
            f"(means less than {LEAST_EFFECT:g} standard deviations of {one.floor}’s items apart)"
        )
    if one.below:
        parts.append(f"{one.floor} scores better than {', '.join(one.below)}")
    return f"{told}{'; '.join(parts)}."


PCONS, SHARPNESS = "pcons", "hole_sharpness"
# Metrics that ask how a fill changes in time and not what it shows, with what they mistake: damage can raise them.
_REPEATING = "fills that are flat or blurred repeat from frame to frame, and"
_MISTAKEN = {
    PCONS: f"{_REPEATING} PCons takes that for consistency",
    "warp_error": f"{_REPEATING} the warping error takes that for motion like the truth’s",
    "flicker": "an error that stays the same is steady, and flicker does not ask how large it is",
    "temporal_difference": "blur takes change away and noise brings it back, and this metric asks for the amount alone",
}
# Metrics that say nothing of reconstruction or realism.
_STEADINESS = (*_MISTAKEN, SHARPNESS)
# How far above: so many places, and so large a share of the number of methods.
LEAST_PLACES, LEAST_SHARE = 2.0, 1 / 3


@dataclass(frozen=True)
class Suspect:
    """A method whose rank by a metric that damage can raise is far above its others in a slice."""

    method: str
    metric: str
    region: str
    place: int
    mean_place: float
    """Mean of its places by ``metrics``."""
    metrics: tuple[str, ...]
    sharpness: float | None
    """Mean gradient inside the hole as a share of the truth's; None where it was not measured."""
    slice: str = ALL_ITEMS


def suspects(results: Results, quantity: Quantity) -> list[Suspect]:
    """Methods to be careful with in a table of PCons or another metric of steadiness, over all items first, then slice by slice.

    None for other quantities and where nothing else was measured.
    """
    others = _others(results)
    if quantity.metric not in _MISTAKEN or not others:
        return []
    slices = (results.everything, *in_reading_order(results.slices))
    return [found for slice_ in slices for found in _suspects_of(results, slice_, quantity, others)]


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
            found.append(Suspect(method, quantity.metric, quantity.region, place, mean_place, metrics, sharpness, one.name))
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
    """A sentence for each method that a metric of steadiness ranks too well, and of PCons how sharp each is inside the hole where
    that was measured; empty for other tables."""
    sentences = [f"{method} {words}" for method, words in _words(results, quantity).items()]
    sharpness = {method: _sharpness(results, results.everything, method) for method in results.methods}
    known = [f"{method} {number(value, 2)}" for method, value in sharpness.items() if value is not None]
    if quantity.metric == PCONS and known:
        sentences.append(f"To be read beside PCons, sharpness inside the hole (1 = that of the truth): {', '.join(known)}.")
    return sentences


def _words(results: Results, quantity: Quantity) -> dict[str, str]:
    """Method -> what to know of it, without its name; the first slice in full, the others by name."""
    by_method: dict[str, list[Suspect]] = {}
    for suspect in suspects(results, quantity):
        by_method.setdefault(suspect.method, []).append(suspect)
    return {method: _sentence(found[0], [one.slice for one in found[1:]]) for method, found in by_method.items()}


def _sentence(one: Suspect, also: Sequence[str]) -> str:
    metrics = ", ".join(metric_label(metric) for metric in one.metrics)
    where = "" if one.slice == ALL_ITEMS else f" in the slice {one.slice}"
    words = (
        f"is number {one.place} by {metric_label(one.metric)}{where}, but {one.mean_place:.1f} on average by {metrics}: "
        f"{_MISTAKEN[one.metric]}."
    )
    if one.sharpness is not None:
        words += f" Gradients inside its holes are {number(one.sharpness, 2)} times as strong as the truth’s."
    return words + (f" The ranks are as far apart in {', '.join(also)}." if also else "")


def again_sentences(results: Results) -> list[str]:
    """Sentences on how D(F1) was measured, its limits, and where it prefers a method to the truth; none without re-inpainting.

    Plain text with the name of the second method between backquotes.
    """
    seconds = dict.fromkeys(str(row.details["second"]) for row in results.scores if "second" in row.details)
    if not seconds or not any(quantity.metric.startswith(f"{SECOND}_") for quantity in results.quantities):
        return []
    names = " and ".join(f"`{name}`" for name in seconds)
    preferred = _preferred(results)
    return [
        f"Self-consistency, D(F1): every result was inpainted again by {names} (F2) and compared with itself. It favours methods "
        "that resemble F2, says nothing of how a picture hangs together as a whole, and shrinks as the first hole grows: compare "
        f"within a bin of first holes, or by “{metric_label('reinpaint_known_psnr')}” and its like.",
        *([f"D prefers to the truth itself: {'; '.join(preferred)}. There it does not measure quality."] if preferred else []),
    ]


def _preferred(results: Results) -> list[str]:
    """Methods whose D is better than that of the truth, by sub-metric."""
    found = []
    for quantity in results.quantities:
        if quantity.metric.startswith(f"{EXCESS}_"):
            means = {method: results.summary(results.everything, method, quantity).mean for method in results.methods}
            sign = 1 if quantity.higher_is_better else -1
            names = [method for method, mean in means.items() if mean is not None and sign * mean > 0]
            found += [f"{', '.join(names)} by {metric_label(submetric_of(quantity.metric))}"] if names else []
    return found
