"""Share of what is held back that other items show: holes of one clip differ, and each input shows what the others hide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.types import Hole, Plain

# Share of the held-back hole pixels that other inputs may show. Copying them, where they are spread evenly, takes 5 % off a mean
# squared error: 0.2 dB of PSNR, less than what one expects between two methods. Beyond it, copying pays more than inpainting.
MOST_EXPOSED = 0.05


def exposure(root: Path, held: Sequence[Plain]) -> dict[str, Any] | None:
    """Share that the inputs of the items together show under their holes; None where no two are of one clip.

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


def check_exposed(seen: Mapping[str, Any] | None, *, items: int, allowed: str | None) -> None:
    """Refuse to hold back what other inputs show, unless a reason for it is published.

    Args:
        seen: of ``exposure``.
        items: how many are held back.
        allowed: why it may be all the same.

    Raises:
        InputError: more than ``MOST_EXPOSED`` of the hole pixels, and no reason; a reason without words.
    """
    if allowed is not None and not allowed.strip():
        raise InputError("inputs that show held-back pixels are allowed for a reason that is published; give one in words")
    if not is_exposed(seen) or allowed is not None:
        return
    raise InputError(
        f"{exposed_words(seen, items)}, and copying recovers them; up to {100 * MOST_EXPOSED:g} % may show. Build again with one"
        " hole a clip, or hold back other splits, whose clips have one hole each, or say why it may be: `inpaintbench export"
        ' freeze --allow-exposed "..."`'
    )


def is_exposed(seen: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    """Return whether inputs together show more than ``MOST_EXPOSED``."""
    return seen is not None and seen["hole_pixels"] > MOST_EXPOSED


def exposed_words(seen: Mapping[str, Any], items: int) -> str:
    """Sentence, without its end, on what ``exposure`` found among ``items``."""
    return (
        f"{seen['items']} of {items} held-back items share their clip with others whose holes lie elsewhere: the inputs"
        f" together show {100 * seen['hole_pixels']:.1f} % of what lies under the holes"
    )


def _counts(hole: Hole, everywhere: Hole) -> tuple[int, int]:
    """Pixels of the hole, and those of them that some other hole leaves out."""
    return int(np.count_nonzero(hole)), int(np.count_nonzero(hole & ~everywhere))
