"""A picture with its hole at several sizes, laid out so that patches are read in straight lines."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

# `uint8[H, W, 3]`.
Picture = npt.NDArray[np.uint8]
# `bool[H, W]`.
Pixels = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.int32]
# Red, green, blue and one that stays 0: even steps in memory.
CHANNELS = 4
# Share of the pixels of a smaller size around which there must be a whole patch; fewer patches would be copied all over.
_LEAST_SOURCES = 0.1
# Position of no source.
NOWHERE = -1


@dataclass
class Level:
    """One size. A position counts pixels row by row over the picture and a margin of half a patch around it."""

    height: int
    width: int
    half: int
    """Half a patch, rounded down: the margin."""
    colours: npt.NDArray[np.int16]
    """``int16[positions, 4]``, 0 in the margin; those of hole pixels are what is filled in."""
    missing: npt.NDArray[np.bool_]
    """``bool[positions]``, True = hole."""
    inside: npt.NDArray[np.bool_]
    """``bool[positions]``, False = margin."""
    valid: npt.NDArray[np.bool_]
    """``bool[positions]``, True where a patch lies in the picture and touches no hole."""
    sources: Positions
    """Positions where ``valid`` is True, in order."""
    layers: list[Positions]
    """Hole positions by their distance from what is known, nearest first."""

    @property
    def stride(self) -> int:
        """Pixels in a row with its margins."""
        return self.width + 2 * self.half

    @property
    def targets(self) -> Positions:
        """All hole positions, in order."""
        return np.flatnonzero(self.missing).astype(np.int32)

    def picture(self) -> Picture:
        """``uint8[H, W, 3]``."""
        half = self.half
        whole = self.colours[: len(self.missing)].reshape(-1, self.stride, CHANNELS)
        return whole[half : half + self.height, half : half + self.width, :3].astype(np.uint8)


def levels_of(picture: Picture, hole: Pixels, *, patch_pixels: int, levels: int) -> list[Level]:
    """The picture and its halves, largest first, for as long as a smaller one still has patches to copy and a hole to fill.

    ``picture``: ``uint8[H, W, 3]``; ``hole``: ``bool[H, W]``. Empty where even the picture itself has too few whole patches.
    """
    found: list[Level] = []
    while len(found) < levels and hole.any():
        level = _level(picture, hole, half=patch_pixels // 2)
        if len(level.sources) < max(1, _LEAST_SOURCES * hole.size if found else 1):
            break
        found.append(level)
        picture, hole = _halved(picture, hole)
    return found


def _level(picture: Picture, hole: Pixels, *, half: int) -> Level:
    height, width = hole.shape
    margin = [(half, half), (half, half)]
    inside = np.pad(np.ones_like(hole), margin)
    missing = np.pad(hole, margin)
    broken = cv2.dilate((missing | ~inside).view(np.uint8), np.ones((2 * half + 1, 2 * half + 1), np.uint8), borderValue=(1.0,))
    valid = (broken == 0).ravel()
    # What is read beyond the last patch in a straight line has no weight but must be there.
    colours = np.zeros((inside.size + 8 * (half + 1), CHANNELS), np.int16)
    colours[: inside.size].reshape(*inside.shape, CHANNELS)[half : half + height, half : half + width, :3] = picture
    distance = cv2.distanceTransform(np.pad(hole, 1, mode="edge").view(np.uint8), cv2.DIST_C, 3)[1:-1, 1:-1]
    depth = np.pad(np.rint(distance).astype(np.int32), margin).ravel()
    return Level(
        height=height,
        width=width,
        half=half,
        colours=colours,
        missing=missing.ravel(),
        inside=inside.ravel(),
        valid=valid,
        sources=np.flatnonzero(valid).astype(np.int32),
        layers=_by_depth(depth),
    )


def _by_depth(depth: npt.NDArray[np.int32]) -> list[Positions]:
    positions = np.flatnonzero(depth)
    order = np.argsort(depth[positions], kind="stable")
    ends = np.cumsum(np.bincount(depth[positions]))
    return [part.astype(np.int32) for part in np.split(positions[order], ends) if len(part)]


def _halved(picture: Picture, hole: Pixels) -> tuple[Picture, Pixels]:
    """Means of what is known in blocks of 2 x 2; hole where less than half a block is."""
    known = ~hole
    count = _in_blocks(known.astype(np.int32))
    least = np.maximum(count, 1)[..., None]
    means = (2 * _in_blocks(np.where(hole[..., None], np.int32(0), picture)) + least) // (2 * least)
    return means.astype(np.uint8), 2 * count < _in_blocks(np.ones(hole.shape, np.int32))


def _in_blocks(numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Sums over blocks of 2 x 2, those at the far borders perhaps of less."""
    even = np.pad(numbers, [(0, numbers.shape[0] % 2), (0, numbers.shape[1] % 2), (0, 0)][: numbers.ndim])
    return np.asarray(even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2])
