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
    needs: tuple[str, ...]
    """The parts of the view that ``measure`` reads."""

    def measure(self, view: ItemView) -> float | str:
        """The value for one clip: a finite number or a word.

        Raises:
            NotMeasurable: this clip has no value; the text is the reason.
        """
        ...
