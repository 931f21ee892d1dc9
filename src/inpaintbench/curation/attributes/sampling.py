"""Which frames of a clip are looked at, where not all are."""

from __future__ import annotations


def evenly_spaced(frames: int, *, count: int) -> list[int]:
    """``count`` frame indices from the first to the last at even distances, or all of fewer."""
    if frames <= count:
        return list(range(frames))
    if count == 1:
        return [(frames - 1) // 2]
    return [(2 * place * (frames - 1) + count - 1) // (2 * (count - 1)) for place in range(count)]
