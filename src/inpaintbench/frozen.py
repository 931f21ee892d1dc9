"""Reader of frozen datasets: the manifest and the pixels of its items."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench import video
from inpaintbench.compute import Shared
from inpaintbench.errors import Gone, InputError, MaskShapeError, MissingPartError, VerifyError, reason_of
from inpaintbench.files import file_sha256, measured_sha256, write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.manifest import EARLIER as EARLIER
from inpaintbench.manifest import MANIFEST as MANIFEST
from inpaintbench.manifest import SHOWN as SHOWN
from inpaintbench.manifest import Files, Rows, inside, mapping_of, table_names
from inpaintbench.manifest import content_of as content_of
from inpaintbench.manifest import dataset_id as dataset_id
from inpaintbench.manifest import load as load
from inpaintbench.manifest import version_of as version_of
from inpaintbench.mirrors import stands_for
from inpaintbench.storage import Address, cache_folder, fetch, is_there, locked, read
from inpaintbench.tables import flat, last_places
from inpaintbench.types import TOLD, UNPAIRED, Attribute, Dataset, Frames, Hole, Joint, Plain, Prompts
from inpaintbench.view import ItemView, composite, composite_in_place
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

# Attribute of the items of one film, person or finger: they are in one split, and one source.
GROUP = "split_group"
# The largest share of ``SHOWN`` that is left out of account. Copying 5 %, spread evenly, takes 5 % off a mean squared error:
# 0.2 dB of PSNR, less than what one expects between two methods. Beyond it, copying pays more than inpainting.
MOST_SHOWN = 0.05
# Bytes of a decoded truth beyond which it is not kept for the next item: 90 frames of 1280x720 are 237 MiB.
KEPT_BYTES = 256 << 20
_DECODING = threading.Lock()
# Below the address of a dataset, the folder of its files by their SHA-256; files that are brought or sent at once.
OBJECTS, _AT_ONCE = "objects", 6
# In a path, `datasets` takes these for patterns and finds nothing.
UNLOADABLE = ("[", "]", "*", "?", "::")
_WAY_OUT = "`inpaintbench export verify` lists all that is wrong; then export it again, or fetch it with `export fetch`"


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
    """True if the task is an edit: the input is the truth, and a prompt or an instruction says what is to come of it."""
    return row.get("target_prompt") is not None or row.get("instruction") is not None


def asked_of_edit(row: Plain) -> str | None:
    """Words of the wished result of an edit, or the instruction where there are none; None for items that are no edits."""
    words = row.get("target_prompt") or row.get("instruction")
    return None if words is None else str(words)


def source_of(row: Plain) -> str:
    """Source of an item: the film, person or finger that its benchmark never splits, else the file.

    Whatever counts sources, or clusters by them, takes this one.
    """
    group = row.get("attributes", {}).get(GROUP)
    return str(row["source_id"] if group is None else group)


def sources_of_clips(workspace: Workspace, clips: pa.Table, *, step: str | None = None) -> pa.Array:
    """``string[n]``: ``source_of`` the items of n clips of a workspace: the clip's group, else its file's group, else the file.

    Args:
        workspace: with attributes.
        clips: their ``clip_id`` and ``source_id``.
        step: whose attributes name groups; None = all.
    """
    rows = workspace.columns("attributes", Attribute, step=step, where=("name", [GROUP]))
    subjects, sources = flat(rows["subject_id"]), flat(clips["source_id"])
    places = last_places(subjects, flat(clips["clip_id"]))
    places = np.where(places >= 0, places, last_places(subjects, sources))
    return pc.coalesce(flat(rows["value_text"]).take(pa.array(places, mask=places < 0)), sources)


def sources_of(dataset: Dataset) -> dict[str, str]:
    """Item id -> ``source_of``, of all items in their order."""
    if not isinstance(dataset.items, Rows):
        return {row["item_id"]: source_of(row) for row in dataset.items}
    found: dict[str, str] = {}
    once: dict[str, str] = {}
    for batch in dataset.items.batches(("item_id", "source_id", "attributes")):
        sources = batch["source_id"].to_pylist()
        for place in np.flatnonzero(pc.match_substring(batch["attributes"], f'"{GROUP}"')).tolist():
            attributes = mapping_of(batch["attributes"][place].as_py())
            sources[place] = source_of({"source_id": sources[place], "attributes": attributes})
        found.update(zip(batch["item_id"].to_pylist(), (once.setdefault(source, source) for source in sources), strict=True))
    return found


def footage_of(values: Callable[[str], Sequence[Any]]) -> npt.NDArray[np.int64]:
    """``int64[n]``: a number for each item, the same for those that show the same frames: of one clip, of spans of one source
    that overlap, or with equal truths.

    Args:
        values: gives a column of all items by its name; None where an item has none.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    def coded(name: str) -> npt.NDArray[np.int64]:
        codes = pa.array(values(name), pa.string()).dictionary_encode().indices
        return np.asarray(pc.fill_null(codes, -1).to_numpy(zero_copy_only=False), np.int64)

    def counted(name: str) -> npt.NDArray[np.float64]:
        return np.array([np.nan if value is None else value for value in values(name)], np.float64)

    sources, start, end, rate = coded("source_id"), counted("start_frame"), counted("end_frame"), counted("fps")
    start, end = (
        np.round(1e6 * frames / np.where(rate > 0, rate, 1)) for frames in (start, end)
    )  # frames of one source may be retimed
    known = np.flatnonzero((sources >= 0) & np.isfinite(start) & np.isfinite(end))
    spans = np.full(len(sources), -1, np.int64)
    if len(known):
        # One after the other on a common line, those of each source behind all of the one before.
        offset = sources[known] * (int(end[known].max()) + 1)
        begins, ends = start[known].astype(np.int64) + offset, end[known].astype(np.int64) + offset
        order = np.argsort(begins, kind="stable")
        apart = begins[order][1:] >= np.maximum.accumulate(ends[order])[:-1]
        spans[known[order]] = np.cumsum([0, *apart])
    items, nodes, first = np.arange(len(sources)), [], len(sources)
    for codes in (spans, coded("clip_id"), coded("truth_rgb_sha256")):
        there = np.flatnonzero(codes >= 0)
        nodes.append((items[there], first + codes[there]))
        first += int(codes.max(initial=-1)) + 1
    ends_of = tuple(np.concatenate(ends) for ends in zip(*nodes, strict=True))
    joined = coo_array((np.ones(len(ends_of[0]), np.bool_), ends_of), shape=(first, first))
    numbers: npt.NDArray[np.int64] = connected_components(joined, directed=False)[1][: len(sources)].astype(np.int64)
    return numbers


