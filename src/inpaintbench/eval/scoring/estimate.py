"""Time that scoring will take: one item, scored with a grey hole as the prediction, before there is a method."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from inpaintbench import frozen, video
from inpaintbench.compute import Compute
from inpaintbench.errors import InpaintBenchError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.scoring.precision import numbers
from inpaintbench.types import Dataset

# Frames of the item that are scored: the rest takes as long a frame.
FRAMES = 24
# Items times frames times pixels up to which scoring is short enough to need no estimate.
SMALL = 500_000_000


@dataclass(frozen=True)
class Estimate:
    """Time of one item under the usual protocol of a dataset."""

    protocol: str
    seconds: float
    """Of one worker, for the metrics that need no network."""
    networks: tuple[str, ...]
    """Metrics that need one; their time depends on the device."""


def estimate(dataset: Dataset, root: Path) -> Estimate | None:
    """Score the beginning of the first item of ``dataset`` in the folder ``root``.

    None where the dataset is small, where its protocol measures nothing without a network, or where an item has no hole.
    """
    if not dataset.items:
        return None
    first = dataset.items[0]
    if len(dataset.items) * first["frames"] * first["height"] * first["width"] <= SMALL:
        return None
    protocol = PROTOCOLS.get(usual(dataset))
    networks = tuple(name for name in protocol.metrics if protocol.weights_of([name]))
    metrics = [name for name in protocol.metrics if name not in networks]
    row = dict(dataset.items[0])
    truth, hole = row.get("truth_file_name"), row.get("hole_file_name")
    if not (metrics and truth and hole) or protocol.scorer:
        return None
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        prediction, short, open_part = (Path(folder, name) for name in ("prediction.mkv", "truth.mkv", "hole.mp4"))
        try:
            frames, inside = frozen.truth_and_hole(root, row)
            frames, inside = frames[:FRAMES], inside[:FRAMES]
            share = len(frames) / row["frames"]
            video.write_lossless(short, frames, fps=row["fps"])
            video.write_hole(open_part, inside, fps=row["fps"])
            video.write_lossless(prediction, np.where(inside[..., None], np.uint8(128), frames), fps=row["fps"])
            row |= {"frames": len(frames), "truth_file_name": str(short), "hole_file_name": str(open_part)}
            single = replace(dataset, items=(row,), slices=())
            begun = time.monotonic()
            numbers(
                Path(folder, "run"), single, root=root, predictions=[({**row, "full_frames": True}, prediction)],
                protocol=protocol.name, metrics=metrics, compute=Compute(),
            )  # fmt: skip
        except InpaintBenchError:
            return None
        return Estimate(protocol.name, (time.monotonic() - begun) / share, networks)
