"""What the page says, read from its text; how it behaves is in test_player.py."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import plotly.graph_objects as go
import pytest
from tests.eval.report.hand_made import COUNTING, SLICES, VALUES, copied, copied_slices, copied_values, counting, dataset, scores
from tests.eval.report.set_metrics import learned_metrics, protocol, rows

from inpaintbench.eval.metrics.base import INAPPLICABLE
from inpaintbench.eval.protocols.devil import AS_PUBLISHED, CORRECTED
from inpaintbench.eval.protocols.fingerprint import AS_PUBLISHED as FINGERPRINT
from inpaintbench.eval.report import notes, overview
from inpaintbench.eval.report.findings import finding_cards
from inpaintbench.eval.report.labels import PALETTE, method_colours, metric_title
from inpaintbench.eval.report.markup import json_script, number, percent, with_unit
from inpaintbench.eval.report.page import default_quantity, render
from inpaintbench.eval.report.plots import difficulty_figure, sensitivity_figure
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.rank_table import rank_tables, ranks_lead
from inpaintbench.eval.report.records import report_json
from inpaintbench.eval.report.score_table import failure_table, score_tables
from inpaintbench.eval.report.tables import Results
from inpaintbench.types import Score

__all__ = ["learned_metrics"]
PSNR = Quantity("psnr", "hole")
NASTY = '<script>alert("x")</script>&'


def results_of(values: object = VALUES, slices: object = SLICES, **changes: object) -> Results:
    return Results(dataset(slices, **changes), scores(values), protocol=CORRECTED)  # type: ignore[arg-type]


def claiming(values: object = VALUES, slices: object = SLICES) -> Results:
    """The same with six sources at least in every slice."""
    return results_of(copied_values(values), copied_slices(slices))  # type: ignore[arg-type]


def row_of(html: str, name: str) -> str:
    return next(row for row in html.split("<tr") if f'data-slice="{name}"' in row)


def test_the_best_mean_is_bold_and_only_it() -> None:
    html = score_tables(claiming(), shown_in={})
    assert re.findall(r"<b>(.*?)</b>", row_of(html, "motion-high")) == ["20.00"]
    assert re.findall(r"<b>(.*?)</b>", row_of(html, "motion-low")) == ["∞"]
    assert "<strong>PSNR ↑ (dB)</strong> in the hole, higher is better" in html


def test_ties_are_all_bold() -> None:
    html = score_tables(claiming({"one": {"a1": 5.0}, "two": {"a1": 5.0}, "three": {"a1": 4.0}}, {"s": ["a1"]}), shown_in={})
    assert row_of(html, "s").count("<b>5.00</b>") == 2
    assert "<b>4.00</b>" not in html


def test_a_method_alone_is_not_best() -> None:
    results = claiming({"one": {"a1": 5.0}}, {"s": ["a1"]})
    assert "<b>" not in score_tables(results, shown_in={}) + rank_tables(results)


def test_lower_is_better_has_its_arrow() -> None:
    rows = scores(copied_values({"one": {"a1": 0.5}, "two": {"a1": 0.25}}), metric="mse")
    html = score_tables(Results(dataset(copied_slices({"s": ["a1"]})), rows, protocol=CORRECTED), shown_in={})
    assert metric_title("mse").startswith("MSE ↓")
    assert "lower is better" in html
    assert "<b>0.25" in row_of(html, "s")


def test_cells_show_intervals_and_count_what_is_not_in_the_mean() -> None:
    claimed = Results(dataset(copied_slices(SLICES)), counting(scores(copied_values(VALUES))), protocol=COUNTING)
    html = score_tables(claimed, shown_in={"night": "exhibit-2"})
    found = claimed.summary(claimed.slices[0], "good", PSNR)
    assert f'<span class="interval">{found.interval_low:.2f} – {found.interval_high:.2f}</span>' in row_of(html, "motion-low")
    assert '<span class="counts">n 0 · 12 ∞</span>' in row_of(html, "motion-low")
    assert '<span class="counts">n 0 · 12 missing</span>' in row_of(html, "motion-high")
    assert '<span class="counts">n 0 · 6 ∞ · 6 missing</span>' in row_of(html, "night")
    assert 'href="#exhibit-2"' in row_of(html, "night")


def test_rows_sort_by_values_a_script_can_read() -> None:
    html = score_tables(results_of(), shown_in={})
    assert re.findall(r'data-value="(.*?)"', row_of(html, "motion-low")) == ["30.0", "10.0", "inf"]


def test_ranks_are_listed_best_first_with_lines_between_settings() -> None:
    html = rank_tables(claiming())
    names = re.findall(r"<li [^>]*>(.*?)</li>", html)
    assert names[:3] == ["<b>odd</b>", "<span>good</span>", "<span>bad</span>"]
    assert names[3:6] == ["<b>good</b>", "<span>bad</span>", "– <span>odd</span>"]
    assert html.count("<line ") == 2  # odd has no place on the right


def test_slices_outside_pairs_are_lines_of_one_table() -> None:
    slices = {"class-arch": ["a1"], "moisture-dry": ["a1", "b1"], "class-left_loop": ["b1", "a2"], "night": ["c1"]}
    results = claiming(VALUES, slices)
    html = rank_tables(results)
    assert html.count("<table") == 1
    assert re.findall(r'rowspan="(\d)">(.*?)</th>', html) == [("2", "Class"), ("1", "Moisture"), ("1", "Night")]
    assert re.findall(r'<th scope="row" [^>]*>(.*?)</th>', html) == ["Arch", "Left loop", "Dry", ""]
    assert "<line " not in html
    assert "lines" not in ranks_lead(results)
    assert "lines follow a method from low to high" in ranks_lead(claiming())
    assert rank_tables(claiming()).count("<table") == 2  # one of pairs, one of the others


def test_without_pairs_nothing_is_said_of_sensitivity() -> None:
    page = render(
        results_of(VALUES, {"class-arch": ["a1", "a2"], "class-whorl": ["b1", "c1"]}), [], [], title="None", inline=True
    )
    assert 'href="#sensitivity"' not in page
    assert 'id="sensitivity"' not in page
    assert "Relative improvement" not in page
    page = render(results_of(), [], [], title="Some", inline=True)
    assert 'href="#sensitivity"' in page
    assert 'id="sensitivity"' in page


def test_labels_that_do_not_fit_are_slanted_whole_and_inside_the_figure() -> None:
    names = [f"{attribute}-{value}" for attribute in ("background", "class") for value in ("saturated_colour", *"abcdefgh")]
    slices = {**{name: ["a1"] for name in names}, "x-low": ["a1", "a2"], "x-high": ["b1", "c1"]}
    figure = difficulty_figure(results_of(VALUES, slices), PSNR)
    axis, layout = figure["layout"]["xaxis"], figure["layout"]
    assert axis["ticktext"][:3] == ["X: low", "X: high", "Background: saturated colour"]
    assert len(axis["ticktext"]) == len(axis["tickvals"]) == 20
    assert axis["tickangle"] == -45
    assert layout["margin"]["b"] > len("Background: saturated colour") * 6 * math.sqrt(0.5)
    assert "annotations" not in layout
    assert len(go.Figure(figure).data) >= 4
    assert difficulty_figure(results_of(), PSNR)["layout"]["xaxis"]["tickangle"] == 0


def test_tied_ranks_are_marked() -> None:
    html = rank_tables(claiming({"one": {"a1": 5.0}, "two": {"a1": 5.0}}, {"s": ["a1"]}))
    assert html.count("= <b>") == 2


def test_a_method_has_one_colour_everywhere() -> None:
    results = claiming()
    colour = method_colours(results.methods)["bad"]
    assert colour == PALETTE[1]
    difficulty = difficulty_figure(results, PSNR)
    assert [trace["marker"]["color"] for trace in difficulty["data"] if trace.get("name") == "bad"] == [colour]
    sensitivity = sensitivity_figure(results, results.quantities)
    assert sensitivity is not None
    assert sensitivity["data"][0]["marker"]["color"][1] == colour
    assert f'style="--method:{colour}" title="bad' in rank_tables(results)


def test_difficulty_bars_are_means_with_standard_errors() -> None:
    figure = difficulty_figure(claiming(), PSNR)
    bars, good = figure["data"][:2]
    assert bars["y"] == [20, 17.5, 20]
    assert bars["error_y"]["array"][0] == math.sqrt(200) / math.sqrt(2)
    assert good["y"] == [30, 20, 25]
    assert figure["layout"]["xaxis"]["ticktext"] == ["low", "high", "Night"]
    assert [one["text"] for one in figure["layout"]["annotations"]] == ["Motion"]


def test_plotly_knows_every_property_of_the_figures() -> None:
    """``go.Figure`` raises on properties and values that plotly.js would silently ignore."""
    both = {**SLICES, "size-low": ["a1"], "size-high": ["b1"]}
    rows = [*scores(VALUES), *scores(VALUES, metric="mse")]
    results = Results(dataset(both), rows, protocol=CORRECTED)
    for figure in (difficulty_figure(results, PSNR), sensitivity_figure(results, results.quantities)):
        assert len(go.Figure(figure).data) >= 4


def test_sensitivity_is_a_panel_for_each_attribute_with_both_settings() -> None:
    figure = sensitivity_figure(claiming(), claiming().quantities)
    assert figure is not None
    assert [one["text"] for one in figure["layout"]["annotations"]] == ["Motion"]
    assert figure["data"][0]["y"] == [-1 / 3, 0.5, None]
    assert figure["data"][1]["x"] == ["odd"]  # a dash where there is no bar
    assert sensitivity_figure(results_of({"m": {"a1": 1.0}}, {"night": ["a1"]}), [PSNR]) is None


def test_failures_are_listed_with_their_reason() -> None:
    html = failure_table(results_of())
    assert "the program ended with status 3" in html
    assert "<code>a2</code>, <code>c1</code>" in html
    assert failure_table(results_of({"one": {"a1": 1.0}}, {"s": ["a1"]})) == ""


def test_left_out_and_empty_slices_are_said() -> None:
    results = results_of({"m": {"a1": 1.0}}, {"s": ["a1"], "void": []}, left_out={"water-low": "no labels"})
    html = overview.warnings(results)
    assert "<b>void</b> left out: it has no items" in html
    assert "<b>water-low</b> left out: no labels" in html
    assert overview.warnings(results_of({"m": {"a1": 1.0}}, {"s": ["a1"]})) == ""


def test_everything_from_data_is_escaped() -> None:
    values = {NASTY: {NASTY: 1.0}, "bad": {NASTY: None}}
    results = results_of(values, {f"{NASTY}-low": [NASTY], f"{NASTY}-high": [NASTY]}, left_out={NASTY: NASTY})
    html = render(results, [], [], title=NASTY, inline=True)
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_json_in_the_page_cannot_end_its_element() -> None:
    html = json_script("it", {"name": "</script><!--"})
    assert html.count("</script>") == 1
    assert json.loads(html.split(">", 1)[1].removesuffix("</script>")) == {"name": "</script><!--"}


def test_the_first_view_is_the_first_metric_in_the_hole() -> None:
    rows = [*scores({"m": {"a1": 1.0}}, region="frame"), *scores({"m": {"a1": 1.0}}, metric="ssim")]
    assert default_quantity(Results(dataset({"s": ["a1"]}), rows, protocol=CORRECTED)) == ("ssim", "hole")
    rows = scores({"m": {"a1": 1.0}}, region="frame")
    assert default_quantity(Results(dataset({"s": ["a1"]}), rows, protocol=CORRECTED)) == ("psnr", "frame")


def test_notes_define_metrics_and_name_every_constant() -> None:
    results = results_of()
    assert "10 log10(data_range^2 / MSE)" in notes.metric_notes(results)
    assert "Nothing is infinite: no value is above 58.92 dB." in notes.metric_notes(results)
    left_out = Results(dataset(SLICES), counting(scores(VALUES)), protocol=COUNTING)
    assert "left out of means and counted beside them" in notes.metric_notes(left_out)
    assert "leaves out one source at a time: Student's t" in notes.reading_notes(results)
    assert "Whole sources (3 sources here)" in notes.reading_notes(results)
    assert "metrics.<wbr>" not in notes.constants_table(results)
    assert "band_<wbr>radius_<wbr>pixels</code></th><td>8</td>" in notes.constants_table(results)


def test_the_published_rule_for_infinite_values_is_said() -> None:
    rows = [
        type(one)(one.method, one.item_id, one.metric, one.region, AS_PUBLISHED.name, AS_PUBLISHED.fingerprint, one.value, None)
        for one in scores({"m": {"a1": 1.0, "b1": math.inf}})
    ]
    results = Results(dataset({"s": ["a1", "b1"]}), rows, protocol=AS_PUBLISHED)
    assert "taken as the largest finite value" in notes.metric_notes(results)
    assert "n 2 · 1 ∞" in score_tables(results, shown_in={})


def test_numbers_are_printed_with_signs_people_read() -> None:
    assert number(-0.123, decimals=2) == "−0.12"
    assert number(math.inf, decimals=2) == "∞"
    assert number(None, decimals=2) == "–"
    assert (with_unit(25.0, "psnr"), with_unit(math.inf, "psnr"), with_unit(None, "psnr")) == ("25.00 dB", "∞", "–")
    assert percent(-0.314) == "−31%"
    assert percent(0.042) == "+4.2%"


def test_a_missing_prediction_that_scores_infinity_makes_the_mean_infinite_and_is_counted() -> None:
    made = [
        Score(method, item, metric, "frame", FINGERPRINT.name, FINGERPRINT.fingerprint, value, None)
        for method, bad in (("whole", 0.5), ("gaps", 0.1))
        for item in copied(["a1", "b1"])
        for metric, value in (("mse", bad), ("psnr", 10.0), ("ssim", 0.5))
    ]
    lost = {"mse": math.inf, "psnr": 0.0, "ssim": 0.0}
    made = [
        replace(one, value=lost[one.metric], reason="no prediction") if (one.method, one.item_id) == ("gaps", "b1") else one
        for one in made
    ]
    results = Results(dataset(copied_slices({"s": ["a1", "b1"], "t": ["a1"]})), made, protocol=FINGERPRINT)
    html = score_tables(results, shown_in={})
    assert "∞" in row_of(html, "s")
    assert re.findall(r"<b>(.*?)</b>", row_of(html, "s"))[0] == "0.500000"
    assert "no prediction" in failure_table(results)
    cards = finding_cards(results, default=Quantity("mse", "frame"))
    assert "23 of 24" in cards
    assert "1 score missing" in cards
    assert "infinite" not in cards  # it is missing, and not counted twice
    json.dumps(difficulty_figure(results, Quantity("mse", "frame")), allow_nan=False)
    assert "one of them makes the mean infinite" in render(results, [], [], title="As published", inline=True)


def test_what_has_no_number_stands_in_one_note_instead_of_empty_columns() -> None:
    lost = [
        *scores({"m": {"a1": None, "b1": None}}, metric="ssim"),
        *scores({"m": {"a1": None, "b1": None}}, metric="mse", region="frame"),
        *scores({"m": {"a1": None, "b1": None}}, metric="psnr", region="frame"),
    ]
    lost = [replace(one, reason="no weights; run `models fetch` & wait.") for one in lost]
    results = Results(dataset({"s": ["a1", "b1"]}), [*scores({"m": {"a1": 1.0, "b1": 2.0}}), *lost], protocol=CORRECTED)
    words = "Not measured here: PSNR (whole frame), SSIM, MSE: no weights; run <code>models fetch</code> &amp; wait.</p>"
    page = render(results, [], [], title="Gaps", inline=True)
    assert words in page
    assert "<strong>SSIM" not in page
    assert json.loads(report_json(results, [], title="Gaps"))["unmeasured"] == [
        {"metric": metric, "region": region, "reason": "no weights; run `models fetch` & wait."}
        for metric, region in (("psnr", "frame"), ("ssim", "hole"), ("mse", "frame"))
    ]


def test_where_all_was_measured_nothing_is_said() -> None:
    results = results_of()
    page = render(results, [], [], title="Whole", inline=True).split('id="report-data"')[0]
    assert "Not measured here" not in page
    assert "Networks ran in" not in page
    assert "N vectors" not in page
    assert json.loads(report_json(results, [], title="Whole"))["unmeasured"] == []


def test_the_head_says_in_what_precision_networks_ran() -> None:
    rows = [replace(one, fingerprint=f"{one.fingerprint}+bf16") for one in scores(VALUES)]
    page = render(Results(dataset(SLICES), rows, protocol=CORRECTED), [], [], title="Fast", inline=True)
    assert "Networks ran in <strong>bfloat16</strong>" in page
    assert f"{CORRECTED.fingerprint}+bf16</code>" in page


@pytest.mark.usefixtures("learned_metrics")
@pytest.mark.usefixtures("learned_metrics")
def test_many_metrics_are_chosen_from_a_list_and_improvement_is_drawn_one_at_a_time() -> None:
    names = ["psnr", "ssim", "mse", "lpips", "pvcs", "flicker", "pcons"]
    of = protocol(names)
    made = [one for name in names for one in rows(of, VALUES, name)]
    made += rows(of, VALUES, "mse", region="frame")
    page = render(Results(dataset(SLICES), made, protocol=of), [], [], title="Many", inline=True)
    options = re.findall(r'<option value="(\w+)"( selected)?>', page.split('<select name="metric"')[1].split("</select>")[0])
    assert options == [("psnr", " selected"), *((name, "") for name in names[1:])]
    assert 'type="radio" name="metric"' not in page
    figures = json.loads(re.search(r'id="report-data">(.*?)</script>', page)[1])["sensitivity"]  # type: ignore[index]
    assert set(figures) == {*(f"{name}/hole" for name in names), "frame"}


def test_few_metrics_are_chosen_by_buttons() -> None:
    few = render(results_of(), [], [], title="Few", inline=True)
    assert 'type="radio" name="metric"' in few
    assert '<select name="metric"' not in few


def test_what_is_not_of_an_item_by_its_nature_is_no_failure() -> None:
    rows = scores({"one": {"a1": 5.0, "b1": None}, "two": {"a1": 4.0, "b1": None}})
    told = [replace(row, reason="no mask", details={INAPPLICABLE: True}) if row.value is None else row for row in rows]
    results = Results(dataset({"s": ["a1", "b1"]}), told, protocol=CORRECTED)
    assert failure_table(results) == ""
    assert overview.warnings(results) == overview.warnings(results_of({"one": {"a1": 5.0}, "two": {"a1": 4.0}}, {"s": ["a1"]}))
    assert "PSNR in the hole is not of 1 of 2 items: no mask." in overview.unmeasured_note(results)
