from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.pages.plots import paper_svg
from inpaintbench.types import EDIT_TASKS, Score
from inpaintbench.wings.editboard.page import (
    Axis,
    as_csv,
    as_json,
    as_markdown,
    axes_of,
    radar_figure,
    render,
    trade_off_figure,
    words,
    write_transcript,
)
from inpaintbench.wings.editboard.transcript import UNSAID, Told, Transcript, transcript_of

NAME = "editboard/as-published"
METRICS = tuple(PROTOCOLS.get(NAME).metrics)
PUBLISHED = {
    "FateZero": {
        "SOSA": (8.01, 0.172, 25.27, 0.529, 0.311, 0.970, 0.950, 0.555, 0.691),
        "SE": (10.54, 0.502, None, 0.692, 0.334, 0.942, 0.956, 0.589, 0.627),
        "SOMA": (10.26, 0.280, None, 0.667, 0.311, 0.942, 0.928, 0.509, 0.608),
        "MOA": (12.24, 0.283, None, 0.446, 0.294, 0.946, 0.945, 0.497, 0.487),
    },
    "TokenFlow": {
        "SOSA": (7.27, 0.157, 31.60, 0.647, 0.324, 0.979, 0.953, 0.623, 0.741),
        "SE": (6.37, 0.436, None, 0.414, 0.312, 0.976, 0.963, 0.642, 0.701),
        "SOMA": (7.87, 0.244, None, 0.575, 0.313, 0.974, 0.944, 0.584, 0.697),
        "MOA": (8.32, 0.310, None, 0.553, 0.308, 0.955, 0.960, 0.554, 0.676),
    },
}
"""Source: EditBoard, AAAI 2025, Table 1, two of its models."""


def row(model: str, item: str, metric: str, value: float | None, protocol: str = NAME, **details: object) -> Score:
    reason = None if value is not None else "there is none"
    return Score(model, item, metric, "frame", protocol, PROTOCOLS.get(protocol).fingerprint, value, reason, details)


def published() -> Transcript:
    rows = [
        row(model, task, metric, value)
        for model, tasks in PUBLISHED.items()
        for task, values in tasks.items()
        for metric, value in zip(METRICS, values, strict=True)
    ]
    random.Random(1).shuffle(rows)
    return transcript_of(rows, {(model, task): Told(task, task) for model in PUBLISHED for task in EDIT_TASKS}, title="Table 1")


def test_the_transcript_of_one_edit_a_task_is_the_published_table() -> None:
    found = published()
    assert (found.models, found.tasks, found.metrics) == (("FateZero", "TokenFlow"), EDIT_TASKS, METRICS)
    for model, tasks in PUBLISHED.items():
        for task, values in tasks.items():
            assert tuple(found.cell(model, task, metric).mean for metric in METRICS) == values
    assert found.best["SOSA", "ff_alpha"] == set()  # of one original
    assert found.missing == ()  # semantic score is for SOSA alone, so nothing is missing elsewhere


def test_a_mean_tells_of_how_many_edits_it_is() -> None:
    values = [1.0, None, 4.0]
    rows = [row("m", f"{number}", "clip_similarity", value) for number, value in enumerate(values)]
    told = {("m", f"{number}"): Told("SE", f"source-{number}") for number in range(3)}
    cell = transcript_of(rows, told, title="t").cell("m", "SE", "clip_similarity")
    assert (cell.mean, cell.n, cell.total, cell.applies) == (2.5, 2, 3, None)
    assert (cell.low, cell.high, cell.n_sources) == (None, None, 2)
    assert cell.reason == "1 of 3 edits have no CLIP similarity here, mostly: there is none"
    assert words(cell, "clip_similarity") == "2.5000 (2 of 3)"


