"""A benchmark of re-inpainting is scored by its own protocol: D(F1) stands in the report of `eval run --report`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from program import run_here
from tests.wings.leaderboard.made import card
from tests.wings.reinpaint.again_world import World, built_once

from inpaintbench import frozen
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.types import Score
from inpaintbench.workspace import Workspace

D = {f"reinpaint_{name}" for name in ("psnr", "ssim")}


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> World:
    return built_once(tmp_path_factory.getbasetemp() / "again").copied(tmp_path)


def check_report(run: Path, *, items: int, methods: set[str]) -> None:
    report = json.loads((run / "report" / "report.json").read_text())
    assert report["protocol"] == "reinpaint/corrected"
    means = {(row["metric"], row["method"]): row for row in report["summary"] if row["slice"] == "all items"}
    for metric in D:
        for method in methods:
            assert means[metric, method]["mean"] is not None
            assert means[metric, method]["n"] + means[metric, method]["n_infinite"] == items
    page = (run / "report" / "report.html").read_text()
    assert "inpainted again by <code>navier_stokes</code>" in page
    assert "favours methods that resemble" in page


def test_one_command_goes_from_the_dataset_to_a_report_with_d(world: World, tmp_path: Path) -> None:
    run = tmp_path / "new"
    done = run_here("eval", "run", world.root, "--run", run, "--method", "telea", "--report", "--workers", "0")
    assert done.returncode == 0, done.stderr
    items = len(world.dataset.items)
    assert f"telea and the truth are inpainted again by navier_stokes: {2 * items * 3} second results" in done.stderr
    assert "D with PSNR of the frame (higher is better); F2 navier_stokes, K 3, P 40%, S 8" in done.stdout
    check_report(run, items=items, methods={"telea"})


def test_the_second_method_and_k_are_options_of_the_run(world: World, tmp_path: Path) -> None:
    run = tmp_path / "new"
    words = ("eval", "run", world.root, "--run", run, "--method", "telea", "--workers", "0")
    done = run_here(*words, "--report", "--second", "telea,radius_pixels=5", "--second-masks", "1")
    assert done.returncode == 0, done.stderr
    assert "F2 telea radius_pixels=5, K 1" in done.stdout
    for options in (("--second", "telea"), ("--second-masks", "2")):
        refused = run_here(*words, *options)
        assert refused.returncode == 2
        assert "for --report of a benchmark of re-inpainting" in refused.stderr


def test_score_report_analysis_and_rank_take_the_protocol_of_the_benchmark(world: World) -> None:
    place = (world.root, "--run", world.run)
    scored = run_here("eval", "run", "--for=scores", *place, "--metric", "psnr", "--workers", "0")
    assert scored.returncode == 0, scored.stderr
    rows = Workspace(world.run).table("scores", Score)
    assert {row.protocol for row in rows} == {"reinpaint/corrected"}
    assert {"psnr", "reinpaint_psnr"} <= {row.metric for row in rows}
    for words in (("report", *place), ("analysis", *place), ("rank", *place)):
        done = run_here("eval", *words)
        assert done.returncode == 0, done.stderr
    refused = run_here("eval", "run", "--for=scores", *place, "--precision", "bf16")
    assert refused.returncode == 2
    assert "runs its networks in fp32" in refused.stderr


def test_the_leaderboard_takes_scores_of_the_usual_setting(world: World, tmp_path: Path) -> None:
    assert (
        run_here("eval", "run", "--for=scores", world.root, "--run", world.run, "--metric", "ssim", "--workers", "0").returncode
        == 0
    )
    described, folder = tmp_path / "card.toml", tmp_path / "submissions"
    described.write_bytes(card())
    folder.mkdir()
    words = (world.root, "--run", world.run, "--card", described, "--method", "telea", "--out", folder / "telea.zip")
    submitted = run_here("eval", "submit", *words)
    assert submitted.returncode == 0, submitted.stderr
    made = run_here("eval", "leaderboard", world.root, folder, "--out", tmp_path / "site")
    assert made.returncode == 0, made.stderr
    assert "left out" not in made.stdout


def test_every_recipe_has_its_own_protocol_and_pictures_without_second_masks_that_of_holes(world: World) -> None:
    assert usual(world.dataset) == "reinpaint/corrected"
    without = {**world.dataset.recipe, "second_masks": 0}
    assert usual(replace(world.dataset, recipe=without)) == "devil/corrected"
    for recipe, protocol in {
        "devil": "devil/corrected", "humans": "humans/corrected", "decaption": "decaption/corrected",
        "fingerprint": "fingerprint/corrected", "editing": "editboard/corrected",
    }.items():  # fmt: skip
        assert usual(replace(world.dataset, recipe={"recipe": recipe})) == protocol
        assert protocol in PROTOCOLS


@pytest.mark.long
def test_the_demo_of_the_benchmark_goes_to_a_report_with_d(tmp_path: Path) -> None:
    built = run_here("build", "reinpaint", "--demo", "--out", tmp_path / "w")
    assert built.returncode == 0, built.stderr
    root, run = tmp_path / "w" / "exports" / "reinpaint", tmp_path / "run"
    methods = ("--method", "telea", "--method", "blank")
    done = run_here("eval", "run", root, "--run", run, *methods, "--report")
    assert done.returncode == 0, done.stderr
    assert "self-consistency" in done.stdout + done.stderr
    check_report(run, items=len(frozen.load(root).items), methods={"telea", "blank"})