class Exposed(NamedTuple):
    """How much of what items hide the inputs of others show."""

    known: int
    """Items of which that is known."""
    above: int
    """Those of more than ``MOST_SHOWN``."""
    mean: float
    """Of the shares that are known, 0..1."""


def exposed(shares: Iterable[tuple[float | None, int]]) -> Exposed:
    """Sum up shares of ``SHOWN``, each with the number of items that have it; of datasets that do not say nothing is known."""
    known = [(share, count) for share, count in shares if share is not None]
    items = sum(count for _, count in known)
    above = sum(count for share, count in known if share > MOST_SHOWN)
    return Exposed(items, above, round(sum(share * count for share, count in known) / items, 4) if items else 0.0)


def input_view(root: Path | str, row: Plain, *, oracle_mask: bool = False) -> ItemView:
    """View of an item for a method: input, the hole where the benchmark gives it, prompts and object mask of an edit, captions.

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
    return _view(row, parts | _told_parts(root, row))


def corrupted(root: Path | str, row: Plain, hole: Callable[[], Hole], *, truth: Callable[[], Frames] | None = None) -> Frames:
    """Input of an item, ``uint8[T, H, W, 3]``: the stored frames, or the truth with the hole filled.

    The truth is decoded where it is needed and ``truth`` does not give it.
    """
    if row.get("input_file_name"):
        return video.read_frames(proved(root, row, "input").path)
    frames = truth_of(root, row) if truth is None else truth()
    return filled(frames, hole(), fill=row["fill"])


def scoring_views(
    root: Path | str,
    row: Plain,
    *,
    predictions: Sequence[Callable[[], Frames]],
    shared: Shared | None = None,
    known_from: str = "truth",
    object_is_hole: bool = False,
) -> list[ItemView]:
    """Views of an item for metrics, one for each prediction: input, truth, hole, composite, prediction, joints of people, prompts
    of an edit or captions, masks of an object and of its effects.

    Input, truth and masks are decoded once for all views. The composite is written over the decoded prediction; a metric that
    reads ``prediction`` has it decoded again. An item without a truth has none in its view.

    Args:
        root: folder of the dataset.
        row: the item's row of the manifest.
        predictions: each decodes one.
        shared: cache of all views of the item.
        known_from: part of the view that a composite has its known pixels from, ``truth`` or ``input``.
        object_is_hole: the hole of an item without an object mask is its object, too.
    """
    hole = _cached(lambda: hole_of(root, row))
    truth = _cached(lambda: truth_of(root, row))
    given = _cached(lambda: corrupted(root, row, hole, truth=truth))
    shared = shared or Shared()
    parts = {"hole": hole, "input": given} | ({} if is_unpaired(row) else {"truth": truth}) | _told_parts(root, row)
    parts |= ({"object_mask": hole} if object_is_hole else {}) | _masks(root, row, ("object_mask", "effect_mask"))
    about = {**row.get("attributes", {}), **row.get("generator_parameters", {}).get("questions", {})}
    if told := {name: about[name] for name in TOLD if about.get(name)}:
        asked = parts["prompts"]() if "prompts" in parts else Prompts(None, "")
        parts["prompts"] = lambda: asked._replace(more=told)
    if joints := row.get("attributes", {}).get("joints"):
        parts["joints"] = lambda: tuple(Joint(**joint) for joint in joints)
    known = given if known_from == "input" or is_unpaired(row) else truth
    views = []
    for prediction in predictions:
        composite = partial(lambda prediction: composite_in_place(known(), hole(), prediction()), prediction)
        views.append(_view(row, parts | {"prediction": prediction, "composite": composite}, shared=shared))
    return views


def _told_parts(root: Path | str, row: Plain) -> dict[str, Callable[[], Any]]:
    """Parts besides the frames, where the item has them: prompts and object mask of an edit, of other items what people say."""
    if not is_edit(row):
        told = row.get("attributes", {})
        captions = Prompts(None, told.get("caption", ""), hole=told.get("caption_hole"))
        return {"prompts": lambda: captions} if captions.target else {}
    prompts = Prompts(row["source_prompt"], row["target_prompt"] or "", row.get("instruction"))
    return {"prompts": lambda: prompts} | _masks(root, row, ("object_mask",))


def _masks(root: Path | str, row: Plain, names: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """The masks of ``names`` that the item has."""
    return {name: _cached(partial(mask_of, root, row, name)) for name in names if row.get(f"{name}_file_name")}


def truth_of(root: Path | str, row: Plain) -> Frames:
    """Decoded truth, ``uint8[T, H, W, 3]``, not to be written to: items of one clip that come one after the other share it.

    Raises:
        MissingPartError: the truth is held back.
    """
    found = proved(root, row, "truth")
    if 3 * row["frames"] * row["height"] * row["width"] > KEPT_BYTES:
        return video.read_frames(found.path)
    with _DECODING:  # who reads ahead for the next item of the clip waits for it
        return _decoded(found)


@lru_cache(maxsize=1)
def _decoded(found: Proved) -> Frames:
    frames = video.read_frames(found.path)
    frames.flags.writeable = False
    return frames


def truth_and_hole(root: Path | str, row: Plain) -> tuple[Frames, Hole]:
    """Truth and hole, decoded.

    Raises:
        MissingPartError: the truth is held back.
    """
    return video.read_frames(proved(root, row, "truth").path), hole_of(root, row)


def filled(truth: Frames, hole: Hole, *, fill: int) -> Frames:
    """Copy of ``truth`` with every hole pixel at level ``fill`` (0..255)."""
    level = np.full(truth.shape[1:], fill, np.uint8)
    return composite(truth, hole, [level] * len(truth))


def _view(row: Plain, parts: dict[str, Callable[[], Any]], *, shared: Shared | None = None) -> ItemView:
    return ItemView(
        item_id=row["item_id"], frames=row["frames"], height=row["height"], width=row["width"], fps=row["fps"], parts=parts,
        shared=shared,
    )  # fmt: skip


def at_address(address: Address) -> Path:
    """A folder of this machine with the frozen dataset at an address: brought whole, once, every file by its hash, the root last.

    There each file lies in ``objects`` under its SHA-256, as ``export push --to`` writes them, or under its own name.

    Raises:
        InputError: no frozen dataset is there, or it may not be read. NetworkError: for now; the next call goes on.
        VerifyError: it differs from its manifest.
    """
    try:
        text = read(address / MANIFEST)
    except Gone as error:
        way_out = "`inpaintbench export push DATASET --to ADDRESS` brings one there"
        raise InputError(f"{str(address)!r} is not a frozen dataset ({error}); {way_out}") from None
    folder = cache_folder() / "datasets" / hashlib.sha256(str(address).encode() + b"\0" + text).hexdigest()[:32]
    beside = folder.with_name(f".{folder.name}.fetching")
    with locked(folder.with_name(f"{folder.name}.lock")):
        if (folder / MANIFEST).is_file():
            if _is_whole(folder):
                stands_for(folder, address)
                return folder
            shutil.rmtree(beside, ignore_errors=True)
            folder.rename(beside)  # what still has its hash is not brought again
        for part in beside.rglob(".*.part"):  # of a call that was killed
            part.unlink()
        write_atomically(beside / MANIFEST, text)
        try:
            tables = json.loads(text).get("tables", {}) if table_names(text) else {}
            first = next(iter(tables.values()), None) or next(iter(load(beside).files.values()), None)
        except VerifyError as error:
            raise VerifyError(f"{str(address)!r}: {str(error).replace(f'{beside}/', '')}") from None
        by_content = is_there(address / OBJECTS / str(first))

        def bring(name: str, sha256: str) -> None:
            path = inside(beside, name)
            if path.is_file() and file_sha256(path) == sha256:
                return
            try:
                fetch(address / OBJECTS / sha256 if by_content else address / name, path)
            except Gone as error:
                raise VerifyError(f"{str(address)!r} lacks {name}, which its manifest names") from error
            if file_sha256(path) != sha256:
                path.unlink()
                raise VerifyError(f"{name} of {str(address)!r} differs from the SHA-256 in its manifest; nothing was kept of it")

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(bring, tables, tables.values()))
            files = load(beside).files
            list(pool.map(bring, files, files.values()))
        beside.rename(folder)
    stands_for(folder, address)
    return folder


def _is_whole(folder: Path) -> bool:
    """Whether all files are there with the sizes in the manifest; others are left where a machine lost its power, for one."""
    try:
        files = load(folder).files
        sizes = files.sizes() if isinstance(files, Files) else ((name, None) for name in files)
        return all((path := folder / name).is_file() and size in (None, path.stat().st_size) for name, size in sizes)
    except VerifyError:
        return False


class Proved(NamedTuple):
    """A media file whose bytes are those that the dataset's manifest names."""

    path: Path
    sha256: str
    """As it was measured, hexadecimal."""


