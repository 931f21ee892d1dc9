"""Pixels for the report: truth, input and composites of the items of a run."""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, regions, video
from inpaintbench.errors import InpaintBenchError, MediaError
from inpaintbench.eval.adapters.fitting import fitted, grey_view
from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.lazily import lazily
from inpaintbench.types import Dataset, Frames, Hole, Prediction
from inpaintbench.view import ItemView, composite_in_place
from inpaintbench.workspace import Blobs

cv2 = lazily("cv2")

# One small tiled video of an item: truth, input, every method, outline and mask of the hole.
#
# Tiles of one video cannot drift apart, whatever a browser does; the page cuts them out of each presented frame. Composites
# differ from the truth in the hole only, so their tiles hold a patch around it on black and the page lays it over the truth:
# that buys larger tiles and better quality for the same bytes. Patch and mask reach beyond the hole, so its seam is the
# method's own.

# Largest width of a tile, pixels.
TILE_WIDTH = 416
# Aim for the size of one tiled video; quality falls until it is met.
PROXY_BYTES = 400_000
_CRFS = (20, 36)
_TRIAL_FRAMES = 15
_POSTER_WIDTH = 128
# How far outline, mask and patch reach beyond the hole, in pixels of a tile; codecs smear colours over two or so.
_OUTLINE_PIXELS, _MASK_PIXELS, _PATCH_PIXELS = 2, 4, 9
# Channels of the hole, white on black: its border, and where patches are laid over the truth.
OUTLINE, MASK = "outline", "mask"


class Layout(NamedTuple):
    """Places of the tiles in the proxy, row by row. Cells are whole 16-pixel blocks, so tiles do not bleed into each other."""

    channels: tuple[str, ...]
    columns: int
    tile_width: int
    tile_height: int
    cell_width: int
    cell_height: int
    frames: int
    fps: float


class Tiles:
    """The tiles of one item, added channel by channel so that one decoded track at a time is enough.

    Args:
        truth: the first tile, shown whole.
        hole: limits the other tiles to a patch around it; None shows them whole.
        whole: show them whole, with an outline of the hole.
    """

    def __init__(self, truth: Frames, *, hole: Hole | None, whole: bool = False) -> None:
        self._tiles = {"truth": _shrink(truth)}
        self._hole = self._patch = None
        if hole is not None:
            _, height, width = self._tiles["truth"].shape[:3]
            # A pixel that is hole in part is hole.
            self._hole = _resized(hole.view(np.uint8) * np.uint8(255), (width, height)) > 0
            self._patch = None if whole else regions.dilate(self._hole, radius=_PATCH_PIXELS)

    def add(self, channel: str, frames: Frames) -> None:
        """Add ``frames``, of the truth's shape, as the next tile."""
        tile = _shrink(frames)
        if self._patch is not None:  # black around the patch
            shown = np.zeros_like(tile)
            for frame, pixels, drawn in zip(tile, self._patch.view(np.uint8), shown, strict=True):
                cv2.copyTo(frame, pixels, drawn)
            tile = shown
        self._tiles[channel] = tile

    def sheet(self, *, fps: float) -> tuple[Frames, Layout]:
        """All tiles as one track, and where they lie in it; what a tile leaves of its cell repeats the tile's edge, which
        compresses well."""
        tiles = dict(self._tiles)
        if self._hole is not None:
            tiles[OUTLINE] = _white(regions.dilate(self._hole, radius=_OUTLINE_PIXELS) & ~self._hole)
            if self._patch is not None:
                tiles[MASK] = _white(regions.dilate(self._hole, radius=_MASK_PIXELS))
        layout = make_layout(tuple(tiles), shape=tiles["truth"].shape, fps=fps)
        rows = math.ceil(len(tiles) / layout.columns)
        sheet = np.zeros((layout.frames, rows * layout.cell_height, layout.columns * layout.cell_width, 3), np.uint8)
        for index, tile in enumerate(tiles.values()):
            row, column = divmod(index, layout.columns)
            top, left = row * layout.cell_height, column * layout.cell_width
            cell = sheet[:, top : top + layout.cell_height, left : left + layout.cell_width]
            cell[:, : layout.tile_height, : layout.tile_width] = tile
            cell[:, layout.tile_height :, : layout.tile_width] = tile[:, -1:]
            cell[:, :, layout.tile_width :] = cell[:, :, layout.tile_width - 1 : layout.tile_width]
        return sheet, layout


