"""What inputs of other items show of an item, and what each method may have made of that: sentences and tags of every page."""

from __future__ import annotations

from inpaintbench import frozen
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.scoring.repeating import APART, DEPENDS, ON_ORDER, STATELESS, UNWATCHED, WORDS, beware_words
from inpaintbench.pages.tables import Tag
from inpaintbench.pages.words import count, percent
from inpaintbench.types import Slice

LEAD = "Items of one clip show what others hide. What a method may have kept of one for another:"


def exposure_sentences(results: Results) -> list[str]:
    """Sentences to know before a mean is believed: on items that others show, and on methods that may have used it.

    None where inputs show at most ``MOST_SHOWN`` of any item and every method that says to keep nothing was found to.
    """
    told, words = results.exposed, {method: _words(results, method) for method in results.methods}
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
    for method, predicate in words.items():
        if predicate:
            of_words.setdefault(predicate, []).append(method)
    return found + [f"{', '.join(methods)} {predicate}." for predicate, methods in of_words.items()]


def _words(results: Results, method: str) -> str:
    """What to know of one method; empty where nothing."""
    effort = results.efforts.get(method)
    word = effort.between_items if effort else ""
    seen = results.exposed.above and method in results.contenders
    if word == DEPENDS and method in results.aside:
        return f"{WORDS[word]}; it holds no place and makes no finding"
    return beware_words(word) or (WORDS[UNWATCHED] if word == UNWATCHED and seen else "")


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
