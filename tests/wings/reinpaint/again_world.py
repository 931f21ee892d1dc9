"""A small benchmark of re-inpainting, and a run folder with predictions."""

from __future__ import annotations

import shutil
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from built import built

from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset, Prediction
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.wings.reinpaint.step import First
from inpaintbench.workspace import Workspace

RECIPE = ReinpaintRecipe(
    size=64, preset="medium-256", patch_pixels=8, second_masks=3, pictures=3, area_edges=(0.0, 0.2, 0.4), seed=3
)
METHODS = ("telea", "blank")


class World(NamedTuple):
    """A frozen dataset and a run folder with predictions of ``METHODS``."""

    root: Path
    dataset: Dataset
    run: Path

    def firsts(self) -> list[First]:
        """What the run folder holds."""
        tables = Workspace(self.run)
        return [First.of_method(name, tables.table("predictions", Prediction, step=f"predict.{name}")) for name in METHODS]

    def copied(self, folder: Path) -> World:
        """With a run folder of its own."""
        return self._replace(run=Path(shutil.copytree(self.run, folder / "run")))


@lru_cache(maxsize=1)
def built_once(folder: Path) -> World:
    """Built below the temporary folder of this test run, for whichever file asks first; treat it as read-only."""
    _, root, dataset = built(folder / "workspace", RECIPE, SourceSpec("embedded_photographs", {}), workers=0)
    with LocalExecutor(Workspace(folder / "run"), workers=0) as executor:
        for name in METHODS:
            predict(executor, dataset, root=root, method=MethodSpec(name, name))
    return World(root, dataset, folder / "run")
