"""One specification of plots, Vega-Lite by altair: drawn into pages as SVG that takes the page's colours, saved as SVG, PDF, PNG.

Drawn when a page is made, a plot needs no script, prints as it stands and costs some ten kilobytes, where
Vega itself takes 0.9 MB. What its marks say is in their ``aria-label``; the page's script shows it where the pointer rests.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.pages.colours import COLOURS, PALETTE, MethodStyle
from inpaintbench.pages.page import render

if TYPE_CHECKING:
    import altair
    import vl_convert
else:
    vl_convert = lazily("vl_convert")


# Values of the stylesheet's variables on white paper; charts name colours as `var(--ink)`.
LIGHT = {
    "ink": "#15191f", "soft": "#59636f", "faint": "#5c6672", "line": "#e4e7ec", "strong-line": "#8a949f", "ground": "#ffffff",
    "panel": "#f6f7f9", "accent": "#0b5cad", "low": "#b9c2cd", "high": "#6d7a89", "fill": "#0072B2", "against": "#D55E00",
    **{name[6:-1]: colour for name, colour in zip(COLOURS, PALETTE, strict=True)},
}  # fmt: skip
FONT = 'Inter, system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif'
# Pixels between the axes of a plot that is as wide as a page of 1360.
WIDTH = 1180
_SIZE, _SMALL = 13, 12
_VARIABLE = re.compile(r"var\(--([a-z-]+)\)")
# Vega's form of a link to a part of the page: it resolves addresses against its own data folder.
_LINK_BASE = 'xlink:href="https://vega.github.io/vega-datasets/#'
_CLIP_IDS = re.compile(r'(?<=id=")(clip\d+|gradient_\d+)(?=")|(?<=url\(#)(clip\d+|gradient_\d+)(?=\))')
# A layer without marks: `<g .../>`, or an opening and a closing `g` with nothing between.
# To a screen reader it would be a picture without a name.
_EMPTY = re.compile(r'<g class="mark-[^>]*(/>|(?<!/)><.g>)')
PAPER_LEGEND = {"title": None, "orient": "bottom", "labelLimit": 400}
CONFIG: dict[str, Any] = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--soft)", "titleColor": "var(--ink)", "gridColor": "var(--line)", "domainColor": "var(--strong-line)",
        "tickColor": "var(--strong-line)", "labelFontSize": _SMALL, "titleFontSize": _SIZE, "titleFontWeight": 500,
        "labelLimit": 260, "titleLimit": 600,
    },
    "axisX": {"grid": False, "labelAngle": 0},
    "header": {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": _SIZE, "titleFontSize": _SIZE},
    "legend": {"labelColor": "var(--ink)", "titleColor": "var(--soft)", "labelFontSize": _SMALL, "titleFontSize": _SMALL},
    "title": {"color": "var(--ink)", "fontSize": 15, "subtitleColor": "var(--soft)", "anchor": "start", "fontWeight": 650},
    "text": {"color": "var(--ink)", "fontSize": _SMALL},
    "rule": {"color": "var(--ink)"},
    "bar": {"color": "var(--fill)"},
    "point": {"color": "var(--fill)", "filled": True, "size": 70},
    "line": {"color": "var(--fill)", "strokeWidth": 1.75},
}  # fmt: skip


def specification(chart: altair.TopLevelMixin | Mapping[str, Any]) -> dict[str, Any]:
    """The chart as Vega-Lite, with the look of all plots; one that is Vega-Lite already as it is."""
    if isinstance(chart, Mapping):
        return dict(chart)
    found: dict[str, Any] = chart.to_dict(validate=False)  # its parts were looked at when they were made
    found["config"] = CONFIG
    return found


@lru_cache(maxsize=64)
def _drawn(text: str) -> str:
    """A specification as SVG: once for the page and the files beside it.

    The picture has identifiers of its own, the same for the same picture, so that several can stand in one page.
    """
    svg = _EMPTY.sub("", vl_convert.vegalite_to_svg(text))
    plain = _CLIP_IDS.sub("", svg)  # the drawer counts on from picture to picture
    mark, numbers = hashlib.sha256(plain.encode()).hexdigest()[:8], dict[str, int]()
    return _CLIP_IDS.sub(lambda match: f"plot-{mark}-{numbers.setdefault(match[0], len(numbers))}", svg)


def for_paper(
    chart: altair.TopLevelMixin, rows: Sequence[Mapping[str, Any]], *, title: str = "", notes: Sequence[str] = ()
) -> dict[str, Any]:  # fmt: skip
    """A chart over named rows as Vega-Lite that stands alone: with its rows, a title with notes below, and a legend of methods.

    In a page the legend is text above the plot; ``page.paper`` of plots.js adds it in the same way.
    """

    def with_legend(part: dict[str, Any]) -> dict[str, Any]:
        hidden = part.get("field") == "method" and "legend" in part
        return part | {"legend": PAPER_LEGEND} if hidden else part

    found = specification(chart) | {"datasets": {"rows": list(rows)}}
    if title:
        found["title"] = {"text": title, **({"subtitle": list(notes), "offset": 8} if notes else {})}
    with_legends: dict[str, Any] = json.loads(json.dumps(found), object_hook=with_legend)
    return with_legends


def _svg(chart: altair.TopLevelMixin | Mapping[str, Any]) -> str:
    return _drawn(json.dumps(specification(chart)))


def figure(
    chart: altair.TopLevelMixin | Mapping[str, Any],
    *,
    label: str,
    note: str = "",
    wide: bool = False,
    name: str = "",
    files: Sequence[str] = (),
) -> Markup:
    """The chart inside a page, in the page's colours, light or dark.

    Args:
        chart: any of altair's.
        label: what a screen reader says it shows.
        note: small print below.
        wide: keeps its width and scrolls, instead of shrinking to that of the page.
        name: by which scripts find it.
        files: names of those beside the page that hold the same picture.
    """
    svg = Markup(_svg(chart).replace(_LINK_BASE, 'href="#'))
    return render("pages/templates/figure.html", svg=svg, label=label, note=note, wide=wide, name=name, files=files)


def _on_paper(text: str) -> str:
    """Text with the stylesheet's variables replaced by the colours on white paper."""
    return _VARIABLE.sub(lambda match: LIGHT[match[1]], text)


