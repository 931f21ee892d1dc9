"""One HTML page that shows what a mask generator makes, with what was measured on every mask or degradation."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.masks.gallery.panels import (
    Panel,
    Pictures,
    Quantity,
    Tile,
    TileMeasurements,
    check_panels,
    draw_all,
    in_short,
    measure_tile,
    quantity_of,
)
from inpaintbench.masks.gallery.tile_page import bounds_text, chips, common, folded, percent, percent_range, tile_view, value_text
from inpaintbench.pages import Cell, Column, Link, Row, Table, data_uri, figure, page
from inpaintbench.pages.words import DASH, breakable, count, number

if TYPE_CHECKING:
    import altair as alt
else:
    alt = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

_MOST_COLUMNS = 6
_REFUSALS_SHOWN = 4
_CHIPS_SHOWN = 8
# Pixels of the columns, and how far below them the dots lie.
_WIDTH, _HEIGHT, _RUG = 200, 42, 8
_BINS = 20
_SCALES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Shown:
    """A panel with what was measured and drawn of its tiles."""

    panel: Panel
    measured: Sequence[TileMeasurements]
    pictures: Sequence[Pictures]
    number: int
    """From 1; part of the anchors ``panel-1`` and ``mask-1-1``."""
    quantity: Quantity
    """Quantity of the whole page."""

    @property
    def values(self) -> list[float]:
        """Mean over frames of each tile, shares 0..1."""
        return [one.value for one in self.measured]

    @property
    def anchors(self) -> list[str]:
        """Anchors of the tiles."""
        return [f"{self.quantity.noun}-{self.number}-{index}" for index in range(1, len(self.measured) + 1)]

    @property
    def outside(self) -> int | None:
        """Return how many masks miss the bin that was asked for; None without a bin."""
        if self.panel.area_bounds is None:
            return None
        low, high = self.panel.area_bounds
        return sum(not low < value <= high for value in self.values)


def render(shown: Sequence[Shown], *, title: str, generator: str, version: str, seed: int | None) -> str:
    """The whole page as HTML text."""
    panels = [one.panel for one in shown]
    shared = common([panel.parameters for panel in panels])
    # A class for each distinct picture: tiles over the same photograph share its bytes.
    distinct: dict[bytes, str] = {}
    for pictures in (pictures for one in shown for pictures in one.pictures):
        for data in pictures.layers():
            stencil = data in (pictures.hole, pictures.outline)  # to be filled with a colour
            shows, media_type = ("mask", "image/png") if stencil else ("background", "image/webp")
            distinct.setdefault(data, f"{{{shows}-image:url({data_uri(data, media_type)})}}")
    names = {data: f"p{place}" for place, data in enumerate(distinct)}
    end = scale_end([value for one in shown for value in one.values], [panel.area_bounds for panel in panels])
    tiles = [tile for panel in panels for tile in panel.tiles]
    quantity = shown[0].quantity
    return page(
        "masks/gallery/page.html",
        title=title,
        links=[Link(f"#panel-{one.number}", one.panel.title) for one in shown],
        scripts=["masks/gallery/gallery.js"],
        rules="\n".join(f".{names[data]}{rule}" for data, rule in distinct.items()),
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
    rows = []
    for one in shown:
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
        cells = (
            Cell(breakable(panel.title), href=f"#panel-{one.number}"),
            *(Cell(value_text(panel.parameters[name]) if name in panel.parameters else DASH) for name in given),
            Cell(len(values)),
            Cell(percent(statistics.fmean(values)) if values else DASH),
            spread,
            *([Cell(number(statistics.fmean(parts) if parts else None, 1))] if quantity.has_parts else []),
        )
        rows.append(Row(cells))
    return Table(columns, tuple(rows), label="All panels", kind="list overview")


def _panel(one: Shown, shared: Mapping[str, Any], names: Mapping[bytes, str], *, end: float) -> dict[str, Any]:
    """One panel as the template draws it."""
    panel, noun = one.panel, one.quantity.noun
    # What the generator says alike of every tile, of two at least, and neither parameters nor measurements do.
    alike = common([tile.drawn.facts for tile in panel.tiles]) if len(one.measured) > 1 else {}
    given = {name: value_text(value) for name, value in panel.parameters.items()}
    facts = {
        name: value
        for name, value in alike.items()
        if given.get(name) != value_text(value) and not all(one.quantity.repeats(name, value, mean) for mean in one.values)
    }
    told, further = folded(facts, most=_CHIPS_SHOWN)
    bounds = "" if panel.area_bounds is None else bounds_text(*panel.area_bounds)
    values, refused = one.values, panel.refusals
    numbers: tuple[tuple[str, str], ...] = ()
    plot = Markup()
    if values:
        shares = {"mean": statistics.fmean(values), "min": min(values), "max": max(values)}
        numbers = (*((name, percent(share)) for name, share in shares.items()), ("n", str(len(values))))
        name = one.quantity.name
        title = f"{name.capitalize()}s of {count(len(values), noun)}: each dot leads to its {noun}"
        plot = histogram(values, bounds=panel.area_bounds, end=end, links=one.anchors, title=title, axis=name)
    tiles = zip(panel.tiles, one.measured, one.pictures, one.anchors, strict=True)
    return {
        "number": one.number,
        "title": panel.title,
        "chips": chips({name: value for name, value in panel.parameters.items() if name not in shared}),
        "numbers": numbers,
        "plot": plot,
        "inside": "" if one.outside or not values else bounds,
        "outside": f"{one.outside} of {count(len(values), noun)} outside the bin {bounds}" if one.outside else "",
        "facts": told,
        "further_facts": further,
        "refusals": f"{count(len(refused), noun)} refused: {in_short(refused, most=_REFUSALS_SHOWN)}" if refused else "",
        "tiles": [
            tile_view(tile, measured, drawn, names=names, known={**panel.parameters, **facts}, anchor=anchor, number=index)
            for index, (tile, measured, drawn, anchor) in enumerate(tiles, 1)
        ],
    }


def write_gallery(
    path: Path | str, *, title: str, panels: Sequence[Panel], generator: str, version: str, seed: int | None = None
) -> Path:
    """Write one HTML file that shows every tile of every panel with what was measured on it, and give its path.

    The file needs nothing beside it: pictures are inside, at most 400 pixels wide and high. The same arguments give the same
    bytes.

    Args:
        path: of the file; its folder is made.
        title: heading of the page.
        panels: settings to compare, in order; parameters that all share are shown once.
        generator: name of the leaf.
        version: of the leaf.
        seed: that the masks were drawn with, to be printed.

    Raises:
        InputError: no tile at all, tiles with and without a hole, or arrays that do not fit each other.
        MaskShapeError: a hole does not fit its truth.
    """
    check_panels(panels)
    tiles = [tile for panel in panels for tile in panel.tiles]
    measured = [measure_tile(tile) for tile in tiles]
    pictures = draw_all(tiles, [one.strongest_frame for one in measured])
    quantity, shown, start = quantity_of(panels), [], 0
    for place, panel in enumerate(panels, 1):
        stop = start + len(panel.tiles)
        shown.append(Shown(panel, measured[start:stop], pictures[start:stop], place, quantity))
        start = stop
    text = render(shown, title=title, generator=generator, version=version, seed=seed)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, text.encode("utf-8", "replace"))
    return target


def scale_end(values: Sequence[float], bounds: Sequence[tuple[float, float] | None]) -> float:
    """Return where the axis of all panels ends: a round share that no value or bound passes."""
    most = max([0.0, *values, *(pair[1] for pair in bounds if pair)])
    return next((end for end in _SCALES if most <= end + 1e-12), 1.0)


def histogram(
    values: Sequence[float], *, bounds: tuple[float, float] | None, end: float, links: Sequence[str], title: str, axis: str
) -> Markup:
    """Counts of shares in 20 steps from 0 to ``end``, the bin shaded, the mean marked, a dot that leads to each tile."""
    counts, step = histogram_counts(values, end=end), end / _BINS
    columns = [{"x": place * step, "to": (place + 1) * step, "n": n, "told": str(n)} for place, n in enumerate(counts) if n]
    mean = [{"x": sum(values) / len(values), "told": f"mean {percent(sum(values) / len(values))}"}] if values else []
    dots = [{"x": min(end, share), "told": percent(share), "to": f"#{link}"} for share, link in zip(values, links, strict=True)]
    # The name of the axis stands between its two ends.
    ends = alt.Axis(
        values=[0, end], labelExpr=f"datum.value ? '{100 * end:g} %' : '0'", title=axis, titlePadding=-11, titleFontWeight=400,
        titleFontSize=12, titleColor="var(--soft)", offset=2 * _RUG, domain=False, ticks=False,
    )  # fmt: skip
    x = alt.X("x:Q").scale(domain=[0, end], nice=False).axis(ends)
    y = alt.Y("n:Q").axis(None).scale(domain=[0, max([1, *counts])], nice=False)
    bottom, told = alt.value(_HEIGHT), "told:N"
    layers = [
        _chart([{"x": 0, "to": end}]).mark_rule(color="var(--strong-line)", aria=False).encode(x, x2="to", y=bottom),
        _chart(columns).mark_bar(xOffset=0.5, x2Offset=-0.5, color="var(--waiting)").encode(
            x, x2="to", y=y, y2=alt.Y2Datum(0), description=told
        ),
        _chart(mean).mark_rule(strokeWidth=1.5, strokeDash=[3, 2]).encode(x, y=alt.value(-4), y2=bottom, description=told),
        _chart(dots).mark_point(color="var(--accent)", opacity=0.65, size=30).encode(
            x, y=alt.value(_HEIGHT + _RUG), description=told, href="to:N"
        ),
    ]  # fmt: skip
    if bounds is not None:
        shade = _chart([{"x": bounds[0], "to": min(end, bounds[1]), "told": f"the bin: {bounds_text(*bounds)}"}])
        shade = shade.mark_rect(color="var(--accent)", opacity=0.13)
        layers.insert(0, shade.encode(x, x2="to", y=alt.value(0), y2=bottom, description=told))
    return figure(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT), label=title)


def _chart(rows: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def histogram_counts(values: Sequence[float], *, end: float) -> list[int]:
    """Return how many values lie in each of 20 equal steps from 0 to ``end``; the last step holds its upper end."""
    counts = [0] * _BINS
    for value in values:
        # 0.3 / 0.4 * 20 is a hair below 15.
        counts[min(_BINS - 1, math.floor(value / end * _BINS + 1e-9))] += 1
    return counts


__all__ = ["Panel", "Tile", "quantity_of", "refused_words", "write_gallery"]


def refused_words(panels: Sequence[Panel]) -> str:
    """The end of a sentence: why there are fewer than were asked for, each reason once; empty where there are all."""
    reasons = dict.fromkeys(reason for panel in panels for reason in panel.refusals)
    return f"; not shown: {'; '.join(reasons)}" if reasons else ""