def make_layout(channels: tuple[str, ...], *, shape: tuple[int, ...], fps: float) -> Layout:
    """Tiles of ``shape`` (frames, height, width) in the grid that wastes the fewest cells."""
    frames, height, width = shape[:3]
    count = len(channels)
    columns = min(range(2, 6), key=lambda columns: (-count % columns, abs(columns - math.sqrt(count))))
    cell_width, cell_height = (math.ceil(side / 16) * 16 for side in (width, height))
    return Layout(channels, columns, width, height, cell_width, cell_height, frames, fps)


def _shrink(frames: Frames) -> Frames:
    """Frames at tile size; never enlarged."""
    height, width = frames.shape[1:3]
    scale = min(1.0, TILE_WIDTH / width)
    size = (max(2, round(width * scale)), max(2, round(height * scale)))
    return frames if size == (width, height) else _resized(frames, size)


def _resized(frames: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    resized = [cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]
    return np.stack(resized).astype(np.uint8, copy=False)


def _white(pixels: Hole) -> Frames:
    return np.repeat(pixels.view(np.uint8)[..., None] * np.uint8(255), 3, axis=-1)


def encode(sheet: Frames, *, fps: float) -> bytes:
    """The best quality that meets ``PROXY_BYTES``, and the lowest one when none does."""
    crf, lowest = _CRFS

    def encoded(frames: Frames) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "proxy.mp4"
            video.write_browser(path, frames, fps=fps, crf=crf)
            return path.read_bytes()

    def next_crf(size: float) -> int:
        """Where ``size`` bytes would become ``PROXY_BYTES``: six steps halve them."""
        return crf if size <= PROXY_BYTES else min(lowest, crf + math.ceil(6 * math.log2(size / PROXY_BYTES)))

    # A short trial is cheap and near enough; a trial's share of bytes is that of its frames.
    trial = sheet[:_TRIAL_FRAMES]
    crf = next_crf(len(encoded(trial)) * len(sheet) / len(trial))
    while len(data := encoded(sheet)) > PROXY_BYTES and crf < lowest:
        crf = next_crf(len(data))
    return data


def poster(frame: npt.NDArray[np.uint8]) -> bytes:
    """A frame as a small PNG."""
    height = max(2, round(frame.shape[0] * _POSTER_WIDTH / frame.shape[1]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "poster.png"
        video.write_image(path, cv2.resize(frame, (_POSTER_WIDTH, height), interpolation=cv2.INTER_AREA).astype(np.uint8))
        return path.read_bytes()


# Metrics frame by frame, for the items that the report shows: measured on the originals when the report is written.
#
# A run folder keeps one number for each item, so the frames are measured again, by the protocol's own metrics, one frame at a
# time.

# Metrics that each frame has a value of by itself, quick to measure again.
BY_FRAMES = ("psnr", "ssim")
Values = list[float | None]


class Recipe(NamedTuple):
    """Quantities measured of each frame, with the metrics that give them; or none, and the reason."""

    quantities: tuple[Quantity, ...]
    metrics: tuple[Metric, ...]
    grey: bool
    reason: str | None


def recipe_of(
    protocol: Protocol, quantities: Sequence[Quantity], *, region: str, sizes: Collection[tuple[int, int]] = ()
) -> Recipe:
    """Those of ``BY_FRAMES`` that were scored in ``region``; none for a protocol that does not measure the item's own frames.

    Args:
        protocol: that they were scored under.
        quantities: all that were scored.
        region: one of its regions.
        sizes: width and height of the items; a protocol that measures at the size of all of them measures their own frames.
    """
    wanted = tuple(quantity for quantity in quantities if quantity.metric in BY_FRAMES and quantity.region == region)
    grey = protocol.colours == "grey"
    resized = protocol.size is not None and set(sizes) != {protocol.size}
    differs = {
        "at another size": resized,
        "with a hole that it grows": protocol.hole_dilations,
        "with the input around the hole": protocol.composite and protocol.known_from != "truth",
        "whole predictions": not protocol.composite,
    }
    others = [words for words, there in differs.items() if there]
    if others:
        return Recipe((), (), grey, f"{protocol.name} measures other pixels than the report has: {', '.join(others)}")
    if not wanted:
        return Recipe((), (), grey, f"neither PSNR nor SSIM was scored in the region {region!r}")
    return Recipe(wanted, tuple(protocol.build_metrics([one.metric for one in wanted], regions=[region])), grey, None)


def frame_values(recipe: Recipe, truth: Frames, composite: Frames, hole: Hole) -> dict[Quantity, Values]:
    """Each quantity of every frame, of a perfect copy the ceiling or infinite, None for a frame without a pixel of the region.

    Args:
        recipe: what is measured.
        truth: ``uint8[T, H, W, 3]``.
        composite: the same shape.
        hole: ``bool[T, H, W]``; all True where every pixel is degraded.
    """
    values: dict[Quantity, Values] = {quantity: [] for quantity in recipe.quantities}
    for at in range(len(truth)):
        frame = slice(at, at + 1)
        view = ItemView.of_arrays(truth=truth[frame], composite=composite[frame], hole=hole[frame])
        view = grey_view(view) if recipe.grey else view
        for quantity, metric in zip(recipe.quantities, recipe.metrics, strict=True):
            value = None
            with suppress(InpaintBenchError):  # frames too small for the metric: its score is missing with that reason
                value = metric.measure(view)[quantity.region].value
            values[quantity].append(value)
    return values


def rounded(values: Sequence[float | None], digits: Callable[[float], float]) -> list[float | str | None]:
    """Values that JSON can hold: infinity as the text ``inf``."""
    return [value if value is None else digits(value) if math.isfinite(value) else "inf" for value in values]


class PredictionMedia:
    """Decodes what a gallery asks for; holds one item at a time for each thread that asks.

    Args:
        root: folder of the dataset.
        dataset: its manifest.
        blobs: where the predictions lie.
        predictions: of any methods.
        protocol: says what is done with predictions of another size than their item's (those it cannot score are not shown),
            and what lies around the hole: the truth, the input, or what was predicted there.
    """

    def __init__(
        self, root: Path | str, dataset: Dataset, blobs: Blobs, predictions: Sequence[Prediction], *, protocol: Protocol
    ) -> None:
        self._root, self._blobs, self._protocol = root, blobs, protocol
        self._rows = {row["item_id"]: row for row in dataset.items}
        self._prediction_of = {(row.item_id, row.method): row for row in predictions}
        # Id, truth and hole of the item that a thread asked for last.
        self._held = threading.local()

    def frames(self, item_id: str, channel: str) -> Frames | None:
        """``truth`` (the input where nobody has it), ``input`` (hole filled), or what is scored of the method ``channel``; None
        without a prediction that can be scored.

        Raises:
            VerifyError: what is to be shown is not what was published or predicted.
        """
        truth, hole = self._loaded(item_id)
        if channel == "truth":
            return truth
        if channel == "input":
            return frozen.corrupted(self._root, self._rows[item_id], lambda: hole, truth=lambda: truth)
        prediction = self._prediction_of.get((item_id, channel))
        if prediction is None:
            return None
        try:
            read = video.read_frames(self._blobs.proved(prediction.blob, of=f"the prediction of item {item_id!r}: "))
            frames = fitted(read, self._rows[item_id], resize=self._protocol.resize)
        except MediaError:  # scored as missing, with the reason
            return None
        if self._protocol.known_from == "truth":
            return composite_in_place(truth, hole, frames)
        if not self._protocol.composite and prediction.full_frames:
            return frames
        return composite_in_place(frozen.corrupted(self._root, self._rows[item_id], lambda: hole), hole, frames)

    def hole(self, item_id: str) -> Hole | None:
        """The hole of the item, ``bool[T, H, W]``; None where every pixel is degraded."""
        return self._loaded(item_id)[1] if frozen.has_hole(self._rows[item_id]) else None

    def _loaded(self, item_id: str) -> tuple[Frames, Hole]:
        held: tuple[str, Frames, Hole] | None = getattr(self._held, "item", None)
        if held is None or held[0] != item_id:
            row = self._rows[item_id]
            if frozen.is_unpaired(row):
                held = (item_id, frozen.input_view(self._root, row).input, frozen.hole_of(self._root, row))
            else:
                held = (item_id, *frozen.truth_and_hole(self._root, row))
            self._held.item = held
        return held[1], held[2]


class HowShown(TypedDict):
    """Arguments of ``gallery.make_exhibits``."""

    edits: bool
    whole: bool


def how_shown(dataset: Dataset, protocol: Protocol) -> HowShown:
    """Return whether items have one picture beside their results, and whether these differ outside the hole too."""
    single = any(frozen.is_edit(row) or frozen.is_unpaired(row) for row in dataset.items)
    return {"edits": single, "whole": protocol.known_from != "truth"}
