"""`eval report --for analysis`, in this process."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from pathlib import Path

import pandas as pd
import pytest
import typer
from click.testing import Result
from old_format import write_one_file
from tests.eval.analysis.test_analysis_tables import two_slices
from tests.eval.report.diagnosed import decibels_of, paired_dataset
from tests.eval.report.hand_made import SLICES, VALUES, dataset, scores
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli import reporting
from inpaintbench.cli.options import expanded
from inpaintbench.cli.reporting import analysis
from inpaintbench.cli.table import export, figure, table
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.run_folder import NOT_RUN, remember_scored
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.files import file_sha256
from inpaintbench.steps import score_step
from inpaintbench.types import Prediction, Score
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")
app = typer.Typer()
app.command()(expanded(analysis))


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The manifest of a frozen dataset; an analysis reads nothing else of it."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    write_one_file(folder, dataset(SLICES))
    return folder


@pytest.fixture
def run(tmp_path: Path, root: Path) -> Path:
    workspace = Workspace(tmp_path / "run")
    (workspace.path / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    for method, values in VALUES.items():
        rows = scores({method: values}, region="frame")
        workspace.write_table("scores", score_step(CORRECTED.name, method), rows, Score)
    return workspace.path


def test_own_scores_are_analysed_beside_the_run(root: Path, run: Path) -> None:
    done = call(root, "--run", run, "--protocol", CORRECTED.name)
    assert done.output == f"Analysis: {(run / 'analysis' / 'analysis.html').resolve()}\n"
    lines = (run / "analysis" / "table_1.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 3
    assert any(line.startswith("motion-high,motion,high,bad,psnr,") and ",15.0," in line for line in lines)


def test_metrics_without_any_value_are_named_once_for_each_reason(root: Path, run: Path) -> None:
    for method, values in VALUES.items():
        measured = scores({method: values}, region="frame")
        lost = [
            dataclasses.replace(row, metric=metric, region=region, value=None, reason=reason)
            for row in measured
            for metric, region, reason in (
                ("lpips", "frame", "no weights"), ("lpips", "hole", "no weights"), ("pvcs", "frame", "no weights"),
                ("warp_error", "frame", "no flow"),
            )
        ]  # fmt: skip
        Workspace(run, create=False).write_table("scores", score_step(CORRECTED.name, method), [*measured, *lost], Score)
    call(root, "--run", run, "--protocol", CORRECTED.name)
    page = (run / "analysis" / "analysis.html").read_text()
    assert page.count("Not measured:") == 2
    assert "Not measured: LPIPS, PVCS (no weights)." in page
    assert "Not measured: Warping error (no flow)." in page


def test_published_numbers_need_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reporting, "published_means", two_slices)  # fewer figures
    assert call("--paper").output.endswith("devil-paper-analysis/analysis.html\n")
    assert call("--paper", "--out", tmp_path / "here").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"devil-paper-analysis", "here"}


def test_what_cannot_be_analysed(root: Path, run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--paper analyses published numbers"):
        call(root, "--paper")
    for half in ((), (root,), ("--run", run)):
        with pytest.raises(InputError, match="give a dataset and --run"):
            call(*half)
    with pytest.raises(InputError, match="no scores under protocol 'devil/as-published'"):
        call(root, "--run", run, "--protocol", "devil/as-published")
    (run / "dataset.sha256").write_text("0" * 64)
    with pytest.raises(InputError, match="holds results on another dataset"):
        call(root, "--run", run, "--protocol", CORRECTED.name)


def test_scores_that_are_older_than_predictions_are_refused(root: Path, run: Path) -> None:
    workspace = Workspace(run)
    remember_scored(workspace, "of other predictions", step=score_step(CORRECTED.name, "good"))
    row = Prediction("good", "1", "a1", blob="0" * 64, full_frames=False, largest_change_outside=0)
    workspace.write_table("predictions", "predict.good", [row], Prediction)
    with pytest.raises(InputError, match=r"scores of 'good' under 'devil/corrected' are older than its predictions; run `"):
        call(root, "--run", run, "--protocol", CORRECTED.name)


def test_the_scores_by_slice_are_printed_for_papers_and_spreadsheets(root: Path, run: Path, tmp_path: Path) -> None:
    own = typer.Typer()
    own.command()(expanded(table))
    asked = [str(root), "--run", str(run), "--protocol", "devil/corrected"]
    printed = CliRunner().invoke(own, asked, catch_exceptions=False).output
    assert "% protocol devil/corrected, fingerprint " in printed
    assert r"\begin{tabular}" in printed
    assert r"good & " in printed
    place = tmp_path / "psnr.csv"
    CliRunner().invoke(own, [*asked, "--csv", "--metric", "psnr", "--out", str(place)], catch_exceptions=False)
    head, first, *_ = place.read_text().splitlines()
    assert head.startswith("Method,All items")
    assert head.endswith(",Metric,Region,Standing,Note")
    assert f',PSNR ↑ (dB),frame,exploratory,"Exploratory: the primary quantity is PSNR in the hole. {BOLD}"' in first
    with pytest.raises(InputError, match="unknown metric with scores 'lpips', choose from psnr"):
        CliRunner().invoke(own, [*asked, "--metric", "lpips"], catch_exceptions=False)


@pytest.mark.parametrize("what", ["means", "difficulty", "sensitivity"])
def test_figures_stand_alone_on_white_paper(root: Path, run: Path, tmp_path: Path, what: str) -> None:
    place = tmp_path / f"{what}.svg"
    own = typer.Typer()
    own.command()(expanded(figure))
    asked = [str(root), "--run", str(run), "--protocol", "devil/corrected", "--out", str(place), "--figure", what]
    CliRunner().invoke(own, asked, catch_exceptions=False)
    drawn = place.read_text()
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawn)
    assert {"good", "bad"} <= set(texts)  # on an axis, or in a legend
    assert any("PSNR" in text for text in texts)
    assert "var(--" not in drawn
    with pytest.raises(InputError, match=r"figure\.docx'; names end in \.svg, \.pdf"):
        CliRunner().invoke(own, [*asked[:-4], "--out", "figure.docx"], catch_exceptions=False)


@pytest.fixture
def pairs(tmp_path: Path) -> list[str]:
    """Arguments for the scores of two methods on items that differ in one axis alone."""
    root, workspace = tmp_path / "pairs", Workspace(tmp_path / "run of pairs")
    root.mkdir()
    write_one_file(root, paired_dataset())
    (workspace.path / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    for method, of in decibels_of(["telea", "temporal_median"]).items():
        workspace.write_table("scores", score_step(CORRECTED.name, method), scores({method: of}), Score)
    return [str(root), "--run", str(workspace.path), "--protocol", CORRECTED.name]


def test_several_metrics_are_a_table_of_methods_by_metrics(pairs: list[str]) -> None:
    run = Workspace(Path(pairs[2]), create=False)
    for method, of in decibels_of(["telea", "temporal_median"]).items():
        errors = {item: 65025 * 10 ** (-value / 10) for item, value in of.items()}
        rows = [*scores({method: of}), *scores({method: errors}, metric="mse")]
        run.write_table("scores", score_step(CORRECTED.name, method), rows, Score)
    own = typer.Typer()
    own.command()(expanded(table))

    def printed(*further: str) -> str:
        return CliRunner().invoke(own, [*pairs, *further], catch_exceptions=False).output

    asked = [word for metric in ("mse", "psnr", "mse") for word in ("--metric", metric)]
    head, *rows = csv.reader(io.StringIO(printed("--csv", *asked)))
    assert head[:4] == ["Method", "hole: MSE ↓", "hole: MSE ↓: bold", "hole: PSNR ↑ (dB)"]
    for place, metric in ((1, "mse"), (3, "psnr")):
        alone = csv.reader(io.StringIO(printed("--csv", "--metric", metric)))
        assert {row[0]: row[place] for row in rows} == {row[0]: row[1] for row in alone if row[0] != "Method"}
    assert rows == sorted(rows, key=lambda row: float(row[1])), "the best by the first metric comes first"
    text = printed("--metric", "mse", "--metric", "psnr")
    assert r"\multicolumn{2}{c}{hole}" in text
    assert "All but PSNR in the hole, the primary quantity, are exploratory." in text
    with pytest.raises(UsageError, match="a table of effects is of one metric"):
        printed("--table", "effects", "--metric", "mse", "--metric", "psnr")


def test_effects_are_printed_and_drawn_for_papers(pairs: list[str], tmp_path: Path) -> None:
    tables, figures = typer.Typer(), typer.Typer()
    tables.command()(expanded(table))
    figures.command()(expanded(figure))
    printed = CliRunner().invoke(tables, [*pairs, "--table", "effects"], catch_exceptions=False).output
    assert "Attribute & Step & telea & temporal\\_median \\\\" in printed
    assert re.search(r"Path of the camera & still \$\\rightarrow\$ fast & .* & \\textbf\{\$-\$6\.50\}", printed)
    text = CliRunner().invoke(tables, [*pairs, "--table", "effects", "--csv"], catch_exceptions=False).output
    row = next(csv.DictReader(io.StringIO(text)))
    assert (row["Attribute"], row["Step"], row["Metric"], row["Region"]) == (
        "Size of the hole",
        "low → high",
        "PSNR ↑ (dB)",
        "hole",
    )
    assert float(row["telea"]) == pytest.approx(-4.0)
    out = tmp_path / "fingerprint.svg"
    CliRunner().invoke(figures, [*pairs, "--figure", "fingerprint", "--out", str(out)], catch_exceptions=False)
    assert "temporal_median, Path of the camera, still → fast: −6.50 dB" in out.read_text()


def test_without_attributes_there_are_no_effects_to_print(root: Path, run: Path) -> None:
    own = typer.Typer()
    own.command()(expanded(table))
    asked = [str(root), "--run", str(run), "--protocol", "devil/corrected", "--table", "effects"]
    with pytest.raises(InputError, match="no effect to print: no axis, slice or attribute has PSNR of the frame"):
        CliRunner().invoke(own, asked, catch_exceptions=False)


def test_figures_without_anything_to_show_are_refused(root: Path, run: Path, tmp_path: Path) -> None:
    own = typer.Typer()
    own.command()(expanded(figure))
    asked = [str(root), "--run", str(run), "--protocol", "devil/corrected", "--out", str(tmp_path / "no.pdf")]
    with pytest.raises(InputError, match="nothing to draw as 'steps': no slice"):
        CliRunner().invoke(own, [*asked, "--figure", "steps"], catch_exceptions=False)
    with pytest.raises(InputError, match="nothing to draw as 'scatter': it needs a metric of items, and a numeric attribute"):
        CliRunner().invoke(own, [*asked, "--figure", "scatter"], catch_exceptions=False)
    assert not (tmp_path / "no.pdf").exists()


def test_scores_that_nobody_asked_for_are_not_counted_as_such(root: Path, run: Path, tmp_path: Path) -> None:
    workspace = Workspace(run)
    rows = [
        row if row.item_id == "a1" else dataclasses.replace(row, value=None, reason=NOT_RUN)
        for row in scores({"good": VALUES["good"]}, region="frame")
    ]
    workspace.write_table("scores", score_step(CORRECTED.name, "good"), rows, Score)
    own = typer.Typer()
    own.command()(expanded(export))
    asked = [str(root), "--run", str(run), "--protocol", "devil/corrected", "--out", str(tmp_path / "scores.parquet")]
    said = CliRunner().invoke(own, asked, catch_exceptions=False).output
    assert said.startswith("9 scores, 2 without a value; 3 more rows of items that a method was not run on: ")
    assert len(pd.read_parquet(tmp_path / "scores.parquet")) == 12


def test_scores_leave_with_what_is_known_of_their_items(root: Path, run: Path, tmp_path: Path) -> None:
    own = typer.Typer()
    own.command()(expanded(export))
    asked = [str(root), "--run", str(run), "--protocol", "devil/corrected", "--out"]
    done = CliRunner().invoke(own, [*asked, str(tmp_path / "scores.parquet")], catch_exceptions=False)
    assert done.output.startswith("12 scores, 2 without a value: ")
    table = pd.read_parquet(tmp_path / "scores.parquet")
    rows = {(row.method, row.item_id): row for row in table.itertuples()}
    assert rows["good", "a1"].value == VALUES["good"]["a1"]
    assert rows["odd", "a1"].value == math.inf
    assert math.isnan(rows["odd", "c1"].value)
    assert rows["odd", "c1"].reason == "the program ended with status 3"
    assert (rows["good", "a1"].source_id, rows["good", "a1"].slices) == ("a", "motion-low;night")
    CliRunner().invoke(own, [*asked, str(tmp_path / "scores.csv"), "--csv"], catch_exceptions=False)
    again = pd.read_csv(tmp_path / "scores.csv")
    assert list(again.columns) == list(table.columns)
    assert len(again) == len(table)
