"""Studies from file to rows through the command line, with raters at a real server."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from annotate_load import Browser, Result, Served, rate, run_in_thread
from footage import contents
from ports import free_port
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.study import load
from inpaintbench.cli import app
from inpaintbench.types import Answer, Attribute, Clip, Score
from inpaintbench.workspace import Workspace


def run(*words: object, status: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == status, (done.output, done.exception)
    return done.output


def answered(study: Path, names: list[str]) -> None:
    """All raters answer whatever they are given."""
    links = [line.split("/join/")[1] for line in run("annotate", "invite", study, *names).splitlines()]
    server = Served(study, free_port())
    server.start()
    try:
        result = Result()

        async def everybody() -> None:
            browsers = [Browser([server.port], link) for link in links]
            await asyncio.gather(*(rate(one, result, wanted=1000, seed=place, moves=False) for place, one in enumerate(browsers)))

        run_in_thread(everybody())
    finally:
        server.stop()
    assert result.acknowledged
    # Nobody watched anything: what came faster than its clip lasts counts all the same.
    with Journal(study / "journal.sqlite") as journal:
        desk = Desk(load(study), journal)
        for exclusion in desk.exclusions():
            desk.include(exclusion.rater_id, submission_id=exclusion.submission, reason="programs answer here")


@pytest.fixture
def workspace_copy(benchmark: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(benchmark, tmp_path / "workspace"))


@pytest.mark.long
def test_labels_of_raters_become_slices_of_the_next_export(benchmark: Path, workspace_copy: Path, tmp_path: Path) -> None:
    run("annotate", "new", "devil_labels", "--out", tmp_path / "study.toml")
    text = (tmp_path / "study.toml").read_text().replace('"WORKSPACE"', f'"{workspace_copy}"')
    (tmp_path / "study.toml").write_text(text)
    assert len(tomllib.loads(text)["questions"]) == 3
    study = tmp_path / "study"
    run("annotate", "prepare", tmp_path / "study.toml", "--out", study, "--workers", "0")
    answered(study, ["one", "two", "three"])
    assert "open" not in run("annotate", "status", study)
    assert "scene_motion" in run("annotate", "agreement", study)
    page = Path(run("annotate", "report", study, "--out", tmp_path / "report").strip())
    assert "<svg" in page.read_text()
    changed = text.replace('leaf = "camera_motion"', 'leaf = "camera_motion"\nname = "camera"')
    (tmp_path / "changed.toml").write_text(changed)
    done = CliRunner().invoke(app, ["annotate", "prepare", str(tmp_path / "changed.toml"), "--out", str(study)])
    assert "answers" in str(done.exception)
    run("annotate", "resolve", study, "--least-agreement", "0")
    workspace = Workspace(workspace_copy, create=False)
    clips = {clip.clip_id for clip in workspace.table("clips", Clip)}
    kept = [row for row in workspace.table("answers", Answer) if row.question == "keep_reject"]
    assert {row.subject_id for row in kept} == clips
    shares = {
        row.subject_id: row.value
        for row in workspace.table("attributes", Attribute)
        if row.name == "bg_scene_motion" and row.producer == "annotate"
    }
    assert set(shares) == clips
    sources = benchmark.parent / "sources"
    size = frozen.load(workspace_copy / "exports" / "devil").items[0]
    command = ["build", "devil", "--sources", sources, "--out", workspace_copy, "--per-slice", "2", "--workers", "0"]
    run(*command, "--replace", "--size", f"{size['width']}x{size['height']}")
    dataset = frozen.load(workspace_copy / "exports" / "devil")
    clip_of = {row["item_id"]: row["clip_id"] for row in dataset.items}
    levels = {part.name: [shares[clip_of[item]] for item in part.item_ids] for part in dataset.slices}
    known = sorted(value for value in shares.values() if value is not None)
    assert known[0] == levels["bg_scene_motion-low"][0] < levels["bg_scene_motion-high"][0] == known[-1]
    agreed = {row["question"]: row for row in dataset.facts["raters"]}
    assert agreed["keep_reject"]["clips"] == len(clips)
    assert any("alpha" in row for row in agreed.values())
    card = (workspace_copy / "exports" / "devil" / "README.md").read_text().partition("\n## How it was made")[0]
    assert "keep_reject" in card.replace("\\_", "_")


QUESTIONS = """
title = "Which one"
[subjects]
dataset = "dataset"
runs = ["run"]
most = 3
[[questions]]
leaf = "pairwise"
name = "quality"
constants = { both_bad = true }
raters_per_task = 2
[[questions]]
leaf = "pairwise"
name = "steadiness"
raters_per_task = 2
[[questions]]
leaf = "best_of"
raters_per_task = 2
[[questions]]
leaf = "mean_opinion"
raters_per_task = 2
"""


@pytest.mark.long
def test_predictions_are_judged_with_a_dataset_and_a_run_alone(dataset: Path, tmp_path: Path) -> None:
    dataset.rename(tmp_path / "dataset")
    command = [
        sys.executable,
        "-m",
        "inpaintbench",
        "eval",
        "run",
        "--for=predictions",
        "dataset",
        "--run",
        "run",
        "--workers",
        "1",
    ]
    for method in ("blank", "telea", "navier_stokes"):
        subprocess.run([*command, "--method", method], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "study.toml").write_text(QUESTIONS)
    study = tmp_path / "study"
    run("annotate", "prepare", tmp_path / "study.toml", "--out", study, "--workers", "0")
    answered(study, ["one", "two"])
    ranked = run("annotate", "ranking", study)
    assert all(word in ranked for word in ("quality", "steadiness", "best_of", "mean_opinion", "telea", "win ratio"))
    for suffix in ("csv", "jsonl", "parquet"):
        run("annotate", "export", study, "--out", tmp_path / f"judgements.{suffix}")
    assert "0 judgements stored" in run("annotate", "import", study, tmp_path / "judgements.jsonl")
    run("annotate", "report", study)
    assert (study / "report" / "study.html").is_file()
    before = contents(study / "proxies")
    run("annotate", "prepare", tmp_path / "study.toml", "--out", study, "--workers", "0")
    assert contents(study / "proxies") == before
    run("annotate", "resolve", study)
    scores = [row for row in Workspace(tmp_path / "run").table("scores", Score) if row.metric == "human_preference"]
    assert {row.protocol for row in scores} == {
        f"annotate/{name}" for name in ("quality", "steadiness", "best_of", "mean_opinion")
    }
    assert all(0 <= row.value <= 1 for row in scores if row.value is not None and row.protocol != "annotate/mean_opinion")
    assert all(1 <= row.value <= 5 for row in scores if row.protocol == "annotate/mean_opinion")
    run("annotate", "backup", study, "--out", tmp_path / "backup.sqlite")
    assert "empty" in str(CliRunner().invoke(app, ["annotate", "restore", str(tmp_path / "backup.sqlite"), str(study)]).exception)
    (study / "journal.sqlite").unlink()
    for left in study.glob("journal.sqlite-*"):
        left.unlink()
    run("annotate", "restore", tmp_path / "backup.sqlite", study)
    assert run("annotate", "ranking", study) == ranked


def test_before_a_study_the_planner_says_how_many_votes(tmp_path: Path) -> None:
    told = run("annotate", "plan", "--methods", "3", "--difference", "0.15", "--sources", "20")
    assert "raters_per_task" in told
    wrong = ("annotate", "new", "devil_label", "--out", str(tmp_path / "x.toml"))
    assert "did you mean 'devil_labels'" in str(CliRunner().invoke(app, list(wrong)).exception)
    assert "editboard" in run("annotate", "studies")
