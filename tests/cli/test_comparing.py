"""`eval compare`, in this process: its numbers against sums and enumerations written here."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import typer
from click.testing import Result
from old_format import write_one_file
from program import run_here
from tests.eval.report.diagnosed import decibels_of, paired_dataset
from tests.eval.report.hand_made import dataset
from typer.testing import CliRunner
from whole_frames import AS_PUBLISHED as STRICT

from inpaintbench import frozen
from inpaintbench.cli import reporting as comparing
from inpaintbench.cli.options import expanded
from inpaintbench.cli.reporting import MOST_ROWS, compare_command, telling
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols import usual as usual_protocol
from inpaintbench.eval.report.two_methods import Difference
from inpaintbench.eval.scoring import run_folder as run_state
from inpaintbench.eval.scoring.run_folder import NOT_RUN
from inpaintbench.files import file_sha256
from inpaintbench.steps import score_step
from inpaintbench.types import Prediction, Score, SliceScore
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")
BY_FRAMES = PROTOCOLS.get("e2fgvi-legacy")
app = typer.Typer()
app.command()(expanded(compare_command))
SOURCES = "abcdefgh"
ITEMS = [f"{source}{number}" for source in SOURCES for number in (1, 2)]
SLICES = {
    "motion-low": [f"{source}1" for source in SOURCES],
    "motion-high": [f"{source}2" for source in SOURCES],
    "few": ["a1", "b1"],
}
RNG = np.random.default_rng(8)
LPIPS = {
    "mine": {item: float(value) for item, value in zip(ITEMS, RNG.normal(0.10, 0.03, 16), strict=True)},
    "yours": {item: float(value) for item, value in zip(ITEMS, RNG.normal(0.13, 0.03, 16), strict=True)},
}
PSNR = {
    "mine": {item: 30.0 + number for number, item in enumerate(ITEMS)},
    "yours": {item: 30.0 + number for number, item in enumerate(ITEMS)} | {"a1": math.inf, "b1": 28.0},
}
VALUES = {"lpips": LPIPS, "psnr": PSNR}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "dataset"
    folder.mkdir()
    write_one_file(folder, dataset(SLICES))
    return folder


def write_run(folder: Path, root: Path, values: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Path:
    """Metric -> method -> item -> value."""
    workspace = Workspace(folder)
    (folder / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    for method in dict.fromkeys(method for by_method in values.values() for method in by_method):
        rows = [
            Score(method, item, metric, "hole", CORRECTED.name, CORRECTED.fingerprint, value, NOT_RUN if value is None else None)
            for metric, by_method in values.items() for item, value in by_method[method].items()
        ]  # fmt: skip
        workspace.write_table("scores", score_step(CORRECTED.name, method), rows, Score)
    return folder


def call(root: Path, run: Path, *arguments: object) -> Result:
    words = [root, *arguments, "--run", run, "--protocol", CORRECTED.name]
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False, env={"COLUMNS": "300"})


def table(run: Path, name: str = "mine_vs_yours") -> dict[tuple[str, str], dict[str, str]]:
    with (run / "compare" / "devil.corrected" / f"{name}.csv").open(newline="") as file:
        return {(row["metric"], row["slice"]): row for row in csv.DictReader(file)}


def enumerated_p(by_source: Mapping[str, float]) -> float:
    sums = np.array(list(by_source.values()))
    flipped = [abs(np.dot(signs, sums)) for signs in itertools.product((1, -1), repeat=len(sums))]
    return float(np.mean(np.array(flipped) >= abs(sums.sum()) - 1e-12))


def test_differences_intervals_and_corrected_p_are_those_of_a_calculation_by_hand(tmp_path: Path, root: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    done = call(root, run, "mine", "yours")
    assert done.exit_code == 0
    rows, expected_p = table(run), {}
    slices = {"all items": ITEMS, **{name: SLICES[name] for name in ("motion-low", "motion-high")}}
    for name, items in slices.items():
        row, differences = rows["lpips", name], {item: LPIPS["mine"][item] - LPIPS["yours"][item] for item in items}
        assert float(row["difference"]) == pytest.approx(np.mean(list(differences.values())), rel=1e-12)
        assert float(row["one"]) - float(row["other"]) == pytest.approx(float(row["difference"]), rel=1e-9)
        of_source = {source: sum(differences[item] for item in items if item[0] == source) for source in SOURCES}
        expected_p[name] = enumerated_p(of_source)
        assert float(row["p"]) == pytest.approx(expected_p[name], abs=1e-12)
        reach = (float(row["interval_high"]) - float(row["interval_low"])) / 2
        assert float(row["interval_low"]) + reach == pytest.approx(float(row["difference"]))
        means = np.array(list(of_source.values())) / (len(items) / 8)
        assert reach > scipy.stats.t.ppf(0.975, 7) * scipy.stats.sem(means)  # it holds beside all rows
        better = sum(value < 0 for value in differences.values())
        assert (row["wins"], row["ties"], row["losses"]) == (str(better), "0", str(len(items) - better))
        told = float(row["p_corrected"]) < 0.05
        assert row["better"] == ("" if not told else "mine" if float(row["difference"]) < 0 else "yours")
        assert (row["n"], row["n_sources"]) == (str(len(items)), "8")
        assert float(row["p_corrected"]) >= float(row["p"])
        assert told == (abs(float(row["difference"])) > reach)
        assert row["standing"] == "exploratory"
    few = rows["lpips", "few"]
    assert (few["p"], few["p_corrected"]) == ("", "")
    assert (few["interval_low"], few["interval_high"], few["better"]) == ("", "", "")
    assert few["reason"] == "2 sources: an interval, rank or lead needs at least 6"


def test_infinite_values_win_items_but_have_no_difference_and_the_table_says_so(tmp_path: Path, root: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    done = call(root, run, "mine", "yours", "--metric", "psnr", "--slice", "all items")
    assert "1 with an infinite value left out" in " ".join(re.sub(r"[│\n]", " ", done.output).split())
    row = table(run)["psnr", "all items"]
    assert row["n_infinite"] == "1"
    assert (row["wins"], row["ties"], row["losses"], row["n"]) == ("1", "14", "1", "15")
    assert float(row["difference"]) == pytest.approx((32.0 - 28.0) / 15)
    assert row["better"] == ""  # one value of sixteen


def test_what_each_attribute_does_to_both_is_drawn_beside_the_table(tmp_path: Path) -> None:
    (root := tmp_path / "dataset").mkdir()
    write_one_file(root, paired_dataset())
    run = write_run(tmp_path / "run", root, {"psnr": decibels_of(["telea", "temporal_median"])})
    done = call(root, run, "telea", "temporal_median")
    assert "and 1 figure of effects beside them" in " ".join(done.output.split())
    folder = run / "compare" / "devil.corrected"
    figure = folder / "telea_vs_temporal_median_psnr_hole.svg"
    words = re.findall(r'aria-label="([^"]+)"', figure.read_text())
    assert any(word.startswith("temporal_median, Path of the camera, still → fast: −6.50 dB") for word in words)
    assert any(word.startswith("telea less temporal_median, Size of the hole, low → high: −3.00 dB") for word in words)
    page = (folder / "telea_vs_temporal_median.md").read_text()
    assert f"]({figure.name})" in page
    lines = [line for line in page.splitlines() if line.startswith("| Size of the hole | low → high |")]
    assert len(lines) == 1
    assert [re.sub(r"[*(].*|[*]", "", cell.strip(" *")).strip() for cell in lines[0].split("|")[3:6]] == [
        "−4.00",
        "−1.00",
        "−3.00",
    ]
    assert str(figure) in {
        str(path) for path in json.loads(call(root, run, "telea", "temporal_median", "--json").output)["files"]
    }


@pytest.mark.parametrize(("share", "starred"), [(0.5, False), (0.05, True)])
def test_who_depends_on_what_it_saw_before_makes_no_finding(tmp_path: Path, share: float, *, starred: bool) -> None:
    (root := tmp_path / "dataset").mkdir()
    plain = dataset(SLICES)
    write_one_file(root, replace(plain, items=tuple({**row, frozen.SHOWN: share} for row in plain.items)))
    clear = {item: value + 0.2 for item, value in LPIPS["mine"].items()}
    run = write_run(tmp_path / "run", root, VALUES | {"lpips": {"mine": LPIPS["mine"], "yours": clear}})
    run_state.remember(Workspace(run), "mine", run_state.BETWEEN, "depends")
    told = call(root, run, "mine", "yours").output
    assert ("no star marks the better mean beside mine: it depends on what it saw before" in told) != starred
    assert bool(re.search(r"\d\*", told)) == starred
    assert {row["better"] for row in table(run).values()} == ({"", "mine"} if starred else {""})


def test_a_reference_is_called_one(tmp_path: Path, root: Path) -> None:
    clear = {item: value + 0.2 for item, value in LPIPS["mine"].items()}
    run = write_run(tmp_path / "run", root, VALUES | {"lpips": {"mine": LPIPS["mine"], "yours": clear}})
    assert "reference method" not in call(root, run, "mine", "yours").output
    before = table(run)
    assert {row["better"] for row in before.values()} == {"", "mine"}
    run_state.remember(Workspace(run), "yours", run_state.REFERENCE, True)
    told = call(root, run, "mine", "yours").output
    assert "yours is a reference method: a floor to stand above, not a competitor" in told
    assert not re.search(r"\d\*", told)
    after = table(run)
    assert {row["better"] for row in after.values()} == {""}
    assert [row["difference"] for row in after.values()] == [row["difference"] for row in before.values()]


def test_turned_around_everything_changes_its_sign(tmp_path: Path, root: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    call(root, run, "mine", "yours")
    call(root, run, "yours", "mine")
    there, back = table(run), table(run, "yours_vs_mine")
    assert there.keys() == back.keys()
    for key, row in there.items():
        turned = back[key]
        assert float(row["difference"]) == pytest.approx(-float(turned["difference"]), abs=1e-15)
        assert (row["p"], row["p_corrected"], row["better"]) == (turned["p"], turned["p_corrected"], turned["better"])
        assert (row["wins"], row["losses"]) == (turned["losses"], turned["wins"])


def test_two_runs_and_items_that_one_was_not_run_on(tmp_path: Path, root: Path) -> None:
    write_run(tmp_path / "one", root, VALUES)
    part = {metric: {"mine": dict.fromkeys(ITEMS) | dict(list(values["yours"].items())[2:])} for metric, values in VALUES.items()}
    other = write_run(tmp_path / "two", root, part)
    made = [Prediction("mine", "1", item, "0" * 64 + ".mp4", False, 0) for item in ITEMS[2:]]
    Workspace(other).write_table("predictions", "predict.mine", made, Prediction)
    done = call(root, tmp_path / "one", "mine", "mine", "--other-run", other)
    assert "left out: mine was not run on 2 of 16 items (some of motion-low, motion-high, few)" in done.output
    [path] = (tmp_path / "one" / "compare" / "devil.corrected").glob("*.csv")
    rows = table(tmp_path / "one", path.stem)
    assert rows["lpips", "all items"]["n"] == "14"
    expected = np.mean([LPIPS["mine"][item] - LPIPS["yours"][item] for item in ITEMS[2:]])
    assert float(rows["lpips", "all items"]["difference"]) == pytest.approx(expected, rel=1e-12)
    assert rows["lpips", "all items"]["b"].startswith("mine (")


@pytest.mark.usefixtures("whole_frames_are_known")
def test_an_item_that_was_not_run_never_counts_as_the_worst(tmp_path: Path, root: Path) -> None:
    """That protocol scores what is missing; a method that was run on one slice must not lose all others by it."""
    workspace = Workspace(tmp_path / "run")
    (workspace.path / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    metric = "psnr"
    for method, run_on in (("mine", ITEMS[:8]), ("yours", ITEMS)):
        rows = [
            Score(method, item, metric, "frame", STRICT.name, STRICT.fingerprint,
                  0.25 if item in run_on else STRICT.missing[metric], None if item in run_on else NOT_RUN)
            for item in ITEMS
        ]  # fmt: skip
        workspace.write_table("scores", score_step(STRICT.name, method), rows, Score)
    words = [root, "mine", "yours", "--run", workspace.path, "--protocol", STRICT.name, "--out", tmp_path]
    CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    with (tmp_path / "mine_vs_yours.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["slice"], row["n"], row["ties"], row["losses"], float(row["difference"])) == ("all items", "8", "8", "0", 0.0)


def test_the_printed_table_and_the_page_say_the_same(tmp_path: Path, root: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    done = call(root, run, "mine", "yours", "--metric", "psnr", "--slice", "all items")
    assert set(table(run)) == {("psnr", "all items")}
    page = (run / "compare" / "devil.corrected" / "mine_vs_yours.md").read_text()
    [line] = [line for line in page.splitlines() if line.startswith("| psnr")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[:4] == ["psnr", "hole", "all items", "15 (8 sources)"]
    assert cells[6] == "0.27"
    assert cells[10] == "1-14-1"
    [printed] = [row for row in done.output.splitlines() if "psnr" in row and "│" in row]
    assert [cell.strip() for cell in printed.strip("│").split("│")][:4] == cells[:4]


def test_scripts_get_every_row_and_its_numbers_in_full(tmp_path: Path, root: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    found = json.loads(call(root, run, "mine", "yours", "--json").stdout)
    rows = {(row["metric"], row["slice"]): row for row in found["rows"]}
    written = table(run)
    assert set(rows) == set(written)
    for name, row in rows.items():
        assert str(row["n"]) == written[name]["n"]
        assert row["difference"] == (float(written[name]["difference"]) if written[name]["difference"] else None)
    assert (found["a"], found["b"], found["fingerprint"]) == ("mine", "yours", CORRECTED.fingerprint)


def row_of(part: str, p: float | None, wins: int) -> Difference:
    return Difference("psnr", "hole", part, 1.0, 2.0, -1.0, None, None, p, p, 10, 10, wins, 0, 10 - wins, None)


def test_the_most_telling_rows_are_those_of_all_items_and_those_least_like_chance() -> None:
    rows = [row_of("dull", 0.9, 5), row_of("sure", 0.001, 5), row_of("untested", None, 5), row_of("all items", 0.5, 5)]
    rows += [row_of("even", 0.04, 5), row_of("one-sided", 0.04, 10)]
    assert [row.slice for row in telling(rows, most=1)] == ["all items"]
    assert [row.slice for row in telling(rows, most=3)] == ["sure", "all items", "one-sided"]
    assert telling(rows, most=6) == rows


def test_a_long_table_is_shown_in_part_unless_all_is_asked_for(tmp_path: Path, root: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    whole = call(root, run, "mine", "yours")
    assert whole.output.count("│ hole") == len(table(run)) <= MOST_ROWS
    assert "most telling" not in whole.output
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "MOST_ROWS", 2)
        short, everything = call(root, run, "mine", "yours"), call(root, run, "mine", "yours", "--all")
    assert short.output.count("│ hole") == 2
    assert f"the 2 most telling of {len(table(run))} rows; --all shows the others" in short.output
    assert everything.output.count("│ hole") == len(table(run))


@pytest.mark.parametrize("words", [("compare", "mine", "yours"), ("report",), ("table",), ("diagnose",), ("paper", "--no-costs")])
def test_a_run_that_is_scored_under_one_protocol_is_shown_under_it(words: Sequence[str], tmp_path: Path, root: Path) -> None:
    usual, other = usual_protocol(frozen.load(root)), CORRECTED.name
    assert usual != other
    run = write_run(tmp_path / "run", root, {"psnr": {"mine": PSNR["mine"], "yours": PSNR["mine"]}})
    more = ("--out", tmp_path / "out") if words[0] == "paper" else ()
    asked = ("eval", words[0], root, *words[1:], "--run", run, *more)
    done = run_here(*asked)
    assert f"protocol {other}, the only one with scores\n" in done.stderr
    assert "no scores under" not in done.stderr  # the page and the paper want media, too, which these made-up items have not
    workspace, rows = Workspace(run), Workspace(run).table("scores", Score)
    third = [replace(row, protocol="devil/imperfect") for row in rows if row.method == "mine"]
    workspace.write_table("scores", score_step("devil/imperfect", "mine"), third, Score)
    assert f"no scores under protocol {usual!r}" in run_here(*asked).stderr


def test_names_that_are_wrong_say_the_way_out(tmp_path: Path, root: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    with pytest.raises(UnknownNameError, match=r"unknown scored method 'your', did you mean 'yours'\?"):
        call(root, run, "mine", "your")
    with pytest.raises(InputError, match="'mine' cannot be compared with itself; give two labels, or --other-run"):
        call(root, run, "mine", "mine")
    with pytest.raises(UnknownNameError, match="unknown slice 'motion-lo'"):
        call(root, run, "mine", "yours", "--slice", "motion-lo")
    with pytest.raises(UnknownNameError, match="unknown metric with values: 'lpip'"):
        call(root, run, "mine", "yours", "--metric", "lpip")
    with pytest.raises(InputError, match="no run folder"):
        call(root, tmp_path / "none", "mine", "yours")


def test_items_weigh_by_their_frames_where_they_do_in_the_means_and_sets_have_no_test(tmp_path: Path, root: Path) -> None:
    workspace = Workspace(tmp_path / "run")
    (workspace.path / "dataset.sha256").write_text(file_sha256(root / frozen.MANIFEST))
    name, fingerprint = BY_FRAMES.name, BY_FRAMES.fingerprint
    frames = {item: 2 + 3 * place for place, item in enumerate(ITEMS)}
    for method, values, vfid in (("mine", LPIPS["mine"], 0.5), ("yours", LPIPS["yours"], 0.75)):
        rows = [
            Score(method, item, "psnr", "frame", name, fingerprint, value, None, {"frames": frames[item]})
            for item, value in values.items()
        ]
        rows += [
            Score(method, item, "vfid", "frame", name, fingerprint, None, None, features="f", truth_features="t")
            for item in ITEMS
        ]
        workspace.write_table("scores", score_step(name, method), rows, Score)
        sets = [SliceScore(method, "all items", "vfid", "frame", name, fingerprint, vfid, None, None, None, None, {"items": 16})]
        workspace.write_table("slice_scores", f"sets.{method}", sets, SliceScore)
    words = [root, "mine", "yours", "--run", workspace.path, "--protocol", name, "--out", tmp_path]
    CliRunner().invoke(app, [*map(str, words), "--slice", "all items"], catch_exceptions=False)
    with (tmp_path / "mine_vs_yours.csv").open(newline="") as file:
        found = {row["metric"]: row for row in csv.DictReader(file)}
    differences = [LPIPS["mine"][item] - LPIPS["yours"][item] for item in ITEMS]
    expected = np.average(differences, weights=list(frames.values()))
    assert expected != pytest.approx(np.mean(differences), rel=1e-3)
    assert float(found["psnr"]["difference"]) == pytest.approx(expected, rel=1e-12)
    of_sets = found["vfid"]
    assert (float(of_sets["difference"]), of_sets["better"], of_sets["p"], of_sets["n"]) == (-0.25, "", "", "16")
    assert of_sets["reason"] == "one number for many items cannot be tested item by item"


def test_a_method_that_depends_on_what_it_saw_before_is_called_so(root: Path, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", root, VALUES)
    run_state.remember(Workspace(run), "mine", run_state.BETWEEN, "depends")
    told = "mine depends on what it saw before"
    assert told in call(root, run, "mine", "yours").stdout
    assert told in (run / "compare" / "devil.corrected" / "mine_vs_yours.md").read_text()
