"""The example of a package that adds a method, a metric and a protocol, as it is after `pip install`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from old_format import write_one_file
from scoring_probes import write_items

from inpaintbench import frozen
from inpaintbench.types import Score
from inpaintbench.workspace import Workspace

EXAMPLE = Path(__file__).parent.parent / "examples" / "outside_leaf"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an installer leaves: the module, and the entry points of its project file."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]:
        shutil.copy(EXAMPLE / name, folder)
    about = project["project"]
    info = folder / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in about["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
    return folder


def call(site: Path, *words: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "inpaintbench", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_a_method_and_a_metric_from_outside_predict_and_score(site: Path, tmp_path: Path) -> None:
    dataset = write_items(tmp_path / "data", count=2, frames=(2, 2))
    write_one_file(tmp_path / "data", dataset)
    place = (tmp_path / "data", "--run", tmp_path / "run")
    assert "mirror: 2 predictions, 0 failed" in call(
        site, "eval", "run", "--for=predictions", *place, "--method", "mirror", "--workers", 1
    )
    printed = call(site, "eval", "run", "--for=scores", *place, "--protocol", "outside", "--workers", 0)
    assert "2 items scored under outside, 0 without a value" in printed
    found = {(row.item_id, row.metric): row.value for row in Workspace(tmp_path / "run").table("scores", Score)}
    for row in dataset.items:
        truth, hole = frozen.truth_and_hole(tmp_path / "data", row)
        given = truth * ~hole[..., None]
        apart = (truth.astype(float) - given[:, :, ::-1])[hole]
        assert found[row["item_id"], "worst_pixel"] == np.abs(apart).max()
        assert found[row["item_id"], "mse"] == pytest.approx(np.mean(apart**2) / 255**2, rel=1e-6)


def test_the_example_is_short() -> None:
    """Twenty lines for the method and twenty for the metric with its protocol."""
    lines = [line for line in (EXAMPLE / "outside_leaf.py").read_text().splitlines() if line.strip()]
    assert len(lines) <= 40
