"""The page of a report: plain data for its templates and scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inpaintbench import pages
from inpaintbench.catalogue import attribute_at, joined
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.diagnosis.records import Diagnosis, explained_words, left_out_words, together_words
from inpaintbench.eval.report import effects, notes, plots
from inpaintbench.eval.report import figures as effect_figures
from inpaintbench.eval.report.effects import Group, Headline, headline
from inpaintbench.eval.report.findings import SENSITIVITY, findings, leads, slice_tag, standing_note, with_unit
from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.items import item_data, items_part, six_digits
from inpaintbench.eval.report.media import MASK, OUTLINE, rounded
from inpaintbench.eval.report.notes import commands_of, facts_of, unfinished
from inpaintbench.eval.report.slice_tables import (
    Compared,
    compared,
    difficulty_table,
    improvement_table,
    rank_tables,
    ranks_lead,
    steps_notes,
    steps_table,
)
from inpaintbench.eval.report.tables import EFFORT_LEAD, effort_table, failure_rows, score_table, task_notes
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
)
from inpaintbench.eval.results.slices import in_reading_order, pair_slices, step_series
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.pages import Link, MethodStyle, Sentence, Tagged, data_uri, method_styles
from inpaintbench.pages.plots import LIGHT, PAPER_LEGEND, drawing_script, specification
from inpaintbench.pages.words import count
from inpaintbench.types import Plain

_NAMES = {"truth": "Truth", "input": "Input", OUTLINE: "Outline of the hole", MASK: "Hole"}


def _name(exhibit: Exhibit, channel: str) -> str:
    """Caption of a tile; a clip that is to be edited is called the original, since no result should come back to it."""
    return "Original" if channel == "truth" and not _has_input(exhibit) else _NAMES.get(channel, channel)


def _has_input(exhibit: Exhibit) -> bool:
    return "input" in exhibit.layout.channels


def has_input(exhibits: Sequence[Exhibit]) -> bool:
    """Return whether they show inputs beside the truth; clips that are to be edited are both."""
    return not exhibits or any(map(_has_input, exhibits))


def exhibit_id(index: int) -> str:
    """The id of the element that shows the exhibit ``index``."""
    return f"exhibit-{index}"


class Thumb(NamedTuple):
    """A small picture that leads to an item."""

    slice: str
    words: Sentence
    exhibit: int
    """Its place among the exhibits."""


def strip(results: Results, exhibits: Sequence[Exhibit]) -> list[Thumb]:
    """A small picture for each slice and item, in the order of the tables."""
    order = [part.name for part in in_reading_order(results.slices)] or [results.everything.name]
    thumbs = [
        Thumb(name, (slice_tag(name),), index)
        for name in order
        for index, exhibit in enumerate(exhibits)
        if name in exhibit.choice.reasons
    ]
    labelled = [(label, index) for index, exhibit in enumerate(exhibits) for label in exhibit.choice.labels]
    # "Hardest 2" before "Hardest 10"
    labelled.sort(key=lambda entry: (entry[0].rstrip("0123456789"), len(entry[0]), entry[0]))
    return thumbs + [Thumb(label, (label,), index) for label, index in labelled]


def posters(exhibits: Sequence[Exhibit]) -> str:
    """Style rules with the picture of each exhibit, so that one that stands for several slices is held once."""
    return "\n".join(
        f'[data-poster="{index}"] {{ background-image: url("{data_uri(exhibit.poster, "image/png")}"); }}'
        for index, exhibit in enumerate(exhibits)
    )


def shown_items(exhibits: Sequence[Exhibit]) -> dict[str, str]:
    """Item -> id of the element that plays it."""
    return {exhibit.choice.item_id: exhibit_id(index) for index, exhibit in enumerate(exhibits)}


def shown_groups(groups: Sequence[Group], exhibits: Sequence[Exhibit]) -> dict[str, dict[str, str]]:
    """Axis -> level -> id of the element that plays its item, of the groups whose items all have a video."""
    shown = shown_items(exhibits)
    return {
        group.axis: {level: shown[item_id] for level, item_id in group.items.items()}
        for group in groups
        if all(item_id in shown for item_id in group.items.values())
    }


class Tile(NamedTuple):
    """One picture of an item."""

    name: str
    method: str | None
    """None for truth and input."""
    place: int | None
    """Among the tiles of the video; None where there is no prediction."""
    reason: str
    values: tuple[tuple[Quantity, str], ...]
    """Quantity and value as printed; none is bold, since one item tells nobody from anybody."""


class Figure(NamedTuple):
    """All that the page shows of one exhibit."""

    id: str
    layout: dict[str, Any]
    first: bool
    """Shown when the page is opened."""
    heads: Sentence
    reasons: str
    prompts: tuple[str | None, str] | None
    """Prompts of an edit: of the original, where it is known, and of the wished result."""
    item: str
    source: str
    facts: str
    channels: tuple[str, ...]
    tiles: tuple[Tile, ...]
    traced: bool
    """Has values of frames to draw."""


class ProofFigure(NamedTuple):
    """The truth and one method's result of an item that has a figure."""

    figure: str
    """Id of the item's figure, whose video it plays too."""
    layout: dict[str, Any]
    truth: int
    """Place of the truth among the tiles of the video."""
    place: int
    """Of the method's."""
    method: str
    caption: str


