"""`eval list`: a kind, a word, a dataset; readable at 80 columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from old_format import write_one_file
from program import run_here

from inpaintbench.cli import console
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.types import Dataset


def listed(*words: str | Path) -> dict[str, set[str]]:
    found = json.loads(run_here("eval", "list", *words, "--json").stdout)
    return {kind: {row["name"] for row in rows} for kind, rows in found.items()}


def write(folder: Path, **fields: Any) -> Path:
    row = {
        "item_id": "a", "split": "test", "clip_id": "c", "source_id": "s", "frames": 1, "width": 8, "height": 8, "fps": 1.0,
        "generator": "g", "generator_parameters": {}, "fill": 0, "attributes": {}, "hole_is_given": True,
        "truth_file_name": "truth/a.mp4",
    } | fields  # fmt: skip
    dataset = Dataset("D", {"recipe": "devil"}, (row,), (), {}, {}, {})
    folder.mkdir()
    write_one_file(folder, dataset)
    return folder


def test_a_kind_and_a_word() -> None:
    assert listed("methods") == {"methods": set(METHODS)}
    assert listed("metrics", "FLOW")["metrics"] == {"warp_error", "ff_alpha", "ff_beta"}
    assert listed("telea")["methods"] >= {"telea", "temporal_median"}
    assert "lama" in listed("protocols", "lama_f1")["protocols"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("metricz", "flow"), "unknown kind 'metricz', did you mean 'metrics'?"),
        (
            ("no such",),
            "nothing has 'no such' in its name or sentence; the kinds are methods, metrics, protocols",
        ),
    ],
)
def test_what_is_not_there_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    done = run_here("eval", "list", *words)
    assert (done.returncode, done.stderr) == (2, f"inpaintbench: {sentence}\n")


def test_a_dataset_leaves_what_applies_to_it(tmp_path: Path) -> None:
    holes = listed("--for", write(tmp_path / "holes", hole_file_name="hole/a.mp4"))
    assert "telea" in holes["methods"]
    assert set(METRICS) - holes["metrics"] >= {"success_rate"}
    assert "devil/corrected" in holes["protocols"]
    hidden = listed("--for", write(tmp_path / "hidden", hole_file_name="hole/a.mp4", hole_is_given=False))
    assert ("telea" in hidden["methods"], "median" in hidden["methods"]) == (False, True)
    edits = listed("--for", write(tmp_path / "edits", target_prompt="a fox", source_prompt=None))
    assert "success_rate" in edits["metrics"]


def test_no_line_is_wider_than_80_columns_nor_a_cell_narrower_than_40(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "width", 80)
    lines = run_here("eval", "list").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert min(len(line.split("│")[2]) for line in lines if line.startswith("│")) >= 40
