"""What a method gains that keeps inputs of a clip, run by `eval run`: `python bench/remembering.py DATASET [WORKERS]`.

DATASET is a frozen dataset with a hole an item, such as that of `inpaintbench demo`. Rows: mean PSNR in the hole of the method's
own fallback, of the method as it is, of the same method that says to keep nothing, and of one that keeps inputs on disk; and
what `eval run --for predictions` says of each.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.run_folder import BETWEEN, remembered
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.workspace import Workspace

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
METHODS = ("fallback", "remembering", "said", "on_disk")


def main(root: Path, workers: int) -> None:
    """Print a row for each method."""
    dataset = frozen.load(root)
    shares = frozen.exposed((row.get(frozen.SHOWN), 1) for row in dataset.items)
    print(f"{len(dataset.items)} items, {shares.above} of more than 5 % shown by others, {100 * shares.mean:.1f} % on average")
    with tempfile.TemporaryDirectory() as place:
        workspace = Workspace(Path(place) / "run")
        os.environ["REMEMBERED"] = place
        with LocalExecutor(workspace, workers=workers) as executor:
            for name in METHODS:
                spec = MethodSpec(name, "python_callable", {"address": f"remembering:{name}"})
                rows = predict(executor, dataset, root=root, method=spec).records
                values = []
                for prediction in rows:
                    row = next(row for row in dataset.items if row["item_id"] == prediction.item_id)
                    truth, hole = frozen.truth_and_hole(root, row)
                    made = video.read_frames(workspace.blobs.path(prediction.blob))
                    error = float(np.mean((made[hole].astype(np.float64) - truth[hole]) ** 2))
                    values.append((10 * np.log10(255**2 / max(error, 1e-6)), (row.get(frozen.SHOWN) or 0) > frozen.MOST_SHOWN))
                told = [f"{np.mean([value for value, shown in values if shown in of]):.2f} dB" for of in ((True, False), (True,))]
                words = remembered(workspace, BETWEEN)[name]
                print(f"| {name} | {len(values)} | {told[0]} | {told[1]} | {words} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
