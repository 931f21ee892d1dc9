"""Report and analysis of one run hold the same numbers under the same names, and every label of a number names its region."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from program import run_here

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.measured import UNEXPOSED
from inpaintbench.eval.results.quantity import Quantity, usual_quantities

REGION = re.compile(r" (in the hole|in the boundary band|of the frame)( |$)")


@pytest.fixture(scope="module")
def run(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with report and analysis of two methods."""
    folder, dataset = tmp_path_factory.mktemp("same") / "run", benchmark / "exports" / "devil"
    methods = ("--method", "blank", "--method", "temporal_median")
    assert run_here("eval", "run", "--for=predictions", dataset, "--run", folder, *methods, "--workers", "0").returncode == 0
    metrics = [word for name in ("psnr", "ssim", "mse", "pcons", "flicker") for word in ("--metric", name)]
    assert run_here("eval", "run", "--for=scores", dataset, "--run", folder, *metrics, "--workers", "0").returncode == 0
    assert run_here("eval", "report", dataset, "--run", folder).returncode == 0
    assert run_here("eval", "report", "--for=analysis", dataset, "--run", folder).returncode == 0
    return folder


def cells(rows: list[dict[str, object]]) -> dict[tuple[object, ...], tuple[object, ...]]:
    return {
        (row["slice"], row["method"], row["metric"], row["region"]): tuple(
            row[name] for name in ("mean", "standard_error", "n", "place")
        )
        for row in rows
    }


@pytest.mark.long
def test_the_json_of_both_pages_is_the_same_cell_by_cell(run: Path) -> None:
    report = json.loads((run / "report" / "report.json").read_text())
    analysis = json.loads((run / "analysis" / "analysis.json").read_text())
    assert report["usual_regions"] == analysis["regions"]
    assert set(analysis["regions"].values()) == {"hole"}
    shown, of_report = cells(analysis["table_1"]), cells(report["summary"])
    assert len(shown) == len(analysis["table_1"]) > 0
    assert {key: of_report[key] for key in shown} == shown
    usual = {key for key in of_report if report["usual_regions"][key[2]] == key[3] and key[0] not in ("all items", UNEXPOSED)}
    assert set(shown) == usual


@pytest.mark.long
def test_both_pages_say_the_same_of_metrics_that_do_not_tell_a_method_from_the_floor(run: Path) -> None:
    report = json.loads((run / "report" / "report.json").read_text())
    analysis = json.loads((run / "analysis" / "analysis.json").read_text())
    told = {one["metric"] for one in report["floor_caution"] if one["region"] == "hole"}
    assert "psnr" not in told
    assert "flicker" in told
    assert sum("cannot be read alone" in note for note in analysis["notes"]) == len(told)


@pytest.mark.long
def test_another_region_is_an_option_and_every_head_names_it(benchmark: Path, run: Path, tmp_path: Path) -> None:
    dataset = benchmark / "exports" / "devil"
    place = (dataset, "--run", run, "--out", tmp_path / "a")
    assert run_here("eval", "report", "--for=analysis", *place, "--region", "frame").returncode == 0
    with (tmp_path / "a" / "table_1.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["region"] for row in rows} == {"frame"}
    report = json.loads((run / "report" / "report.json").read_text())
    [mean] = [
        row["mean"]
        for row in report["summary"]
        if (row["slice"], row["method"], row["metric"], row["region"]) == (rows[0]["slice"], "blank", "psnr", "frame")
    ]
    assert float(next(row["mean"] for row in rows if (row["method"], row["metric"]) == ("blank", "psnr"))) == mean
    assert all(REGION.search(row["measure"]) for row in rows)
    heads = re.findall(r"^\| Method \| (.*) \|$", (tmp_path / "a" / "table_1.md").read_text(), re.M)
    assert heads
    assert all(REGION.search(head) for line in heads for head in line.split(" | "))
    refused = run_here("eval", "report", "--for=analysis", *place, "--region", "hoel")
    assert refused.returncode == 2
    assert "unknown region with values: 'hoel', did you mean 'hole'" in refused.stderr


@pytest.mark.long
def test_axes_of_the_report_and_texts_of_rank_name_the_region(benchmark: Path, run: Path) -> None:
    page = (run / "report" / "report.html").read_text()
    drawn = json.loads(re.search(r'id="page-data">(.*?)</script>', page)[1])
    titles = [words for quantity in drawn["titles"].values() for words in quantity.values()]
    assert titles
    assert all(REGION.search(title) for title in titles)
    ranked = run_here("eval", "table", "--for=ranks", benchmark / "exports" / "devil", "--run", run, "--region", "hole")
    assert "psnr in the hole ↑" in ranked.stdout


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("devil/corrected", {"psnr": "hole", "pcons": "hole", "lpips": "frame"}),
        ("devil/as-published", {"psnr": "frame", "pcons": "hole", "lpips": "frame"}),
        # The given mask differs from what is missing.
        ("devil/mask_error", {"psnr": "object", "ssim": "object", "pcons": "hole", "lpips": "frame"}),
        ("devil/imperfect", {"psnr": "object", "ssim": "object", "pcons": "hole", "lpips": "frame"}),
        ("removal/paired", {"psnr": "object", "ssim": "object", "pcons": "hole", "lpips": "frame"}),
    ],
)
def test_the_usual_region_is_that_of_the_protocol(protocol: str, expected: dict[str, str]) -> None:
    check_usual_region(protocol, expected)


def check_usual_region(protocol: str, expected: dict[str, str]) -> None:
    regions = {"psnr": ("hole", "band", "object", "frame"), "ssim": ("hole", "object", "frame"), "pcons": ("hole", "frame")}
    measured = [Quantity(name, region) for name in expected.keys() - {"lpips"} for region in regions[name]]
    measured = [one for one in measured if one.region != "object" or "object" in PROTOCOLS.get(protocol).regions]
    found = usual_quantities([*measured, Quantity("lpips", "frame")], PROTOCOLS.get(protocol))
    assert {one.metric: one.region for one in found} == expected


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_the_primary_quantity_is_in_the_usual_region_of_its_metric(protocol: str) -> None:
    followed = PROTOCOLS.get(protocol)
    measured = [Quantity(metric, region) for metric in followed.metrics for region in followed.regions]
    assert Quantity(*followed.primary) in usual_quantities(measured, followed)
