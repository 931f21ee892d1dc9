"""Freeze items and slices into a folder that ``datasets.load_dataset`` reads and ``verify`` can prove.

    DATASET/
      README.md             card; its YAML names one config a slice
      <slice>.parquet       one row an item, in the root: ``datasets`` refuses ``..`` in media paths; with splits,
                            <slice>.<split>.parquet, and large ones in several files
      all.parquet           the same of all items
      truth/<clip>.mp4      shared by all slices; .png where clips are single pictures
      holes/<hole>.mp4      lossless grey, 255 = hole
      inputs/<input>.mp4    where the input is more than the truth with its hole filled, such as subtitles painted on it
      alphas/<alpha>.mp4    lossless grey, opacity of what was painted
      object_masks/<mask>.mp4   lossless grey, 255 = the object that an edit is about, or that is to be removed; the input of an
                            edit is its truth
      effect_masks/<mask>.mp4   lossless grey, 255 = what that object changes outside itself
      NOTICE, croissant.json    whose footage it is; the dataset for machines
      card/*.svg            pictures of the card
      manifest/*.parquet    members of the slices, SHA-256 of every file
      dataset.json          the root of the manifest: see ``inpaintbench.manifest``

``datasets`` caches local folders by name, so every config carries the hash of its content in its description: another
workspace with the same folder names, or a re-export in place, is another cache entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import inpaintbench
from inpaintbench.errors import InputError
from inpaintbench.export.documents import sealed
from inpaintbench.export.layout import (
    EDIT_COLUMNS,
    MEDIA,
    configs,
    filled_columns,
    media_names,
    row_files,
)
from inpaintbench.files import copy_file, file_sha256, replacing, write_atomically
from inpaintbench.frozen import UNLOADABLE
from inpaintbench.manifest import ALL, FORMAT_VERSION, MANIFEST, load
from inpaintbench.types import (
    EDIT,
    UNPAIRED,
    Attribute,
    Clip,
    Corruption,
    Dataset,
    Item,
    Plain,
    Slice,
    Source,
    stated,
)
from inpaintbench.workspace import Blobs

_VERSIONED = ("av", "datasets", "huggingface_hub", "numpy", "opencv-python-headless", "pillow", "pyarrow", "scikit-image")


def freeze(
    target: Path,
    *,
    name: str,
    blobs: Blobs,
    items: Sequence[Item],
    slices: Sequence[Slice],
    left_out: Mapping[str, str],
    sources: Sequence[Source],
    clips: Sequence[Clip],
    corruptions: Sequence[Corruption],
    attributes: Sequence[Attribute],
    recipe: Plain,
    fill: int = 0,
    hole_is_given: bool = True,
    about: str = "",
    version: str = "1.0.0",
    removed: Sequence[Plain] = (),
    facts: Plain | None = None,
    extra: Callable[[Sequence[Plain]], Iterable[tuple[str, bytes]]] | None = None,
) -> Dataset:
    """Write the dataset folder; an older one is replaced whole once the new one is complete.

    Args:
        target: the dataset folder.
        name: what the card calls the dataset.
        blobs: where clips and holes lie.
        items: every item of every slice, each once.
        slices: slices with at least one item.
        left_out: slices without items, with the reason.
        sources: at least those of the items' clips.
        clips: at least those of the items.
        corruptions: at least those of the items; those whose parent is an item's corruption go along as its second holes.
        attributes: facts about the above; they go into the rows.
        recipe: the resolved recipe.
        fill: level of the hole pixels in the input, 0..255, where no input is stored.
        hole_is_given: whether methods are told where the hole is.
        about: what the card says of the benchmark, in Markdown.
        version: of the dataset.
        removed: tombstones, ``item_id`` and ``reason`` each; none of ``items`` is among them.
        facts: what the card tells besides the rows, see ``Dataset.facts``.
        extra: further files, made from the rows, one after the other: path in the dataset and bytes.

    Raises:
        InputError: the path has a character that ``datasets`` takes for a pattern.
        WorkspaceError: not writable.
    """
    check_target(target)
    rows = _rows(items, blobs, sources=sources, clips=clips, corruptions=corruptions, attributes=attributes)
    rows = stated(rows)
    for row in rows:
        row |= {"fill": fill, "hole_is_given": hole_is_given}
    with replacing(target, what="export ") as folder:
        _copy_media(folder, rows, blobs, clips=clips, corruptions=corruptions)
        for path, data in extra(rows) if extra else ():
            (folder / path).parent.mkdir(exist_ok=True)
            write_atomically(folder / path, data)
        versions = {"inpaintbench": inpaintbench.__version__} | {package: installed_version(package) for package in _VERSIONED}
        dataset = Dataset(
            name=name, recipe=stated(recipe), items=tuple(rows), slices=tuple(slices), left_out=dict(left_out), files={},
            versions=versions, about=about, version=version, removed=tuple(removed), facts=stated(facts or {}),
        )  # fmt: skip
        seal(folder, dataset)
    return load(target)


def _in_order(dataset: Dataset) -> Dataset:
    """The dataset with its items by id.

    Raises:
        InputError: the slice ``all`` has not every item.
    """
    items = sorted(dataset.items, key=lambda row: str(row["item_id"]))
    whole = [part for part in dataset.slices if part.name == ALL]
    if whole and sorted(whole[0].item_ids) != [row["item_id"] for row in items]:
        raise InputError(f"a slice called {ALL!r} has every item of its dataset, and this one has not; give it another name")
    return replace(dataset, items=tuple(items), format_version=FORMAT_VERSION)


def seal(folder: Path, dataset: Dataset) -> Dataset:
    """Write rows, documents and manifest beside the files that lie in ``folder``, and hash all; the manifest as written."""
    dataset = _in_order(dataset)
    for name, data in row_files(dataset, configs(dataset)):
        write_atomically(folder / name, data)
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    hashed = replace(dataset, files={name: file_sha256(path) for name, path in files.items()})
    dataset, written = sealed(hashed, {name: path.stat().st_size for name, path in files.items()})
    for name, data in written.items():
        write_atomically(folder / name, data)
    return dataset


def check_target(target: Path) -> None:
    """Raise ``InputError`` unless a dataset may be written to ``target``: a new or empty folder, or an older dataset.

    Paths that ``datasets`` cannot load from are refused too.
    """
    if bad := [pattern for pattern in UNLOADABLE if pattern in str(target.absolute())]:
        raise InputError(f"export path {str(target)!r} holds {bad[0]!r}, which `datasets` takes for a pattern; use another name")
    replaceable = target.is_dir() and ((target / MANIFEST).is_file() or not any(target.iterdir()))
    if target.exists() and not replaceable:
        raise InputError(f"{str(target)!r} exists and is not a frozen dataset; choose another folder")


def _rows(
    items: Sequence[Item],
    blobs: Blobs,
    *,
    sources: Sequence[Source],
    clips: Sequence[Clip],
    corruptions: Sequence[Corruption],
    attributes: Sequence[Attribute],
) -> list[dict[str, Any]]:
    source_of = {source.source_id: source for source in sources}
    clip_of = {clip.clip_id: clip for clip in clips}
    corruption_of = {corruption.corruption_id: corruption for corruption in corruptions}
    children: dict[str, list[Corruption]] = {}
    for corruption in sorted(corruptions, key=lambda row: row.corruption_id):
        children.setdefault(corruption.parent_id or "", []).append(corruption)
    facts: dict[str, dict[str, Any]] = {}
    for row in attributes:
        facts.setdefault(row.subject_id, {})[row.name] = _fact(row, blobs)
    rows = []
    for item in sorted(items, key=lambda item: item.item_id):
        clip, corruption = clip_of[item.clip_id], corruption_of[item.corruption_id]
        row_facts = facts.get(clip.source_id, {}) | facts.get(clip.clip_id, {}) | facts.get(corruption.corruption_id, {})
        second = children.get(corruption.corruption_id, [])
        if second:
            row_facts |= {"second_holes": [_second(row, facts.get(row.corruption_id, {})) for row in second]}
        media = _media_columns(clip, corruption, second)
        plain = _plain_columns(item, clip, corruption, source_of[clip.source_id]) | _edit_columns(corruption)
        if corruption.generator == UNPAIRED:
            plain |= {"truth_yuv_sha256": None, "truth_rgb_sha256": None}
        rows.append(media | plain | {"attributes": row_facts})
    return filled_columns(rows)


def _second(corruption: Corruption, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of a second hole, in the order of the files."""
    known = {name: value for name, value in facts.items() if value is not None}
    return {"corruption_id": corruption.corruption_id, "hole_sha256": corruption.hole_sha256, **known}


