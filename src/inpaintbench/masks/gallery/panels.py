"""What the gallery shows: panels of one parameter setting each, tiles of one mask each, and what is measured on a tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from inpaintbench import regions
from inpaintbench.errors import InputError
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.types import Frames, Joint, Plain

_REASONS_TOLD = 2


@dataclass(frozen=True)
class Tile:
    """One mask over one picture or clip."""

    truth: Frames
    drawn: Drawn
    caption: str = ""
    """What tells this tile from its neighbours: a number, a name of the picture."""
    joints: tuple[Joint, ...] = ()
    input: Frames | None = None
    """What a method sees, where it is more than the truth with its hole in black; an overlay is painted without being asked."""


@dataclass(frozen=True)
class Panel:
    """One setting of the generator's parameters and masks that it makes."""

    title: str
    parameters: Plain
    tiles: Sequence[Tile]
    area_bounds: tuple[float, float] | None = None
    """Of the bin that was asked for, shares of the frame: a mask is inside when low < area <= high."""
    refusals: tuple[str, ...] = ()
    """Why the generator made no mask, one text for each that is missing."""


@dataclass(frozen=True)
class TileMeasurements:
    """What a mask amounts to. Shares are of the frame, 0..1."""

    area: float
    """Mean over frames of the share of hole pixels."""
    least_area: float
    most_area: float
    areas: tuple[float, ...] = field(repr=False)
    """Of each frame."""
    largest_frame: int
    """The first frame with the largest hole."""
    components: int
    """Connected parts of the hole in that frame, 8 neighbours."""
    union: float
    """Share of pixels that are hole in at least one frame."""
    opacity: float | None
    """Mean opacity of an overlay inside the hole; None without an overlay or a hole."""


def measure_tile(tile: Tile) -> TileMeasurements:
    """Size and parts of the hole of a tile."""
    hole = tile.drawn.hole
    areas = regions.hole_fraction(hole)
    largest = int(areas.argmax())
    parts, _ = cv2.connectedComponents(np.ascontiguousarray(hole[largest]).view(np.uint8), connectivity=8)
    alpha = tile.drawn.alpha
    return TileMeasurements(
        area=float(areas.mean()),
        least_area=float(areas.min()),
        most_area=float(areas.max()),
        areas=tuple(float(area) for area in areas),
        largest_frame=largest,
        components=parts - 1,
        union=float(hole.any(axis=0).mean()),
        opacity=None if alpha is None or not hole.any() else float(alpha[hole].mean() / 255),
    )


def check_panels(panels: Sequence[Panel]) -> None:
    """Raise unless there is something to show and every array fits its tile.

    Raises:
        InputError: no tile at all, an input of another shape than its truth, colours missing, a bin without width.
        MaskShapeError: a hole does not fit its truth.
    """
    if not any(panel.tiles for panel in panels):
        refusals = [refusal for panel in panels for refusal in panel.refusals]
        raise InputError(
            f"no mask could be made: {in_short(refusals, most=_REASONS_TOLD)}"
            if refusals
            else "a gallery needs at least one mask to show"
        )
    for panel in panels:
        _check_bounds(panel)
        for index, tile in enumerate(panel.tiles, 1):
            _check_tile(tile, subject=f"tile {index} of {panel.title!r}")


def in_short(refusals: Sequence[str], *, most: int) -> str:
    """The first distinct reasons, and how many more there are."""
    reasons = list(dict.fromkeys(refusals))
    more = len(reasons) - most
    words = "; ".join(reasons[:most])
    return words if more <= 0 else f"{words}; and {more} more {'reason' if more == 1 else 'reasons'}"


def _check_bounds(panel: Panel) -> None:
    if panel.area_bounds is None:
        return
    low, high = panel.area_bounds
    if not (math.isfinite(low) and math.isfinite(high) and 0 <= low < high <= 1):
        raise InputError(f"area bounds {low}..{high} of {panel.title!r} are no bin: use shares with 0 <= low < high <= 1")


def _check_tile(tile: Tile, *, subject: str) -> None:
    truth, drawn = tile.truth, tile.drawn
    if truth.ndim != 4 or truth.shape[3] != 3 or truth.dtype != np.uint8 or 0 in truth.shape:
        raise InputError(f"the truth of {subject} is {truth.dtype}{truth.shape}, not frames uint8[T, H, W, 3]")
    frames, height, width = truth.shape[:3]
    regions.check_shape(drawn.hole, frames=frames, height=height, width=width, subject=subject)
    if tile.input is not None and tile.input.shape != truth.shape:
        raise InputError(f"the input of {subject} has shape {tile.input.shape}, its truth {truth.shape}")
    if drawn.alpha is None:
        return
    if drawn.alpha.shape != drawn.hole.shape:
        raise InputError(f"the opacity of {subject} has shape {drawn.alpha.shape}, its hole {drawn.hole.shape}")
    if drawn.colour is None or drawn.colour.shape != truth.shape:
        shape = None if drawn.colour is None else drawn.colour.shape
        raise InputError(f"the overlay of {subject} needs colours of shape {truth.shape}, not {shape}")
