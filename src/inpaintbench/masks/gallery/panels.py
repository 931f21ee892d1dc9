"""Contents of the gallery: panels of one setting each, tiles of one corruption each, what is measured on one, its pictures.

Pictures are small, encoded in memory, frames side by side, the hole apart from what it covers. Truth, hole and outline are
layers that the page lays over each other, so that three views cost little more than one, and tiles over the same photograph
share bytes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench import regions
from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.types import Frames, Joint, Plain

cv2 = lazily("cv2")

# Shares nearer than this are printed alike.
_SAME = 5e-5


@dataclass(frozen=True)
class View:
    """One way to look at all tiles; the style knows it as ``view-<name>``."""

    name: str
    label: str
    title: str


@dataclass(frozen=True)
class Quantity:
    """A share 0..1 that is measured on every frame of a tile."""

    noun: str
    """Name of what a tile shows: ``mask``."""
    name: str
    """Name of the share: ``area``."""
    fact: str
    """Name of a generator's fact that says the same."""
    views: tuple[View, ...]
    has_parts: bool
    """True when connected parts of a hole are counted beside it."""
    terms: tuple[tuple[str, str], ...]
    """Words of the page, each with the rest of a sentence that says what was measured."""

    def repeats(self, name: str, value: Any, measured: float) -> bool:
        """Return whether the fact ``name`` only says again what was measured."""
        return name == self.fact and isinstance(value, float) and abs(value - measured) < _SAME


_INPUT = View("input", "Input", "What a method sees")
AREA = Quantity(
    noun="mask",
    name="area",
    fact="area_fraction",
    views=(
        _INPUT,
        View("outline", "Outline", "The hole in yellow over the truth"),
        View("hole", "Hole", "The hole alone, white"),
    ),
    has_parts=True,
    terms=(
        ("Area", "is the share of hole pixels in the frame, for clips the mean over frames."),
        ("Parts", "are connected pieces of the hole in the frame with the largest hole, corners touching."),
    ),
)
CHANGE = Quantity(
    noun="degradation",
    name="change",
    fact="change_rms",
    views=(_INPUT, View("truth", "Truth", "What is to be recovered")),
    has_parts=False,
    terms=(
        (
            "Change",
            "is the root mean square difference between input and truth, as a share of the full range from black to white: in"
            " grey where the truth is grey, otherwise over red, green and blue; for clips the mean over frames.",
        ),
    ),
)


_REASONS_TOLD = 2


@dataclass(frozen=True)
class Tile:
    """One mask over one picture or clip, or one degradation of it."""

    truth: Frames
    drawn: Drawn
    caption: str = ""
    """Caption that tells this tile from its neighbours: a number, a name of the picture."""
    joints: tuple[Joint, ...] = ()
    input: Frames | None = None
    """View of a method, where it is more than the truth with its hole in black; an overlay is painted and the input of a
    degradation taken without being asked."""

    @property
    def given_input(self) -> Frames | None:
        """The input of methods, where somebody gave it."""
        return self.drawn.input if self.input is None else self.input


@dataclass(frozen=True)
class Panel:
    """One setting of the generator's parameters and what it makes."""

    title: str
    parameters: Plain
    tiles: Sequence[Tile]
    area_bounds: tuple[float, float] | None = None
    """Bounds of the bin that was asked for, shares of the frame: a mask is inside when low < area <= high."""
    refusals: tuple[str, ...] = ()
    """Reason why the generator made nothing, one text for each tile that is missing."""


@dataclass(frozen=True)
class TileMeasurements:
    """Measurements of one corruption. Shares are 0..1."""

    quantity: Quantity
    """Name of what ``values`` are."""
    values: tuple[float, ...] = field(repr=False)
    """Share of each frame."""
    components: int | None = None
    """Connected parts of the hole in the frame with the largest one, 8 neighbours; None without a hole."""
    union: float | None = None
    """Share of pixels that are hole in at least one frame; None without a hole."""
    opacity: float | None = None
    """Mean opacity of an overlay inside the hole; None without an overlay or a hole."""

    @property
    def value(self) -> float:
        """Mean over frames."""
        return float(np.mean(self.values))

    @property
    def strongest_frame(self) -> int:
        """The first frame with the largest value."""
        return int(np.argmax(self.values))


def quantity_of(panels: Sequence[Panel]) -> Quantity:
    """The quantity measured on all tiles: the area of holes, or the change where a generator degrades everything.

    Raises:
        InputError: some tiles have a hole and others have none.
    """
    without_hole = {tile.drawn.hole is None for panel in panels for tile in panel.tiles}
    if len(without_hole) > 1:
        raise InputError("masks and degradations of whole pictures cannot be shown on one page: write a page for each")
    return CHANGE if without_hole == {True} else AREA


