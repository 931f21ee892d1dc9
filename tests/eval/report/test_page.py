"""What the page says, read from its text; how it behaves is in test_player.py."""

from __future__ import annotations

import html
import itertools
import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest
import vl_convert
from tests.eval.report.hand_made import (
    COUNTING,
    SLICES,
    VALUES,
    copied,
    copied_slices,
    copied_values,
    counting,
    dataset,
    scores,
)
from tests.eval.report.reading import cell, column, strong
from tests.eval.report.set_metrics import learned_metrics, protocol, rows
from whole_frames import AS_PUBLISHED as AS_PUBLISHED_WHOLE

from inpaintbench.eval.metrics.base import INAPPLICABLE
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import notes
from inpaintbench.eval.report.figures import paper_figure
from inpaintbench.eval.report.findings import findings
from inpaintbench.eval.report.page import default_quantity, parts_of, render
from inpaintbench.eval.report.plots import (
    difficulty_chart,
    difficulty_rows,
    means_rows,
    sensitivity_chart,
    sensitivity_rows,
    steps_chart,
    steps_rows,
)
from inpaintbench.eval.report.slice_tables import RankTable, compared, rank_tables, ranks_lead, steps_notes, steps_table
from inpaintbench.eval.report.tables import failure_rows, score_table
from inpaintbench.eval.report.write import report_json
from inpaintbench.eval.results.quantity import Quantity, metric_title, with_unit
from inpaintbench.eval.results.slices import in_reading_order, pair_slices, step_series
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.run_folder import NOT_RUN
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.pages import Link, Table, method_styles, page
from inpaintbench.pages.panels import plain
from inpaintbench.pages.plots import specification
from inpaintbench.pages.words import method_class, signed_percent
from inpaintbench.types import Score, Slice, content_id

AS_PUBLISHED = PROTOCOLS.get("devil/as-published")
CORRECTED = PROTOCOLS.get("devil/corrected")
__all__ = ["learned_metrics"]
PSNR = Quantity("psnr", "hole")
NASTY = '<script>alert("x")</script>&'


def results_of(values: object = VALUES, slices: object = SLICES, **changes: object) -> Results:
    return Results(dataset(slices, **changes), scores(values), protocol=CORRECTED)  # type: ignore[arg-type]


def claiming(values: object = VALUES, slices: object = SLICES) -> Results:
    """The same with six sources at least in every slice."""
    return results_of(copied_values(values), copied_slices(slices))  # type: ignore[arg-type]


def page_of(results: Results, title: str = "T") -> str:
    """The whole page without pictures."""
    return render(parts_of(results, [], title=title), [])


def data_of(text: str) -> Any:
    """What the page's scripts take."""
    return json.loads(re.search(r'id="page-data">(.*?)</script>', text)[1])  # type: ignore[index]


def drawn(table: Table) -> str:
    """The table in a page."""
    return page("pages/templates/plain.html", title="T", subtitle="", sections=[("s", "S", "", [table])])


def only_table(results: Results) -> Table:
    """The score table of PSNR in the hole."""
    return score_table(results, PSNR)


def test_the_best_mean_is_bold_and_only_it() -> None:
    table = only_table(claiming())
    assert strong(table, "motion-high") == ["20.00"]
    assert strong(table, "motion-low") == ["∞"]
    assert str(table.caption).startswith("PSNR ↑ (dB) in the hole, higher is better")
    assert re.findall(r"<b>(.*?)</b>", drawn(table)).count("20.00") == 1


def test_ties_are_all_bold() -> None:
    values = {"one": 5.0, "two": 5.0, "three": 4.0}
    items = [f"{source}1" for source in "abcdefgh"]
    told = only_table(results_of({name: dict.fromkeys(items, value) for name, value in values.items()}, {"s": items}))
    assert strong(told, "s") == ["5.00", "5.00"]
    six = only_table(claiming({name: {"a1": value} for name, value in values.items()}, {"s": ["a1"]}))
    assert strong(six, "s") == ["5.00", "5.00", "4.00"]  # six sources cannot tell three methods apart
    assert told.foot == six.foot == BOLD
    assert f'<tfoot><tr><td colspan="3"><p>{BOLD}</p></td></tr></tfoot>' in drawn(told)


