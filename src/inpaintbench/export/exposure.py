"""How much of what is held back other items show: items of one clip have different holes, and each input shows the rest of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import frozen
from inpaintbench.types import Hole, Plain


def exposure(root: Path, held: Sequence[Plain]) -> dict[str, Any] | None:
    """What the inputs of the items together show under their holes; None where no two are of one clip.

    Args:
        root: folder of the whole dataset.
        held: rows of the items whose truth is held back.

    Returns:
        ``items``: how many have hole pixels that the input of another item of their clip shows; ``hole_pixels``: the share of
        such pixels among all hole pixels of all items, 0..1.
    """
    of_clip: dict[str, list[Plain]] = {}
    for row in held:
        of_clip.setdefault(row["truth_rgb_sha256"], []).append(row)
    if all(len(rows) == 1 for rows in of_clip.values()):
        return None
    items = seen = total = 0
    for rows in of_clip.values():
        distinct = {str(row["hole_sha256"]): row for row in rows}
        # A pixel that every hole covers is shown by no input, any other by the items whose holes leave it out. Holes are
        # decoded twice: all of a clip at once can be gigabytes.
        everywhere = reduce(np.logical_and, (frozen.hole_of(root, row) for row in distinct.values()))
        counts = {key: _counts(frozen.hole_of(root, row), everywhere) for key, row in distinct.items()}
        of_items = [counts[str(row["hole_sha256"])] for row in rows]
        items += sum(shown > 0 for _, shown in of_items)
        seen += sum(shown for _, shown in of_items)
        total += sum(covered for covered, _ in of_items)
    return {"items": items, "hole_pixels": round(seen / total, 4)} if items else None


def _counts(hole: Hole, everywhere: Hole) -> tuple[int, int]:
    """Pixels of the hole, and those of them that some other hole leaves out."""
    return int(np.count_nonzero(hole)), int(np.count_nonzero(hole & ~everywhere))
