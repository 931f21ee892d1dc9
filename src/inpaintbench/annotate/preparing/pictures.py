"""Pictures of a task: read one by one, so that a task of any length holds one of each file; outlined, and tiled in one sheet."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from inpaintbench import regions, video
from inpaintbench.annotate.study import PATCHED, Tile
from inpaintbench.errors import InputError, MediaError
from inpaintbench.lazily import lazily

colour, cv2, decoding = map(lazily, ("inpaintbench.video.colour", "cv2", "inpaintbench.video.decoding"))

# `uint8[H, W, 3]`, RGB.
Picture = npt.NDArray[np.uint8]
# Of a whole sheet, pixels: what browsers decode everywhere.
MOST_WIDTH, MOST_HEIGHT = 3840, 2160
# Shape of most screens, which a sheet comes near to.
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
    """Factor from the originals to the pictures, at most 1."""
    block: int = _BLOCK
    """Tiles begin at multiples of it, pixels."""

    @property
    def rows(self) -> int:
        """Number of them."""
        return math.ceil(self.count / self.columns)

    @property
    def tile(self) -> tuple[int, int]:
        """Width and height of a tile, even."""
        return _up(self.picture[0], 2), _up(self.picture[1], 2)

    @property
    def cell(self) -> tuple[int, int]:
        """From the left of a tile to the left of the next one, and from top to top."""
        return _up(self.picture[0], self.block), _up(self.picture[1], self.block)

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
    grids = []
    for columns in range(1, count + 1):
        most = (_down(MOST_WIDTH // columns, _BLOCK), _down(MOST_HEIGHT // math.ceil(count / columns), _BLOCK))
        scale = min(1.0, _down(largest_side, 2) / max(width, height), most[0] / width, most[1] / height)
        shrunk = (max(2, _down(int(width * scale + 1e-6), 2)), max(2, _down(int(height * scale + 1e-6), 2)))
        grids.append(Grid(count, columns, (width, height) if scale == 1 else shrunk, scale))

    def cost(grid: Grid) -> float:
        """Return how far a sheet is from 16:9, and how much of it is empty; both in logarithms."""
        wide, high = grid.size
        far = abs(math.log(wide / high / _WIDE)) if high and wide else math.inf
        return far + math.log(grid.columns * grid.rows / grid.count)

    best = min(grids, key=lambda grid: (-round(grid.scale, 6), round(cost(grid), 6), grid.columns))
    if best.size[0] > MOST_WIDTH or best.size[1] > MOST_HEIGHT:
        raise InputError(f"{count} players of {width}x{height} do not fit into one picture of {MOST_WIDTH}x{MOST_HEIGHT}")
    return best


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _down(value: int, step: int) -> int:
    return value // step * step


# Frames, height, width.
Shape = tuple[int, int, int]
Array = TypeVar("Array", bound=npt.NDArray[np.generic])
Key = TypeVar("Key", bound=Hashable)


def frames_of(path: Path | str, *, shape: Shape) -> Iterator[Picture]:
    """Frames of ``video.read_frames``, ``uint8[H, W, 3]`` at a time.

    Raises:
        MediaError: as that, and for another size or number of frames than ``shape``.
    """
    if video.is_image(path):
        return _exactly(iter(video.read_frames(path)), shape=shape)
    return _exactly((colour.to_rgb(frame) for frame in decoding.whole(path)), shape=shape)


def hole_of(path: Path | str, *, shape: Shape) -> Iterator[npt.NDArray[np.bool_]]:
    """Holes of ``video.read_hole``, ``bool[H, W]`` at a time, True = hole. Raises as ``frames_of``."""
    if video.is_image(path):
        return _exactly(iter(video.read_hole(path)), shape=shape)

    def holes() -> Iterator[npt.NDArray[np.bool_]]:
        for frame in decoding.whole(path):
            plane = frame.planes[0]  # as coded: asking for a format would convert its range
            yield np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width] > 127

    return _exactly(holes(), shape=shape)


def _exactly(pictures: Iterator[Array], *, shape: Shape) -> Iterator[Array]:
    frames, height, width = shape
    count = 0
    for picture in pictures:
        count += 1
        if picture.shape[:2] != (height, width):
            raise MediaError(f"it is {picture.shape[1]}x{picture.shape[0]}, not {width}x{height}")
        if count > frames:
            raise MediaError(f"it has more than {frames} frame{'s' * (frames != 1)}")
        yield picture
    if count < frames:
        raise MediaError(f"it has {count} frame{'s' * (count != 1)}, not {frames}")


def outline(hole: npt.NDArray[np.bool_], *, size: tuple[int, int]) -> Picture:
    """White lines on black along the edge of ``hole`` (``bool[H, W]``), one pixel on either side of it.

    Args:
        hole: of one frame, True = hole.
        size: width and height of the picture, at most those of the hole; a pixel that covers any of the hole counts as hole.
    """
    levels = hole.astype(np.uint8) * 255
    if hole.shape != size[::-1]:
        levels = np.where(cv2.resize(levels, size, interpolation=cv2.INTER_AREA) > 0, 255, 0).astype(np.uint8)
    edge = cv2.morphologyEx(levels, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    return np.repeat(edge[:, :, None], 3, axis=2)


def asking(picture: Picture, *, wanted: bool) -> Picture:
    """``picture`` under a white board that asks to choose it, or not to: in words, and by a tick or a cross in any language."""
    made, (height, width) = picture.copy(), picture.shape[:2]
    unit = min(width / 16, height / 6)
    left, top = width / 2 - 7 * unit, height / 2 - 2 * unit

    def at(x: float, y: float) -> tuple[int, int]:
        return round(left + x * unit), round(top + y * unit)

    colour, stroke, thin = ((0, 110, 0) if wanted else (190, 0, 0)), max(1, round(unit / 2)), max(1, round(unit / 6))
    cv2.rectangle(made, at(0, 0), at(14, 4), (255, 255, 255), -1)
    for line in ([(0.8, 2.2), (1.8, 3.2), (3.6, 0.8)],) if wanted else ([(0.8, 0.8), (3.2, 3.2)], [(0.8, 3.2), (3.2, 0.8)]):
        cv2.polylines(made, [np.array([at(*point) for point in line])], False, colour, stroke, cv2.LINE_AA)
    for y, words in ((1.75, "CHOOSE" if wanted else "DO NOT"), (3.5, "THIS" if wanted else "CHOOSE")):
        # Letters of this font are 21 units high at scale 1.
        cv2.putText(made, words, at(4.4, y), cv2.FONT_HERSHEY_SIMPLEX, 1.3 * unit / 21, colour, thin, cv2.LINE_AA)
    return made


# How far mask and patches reach beyond the hole, in pixels of a tile: codecs smear colours over two or so.
_MASK_PIXELS, _PATCH_PIXELS = 4, 9


def patches(pictures: Mapping[Key, Picture], hole: npt.NDArray[np.bool_], *, grid: Grid) -> tuple[dict[Key, Picture], Picture]:
    """``pictures`` black away from ``hole`` (``bool[H, W]``), and a mask: white where players lay them over the original."""
    mask, patch = (
        regions.dilate(hole[None], radius=math.ceil(pixels / grid.scale))[0] for pixels in (_MASK_PIXELS, _PATCH_PIXELS)
    )
    cut = {key: np.where(patch[..., None], picture, np.uint8(0)) for key, picture in pictures.items()}
    return cut, np.repeat(mask[..., None] * np.uint8(255), 3, axis=2)


def laid(sheet: Picture, tiles: Sequence[Tile]) -> Picture:
    """A decoded sheet as players show it: where it has a mask, its patches over the original."""
    places = {tile.role: (slice(tile.y, tile.y + tile.height), slice(tile.x, tile.x + tile.width)) for tile in tiles}
    if "mask" not in places:
        return sheet
    mask = sheet[places["mask"]].astype(np.float32) / 255
    around = sheet[places["original"]] * (1 - mask)
    sheet = sheet.copy()
    for tile in tiles:
        if tile.role in PATCHED:
            part = sheet[tile.y : tile.y + tile.height, tile.x : tile.x + tile.width]
            part[:] = np.rint(part * mask + around)
    return sheet


def write_sheets(path: Path, sheets: Iterator[Picture], *, fps: float, **coding: Any) -> None:
    """Write pictures of one size as a lossless image or, with ``coding``, as ``video.write_browser`` does."""
    if video.is_image(path):
        video.write_lossless(path, np.stack(list(sheets)), fps=fps)
    else:
        video.write_browser(path, sheets, fps=fps, **coding)
