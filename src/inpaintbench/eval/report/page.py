"""The page of a report: plain data for its templates and scripts.

Without scripts each item of the gallery is an ordinary video of all its tiles; the player replaces it by a canvas for each tile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from inpaintbench import frozen, pages
from inpaintbench.catalogue import attribute_at, joined
from inpaintbench.eval.diagnosis import Diagnosis, diagnose, explained_words, left_out_words, together_words
from inpaintbench.eval.report import effects, figures, findings, notes, plots, slice_tables, tables
from inpaintbench.eval.report.gallery import Exhibit, item_data, items_part, six_digits
from inpaintbench.eval.report.media import MASK, OUTLINE, rounded
from inpaintbench.eval.results.cautions import cautions, exposure_sentences, judge_sentences, protocol_cautions
from inpaintbench.eval.results.quantity import (
    REGION_LABELS,
    Quantity,
    first_shown,
    metric_arrow,
    metric_leaf,
    quantity_label,
    quantity_title,
    region_label,
    with_unit,
)
from inpaintbench.eval.results.slices import in_reading_order, pair_slices, step_series
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.pages import Link, data_uri, method_styles
from inpaintbench.pages.page import bundle, shared_style
from inpaintbench.pages.plots import LIGHT, PAPER_LEGEND, drawing_script, specification
from inpaintbench.pages.words import count
from inpaintbench.types import Plain

# A figure of relative improvement with more metrics than this shows the chosen one alone.
MOST_ROWS = 6
# Of more methods than this the tables of further metrics are packed: two of 50 by 50 cells for each metric are 100,000 elements.
MOST_OPEN = 12
INLINE_NOTE = "Everything is inside this one file: pictures, videos, scripts."
# Files of the page's scripts, in the order in which they run.
SCRIPTS = ("report", "items", "item_panel", "scatter", "gallery", "headline", "effects")
GALLERY_SCRIPTS = ("report", "gallery", "headline")
# What they take of the player and of the charts that all pages share.
_SHARED = tuple(
    f"pages/static/{name}.js"
    for name in ("player/player", "player/keys", "items/charts", "items/data", "items/numbers", "items/table")
)
BESIDE_NOTE = "The videos lie in the folder media/ beside this file: keep both together."
# Key of the root mean square error, which is there for every clip.
ERROR = "error"


def default_quantity(results: Results) -> Quantity:
    """Quantity that the page opens with and chooses items by: the first metric with values of items, in its usual region."""
    of_items = [quantity for quantity in results.quantities if not quantity.of_sets]
    usable = [quantity for quantity in of_items if quantity.ranked] or of_items or list(results.quantities)
    return first_shown(usable, results.protocol)


def parts_of(results: Results, exhibits: Sequence[Exhibit], *, title: str, frame_note: str = "") -> dict[str, Any]:
    """All that the page shows but where its videos lie; ``frame_note`` says what is not drawn over time."""
    default, diagnosis = default_quantity(results), diagnose(results)
    gallery = _gallery(results, exhibits, results.quantities)
    items = items_part(results, _shown_items(exhibits), default=default)
    steps = slice_tables.compared(results, step_series(results.slices))
    data = _data(results, exhibits, gallery, steps, diagnosis)
    sections = {
        "scores": ("Scores", True), "gallery": ("Gallery", True), "items": ("Items", items), "ranks": ("Ranks", True),
        "response": ("Attributes", diagnosis.curves), "difficulty": ("Difficulty", True), "steps": ("Strength", steps),
        "sensitivity": ("Sensitivity", pair_slices(results.slices) and not diagnosis.effects),
        "effort": ("Effort", results.efforts), "notes": ("Notes", True), "provenance": ("Data", True),
    }  # fmt: skip

    return {
        **gallery,
        "has_holes": gallery["has_holes"] or not exhibits,
        "title": title,
        "links": [Link(f"#{name}", words) for name, (words, there) in sections.items() if there],
        "data": data,
        "frame_note": frame_note,
        "subtitle": notes.subtitle(results),
        "warnings": notes.warnings(results),
        "packs": len(results.methods) > MOST_OPEN,
        "unfinished": notes.unfinished(results),
        "notes": [notes.precision_note(results), notes.claims_note(results), *exposure_sentences(results)],
        "again": protocol_cautions(results),
        "unmeasured": notes.unmeasured_notes(results),
        "unmeasured_summary": notes.unmeasured_summary(results),
        **_by_quantity(results, diagnosis, steps, gallery["headline"]),
        "not_told": [*left_out_words(diagnosis), *filter(None, [effects.without_clips(results, diagnosis, default)])],
        "items": items,
        "ranks_lead": slice_tables.ranks_lead(results),
        "rank_tables": slice_tables.rank_tables(results),
        "leads": [(lead, quantity_title(lead.quantity, results.protocol)) for lead in findings.leads(results)],
        "significant": LEVEL,
        "hollow": {name: plots.hollow_note(rows) for name, rows in data["rows"].items()},
        "effort": tables.effort_table(results.efforts, results.methods, references=results.references),
        "effort_lead": tables.EFFORT_LEAD,
        "tasks": tables.task_notes(results.efforts, results.methods),
        "failures": tables.failure_rows(results),
        "reading": notes.reading_notes(results),
        "definitions": notes.metric_notes(results),
        "slices": notes.slice_table(results),
        "constants": notes.constants_table(results),
        "dataset": notes.dataset_table(results),
        "facts": notes.facts_of(results),
        "commands": notes.commands_of(results),
        "folders": notes.folders_of(results),
    }


def _by_quantity(
    results: Results, diagnosis: Diagnosis, steps: Mapping[tuple[str, Quantity], slice_tables.Compared],
    finding: effects.Headline | None,
) -> dict[str, list[tuple[Any, ...]]]:  # fmt: skip
    """The parts that there are of each quantity, of which the page shows those of the one that is chosen."""
    default, quantities = default_quantity(results), results.quantities
    ranked = [quantity for quantity in quantities if quantity.ranked]
    beside = [attribute_at(address)(results) for address in joined("sentences beside scores").values()]

    def each(*told: Callable[[Quantity], object], among: Sequence[Quantity] = quantities) -> list[tuple[object, ...]]:
        """The quantities, each with what is told of it."""
        return [(quantity, *(one(quantity) for one in told)) for quantity in among]

    def cards(quantity: Quantity) -> list[findings.Finding]:
        """The findings, but for the sensitivity where the headline has told it or the fingerprints tell all pairs of slices."""
        own = effects.own_effects(diagnosis, quantity)
        told = {one.factor.name for one in own if one.factor.kind != "measured"}
        known = (finding is not None and quantity == default) or {pair.attribute for pair in results.pairs} <= told
        return [card for card in findings.findings(results, quantity) if card.question != findings.SENSITIVITY or not known]

    return {
        "findings": each(partial(findings.standing_note, results), cards),
        "fingerprints": each(
            partial(effects.told_sentences, diagnosis),
            partial(effects.sensitivity_note, diagnosis),
            partial(effects.effects_table, results, diagnosis),
            among=[quantity for quantity in quantities if effects.own_effects(diagnosis, quantity)],
        ),
        "responses": each(
            partial(explained_words, diagnosis.explained),
            lambda quantity: [together_words(one) for one in diagnosis.together if one.quantity == quantity],
            among=quantities if diagnosis.curves else (),
        ),
        "scores": each(
            partial(cautions, results),
            lambda one: [*judge_sentences(results.scores, one), *(words for said_of in beside for words in said_of(one))],
            partial(tables.score_table, results),
        ),
        "difficulty": each(partial(slice_tables.difficulty_table, results)),
        "steps": each(
            partial(slice_tables.steps_table, results, steps=steps),
            partial(slice_tables.steps_notes, steps=steps),
            among=quantities if steps else (),
        ),
        "improvements": each(
            partial(slice_tables.improvement_table, results),
            among=ranked if pair_slices(results.slices) else (),
        ),
    }


def gallery_parts(results: Results, exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """What a page shows of the headline and the gallery alone, and what their scripts ask for, without lines over time."""
    quantities = [quantity for quantity in results.quantities if not quantity.of_sets]
    gallery = _gallery(results, exhibits, quantities)
    data = _shared_data(results, quantities, gallery) | {"titles": {}, "charts": {}, "rows": {"difficulty": []}, "frames": {}}
    return {**gallery, "data": data, "frame_note": ""}


def render(parts: Mapping[str, Any], addresses: Sequence[str]) -> str:
    """The whole page as HTML text, its videos beside it; ``addresses`` say where that of each exhibit is."""
    return pages.page(
        "eval/report/page.html",
        scripts=["pages/static/plots.js", drawing_script(), *scripts(SCRIPTS)],
        addresses=addresses,
        media_note=BESIDE_NOTE,
        **parts,
    )


def scripts(names: Sequence[str]) -> list[str]:
    """Scripts of the report by name, after those that they share with other pages."""
    return [bundle(*_SHARED), *(f"eval/report/{name}.js" for name in names)]


def _shown_items(exhibits: Sequence[Exhibit]) -> dict[str, str]:
    """Item -> id of the element that plays it."""
    return {exhibit.choice.item_id: f"exhibit-{index}" for index, exhibit in enumerate(exhibits)}


def _gallery(results: Results, exhibits: Sequence[Exhibit], quantities: Sequence[Quantity]) -> dict[str, Any]:
    """Headline, strip of pictures and figures; a figure that is ``traced`` has lines over time."""
    default, shown = default_quantity(results), _shown_items(exhibits)
    finding = effects.headline(results, default)
    channels = {one.choice.item_id: one.layout.channels for one in exhibits}
    proofs = [
        {"figure": shown[proof.item_id], "method": proof.method, "caption": proof.caption}
        for proof in (finding.proofs if finding else ())
        if proof.method in channels.get(proof.item_id, ())
    ]
    # The gallery opens with the last item that shows the finding, else with the most interesting one.
    last = finding.proofs[-1].item_id if finding and finding.proofs else None
    opened = max(exhibits, key=lambda one: (one.choice.item_id == last, len(one.errors), one.choice.interest), default=None)
    rows = {row["item_id"]: row for row in results.dataset.items}
    found, known = dict.fromkeys(quantity.region for quantity in results.quantities), list(REGION_LABELS)
    regions = sorted(found, key=lambda region: known.index(region) if region in known else len(known))
    return {
        "styles": method_styles(results.methods, results.aside),
        # As rules of the stylesheet a picture that stands for several slices is held once.
        "rules": shared_style()
        + "\n".join(
            f'[data-poster="{index}"] {{ background-image: url("{data_uri(exhibit.poster, "image/png")}"); }}'
            for index, exhibit in enumerate(exhibits)
        ),
        "results": results,
        "default": default,
        "metrics": [(metric, metric_arrow(metric)) for metric in dict.fromkeys(quantity.metric for quantity in quantities)],
        "regions": [(region, region_label(region, short=True)) for region in regions],
        "headline": finding,
        "proofs": proofs,
        "thumbs": _thumbs(results, exhibits),
        "figures": [
            _figure(results, one, rows[one.choice.item_id], default) | {"id": shown[one.choice.item_id], "first": one is opened}
            for one in exhibits
        ],
        # Clips that are to be edited are both, truth and input.
        "has_input": not exhibits or any("input" in exhibit.layout.channels for exhibit in exhibits),
        "has_holes": any(exhibit.hole_fraction is not None for exhibit in exhibits),
    }


def _thumbs(results: Results, exhibits: Sequence[Exhibit]) -> list[dict[str, Any]]:
    """A small picture for each slice and item, in the order of the tables, then for each label of an item."""
    order = [part.name for part in in_reading_order(results.slices)] or [results.everything.name]
    thumbs = [
        {"slice": name, "words": (findings.slice_tag(name),), "exhibit": index}
        for name in order
        for index, exhibit in enumerate(exhibits)
        if name in exhibit.choice.reasons
    ]
    labelled = [(label, index) for index, exhibit in enumerate(exhibits) for label in exhibit.choice.labels]
    # "Hardest 2" before "Hardest 10"
    labelled.sort(key=lambda entry: (entry[0].rstrip("0123456789"), len(entry[0]), entry[0]))
    return thumbs + [{"slice": label, "words": (label,), "exhibit": index} for label, index in labelled]


def _figure(results: Results, exhibit: Exhibit, row: Plain, default: Quantity) -> dict[str, Any]:
    """Words, facts and tiles of one item; no value is bold, since one item tells nobody from anybody."""
    choice, channels = exhibit.choice, exhibit.layout.channels
    # A clip that is to be edited is called the original, since no result should come back to it.
    truth = "Truth" if "input" in channels else "Original"
    names = {"truth": truth, "input": "Input", OUTLINE: "Outline of the hole", MASK: "Hole"}
    heads = [part for head in (*map(findings.slice_tag, choice.reasons), *choice.labels) for part in (" · ", head)][1:]
    reasons = "; ".join(dict.fromkeys((*choice.reasons.values(), *choice.labels.values())))
    facts = [f"{row['width']}×{row['height']}"]
    if row["frames"] > 1:
        facts.append(f"{count(int(row['frames']), 'frame')} at {float(row['fps']):g} per second")
    if exhibit.hole_fraction is not None:
        facts.append(f"hole {exhibit.hole_fraction:.1%} of the picture")
    absent = [method for method in results.methods if method not in channels]
    return {
        "heads": tuple(heads),
        "reasons": f"Chosen because {reasons} (by {quantity_label(default)}).",
        # Of an edit: the prompt of the original, where it is known, and of the wished result or the instruction.
        "prompts": (row.get("source_prompt"), frozen.asked_of_edit(row)) if frozen.is_edit(row) else None,
        "item": str(row["item_id"]),
        "source": str(row["source_id"]),
        "facts": " · ".join(facts),
        "channels": tuple(names.get(channel, channel) for channel in channels),
        "absent": [(method, results.reason(method, choice.item_id) or "") for method in absent],
        "sheet": _sheet(results, exhibit, names),
    }


def _sheet(results: Results, exhibit: Exhibit, names: Mapping[str, str]) -> dict[str, Any]:
    """What the player takes: places of the pictures in the video, and the values of each result by quantity."""
    layout = exhibit.layout
    size = {"width": layout.tile_width, "height": layout.tile_height}
    places = {
        channel: {"x": at % layout.columns * layout.cell_width, "y": at // layout.columns * layout.cell_height, **size}
        for at, channel in enumerate(layout.channels)
    }
    methods = [method for method in results.methods if method in places]
    roles = {"truth": "original"} | dict.fromkeys(methods, "candidate")
    of_items = [quantity for quantity in results.quantities if not quantity.of_sets]
    patches = [place for channel, place in places.items() if channel not in ("truth", OUTLINE, MASK)]
    media = {
        "kind": "video", "own": True, "frames": layout.frames, "fps": layout.fps, "width": layout.columns * layout.cell_width,
        "height": -(-len(places) // layout.columns) * layout.cell_height,
        "patches": {"mask": places[MASK], "original": places["truth"], "tiles": patches} if MASK in places else None,
    }  # fmt: skip
    return {
        "media": media,
        "players": [
            {"name": channel, "label": names.get(channel, channel), "role": roles.get(channel, "reference"), **place}
            | {"place": methods.index(channel) if channel in methods else None}
            for channel, place in places.items()
            if channel not in (OUTLINE, MASK)
        ],
        "outline": places.get(OUTLINE),
        "centres": exhibit.centres,
        "errors": True,
        "values": {
            method: {one.key: with_unit(results.value(method, exhibit.choice.item_id, one), one.metric) for one in of_items}
            for method in methods
        },
    }


def _frame_data(exhibit: Exhibit) -> list[dict[str, Any]]:
    """For each thing measured over time its name and unit, and the lines of the methods; none for a still image."""
    if exhibit.layout.frames < 2 or not exhibit.errors:
        return []
    found: list[dict[str, Any]] = []
    for one in dict.fromkeys(quantity for of in exhibit.by_frame.values() for quantity in of):
        leaf, label = metric_leaf(one.metric), quantity_label(one)
        lines = {method: rounded(of[one], six_digits) for method, of in exhibit.by_frame.items() if one in of}
        found.append({"key": one.key, "label": label, "unit": leaf.unit, "decimals": leaf.decimals, "lines": lines})
    where = "in the hole" if exhibit.hole_fraction is not None else "in the whole frame"
    what = "error" if "input" in exhibit.layout.channels else "difference from the original"
    label, unit = f"Root mean square {what} {where}", "of 255 grey levels"
    return [*found, {"key": ERROR, "label": label, "unit": unit, "decimals": 1, "lines": dict(exhibit.errors)}]


def _shared_data(results: Results, quantities: Sequence[Quantity], gallery: Mapping[str, Any]) -> dict[str, Any]:
    """What the scripts of every page with a gallery ask for."""
    return {
        "default": gallery["default"]._asdict(),
        "quantities": [quantity._asdict() for quantity in quantities],
        "styles": {name: look._asdict() for name, look in gallery["styles"].items()},
        "references": list(results.aside),
    }


def _data(
    results: Results, exhibits: Sequence[Exhibit], gallery: Mapping[str, Any],
    steps: Mapping[tuple[str, Quantity], slice_tables.Compared], diagnosis: Diagnosis,
) -> dict[str, Any]:  # fmt: skip
    """Data of the page's scripts: all numbers by metric and region, and the charts over them."""
    default, shown = gallery["default"], _shown_items(exhibits)
    competing = {method: gallery["styles"][method] for method in results.contenders}
    pairs, series, panels = pair_slices(results.slices), step_series(results.slices), figures.curve_labels(diagnosis)
    charts: dict[str, Any] = {
        "difficulty": plots.difficulty_chart(results, competing),
        "scatter": plots.scatter_chart(competing),
    }
    if pairs:
        charts["sensitivity"] = plots.sensitivity_chart(competing, results.contenders, pairs)
    if series:
        charts["steps"] = plots.steps_chart(competing, series)
    if diagnosis.effects:
        lines = figures.line_labels(diagnosis)
        charts["fingerprint"] = figures.fingerprint_chart(competing, lines, results.contenders, higher_is_better=True)
    if panels:
        charts["response"] = figures.response_chart(competing, panels)
    return _shared_data(results, results.quantities, gallery) | {
        "titles": {
            one.key: {"title": quantity_title(one, results.protocol), "label": quantity_label(one)} for one in results.quantities
        },
        "charts": {name: specification(chart) for name, chart in charts.items()},
        "rows": {
            "difficulty": plots.difficulty_rows(results),
            "sensitivity": plots.sensitivity_rows(results),
            "steps": plots.steps_rows(results, steps),
            "fingerprint": [row for quantity in results.quantities for row in figures.fingerprint_rows(diagnosis, quantity)],
        },
        "lines": figures.line_labels(diagnosis),
        "changes": {one.key: effects.quantity_words(one) for one in results.quantities},
        "higher": {one.key: one.higher_is_better for one in results.quantities},
        "axes": {factor.name: effects.factor_label(factor) for factor in diagnosis.factors if factor.kind == "paired"},
        "curves": figures.curve_data(results, diagnosis),
        # Axis -> level -> element, of the groups whose items all have a video.
        "groups": {
            axis: {level: shown[item_id] for level, item_id in group.items()}
            for axis, group in effects.shown_groups(results, diagnosis, default).items()
            if all(item_id in shown for item_id in group.values())
        },
        "most_rows": MOST_ROWS,
        "paper": {"colours": LIGHT, "legend": PAPER_LEGEND},
        "items": item_data(results, shown, default=default),
        "frames": {shown[one.choice.item_id]: _frame_data(one) for one in exhibits},
    }