def test_a_method_alone_is_not_best() -> None:
    results = claiming({"one": {"a1": 5.0}}, {"s": ["a1"]})
    assert strong(only_table(results), "s") == strong(only_table(results), "all items") == []
    [ranks] = rank_tables(results)
    assert [entry.first for row in ranks.rows for lists in row.slices for entry in lists[0].entries] == [False]


def test_lower_is_better_has_its_arrow() -> None:
    rows = scores(copied_values({"one": {"a1": 0.5}, "two": {"a1": 0.25}}), metric="mse")
    results = Results(dataset(copied_slices({"s": ["a1"]})), rows, protocol=CORRECTED)
    table = score_table(results, Quantity("mse", "hole"))
    assert metric_title("mse").startswith("MSE ↓")
    assert "lower is better" in str(table.caption)
    assert strong(table, "s") == ["0.250000"]


def test_cells_show_intervals_and_count_what_is_not_in_the_mean() -> None:
    claimed = Results(dataset(copied_slices(SLICES)), counting(scores(copied_values(VALUES))), protocol=COUNTING)
    table = only_table(claimed)
    found = claimed.summary(claimed.slices[0], "good", PSNR)
    assert cell(table, "good", "motion-low").note == f"{found.interval_low:.2f} – {found.interval_high:.2f}"
    assert [cell(table, "odd", name).below for name in ("motion-low", "motion-high", "night")] == [
        "n 0 · 12 ∞", "n 0 · 12 missing", "n 0 · 6 ∞ · 6 missing",
    ]  # fmt: skip
    mean, low, high = cell(table, "good", "motion-low").whisker or (0, 0, 0)
    assert (low or 1) < mean < (high or 0)
    assert cell(table, "odd", "motion-low").whisker is None


def test_methods_stand_in_the_order_of_their_ranks_and_references_last() -> None:
    assert [row.key for row in only_table(claiming()).rows] == ["good", "bad", "odd"]
    made = scores(copied_values(VALUES))
    floored = Results(dataset(copied_slices(SLICES)), made, protocol=CORRECTED, references=["good"])
    rows = only_table(floored).rows
    assert [(row.key, row.kind) for row in rows] == [("bad", ""), ("odd", ""), ("good", "floor")]
    assert not any(cell.strong for cell in rows[-1].cells)


def test_columns_sort_by_values_a_script_can_read() -> None:
    table = only_table(results_of())
    assert {name: one.value for name, one in column(table, "motion-low").items()} == {"good": 30.0, "bad": 10.0, "odd": math.inf}
    assert all(one.sorts for one in table.columns)
    assert {'data-value="30.0"', 'data-value="inf"'} <= set(re.findall(r'data-value=".*?"', drawn(table)))


def entries(table: RankTable, row: int, side: int = 0) -> list[str]:
    """One list of methods as it reads."""
    return [
        f"{'– ' if one.place is None else '= ' if one.tied else ''}{one.method}{'*' if one.first else ''}"
        for one in table.rows[row].slices[side][0].entries
    ]


def test_ranks_are_listed_best_first_side_by_side_for_two_settings() -> None:
    [table] = rank_tables(claiming())
    assert [(row.attribute, row.paired) for row in table.rows] == [("Motion", True), ("Night", False)]
    assert entries(table, 0, 0) == ["odd*", "good", "bad"]
    assert entries(table, 0, 1) == ["good*", "bad", "– odd"]
    assert [ranked[0].level for ranked in table.rows[0].slices] == ["low", "high"]


def test_slices_outside_pairs_are_lines_of_one_row_for_each_attribute() -> None:
    slices = {"class-arch": ["a1"], "moisture-dry": ["a1", "b1"], "class-left_loop": ["b1", "a2"], "night": ["c1"]}
    [table] = rank_tables(claiming(VALUES, slices))
    found = [(row.attribute, row.paired, [ranked[0].level for ranked in row.slices]) for row in table.rows]
    assert found == [("Class", False, ["Arch", "Left loop"]), ("Moisture", False, ["Dry"]), ("Night", False, [""])]


def test_slices_of_too_few_sources_are_not_ranked_and_that_is_said() -> None:
    assert rank_tables(results_of()) == []
    assert ranks_lead(results_of()) == "Nothing is ranked: no slice has the 6 sources that a rank needs."
    some = claiming(VALUES, {**SLICES, "void-of_sources": ["a1"]})
    few = replace(some.dataset, slices=(*some.dataset.slices, Slice("small", "r", ("a1",))))
    results = Results(few, some.scores, protocol=CORRECTED)
    assert ranks_lead(results).endswith("1 slice of fewer than 6 sources: not ranked.")
    assert "Small" not in [row.attribute for row in rank_tables(results)[0].rows]


