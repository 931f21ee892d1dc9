"""What is seen as files for others: a page, a figure, a film; and two reports that have no run beside them."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import altair as alt
import pandas as pd

from inpaintbench import pages
from inpaintbench.errors import InputError
from inpaintbench.eval.results.quantity import metric_label, metric_leaf, slice_label
from inpaintbench.eval.results.slices import split_step
from inpaintbench.eval.values.statistics import Summary
from inpaintbench.pages import Cell, Column, Link, Row, Table, data_uri
from inpaintbench.pages.colours import DASHES, MARKERS, REFERENCE, MethodStyle
from inpaintbench.pages.words import DASH, count, number
from inpaintbench.types import Plain, content_id
from inpaintbench.workbench import pixels
from inpaintbench.workbench.finding import Folders, report_data
from inpaintbench.workbench.joining import Joined

# Items of a page that is sent.
_MOST_ROWS = 500
# Methods' colours on white paper.
_PAPER = dict(zip(pages.colours.COLOURS, pages.colours.PALETTE, strict=True))
_HUE = re.compile(r"var\(--hue-[a-z]+\)|#\w+")
_Means = Mapping[tuple[str, str, str, str], float | None]
"""(Metric, region, method, slice) -> mean."""
Film = tuple[pixels.ItemMedia, str, list[pixels.Part]]


def film(cache: Path, media: pixels.ItemMedia, item: str, parts: Sequence[pixels.Part]) -> Path:
    """The films of an item side by side with their names, for others to play: a file of the cache."""
    path = cache / f"{content_id(item, str(media.root), [part.name for part in parts], media.blobs(item, parts))}-labelled.mp4"
    if not path.exists():
        pixels.labelled_film(media, path, item, parts)
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
        if x is not None and y is not None and (isinstance(x, str) or math.isfinite(x)) and math.isfinite(float(y))
    ]
    if not rows:
        raise InputError("there is no point to draw")
    names = [one.name for one in joined.methods if one.name in asked["y"]["values"]] or list(asked["y"]["values"])
    styles = joined.styles
    looks = [styles[name] if name in styles else MethodStyle(REFERENCE, MARKERS[0], DASHES[0]) for name in names]
    hues = [hue[0] for look in looks if (hue := _HUE.search(look.colour))]
    colours, opacities = [_PAPER.get(hue, hue) for hue in hues], [0.8 if look.colour in hues else 0.4 for look in looks]
    chart = alt.Chart(pd.DataFrame(rows), width=480, height=320, title=joined.title).encode(
        alt.X("x:N", title=str(asked["x"]["title"])) if isinstance(rows[0]["x"], str)
        else alt.X("x:Q", title=str(asked["x"]["title"]), scale=alt.Scale(zero=False)),
        alt.Y("y:Q", title=str(asked["y"]["title"]), scale=alt.Scale(zero=False)),
        alt.Color("method:N", title=None, scale=alt.Scale(domain=names, range=colours)),
        alt.Shape("method:N", title=None, scale=alt.Scale(domain=names, range=[look.marker for look in looks])),
        alt.Opacity("method:N", title=None, scale=alt.Scale(domain=names, range=opacities)),
    ).mark_point(size=18, filled=True)  # fmt: skip
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg.encode()


def page(joined: Joined, asked: Plain, *, cache: Path, media: Callable[[Mapping[str, Sequence[str]]], Film]) -> str:
    """The items that are seen as a page of its own: means, the table, the film of the open item.

    Args:
        joined: what is looked at.
        asked: ``items``, ``methods``, ``base``, ``key`` of the quantity, ``words`` of the filter, and the query of the
            open item, ``film``.
        cache: for the film.
        media: finds what a query names.
    """
    items = [int(place) for place in asked["items"]]
    methods = [one.name for one in joined.methods if one.name in asked.get("methods", (one.name,))]
    titles = {f"|{one.base}": one.title for one in joined.against} | {name: f"Less {name}" for name in methods}
    base = str(asked["base"]) if asked.get("base") in titles else ""
    quantity = next((one for one in joined.quantities if one.key == asked.get("key")), None)
    decimals = quantity.decimals if quantity else None
    heads = (
        Column("Item"),
        Column("Id"),
        *(Column(name, numeric=True, sorts=True) for name in methods if quantity),
    )
    rows = []
    for at in items[:_MOST_ROWS]:
        values = [float(joined.values[quantity.key, name][at]) for name in methods] if quantity else []
        cells = [Cell(DASH if math.isnan(value) else number(value, decimals), value) for value in values]
        rows.append(Row((Cell(joined.names[at]), Cell(joined.ids[at]), *cells)))
    means = [
        Row((Cell(name), *(Cell(text) for text in _mean_words(joined, key, name, items, decimals, base=base))))
        for key in ([quantity.key] if quantity else [])
        for name in methods
    ]
    sections = []
    if means:
        mean_heads = [Column("Method"), Column("Mean", numeric=True), Column("Interval (95 %)"), Column("Items", numeric=True)]
        mean_heads += [Column(titles[base], numeric=True), Column("Interval of that (95 %)")] if base else []
        sections.append(
            ("means", f"Means of {asked.get('label', '')}", "", [Table(tuple(mean_heads), tuple(means), label="Means")])
        )
    told = "" if len(items) <= _MOST_ROWS else f"The first {_MOST_ROWS} are listed."
    sections.append(("items", "Items", told, [Table(heads, tuple(rows), label="Items", finds=len(rows) > 8)]))
    text = pages.page(
        "pages/templates/plain.html",
        title=joined.title,
        subtitle=" ".join(
            [f"{count(len(items), 'item')}.", f"{asked.get('words') or 'Nothing is left out'}.", *joined.sentences]
        ),
        sections=sections,
    )
    if not asked.get("film"):
        return text
    shown, item, parts = media(asked["film"])
    path = film(cache, shown, item, parts)
    player = (
        f"<h2>{html.escape(joined.names[joined.ids.index(item)])}</h2>"
        f'<figure><video controls loop muted autoplay playsinline src="{data_uri(path.read_bytes(), "video/mp4")}" '
        'style="max-width:100%"></video></figure>'
    )
    return text.replace("</main>", f"{player}</main>", 1)


def _mean_words(
    joined: Joined, key: str, method: str, items: Sequence[int], decimals: int | None, *, base: str
) -> tuple[str, ...]:
    """Mean, its interval and the number of items; and where a method is the base, difference from that and its interval."""
    mean = joined.mean(key, method, items)
    own = (*_told(mean, decimals), str(mean.n))
    if other := joined.base_of(method, base):
        return *own, *_told(joined.lead(key, method, other, items), decimals)
    return (*own, "", "") if base else own


def _told(mean: Summary, decimals: int | None) -> tuple[str, str]:
    low, high = (None if end is None else number(end, decimals) for end in (mean.interval_low, mean.interval_high))
    return DASH if mean.mean is None else number(mean.mean, decimals), f"{low} to {high}" if low else mean.reason or ""


def two_reports(folders: Folders, one: str, other: str) -> str:
    """Means of two reports side by side: of each metric and region both have, the methods by slice, with the difference.

    Raises:
        InputError: a report cannot be read; they are of different datasets or protocols; or they have no metric in common.
    """
    told = [report_data(folders.place(key)) for key in (one, other)]
    # JSON has no infinite numbers, so reports state them as text.
    means = [
        {
            (row["metric"], row["region"], row["method"], row["slice"]): None if row["mean"] is None else float(row["mean"])
            for row in report.get("summary", ())
        }
        for report in told
    ]
    kinds = {"dataset_sha256": "of different datasets", "fingerprint": "by protocols with other constants"}
    if named := [words for key, words in kinds.items() if told[0].get(key) != told[1].get(key)]:
        raise InputError(
            f"{one} and {other} are {' and '.join(named)}: their means cannot be compared; choose their runs, which are compared "
            "on the items that both have"
        )
    theirs = {key[:2] for key in means[1]}
    common = [key for key in dict.fromkeys(key[:2] for key in means[0]) if key in theirs]
    if not common:
        raise InputError(f"{one} and {other} have no metric in common")
    tables = [_difference_table(means, key, names=(one, other)) for key in common]
    return pages.page(
        "pages/templates/plain.html",
        title="Two reports",
        subtitle=f"{one} against {other}. Both are of the same dataset under the same protocol.",
        links=[Link("/", "All")],
        sections=[
            (f"t{place}", f"{metric_label(metric)}, {region}", "", [table])
            for place, ((metric, region), table) in enumerate(zip(common, tables, strict=True))
        ],
    )


def _difference_table(means: Sequence[_Means], key: tuple[str, str], names: tuple[str, str]) -> Table:
    """The methods that either report has, over the slices that both have."""
    decimals = metric_leaf(key[0]).decimals
    keys = [found for found in dict.fromkeys((*means[0], *means[1])) if found[:2] == key]
    both = set.intersection(*({name for *of, _, name in found if tuple(of) == key} for found in means))
    slices = [name for name in dict.fromkeys(found[3] for found in keys) if name in both]
    rows = []
    for method in dict.fromkeys(found[2] for found in keys):
        cells = [Cell(method, method)]
        for part in slices:
            first, second = (found.get((*key, method, part)) for found in means)
            change = None if first is None or second is None or math.isinf(first - second) else second - first
            texts = [DASH if value is None else number(value, decimals) for value in (first, second)]
            same = change is not None and f"{change:.{decimals}f}".strip("-0.") == ""
            note = "" if change is None else "the same" if same else f"{change:+.{decimals}f}"
            cells.append(Cell(" → ".join(texts) if not same else texts[0], change, note=note))
        rows.append(Row(tuple(cells)))
    columns = [Column("Method", sorts=True)]
    for part in slices:
        label, level = slice_label(part), split_step(part)[1]
        columns.append(Column(level or label, numeric=True, sorts=True, group=label if level else ""))
    return Table(tuple(columns), tuple(rows), label=f"{names[0]} against {names[1]}", picks_columns=len(slices) > 4)
