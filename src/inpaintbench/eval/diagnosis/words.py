"""Sentences of a diagnosis; plain text."""

from __future__ import annotations

from collections.abc import Sequence

from inpaintbench.eval.diagnosis.records import Diagnosis, Explained, FactorEffect, Together, Unexplained
from inpaintbench.eval.results.labels import quantity_label
from inpaintbench.eval.results.quantity import Quantity, metric_leaf
from inpaintbench.pages.words import count, number, signed


def clearest_first(effects: Sequence[FactorEffect], quantity: Quantity) -> list[FactorEffect]:
    """Effects by one quantity: what is told before what is not, each by the size that its interval leaves.

    Of a difference, whoever comes off worse is the first of the two.
    """
    found = [one.turned() if one.other and one.better else one for one in effects if one.quantity == quantity]
    return sorted(found, key=lambda one: (not one.told, -(abs(one.value) - one.reach) if one.told else one.p))


def what_words(effect: FactorEffect) -> str:
    """Who loses or gains how much, by the interval; of what is not told only whose effect it is."""
    if not effect.told:
        return f"{effect.method}{f' against {effect.other}' if effect.other else ''}: could be chance"
    leaf = metric_leaf(effect.quantity.metric)
    sizes = [max(0.0, abs(effect.value) - effect.reach), abs(effect.value) + effect.reach]
    size = f"{' to '.join(number(one, leaf.decimals) for one in sizes)} {leaf.unit}".strip()
    if effect.other:
        return f"{effect.method} {'gains' if effect.better else 'loses'} {size} against {effect.other}"
    if leaf.unit and effect.quantity.higher_is_better:
        return f"{effect.method} {'gains' if effect.better else 'loses'} {size}"
    return f"{effect.method} gets {size} {'better' if effect.better else 'worse'}"


def when_words(effect: FactorEffect) -> str:
    """The step of a factor: ``when size of the hole goes from low to high``."""
    levels = f"{effect.low_level} to {effect.high_level}".replace("_", " ")
    step = levels if effect.low_level else effect.factor.step
    return f"when {effect.factor.label} goes from {step}{'' if effect.factor.kind == 'paired' else ', all else equal'}"


def rests_on(effect: FactorEffect) -> str:
    """Pairs or items, and their sources."""
    return f"{count(effect.n, 'pair' if effect.factor.kind == 'paired' else 'item')} of {count(effect.n_sources, 'source')}"


def interval_words(effect: FactorEffect) -> str:
    """The effect with the ends of its interval: ``-4.09 (-5.31 to -2.87)``."""
    decimals = metric_leaf(effect.quantity.metric).decimals
    return f"{signed(effect.value, decimals)} ({signed(effect.low, decimals)} to {signed(effect.high, decimals)})"


def together_words(one: Together) -> str:
    """What two factors do beyond the sum of each."""
    leaf = metric_leaf(one.quantity.metric)
    size = f"{number(max(0.0, abs(one.value) - one.reach), leaf.decimals)} to {number(abs(one.value) + one.reach, leaf.decimals)}"
    return (
        f"{one.method}: {one.one.label} ({one.one.step}) and {one.other.label} ({one.other.step}) together cost "
        f"{f'{size} {leaf.unit}'.strip()} more than one and the other; found on half of the sources, confirmed on the other "
        f"{one.n_sources}"
    )


def explained_words(explained: Sequence[Explained], quantity: Quantity) -> str | None:
    """How much of the spread between items is explained; None where that is not known."""
    own = [one for one in explained if one.quantity == quantity]
    if not own:
        return None
    shares = ", ".join(f"{one.method} {one.share:.0%}" for one in own)
    return (
        f"Of the spread of {quantity_label(quantity)} between items, on sources that were left out, all this explains: {shares}"
    )


def unexplained_words(one: Unexplained) -> str:
    """A failure that no factor explains."""
    leaf = metric_leaf(one.quantity.metric)
    score, expected = (f"{number(value, leaf.decimals)} {leaf.unit}".strip() for value in (one.score, one.expected))
    return f"{one.method} on item {one.item_id}: {score}, where {expected} is expected"


def left_out_words(diagnosis: Diagnosis) -> list[str]:
    """Factors that stand in no table, each with the reason."""
    return [f"left out: {name}: {why}" for name, why in diagnosis.left_out.items()]
