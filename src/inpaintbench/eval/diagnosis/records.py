"""What a diagnosis says: effects of factors, curves, pairs that hurt together, what is explained and what is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, quantity_label, standing, with_unit
from inpaintbench.pages.words import count, number, signed
from inpaintbench.table_files import csv_bytes

if TYPE_CHECKING:
    from inpaintbench.eval.protocols.base import Protocol


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
    effects: tuple[Effect, ...]
    """Of methods and of differences between them."""
    curves: tuple[Curve, ...]
    together: tuple[Together, ...]
    explained: tuple[Explained, ...]
    unexplained: tuple[Unexplained, ...]
    """The largest first, by method and quantity."""
    left_out: dict[str, str]
    """Factor -> why it is not told."""


def clearest_first(effects: Sequence[Effect], quantity: Quantity) -> list[Effect]:
    """Effects by one quantity: what is told before what is not, each by the size that its interval leaves.

    Of a difference, whoever comes off worse is the first of the two.
    """
    found = [one.turned() if one.other and one.better else one for one in effects if one.quantity == quantity]
    return sorted(found, key=lambda one: (not one.told, -(abs(one.value) - one.reach) if one.told else one.p))


def size_words(effect: Effect | Together) -> str:
    """The sizes that the interval of what is told holds, with the metric's unit: ``1.20 to 5.10 dB``."""
    leaf, size = metric_leaf(effect.quantity.metric), abs(effect.value)
    ends = f"{number(max(0.0, size - effect.reach), leaf.decimals)} to {number(size + effect.reach, leaf.decimals)}"
    return f"{ends} {leaf.unit}".strip()


def moved_words(effect: Effect) -> str:
    """Whether a score gets better or worse, and by how much: the interval's sizes where it is told, else the size found."""
    metric = effect.quantity.metric
    size = size_words(effect) if effect.told else with_unit(abs(effect.value), metric)
    if metric_leaf(metric).unit and effect.quantity.higher_is_better:
        return f"{'gains' if effect.better else 'loses'} {size}"
    return f"gets {size} {'better' if effect.better else 'worse'}"


def what_words(effect: Effect) -> str:
    """Who loses or gains how much, by the interval; of what is not told only whose effect it is."""
    if not effect.told:
        return f"{effect.one}{f' against {effect.other}' if effect.other else ''}: could be chance"
    if effect.other:
        return f"{effect.one} {'gains' if effect.better else 'loses'} {size_words(effect)} against {effect.other}"
    return f"{effect.one} {moved_words(effect)}"


def when_words(effect: Effect) -> str:
    """The step of a factor: ``when size of the hole goes from low to high``."""
    step = " to ".join(effect.levels).replace("_", " ") if effect.levels[0] else effect.factor.step
    return f"when {effect.factor.label} goes from {step}{'' if effect.factor.kind == 'paired' else ', all else equal'}"


def rests_on(effect: Effect) -> str:
    """Pairs or items, and their sources."""
    return f"{count(effect.n[0], 'pair' if effect.factor.kind == 'paired' else 'item')} of {count(effect.n_sources[0], 'source')}"


def interval_words(effect: Effect) -> str:
    """The effect with the ends of its interval: ``-4.09 (-5.31 to -2.87)``."""
    decimals = metric_leaf(effect.quantity.metric).decimals
    return f"{signed(effect.value, decimals)} ({signed(effect.low, decimals)} to {signed(effect.high, decimals)})"


def together_words(one: Together) -> str:
    """What two factors do beyond the sum of each."""
    return (
        f"{one.method}: {one.one.label} ({one.one.step}) and {one.other.label} ({one.other.step}) together cost "
        f"{size_words(one)} more than one and the other; found on half of the sources, confirmed on the other {one.n_sources}"
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
    score, expected = (with_unit(value, one.quantity.metric) for value in (one.score, one.expected))
    return f"{one.method} on item {one.item_id}: {score}, where {expected} is expected"


def left_out_words(diagnosis: Diagnosis) -> list[str]:
    """Factors that stand in no table, each with the reason."""
    return [f"left out: {name}: {why}" for name, why in diagnosis.left_out.items()]


# Released: other programs read columns by these names.
EFFECT_COLUMNS = (
    "factor", "kind", "label", "step", "low_level", "high_level", "metric", "region", "standing", "method", "other", "value",
    "interval_low", "interval_high", "p_corrected", "told", "n", "n_sources",
)  # fmt: skip


def effect_rows(effects: Iterable[Effect], protocol: Protocol) -> list[dict[str, Any]]:
    """A row for each effect with the names of ``EFFECT_COLUMNS``; ``other`` is None for an effect on a method itself."""
    return [
        {
            "factor": one.factor.name, "kind": one.factor.kind, "label": one.factor.label, "step": one.factor.step,
            "low_level": one.levels[0] or None, "high_level": one.levels[1] or None, **one.quantity._asdict(),
            "standing": standing(one.quantity, protocol), "method": one.one, "other": one.other or None, "value": one.value,
            "interval_low": one.low, "interval_high": one.high, "p_corrected": one.p, "told": one.told, "n": one.n[0],
            "n_sources": one.n_sources[0],
        }
        for one in effects
    ]  # fmt: skip


def effects_csv(effects: Sequence[Effect], protocol: Protocol) -> bytes:
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
