"""Documents tell of thin rows what they tell of whole ones, whatever wing a recipe is of."""

from __future__ import annotations

from pathlib import Path

import pytest
from built import built
from tests.export.test_gathering import check_documents

from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.humans import HumansRecipe
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe


@pytest.mark.long
def test_documents_of_other_recipes_too(tmp_path: Path) -> None:
    people = SourceSpec("drawn_people", {"count": 4})
    check_documents(built(tmp_path / "humans", HumansRecipe(), people)[1])
    check_documents(built(tmp_path / "reinpaint", ReinpaintRecipe(second_masks=2), people)[1])
