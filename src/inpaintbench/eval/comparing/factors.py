"""What differs between the items of a dataset: axes of pairs, labels, and measured attributes."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["paired", "measured", "labelled"]


class Factor(NamedTuple):
    """One thing that differs between items."""

    name: str
    """Of the axis, of the slices ``NAME-low`` and ``NAME-high``, or of the attribute."""
    kind: Kind
    """``"paired"``: items of one clip differ in it alone; ``"labelled"``: slices of other items; ``"measured"``: a number of each
    item."""
    levels: tuple[str, ...]
    """Least first; none of a measured one."""
    step: str
    """One step in words: ``low to high``, ``one standard deviation (0.021)``."""
