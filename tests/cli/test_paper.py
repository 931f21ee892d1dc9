"""`eval paper` and the proof of its archive, on a real benchmark with real runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from methods_run import PROTOCOL, run_methods
from program import run_here
from tests.eval.paper.test_costs import CALLABLE

from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.frozen import load


def printed(*words: object) -> str:
    done = run_here(*map(str, words))
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.long
def test_a_paper_is_proved_where_neither_dataset_nor_run_is(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, out = tmp_path / "run", tmp_path / "paper"
    (tmp_path / "counted_networks.py").write_text(CALLABLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    workspace = run_methods(dataset, run)
    network = MethodSpec("telea", "python_callable", {"address": "counted_networks:Network"})
    with LocalExecutor(workspace, workers=0) as executor:
        predict(executor, load(dataset), root=dataset, method=network)
    printed("eval", "run", "--for=scores", dataset, "--run", run, "--protocol", PROTOCOL, "--metric", "psnr", "--workers", "0")
    asked = ("eval", "paper", dataset, "--run", run, "--protocol", PROTOCOL, "--out", out)
    told = printed(*asked, "--metric", "psnr", "--style", "neurips")
    assert "runs telea on" in told
    assert (" 84 & " in (out / "cost.tex").read_text()) == (
        "torch" in json.loads((out / "environment.json").read_text())["versions"]
    )
    assert (out / "frames.pdf").stat().st_size > 5000
    first = (out / "table1.tex").read_text()
    assert r"\textbf" not in first, "the benchmark has fewer than six sources"
    for line in printed("eval", "table", dataset, "--run", run, "--protocol", PROTOCOL, "--metric", "psnr").splitlines():
        name, *cells = line.split(" & ")
        if name in ("telea", "ns", "smooth"):
            assert f"{name} & {cells[0].split(' ')[0]}" in first
    assert "runs " not in printed(*asked, "--metric", "psnr", "--no-costs")
    assert "unknown region 'holes', did you mean 'hole'" in run_here(*asked, "--region", "holes", "--no-costs").stderr
    archive = shutil.copy(out / "paper.zip", tmp_path / "elsewhere.zip")
    for folder in (dataset, run, out):
        shutil.rmtree(folder)
    assert "3 tables made again from the scores byte for byte" in printed("eval", "verify", archive)


def test_what_is_asked_wrongly(tmp_path: Path) -> None:
    (tmp_path / "paper.zip").write_bytes(b"")
    done = run_here("eval", "verify", str(tmp_path / "paper.zip"), "--repair")
    assert "an archive of `eval paper` is proved alone" in done.stderr
    done = run_here("eval", "verify", str(tmp_path / "paper.zip"))
    assert "is no whole archive of `eval paper`" in done.stderr
    done = run_here("eval", "paper", str(tmp_path), "--run", str(tmp_path), "--out", str(tmp_path / "out"), "--style", "iclr")
    assert "unknown style 'iclr', choose from acm, cvpr, neurips" in done.stderr