STEPS = {
    "effect-shadow-low": ["a1"], "effect-shadow-mid": ["a1", "b1"], "effect-shadow-high": ["a2", "b1"], "area-0-20": ["a1"],
    "area-20-40": ["b1"], "mask_iou-0-50": ["b1"], "mask_iou-50-70": ["a1"], "night": ["c1"],
}  # fmt: skip


def test_scores_by_strength_follow_the_steps_of_an_attribute() -> None:
    results = results_of(VALUES, STEPS)
    series = step_series(results.slices)
    assert [(one.attribute, [step for step, _ in one.steps]) for one in series] == [
        ("effect-shadow", ["low", "mid", "high"]), ("mask_iou", ["0-50", "50-70"]),
    ]  # fmt: skip
    steps = compared(results, series)
    good = {(row["attribute"], row["step"]): row["value"] for row in steps_rows(results, steps) if row["method"] == "good"}
    assert good == {
        ("Shadow", "low"): 28, ("Shadow", "mid"): 30, ("Shadow", "high"): 25, ("IoU of masks (%)", "0-50"): 32,
        ("IoU of masks (%)", "50-70"): 28,
    }  # fmt: skip
    table = steps_table(results, PSNR, steps)
    assert [column.label for column in table.columns][1:4] == ["Shadow, low", "Shadow, mid", "Shadow, high"]
    apart = "Shadow: its steps have no clips in common, so they differ in more than that."
    assert steps_notes(PSNR, steps)[0] == apart
    assert len(table.rows) == len(results.methods)
    page = page_of(results)
    assert 'href="#steps"' in page
    assert vl_convert.vegalite_to_svg({**specification(steps_chart(method_styles(results.methods), series)),
                                       "datasets": {"rows": steps_rows(results, steps)}})  # fmt: skip
    assert 'id="steps"' not in page_of(results_of())


def test_masks_are_compared_over_those_that_all_steps_have() -> None:
    """Hard clips lack the coarsest step: over all items the curve would fall where the mask of every clip gets better."""
    level, loss = {"easy": 40.0, "medium": 30.0, "hard": 10.0, "odd": 50.0}, {"50-70": 6, "70-90": 4, "90-100": 2}
    lacking = {("hard", "50-70"), ("odd", "90-100"), ("medium", "50-70")}
    made = dataset({"all": [content_id(clip, f"exact-{clip}") for clip in level]})
    exact = [{**row, "clip_id": clip, "source_id": clip} for row, clip in zip(made.items, level, strict=True)]
    values = {str(row["item_id"]): level[str(row["clip_id"])] for row in exact}
    rows, slices = list(exact), {f"{name}-100-100": list(values) for name in ("mask_iou", "mask_iou-erode")}
    for step, parent in itertools.product(loss, exact):
        clip = str(parent["clip_id"])
        if (clip, step) not in lacking:
            mask = {"generator_parameters": {"parent": f"exact-{clip}"}, "attributes": {"mask.mask_kind": "erode"}}
            rows.append({**parent, "item_id": f"{clip}-{step}", **mask})
            values[f"{clip}-{step}"] = level[clip] - loss[step]
            for name in ("mask_iou", "mask_iou-erode"):
                slices.setdefault(f"{name}-{step}", []).append(f"{clip}-{step}")
    parts = [Slice(name, "", tuple(ids)) for name, ids in slices.items()]
    results = Results(replace(made, items=tuple(rows), slices=tuple(parts)), scores({"m": values}), protocol=CORRECTED)
    steps = compared(results, step_series(results.slices))
    assert {(one.shared, one.largest) for one in steps.values()} == {(1, 4)}
    for attribute in ("IoU of masks (%)", "IoU of masks (%), erode"):
        found = {row["step"]: row["value"] for row in steps_rows(results, steps) if row["attribute"] == attribute}
        assert found == {"exact": 40, "50-70": 34, "70-90": 36, "90-100": 38}, attribute
    assert "IoU of masks (%), erode: over the 1 of 4 masks that all of its steps have." in steps_notes(PSNR, steps)
    # A step that few masks reach is left out, instead of having the others rest on these.
    few = [replace(part, item_ids=part.item_ids[:1]) if part.name.endswith("-90-100") else part for part in parts]
    rare = Results(replace(made, items=tuple(rows), slices=tuple(few)), scores({"m": values}), protocol=CORRECTED)
    told = steps_notes(PSNR, compared(rare, step_series(rare.slices)))
    assert "IoU of masks (%), erode: over the 2 of 4 masks that all of its steps have, without 90-100, which only 1 have." in told


