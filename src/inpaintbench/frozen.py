"""Read a frozen dataset: its manifest, and the pixels of its items. All that scoring needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.errors import InputError, MaskShapeError, VerifyError
from inpaintbench.sharing import Shared
from inpaintbench.types import Dataset, Frames, Hole, Plain, Slice
from inpaintbench.view import ItemView, composite, composite_in_place

MANIFEST = "dataset.json"
FORMAT_VERSION = 2
UNLOADABLE = ("[", "]", "*", "?", "::")
"""In a path, `datasets` takes these for patterns and finds nothing."""


def load(folder: Path | str) -> Dataset:
    """The manifest of a frozen dataset.

    Raises:
        InputError: no manifest there.
        VerifyError: the manifest is damaged or of another format.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise InputError(f"{str(folder)!r} is not a frozen dataset (no {MANIFEST})")
    try:
        fields: dict[str, Any] = json.loads(path.read_text())
        if fields["format_version"] != FORMAT_VERSION:
            raise VerifyError(f"{path.name} has format {fields['format_version']}, this program reads {FORMAT_VERSION}")
        fields["slices"] = tuple(Slice(part["name"], part["rule"], tuple(part["item_ids"])) for part in fields["slices"])
        fields["items"] = tuple(fields["items"])
        return Dataset(**fields)
    except (ValueError, KeyError, TypeError) as error:
        raise VerifyError(f"{str(path)!r} is damaged: {error}") from error


def has_hole(row: Plain) -> bool:
    """Whether some pixels of the item are missing, rather than all degraded."""
    return bool(row.get("hole_file_name"))


def input_view(root: Path | str, row: Plain, *, oracle_mask: bool = False) -> ItemView:
    """What a method may see of an item: the corrupted input, and the hole where the benchmark gives it.

    The truth is not there to be asked for.

    Args:
        root: folder of the dataset.
        row: the item's row of the manifest.
        oracle_mask: show the hole of a benchmark that hides it.
    """
    hole = _once(lambda: _hole(root, row))
    parts: dict[str, Callable[[], Any]] = {"input": lambda: corrupted(root, row, hole)}
    if has_hole(row) and (row["hole_is_given"] or oracle_mask):
        parts["hole"] = hole
    return _view(row, parts)


def corrupted(root: Path | str, row: Plain, hole: Callable[[], Hole]) -> Frames:
    """The input of an item: the stored one, or its truth with the hole filled."""
    if row.get("input_file_name"):
        return video.read_frames(_path(root, row, "input"))
    return filled(video.read_frames(_path(root, row, "truth")), hole(), fill=row["fill"])


def scoring_views(
    root: Path | str, row: Plain, *, predictions: Sequence[Callable[[], Frames]], shared: Shared | None = None
) -> list[ItemView]:
    """What a metric may see of an item: truth, hole, composite and prediction, one view for each prediction.

    Truth and hole are decoded once for all of them. The composite takes the place of the decoded prediction in memory; a
    metric that wants what lies outside the hole makes it be decoded again.
    """
    hole = _once(lambda: _hole(root, row))
    truth = _once(lambda: video.read_frames(_path(root, row, "truth")))
    shared = shared or Shared()
    return [_view(row, _scored_parts(truth, hole, one), shared=shared) for one in predictions]


def _scored_parts(
    truth: Callable[[], Frames], hole: Callable[[], Hole], prediction: Callable[[], Frames]
) -> dict[str, Callable[[], Any]]:
    return {
        "truth": truth, "hole": hole, "prediction": prediction,
        "composite": lambda: composite_in_place(truth(), hole(), prediction()),
    }  # fmt: skip


def truth_and_hole(root: Path | str, row: Plain) -> tuple[Frames, Hole]:
    """Both decoded, for whoever may see the truth."""
    return video.read_frames(_path(root, row, "truth")), _hole(root, row)


def filled(truth: Frames, hole: Hole, *, fill: int) -> Frames:
    """``truth`` with every hole pixel at level ``fill``: nothing of the truth is left to find there."""
    return composite(truth, hole, np.full_like(truth, fill))


def _view(row: Plain, parts: dict[str, Callable[[], Any]], *, shared: Shared | None = None) -> ItemView:
    return ItemView(
        item_id=row["item_id"], frames=row["frames"], height=row["height"], width=row["width"], fps=row["fps"], parts=parts,
        shared=shared,
    )  # fmt: skip


def _path(root: Path | str, row: Plain, part: str) -> Path:
    return Path(root) / str(row[f"{part}_file_name"])


def _hole(root: Path | str, row: Plain) -> Hole:
    """The stored hole; all of it where the input is degraded everywhere, so that there is none to store."""
    if not has_hole(row):
        return np.ones((row["frames"], row["height"], row["width"]), dtype=np.bool_)
    hole = video.read_hole(_path(root, row, "hole"))
    if hole.shape != (row["frames"], row["height"], row["width"]):
        clip = (row["frames"], row["height"], row["width"])
        raise MaskShapeError(f"hole {hole.shape} of item {row['item_id']} != clip {clip}")
    return hole


def _once(make: Callable[[], Any]) -> Callable[[], Any]:
    made: list[Any] = []
    making = threading.Lock()  # parts are decoded side by side

    def get() -> Any:
        with making:
            if not made:
                made.append(make())
        return made[0]

    return get