def proved(root: Path | str, row: Plain, part: str) -> Proved:
    """A media file of an item, to be decoded, copied or shown: whatever reads one, takes it from here.

    A process reads each file for it once, and again when the file was written: about 3 ms for each MB, much less than decoding.

    Args:
        root: folder of the dataset.
        row: the item's row of the manifest.
        part: ``truth``, ``hole``, ``input``, ``alpha``, ``object_mask`` or ``effect_mask``. An item without an input of its own
            has that of its truth and hole.

    Raises:
        MissingPartError: the item has no such file.
        VerifyError: the file is missing, not what the manifest says, or lies elsewhere. A worker that lets it pass makes the item
            fail by name; the next run tries it again.
    """
    if not (name := row.get(f"{part}_file_name")):
        raise MissingPartError(f"item {row['item_id']} of this dataset comes without its {part.replace('_', ' ')}")
    return proved_file(root, str(name), of=f"{part.replace('_', ' ')} of item {row['item_id']}, ")


def proved_file(root: Path | str, name: str, *, of: str = "") -> Proved:
    """``proved`` of a file by its name in the dataset; ``of`` begins the sentence of its errors."""
    path = Path(root) / name
    try:
        if Path(name).is_absolute():  # a cut that this program made: no row of a dataset can name such a file
            return Proved(path, measured_sha256(path))
        found, manifest = measured_sha256(inside(root, name)), inside(root, MANIFEST)
        # There is none while the dataset is made, which is when the hashes of its files are measured first.
        wanted = _hashes(str(root), measured_sha256(manifest)).get(name) if manifest.exists() else found
    except OSError as error:
        what = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {reason_of(error)}"
        raise VerifyError(f"{of}{name} of {str(root)!r} {what}; {_WAY_OUT}") from error
    if found != wanted:
        raise VerifyError(f"{of}{name} of {str(root)!r} differs from the manifest; {_WAY_OUT}")
    return Proved(path, found)


@lru_cache(maxsize=8)
def _hashes(root: str, manifest_sha256: str) -> Mapping[str, str]:  # noqa: ARG001 - what lies in a folder may change
    return load(root).files


def hole_of(root: Path | str, row: Plain) -> Hole:
    """Stored hole, ``bool[T, H, W]``; all True where none is stored (degraded everywhere, or held back)."""
    if not has_hole(row):
        return np.ones((row["frames"], row["height"], row["width"]), dtype=np.bool_)
    return mask_of(root, row, "hole")


def mask_of(root: Path | str, row: Plain, part: str) -> Hole:
    """A stored mask, ``bool[T, H, W]``: the ``hole``, the ``object_mask`` or the ``effect_mask`` of an item that has it."""
    mask = video.read_hole(proved(root, row, part).path)
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
