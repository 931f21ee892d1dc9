"""What a splitter leaf does: divide one source into spans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class SplitterLeaf(Protocol):
    """Divides one source into spans that become clips."""

    name: str
    version: str

    def spans(self, path: str, *, frames: int) -> Iterator[tuple[int, int]]:
        """Half-open, ascending, non-overlapping spans ``[start_frame, end_frame)`` over the ``frames`` that decode.

        Raises:
            Rejected: no span, with the reason.
        """
        ...
