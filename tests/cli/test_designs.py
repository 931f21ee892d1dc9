"""Which design `build devil` takes where nobody asks for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program import run_here
from skimage import data

from inpaintbench import frozen, video
from inpaintbench.eval.protocols import usual
from inpaintbench.recipes.settings import recall
from inpaintbench.workspace import Workspace


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    for place, picture in enumerate((data.coffee(), data.chelsea(), data.astronaut())):
        frames = np.stack([picture[60:156, 5 + place * t : 165 + place * t] for t in range(45)])
        video.write_lossless(folder / f"film {place}.mp4", frames, fps=25.0)
    return folder


def build(films: Path, out: Path, *more: str) -> Any:
    """The recipe of what `build devil` makes of the films."""
    done = run_here("build", "devil", "--sources", films, "--out", out, "--size", "160x96", "--per-slice", *more)
    assert done.returncode == 0, done.stderr
    dataset = frozen.load(out / "exports" / "devil")
    assert not dataset.left_out.keys() & {part.name for part in dataset.slices if len(part.item_ids)}
    assert [one["name"] for one in dataset.facts["protocols"] if one["usual"]] == [usual(dataset)]
    return dataset.recipe


@pytest.mark.long
def test_what_is_built_anew_is_paired_and_what_is_gone_on_with_keeps_its_design(films: Path, tmp_path: Path) -> None:
    assert build(films, tmp_path / "new", "1")["design"] == "paired"
    assert build(films, tmp_path / "new", "2", "--append")["design"] == "paired"
    assert "design" not in build(films, tmp_path / "old", "1", "--design", "slices")
    assert "design" not in build(films, tmp_path / "old", "2", "--append")
    assert "design" not in build(films, tmp_path / "old", "2", "--replace")
    assert "design" not in build(films, tmp_path / "published", "1", "--behaviour", "as-published")
    assert "design" not in build(films, tmp_path / "spoilt", "1", "--imperfect", "hull")
    # Clips alone are of no design yet.
    assert run_here("curation", "clips", "--sources", films, "--out", tmp_path / "cut", "--size", "160x96").returncode == 0
    assert build(films, tmp_path / "cut", "1")["design"] == "paired"


@pytest.mark.long
def test_what_grows_keeps_its_axes_and_may_get_more(films: Path, tmp_path: Path) -> None:
    chosen = ("--axis", "size", "--axis", "hole_duration", "--masks-per-clip", "2")
    assert build(films, tmp_path / "new", "1", *chosen)["axes"] == ["size", "hole_duration"]
    kept = build(films, tmp_path / "new", "2", "--append")
    assert (kept["design"], kept["axes"], kept["masks_per_clip"]) == ("paired", ["size", "hole_duration"], 2)
    more = build(films, tmp_path / "new", "2", "--append", "--axis", "whole_frames")
    assert more["axes"] == ["size", "hole_duration", "whole_frames"]
    # The staged way, in a workspace of other footage.
    cut = run_here("curation", "clips", "--sources", films, "--out", tmp_path / "other", "--size", "160x96", "--per-slice", "3")
    assert cut.returncode == 0, cut.stderr
    assert run_here("curation", "select", tmp_path / "other").returncode == 0
    paired = run_here("masks", "pair", tmp_path / "other", "--append-to", tmp_path / "new" / "exports" / "devil")
    assert paired.returncode == 0, paired.stderr
    assert recall(Workspace(tmp_path / "other")).axes == ("size", "hole_duration", "whole_frames")


def test_designs_that_do_not_go_together_are_one_sentence(films: Path, tmp_path: Path) -> None:
    asked = ("build", "devil", "--sources", films, "--out", tmp_path / "none", "--axis", "size", "--design", "slices")
    done = run_here(*asked)
    told = done.stderr
    assert done.returncode != 0
    assert "--design paired" in told
    assert "Traceback" not in told
    assert not (tmp_path / "none").exists()
