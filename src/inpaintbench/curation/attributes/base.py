"""The base class of attribute leaves, and which frames of a clip they sample."""

from __future__ import annotations

from abc import ABC, abstractmethod

from inpaintbench.catalogue import Leaf
from inpaintbench.view import ItemView


class AttributeLeaf(Leaf, ABC):
    """One fact about a clip. Constants are keyword-only constructor arguments with defaults."""

    unit: str
    """In words, such as ``fraction of the view``."""
    direction: str = ""
    """Meaning of a higher value, in a few words."""
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


def evenly_spaced(frames: int, *, count: int) -> list[int]:
    """``count`` frame indices from the first to the last at even distances, or all of fewer."""
    if frames <= count:
        return list(range(frames))
    if count == 1:
        return [(frames - 1) // 2]
    return [(2 * place * (frames - 1) + count - 1) // (2 * (count - 1)) for place in range(count)]
