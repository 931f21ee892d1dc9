"""`eval table --for ranks`, in this process."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import typer
from click.testing import Result
from old_format import write_fields, write_one_file
from tests.eval.report.hand_made import SLICES, copied_slices, dataset
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.run_folder import REFERENCE, remember
from inpaintbench.files import file_sha256
from inpaintbench.steps import score_step
from inpaintbench.types import Score
from inpaintbench.wings.chalearn.commands import rank
from inpaintbench.workspace import Workspace

DECAPTION = PROTOCOLS.get("decaption/as-published")
CORRECTED = PROTOCOLS.get("fingerprint/corrected")
LEAVES_OUT = PROTOCOLS.get("reinpaint/as-published")
app = typer.Typer()
app.command()(expanded(rank))
VALUES = {
    "first": {"mse": 0.01, "psnr": 20.0, "ssim": 0.9},
    "second": {"mse": 0.02, "psnr": 19.0, "ssim": 0.95},
    "third": {"mse": 0.02, "psnr": 18.0, "ssim": None},
}


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False, env={"COLUMNS": "200"})


def cells(output: str) -> list[list[str]]:
    """The cells of every row of the tables."""
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in output.splitlines() if line.startswith("│")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "dataset"
    folder.mkdir()
    write_one_file(folder, dataset(copied_slices(SLICES)))
    return folder


@pytest.fixture
def run(tmp_path: Path, root: Path) -> Path:
    workspace = Workspace(tmp_path / "run")
    (workspace.path / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    for method, values in VALUES.items():
        rows = [
            Score(method, row["item_id"], metric, "frame", CORRECTED.name, CORRECTED.fingerprint, value, value and None)
            for row in frozen.load(root).items for metric, value in values.items()
        ]  # fmt: skip
        workspace.write_table("scores", score_step(CORRECTED.name, method), rows, Score)
    return workspace.path


def test_own_scores_are_ranked_by_the_mean_of_their_places(root: Path, run: Path) -> None:
    done = call(root, "--run", run, "--protocol", CORRECTED.name)
    assert cells(done.output) == [
        ["1", "first", "1.3", "0.0100 (1)", "20.0000 (1)", "0.9000 (2)"],
        ["2", "second", "1.7", "0.0200 (2)", "19.0000 (2)", "0.9500 (1)"],
        ["–", "third", "–", "0.0200 (2)", "18.0000 (3)", "– (–)"],
    ]
    assert "third has no mean place: no place by ssim" in done.output
    assert "is shared" not in done.output
    truncated = call(root, "--run", run, "--protocol", CORRECTED.name, "--mean-places", "truncated")
    assert [row[2] for row in cells(truncated.output)] == ["1.3", "1.6", "–"]


def test_five_sources_show_means_without_ranks(root: Path, run: Path) -> None:
    for name, sources in (("five", "a2345"), ("six", "a23456")):
        whole = json.loads((root / frozen.MANIFEST).read_text())
        ids = [row["item_id"] for row in whole["items"] if row["source_id"] in sources]
        whole["slices"] = [{"name": name, "rule": "by hand", "item_ids": ids}]
        write_fields(root, whole)
        (run / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
        options = (root, "--run", run, "--protocol", CORRECTED.name, "--metric", "mse", "--slice", name)
        done, told = call(*options), json.loads(call(*options, "--json").stdout)["methods"]
        if name == "six":
            assert [row[0] for row in cells(done.output)] == ["1", "1", "1"]  # six sources cannot tell three methods apart
            assert "place 1 by mean place is shared by first, second, third: by no metric is its first surely" in done.output
            assert "place 1 is shared: the best mean of its column and all that cannot be told from it" in done.output
            continue
        unranked = [["–", method, "–", f"{values['mse']:.4f} (–)"] for method, values in VALUES.items()]
        assert cells(done.output) == unranked
        assert "means without ranks: the items come from 5 sources: an interval, rank or lead needs at least 6" in done.output
        assert {(one["place"], one["mean_place"], one["reason"]) for one in told} == {
            (None, None, "5 sources: an interval, rank or lead needs at least 6")
        }


def test_a_reference_comes_after_the_ranks_without_one(root: Path, run: Path) -> None:
    remember(Workspace(run), "first", REFERENCE, True)
    options = (root, "--run", run, "--protocol", CORRECTED.name, "--metric", "mse")
    done, told = call(*options), json.loads(call(*options, "--json").stdout)["methods"]
    assert [row[:3] for row in cells(done.output)] == [["1", "second", "1.0"], ["1", "third", "1.0"], ["–", "first", "–"]]
    assert "first has no mean place: a reference, which does not compete" in done.output
    assert [(one["method"], one["place"]) for one in told] == [("second", 1), ("third", 1), ("first", None)]


def test_each_metric_is_ranked_where_the_report_shows_it_unless_a_region_is_named(root: Path, run: Path) -> None:
    workspace, items = Workspace(run), [row["item_id"] for row in frozen.load(root).items]
    for method, hole in (("first", 10.0), ("second", 30.0)):
        rows = [row for row in workspace.table("scores", Score) if row.method == method]
        rows += [Score(method, item, "mse", "hole", CORRECTED.name, CORRECTED.fingerprint, hole, None) for item in items]
        workspace.write_table("scores", score_step(CORRECTED.name, method), rows, Score)
    options = (root, "--run", run, "--protocol", CORRECTED.name, "--json")
    told = json.loads(call(*options).stdout)
    assert told["regions"] == {"mse": "hole", "psnr": "frame", "ssim": "frame"}
    assert {one["method"]: one["values"]["mse"] for one in told["methods"]} == {"first": 10, "second": 30, "third": None}
    framed = json.loads(call(*options, "--region", "frame").stdout)
    assert set(framed["regions"].values()) == {"frame"}
    assert {one["method"]: one["values"]["psnr"] for one in framed["methods"]} == {"first": 20, "second": 19, "third": 18}


def test_who_leaves_items_out_is_told_apart(root: Path, run: Path) -> None:
    workspace, items = Workspace(run), [row["item_id"] for row in frozen.load(root).items]
    rows = [
        Score("lazy", item, metric, "frame", CORRECTED.name, CORRECTED.fingerprint, value if item == items[0] else None, None)
        for item in items for metric, value in (("mse", 0.001), ("psnr", 40.0), ("ssim", 0.99))
    ]  # fmt: skip
    workspace.write_table("scores", score_step(CORRECTED.name, "lazy"), rows, Score)
    done = call(root, "--run", run, "--protocol", CORRECTED.name, "--metric", "mse")
    assert cells(done.output)[0][1] == "first"
    assert cells(done.output)[-1] == ["–", "lazy", "–", "0.0010 [n 1] (–)"]
    assert "no place by mse, with values of fewer items than others: lazy (1)" in done.output


def test_values_that_are_left_out_for_being_infinite_are_told_beside_the_mean(root: Path, run: Path) -> None:
    workspace, items = Workspace(run), [row["item_id"] for row in frozen.load(root).items]
    for method, exact in (("whole", 0), ("exact", 2)):
        rows = [
            Score(method, item, metric, "frame", LEAVES_OUT.name, LEAVES_OUT.fingerprint,
                  math.inf if metric == "psnr" and place < exact else value, None)
            for place, item in enumerate(items) for metric, value in (("psnr", 40.0), ("ssim", 0.99))
        ]  # fmt: skip
        workspace.write_table("scores", score_step(LEAVES_OUT.name, method), rows, Score)
    done = call(root, "--run", run, "--protocol", LEAVES_OUT.name, "--metric", "psnr")
    assert [row[1:4:2] for row in cells(done.output)] == [["exact", "40.0000 [n 22, 2 infinite] (1)"], ["whole", "40.0000 (1)"]]
    found = json.loads(call(root, "--run", run, "--protocol", LEAVES_OUT.name, "--metric", "psnr", "--json").stdout)
    assert {one["method"]: one["items_infinite"] for one in found["methods"]} == {"whole": {"psnr": 0}, "exact": {"psnr": 2}}


def test_the_published_protocol_ranks_as_its_tables_were_printed(root: Path, run: Path) -> None:
    workspace = Workspace(run)
    for method, dssim in (("worse", 0.06), ("better", 0.04)):
        rows = [
            Score(method, row["item_id"], metric, "frame", DECAPTION.name, DECAPTION.fingerprint, value, None)
            for row in frozen.load(root).items
            for metric, value in (("mse", dssim), ("psnr", 20.0 - dssim), ("dssim", dssim))
        ]
        workspace.write_table("scores", score_step(DECAPTION.name, method), rows, Score)
    done = call(root, "--run", run, "--protocol", DECAPTION.name)
    assert cells(done.output) == [
        ["1", "better", "1.3", "0.0400 (1)", "19.9600 (1)", "0.0400 (2)"],
        ["2", "worse", "1.6", "0.0600 (2)", "19.9400 (2)", "0.0600 (1)"],
    ]
    assert "dssim is ranked the wrong way round" in done.output
    rounded = call(root, "--run", run, "--protocol", DECAPTION.name, "--mean-places", "rounded")
    assert cells(rounded.output)[1][2] == "1.7"


def test_some_metrics_and_one_slice(root: Path, run: Path) -> None:
    name = frozen.load(root).slices[0].name
    done = call(root, "--run", run, "--protocol", CORRECTED.name, "--metric", "mse", "--metric", "psnr", "--slice", name)
    assert [row[:3] for row in cells(done.output)] == [["1", "first", "1.0"], ["2", "second", "2.0"], ["3", "third", "2.5"]]
    assert f"{CORRECTED.name}, {name}: 12 items" in done.output


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "give a dataset and --run for your own scores, or --published"),
        (("DATA", "--published"), "--published ranks printed numbers: leave out the dataset"),
        (
            ("DATA", "--run", "RUN", "--mean-places", "cut"),
            "unknown way to print mean places 'cut', choose from rounded, truncated",
        ),
        (("DATA", "--run", "RUN", "--slice", "motion-hgh"), "unknown slice 'motion-hgh', did you mean 'motion-high'"),
        (("DATA", "--run", "RUN", "--metric", "msee"), "'msee', did you mean 'mse'"),
        (
            ("DATA", "--run", "RUN", "--metric", "lpips"),
            r"^lpips was not measured under .* in this run, only mse, psnr, ssim were$",
        ),
        (("DATA", "--run", "RUN", "--region", "hoel"), "unknown region 'hoel', did you mean 'hole'"),
        (("DATA", "--run", "RUN", "--region", "hole"), "nothing that ranks methods was measured in the region 'hole'"),
        (("DATA", "--run", "RUN", "--joints"), "no wnjd was measured under"),
        (("--published", "--table", "12"), "unknown table of the challenge '12'"),
    ],
)
def test_what_cannot_be_ranked_says_why(root: Path, run: Path, options: tuple[str, ...], complaint: str) -> None:
    given = [{"DATA": str(root), "RUN": str(run)}.get(one, one) for one in options]
    protocol = ["--protocol", CORRECTED.name] if "--run" in options else []
    with pytest.raises((InputError, UnknownNameError), match=complaint):
        call(*given, *protocol)


def test_scripts_get_the_numbers_in_full(root: Path, run: Path) -> None:
    found = json.loads(call(root, "--run", run, "--protocol", CORRECTED.name, "--json").stdout)
    assert (found["protocol"], found["slice"], found["items"]) == (CORRECTED.name, "all items", 24)
    first, second, third = found["methods"]
    assert [one["method"] for one in found["methods"]] == ["first", "second", "third"]
    assert {name: first["values"][name] for name in VALUES["first"]} == VALUES["first"]
    assert second["mean_place"] == pytest.approx(5 / 3)
    assert second["places"]["ssim"] == 1
    assert (third["place"], third["mean_place"], third["values"]["ssim"]) == (None, None, None)
    assert third["reason"] == "no place by ssim"
    (printed,) = json.loads(call("--published", "--table", "11", "--json").stdout)
    assert printed["readings"][0]["methods"][0]["method"] == "CVxTz"


def test_the_published_tables_show_ranks_as_printed_and_from_the_values() -> None:
    rows = cells(call("--published", "--table", "11").output)
    printed, literal = rows[:5], rows[5:]
    assert [(row[1], row[2]) for row in printed] == [
        ("CVxTz", "1.0"), ("rgsl888", "2.3"), ("hcilab", "3.3"), ("sukeshadigav", "3.3"), ("baseline", "5.0"),
    ]  # fmt: skip
    assert [(row[1], row[2]) for row in literal] == [
        ("CVxTz", "1.0"), ("rgsl888", "2.6"), ("hcilab", "3.6"), ("sukeshadigav", "3.6"), ("baseline", "4.0"),
    ]  # fmt: skip
    assert printed[3][3:] == ["0.0268 (4)", "16.5534 (4)", "0.8261 (2)"]
    every = call("--published").output
    assert all(f"ChaLearn 2018, Table {number}:" in every for number in (3, 4, 8, 9, 10, 11))
    assert "Table 9: The column headed SSIM holds dissimilarities" in every
