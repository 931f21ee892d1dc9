"""Short pieces of a few items, scored by themselves: how far networks' numbers in a lower precision are off float32, and how long
scoring will take before there is a method."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen, video
from inpaintbench.compute import Compute
from inpaintbench.errors import InpaintBenchError, MediaError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Plain, Prediction
from inpaintbench.workspace import Blobs, Workspace

# Items that are measured again.
ITEMS = 2
# Frames of each, from its first: two windows of ten frames.
FRAMES = 11
# Of the number in float32, or of the length of its vector: what a format of fewer digits may be off, in any metric, to be taken
# by itself. TF32 keeps 10 bits of a product's factors, so that a network's number is off by about 0.0005 of itself; bfloat16
# keeps 7. Scores are printed to 3 digits.
BOUND = 1e-3
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """Largest difference of a metric's numbers from those in float32."""

    metric: str
    largest: float
    """In units of the metric; of vectors, the length of the difference."""
    relative: float | None
    """Largest share of the number in float32, or of the length of its vector; None where that is 0 and the other is not, and
    where all are 0, as of a copy of the truth: that tells nothing."""
    items: int
    of_vectors: bool
    """The metric compares sets of vectors, and these are the vectors."""


def differences(near: Mapping[str, Sequence[Numbers]], exact: Mapping[str, Sequence[Numbers]]) -> list[Difference]:
    """The largest difference for each metric in ``exact`` that has numbers in both.

    Args:
        near: metric -> one array for each item, as ``numbers`` gives them.
        exact: alike in float32.
    """
    found = []
    for name, arrays in exact.items():
        if not arrays or len(near[name]) != len(arrays):
            continue
        fast, float32 = np.concatenate(near[name]), np.concatenate(arrays)
        with np.errstate(invalid="ignore", divide="ignore"):  # equal infinities, and shares of nothing
            apart = np.linalg.norm(np.where(fast == float32, 0.0, fast - float32), axis=1)
            share = float(np.where(apart == 0, 0.0, apart / np.linalg.norm(float32, axis=1)).max())
        relative = share if np.isfinite(share) and float32.any() else None
        found.append(Difference(name, float(apart.max()), relative, len(arrays), float32.shape[1] > 1))
    return found


def close_enough(differences: Sequence[Difference]) -> bool:
    """Return whether a format is taken where nobody chose: networks were run, and no metric is off by ``BOUND`` or more."""
    return bool(differences) and all(row.relative is not None and row.relative < BOUND for row in differences)


def from_float32(
    dataset: Dataset,
    *,
    root: Path | str,
    predictions: Sequence[Prediction],
    blobs: Blobs,
    protocol: str,
    metrics: Sequence[str] | None,
    compute: Compute,
    folder: Path,
) -> list[Difference]:
    """The differences of ``compute`` from float32, on the first ``FRAMES`` frames of the first ``ITEMS`` predictions of a method.

    Args:
        dataset: the frozen dataset.
        root: its folder.
        predictions: of one method.
        blobs: where they lie; nothing is written there.
        protocol: name of the protocol.
        metrics: some of the protocol's, all by default; of them those that run networks are measured.
        compute: how networks were run.
        folder: an empty one for files in the making.

    Returns:
        One for each metric that has numbers; nothing where no prediction can be read or no network is run.
    """
    chosen = PROTOCOLS.get(protocol)
    names = [metric.name for metric in chosen.build_metrics(metrics) if chosen.weights_of([metric.name])]
    pieces, made = _pieces(dataset, Path(root).resolve(), predictions, blobs, folder) if names else (dataset, [])
    if not made:
        return []
    values = [
        numbers(folder / way.precision, pieces, root=folder, predictions=made, protocol=protocol, metrics=names, compute=way)
        for way in (compute, replace(compute, precision="fp32"))
    ]
    return differences(*values)


def numbers(
    folder: Path,
    dataset: Dataset,
    *,
    root: Path,
    predictions: Sequence[tuple[Plain, Path]],
    protocol: str,
    metrics: Sequence[str],
    compute: Compute,
) -> dict[str, list[Numbers]]:
    """Metric -> an array for each item that it has numbers of: its values ``[regions, 1]``, or its vectors ``[n, d]``.

    Args:
        folder: a run folder to be made; nobody else's.
        dataset: what is scored, in this process.
        root: the folder of its files.
        predictions: for each item its row and a file.
        protocol: name of the protocol.
        metrics: some of its metrics.
        compute: how networks are run.
    """
    workspace = Workspace(folder)
    given = [
        Prediction("", "", row["item_id"], workspace.blobs.put(path.suffix, partial(shutil.copyfile, path))[0],
                   bool(row.get("full_frames")), 0)
        for row, path in predictions
    ]  # fmt: skip
    with LocalExecutor(workspace, workers=0) as executor:
        scored = score(
            executor, dataset, root=root, methods=[Predicted("one", given)], protocol=protocol, metrics=metrics, compute=compute
        )
    found: dict[str, dict[str, list[Numbers]]] = {name: {} for name in metrics}
    for row in scored["one"].records:
        if row.value is not None or row.features is not None:
            values = [[row.value]] if row.features is None else np.load(workspace.blobs.proved(row.features), allow_pickle=False)
            found[row.metric].setdefault(row.item_id, []).append(np.asarray(values, np.float64))
    return {name: [np.concatenate(parts) for parts in of_item.values()] for name, of_item in found.items()}


def _pieces(
    dataset: Dataset, root: Path, predictions: Sequence[Prediction], blobs: Blobs, folder: Path
) -> tuple[Dataset, list[tuple[Plain, Path]]]:
    """The beginnings of the first items whose predictions can be read, as a dataset in ``folder``, with a file for each."""
    prediction_of = {row.item_id: row for row in predictions}
    rows: list[Plain] = []
    files: list[tuple[Plain, Path]] = []
    for row in dataset.items:
        prediction = prediction_of.get(row["item_id"])
        if prediction is None or len(rows) == ITEMS:
            continue
        place = folder / f"item-{len(rows)}"
        place.mkdir(parents=True)
        try:
            piece, file = _piece(row, root, blobs.proved(prediction.blob), place)
        except MediaError:
            continue
        rows.append(piece)
        files.append(({**piece, "full_frames": prediction.full_frames}, file))
    return replace(dataset, items=tuple(rows), slices=()), files


def _piece(row: Plain, root: Path, prediction: Path, folder: Path) -> tuple[Plain, Path]:
    names = {part: frozen.proved_file(root, row[part]).path for part in row if part.endswith("_file_name") and row[part]}
    if row["frames"] <= FRAMES:
        return {**row, **{part: str(path) for part, path in names.items()}}, prediction
    for part, path in names.items():
        is_mask = part in ("hole_file_name", "object_mask_file_name", "effect_mask_file_name")
        names[part] = folder / (part.removesuffix("_file_name") + (".mp4" if is_mask else ".mkv"))
        if is_mask:
            video.write_hole(names[part], video.read_hole(path)[:FRAMES], fps=row["fps"])
        else:
            video.write_lossless(names[part], video.read_frames(path)[:FRAMES], fps=row["fps"])
    file = folder / "prediction.mkv"
    video.write_lossless(file, video.read_frames(prediction)[:FRAMES], fps=row["fps"])
    return {**row, "frames": FRAMES, **{part: str(path) for part, path in names.items()}}, file


# Frames of the item that are scored: the rest takes as long a frame.
TIMED_FRAMES = 24
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
            frames, inside = frames[:TIMED_FRAMES], inside[:TIMED_FRAMES]
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