@pytest.mark.parametrize("originals", [5, 6])
def test_the_best_model_and_intervals_take_six_originals(originals: int) -> None:
    means = {"one": {"ff_alpha": 8.0, "success_rate": 0.6}, "two": {"ff_alpha": 7.0, "success_rate": 0.5}}
    rows = [
        row(model, f"{number}", metric, value + 0.01 * number)
        for model, values in means.items() for metric, value in values.items() for number in range(12)
    ]  # fmt: skip
    told = {(model, f"{number}"): Told("SOSA", f"{number % originals}") for model in means for number in range(12)}
    found = transcript_of(rows, told, title="t")
    assert (found.cell("one", "SOSA", "ff_alpha").low is None) == (originals == 5)
    assert found.best["SOSA", "ff_alpha"] == (set() if originals == 5 else {"two"})  # lower is better
    assert found.best["SOSA", "success_rate"] == (set() if originals == 5 else {"one"})
    assert ("| **7." in as_markdown(found).decode()) == (originals == 6)
    assert (b",True\n" in as_csv(found)) == (originals == 6)
    assert ('<td class="n best"' in render(found, {}, [])) == (originals == 6)


@pytest.mark.parametrize(("protocol", "beta", "n"), [(NAME, 0.4, 3), ("editboard/paper", 0.7, 1)])
def test_ff_alpha_is_averaged_where_it_applies_and_ff_beta_in_the_paper_where_that_does_not(
    protocol: str, beta: float, n: int
) -> None:
    rows, told = [], {}
    for number, (alpha, other) in enumerate([(10.0, 0.2), (20.0, 0.3), (None, 0.7)]):
        applies = "ff_beta" if alpha is None else "ff_alpha"
        rows.append(row("m", f"{number}", "ff_alpha", alpha, protocol, applies=applies, valid_share=0.5))
        rows.append(row("m", f"{number}", "ff_beta", other, protocol, applies=applies, valid_share=0.5))
        told["m", f"{number}"] = Told("MOA", "one")
    found = transcript_of(rows, told, title="t")
    alpha = found.cell("m", "MOA", "ff_alpha")
    assert (alpha.mean, alpha.n, alpha.applies, alpha.total) == (15.0, 2, 2, 3)
    cell = found.cell("m", "MOA", "ff_beta")
    assert (cell.mean, cell.n) == (pytest.approx(beta), n)
    assert (cell.applies, cell.applies_mean) == (1, 0.7)


def test_semantic_score_counts_in_sosa_and_where_no_task_is_named() -> None:
    told = {("m", "a"): Told("SOSA", "1"), ("m", "b"): Told("SE", "1"), ("m", "c"): Told(None, "1")}
    found = transcript_of([row("m", item, "semantic_score", 9.0) for item in "abc"], told, title="t")
    assert found.tasks == ("SOSA", "SE", UNSAID)
    means = {task: found.cell("m", task, "semantic_score").mean for task in found.tasks}
    assert means == {"SOSA": 9.0, "SE": None, UNSAID: 9.0}


def test_scores_of_two_protocols_cannot_stand_together() -> None:
    told = {("m", "a"): Told("SE", "1")}
    both = [row("m", "a", "ff_beta", 0.1), row("m", "a", "ff_alpha", 0.1, "editboard/corrected")]
    with pytest.raises(InputError, match="cannot stand in one transcript"):
        transcript_of(both, told, title="t")
    with pytest.raises(InputError, match=r"of another version of editboard/as-published \(0123\); score again"):
        transcript_of([replace(row("m", "a", "ff_beta", 0.1), fingerprint="0123")], told, title="t")
    with pytest.raises(InputError, match="no scores"):
        transcript_of([], told, title="t")


def test_what_is_missing_is_told_by_reason_with_its_edits() -> None:
    rows = [row("m", item, metric, None) for item in "ab" for metric in ("ff_alpha", "ff_beta")] + [
        row("m", "b", "success_rate", None)
    ]
    gaps = transcript_of(rows, dict.fromkeys([("m", "a"), ("m", "b")], Told("SE", "1")), title="t").missing
    assert [(gap.metrics, gap.edits) for gap in gaps] == [(("ff_alpha", "ff_beta"), ("a", "b")), (("success_rate",), ("b",))]


def test_csv_json_and_markdown_hold_the_same_means() -> None:
    found = published()
    lines = list(csv.DictReader(io.StringIO(as_csv(found).decode())))
    tree = json.loads(as_json(found))["transcript"]
    assert len(lines) == 2 * 4 * 9
    for cells in lines:
        mean = tree[cells["model"]][cells["task"]][cells["metric"]]["mean"]
        assert (float(cells["mean"]) if cells["mean"] else None) == mean
        assert mean == PUBLISHED[cells["model"]][cells["task"]][METRICS.index(cells["metric"])]
    text = as_markdown(found).decode()
    assert "| MOA | 12.240 | 0.2830 | – | 0.446 | 0.2940 |" in text
    assert "| task | FF-alpha ↓ | FF-beta ↓ | Semantic score ↓ | Success rate ↑ |" in text


