"""What is seen as files for others: a page, a figure, a film; and two reports that have no run beside them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import numpy as np
from markupsafe import Markup

from inpaintbench import pages
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.eval.results.quantity import metric_label, metric_leaf, slice_label
from inpaintbench.eval.results.slices import split_step
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, Row, Table, data_uri
from inpaintbench.pages.colours import DASHES, MARKERS, REFERENCE, MethodStyle
from inpaintbench.pages.page import bundle, shared_style
from inpaintbench.pages.words import DASH, count, interval, number, signed
from inpaintbench.table_files import FORMULA, csv_text
from inpaintbench.types import Plain, content_id
from inpaintbench.workbench import pixels
from inpaintbench.workbench.finding import Folders, Thing, report_data
from inpaintbench.workbench.joining import Joined

if TYPE_CHECKING:
    import altair as alt
else:
    alt = lazily("altair")  # takes half a second, and a server draws nothing until it is asked

# Items of a page that is sent.
_MOST_ROWS = 500
# Points of a figure, and bins of a line through them.
_MOST_POINTS, _BINS = 10_000, 8
# Scripts of a page that is sent, and the place of its films.
_SEEN_PARTS = ("pages/static/items/look.js", "pages/static/items/state.js", "pages/static/player/keys.js")
_SEEN_RULES = """.seen > .player-room { height: clamp(330px, 76vh, 760px); }
.effect-rows { max-height: none; } .effect-rows, .effect-rows .note { margin: 0; font-size: 13px; }
.strips { flex-wrap: wrap; }"""
# Methods' colours on white paper.
_PAPER = dict(zip(pages.colours.COLOURS, pages.colours.PALETTE, strict=True))
_HUE = re.compile(r"var\(--hue-[a-z]+\)|#\w+")
_Means = Mapping[tuple[str, str, str, str], Mapping[str, Any]]
"""(Metric, region, slice, method) -> row of a report's summary."""


def film(
    cache: Path, media: pixels.ItemMedia, item: str, parts: Sequence[pixels.Part], *, manner: str = "", base: str = ""
) -> Path:  # fmt: skip
    """The films of an item side by side with their names, a file of the cache for others to play; ``manner`` as for ``sheet``."""
    names = [part.name for part in parts]
    path = cache / f"{content_id(item, str(media.root), manner, base, names, media.blobs(item, parts))}-films.mp4"
    fps = float(media.row(item)["fps"])
    pixels.made_once(path, lambda: pixels.labelled_film(pixels.films_of(media, item, parts, manner, base), path, fps=fps))
    return path


def film_of_sheet(cache: Path, sheet: Path, told: Plain) -> Path:
    """The same of films that lie in one file; ``told`` as the player takes them."""
    path = cache / f"{content_id(str(sheet), sheet.stat().st_mtime_ns, told['players'])}-films.mp4"
    pixels.made_once(path, lambda: pixels.labelled_film(pixels.cut(sheet, told), path, fps=told["media"]["fps"]))
    return path


