"""What a diagnosis says: effects of factors, curves, pairs that hurt together, what is explained and what is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, quantity_label, standing
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.pages.words import count, number, signed
from inpaintbench.table_files import csv_bytes

if TYPE_CHECKING:
    from inpaintbench.eval.protocols.base import Protocol
    from inpaintbench.eval.results.quantity import Quantity


class FactorEffect(NamedTuple):
    """What one step of a factor does to a method, or to its lead over another, with its interval among all that was looked at."""

    factor: Factor
    low_level: str
    """Level that the step leaves; empty for a measured factor."""
    high_level: str
    """Level that it comes to."""
    quantity: Quantity
    method: str
    other: str
    """Method whose effect is subtracted; empty where the effect is the method's own."""
    value: float
    """Score after the step less score before it, in the metric's unit."""
    reach: float
    """Half the width of its interval."""
    p: float
    """Corrected for all that was looked at."""
    n: int
    """Pairs of items of a paired factor, items of the others."""
    n_sources: int

    @property
    def told(self) -> bool:
        """Return whether it is more than chance."""
        return self.p < LEVEL

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - self.reach

    @property
    def high(self) -> float:
        """Upper end."""
        return self.value + self.reach

    @property
    def better(self) -> bool:
        """Return whether it is for the better in the metric's direction."""
        return (self.value > 0) == self.quantity.higher_is_better

    def turned(self) -> FactorEffect:
        """A difference between two methods seen from the second."""
        return self._replace(method=self.other, other=self.method, value=-self.value)


class Curve(NamedTuple):
    """Score of a method over a measured attribute, with a band that holds the whole curve in 95 % of studies."""

    factor: Factor
    quantity: Quantity
    method: str
    at: tuple[float, ...]
    """Values of the attribute, ascending."""
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    points: tuple[tuple[str, float, float], ...]
    """Items, their values of the attribute and their scores."""


class Together(NamedTuple):
    """Two factors that hurt more together than each by itself: found on one half of the sources, confirmed on the other."""

    one: Factor
    """Its ``step`` is the one that was taken, of an axis of several."""
    other: Factor
    quantity: Quantity
    method: str
    value: float
    """What both bring beyond the sum of each, in the metric's unit, of the half that confirms."""
    reach: float
    p: float
    n_sources: int
    """Of the half that confirms."""


class Explained(NamedTuple):
    """How much of the spread of a method's scores the factors explain."""

    quantity: Quantity
    method: str
    share: float
    """0..1, of the variance between items, predicted for sources that were left out."""
    n: int
    n_sources: int


class Unexplained(NamedTuple):
    """An item on which a method is worse than the factors let expect."""

    item_id: str
    quantity: Quantity
    method: str
    score: float
    expected: float
    residual: float
    """Score less expected."""


class Diagnosis(NamedTuple):
    """Everything that is said of where methods fail."""

    factors: tuple[Factor, ...]
    effects: tuple[FactorEffect, ...]
    """Of methods and of differences between them."""
    curves: tuple[Curve, ...]
    together: tuple[Together, ...]
    explained: tuple[Explained, ...]
    unexplained: tuple[Unexplained, ...]
    """The largest first, by method and quantity."""
    left_out: dict[str, str]
    """Factor -> why it is not told."""


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


EFFECT_COLUMNS = (
    "factor", "kind", "label", "step", "low_level", "high_level", "metric", "region", "standing", "method", "other", "value",
    "interval_low", "interval_high", "p_corrected", "told", "n", "n_sources",
)  # fmt: skip


def effect_rows(effects: Iterable[FactorEffect], protocol: Protocol) -> list[dict[str, Any]]:
    """A row for each effect with the names of ``EFFECT_COLUMNS``; ``other`` is None for an effect on a method itself."""
    return [
        {
            "factor": one.factor.name, "kind": one.factor.kind, "label": one.factor.label, "step": one.factor.step,
            "low_level": one.low_level or None, "high_level": one.high_level or None, **one.quantity._asdict(),
            "standing": standing(one.quantity, protocol), "method": one.method, "other": one.other or None, "value": one.value,
            "interval_low": one.low, "interval_high": one.high, "p_corrected": one.p, "told": one.told, "n": one.n,
            "n_sources": one.n_sources,
        }
        for one in effects
    ]  # fmt: skip


def effects_csv(effects: Sequence[FactorEffect], protocol: Protocol) -> bytes:
    """The same as CSV."""
    return csv_bytes(EFFECT_COLUMNS, [[row[name] for name in EFFECT_COLUMNS] for row in effect_rows(effects, protocol)])


def plain(diagnosis: Diagnosis, protocol: Protocol) -> dict[str, Any]:
    """All of a diagnosis but the items of its curves, whose scores stand in a file of their own."""
    return {
        "factors": [factor._asdict() for factor in diagnosis.factors],
        "effects": effect_rows(diagnosis.effects, protocol),
        "curves": [
            {
                "factor": curve.factor.name, **curve.quantity._asdict(), "method": curve.method, "at": curve.at,
                "mean": curve.mean, "interval_low": curve.low, "interval_high": curve.high,
            }
            for curve in diagnosis.curves
        ],
        "together": [
            {
                "factor": one.one.name, "other_factor": one.other.name, **one.quantity._asdict(), "method": one.method,
                "value": one.value, "interval_low": one.value - one.reach, "interval_high": one.value + one.reach, "p": one.p,
                "n_sources": one.n_sources,
            }
            for one in diagnosis.together
        ],
        "explained": [_flat(one) for one in diagnosis.explained],
        "unexplained": [_flat(one) for one in diagnosis.unexplained],
        "left_out": diagnosis.left_out,
    }  # fmt: skip


def _flat(record: Any) -> dict[str, Any]:
    """A record with its quantity as metric and region."""
    fields = record._asdict()
    return {**fields.pop("quantity")._asdict(), **fields}