def proofs(finding: Headline, exhibits: Sequence[Exhibit]) -> list[ProofFigure]:
    """One for each item of the headline whose method has a picture there."""
    places = {exhibit.choice.item_id: index for index, exhibit in enumerate(exhibits)}
    return [
        ProofFigure(
            exhibit_id(place),
            _layout(exhibit),
            exhibit.layout.channels.index("truth"),
            exhibit.layout.channels.index(proof.method),
            proof.method,
            proof.caption,
        )
        for proof in finding.proofs
        if (place := places.get(proof.item_id)) is not None and proof.method in (exhibit := exhibits[place]).layout.channels
    ]


def _layout(exhibit: Exhibit) -> dict[str, Any]:
    return {**exhibit.layout._asdict(), "centres": exhibit.centres}


def figures(results: Results, exhibits: Sequence[Exhibit], *, default: Quantity, first: str | None = None) -> list[Figure]:
    """One for each exhibit, in their order; the page opens with the item ``first``, else with the most interesting one."""
    opened = max(
        exhibits,
        key=lambda exhibit: (exhibit.choice.item_id == first, len(exhibit.errors), exhibit.choice.interest),
        default=None,
    )
    rows = {row["item_id"]: row for row in results.dataset.items}
    return [
        _figure(results, exhibit, rows[exhibit.choice.item_id], index, default, first=exhibit is opened)
        for index, exhibit in enumerate(exhibits)
    ]


def _figure(results: Results, exhibit: Exhibit, row: Plain, index: int, default: Quantity, *, first: bool) -> Figure:
    choice, layout = exhibit.choice, exhibit.layout
    given = ("truth", "input") if _has_input(exhibit) else ("truth",)
    heads: list[str | Tagged] = [part for name in choice.reasons for part in (" · ", slice_tag(name))]
    heads += [part for label in choice.labels for part in (" · ", label)]
    reasons = "; ".join(dict.fromkeys((*choice.reasons.values(), *choice.labels.values())))
    prompt = row.get("target_prompt")
    return Figure(
        id=exhibit_id(index),
        layout=_layout(exhibit),
        first=first,
        heads=tuple(heads[1:]),
        reasons=f"Chosen because {reasons} (by {quantity_label(default)}).",
        prompts=None if prompt is None else (row.get("source_prompt"), str(prompt)),
        item=str(row["item_id"]),
        source=str(row["source_id"]),
        facts=" · ".join(_facts(row, exhibit)),
        channels=tuple(_name(exhibit, channel) for channel in layout.channels),
        tiles=tuple(_tile(results, exhibit, channel) for channel in (*given, *results.methods)),
        traced=bool(frame_data(exhibit, edit=not _has_input(exhibit))),
    )


def _facts(row: Plain, exhibit: Exhibit) -> Iterator[str]:
    yield f"{row['width']}×{row['height']}"
    if row["frames"] > 1:
        yield f"{count(int(row['frames']), 'frame')} at {float(row['fps']):g} per second"
    if exhibit.hole_fraction is not None:
        yield f"hole {exhibit.hole_fraction:.1%} of the picture"


