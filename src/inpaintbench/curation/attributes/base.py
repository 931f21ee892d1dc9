"""What an attribute leaf is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from inpaintbench.catalogue import Leaf
from inpaintbench.view import ItemView


class AttributeLeaf(Leaf, ABC):
    """One fact about a clip. Constants are keyword-only constructor arguments with defaults."""

    unit: str
    """In words, such as ``fraction of the view``."""
    direction: str = ""
    """What a higher value means, in a few words."""
    cost: float
    """Time to compute as a multiple of decoding the clip once, at 832x480 and 90 frames on one core; what other leaves have
    worked out already is not counted."""
    needs: tuple[str, ...]
    """The parts of the view that ``measure`` reads."""
    weights: tuple[str, ...] = ()
    """Names in ``weights.toml`` of the parameters that it needs."""

    @abstractmethod
    def measure(self, view: ItemView) -> float | str:
        """The value for one clip: a finite number or a word.

        Raises:
            NotMeasurable: this clip has no value; the text is the reason.
        """
