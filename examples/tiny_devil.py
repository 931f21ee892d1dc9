"""A whole benchmark, top to bottom: embedded footage to an HTML report. Run it: python examples/tiny_devil.py FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import write_report
from inpaintbench.eval.report.media import PredictionMedia
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.workspace import Workspace


def main(folder: Path) -> Path:
    workspace = Workspace(folder)
    recipe = devil.DevilRecipe(width=208, height=120, per_slice=2)
    source = SourceSpec("embedded", {"count": 8, "width": 208, "height": 120})
    protocol = PROTOCOLS.get("devil/corrected")
    with LocalExecutor(workspace, workers=2) as executor:
        root, dataset = devil.build(recipe, source, executor, workspace)
        predictions, scores = [], []
        for name in ("telea", "temporal_median"):
            made = predict(executor, dataset, root=root, method=MethodSpec(name, name)).records
            predictions += made
            scores += score(
                executor, dataset, root=root, method=name, predictions=made, failures={}, protocol=protocol.name
            ).records
    media = PredictionMedia(root, dataset, workspace.blobs, predictions)
    title = "A tiny DEVIL-style benchmark"
    return write_report(folder / "report", title=title, dataset=dataset, scores=scores, protocol=protocol, media=media).page


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