def figure(joined: Joined, asked: Plain) -> bytes:
    """The scatter plot that is seen, as SVG for paper.

    Args:
        joined: what it is of.
        asked: ``x`` and ``y``, each ``{title, values: {method: [...]}}`` for the methods that are drawn.

    Raises:
        InputError: it has no points.
    """
    rows = [
        {"method": method, "x": x, "y": y}
        for method, values in asked["y"]["values"].items()
        for x, y in zip(asked["x"]["values"][method], values, strict=True)
        if all(isinstance(one, str) or (one is not None and math.isfinite(one)) for one in (x, y))
    ]
    if not rows:
        raise InputError("there is no point to draw")
    names = [one.name for one in joined.methods if one.name in asked["y"]["values"]] or list(asked["y"]["values"])
    styles = joined.styles
    looks = [styles[name] if name in styles else MethodStyle(REFERENCE, MARKERS[0], DASHES[0]) for name in names]
    hues = [_HUE.search(look.colour) for look in looks]
    colours = [_PAPER.get(hue[0], hue[0]) if hue else REFERENCE for hue in hues]
    # Of several runs of a method the first is filled, the second hollow, and further ones tinted.
    nth = Counter[str]()
    fills = []
    for look, colour in zip(looks, colours, strict=True):
        fills.append((colour, "white", f"{colour}66")[min(nth[f"{colour} {look.marker}"], 2)])
        nth[f"{colour} {look.marker}"] += 1
    # Values inside a chart are held to no number of rows.
    drawn = [rows[at] for at in np.sort(np.random.default_rng(0).permutation(len(rows))[:_MOST_POINTS])]
    told = f"{len(drawn):,} of {len(rows):,} points, drawn by chance; lines are means of all" if len(drawn) < len(rows) else ""
    named = {name: isinstance(rows[0][name], str) for name in "xy"}
    scale = {name: alt.Undefined if is_one else alt.Scale(zero=False) for name, is_one in named.items()}
    kind = {name: f"{name}:{'N' if is_one else 'Q'}" for name, is_one in named.items()}
    shared = alt.Chart(alt.Data(values=drawn)).encode(  # type: ignore[no-untyped-call]
        alt.X(kind["x"], title=str(asked["x"]["title"]), scale=scale["x"]),
        alt.Y(kind["y"], title=str(asked["y"]["title"]), scale=scale["y"]),
        alt.Stroke("method:N", title=None, scale=alt.Scale(domain=names, range=colours)),
    )
    points = shared.encode(
        alt.Fill("method:N", title=None, scale=alt.Scale(domain=names, range=fills)),
        alt.Shape("method:N", title=None, scale=alt.Scale(domain=names, range=[look.marker for look in looks])),
    ).mark_point(size=28, strokeWidth=1, opacity=0.8)
    lines = [] if any(named.values()) else [
        shared.properties(data=alt.Data(values=means)).mark_line(strokeDash=list(look.dash))  # type: ignore[no-untyped-call]
        for name, look in zip(names, looks, strict=True)
        if (means := _bin_means(name, *(asked[axis]["values"][name] for axis in "xy")))
    ]  # fmt: skip
    chart = alt.layer(points, *lines, width=480, height=320, title=alt.Title(joined.title, subtitle=told))
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg.encode()