def paper_svg(chart: altair.TopLevelMixin | Mapping[str, Any]) -> str:
    """The chart as SVG in dark ink on white."""
    opening, mark, rest = _on_paper(_svg(chart)).partition(">")
    return f'{opening}{mark}<rect width="100%" height="100%" fill="{LIGHT["ground"]}"/>{rest}'


def method_looks(styles: Mapping[str, MethodStyle]) -> dict[str, Any]:
    """Channels by the name of the method, the same as everywhere on the page and without a legend of their own: ``color``, and
    ``shape`` as a second cue where colours come again."""
    import altair

    colours, markers = [look.colour for look in styles.values()], [look.marker for look in styles.values()]
    return {
        "color": altair.Color("method:N", scale=altair.Scale(domain=list(styles), range=colours), legend=None),
        "shape": altair.Shape("method:N", scale=altair.Scale(domain=list(styles), range=markers), legend=None),
    }


@lru_cache(maxsize=1)
def drawing_script() -> str:
    """The program that draws plots in a page where the reader chooses what they show: Vega, Vega-Lite and vega-embed, 0.9 MB.

    Putting it together takes seconds, so it is kept in the user's cache, as far as that can be written.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inpaintbench"
    kept = cache / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError):
        return kept.read_text(encoding="utf-8")
    script: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets the default
    with suppress(OSError, WorkspaceError):
        cache.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, script.encode())
    return script


_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_OFFSET = re.compile(rb"(\d{10}) 00000 n")
# Entries that the drawer names by a letter or two and a number (`/xo2 14 0 R`): the resources of a page.
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+\d+ .*\n){2,}", re.MULTILINE)


def stable_pdf(pdf: bytes) -> bytes:
    """Return the document with its objects and resources in one order; its content is the same.

    vl-convert writes both in the order of a hash map, which changes from call to call. Here objects are numbered in the order in
    which they are referred to, from the trailer on, and resources are sorted by name.
    """
    table, _, end = pdf.rpartition(b"startxref")
    place = int(end.split()[0])
    trailer = table[table.rindex(b"trailer") :]
    starts = [int(offset) for offset in _OFFSET.findall(pdf, place)]
    ends = dict(zip(sorted(starts), [*sorted(starts)[1:], place], strict=True))
    objects = {}
    for number, start in enumerate(starts, 1):
        # The bytes of a stream may look like a reference: only the dictionary before it is rewritten.
        dictionary, *stream = re.split(rb"(?=\bstream\n)", pdf[start : ends[start]].partition(b" obj")[2], maxsplit=1)
        objects[number] = _RESOURCES.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), dictionary), *stream
    numbers, queue = dict[int, int](), [int(number) for number in _REFERENCE.findall(trailer)]
    for number in queue:
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            queue += [int(other) for other in _REFERENCE.findall(objects[number][0])]

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda match: b"%d 0 R" % numbers[int(match[1])], text)

    stable, offsets = pdf[: min(starts)], [b"%010d 65535 f\r\n" % 0]
    for number in numbers:
        dictionary, *stream = objects[number]
        offsets.append(b"%010d 00000 n\r\n" % len(stable))
        stable += b"%d 0 obj%s%s" % (numbers[number], renumbered(dictionary), b"".join(stream))
    trailer = re.sub(rb"/Size \d+", b"/Size %d" % len(offsets), renumbered(trailer))
    return b"%sxref\n0 %d\n%s%sstartxref\n%d\n%%%%EOF" % (stable, len(offsets), b"".join(offsets), trailer, len(stable))


# The formats of a plot by the ends of their names.
ENDINGS = (".svg", ".pdf", ".png", ".json")


def save_chart(chart: altair.TopLevelMixin | Mapping[str, Any], path: Path) -> Path:
    """Write the chart in the format that the name ends in: ``.svg``, ``.pdf``, ``.png`` (two pixels a point) or ``.json``.

    Raises:
        InputError: the name ends in something else.
    """
    kind = path.suffix
    if kind not in ENDINGS:
        raise InputError(f"no plot can be written as {path.name!r}; names end in {', '.join(ENDINGS)}")
    if kind == ".json":
        paper = json.loads(_on_paper(json.dumps(specification(chart))))
        paper["config"]["background"] = LIGHT["ground"]
        data = json.dumps(paper, indent=1, sort_keys=True).encode()
    else:
        svg = paper_svg(chart)
        data = svg.encode()
        if kind == ".pdf":
            data = stable_pdf(vl_convert.svg_to_pdf(svg))
        elif kind == ".png":
            data = vl_convert.svg_to_png(svg, scale=2)
    write_atomically(path, data)
    return path
