"""What an attribute leaf is."""

from __future__ import annotations

from typing import Protocol

from inpaintbench.view import ItemView


class AttributeLeaf(Protocol):
    """One fact about a clip. Constants are keyword-only constructor arguments with defaults."""

    name: str
    version: str
    """Changes whenever a measured value can change."""
    unit: str
    """In words, such as ``fraction of the view``."""
    direction: str
    """What a higher value means, in a few words."""
    cost: float
    """Time to compute as a multiple of decoding the clip once, at 832x480 and 90 frames on one core; what other leaves have
    worked out already is not counted."""
    needs: tuple[str, ...]
    """The parts of the view that ``measure`` reads."""

    def measure(self, view: ItemView) -> float | str:
        """The value for one clip: a finite number or a word.

        Raises:
            NotMeasurable: this clip has no value; the text is the reason.
        """
        ...
