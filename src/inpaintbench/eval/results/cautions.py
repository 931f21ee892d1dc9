"""Sentences to know before a table of one metric is believed, and the sizes of sets that numbers come from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from inpaintbench import frozen
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, quantity_label
from inpaintbench.eval.results.slices import in_reading_order
from inpaintbench.eval.results.tables import NO_PRIMARY, Results
from inpaintbench.eval.scoring.effort import APART, DEPENDS, ON_ORDER, STATELESS, UNWATCHED, WORDS, Effort, beware_words
from inpaintbench.pages.tables import Tag
from inpaintbench.pages.words import count, number, percent
from inpaintbench.types import Score, Slice, SliceScore


def cautions(results: Results, quantity: Quantity) -> list[str]:
    """Plain sentences: small sets, what a diagnostic metric says against the primary one, methods not told from a floor."""
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
    sentences = []
    for one in untold(results, quantity):
        parts = []
        if one.alike:
            most = "most methods, " if 2 * len(one.alike) > one.methods > 2 else ""
            parts.append(
                f"{most}{', '.join(one.alike)} {'score' if len(one.alike) > 1 else 'scores'} like {one.floor}, which fills "
                f"nothing (means less than {LEAST_EFFECT:g} standard deviations of {one.floor}’s items apart)"
            )
        if one.below:
            parts.append(f"{one.floor} scores better than {', '.join(one.below)}")
        sentences.append(f"{quantity_label(quantity)} cannot be read alone: {'; '.join(parts)}.")
    return sentences


# Patches of a blurred fill resemble each other from frame to frame: PCons is read beside how sharp the hole is.
PCONS, SHARPNESS = "pcons", "hole_sharpness"


def diagnostic_note(results: Results, quantity: Quantity) -> str:
    """Sentence below every table of a diagnostic quantity; empty for others."""
    if not quantity.diagnostic:
        return ""
    primary = Quantity(*results.protocol.primary)
    if results.protocol.follows:
        places = "Places are as they were published."
    elif primary.diagnostic or primary not in results.quantities:
        places = "Nobody has a place by it, without a primary quantity that damage cannot better."
    else:
        places = f"No place for who would pass a method that is better by {quantity_label(primary)}."
    return f"{quantity_label(quantity)} is diagnostic: {quantity.diagnostic}. {places}"


def contradictions(results: Results, quantity: Quantity) -> list[dict[str, str]]:
    """Methods of which the primary quantity contradicts what a diagnostic one says, over all items first, then slice by slice."""
    return [
        {"method": method, **quantity._asdict(), "slice": part.name, "reason": reason}
        for part in (results.everything, *in_reading_order(results.slices))
        for method in results.contenders
        if (reason := results.contradicted(part, method, quantity)) and reason != NO_PRIMARY
    ]


def caution_sentences(results: Results, quantity: Quantity) -> list[str]:
    """A sentence for each method and reason of ``contradictions``, with the slices, and of PCons how sharp each method is inside
    the hole where that was measured; empty for other tables."""
    where: dict[tuple[str, str], list[str]] = {}
    for one in contradictions(results, quantity):
        where.setdefault((one["method"], one["reason"]), []).append(one["slice"])
    by = f"{' has no place' if results.gated(quantity) else ''} by {quantity_label(quantity)}"
    sentences = [f"{method}{by} ({', '.join(slices)}): {reason}." for (method, reason), slices in where.items()]
    sharp = next((one for one in results.quantities if one.metric == SHARPNESS), None)
    if quantity.metric == PCONS and sharp:
        means = {method: results.summary(results.everything, method, sharp).mean for method in results.methods}
        known = [f"{method} {number(mean, 2)}" for method, mean in means.items() if mean is not None]
        sentences += [f"To be read beside PCons, sharpness inside the hole (1 = that of the truth): {', '.join(known)}."] * bool(
            known
        )
    return sentences


def protocol_cautions(results: Results) -> list[str]:
    """What a protocol with a scorer of its own has to say of its numbers; plain text, names between backquotes."""
    scorer = results.protocol.its_scorer()
    return scorer.cautions(results) if scorer else []


def judge_sentences(scores: Iterable[Score], quantity: Quantity) -> list[str]:
    """Which model gave the answers of a judge, and with which seed; empty for other metrics."""
    if not metric_leaf(quantity.metric).by_judge:
        return []
    asked = {
        (row.details["model"], row.details["seed"])
        for row in scores
        if (row.metric, row.region) == quantity and {"model", "seed"} <= row.details.keys()
    }
    return [f"The judge was {model} (seed {seed})." for model, seed in sorted(asked)]


LEAD = "Items of one clip show what others hide. What a method may have kept of one for another:"


def exposure_sentences(results: Results) -> list[str]:
    """Sentences to know before a mean is believed: on items that others show, and on methods that may have used it.

    None where inputs show at most ``MOST_SHOWN`` of any item and every method that says to keep nothing was found to.
    """
    told = results.exposed
    found = []
    if told.above:
        others = len(results.unexposed.item_ids) if results.unexposed else 0
        beside = f"means over the other {others:,} stand beside those over all" if others else "no item is without it"
        found.append(
            f"{told.above:,} of {count(told.known, 'item')} share a clip with others, whose inputs show more than "
            f"{percent(frozen.MOST_SHOWN, 0)} of what the hole hides ({percent(told.mean)} on average over all): a method that "
            f"remembers inputs could copy it; {beside}."
        )
    of_words: dict[str, list[str]] = {}
    for method in results.methods:
        effort = results.efforts.get(method)
        word = effort.between_items if effort else ""
        words = beware_words(word)
        if word == DEPENDS and method in results.aside:
            words = f"{WORDS[word]}; it holds no place and makes no finding"
        elif not words and word == UNWATCHED and told.above and method in results.contenders:
            words = WORDS[UNWATCHED]
        if words:
            of_words.setdefault(words, []).append(method)
    return found + [f"{', '.join(methods)} {words}." for words, methods in of_words.items()]


def between_items_notes(results: Results) -> dict[str, list[str]]:
    """What is known of each method, half a sentence -> the methods; those of runs that did not record it are not there."""
    found: dict[str, list[str]] = {}
    for method in results.methods:
        if (effort := results.efforts.get(method)) and effort.between_items:
            found.setdefault(WORDS[effort.between_items], []).append(method)
    return found


def shown_to(results: Results, part: Slice, method: str) -> float | None:
    """Mean share of what the items of a slice hide that a method may have known; None where it knew nothing of it, or little."""
    effort = results.efforts.get(method)
    if method in results.references or (effort and effort.between_items in (APART, STATELESS)):
        return None
    mean = frozen.exposed((results.shares[item_id], 1) for item_id in part.item_ids).mean
    return mean if mean > frozen.MOST_SHOWN else None


def between_items_tags(effort: Effort | None) -> tuple[Tag, ...]:
    """A tag of a method that keeps something of an item for another, or may."""
    words = beware_words(effort.between_items) if effort else ""
    if not effort or not words:
        return ()
    return (Tag(ON_ORDER if effort.between_items == DEPENDS else "may keep items", "warn", words),)
