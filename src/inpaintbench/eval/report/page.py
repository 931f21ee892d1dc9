"""The page: parts filled into one template, with its style, scripts and plotly.js inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from inpaintbench.eval.report import exhibits as gallery_html
from inpaintbench.eval.report import notes, overview
from inpaintbench.eval.report.again_note import again_note
from inpaintbench.eval.report.findings import finding_cards
from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.item_records import item_data
from inpaintbench.eval.report.item_table import items_section
from inpaintbench.eval.report.labels import REGION_LABELS, method_colours, metric_arrow, region_label
from inpaintbench.eval.report.markup import json_script
from inpaintbench.eval.report.plot_tables import difficulty_tables, improvement_tables
from inpaintbench.eval.report.plots import difficulty_figure, sensitivity_figure
from inpaintbench.eval.report.provenance import provenance
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.rank_table import rank_tables, ranks_lead
from inpaintbench.eval.report.score_table import failure_table, score_tables
from inpaintbench.eval.report.significance import significance_section
from inpaintbench.eval.report.tables import Results, pair_slices
from inpaintbench.eval.report.usual_region import first_shown

MOST_BUTTONS = 5
"""More metrics than this are chosen from a list."""
MOST_ROWS = 6
"""A figure of relative improvement with more metrics than this shows the chosen one alone."""
INLINE_NOTE = "Everything is inside this one file: pictures, videos, scripts."
SCRIPTS = ("shared", "report", "items", "item_panel", "scatter", "traces", "wipe", "player", "gallery")
"""Files of the page's scripts, in the order in which they run."""
MARK = 'document.documentElement.classList.add("js");'
BESIDE_NOTE = "The videos lie in the folder media/ beside this file: keep both together."


def default_quantity(results: Results) -> Quantity:
    """What the page shows first and chooses items by: the first metric with values of items, in its usual region."""
    of_items = [quantity for quantity in results.quantities if not quantity.of_sets]
    usable = [quantity for quantity in of_items if quantity.ranked] or of_items or list(results.quantities)
    return first_shown(usable, results.protocol)


def render(
    results: Results, exhibits: Sequence[Exhibit], addresses: Sequence[str], *, title: str, inline: bool, frame_note: str = ""
) -> str:
    """The whole page as HTML text; ``addresses`` say where the video of each exhibit is, ``frame_note`` what is not drawn."""
    default = default_quantity(results)
    shown = gallery_html.shown_items(exhibits)
    scripts = {name: _asset(f"{name}.js") for name in SCRIPTS}
    parts = {
        "title": escape(title),
        "subtitle": overview.subtitle(results),
        "legend": overview.legend(results),
        "warnings": overview.warnings(results),
        "precision_note": overview.precision_note(results) + overview.claims_note(results) + again_note(results),
        "unmeasured_note": overview.unmeasured_note(results),
        "cards": finding_cards(results, default=default),
        "metric_choices": _metric_choices(results, chosen=default.metric),
        "region_choices": _choices("region", _regions(results), chosen=default.region),
        "score_tables": score_tables(results, shown_in=gallery_html.slices_shown(exhibits)),
        "strip": gallery_html.strip(results, exhibits),
        "shown": "truth, input" if gallery_html.has_input(exhibits) else "the original",
        "reference": "truth" if gallery_html.has_input(exhibits) else "original",
        "figures": gallery_html.figures(results, exhibits, addresses, default=default),
        "hollow": overview.hollow_note(results),
        "ranks_lead": ranks_lead(results),
        "rank_tables": rank_tables(results),
        "significance": significance_section(results),
        **_sensitivity(results, default),
        **_hole_controls(exhibits),
        "failures": failure_table(results) or "<p>None: every method has every score.</p>",
        "metric_notes": notes.metric_notes(results),
        "reading_notes": notes.reading_notes(results),
        "slice_table": notes.slice_table(results),
        "constants_table": notes.constants_table(results),
        "dataset_table": notes.dataset_table(results),
        "media_note": INLINE_NOTE if inline else BESIDE_NOTE,
        "posters": gallery_html.posters(exhibits),
        "items": items_section(results, shown, default=default),
        "items_link": '<a href="#items">Items</a>' if not default.of_sets else "",
        "difficulty_tables": difficulty_tables(results, default=default),
        "provenance": provenance(results),
        "frame_note": f'<p class="note">{escape(frame_note)}</p>' if frame_note else "",
        "data": json_script("report-data", _data(results, default, exhibits)),
        "style": _asset("style.css") + _asset("items.css"),
        "mark": MARK,
        "policy": _policy([MARK, get_plotlyjs(), *scripts.values()]),
        "plotly": get_plotlyjs(),
        "scripts": "\n".join(f"<script>{text}</script>" for text in scripts.values()),
    }
    return Template(_asset("page.html")).substitute(parts)