def test_without_pairs_nothing_is_said_of_sensitivity() -> None:
    page = page_of(results_of(VALUES, {"class-arch": ["a1", "a2"], "class-whorl": ["b1", "c1"]}))
    assert 'href="#sensitivity"' not in page
    assert 'id="sensitivity"' not in page
    assert "Relative improvement" not in page
    page = page_of(results_of())
    assert 'href="#sensitivity"' in page
    assert 'id="sensitivity"' in page


def test_tied_ranks_are_marked() -> None:
    [table] = rank_tables(claiming({"one": {"a1": 5.0}, "two": {"a1": 5.0}}, {"s": ["a1"]}))
    assert entries(table, 0) == ["= one*", "= two*"]


def test_a_method_has_one_colour_everywhere() -> None:
    results = claiming()
    colour = method_styles(results.methods)["bad"].colour
    page = page_of(results)
    assert f".{method_class('bad')} {{ --method: {colour}; }}" in page
    data = data_of(page)
    assert data["styles"]["bad"]["colour"] == colour
    for chart in data["charts"].values():
        scales = [one["scale"] for one in found_in(chart, "color") if isinstance(one, dict)]
        assert scales
        for scale in scales:
            assert dict(zip(scale["domain"], scale["range"], strict=True))["bad"] == colour


def found_in(tree: object, name: str) -> list[Any]:
    """All that stands under ``name`` anywhere in a chart."""
    branches = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    own = [tree[name]] if isinstance(tree, dict) and name in tree else []
    return own + [one for branch in branches for one in found_in(branch, name)]


def test_difficulty_bars_are_means_with_standard_errors() -> None:
    told = difficulty_rows(claiming())
    means = [row for row in told if row["kind"] == "mean"]
    assert [(row["slice"], row["value"]) for row in means] == [("Motion: low", 20), ("Motion: high", 17.5), ("Night", 20)]
    assert means[0]["high"] - means[0]["value"] == pytest.approx(math.sqrt(200) / math.sqrt(2))
    assert means[0]["value"] - means[0]["low"] == pytest.approx(math.sqrt(200) / math.sqrt(2))
    assert [row["value"] for row in told if row["kind"] == "method" and row["method"] == "good"] == [30, 20, 25]
    assert {row["kind"] for row in difficulty_rows(results_of())} == {"few", "few method"}  # no bar, no error, no claim


# Twelve items of six sources in three steps, two methods and a floor that lies far below them.
STEPPED = {
    f"effect-shadow-{step}": [f"{source}{place}" for source in "abcdef"]
    for place, step in enumerate(("low", "mid", "high"))
}  # fmt: skip
PAIRED = STEPPED | {f"size-{level}": STEPPED[f"effect-shadow-{level}"] for level in ("low", "high")}


def floored(*, measured: str = "abcdef") -> Results:
    """``part`` is measured on items of some sources alone, the floor ``blank`` on all."""
    items = [item for part in STEPPED.values() for item in part]
    values: dict[str, dict[str, float | None]] = {
        "whole": {item: 30.0 - int(item[1]) + "abcdef".index(item[0]) for item in items},
        "part": {item: 31.0 - 2 * int(item[1]) if item[0] in measured else None for item in items},
        "blank": dict.fromkeys(items, 6.0),
    }
    return Results(dataset(PAIRED), scores(values), protocol=CORRECTED, references=["blank"])


