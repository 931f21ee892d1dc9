"""Several pictures in one: where each lies, and the sheet that holds them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError

# `uint8[H, W, 3]`, RGB.
Picture = npt.NDArray[np.uint8]
# Of a whole sheet, pixels: what browsers decode everywhere.
MOST_WIDTH, MOST_HEIGHT = 3840, 2160
_WIDE = 16 / 9
# Pixels of a macroblock: tiles begin on its borders, so that no block of the encoder holds two players.
_BLOCK = 16


@dataclass(frozen=True)
class Grid:
    """Equal tiles in rows, from the upper left. Pixels."""

    count: int
    columns: int
    picture: tuple[int, int]
    """Width and height of the pictures; tiles have one column or row more where a side is odd, the last one repeated."""
    scale: float
    """Of the pictures against what they were made from, at most 1."""

    @property
    def rows(self) -> int:
        """How many."""
        return math.ceil(self.count / self.columns)

    @property
    def tile(self) -> tuple[int, int]:
        """Width and height of a tile, even."""
        return _up(self.picture[0], 2), _up(self.picture[1], 2)

    @property
    def cell(self) -> tuple[int, int]:
        """From the left of a tile to the left of the next one, and from top to top."""
        return _up(self.picture[0], _BLOCK), _up(self.picture[1], _BLOCK)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the sheet."""
        return self.cell[0] * self.columns, self.cell[1] * self.rows

    def place(self, index: int) -> tuple[int, int]:
        """x and y of the upper left pixel of a tile."""
        row, column = divmod(index, self.columns)
        return column * self.cell[0], row * self.cell[1]

    def sheet(self, pictures: Sequence[Picture]) -> Picture:
        """All ``pictures`` in their tiles, made smaller by area where they are larger; black where no tile is."""
        width, height = self.size
        sheet = np.zeros((height, width, 3), np.uint8)
        for index, picture in enumerate(pictures):
            x, y = self.place(index)
            sheet[y : y + self.cell[1], x : x + self.cell[0]] = self._filled(picture)
        return sheet

    def _filled(self, picture: Picture) -> Picture:
        """A cell whose rest repeats the edge, so that encoding does not smear anything else into it."""
        width, height = self.picture
        if picture.shape[:2] != (height, width):
            picture = np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
        below, beside = self.cell[1] - height, self.cell[0] - width
        return np.asarray(cv2.copyMakeBorder(picture, 0, below, 0, beside, cv2.BORDER_REPLICATE), np.uint8)


def layout(count: int, *, width: int, height: int, largest_side: int) -> Grid:
    """The grid for ``count`` pictures of one size: as large as they can be shown, then near to 16:9 with little left empty.

    Args:
        count: pictures, at least one.
        width: of a picture, pixels.
        height: of a picture, pixels.
        largest_side: no side of a tile is longer. Pictures are never enlarged.

    Raises:
        InputError: so many that nothing is left of them.
    """
    grids = [_grid(count, columns, width=width, height=height, largest_side=largest_side) for columns in range(1, count + 1)]
    best = min(grids, key=lambda grid: (-round(grid.scale, 6), round(_cost(grid), 6), grid.columns))
    if best.size[0] > MOST_WIDTH or best.size[1] > MOST_HEIGHT:
        raise InputError(f"{count} players of {width}x{height} do not fit into one picture of {MOST_WIDTH}x{MOST_HEIGHT}")
    return best


def _grid(count: int, columns: int, *, width: int, height: int, largest_side: int) -> Grid:
    rows = math.ceil(count / columns)
    most = (_down(MOST_WIDTH // columns, _BLOCK), _down(MOST_HEIGHT // rows, _BLOCK))
    side = _down(largest_side, 2)
    scale = min(1.0, side / max(width, height), most[0] / width, most[1] / height)
    if scale == 1:
        return Grid(count, columns, (width, height), scale)
    picture = (max(2, _down(int(width * scale + 1e-6), 2)), max(2, _down(int(height * scale + 1e-6), 2)))
    return Grid(count, columns, picture, scale)


def _cost(grid: Grid) -> float:
    """How far a sheet is from 16:9, and how much of it is empty; both in logarithms."""
    width, height = grid.size
    far = abs(math.log(width / height / _WIDE)) if height and width else math.inf
    return far + math.log(grid.columns * grid.rows / grid.count)


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _down(value: int, step: int) -> int:
    return value // step * step