def _fact(row: Attribute, blobs: Blobs) -> Any:
    """The value, or the data itself where that is what the attribute is: a JSON blob, or a list as JSON text."""
    if row.blob and row.blob.endswith(".json"):
        return json.loads(blobs.path(row.blob).read_bytes())
    is_list = row.producer == "masks.measure" and isinstance(row.value, str) and row.value.startswith("[")
    return json.loads(str(row.value)) if is_list else row.value


def _media_columns(clip: Clip, corruption: Corruption, second: Sequence[Corruption]) -> dict[str, Any]:
    unpaired = corruption.generator == UNPAIRED
    return {
        "truth_file_name": None if unpaired else _truth_name(clip),
        "hole_file_name": _file_name("hole", corruption.hole),
        "input_file_name": _truth_name(clip) if corruption.generator == EDIT else _file_name("input", corruption.input),
        "alpha_file_name": _file_name("alpha", corruption.alpha),
        "second_hole_file_names": [_file_name("second_hole", row.hole) for row in second],
        "object_mask_file_name": _file_name("object_mask", corruption.object_mask),
        "effect_mask_file_name": _file_name("effect_mask", corruption.effect_mask),
    }


def _edit_columns(corruption: Corruption) -> dict[str, Any]:
    parameters = corruption.parameters if corruption.generator == EDIT else {}
    columns = {name: parameters.get(name) for name in EDIT_COLUMNS}
    return columns | {name: getattr(corruption, name) for name in ("object_mask_sha256", "effect_mask_sha256")}