def test_references_are_lines_that_stretch_no_scale() -> None:
    results = floored()
    steps = compared(results, step_series(results.slices))
    drawn = {
        "steps": steps_rows(results, steps),
        "means": list(means_rows(results, {"All items": results.everything, "Large": results.slices[-1]}, PSNR)),
    }
    for name, plotted in drawn.items():
        floors = [row for row in plotted if row["method"] == "blank"]
        assert {row["kind"] for row in floors} == {"reference"}, name
        own = [row[end] for row in plotted if row not in floors for end in ("value", "low", "high") if row.get(end) is not None]
        least, most = min(own), max(own)
        assert all(least - 0.1 * (most - least) < row["value"] < least for row in floors), name
    assert [row["text"] for row in drawn["steps"] if row["kind"] == "reference"] == ["", "", "blank 6.00 dB ↓"]
    assert [row["text"] for row in drawn["means"] if row["kind"] == "reference"] == ["6.00 dB ←"] * 2
    # Inside the scale the line lies at its value, and its name is enough.
    near = [row if row.method != "blank" else replace(row, value=29.0) for row in results.scores]
    inside = Results(results.dataset, near, protocol=CORRECTED, references=["blank"])
    found = [row for row in steps_rows(inside, steps) if row["kind"] == "reference"]
    assert [(row["value"], row["text"]) for row in found] == [(29, ""), (29, ""), (29, "blank")]


@pytest.mark.parametrize("name", ["means", "difficulty", "steps", "sensitivity"])
def test_figures_name_references_beside_the_legend_of_methods(name: str) -> None:
    text = vl_convert.vegalite_to_svg(paper_figure(floored(), name, PSNR))
    words = re.findall(r"<text[^>]*>([^<]+)</text>", text)
    assert any(word.startswith("blank") for word in words)
    assert "Dashed: references and others that do not compete." in words
    assert not any("Hollow" in word for word in words)
    legend = text[text.index("role-legend") :]
    assert ">whole<" in legend
    assert ">blank<" not in legend
    hollow = vl_convert.vegalite_to_svg(paper_figure(floored(measured="ab"), name, PSNR))
    assert "Hollow points: fewer than 6 sources" in hollow


def test_a_method_measured_on_few_sources_claims_nothing_beside_others() -> None:
    """The slices have six sources, so that the other method keeps its bar, interval and filled points."""
    results = floored(measured="ab")
    steps = steps_rows(results, compared(results, step_series(results.slices)))
    means = list(means_rows(results, {"All items": results.everything}, PSNR))
    for plotted in (steps, means, sensitivity_rows(results)):
        kinds = {row["method"]: row["kind"] for row in plotted if row["kind"] != "reference"}
        assert (kinds["part"], kinds["whole"]) == ("few", "bar" if "bar" in kinds.values() else "method")
    assert {row["method"]: row["low"] is None for row in means} == {"whole": False, "part": True, "blank": True}
    [told] = [row["told"] for row in means if row["method"] == "part"]
    assert told.endswith("; it lacks 12 items that others have")
    bars = difficulty_rows(results)
    assert {row["kind"] for row in bars if "method" in row} == {"method", "few method"}
    of_methods = [row for row in bars if "level" in row]  # "part" enters no mean over methods
    assert {(row["kind"], row["low"], row["high"]) for row in of_methods} == {("mean", None, None)}
    assert all("mean over 1 method " in row["told"] for row in of_methods)
    assert {row["kind"] for row in difficulty_rows(floored())} == {"mean", "method", "reference"}


def test_sensitivity_is_a_panel_for_each_attribute_with_both_settings() -> None:
    told = sensitivity_rows(claiming())
    assert {row["attribute"] for row in told} == {"Motion"}
    assert {row["method"]: (row["kind"], row["value"]) for row in told} == {
        "good": ("bar", pytest.approx(-1 / 3)), "bad": ("bar", 0.5), "odd": ("none", 0.0),
    }  # fmt: skip
    assert sensitivity_rows(results_of({"m": {"a1": 1.0}}, {"night": ["a1"]})) == []


def test_charts_draw_every_row_that_they_are_given() -> None:
    """Vega drops a row without a word where a field has another name than the chart's."""
    both = {**SLICES, "size-low": ["a1"], "size-high": ["b1"]}
    rows = [*scores(copied_values(VALUES)), *scores(copied_values(VALUES), metric="mse")]
    results = Results(dataset(copied_slices(both)), rows, protocol=CORRECTED)
    styles = method_styles(results.methods)
    charts = {
        "difficulty": (difficulty_chart(results, styles), difficulty_rows(results)),
        "sensitivity": (sensitivity_chart(styles, results.methods, pair_slices(results.slices)), sensitivity_rows(results)),
    }
    for chart, given in charts.values():
        chosen = [row for row in given if row["metric"] == "psnr"]
        svg = vl_convert.vegalite_to_svg({**specification(chart), "datasets": {"rows": chosen}})
        told = set(re.findall(r'aria-label="([^"]*)"', svg))
        assert {html.escape(row["told"]) for row in chosen} <= told


