"""What `--json` prints: JSON alone, with the numbers that tables show."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from footage import write_sources
from program import run_here

from inpaintbench.cli.console import print_json
from inpaintbench.eval.metrics import METRICS
from inpaintbench.models.weights import known


def asked(*words: str | Path) -> Any:
    done = run_here(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_not_finite_is_null_and_names_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    @dataclasses.dataclass
    class Row:
        path: Path
        values: tuple[float | None, ...]

    print_json({"rows": [Row(Path("a/ä"), (1.5, math.inf, math.nan, None))], 3: {"b", "a"}, "yes": True})
    said = capsys.readouterr().out
    rows = [{"path": "a/ä", "values": [1.5, None, None, None]}]
    assert json.loads(said) == {"rows": rows, "3": ["a", "b"], "yes": True}
    assert "ä" in said


def test_catalogues() -> None:
    assert [row["name"] for row in asked("models", "list")] == list(known())
    found = asked("eval", "list")
    assert [row["name"] for row in found["metrics"]] == list(METRICS)
    (psnr,) = (row for row in found["metrics"] if row["name"] == "psnr")
    assert (psnr["unit"], psnr["better"]) == ("dB", "higher")
    assert all(row["metrics"] and row["fingerprint"] for row in found["protocols"])


def test_a_workspace(tmp_path: Path) -> None:
    sources, out = write_sources(tmp_path / "sources", count=2), tmp_path / "w"
    (sources / "broken.mp4").write_bytes(b"no film")
    made = run_here("curation", "clips", "--sources", sources, "--out", out, "--size", "64x48", "--workers", "0")
    assert made.returncode == 0, made.stderr
    (refused,) = asked("curation", "rejected", out)
    assert (refused["step"], refused["status"]) == ("probe", "refused")
    trail = asked("curation", "why", out, "pan 1.mp4")
    assert (trail["clip"]["start_frame"], trail["clip"]["width"]) == (0, 64)
    assert trail["source"]["uri"].endswith("pan%201.mp4")
    assert [row["step"] for row in asked("curation", "why", out, "broken.mp4")["refused"]] == ["probe"]
    funnel = asked("curation", "funnel", out)
    assert Path(funnel["page"]).is_file()
    assert {row["name"]: row["count"] for row in funnel["stages"]}["cut into clips"] == 2


def test_errors_are_words_on_standard_error_with_json_too(tmp_path: Path) -> None:
    done = run_here("curation", "rejected", tmp_path / "none", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("is not a workspace (no workspace.json)\n")