def _bin_means(method: str, xs: Sequence[float | None], ys: Sequence[float | None]) -> list[Plain]:
    """The line that the page draws through points: means over bins of as many items each along x; none of few."""
    known = sorted((x, np.nan if y is None else y) for x, y in zip(xs, ys, strict=True) if x is not None and math.isfinite(x))
    if len(known) <= 2 * _BINS:
        return []
    ends = [place * len(known) // _BINS for place in range(_BINS + 1)]
    bins = [[pair for pair in known[low:high] if math.isfinite(pair[1])] for low, high in pairwise(ends)]
    means = (np.mean(one, axis=0).tolist() for one in bins if one)
    return [{"method": method, "x": x, "y": y} for x, y in means]


def items_csv(joined: Joined, asked: Plain) -> str:
    """The items that are seen (``items``, in their order) with what is known of them: facts, scores of ``methods``, and of the
    quantity ``key`` the mean and spread of those that compete and the differences from ``base``, as the page has them."""
    methods = [one.name for one in joined.methods if one.name in asked["methods"]]
    scores = [(f"{one.key} {name}", joined.values[one.key, name]) for one in joined.quantities for name in methods]
    if (key := str(asked.get("key") or "")) in {one.key for one in joined.quantities}:
        scores += joined.derived(key, methods, str(asked.get("base") or ""))
    heads = ["item", "source", *(fact.name for fact in joined.facts), *(head for head, _ in scores)]
    rows: list[list[object]] = [[*heads]]
    for at in (int(place) for place in asked["items"]):
        values = (float(column[at]) for _, column in scores)
        known = [joined.ids[at], joined.sources[at], *(fact.values[at] for fact in joined.facts)]
        rows.append([*known, *(None if math.isnan(value) else value for value in values)])
    return csv_text([f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in row] for row in rows)


def page(
    joined: Joined,
    asked: Plain,
    *,
    sheet_of: Callable[[Mapping[str, Sequence[str]]], Plain],
    leads: Plain | None = None,
    effects: str = "",
) -> str:
    """The items that are seen as a page of its own: means, effects, histograms, the table, the film of the open item.

    Args:
        joined: what is looked at.
        asked: ``items``, ``methods``, ``base``, ``key`` of the quantity, ``words`` of the filter, the ``plot`` as for ``figure``,
            ``columns`` of the table (``label``, ``decimals``, ``signed``, ``values`` of the first items), the histograms
            ``strips`` (``label``, the ``full`` one, ``told``, ``method`` if it is of one, items a bin of ``all`` and of those
            ``left``), ``film``, the query of the open item, and ``state``, the frame, wipe, zoom and outline that are seen, as an
            address has them.
        sheet_of: the films that a query names as the player takes them, the file inside.
        leads: means and differences as the page shows them, where there are any: no page claims more than the screen does.
        effects: what attributes do, markup as the page shows it.
    """
    items = [int(place) for place in asked["items"]]
    methods = [one.name for one in joined.methods if one.name in asked.get("methods", (one.name,))]
    titles = {f"|{one.base}": one.title for one in joined.against} | {one.name: f"Less {one.name}" for one in joined.methods}
    base = str(asked["base"]) if asked.get("base") in titles else ""
    quantity = next((one for one in joined.quantities if one.key == asked.get("key")), None)
    columns = asked.get("columns", [])
    numeric = [all(isinstance(value, int | float | None) for value in one["values"]) for one in columns]
    heads = [Column(str(one["label"]), numeric=is_one, sorts=is_one) for one, is_one in zip(columns, numeric, strict=True)]
    rows = []
    for row, at in enumerate(items[:_MOST_ROWS]):
        words = ((one, one["values"][row]) for one in columns)
        cells = [Cell(_word(value, one.get("decimals"), told_signed=bool(one.get("signed"))), value) for one, value in words]
        rows.append(Row((Cell(joined.names[at]), Cell(joined.ids[at]), *cells)))
    decimals = quantity.decimals if quantity else 0
    means = [
        Row(tuple(map(Cell, _mean_words(row, decimals, base=base, references=joined.references))))
        for row in (leads["rows"] if leads else ())
        if row["name"] in methods
    ]
    sections = []
    if leads and means:
        mean_heads = [Column("Method"), Column("Mean", numeric=True), Column("Interval (95 %)"), Column("Items", numeric=True)]
        mean_heads += [Column(titles[base], numeric=True), Column("Interval of that (95 %)")] if base else []
        said = " ".join(filter(None, (leads["chosen"], *(row["note"] for row in leads["rows"][:1]))))
        sections.append(
            ("means", f"Means of {asked.get('label', '')}", said, [Table(tuple(mean_heads), tuple(means), label="Means")])
        )
    told = "" if len(items) <= _MOST_ROWS else f"The first {_MOST_ROWS} are listed."
    table = Table((Column("Item"), Column("Id"), *heads), tuple(rows), label="Items", finds=len(rows) > 8)
    sections.append(("items", "Items", told, [table]))
    figure_inside, data = "", None
    if plot := asked.get("plot"):
        with suppress(InputError):  # it has no points
            figure_inside = data_uri(figure(joined, plot), "image/svg+xml")
    if asked.get("film") and (joined.root or joined.kind == "study"):
        query = parse_qs(str(asked["film"]))
        looks = {name: style._asdict() | {"reference": name in joined.references} for name, style in joined.styles.items()}
        name = joined.names[joined.ids.index(query["item"][0])]
        data = {"name": name, "sheet": sheet_of(query), "looks": looks, "state": asked.get("state", {})}
    strips = [
        {
            "label": one["label"],
            "full": one.get("full") or one["label"],
            "told": one["told"],
            "style": joined.styles.get(one.get("method")),
            "most": max(1, *one["all"]),
        }
        | {name: [int(each) for each in one[name]] for name in ("all", "left")}
        for one in asked.get("strips", [])
    ]
    return pages.page(
        "workbench/static/seen.html",
        title=joined.title,
        subtitle=" ".join(
            [f"{count(len(items), 'item')}.", f"{asked.get('words') or 'Nothing is left out'}.", *joined.sentences]
        ),
        sections=sections,
        strips=strips,
        effects=Markup(effects),
        figure=figure_inside,
        style=["workbench/static/effects.css"],
        data=data,
        rules=shared_style() + _SEEN_RULES,
        scripts=[bundle(*_SEEN_PARTS), "workbench/static/seen.js"],
    )


def _mean_words(row: Plain, decimals: int, *, base: str, references: Collection[str]) -> tuple[str, ...]:
    """Name, mean, its interval and the number of items; and where a method is the base, difference from that and its interval."""
    name = row["name"] + " (reference)" * (row["name"] in references)
    own = (name, *_told(row["mean"], decimals), str((row["lead"] or row["mean"])["n"]))
    return (*own, *(_told(row["lead"], decimals, told_signed=True) if row["lead"] else ("", ""))) if base else own


def _told(summary: Plain, decimals: int, *, told_signed: bool = False) -> tuple[str, str]:
    """A mean or difference and its interval, in words; of a difference nothing where too few films tell one."""
    low, high = (None if end is None else number(end, decimals) for end in (summary["interval_low"], summary["interval_high"]))
    if told_signed and summary["mean"] is not None and too_few(summary["n_clusters"]):
        return "too few films", summary["reason"] or ""
    return _word(summary["mean"], decimals, told_signed=told_signed), f"{low} to {high}" if low else summary["reason"] or ""


def _word(value: object, decimals: int | None, *, told_signed: bool) -> str:
    """A value as the page shows it."""
    if not isinstance(value, int | float):
        return DASH if value is None else str(value)
    return signed(value, decimals) if told_signed and decimals is not None else number(value, decimals)


def two_reports(folders: Folders, one: str, other: str, things: Iterable[Thing] = ()) -> str:
    """Means of two reports side by side: of each metric and region both have, a row for each slice and method. They are called
    as the runs among ``things`` whose reports they are, else by their folders, and by whole paths where these are alike.

    Raises:
        InputError: a report cannot be read; they are of different datasets or protocols; or they have no metric in common.
    """
    told = [report_data(folders.place(key)) for key in (one, other)]
    titles = {thing.key.rstrip("/"): thing.title for thing in things if thing.kind == "run"}
    own = [key.removesuffix("/report") for key in (one, other)]
    names = [titles.get(key, folders.place(key).name) for key in own]
    if names[0] == names[1]:
        names = [str(folders.place(key)) for key in own]
    rows: list[_Means] = [
        {(row["metric"], row["region"], row["slice"], row["method"]): row for row in report.get("summary", ())} for report in told
    ]
    kinds = {"dataset_sha256": "of different datasets", "fingerprint": "by protocols with other constants"}
    if named := [words for key, words in kinds.items() if told[0].get(key) != told[1].get(key)]:
        raise InputError(
            f"{' and '.join(names)} are {' and '.join(named)}: their means cannot be compared; choose their runs, "
            "which are compared on the items that both have"
        )
    theirs = {key[:2] for key in rows[1]}
    common = [key for key in dict.fromkeys(key[:2] for key in rows[0]) if key in theirs]
    if not common:
        raise InputError(f"{' and '.join(names)} have no metric in common")
    tables = [_difference_table(rows, key, names) for key in common]
    return pages.page(
        "pages/templates/plain.html",
        title="Two reports",
        subtitle=f"{' against '.join(names)}. Both are of the same dataset under the same protocol. Below a mean stands its 95 % "
        "interval. A change has none here, since reports hold no scores of items: choose the runs for that.",
        links=[Link("/", "All")],
        sections=[
            (f"t{place}", f"{metric_label(metric)}, {region}", "", [table])
            for place, ((metric, region), table) in enumerate(zip(common, tables, strict=True))
        ],
    )


# What a cell of a report's means says.
_SHOWN = ("mean", "interval_low", "interval_high")


def _difference_table(reports: Sequence[_Means], key: tuple[str, str], names: Sequence[str]) -> Table:
    """The methods that both reports have, over the slices that both have; below it those that one of them lacks."""
    decimals = metric_leaf(key[0]).decimals
    keys = [found for found in dict.fromkeys((*reports[0], *reports[1])) if found[:2] == key]
    both = set.intersection(*({found[2:] for found in report if found[:2] == key} for report in reports))
    methods = [name for name in dict.fromkeys(found[3] for found in keys) if any(name == found[1] for found in both)]
    parts = [part for part in dict.fromkeys(found[2] for found in keys) if any(part == found[0] for found in both)]
    rows = []
    for part in [*parts[-1:], *parts[:-1]]:  # all items first
        for method in methods:
            told = [report.get((*key, part, method), {}) for report in reports]
            # JSON has no infinite numbers, so reports state them as text.
            means = [None if row.get("mean") is None else float(row["mean"]) for row in told]
            cells = [
                Cell(number(mean, decimals), mean, below=interval(row.get("interval_low"), row.get("interval_high"), decimals))
                for mean, row in zip(means, told, strict=True)
            ]
            first, second = means
            change = None if first is None or second is None or math.isinf(first - second) else second - first
            same = None not in means and len({tuple(row.get(name) for name in _SHOWN) for row in told}) == 1
            words = "the same" if same else signed(change, decimals)
            called = ": ".join(filter(None, (slice_label(part), split_step(part)[1])))
            rows.append(Row((Cell(called), Cell(method, method), *cells, Cell(words, change))))
    heads = [Column(name, numeric=True, sorts=True) for name in (*names, "Change")]
    columns = (Column("Slice"), Column("Method", sorts=True), *heads)
    lone = [name for name in dict.fromkeys(found[3] for found in keys) if name not in methods]
    foot = f"In one of them alone: {', '.join(lone)}." if lone else ""
    return Table(columns, tuple(rows), label=f"{names[0]} against {names[1]}", finds=len(rows) > 8, foot=foot)
