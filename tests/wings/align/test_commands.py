"""`eval align`, in this process."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
import typer
from click.testing import Result
from old_format import write_one_file
from tests.eval.report.hand_made import SLICES, VALUES, dataset, scores
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.run_folder import BETWEEN, remember
from inpaintbench.files import file_sha256
from inpaintbench.steps import score_step
from inpaintbench.types import Score
from inpaintbench.wings.align.commands import align_command
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")
app = typer.Typer()
app.command()(expanded(align_command))
ITEMS, METHODS = [f"film{n}" for n in range(12)], ("a", "b", "c")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """Answers and scores of eight films and three methods; everybody chooses what has the lower score."""
    told, scored = ["annotator,group,dimension,left,right,choice"], ["item,method,metric,value"]
    for item in ITEMS:
        scored += [f"{item},{method},mine,{place + 1}" for place, method in enumerate(METHODS)]
        for rater in ("r1", "r2"):
            told += [f"{rater},{item},motion,{left},{right},left" for left, right in (("a", "b"), ("a", "c"), ("b", "c"))]
    paths = tmp_path / "answers.csv", tmp_path / "scores.csv"
    for path, lines in zip(paths, (told, scored), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def test_two_tables(tables: tuple[Path, Path], tmp_path: Path) -> None:
    answers, scored = tables
    slices = tmp_path / "slices.csv"
    slices.write_text("item,slice\n" + "".join(f"{item},late\n" for item in ITEMS[6:]))
    direction = ("--better", "mine=lower")
    done = call(answers, "--scores", scored, "--tie", "mine=0.5", *direction, "--slices", slices, "--out", tmp_path / "out")
    assert "100.0 %" in done.output
    assert "late: No verdict: mine alone was measured." in done.output
    assert done.output.endswith(f"Alignment: {(tmp_path / 'out' / 'alignment.html').resolve()}\n")
    found = json.loads((tmp_path / "out" / "alignment.json").read_text())["dimensions"][0]
    assert (found["answers"], found["metrics"][0]["rate"]["value"], found["metrics"][0]["tie_eps_from"]) == (72, 1.0, "given")
    assert [one["rates"]["mine"]["n"] for one in found["slices"]] == [72, 36]
    call(answers, "--scores", scored, "--tie-quantile", 0.5, "--better", "mine=higher", "--out", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "alignment.json").read_text())["dimensions"][0]
    assert (found["metrics"][0]["rate"]["value"], found["metrics"][0]["tie_eps"]) == (0.0, 1.0)


def test_a_table_of_scores_says_who_competes_and_what_clusters(tables: tuple[Path, Path], tmp_path: Path) -> None:
    """As ``scores.csv`` of a report does: two items of each source, and ``c`` is a floor."""
    answers, scored = tables
    head, *lines = scored.read_text().splitlines()
    of = {item: f"film {place // 2}" for place, item in enumerate(ITEMS)}
    told = [f"{line},{of[line.split(',')[0]]},{line.split(',')[1] == 'c'}" for line in lines]
    scored.write_text("\n".join([f"{head},source,reference", *told]) + "\n")
    call(answers, "--scores", scored, "--tie", "mine=0.5", "--better", "mine=lower", "--out", tmp_path / "out")
    [found] = json.loads((tmp_path / "out" / "alignment.json").read_text())["dimensions"]
    assert (found["answers"], found["metrics"][0]["rate"]["n"], found["metrics"][0]["rate"]["n_sources"]) == (24, 24, 6)
    scored.write_text("\n".join([f"{head},reference", *(f"{line},true" for line in lines)]) + "\n")
    with pytest.raises(InputError, match="every answer is about a reference method"):
        call(answers, "--scores", scored, "--better", "mine=lower", "--out", tmp_path / "out")


def test_metrics_are_tested_against_one_baseline_or_in_the_pairs_asked_for(tables: tuple[Path, Path], tmp_path: Path) -> None:
    answers, scored = tables
    lines = [f"{item},{method},{metric},{(place + shift) % 3}" for item in ITEMS for place, method in enumerate(METHODS)
             for metric, shift in (("dssim", 1), ("mse", 0), ("psnr", 2))]  # fmt: skip
    scored.write_text("\n".join(["item,method,metric,value", *lines]) + "\n")
    given = (answers, "--scores", scored, "--tie-quantile", 0, "--out", tmp_path / "out")

    def compared(*options: str) -> tuple[str, list[tuple[str, ...]]]:
        done = call(*given, *options)
        found = json.loads((tmp_path / "out" / "alignment.json").read_text())
        assert f"all items: {found['dimensions'][0]['slices'][0]['verdict']}" in done.output.replace("\n", " ")
        tests = found["dimensions"][0]["slices"][0]["comparisons"]
        return done.output, sorted(tuple(sorted((one["one"], one["other"]))) for one in tests)

    output, pairs = compared()
    assert pairs == [("dssim", "psnr"), ("mse", "psnr")]
    assert "2 comparisons with psnr over 12 sources" in output.replace("\n", " ")
    assert compared("--baseline", "mse")[1] == [("dssim", "mse"), ("mse", "psnr")]
    assert compared("--pair", "mse,dssim")[1] == [("dssim", "mse")]
    rows = (tmp_path / "out" / "comparisons.csv").read_text().splitlines()
    assert rows[0].startswith("dimension,slice,one,other,difference,p,p_holm,")
    assert rows[0].endswith(",least_p,least_p_holm,could_tell,told_apart")
    assert len(rows) == 2


def test_every_label_names_its_region_and_each_metric_is_tested_once(tables: tuple[Path, Path], tmp_path: Path) -> None:
    answers, scored = tables
    lines = [f"{item},{method},{metric},{region},{(place + shift) % 3}" for item in ITEMS for place, method in enumerate(METHODS)
             for metric, shift in (("dssim", 1), ("mse", 0), ("psnr", 2)) for region in ("frame", "hole")]  # fmt: skip
    scored.write_text("\n".join(["item,method,metric,region,value", *lines]) + "\n")
    out = tmp_path / "out"
    given = (answers, "--scores", scored, "--tie-quantile", 0, "--out", out)

    def compared(*options: str) -> set[tuple[str, ...]]:
        call(*given, *options)
        tests = json.loads((out / "alignment.json").read_text())["dimensions"][0]["slices"][0]["comparisons"]
        return {tuple(sorted((one["one"], one["other"]))) for one in tests}

    assert compared() == {("dssim/hole", "psnr/hole"), ("mse/hole", "psnr/hole")}
    page = (out / "alignment.html").read_text()
    assert "PSNR in the hole" in page
    assert not re.search(r">\s*(PSNR|MSE|DSSIM)\s*<", page)
    assert "| psnr/hole |" in (out / "alignment.md").read_text()
    assert compared("--region", "frame") == {("dssim/frame", "psnr/frame"), ("mse/frame", "psnr/frame")}
    assert "PSNR of the frame" in (out / "alignment.html").read_text()
    assert compared("--baseline", "mse", "--tie", "psnr=1") == {("dssim/hole", "mse/hole"), ("mse/hole", "psnr/hole")}
    assert compared("--pair", "psnr/frame,psnr/hole") == {("psnr/frame", "psnr/hole")}


def test_a_run_with_answers_or_with_its_own_resolved_votes(tmp_path: Path) -> None:
    root = tmp_path / "dataset"
    root.mkdir()
    write_one_file(root, dataset(SLICES))
    workspace = Workspace(tmp_path / "run")
    for method, values in VALUES.items():
        workspace.write_table("scores", score_step(CORRECTED.name, method), scores({method: values}, region="frame"), Score)
    options = ("--run", workspace.path, "--protocol", CORRECTED.name, "--tie-quantile", 0.1)
    with pytest.raises(InputError, match="run `inpaintbench annotate resolve`"):
        call(root, *options)
    one, other, *_ = VALUES
    item = json.loads((root / frozen.MANIFEST).read_text())["items"][0]["item_id"]
    counts = {"wins": 3, "losses": 1, "ties": 0, "both_bad": 0}
    voted = Score(one, item, "human_preference", "frame", "annotate/motion", "f", 0.75, None, {"against": {other: counts}})
    mirrored = {**counts, "wins": 1, "losses": 3}
    back = dataclasses.replace(voted, method=other, value=0.25, details={"against": {one: mirrored}})
    workspace.write_table("scores", "annotate.motion", [voted, back], Score)
    done = call(root, *options)
    assert done.output.endswith(f"Alignment: {(workspace.path / 'alignment' / 'alignment.html').resolve()}\n")
    found = json.loads((workspace.path / "alignment" / "alignment.json").read_text())["dimensions"][0]
    assert (found["name"], found["answers"], found["raters"], found["ceiling"]) == ("motion", 4, None, None)
    assert found["metrics"]
    assert {one["rate"]["value"] for one in found["metrics"]} <= {0.25, 0.75, 0.0}
    answers = tmp_path / "answers.csv"
    answers.write_text(f"annotator,group,dimension,left,right,choice\nr1,{item},motion,{one},{other},left\n")
    call(root, answers, *options)
    found = json.loads((workspace.path / "alignment" / "alignment.json").read_text())["dimensions"][0]
    assert (found["answers"], found["raters"]) == (1, 1)
    remember(workspace, one, BETWEEN, "depends")
    call(root, answers, *options)
    for name in ("alignment.html", "alignment.json", "alignment.md"):
        assert f"{one} depends on what it saw before" in (workspace.path / "alignment" / name).read_text()
    method, values = next(iter(VALUES.items()))
    marked = [dataclasses.replace(row, fingerprint="other") for row in scores({method: values}, region="frame")]
    workspace.write_table("scores", score_step(CORRECTED.name, method), marked, Score)
    with pytest.raises(InputError, match="cannot stand in one report"):
        call(root, *options)
    for name in ("dataset.sha256", "dataset.content"):
        (workspace.path / name).write_text("0" * 64)
    assert file_sha256(root / frozen.MANIFEST) != "0" * 64
    with pytest.raises(InputError, match="holds results on another dataset"):
        call(root, *options)


def test_what_is_refused(tables: tuple[Path, Path]) -> None:
    answers, scored = tables
    for half in ((), (answers,), ("--scores", scored), (answers, "--run", answers.parent)):
        with pytest.raises(InputError, match="give a table of answers with --scores, or a dataset and --run"):
            call(*half)
    both = (answers, "--scores", scored)
    for option, value, told in (
        ("--better", "mine", "--better is 'mine', write METRIC=VALUE"),
        ("--better", "mine=more", "--better mine is 'more', choose higher or lower"),
        ("--tie", "mine=much", "--tie mine is 'much', not a number"),
        ("--tie", "mine=1", "nobody says whether more of 'mine' is better"),
        ("--better", "mine=lower", "'mine' has no tie threshold"),
    ):
        with pytest.raises(InputError, match=told):
            call(*both, option, value)


def test_answers_about_a_method_that_nobody_scored_are_told(tmp_path: Path) -> None:
    answers, scored = tmp_path / "answers.csv", tmp_path / "scores.csv"
    rows = [
        ("r1", "one", "telea", "bi", "left"),
        ("r2", "one", "telea", "other", "right"),
        ("r1", "two", "telea", "other", "left"),
    ]
    answers.write_text(
        "annotator,group,dimension,left,right,choice\n"
        + "".join(f"{rater},{item},quality,{left},{right},{choice}\n" for rater, item, left, right, choice in rows)
    )
    lines = [f"{item},{method},psnr,{value}\n" for item in ("one", "two") for method, value in (("telea", 20), ("other", 10))]
    scored.write_text("item,method,metric,value\n" + "".join(lines))
    done = call(answers, "--scores", scored, "--tie-quantile", 0, "--out", tmp_path / "out")
    assert "1 of 3 answers count for no metric: nothing is scored for 'bi'; scored are other, telea" in done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--pair", "mine"), "--pair is 'mine', write METRIC,METRIC"),
        (("--pair", "mine,"), "--pair is 'mine,', write METRIC,METRIC"),
        (("--pair", "mine,mine", "--baseline", "mine"), "give one of both"),
        (("--pair", "mine,mine"), "a pair is 'mine' twice"),
        (("--baseline", "mien"), "unknown metric 'mien', did you mean 'mine'"),
    ],
)
def test_comparisons_that_cannot_be(tables: tuple[Path, Path], options: tuple[str, ...], told: str) -> None:
    answers, scored = tables
    with pytest.raises(InputError, match=told):
        call(answers, "--scores", scored, "--better", "mine=lower", "--tie-quantile", 0, *options)