def test_failures_are_listed_with_their_reason() -> None:
    assert failure_rows(results_of()) == [("odd", "the program ended with status 3", "all scores", 2, ["a2", "c1"])]
    assert failure_rows(results_of({"one": {"a1": 1.0}}, {"s": ["a1"]})) == []
    page = page_of(results_of()).split('id="failures"')[1]
    assert "<code>a2</code>, <code>c1</code>" in page
    assert "None: every method has every score." in page_of(results_of({"one": {"a1": 1.0}}, {"s": ["a1"]}))


def test_failures_that_differ_by_the_name_of_their_item_stand_together() -> None:
    lost = [
        replace(one, reason=f"folder/{one.item_id}.png is not there" if one.item_id != "b1" else "out of memory for b1")
        for one in scores({"m": {"a1": None, "c1": None, "b1": None}})
    ]
    results = Results(dataset({"s": ["a1", "b1", "c1"]}), lost, protocol=CORRECTED)
    assert [(reason, n, items) for _, reason, _, n, items in failure_rows(results)] == [
        ("folder/ITEM.png is not there", 2, ["a1", "c1"]), ("out of memory for b1", 1, ["b1"]),
    ]  # fmt: skip


def test_failures_that_differ_by_the_size_of_their_item_stand_together() -> None:
    frames = {"a1": 60, "b1": 90, "c1": 60}
    here = dataset({"s": list(frames)})
    here = replace(here, items=tuple({**row, "frames": frames[row["item_id"]]} for row in here.items))

    def reasons(words: str) -> list[tuple[str, list[str]]]:
        lost = [replace(one, reason=words.format(frames=frames[one.item_id])) for one in scores({"m": dict.fromkeys(frames)})]
        return [(reason, items) for _, reason, _, _, items in failure_rows(Results(here, lost, protocol=CORRECTED))]

    assert reasons("no memory for {frames} frames of 160x96") == [("no memory for 60–90 frames of 160x96", ["a1", "c1", "b1"])]
    assert reasons("stopped after 60 s") == [("stopped after 60 s", ["a1", "b1", "c1"])]
    assert len(reasons("loss {frames}.5")) == 2
    assert len(reasons("error e{frames}")) == 2


def test_of_many_items_that_failed_a_few_are_seen_and_the_others_open() -> None:
    names = [f"{letter}1" for letter in "abcdefgh"]
    page = page_of(results_of({"m": dict.fromkeys(names, None), "n": dict.fromkeys(names, 1.0)}, {"s": names}))
    assert "<code>d1</code><details><summary>and 4 more</summary><code>e1</code>, " in page


def test_left_out_and_empty_slices_are_said() -> None:
    results = results_of({"m": {"a1": 1.0}}, {"s": ["a1"], "void": []}, left_out={"water-low": "no labels"})
    assert [plain(one) for one in notes.warnings(results)] == [
        "void left out: it has no items",
        "water-low left out: no labels",
    ]
    assert notes.warnings(results_of({"m": {"a1": 1.0}}, {"s": ["a1"]})) == []
    [failed] = notes.warnings(results_of())
    assert plain(failed) == "2 pairs of method and item lack predictions or scores: reasons"
    assert Link("#failures", "reasons") in failed


def test_everything_from_data_is_escaped() -> None:
    values = {NASTY: {NASTY: 1.0}, "bad": {NASTY: None}}
    results = results_of(values, {f"{NASTY}-low": [NASTY], f"{NASTY}-high": [NASTY]}, left_out={NASTY: NASTY})
    text = page_of(results, NASTY)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert NASTY in data_of(text)["styles"]


def test_the_first_view_is_the_first_metric_in_the_hole() -> None:
    rows = [*scores({"m": {"a1": 1.0}}, region="frame"), *scores({"m": {"a1": 1.0}}, metric="ssim")]
    assert default_quantity(Results(dataset({"s": ["a1"]}), rows, protocol=CORRECTED)) == ("ssim", "hole")
    rows = scores({"m": {"a1": 1.0}}, region="frame")
    assert default_quantity(Results(dataset({"s": ["a1"]}), rows, protocol=CORRECTED)) == ("psnr", "frame")