def positions(drawn: str, words: str) -> tuple[float, float]:
    """Where the dot lies that says ``words``, in its plot."""
    found = re.search(rf'aria-label="{re.escape(words)}"[^>]*transform="translate\(([^,]+),([^)]+)\)"', drawn)
    assert found, words
    return float(found[1]), float(found[2])


def test_farther_out_is_better_on_every_axis_of_a_radar() -> None:
    found = published()
    drawn = paper_svg(radar_figure(found))
    centre = (280, positions(drawn, "TokenFlow, FF-alpha of the frame: 7.270")[1])
    # FF-alpha is the first axis, straight up: the best of all, 6.37, lies 96 px above the worst, 12.24.
    best, worst = (
        positions(drawn, "TokenFlow, FF-alpha of the frame: 6.370"),
        positions(drawn, "FateZero, FF-alpha of the frame: 12.240"),
    )
    tops = {task: positions(drawn, f"{model}, FF-alpha of the frame: {value}")[1] for task, model, value in (
        ("SOSA", "TokenFlow", "7.270"), ("SOSA2", "FateZero", "8.010"),
    )}  # fmt: skip
    assert tops["SOSA"] < tops["SOSA2"]  # up is smaller
    assert tops["SOSA2"] - tops["SOSA"] == pytest.approx(96 * (8.01 - 7.27) / (12.24 - 6.37), abs=0.01)
    assert positions(drawn, "TokenFlow, FF-alpha of the frame: 7.270")[0] == pytest.approx(centre[0])
    assert best[1] < worst[1]
    # Success rate, higher is better: of MOA it is the third of eight axes, straight to the right.
    assert (
        positions(drawn, "TokenFlow, Success rate of the frame: 0.553")[0]
        > positions(drawn, "FateZero, Success rate of the frame: 0.446")[0]
    )
    assert "of the frame, 12.240 → 6.370" in drawn
    assert "the best and the inner ring the worst mean" in re.sub(r"<[^>]+>", " ", drawn).replace("  ", " ")


def test_axes_have_the_worst_and_the_best_by_direction() -> None:
    axes = {axis.metric: axis for axis in axes_of(published())}
    assert (axes["ff_alpha"].worst, axes["ff_alpha"].best) == (12.24, 6.37)
    assert (axes["imaging_quality"].worst, axes["imaging_quality"].best) == (0.487, 0.741)
    for metric, axis in axes.items():
        assert (axis.share(axis.worst), axis.share(axis.best)) == (0, 1)
        assert 0 < axis.share((axis.worst + axis.best) / 2) < 1, metric
    assert Axis("ff_beta", "frame", 0.3, 0.3).share(0.3) == 1


def test_execution_grows_to_the_right_and_fidelity_upwards() -> None:
    drawn = paper_svg(trade_off_figure(published()))
    good = positions(drawn, "TokenFlow, SOSA: Success rate of the frame 0.647, FF-beta of the frame 0.157")
    poor = positions(drawn, "FateZero, SOSA: Success rate of the frame 0.529, FF-beta of the frame 0.172")
    assert good[0] > poor[0]
    assert good[1] < poor[1]


