"""The page: what its template shows of heading, overview and panels."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from inpaintbench.masks.gallery.facts import Chip, bounds_text, chips, common, percent, percent_range, value_text
from inpaintbench.masks.gallery.panels import Panel, TileMeasurements, in_short
from inpaintbench.masks.gallery.pictures import Pictures
from inpaintbench.masks.gallery.plots import histogram, scale_end
from inpaintbench.masks.gallery.quantities import Quantity
from inpaintbench.masks.gallery.tile_page import TileView, folded, tile_view
from inpaintbench.pages import Cell, Column, Link, Row, Table, data_uri, page
from inpaintbench.pages.words import DASH, breakable, count, number

_MOST_COLUMNS = 6
_REFUSALS_SHOWN = 4
_CHIPS_SHOWN = 8
_PNG, _WEBP = "image/png", "image/webp"


@dataclass(frozen=True)
class Shown:
    """A panel with what was measured and drawn of its tiles."""

    panel: Panel
    measured: Sequence[TileMeasurements]
    pictures: Sequence[Pictures]
    number: int
    """From 1; part of the anchors ``panel-1`` and ``mask-1-1``."""
    quantity: Quantity
    """Of the whole page."""

    @property
    def values(self) -> list[float]:
        """Mean over frames of each tile, shares 0..1."""
        return [one.value for one in self.measured]

    @property
    def anchors(self) -> list[str]:
        """Of the tiles."""
        return [f"{self.quantity.noun}-{self.number}-{index}" for index in range(1, len(self.measured) + 1)]

    @property
    def outside(self) -> int | None:
        """How many masks miss the bin that was asked for; None without a bin."""
        if self.panel.area_bounds is None:
            return None
        low, high = self.panel.area_bounds
        return sum(not low < value <= high for value in self.values)


@dataclass(frozen=True)
class PanelView:
    """What the template draws of one panel."""

    number: int
    title: str
    chips: list[Chip]
    """Parameters that are its own."""
    numbers: tuple[tuple[str, str], ...]
    plot: Markup
    """Empty without tiles."""
    inside: str
    """The bin, where all tiles are in it."""
    outside: str
    """How many are not, and the bin."""
    facts: list[Chip]
    """What the generator says alike of every tile."""
    further_facts: list[Chip]
    refusals: str
    tiles: tuple[TileView, ...]


def render(shown: Sequence[Shown], *, title: str, generator: str, version: str, seed: int | None) -> str:
    """The whole page as HTML text."""
    panels = [one.panel for one in shown]
    shared = common([panel.parameters for panel in panels])
    names = _picture_names(shown)
    end = scale_end([value for one in shown for value in one.values], [panel.area_bounds for panel in panels])
    tiles = [tile for panel in panels for tile in panel.tiles]
    quantity = shown[0].quantity
    return page(
        "masks/gallery/page.html",
        title=title,
        links=[Link(f"#panel-{one.number}", one.panel.title) for one in shown],
        scripts=["masks/gallery/gallery.js"],
        rules=_picture_rules(shown, names),
        generator=generator,
        version=version,
        subtitle=_subtitle(shown, seed=seed),
        quantity=quantity,
        # An outline would hide what was painted.
        first="input" if any(tile.drawn.hole is None or tile.drawn.alpha is not None for tile in tiles) else "outline",
        has_joints=any(tile.joints for tile in tiles),
        has_clips=any(len(tile.truth) > 1 for tile in tiles),
        shared=chips(shared),
        overview=_overview(shown, shared, end=end) if len(shown) > 1 else None,
        panels=[_panel(one, shared, names, end=end) for one in shown],
    )


def _subtitle(shown: Sequence[Shown], *, seed: int | None) -> list[str]:
    shapes = [tile.truth.shape for one in shown for tile in one.panel.tiles]
    sizes = list(dict.fromkeys(f"{shape[2]}×{shape[1]}" for shape in shapes))
    lengths = sorted({shape[0] for shape in shapes})
    length = count(lengths[0], "frame") if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]} frames"
    return [
        *([] if seed is None else [f"seed {seed}"]),
        f"{count(len(shapes), shown[0].quantity.noun)} in {count(len(shown), 'panel')}",
        ", ".join(sizes[:3]) + (f" and {count(len(sizes) - 3, 'more size')}" if len(sizes) > 3 else ""),
        "still images" if lengths == [1] else length,
    ]


def _overview(shown: Sequence[Shown], shared: Mapping[str, Any], *, end: float) -> Table:
    """One row a panel, so that a person sees what a parameter does to what is measured."""
    quantity = shown[0].quantity
    given = list(dict.fromkeys(name for one in shown for name in one.panel.parameters if name not in shared))[:_MOST_COLUMNS]
    columns = (
        Column("Panel"), *map(Column, given), Column("n", numeric=True), Column(f"mean {quantity.name}", numeric=True),
        Column(f"{quantity.name}, 0 to {end * 100:g} %"), *([Column("parts", numeric=True)] if quantity.has_parts else []),
    )  # fmt: skip
    return Table(columns, tuple(_row(one, given, end=end) for one in shown), label="All panels", kind="list overview")


def _row(one: Shown, given: Sequence[str], *, end: float) -> Row:
    panel, values = one.panel, one.values
    parts = [float(measured.components) for measured in one.measured if measured.components is not None]
    spread = Cell()
    if values:
        mean, low, high = statistics.fmean(values), min(values), max(values)
        spread = Cell(
            title=f"mean {percent(mean)}, {percent_range(low, high)}",
            whisker=(mean / end, low / end, high / end),
            band=panel.area_bounds and (panel.area_bounds[0] / end, panel.area_bounds[1] / end),
        )
    return Row((
        Cell(breakable(panel.title), href=f"#panel-{one.number}"),
        *(Cell(value_text(panel.parameters[name]) if name in panel.parameters else DASH) for name in given),
        Cell(len(values)),
        Cell(percent(statistics.fmean(values)) if values else DASH),
        spread,
        *([Cell(number(statistics.fmean(parts) if parts else None, 1))] if one.quantity.has_parts else []),
    ))  # fmt: skip


def _panel(one: Shown, shared: Mapping[str, Any], names: Mapping[bytes, str], *, end: float) -> PanelView:
    panel, noun = one.panel, one.quantity.noun
    facts = _facts_of_all(one)
    told, further = folded(facts, most=_CHIPS_SHOWN)
    bounds = "" if panel.area_bounds is None else bounds_text(*panel.area_bounds)
    tiles = zip(panel.tiles, one.measured, one.pictures, one.anchors, strict=True)
    return PanelView(
        number=one.number,
        title=panel.title,
        chips=chips({name: value for name, value in panel.parameters.items() if name not in shared}),
        numbers=_numbers(one.values),
        plot=_plot(one, end=end),
        inside="" if one.outside or not one.values else bounds,
        outside=f"{one.outside} of {count(len(one.values), noun)} outside the bin {bounds}" if one.outside else "",
        facts=told,
        further_facts=further,
        refusals=_refusals(one),
        tiles=tuple(
            tile_view(tile, measured, drawn, names=names, known={**panel.parameters, **facts}, anchor=anchor, number=index)
            for index, (tile, measured, drawn, anchor) in enumerate(tiles, 1)
        ),
    )


def _facts_of_all(one: Shown) -> dict[str, Any]:
    """What the generator says alike of every tile of a panel, of two at least, and neither parameters nor measurements do."""
    if len(one.measured) < 2:
        return {}
    alike = common([tile.drawn.facts for tile in one.panel.tiles])
    given = {name: value_text(value) for name, value in one.panel.parameters.items()}
    told = {name: value for name, value in alike.items() if given.get(name) != value_text(value)}
    repeated = {name for name, value in told.items() if all(one.quantity.repeats(name, value, mean) for mean in one.values)}
    return {name: value for name, value in told.items() if name not in repeated}


def _numbers(values: Sequence[float]) -> tuple[tuple[str, str], ...]:
    if not values:
        return ()
    shares = (("mean", statistics.fmean(values)), ("min", min(values)), ("max", max(values)))
    return (*((name, percent(share)) for name, share in shares), ("n", str(len(values))))


def _plot(one: Shown, *, end: float) -> Markup:
    values, noun, name = one.values, one.quantity.noun, one.quantity.name
    if not values:
        return Markup()
    title = f"{name.capitalize()}s of {count(len(values), noun)}: each dot leads to its {noun}"
    return histogram(values, bounds=one.panel.area_bounds, end=end, links=one.anchors, title=title, axis=name)


def _refusals(one: Shown) -> str:
    refusals = one.panel.refusals
    return f"{count(len(refusals), one.quantity.noun)} refused: {in_short(refusals, most=_REFUSALS_SHOWN)}" if refusals else ""


def _layers(one: Pictures) -> list[tuple[bytes | None, str, bool]]:
    """Each picture of a tile with its media type, and whether it is a stencil to be filled with a colour."""
    return [
        (one.truth, _WEBP, False), (one.input, _WEBP, False), (one.over_time, _WEBP, False),
        (one.hole, _PNG, True), (one.outline, _PNG, True),
    ]  # fmt: skip


def _distinct(shown: Sequence[Shown]) -> dict[bytes, tuple[str, bool]]:
    layers = (layer for one in shown for pictures in one.pictures for layer in _layers(pictures))
    return {data: (media_type, stencil) for data, media_type, stencil in layers if data is not None}


def _picture_names(shown: Sequence[Shown]) -> dict[bytes, str]:
    """A class for each distinct picture: tiles over the same photograph share its bytes."""
    return {data: f"p{index}" for index, data in enumerate(_distinct(shown))}


def _picture_rules(shown: Sequence[Shown], names: Mapping[bytes, str]) -> str:
    return "\n".join(
        f".{names[data]}{{{'mask' if stencil else 'background'}-image:url({data_uri(data, media_type)})}}"
        for data, (media_type, stencil) in _distinct(shown).items()
    )
