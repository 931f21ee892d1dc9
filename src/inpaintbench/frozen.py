"""Reader of frozen datasets: the manifest and the pixels of its items."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.compute import Shared
from inpaintbench.errors import MaskShapeError, MissingPartError
from inpaintbench.lazily import lazily
from inpaintbench.manifest import EARLIER as EARLIER
from inpaintbench.manifest import MANIFEST as MANIFEST
from inpaintbench.manifest import Rows
from inpaintbench.manifest import content_of as content_of
from inpaintbench.manifest import dataset_id as dataset_id
from inpaintbench.manifest import load as load
from inpaintbench.manifest import version_of as version_of
from inpaintbench.types import UNPAIRED, Dataset, Frames, Hole, Joint, Plain, Prompts
from inpaintbench.view import ItemView, composite, composite_in_place

pc = lazily("pyarrow.compute")

# Attribute of the items of one film, person or finger: they are in one split, and one source.
GROUP = "split_group"
# In a path, `datasets` takes these for patterns and finds nothing.
UNLOADABLE = ("[", "]", "*", "?", "::")


def has_hole(row: Plain) -> bool:
    """True if some pixels of the item are missing; False where all of them are degraded, or the hole is held back."""
    return bool(row.get("hole_file_name"))


def has_truth(row: Plain) -> bool:
    """True if the truth lies in this dataset; a held-back truth lies in a dataset of its own."""
    return bool(row.get("truth_file_name"))


def is_unpaired(row: Plain) -> bool:
    """True if nobody has the truth: the clip is the input, and metrics do without."""
    return bool(row.get("generator") == UNPAIRED)


def is_held_back(row: Plain) -> bool:
    """True if the item cannot be scored here, because its truth lies in another dataset."""
    return not has_truth(row) and not is_unpaired(row)


def is_edit(row: Plain) -> bool:
    """True if the task is an edit: the input is the truth, and prompts describe the result."""
    return row.get("target_prompt") is not None


def source_of(row: Plain) -> str:
    """Source of an item: the film, person or finger that its benchmark never splits, else the file.

    Whatever counts sources, or clusters by them, takes this one.
    """
    group = row.get("attributes", {}).get(GROUP)
    return str(row["source_id"] if group is None else group)


def sources_of(dataset: Dataset) -> dict[str, str]:
    """Item id -> ``source_of``, of all items in their order."""
    if not isinstance(dataset.items, Rows):
        return {row["item_id"]: source_of(row) for row in dataset.items}
    found: dict[str, str] = {}
    once: dict[str, str] = {}
    for batch in dataset.items.batches(("item_id", "source_id", "attributes")):
        sources = batch["source_id"].to_pylist()
        for place in np.flatnonzero(pc.match_substring(batch["attributes"], f'"{GROUP}"')).tolist():
            sources[place] = source_of(
                {"source_id": sources[place], "attributes": json.loads(batch["attributes"][place].as_py())}
            )
        found.update(zip(batch["item_id"].to_pylist(), (once.setdefault(source, source) for source in sources), strict=True))
    return found


def input_view(root: Path | str, row: Plain, *, oracle_mask: bool = False) -> ItemView:
    """View of an item for a method: the input, the hole where the benchmark gives it, an edit's prompts and object mask.

    The view has no truth; the input of an edit is the truth. The exact mask of an object that is to be removed stays with the
    scoring: the hole is what a method is told.

    Args:
        root: folder of the dataset.
        row: the item's row of the manifest.
        oracle_mask: show the hole of a benchmark that hides it.
    """
    hole = _cached(lambda: hole_of(root, row))
    parts: dict[str, Callable[[], Any]] = {"input": lambda: corrupted(root, row, hole)}
    if has_hole(row) and (row["hole_is_given"] or oracle_mask):
        parts["hole"] = hole
    return _view(row, parts | _edit_parts(root, row))


def corrupted(root: Path | str, row: Plain, hole: Callable[[], Hole], *, truth: Callable[[], Frames] | None = None) -> Frames:
    """Input of an item, ``uint8[T, H, W, 3]``: the stored frames, or the truth with the hole filled.

    The truth is decoded where it is needed and ``truth`` does not give it.
    """
    if row.get("input_file_name"):
        return video.read_frames(_path(root, row, "input"))
    frames = video.read_frames(_path(root, row, "truth")) if truth is None else truth()
    return filled(frames, hole(), fill=row["fill"])


def scoring_views(
    root: Path | str,
    row: Plain,
    *,
    predictions: Sequence[Callable[[], Frames]],
    shared: Shared | None = None,
    known_from: str = "truth",
) -> list[ItemView]:
    """Views of an item for metrics, one for each prediction: input, truth, hole, composite, prediction, joints of people, prompts
    of an edit, masks of an object and of its effects.

    Input, truth and masks are decoded once for all views. The composite is written over the decoded prediction; a metric that
    reads ``prediction`` has it decoded again. An item without a truth has none in its view.

    Args:
        root: folder of the dataset.
        row: the item's row of the manifest.
        predictions: each decodes one.
        shared: cache of all views of the item.
        known_from: part of the view that a composite has its known pixels from, ``truth`` or ``input``.
    """
    hole = _cached(lambda: hole_of(root, row))
    truth = _cached(lambda: video.read_frames(_path(root, row, "truth")))
    given = _cached(lambda: corrupted(root, row, hole, truth=truth))
    shared = shared or Shared()
    parts = {"hole": hole, "input": given} | ({} if is_unpaired(row) else {"truth": truth}) | _edit_parts(root, row)
    parts |= _masks(root, row, ("object_mask", "effect_mask"))
    if joints := row.get("attributes", {}).get("joints"):
        parts["joints"] = lambda: tuple(Joint(**joint) for joint in joints)
    known = given if known_from == "input" or is_unpaired(row) else truth
    return [_view(row, parts | _predicted_parts(known, hole, prediction), shared=shared) for prediction in predictions]


def _predicted_parts(
    known: Callable[[], Frames], hole: Callable[[], Hole], prediction: Callable[[], Frames]
) -> dict[str, Callable[[], Any]]:
    return {"prediction": prediction, "composite": lambda: composite_in_place(known(), hole(), prediction())}


def _edit_parts(root: Path | str, row: Plain) -> dict[str, Callable[[], Any]]:
    """Parts of an edit besides its frames: prompts and object mask, where the item has them; nothing of other items."""
    if not is_edit(row):
        return {}
    prompts = Prompts(row["source_prompt"], row["target_prompt"])
    return {"prompts": lambda: prompts} | _masks(root, row, ("object_mask",))


def _masks(root: Path | str, row: Plain, names: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """The masks of ``names`` that the item has."""
    return {name: _cached(partial(_mask, root, row, name)) for name in names if row.get(f"{name}_file_name")}


def truth_and_hole(root: Path | str, row: Plain) -> tuple[Frames, Hole]:
    """Truth and hole, decoded.

    Raises:
        MissingPartError: the truth is held back.
    """
    return video.read_frames(_path(root, row, "truth")), hole_of(root, row)


def filled(truth: Frames, hole: Hole, *, fill: int) -> Frames:
    """Copy of ``truth`` with every hole pixel at level ``fill`` (0..255)."""
    level = np.full(truth.shape[1:], fill, np.uint8)
    return composite(truth, hole, [level] * len(truth))


def _view(row: Plain, parts: dict[str, Callable[[], Any]], *, shared: Shared | None = None) -> ItemView:
    return ItemView(
        item_id=row["item_id"], frames=row["frames"], height=row["height"], width=row["width"], fps=row["fps"], parts=parts,
        shared=shared,
    )  # fmt: skip


def _path(root: Path | str, row: Plain, part: str) -> Path:
    if not (name := row.get(f"{part}_file_name")):
        raise MissingPartError(f"item {row['item_id']} of this dataset comes without its {part.replace('_', ' ')}")
    return Path(root) / str(name)


def hole_of(root: Path | str, row: Plain) -> Hole:
    """Stored hole, ``bool[T, H, W]``; all True where none is stored (degraded everywhere, or held back)."""
    if not has_hole(row):
        return np.ones((row["frames"], row["height"], row["width"]), dtype=np.bool_)
    return _mask(root, row, "hole")


def _mask(root: Path | str, row: Plain, part: str) -> Hole:
    mask = video.read_hole(_path(root, row, part))
    if mask.shape != (clip := (row["frames"], row["height"], row["width"])):
        raise MaskShapeError(f"{part.replace('_', ' ')} {mask.shape} of item {row['item_id']} != clip {clip}")
    return mask


def _cached(load: Callable[[], Any]) -> Callable[[], Any]:
    cache: list[Any] = []
    lock = threading.Lock()  # parts are decoded side by side

    def get() -> Any:
        with lock:
            if not cache:
                cache.append(load())
        return cache[0]

    return get