def test_a_reference_is_never_the_best_and_stretches_no_axis() -> None:
    values = {"blank": 0.99, "one": 0.5, "two": 0.4}
    told = {
        (model, f"{task}{place}"): Told(task, str(place)) for model in values for task in ("SOSA", "SE") for place in range(6)
    }
    metrics = ("success_rate", "clip_similarity", "ff_beta")
    rows = [
        row(model, item, metric, values[model] + 0.001 * metrics.index(metric) + 0.01 * (told[model, item].task == "SE"))
        for model, item in told
        for metric in metrics
    ]
    competing = transcript_of(rows, told, title="t")
    assert competing.best["SOSA", "success_rate"] == {"blank", "one", "two"}  # six originals cannot tell three models apart
    found = transcript_of(rows, told, title="t", references=["blank", "another"])
    assert (found.models, found.references) == (("one", "two", "blank"), ("blank",))
    assert found.best["SOSA", "success_rate"] == {"one"}
    assert [(axis.worst, axis.best) for axis in axes_of(found) if axis.metric == "success_rate"] == [
        (pytest.approx(0.4), pytest.approx(0.51))
    ]  # fmt: skip
    page = render(found, {}, [])
    assert page.count(">reference</span>") == 1
    assert "## blank (reference)" in as_markdown(found).decode()
    assert "<b>0.990" not in page
    drawn = paper_svg(radar_figure(found))
    rim, beyond = positions(drawn, "one, Success rate of the frame: 0.510"), "blank (reference), Success rate of the frame: 1.000"
    assert positions(drawn, beyond) == rim
    both = paper_svg(trade_off_figure(found))
    assert "blank: reference, at the edge where it lies beyond all others." in both
    right = positions(both, "blank (reference), SE: Success rate of the frame 1, FF-beta of the frame 1.002")[0]
    assert positions(both, "one, SE: Success rate of the frame 0.51, FF-beta of the frame 0.512")[0] < right <= 260


def test_too_few_numbers_are_not_drawn() -> None:
    told = {("m", "a"): Told("SE", "1")}
    found = transcript_of([row("m", "a", "ff_beta", 0.1), row("m", "a", "ff_alpha", None)], told, title="t")
    assert radar_figure(found) is None
    assert trade_off_figure(found) is None
    assert "There are too few numbers to draw." in render(found, {}, [])


def test_a_radar_shows_the_tasks_that_have_three_metrics_or_more() -> None:
    told = {(model, item): Told(task, "1") for model in "mn" for item, task in (("a", "SOSA"), ("b", "SE"))}
    metrics = ("ff_alpha", "ff_beta", "semantic_score")
    rows = [row(model, item, metric, value) for model, value in (("m", 1.0), ("n", 2.0)) for item in "ab" for metric in metrics]
    drawn = paper_svg(radar_figure(transcript_of(rows, told, title="t")))
    assert "SOSA: single object" in drawn
    assert "SE: style" not in drawn  # semantic score is not defined there
    alone = transcript_of(
        [one for one in rows if one.method == "m"], {key: told[key] for key in told if key[0] == "m"}, title="t"
    )
    assert radar_figure(alone) is None  # worst and best are one: it would look perfect


def test_one_edit_alone_and_infinite_means_are_drawn_without_a_fault() -> None:
    told = {("m", "a"): Told(None, "1")}
    values = dict(zip(METRICS, (1.0, 0.2, 3.0, 0.5, math.inf, 0.9, 0.9, 0.5, 0.5), strict=True))
    found = transcript_of([row("m", "a", metric, value) for metric, value in values.items()], told, title="t")
    assert radar_figure(found) is None
    assert "inf" not in paper_svg(trade_off_figure(found))


@pytest.mark.long
def test_the_folder_is_the_same_for_any_order_and_nothing_else_is_overwritten(tmp_path: Path) -> None:
    first, second = (write_transcript(tmp_path / name, published()).parent for name in ("a", "b"))
    names = sorted(path.name for path in first.iterdir())
    assert names == [
        "execution_fidelity.pdf",
        "execution_fidelity.svg",
        "radar.pdf",
        "radar.svg",
        "transcript.csv",
        "transcript.html",
        "transcript.json",
        "transcript.md",
    ]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names if not name.endswith(".pdf"))
    write_transcript(first, published())
    (first / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="something else than a transcript"):
        write_transcript(first, published())


def test_the_page_escapes_what_comes_from_data_and_asks_for_nothing() -> None:
    told = {("<b>", "a"): Told("SE", "1")}
    found = transcript_of([row("<b>", "a", "ff_beta", 0.1)], told, title="<i>", notes=["<u>"], settings={"frames": "<s>"})
    page = render(found, {}, ["transcript.csv"])
    for raw in ("<b>:", "<i>", "<u>", "<s>"):
        assert raw not in page
    assert "&lt;i&gt;" in page
    assert not re.search(r'(src|href)="(https?:)?//', page)
