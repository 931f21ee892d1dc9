"""Share of what items hide that inputs of others show: holes of one clip differ, and each input shows what the others hide."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.frozen import MOST_SHOWN
from inpaintbench.lazily import lazily
from inpaintbench.types import Hole, Plain

cv2 = lazily("cv2")

# The columns of rows that ``shown_by_others`` looks at.
OF_SHOWN = (
    "item_id", "clip_id", "source_id", "start_frame", "end_frame", "fps", "frames", "height", "width", "truth_rgb_sha256",
    "generator", "target_prompt", "instruction",
    *(f"{mask}_{what}" for mask in ("hole", "object_mask", "effect_mask") for what in ("file_name", "sha256")),
)  # fmt: skip
# Clips whose holes are decoded side by side: each holds two of its size.
_AT_ONCE = 2


class Shown(NamedTuple):
    """Pixels under the hole of an item, and those of them that inputs of other items show."""

    covered: int
    shown: int

    @property
    def share(self) -> float:
        """``shown`` of ``covered``, 0..1 to four decimals, so that millions of rows have few values."""
        return round(self.shown / self.covered, 4) if self.covered else 0.0


def shown_by_others(root: Path, rows: Sequence[Plain], *, every: bool = False) -> dict[str, Shown | None]:
    """Item id -> what inputs of others show of what it hides; None where it hides nothing, or nobody has the truth.

    Holes are decoded where items share footage and differ in what they hide; of another clip at its frames and, where sizes
    differ, scaled. What is not the truth in an input beside the hole, an object and its effects, shows nothing.

    Args:
        root: folder with their media.
        rows: of all items of their footage.
        every: count pixels of holes that nothing shows, too, for sums over items; without it these are ``Shown(0, 0)``.
    """
    found: dict[str, Shown | None] = {row["item_id"]: None if _hides_nothing(row) else Shown(0, 0) for row in rows}
    hiding = [row for row in rows if not _hides_nothing(row)]
    of_footage: dict[int, list[Plain]] = {}
    numbers = frozen.footage_of(lambda name: [row.get(name) for row in hiding])
    for number, row in zip(numbers.tolist(), hiding, strict=True):
        of_footage.setdefault(number, []).append(row)
    shared = [some for some in of_footage.values() if every or len({_hidden_key(row) for row in some}) > 1]
    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as threads:
        for some in threads.map(partial(_shown, root), shared):
            found |= some
    return found


def exposure(root: Path, held: Sequence[Plain]) -> dict[str, Any] | None:
    """Share that the inputs of the items together show under their holes; None where they show nothing.

    Args:
        root: folder of the whole dataset.
        held: rows of the items whose truth is held back.

    Returns:
        ``items``: how many have hole pixels that the input of another item of their clip shows; ``hole_pixels``: the share of
        such pixels among all hole pixels of all items, 0..1.
    """
    if not any(row.get(frozen.SHOWN, 1) for row in held):  # earlier datasets do not say
        return None
    counts = [one for one in shown_by_others(root, held, every=True).values() if one is not None]
    items = sum(one.shown > 0 for one in counts)
    share = sum(one.shown for one in counts) / max(sum(one.covered for one in counts), 1)
    return {"items": items, "hole_pixels": round(share, 4)} if items else None


def check_exposed(seen: Mapping[str, Any] | None, *, items: int, allowed: str | None) -> None:
    """Refuse to hold back what other inputs show, unless a reason for it is published.

    Args:
        seen: of ``exposure``.
        items: how many are held back.
        allowed: why it may be all the same.

    Raises:
        InputError: more than ``MOST_SHOWN`` of the hole pixels, and no reason; a reason without words.
    """
    if allowed is not None and not allowed.strip():
        raise InputError("inputs that show held-back pixels are allowed for a reason that is published; give one in words")
    if not is_exposed(seen) or allowed is not None:
        return
    raise InputError(
        f"{exposed_words(seen, items)}, and copying recovers them; up to {100 * MOST_SHOWN:g} % may show. Build again with one"
        " hole a clip, or hold back other splits, whose clips have one hole each, or say why it may be: `inpaintbench export"
        ' freeze --allow-exposed "..."`'
    )


def is_exposed(seen: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    """Return whether inputs together show more than ``MOST_SHOWN``."""
    return seen is not None and seen["hole_pixels"] > MOST_SHOWN


def exposed_words(seen: Mapping[str, Any], items: int) -> str:
    """Sentence, without its end, on what ``exposure`` found among ``items``."""
    return (
        f"{seen['items']} of {items} held-back items share their clip with others whose holes lie elsewhere: the inputs"
        f" together show {100 * seen['hole_pixels']:.1f} % of what lies under the holes"
    )


def _hides_nothing(row: Plain) -> bool:
    return frozen.is_edit(row) or frozen.is_unpaired(row)


def _hidden_key(row: Plain) -> tuple[object, ...]:
    """The same for items that hide the same."""
    return tuple(row.get(name) for name in ("clip_id", "truth_rgb_sha256", "hole_sha256", *(f"{mask}_sha256" for mask in _MASKS)))


# Masks of what an input has beside its hole that is not the truth.
_MASKS = ("object_mask", "effect_mask")


def _shown(root: Path, rows: Sequence[Plain]) -> dict[str, Shown]:
    """``shown_by_others`` of items of one footage. Holes are decoded twice: all of a clip at once can be gigabytes."""
    distinct = {_hidden_key(row): row for row in rows}
    counts: dict[tuple[object, ...], Shown] = {}
    for clip in {(row["clip_id"], row["truth_rgb_sha256"]): row for row in rows}.values():
        # A pixel that everything hides is shown by no input, any other by those of the items which leave it out.
        everywhere: Hole | None = None
        for row in distinct.values():
            hidden = frozen.hole_of(root, row)  # and what the input does not show of its truth beside it
            for mask in _MASKS:
                if row.get(f"{mask}_file_name"):
                    hidden = hidden | frozen.mask_of(root, row, mask)
            hidden = _placed(hidden, row, clip)
            everywhere = hidden if everywhere is None else np.logical_and(everywhere, hidden, out=everywhere)
        assert everywhere is not None
        for key, row in distinct.items():
            if (row["clip_id"], row["truth_rgb_sha256"]) == (clip["clip_id"], clip["truth_rgb_sha256"]):
                hole = frozen.hole_of(root, row)
                counts[key] = Shown(int(np.count_nonzero(hole)), int(np.count_nonzero(hole & ~everywhere)))
    return {row["item_id"]: counts[_hidden_key(row)] for row in rows}


def _placed(hidden: Hole, row: Plain, clip: Plain) -> Hole:
    """``hidden`` of the item of ``row`` as seen in the frames of ``clip``; everything is hidden where it shows none of them."""
    size = (clip["height"], clip["width"])
    if row["clip_id"] == clip["clip_id"] or row["truth_rgb_sha256"] == clip["truth_rgb_sha256"]:
        return hidden
    times, own = _times(clip), _times(row)
    nearest = np.abs(times[:, None] - own[None, :]).argmin(axis=1)
    # One instant: nearer than halfway to the next frame of whichever has more of them.
    there = np.abs(times - own[nearest]) < min(np.diff(one).min(initial=1.0) for one in (times, own)) / 2
    placed = np.ones((clip["frames"], *size), np.bool_)
    for place in np.flatnonzero(there).tolist():
        frame = hidden[nearest[place]]
        if frame.shape != size:
            frame = cv2.resize(frame.view(np.uint8), size[::-1], interpolation=cv2.INTER_NEAREST).astype(np.bool_)
        placed[place] = frame
    return placed


def _times(row: Plain) -> npt.NDArray[np.float64]:
    """Seconds of the source at which the frames of a clip were taken, ``float64[T]``."""
    return np.linspace(row["start_frame"], row["end_frame"], row["frames"], endpoint=False) / (row["fps"] or 1)