def measure_tile(tile: Tile) -> TileMeasurements:
    """Size and parts of the hole of a tile, or by how much its input differs from its truth."""
    hole, alpha, seen = tile.drawn.hole, tile.drawn.alpha, tile.given_input
    if hole is None:
        changes = [] if seen is None else [change(*frames) for frames in zip(tile.truth, seen, strict=True)]
        return TileMeasurements(CHANGE, tuple(changes))
    areas = regions.hole_fraction(hole)
    largest = np.ascontiguousarray(hole[int(areas.argmax())])
    return TileMeasurements(
        AREA,
        tuple(areas.tolist()),
        components=cv2.connectedComponents(largest.view(np.uint8), connectivity=8)[0] - 1,
        union=float(hole.any(axis=0).mean()),
        opacity=None if alpha is None or not hole.any() else float(alpha[hole].mean() / 255),
    )


def change(truth: npt.NDArray[np.uint8], seen: npt.NDArray[np.uint8]) -> float:
    """Root mean square difference of two frames ``uint8[H, W, 3]``, 0..1; of their greys where the truth is grey."""
    grey = bool((truth == truth[..., :1]).all())
    wanted, given = (cv2.cvtColor(np.ascontiguousarray(one), cv2.COLOR_RGB2GRAY) if grey else one for one in (truth, seen))
    difference = wanted.astype(np.float64) - given
    return float(np.sqrt(np.mean(difference**2)) / 255)


def check_panels(panels: Sequence[Panel]) -> None:
    """Raise unless there is something to show and every array fits its tile.

    Raises:
        InputError: no tile at all, tiles with and without a hole, an input of another shape than its truth, colours missing, a
            bin without width.
        MaskShapeError: a hole does not fit its truth.
    """
    if not any(panel.tiles for panel in panels):
        refusals = [refusal for panel in panels for refusal in panel.refusals]
        raise InputError(
            f"no mask could be made: {in_short(refusals, most=_REASONS_TOLD)}"
            if refusals
            else "a gallery needs at least one mask to show"
        )
    quantity_of(panels)
    for panel in panels:
        low, high = panel.area_bounds or (0, 1)
        if not (math.isfinite(low) and math.isfinite(high) and 0 <= low < high <= 1):
            raise InputError(f"area bounds {low}..{high} of {panel.title!r} are no bin: use shares with 0 <= low < high <= 1")
        for index, tile in enumerate(panel.tiles, 1):
            _check_tile(tile, subject=f"tile {index} of {panel.title!r}")


def in_short(refusals: Sequence[str], *, most: int) -> str:
    """The first distinct reasons, and how many more there are."""
    reasons = list(dict.fromkeys(refusals))
    more = len(reasons) - most
    words = "; ".join(reasons[:most])
    return words if more <= 0 else f"{words}; and {more} more {'reason' if more == 1 else 'reasons'}"


def _check_tile(tile: Tile, *, subject: str) -> None:
    truth, hole, seen = tile.truth, tile.drawn.hole, tile.given_input
    if truth.ndim != 4 or truth.shape[3] != 3 or truth.dtype != np.uint8 or 0 in truth.shape:
        raise InputError(f"the truth of {subject} is {truth.dtype}{truth.shape}, not frames uint8[T, H, W, 3]")
    if seen is not None and (seen.shape != truth.shape or seen.dtype != truth.dtype):
        raise InputError(f"the input of {subject} is {seen.dtype}{seen.shape}, its truth {truth.dtype}{truth.shape}")
    if hole is None:
        if seen is None:
            raise InputError(f"{subject} has neither a hole nor an input: there is nothing to show")
        return
    frames, height, width = truth.shape[:3]
    regions.check_shape(hole, frames=frames, height=height, width=width, subject=subject)
    alpha, colour = tile.drawn.alpha, tile.drawn.colour
    if alpha is not None and alpha.shape != hole.shape:
        raise InputError(f"the opacity of {subject} has shape {alpha.shape}, its hole {hole.shape}")
    if alpha is not None and (colour is None or colour.shape != truth.shape):
        shape = None if colour is None else colour.shape
        raise InputError(f"the overlay of {subject} needs colours of shape {truth.shape}, not {shape}")


Levels = npt.NDArray[np.uint8]

# Of a clip, evenly spaced, the one with the largest hole or change among them.
FRAMES_SHOWN = 6
# Aim for all pictures together; written as text they take a third more. Quality, then size, falls until it is met.
PAGE_BYTES = 4_000_000


@dataclass(frozen=True)
class Form:
    """Size and quality of encoded pictures."""

    side: int
    """Size of the longer side of a frame, pixels; never enlarged."""
    quality: int


FORMS = (Form(400, 82), Form(288, 82), Form(256, 66), Form(256, 45), Form(192, 45))


