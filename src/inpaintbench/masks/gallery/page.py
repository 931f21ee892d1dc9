"""The page: heading, overview and panels filled into one template, with its style and script inside."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import Any

from inpaintbench.masks.gallery.markup import (
    bounds_text,
    breakable,
    chips,
    common,
    count,
    data_uri,
    folded_chips,
    percent,
    value_text,
)
from inpaintbench.masks.gallery.panels import Panel, TileMeasurements, in_short
from inpaintbench.masks.gallery.pictures import Pictures
from inpaintbench.masks.gallery.plots import histogram, range_bar, scale_end
from inpaintbench.masks.gallery.quantities import Quantity, View
from inpaintbench.masks.gallery.tile_page import tile_figure

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


def render(shown: Sequence[Shown], *, title: str, generator: str, version: str, seed: int | None) -> str:
    """The whole page as HTML text."""
    panels = [one.panel for one in shown]
    shared = common([panel.parameters for panel in panels])
    names = _picture_names(shown)
    end = scale_end([value for one in shown for value in one.values], [panel.area_bounds for panel in panels])
    tiles = [tile for panel in panels for tile in panel.tiles]
    quantity = shown[0].quantity
    # An outline would hide what was painted.
    first = "input" if any(tile.drawn.hole is None or tile.drawn.alpha is not None for tile in tiles) else "outline"
    parts = {
        "views": "".join(_view(view, key, checked=view.name == first) for key, view in enumerate(quantity.views, 1)),
        "noun": escape(quantity.noun),
        "explanation": quantity.explanation,
        "title": escape(title),
        "subtitle": _subtitle(shown, generator=generator, version=version, seed=seed),
        "shared": chips(shared, label="Parameters of all panels"),
        "links": "".join(f'<a href="#panel-{one.number}">{escape(one.panel.title)}</a>' for one in shown),
        "overview": _overview(shown, shared, end=end) if len(shown) > 1 else "",
        "panels": "\n".join(_panel(one, shared, names, end=end) for one in shown),
        "joints_switch": _switch("joints", "Joints", "J", checked=True) if any(tile.joints for tile in tiles) else "",
        "play_switch": _switch("play", "Play", "space") if any(len(tile.truth) > 1 for tile in tiles) else "",
        "pictures": _picture_rules(shown, names),
        "style": _asset("style.css"),
        "script": _asset("gallery.js"),
    }
    return Template(_asset("page.html")).substitute(parts)


def _subtitle(shown: Sequence[Shown], *, generator: str, version: str, seed: int | None) -> str:
    shapes = [tile.truth.shape for one in shown for tile in one.panel.tiles]
    sizes = list(dict.fromkeys(f"{shape[2]}×{shape[1]}" for shape in shapes))
    lengths = sorted({shape[0] for shape in shapes})
    length = count(lengths[0], "frame") if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]} frames"
    facts = [
        f"<strong>{escape(generator)}</strong> version {escape(version)}",
        *([] if seed is None else [f"seed {seed}"]),
        f"{count(len(shapes), shown[0].quantity.noun)} in {count(len(shown), 'panel')}",
        ", ".join(sizes[:3]) + (f" and {count(len(sizes) - 3, 'more size')}" if len(sizes) > 3 else ""),
        "still images" if lengths == [1] else length,
    ]
    return " · ".join(facts)


def _view(view: View, key: int, *, checked: bool) -> str:
    control = f'<input type="radio" name="view" id="view-{view.name}" value="{view.name}"{" checked" if checked else ""}>'
    label = f"{escape(view.label)} <kbd>{key}</kbd>"
    return f'<label title="{escape(view.title)} ({key})">{control}<span>{label}</span></label>'


def _switch(name: str, label: str, key: str, *, checked: bool = False) -> str:
    state = " checked" if checked else ""
    return f'<label class="switch" title="{label} ({key})"><input type="checkbox" id="{name}"{state}><span>{label}</span></label>'


def _overview(shown: Sequence[Shown], shared: Mapping[str, Any], *, end: float) -> str:
    """One row a panel, so that a person sees what a parameter does to what is measured."""
    quantity = shown[0].quantity
    columns = list(dict.fromkeys(name for one in shown for name in one.panel.parameters if name not in shared))[:_MOST_COLUMNS]
    heads = "".join(f"<th>{breakable(name)}</th>" for name in columns)
    axis = f'<th class="axis"><span>{quantity.name}, 0 to {end * 100:g} %</span></th>'
    parts = '<th class="n">parts</th>' if quantity.has_parts else ""
    rows = "\n".join(_row(one, columns, end=end) for one in shown)
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="All panels"><table class="overview"><thead><tr><th>Panel</th>'
        f'{heads}<th class="n">n</th><th class="n">mean {quantity.name}</th>{axis}{parts}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(one: Shown, columns: Sequence[str], *, end: float) -> str:
    given = one.panel.parameters
    cells = "".join(f"<td>{escape(value_text(given[name])) if name in given else '–'}</td>" for name in columns)
    name = f'<th scope="row"><a href="#panel-{one.number}">{breakable(one.panel.title)}</a></th>'
    parts = f'<td class="n">{_mean_parts(one)}</td>' if one.quantity.has_parts else ""
    if not one.values:
        return f'<tr>{name}{cells}<td class="n">0</td><td class="n">–</td><td></td>{parts}</tr>'
    bar = range_bar(one.values, bounds=one.panel.area_bounds, end=end)
    numbers = f'<td class="n">{len(one.values)}</td><td class="n strong">{percent(statistics.fmean(one.values))}</td>'
    return f"<tr>{name}{cells}{numbers}<td>{bar}</td>{parts}</tr>"


def _mean_parts(one: Shown) -> str:
    found = [measured.components for measured in one.measured if measured.components is not None]
    return f"{statistics.fmean(found):.1f}" if found else "–"


def _panel(one: Shown, shared: Mapping[str, Any], names: Mapping[bytes, str], *, end: float) -> str:
    own = {name: value for name, value in one.panel.parameters.items() if name not in shared}
    facts = _facts_of_all(one)
    tiles = zip(one.panel.tiles, one.measured, one.pictures, one.anchors, strict=True)
    figures = "\n".join(
        tile_figure(tile, measured, pictures, names=names, known={**one.panel.parameters, **facts}, anchor=anchor, number=index)
        for index, (tile, measured, pictures, anchor) in enumerate(tiles, 1)
    )
    return (
        f'<section class="panel" id="panel-{one.number}" aria-labelledby="title-{one.number}"><div class="about">'
        f'<h2 id="title-{one.number}"><a href="#panel-{one.number}">{breakable(one.panel.title)}</a></h2>'
        f"{chips(own, label='Parameters of this panel')}{_numbers(one, end=end)}"
        f"{_in_every_tile(one, facts)}{_refusals(one)}</div>"
        f'<div class="tiles">\n{figures}\n</div></section>'
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


def _in_every_tile(one: Shown, facts: Mapping[str, Any]) -> str:
    if not facts:
        return ""
    noun = one.quantity.noun
    return f'<p class="note">in every {noun}</p>{folded_chips(facts, label=f"In every {noun}", most=_CHIPS_SHOWN)}'


def _numbers(one: Shown, *, end: float) -> str:
    values, noun, name = one.values, one.quantity.noun, one.quantity.name
    if not values:
        return f'<p class="note">No {noun} to show.</p>'
    pairs = [("mean", percent(statistics.fmean(values))), ("min", percent(min(values))), ("max", percent(max(values)))]
    cells = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in [*pairs, ("n", str(len(values)))])
    title = f"{name.capitalize()}s of {count(len(values), noun)}: each dot leads to its {noun}"
    plot = histogram(values, bounds=one.panel.area_bounds, end=end, links=one.anchors, title=title, axis=name)
    return f'<dl class="numbers" aria-label="{name.capitalize()}">{cells}</dl>{plot}{_verdict(one)}'


def _verdict(one: Shown) -> str:
    """Whether the tiles are in the bin that was asked for."""
    if one.panel.area_bounds is None:
        return ""
    bounds = bounds_text(*one.panel.area_bounds)
    if one.outside:
        return f'<p class="note warn">{one.outside} of {count(len(one.values), one.quantity.noun)} outside the bin {bounds}</p>'
    return f'<p class="note"><i class="key bin-key"></i>all inside the bin {bounds}</p>'


def _refusals(one: Shown) -> str:
    refusals = one.panel.refusals
    if not refusals:
        return ""
    told = escape(in_short(refusals, most=_REFUSALS_SHOWN))
    return f'<p class="note warn">{count(len(refusals), one.quantity.noun)} refused: {told}</p>'


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


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