def words(definitions: list[notes.Definition]) -> str:
    """The notes as one text."""
    blocks = [block for one in definitions for block in (one.term, *one.blocks)]
    return " ".join(block if isinstance(block, str) else " ".join(block) for block in blocks)


def test_notes_define_metrics_and_name_every_constant() -> None:
    results = results_of()
    assert "10 log10(data_range^2 / MSE)" in words(notes.metric_notes(results))
    assert "Nothing is infinite: no value is above 58.92 dB." in words(notes.metric_notes(results))
    left_out = Results(dataset(SLICES), counting(scores(VALUES)), protocol=COUNTING)
    assert "left out of means and counted beside them" in words(notes.metric_notes(left_out))
    assert "leaves out one source at a time: Student's t" in html.unescape(notes.reading_notes(results))
    assert "Whole sources (3 sources here)" in notes.reading_notes(results)
    constants = {str(row.cells[0].text): row.cells[1].text for row in notes.constants_table(results).rows}
    assert {name.rpartition(".")[2]: value for name, value in constants.items()}["band_radius_pixels"] == "8"
    assert len(constants) > 10


def test_the_published_rule_for_infinite_values_is_said() -> None:
    rows = [
        type(one)(one.method, one.item_id, one.metric, one.region, AS_PUBLISHED.name, AS_PUBLISHED.fingerprint, one.value, None)
        for one in scores({"m": {"a1": 1.0, "b1": math.inf}})
    ]
    results = Results(dataset({"s": ["a1", "b1"]}), rows, protocol=AS_PUBLISHED)
    assert "taken as the largest finite value" in words(notes.metric_notes(results))
    assert "n 2 · 1 ∞" in cell(score_table(results, PSNR), "m", "s").title


def test_numbers_are_printed_with_signs_people_read() -> None:
    assert (with_unit(25.0, "psnr"), with_unit(math.inf, "psnr"), with_unit(None, "psnr")) == ("25.00 dB", "∞", "–")
    assert (signed_percent(-0.314), signed_percent(0.042)) == ("−31 %", "+4.2 %")


def test_a_missing_prediction_that_scores_infinity_makes_the_mean_infinite_and_is_counted() -> None:
    made = [
        Score(method, item, metric, "frame", AS_PUBLISHED_WHOLE.name, AS_PUBLISHED_WHOLE.fingerprint, value, None)
        for method, bad in (("whole", 0.5), ("gaps", 0.1))
        for item in copied(["a1", "b1"])
        for metric, value in (("mse", bad), ("psnr", 10.0), ("ssim", 0.5))
    ]
    lost = {"mse": math.inf, "psnr": 0.0, "ssim": 0.0}
    made = [
        replace(one, value=lost[one.metric], reason="no prediction") if (one.method, one.item_id) == ("gaps", "b1") else one
        for one in made
    ]
    results = Results(dataset(copied_slices({"s": ["a1", "b1"], "t": ["a1"]})), made, protocol=AS_PUBLISHED_WHOLE)
    mse = Quantity("mse", "frame")
    assert {name: one.text for name, one in column(score_table(results, mse), "s").items()} == {"whole": "0.500000", "gaps": "∞"}
    assert strong(score_table(results, mse), "s") == ["0.500000"]
    assert [reason for _, reason, *_ in failure_rows(results)] == ["no prediction"]
    measured = findings(results, mse)[-1]
    assert plain(measured.answer) == "23 of 24"
    assert "1 score missing" in plain(measured.detail)
    assert "infinite" not in plain(measured.detail)  # it is missing, and not counted twice
    json.dumps(difficulty_rows(results), allow_nan=False)
    assert "one of them makes the mean infinite" in page_of(results)


def test_what_has_no_number_stands_in_one_note_instead_of_empty_columns() -> None:
    lost = [
        *scores({"m": {"a1": None, "b1": None}}, metric="ssim"),
        *scores({"m": {"a1": None, "b1": None}}, metric="mse", region="frame"),
        *scores({"m": {"a1": None, "b1": None}}, metric="psnr", region="frame"),
    ]
    lost = [replace(one, reason="no weights; run `models fetch` & wait.") for one in lost]
    results = Results(dataset({"s": ["a1", "b1"]}), [*scores({"m": {"a1": 1.0, "b1": 2.0}}), *lost], protocol=CORRECTED)
    text = page_of(results)
    assert "Not measured here: PSNR (whole frame), SSIM, MSE: no weights; run <code>models fetch</code> &amp; wait.</p>" in text
    assert set(re.findall(r'name="metric" value="(\w+)"', text)) == {"psnr"}
    assert json.loads(report_json(results, [], title="Gaps"))["unmeasured"] == [
        {"metric": metric, "region": region, "reason": "no weights; run `models fetch` & wait."}
        for metric, region in (("psnr", "frame"), ("ssim", "hole"), ("mse", "frame"))
    ]


