"""Reader of frozen datasets: the manifest and the pixels of its items."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.compute import Shared
from inpaintbench.errors import InputError, MaskShapeError, MissingPartError, VerifyError
from inpaintbench.types import UNPAIRED, Dataset, Frames, Hole, Joint, Plain, Prompts, Slice, content_id
from inpaintbench.view import ItemView, composite, composite_in_place

MANIFEST = "dataset.json"
OWN_HASH = "manifest_sha256"
FORMAT_VERSION = 3
# In a path, `datasets` takes these for patterns and finds nothing.
UNLOADABLE = ("[", "]", "*", "?", "::")


def manifest_bytes(dataset: Dataset) -> bytes:
    """Bytes of ``dataset.json``, which state their own SHA-256: that of the same text without the hash and without ``versions``.

    So a dataset that is rebuilt under other versions of packages keeps its hash.
    """
    fields = asdict(dataset)
    return _manifest_text(fields | {OWN_HASH: _sha256({name: inner for name, inner in fields.items() if name != "versions"})})


def matches_manifest(text: bytes, dataset: Dataset) -> bool:
    """True if ``text`` is a manifest of ``dataset`` that states its hash, which in older manifests covers ``versions``."""
    fields = asdict(dataset)
    return text in (manifest_bytes(dataset), _manifest_text(fields | {OWN_HASH: _sha256(fields)}))


def _sha256(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(_manifest_text(fields)).hexdigest()


def _manifest_text(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def load(folder: Path | str) -> Dataset:
    """Read the manifest of a frozen dataset.

    Raises:
        InputError: no manifest there.
        VerifyError: the manifest is damaged or of another format.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise InputError(f"{str(folder)!r} is not a frozen dataset (no {MANIFEST}){_workspace_hint(Path(folder))}")
    try:
        fields: dict[str, Any] = json.loads(path.read_text())
        if fields["format_version"] != FORMAT_VERSION:
            way_out = f"this program reads {FORMAT_VERSION}; export the dataset again"
            raise VerifyError(f"{path.name} has format {fields['format_version']}, {way_out}")
        fields["slices"] = tuple(Slice(part["name"], part["rule"], tuple(part["item_ids"])) for part in fields["slices"])
        fields["items"], fields["removed"] = tuple(fields["items"]), tuple(fields.get("removed", ()))
        fields.pop(OWN_HASH, None)
        dataset = Dataset(**fields)
        outside = next((name for name in _named_files(dataset) if not _is_inside(name)), None)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VerifyError(f"{str(path)!r} is damaged: {error}") from error
    if outside is not None:
        raise VerifyError(f"{str(path)!r} names a file {outside!r}, which cannot lie in a dataset")
    return dataset


def _workspace_hint(folder: Path) -> str:
    """Hint at the datasets of a workspace, for an error about the workspace's folder; empty where there are none."""
    datasets = sorted(str(manifest.parent) for manifest in folder.glob(f"exports/*/{MANIFEST}"))
    return f"; it is a workspace, and its dataset is {' or '.join(datasets)}" if datasets else ""


def _named_files(dataset: Dataset) -> Iterator[str]:
    yield from dataset.files
    for row in dataset.items:
        for column, value in row.items():
            if column.endswith("_file_name") and value is not None:
                yield str(value)
            elif column.endswith("_file_names"):
                yield from map(str, value or ())


def _is_inside(name: str) -> bool:
    """True if ``name`` is a path inside the dataset's folder; a stranger's manifest may name files elsewhere."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\0" not in name


def content_of(dataset: Dataset) -> str:
    """Hash of rows, slices and recipe, 16 hex digits: the identity of a dataset, whatever its folder is called."""
    slices = [asdict(part) for part in dataset.slices]
    return content_id(list(dataset.items), slices, dict(dataset.left_out), dict(dataset.recipe))


def dataset_id(dataset: Dataset) -> str:
    """Citable id of a dataset, ``NAME@VERSION+CONTENT``: its name, its publisher's version, 12 hex digits of ``content_of``."""
    return f"{dataset.name}@{dataset.version}+{content_of(dataset)[:12]}"


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