def _plain_columns(item: Item, clip: Clip, corruption: Corruption, source: Source) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "split": item.split,
        "clip_id": clip.clip_id,
        "source_id": source.source_id,
        "source_uri": source.uri,
        "licence": source.licence,
        "author": source.author,
        "page_url": source.page_url,
        "start_frame": clip.start_frame,
        "end_frame": clip.end_frame,
        "frames": clip.frames,
        "width": clip.width,
        "height": clip.height,
        "fps": clip.fps,
        "encode_crf": clip.encode_crf,
        "encode_psnr_db": clip.encode_psnr_db,
        "generator": corruption.generator,
        "generator_parameters": dict(corruption.parameters) | {"seed": corruption.seed},
        "truth_yuv_sha256": clip.yuv_sha256,
        "truth_rgb_sha256": clip.rgb_sha256,
        "hole_sha256": corruption.hole_sha256,
        "input_sha256": corruption.input_sha256,
    }


def _truth_name(clip: Clip) -> str:
    return f"{MEDIA['truth']}/{clip.clip_id}{Path(clip.blob).suffix}"


def _file_name(part: str, blob: str | None) -> str | None:
    return None if blob is None else f"{MEDIA[part]}/{blob[:16]}{Path(blob).suffix}"


def _copy_media(
    folder: Path, rows: Sequence[Plain], blobs: Blobs, *, clips: Sequence[Clip], corruptions: Sequence[Corruption]
) -> None:
    blob_of = {_truth_name(clip): clip.blob for clip in clips}
    for row in corruptions:
        blob_of |= {
            str(_file_name(part, blob)): blob
            for part in ("hole", "input", "alpha", "object_mask", "effect_mask")
            if (blob := getattr(row, part))
        }
    names = sorted({name for row in rows for name in media_names(row)})
    for kind in {name.partition("/")[0] for name in names}:
        (folder / kind).mkdir()
    for name in names:
        copy_file(blobs.path(blob_of[name]), folder / name)