def test_where_all_was_measured_nothing_is_said() -> None:
    results = results_of()
    text = page_of(results).split('id="page-data"')[0]
    assert "Not measured here" not in text
    assert "Networks ran in" not in text
    assert "N vectors" not in text
    assert json.loads(report_json(results, [], title="Whole"))["unmeasured"] == []


def test_the_head_says_in_what_precision_networks_ran() -> None:
    rows = [replace(one, fingerprint=f"{one.fingerprint}+bf16") for one in scores(VALUES)]
    text = page_of(Results(dataset(SLICES), rows, protocol=CORRECTED))
    assert "Networks ran in bfloat16" in text
    assert f"{CORRECTED.fingerprint}+bf16</code>" in text


@pytest.mark.usefixtures("learned_metrics")
def test_many_metrics_are_chosen_from_a_list() -> None:
    names = ["psnr", "ssim", "mse", "lpips", "pvcs", "flicker", "pcons"]
    of = protocol(names)
    made = [one for name in names for one in rows(of, VALUES, name)]
    made += rows(of, VALUES, "mse", region="frame")
    text = page_of(Results(dataset(SLICES), made, protocol=of))
    options = re.findall(r'<option value="(\w+)"( selected)?>', text.split('<select name="metric"')[1].split("</select>")[0])
    assert options == [("psnr", " selected"), *((name, "") for name in names[1:])]
    assert 'type="radio" name="metric"' not in text
    told = {(row["metric"], row["region"]) for row in data_of(text)["rows"]["sensitivity"]}
    assert told == {*((name, "hole") for name in names), ("mse", "frame")}


def test_few_metrics_are_chosen_by_buttons() -> None:
    few = page_of(results_of())
    assert 'type="radio" name="metric"' in few
    assert '<select name="metric"' not in few


def test_what_is_not_of_an_item_by_its_nature_is_no_failure() -> None:
    rows = scores({"one": {"a1": 5.0, "b1": None}, "two": {"a1": 4.0, "b1": None}})
    told = [replace(row, reason="no mask", details={INAPPLICABLE: True}) if row.value is None else row for row in rows]
    results = Results(dataset({"s": ["a1", "b1"]}), told, protocol=CORRECTED)
    assert failure_rows(results) == []
    assert notes.warnings(results) == notes.warnings(results_of({"one": {"a1": 5.0}, "two": {"a1": 4.0}}, {"s": ["a1"]}))
    assert "PSNR in the hole is not of 1 of 2 items: no mask." in notes.unmeasured_notes(results)


def test_a_method_that_was_stopped_is_told_with_the_command_that_goes_on() -> None:
    missing = [replace(one, reason=NOT_RUN) for one in scores({"telea": {"a2": None, "b1": None, "c1": None}})]
    whole, part = scores({"my own": {"a1": 2.0}}), scores({"telea": {"a1": 1.0}})
    text = page_of(Results(dataset(SLICES), [*whole, *part, *missing], protocol=CORRECTED))
    command = "inpaintbench eval run --for predictions DATASET --run RUN --method telea"
    assert f"telea was run on 1 of 4 items; <code>{command}</code> continues it." in text
    command = f"inpaintbench eval run --for scores DATASET --run RUN --protocol {CORRECTED.name}"
    assert f"my own was scored on 1 of 4 items; <code>{command}</code> continues it." in text
    assert "continues it" not in page_of(results_of()).split('id="page-data"')[0]


def test_steps_of_an_attribute_stand_together_in_their_order() -> None:
    results = results_of(VALUES, STEPS)
    order = [part.name for part in in_reading_order(results.slices)]
    assert order[:3] == ["effect-shadow-low", "effect-shadow-mid", "effect-shadow-high"]
    assert sorted(order) == sorted(part.name for part in results.slices)
    columns = [column for column in score_table(results, PSNR).columns if column.group]
    assert [(column.group, column.label) for column in columns] == [("Effect: shadow", step) for step in ("low", "mid", "high")]