def _policy(scripts: Sequence[str]) -> str:
    """What the page may do: run its own scripts, known by their hashes, and show what it carries or what lies beside it."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "media-src 'self' data: blob: file:; base-uri 'none'; form-action 'none'"
    )


def _sensitivity(results: Results, default: Quantity) -> dict[str, str]:
    """The section about low and high slices and its link; nothing where no attribute has both."""
    if not pair_slices(results.slices):
        return {"sensitivity_link": "", "sensitivity": ""}
    section = Template(_asset("sensitivity.html")).substitute(
        legend=overview.legend(results), tables=improvement_tables(results, default=default), hollow=overview.hollow_note(results)
    )
    return {"sensitivity_link": '<a href="#sensitivity">Sensitivity</a>', "sensitivity": section}


def _hole_controls(exhibits: Sequence[Exhibit]) -> dict[str, str]:
    """What the player offers where items have holes; nothing where none has one."""
    if exhibits and all(exhibit.hole_fraction is None for exhibit in exhibits):
        return {"hole_switch": "", "hole_key": "", "close_up": ""}
    words = 'data-switch="outline" aria-pressed="true" title="Outline of the hole (O)">Hole</button>'
    return {
        "hole_switch": f'<button type="button" class="of-hole" {words}',
        "hole_key": '<span class="of-hole"><kbd>O</kbd> hole</span>',
        "close_up": "; follows the hole",
    }


def _regions(results: Results) -> list[str]:
    found = dict.fromkeys(quantity.region for quantity in results.quantities)
    return [region for region in REGION_LABELS if region in found] + [region for region in found if region not in REGION_LABELS]


def _metric_choices(results: Results, *, chosen: str) -> str:
    """Radio buttons while they fit into the bar, else a list to open."""
    metrics = list(dict.fromkeys(one.metric for one in results.quantities))
    if len(metrics) <= MOST_BUTTONS:
        return f'<fieldset class="segmented"><legend>Metric</legend>{_choices("metric", metrics, chosen=chosen)}</fieldset>'
    options = "".join(
        f'<option value="{escape(metric)}"{" selected" if metric == chosen else ""}>{escape(metric_arrow(metric))}</option>'
        for metric in metrics
    )
    return f'<select name="metric" class="chooser" aria-label="Metric" autocomplete="off">{options}</select>'


def _choices(name: str, values: Sequence[str], *, chosen: str) -> str:
    """A row of radio buttons."""
    return "".join(
        f'<label><input type="radio" name="{name}" value="{escape(value)}"{" checked" if value == chosen else ""}>'
        f"<span>{escape(_label(name, value))}</span></label>"
        for value in dict.fromkeys(values)
    )


def _label(name: str, value: str) -> str:
    return metric_arrow(value) if name == "metric" else region_label(value, short=True)


def _data(results: Results, default: Quantity, exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """What the scripts draw, by metric and region."""
    return {
        "default": default._asdict(),
        "quantities": [quantity._asdict() for quantity in results.quantities],
        "difficulty": {f"{one.metric}/{one.region}": difficulty_figure(results, one) for one in results.quantities},
        "sensitivity": _sensitivity_figures(results),
        "colours": method_colours(results.methods),
        "references": list(results.references),
        "items": item_data(results, gallery_html.shown_items(exhibits), default=default),
        "frames": gallery_html.all_frame_data(exhibits),
    }


def _sensitivity_figures(results: Results) -> dict[str, Any]:
    """Figures by region, each with a row for every metric; where these would be too many, one by metric and region."""
    by_region: dict[str, list[Quantity]] = {}
    for quantity in (one for one in results.quantities if one.ranked):
        by_region.setdefault(quantity.region, []).append(quantity)
    figures: dict[str, Any] = {}
    for region, quantities in by_region.items():
        if len(quantities) <= MOST_ROWS:
            figures[region] = sensitivity_figure(results, quantities)
        else:
            figures |= {f"{one.metric}/{region}": sensitivity_figure(results, [one]) for one in quantities}
    return figures


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