def _tile(results: Results, exhibit: Exhibit, channel: str) -> Tile:
    channels = exhibit.layout.channels
    method = channel if channel in results.methods else None
    measured = [quantity for quantity in results.quantities if not quantity.of_sets] if method else []
    return Tile(
        name=_name(exhibit, channel),
        method=method,
        place=channels.index(channel) if channel in channels else None,
        reason=results.reason(channel, exhibit.choice.item_id) or "" if channel not in channels else "",
        values=tuple((one, with_unit(results.value(channel, exhibit.choice.item_id, one), one.metric)) for one in measured),
    )


def all_frame_data(exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """Id of each exhibit -> what its plot over time draws."""
    return {exhibit_id(index): frame_data(exhibit, edit=not _has_input(exhibit)) for index, exhibit in enumerate(exhibits)}


# Key of the root mean square error, which is there for every clip.
ERROR = "error"


def frame_data(exhibit: Exhibit, *, edit: bool) -> list[dict[str, Any]]:
    """One entry for each thing measured: its name and unit, and the lines of the methods; none for a still image."""
    if exhibit.layout.frames < 2 or not exhibit.errors:
        return []
    quantities = list(dict.fromkeys(quantity for found in exhibit.by_frame.values() for quantity in found))
    return [*(_of_quantity(exhibit, one) for one in quantities), _of_error(exhibit, edit=edit)]


def _of_quantity(exhibit: Exhibit, one: Quantity) -> dict[str, Any]:
    leaf = metric_leaf(one.metric)
    lines = {method: rounded(found[one], six_digits) for method, found in exhibit.by_frame.items() if one in found}
    label = quantity_label(one)
    return {"key": f"{one.metric}/{one.region}", "label": label, "unit": leaf.unit, "decimals": leaf.decimals, "lines": lines}


def _of_error(exhibit: Exhibit, *, edit: bool) -> dict[str, Any]:
    where = "in the hole" if exhibit.hole_fraction is not None else "in the whole frame"
    what = "Root mean square difference from the original" if edit else "Root mean square error"
    lines: dict[str, Sequence[float | None]] = dict(exhibit.errors)
    return {"key": ERROR, "label": f"{what} {where}", "unit": "of 255 grey levels", "decimals": 1, "lines": lines}


# A figure of relative improvement with more metrics than this shows the chosen one alone.
MOST_ROWS = 6
INLINE_NOTE = "Everything is inside this one file: pictures, videos, scripts."
# Files of the page's scripts, in the order in which they run.
SCRIPTS = ("report", "items", "item_panel", "scatter", "traces", "wipe", "player", "headline", "gallery", "effects")
GALLERY_SCRIPTS = ("report", "wipe", "player", "headline", "gallery")
BESIDE_NOTE = "The videos lie in the folder media/ beside this file: keep both together."


def default_quantity(results: Results) -> Quantity:
    """Quantity that the page opens with and chooses items by: the first metric with values of items, in its usual region."""
    of_items = [quantity for quantity in results.quantities if not quantity.of_sets]
    usable = [quantity for quantity in of_items if quantity.ranked] or of_items or list(results.quantities)
    return first_shown(usable, results.protocol)


def parts_of(results: Results, exhibits: Sequence[Exhibit], *, title: str, frame_note: str = "") -> dict[str, Any]:
    """All that the page shows but where its videos lie; ``frame_note`` says what is not drawn over time."""
    default = default_quantity(results)
    diagnosis = diagnose(results)
    finding = headline(results, default)
    beside = [attribute_at(address)(results) for address in joined("sentences beside scores").values()]
    styles = method_styles(results.methods, results.aside)
    items = items_part(results, shown_items(exhibits), default=default)
    sensitive, steps = bool(pair_slices(results.slices)), compared(results, step_series(results.slices))

    def told_already(quantity: Quantity) -> bool:
        """The headline or a fingerprint, of every attribute that a pair of slices is of, says what changes from low to high."""
        told = {one.factor.name for one in effects.own_effects(diagnosis, quantity) if one.factor.kind != "measured"}
        return (finding is not None and quantity == default) or {pair.attribute for pair in results.pairs} <= told

    sections = [
        ("scores", "Scores", True), ("gallery", "Gallery", True), ("items", "Items", items), ("ranks", "Ranks", True),
        ("response", "Attributes", bool(diagnosis.curves)), ("difficulty", "Difficulty", True),
        ("steps", "Strength", bool(steps)), ("sensitivity", "Sensitivity", sensitive and not diagnosis.effects),
        ("effort", "Effort", bool(results.efforts)), ("notes", "Notes", True), ("provenance", "Data", True),
    ]  # fmt: skip
    data = _data(results, default, exhibits, styles, steps, diagnosis)
    return {
        "title": title,
        "links": [Link(f"#{name}", words) for name, words, there in sections if there],
        "styles": styles,
        "rules": posters(exhibits),
        "data": data,
        "results": results,
        "default": default,
        "metrics": [
            (metric, metric_arrow(metric)) for metric in dict.fromkeys(quantity.metric for quantity in results.quantities)
        ],
        "regions": [(region, region_label(region, short=True)) for region in _regions(results)],
        "subtitle": notes.subtitle(results),
        "warnings": notes.warnings(results),
        "unfinished": unfinished(results),
        "notes": [notes.precision_note(results), notes.claims_note(results), *exposure_sentences(results)],
        "again": protocol_cautions(results),
        "unmeasured": notes.unmeasured_notes(results),
        "unmeasured_summary": notes.unmeasured_summary(results),
        "headline": finding,
        "proofs": proofs(finding, exhibits) if finding else [],
        "findings": [
            (
                quantity,
                standing_note(results, quantity),
                # The headline or the fingerprints have told one of the cards already.
                [card for card in findings(results, quantity) if card.question != SENSITIVITY or not told_already(quantity)],
            )
            for quantity in results.quantities
        ],
        "fingerprints": [
            (
                quantity,
                effects.told_sentences(diagnosis, quantity),
                effects.sensitivity_note(diagnosis, quantity),
                effects.effects_table(results, diagnosis, quantity),
            )
            for quantity in results.quantities
            if effects.own_effects(diagnosis, quantity)
        ],
        "responses": [
            (
                quantity,
                explained_words(diagnosis.explained, quantity),
                [together_words(one) for one in diagnosis.together if one.quantity == quantity],
            )
            for quantity in results.quantities
        ]
        if diagnosis.curves
        else [],
        "not_told": [*left_out_words(diagnosis), *filter(None, [effects.without_clips(results, diagnosis, default)])],
        "scores": [
            (
                quantity,
                cautions(results, quantity),
                [*judge_sentences(results.scores, quantity), *(sentence for said_of in beside for sentence in said_of(quantity))],
                score_table(results, quantity),
            )
            for quantity in results.quantities
        ],
        "thumbs": strip(results, exhibits),
        "figures": figures(results, exhibits, default=default, first=_opened(finding)),
        "has_input": has_input(exhibits),
        "has_holes": not exhibits or any(exhibit.hole_fraction is not None for exhibit in exhibits),
        "frame_note": frame_note,
        "items": items,
        "ranks_lead": ranks_lead(results),
        "rank_tables": rank_tables(results),
        "leads": [(lead, quantity_title(lead.quantity, results.protocol)) for lead in leads(results)],
        "significant": LEVEL,
        "hollow": {name: plots.hollow_note(rows) for name, rows in data["rows"].items()},
        "difficulty": [(quantity, difficulty_table(results, quantity)) for quantity in results.quantities],
        "steps": [(one, steps_table(results, one, steps), steps_notes(one, steps)) for one in results.quantities]
        if steps
        else [],
        "improvements": [(quantity, improvement_table(results, quantity)) for quantity in results.quantities if quantity.ranked]
        if sensitive
        else [],
        "effort": effort_table(results.efforts, results.methods, references=results.references),
        "effort_lead": EFFORT_LEAD,
        "tasks": task_notes(results.efforts, results.methods),
        "failures": failure_rows(results),
        "definitions": [*notes.reading_notes(results), *notes.metric_notes(results)],
        "slices": notes.slice_table(results),
        "constants": notes.constants_table(results),
        "dataset": notes.dataset_table(results),
        "facts": facts_of(results),
        "commands": commands_of(results),
    }


def gallery_parts(results: Results, exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """What a page shows of the headline and the gallery alone, and what their scripts ask for, without lines over time."""
    default = default_quantity(results)
    finding = headline(results, default)
    styles = method_styles(results.methods, results.aside)
    of_gallery = figures(results, exhibits, default=default, first=_opened(finding))
    quantities = [quantity for quantity in results.quantities if not quantity.of_sets]
    return {
        "styles": styles,
        "rules": posters(exhibits),
        "data": {
            "default": default._asdict(), "quantities": [quantity._asdict() for quantity in quantities],
            "titles": {}, "charts": {}, "rows": {"difficulty": []}, "frames": {},
            "styles": {name: look._asdict() for name, look in styles.items()}, "references": list(results.aside),
        },
        "results": results,
        "default": default,
        "metrics": [(metric, metric_arrow(metric)) for metric in dict.fromkeys(quantity.metric for quantity in quantities)],
        "regions": [(region, region_label(region, short=True)) for region in _regions(results)],
        "headline": finding,
        "proofs": proofs(finding, exhibits) if finding else [],
        "thumbs": strip(results, exhibits),
        "figures": [figure._replace(traced=False) for figure in of_gallery],
        "has_input": has_input(exhibits),
        "has_holes": any(exhibit.hole_fraction is not None for exhibit in exhibits),
        "frame_note": "",
    }  # fmt: skip


def _opened(finding: Headline | None) -> str | None:
    """The item that the gallery opens with: the last that shows the finding."""
    return finding.proofs[-1].item_id if finding and finding.proofs else None


def render(parts: Mapping[str, Any], addresses: Sequence[str]) -> str:
    """The whole page as HTML text, its videos beside it; ``addresses`` say where that of each exhibit is."""
    return pages.page(
        "eval/report/page.html",
        scripts=["pages/static/plots.js", drawing_script(), *(f"eval/report/{name}.js" for name in SCRIPTS)],
        addresses=addresses,
        media_note=BESIDE_NOTE,
        **parts,
    )


def _regions(results: Results) -> list[str]:
    found = dict.fromkeys(quantity.region for quantity in results.quantities)
    return [region for region in REGION_LABELS if region in found] + [region for region in found if region not in REGION_LABELS]


def _data(
    results: Results, default: Quantity, exhibits: Sequence[Exhibit], styles: dict[str, MethodStyle],
    steps: Mapping[tuple[str, Quantity], Compared], diagnosis: Diagnosis,
) -> dict[str, Any]:  # fmt: skip
    """Data of the page's scripts: all numbers by metric and region, and the charts over them."""
    competing = {method: styles[method] for method in results.contenders}
    pairs, series = pair_slices(results.slices), step_series(results.slices)
    lines, panels = effect_figures.line_labels(diagnosis), effect_figures.curve_labels(diagnosis)
    fingerprints = effect_figures.fingerprint_chart(competing, lines, results.contenders, higher_is_better=True)
    return {
        "default": default._asdict(),
        "quantities": [quantity._asdict() for quantity in results.quantities],
        "titles": plots.titles(results),
        "charts": {
            "difficulty": specification(plots.difficulty_chart(results, competing)),
            **({"sensitivity": specification(plots.sensitivity_chart(competing, results.contenders, pairs))} if pairs else {}),
            **({"steps": specification(plots.steps_chart(competing, series))} if series else {}),
            **({"fingerprint": specification(fingerprints)} if diagnosis.effects else {}),
            **({"response": specification(effect_figures.response_chart(competing, panels))} if panels else {}),
            "scatter": specification(plots.scatter_chart(competing)),
        },
        "rows": {
            "difficulty": plots.difficulty_rows(results),
            "sensitivity": plots.sensitivity_rows(results),
            "steps": plots.steps_rows(results, steps),
            "fingerprint": [
                row for quantity in results.quantities for row in effect_figures.fingerprint_rows(diagnosis, quantity)
            ],
        },
        "changes": {f"{one.metric}/{one.region}": effects.quantity_words(one) for one in results.quantities},
        "higher": {f"{one.metric}/{one.region}": one.higher_is_better for one in results.quantities},
        "axes": {factor.name: effects.factor_label(factor) for factor in diagnosis.factors if factor.kind == "paired"},
        "curves": effect_figures.curve_data(results, diagnosis),
        "groups": shown_groups(effects.shown_groups(results, diagnosis, default), exhibits),
        "most_rows": MOST_ROWS,
        "paper": {"colours": LIGHT, "legend": PAPER_LEGEND},
        "styles": {name: look._asdict() for name, look in styles.items()},
        "references": list(results.aside),
        "items": item_data(results, shown_items(exhibits), default=default),
        "frames": all_frame_data(exhibits),
    }