@dataclass(frozen=True)
class Pictures:
    """The layers of one tile, encoded; each holds the shown frames from left to right."""

    shown: tuple[int, ...]
    """Numbers of the frames."""
    truth: bytes
    """WebP."""
    hole: bytes | None
    """PNG, white where the hole is and transparent elsewhere; half transparent where an overlay is. None without a hole."""
    outline: bytes | None
    """PNG, white along the outer side of the hole's border, transparent elsewhere. None without a hole."""
    input: bytes | None
    """WebP; None where the input is the truth with its hole in black."""
    over_time: bytes | None
    """WebP of how often each pixel is hole, dark to bright; None for a still image and without a hole."""

    def layers(self) -> list[bytes]:
        """Those that there are."""
        return [data for data in (self.truth, self.input, self.over_time, self.hole, self.outline) if data is not None]


def draw_all(tiles: Sequence[Tile], strongest_frames: Sequence[int]) -> list[Pictures]:
    """The pictures of all tiles, in the best form in which the distinct ones fit into ``PAGE_BYTES``, or else the smallest."""
    drawn: list[Pictures] = []
    for form in FORMS:
        drawn = [draw(tile, strongest, form) for tile, strongest in zip(tiles, strongest_frames, strict=True)]
        if sum(map(len, {data for one in drawn for data in one.layers()})) <= PAGE_BYTES:
            break
    return drawn


def draw(tile: Tile, strongest_frame: int, form: Form) -> Pictures:
    """The pictures of ``tile`` with ``strongest_frame`` among the frames shown."""
    frames, height, width = tile.truth.shape[:3]
    scale = min(1.0, form.side / max(width, height))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    shown = frames_to_show(frames, strongest_frame)
    chosen = list(shown)
    hole, seen = tile.drawn.hole, _input(tile, chosen)
    mask = outline = over_time = None
    if hole is not None:
        levels = hole.view(np.uint8) * np.uint8(255)
        mask = _mask_png(_shrink((levels if tile.drawn.alpha is None else tile.drawn.alpha)[chosen], size))
        # A line of two pixels around what is hole by half or more; along the frame's edge nothing is outside.
        solid = (_shrink(levels[chosen], size) >= 128).astype(np.uint8)
        grown = np.stack([cv2.dilate(frame, np.ones((5, 5), np.uint8)) for frame in solid]).astype(np.uint8, copy=False)
        outline = _mask_png((grown & ~solid) * np.uint8(255))
        if frames > 1:
            share = (hole.mean(axis=0) * 255).round().astype(np.uint8)
            coloured = cv2.applyColorMap(_shrink(share[None], size)[0], cv2.COLORMAP_INFERNO)
            over_time = _webp(coloured[None, ..., ::-1], form.quality)
    return Pictures(
        shown=shown,
        truth=_webp(_shrink(tile.truth[chosen], size), form.quality),
        hole=mask,
        outline=outline,
        input=None if seen is None else _webp(_shrink(seen, size), form.quality),
        over_time=over_time,
    )


def frames_to_show(frames: int, strongest_frame: int) -> tuple[int, ...]:
    """At most ``FRAMES_SHOWN`` frames from first to last, the nearest of them moved to ``strongest_frame``."""
    evenly = np.unique(np.linspace(0, frames - 1, FRAMES_SHOWN).round().astype(int)).tolist()
    nearest = min(range(len(evenly)), key=lambda index: abs(evenly[index] - strongest_frame))
    evenly[nearest] = strongest_frame
    return tuple(evenly)


def _input(tile: Tile, chosen: list[int]) -> Frames | None:
    if tile.given_input is not None:
        return tile.given_input[chosen]
    alpha, colour = tile.drawn.alpha, tile.drawn.colour
    if alpha is None or colour is None:
        return None
    from inpaintbench.masks.overlays.raster import over

    painted: Frames = over(tile.truth[chosen], alpha[chosen], colour[chosen])
    return painted


def _shrink(frames: Levels, size: tuple[int, int]) -> Levels:
    frames = np.ascontiguousarray(frames)
    if (frames.shape[2], frames.shape[1]) == size:
        return frames
    return np.stack([cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in frames]).astype(np.uint8, copy=False)


def _beside(frames: Levels) -> Levels:
    return np.ascontiguousarray(np.concatenate(list(frames), axis=1))


def _mask_png(opacity: Levels) -> bytes:
    flat = _beside(opacity)
    buffer = io.BytesIO()
    Image.fromarray(np.stack([np.full_like(flat, 255), flat], axis=-1), mode="LA").save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _webp(frames: Frames, quality: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(_beside(frames)).save(buffer, "WEBP", quality=quality, method=4)
    return buffer.getvalue()
