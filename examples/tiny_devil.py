"""A whole benchmark, top to bottom: embedded footage to an HTML report. Run it: python examples/tiny_devil.py FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path

import inpaintbench as ib
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.workspace import Workspace


def main(folder: Path) -> Path:
    workspace = Workspace(folder)
    recipe = devil.DevilRecipe(width=208, height=120, per_slice=2)
    source = SourceSpec("embedded", {"count": 8, "width": 208, "height": 120})
    with LocalExecutor(workspace, workers=2) as executor:
        root, _ = devil.build(recipe, source, executor, workspace)
    data = ib.load(root)
    for name in ("telea", "temporal_median"):
        run = data.run(name, folder=folder / "run")
    return ib.report(run).page


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
