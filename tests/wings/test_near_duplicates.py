"""Recipes of wings draw a film and its copies once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.recipes.test_near_duplicates import FILMS, check_drawing, films, films_with_copies

from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import leakage
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Clip
from inpaintbench.wings.chalearn import decaption
from inpaintbench.wings.reinpaint import recipe as reinpaint
from inpaintbench.workspace import Workspace

__all__ = ["films_with_copies"]
DRAWING: dict[str, tuple[Any, int]] = {
    "decaption": (decaption.DecaptionRecipe(side=64, clip_frames=48, covered_share=1), FILMS),
    "decaption as published": (
        decaption.DecaptionRecipe(side=64, clip_frames=48, covered_share=1, behaviour="as-published"), 3 * FILMS
    ),
    "reinpaint": (
        reinpaint.ReinpaintRecipe(size=64, clip_frames=40, area_edges=(0.1, 0.3), second_masks=0), FILMS
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWING)
def test_what_draws_takes_a_film_once_and_what_people_gave_stays(
    name: str, films_with_copies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_drawing(*DRAWING[name], films_with_copies, tmp_path, capsys)


def test_difficulties_of_a_film_and_its_copies_are_drawn_as_of_one(films_with_copies: Path, tmp_path: Path) -> None:
    recipe, _ = DRAWING["decaption"]
    workspace = Workspace(tmp_path / "workspace")
    source = SourceSpec("folder", {"folder": str(films_with_copies / "films")})
    with LocalExecutor(workspace, workers=0) as executor:
        decaption.curate(recipe, [source], executor, workspace)
        leakage.group(workspace, executor=executor)
    clips = workspace.table("clips", Clip)
    turns = dict(zip(clips, decaption.turns_of(recipe, workspace, clips), strict=True))
    of = films(workspace)
    assert len(clips) == 3 * FILMS
    assert len({(of[clip.clip_id], turn) for clip, turn in turns.items()}) == FILMS
