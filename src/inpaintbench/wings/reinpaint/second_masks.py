"""Second holes: where a first result is inpainted again. They depend on seed, item and number alone, never on a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError, MaskShapeError
from inpaintbench.types import Hole, Plain, content_id, item_rng

Count = Literal["bernoulli", "exact"]
# Part of the seed of every patch mask: another name would draw others.
_STEP = "reinpaint.second"


@dataclass(frozen=True)
class Patches:
    """Parameters of patch masks, drawn by Algorithm 2 of the paper.

    Cells of ``size_pixels`` x ``size_pixels``, the last ones cut where that does not divide the frame, are each hidden with
    probability ``ratio`` (``bernoulli``), or round(ratio x cells) of them (``exact``). In a clip a cell lasts ``tube_frames``.

    Raises:
        InputError: a ratio outside 0..1, no size, no length, or an unknown way to count.
    """

    ratio: float | tuple[float, float] = 0.4
    """P; two numbers = drawn uniformly between them for each mask."""
    size_pixels: int = 32
    """S; the paper does not state its own."""
    count: Count = "bernoulli"
    tube_frames: int = 0
    """0 = the cells stay for the whole clip."""
    seed: int = 0

    def __post_init__(self) -> None:
        low, high = self.interval
        if not (0 <= low <= high <= 1):
            raise InputError(f"second ratio {self.ratio} is not a share from 0 to 1, or two ascending ones")
        if self.size_pixels < 1:
            raise InputError(f"patches of {self.size_pixels} pixels; give a side of 1 or more")
        if self.tube_frames < 0:
            raise InputError(f"tubes of {self.tube_frames} frames; give 1 or more, or 0 for patches that stay")
        if self.count not in ("bernoulli", "exact"):
            raise InputError(f"unknown patch count {self.count!r}, choose from bernoulli, exact")

    @property
    def interval(self) -> tuple[float, float]:
        """The least and the largest ratio."""
        return self.ratio if isinstance(self.ratio, tuple) else (self.ratio, self.ratio)

    @property
    def words(self) -> str:
        """Words for tables: ``P 40%, S 32``."""
        low, high = (f"{share:.3g}" for share in np.multiply(self.interval, 100))
        share = f"{low}%" if low == high else f"{low}-{high}%"
        exactly = ", exact count" if self.count == "exact" else ""
        tubes = f", tubes of {self.tube_frames} frames" if self.tube_frames else ""
        return f"P {share}, S {self.size_pixels}{exactly}{tubes}"

    def plain(self) -> Plain:
        """Every constant, as data."""
        return {**vars(self), "ratio": list(self.interval)}

    @classmethod
    def of(cls, plain: Plain) -> Patches:
        """The inverse of ``plain``."""
        low, high = plain["ratio"]
        return cls(**{**plain, "ratio": (float(low), float(high))})


def patch_mask(patches: Patches, *, item_id: str, number: int, frames: int, height: int, width: int) -> Hole:
    """Mask ``number`` (from 0) of an item before the first hole is taken out, ``bool[T, H, W]``.

    Raises:
        InputError: the frame is smaller than one patch.
    """
    if min(height, width) < patches.size_pixels:
        raise InputError(f"a frame of {width}x{height} is smaller than one patch of {patches.size_pixels} pixels")
    rng = item_rng(patches.seed, _STEP, content_id(item_id, number))
    low, high = patches.interval
    ratio = low if low == high else float(rng.uniform(low, high))
    length = patches.tube_frames or frames
    rows, columns = -(-height // patches.size_pixels), -(-width // patches.size_pixels)
    parts = []
    for begin in range(0, frames, length):
        cells = _cells(rng, rows, columns, ratio=ratio, count=patches.count)
        wide = np.repeat(np.repeat(cells, patches.size_pixels, axis=0), patches.size_pixels, axis=1)[:height, :width]
        parts.append(np.repeat(wide[None], min(length, frames - begin), axis=0))
    return np.ascontiguousarray(np.concatenate(parts))


def patch_of(patches: Patches, row: Plain, number: int) -> Hole:
    """``patch_mask`` for a row of a dataset."""
    return patch_mask(
        patches, item_id=row["item_id"], number=number, frames=row["frames"], height=row["height"], width=row["width"]
    )


def _cells(rng: np.random.Generator, rows: int, columns: int, *, ratio: float, count: Count) -> npt.NDArray[np.bool_]:
    chances = rng.random((rows, columns))
    if count == "bernoulli":
        # Numbers of [0, 1): "below" hides all cells at a ratio of 1 and none at 0.
        return chances < ratio
    cells = np.zeros(chances.size, np.bool_)
    cells[np.argsort(chances, axis=None, kind="stable")[: round(ratio * chances.size)]] = True
    return cells.reshape(chances.shape)


def second_hole(patch: Hole, first: Hole) -> Hole:
    """M2: what a patch mask hides of the pixels that the first hole left known; the first fill is never hidden again.

    In the paper, where 1 is known: M2 = 1 - (1 - Mp) * M1.

    Raises:
        MaskShapeError: masks of different shapes.
    """
    if patch.shape != first.shape:
        raise MaskShapeError(f"second mask {patch.shape} != first hole {first.shape}")
    hidden: Hole = patch & ~first
    return hidden


def mean_area(holes: Sequence[Hole]) -> float | None:
    """Mean share of hole pixels over masks; None without masks."""
    return float(np.mean([hole.mean() for hole in holes])) if holes else None
