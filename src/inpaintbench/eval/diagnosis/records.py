"""What a diagnosis says: effects of factors, curves, pairs that hurt together, what is explained and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.values.permutation import LEVEL

if TYPE_CHECKING:
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
