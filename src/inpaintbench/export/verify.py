"""Prove that a frozen dataset is what its manifest says: files, metadata, decoded planes and holes."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inpaintbench import video
from inpaintbench.errors import InpaintBenchError, InputError, VerifyError
from inpaintbench.export.second_decoder import available, compare, require
from inpaintbench.frozen import MANIFEST, UNLOADABLE, load
from inpaintbench.types import Dataset, Plain, Slice, canonical_json
from inpaintbench.workspace import file_sha256

_SECONDS_PER_FILE = 30.0


@dataclass
class Verification:
    """What was looked at and what was wrong."""

    files: int = 0
    configs: int = 0
    cells: int = 0
    """Media cells of all configs, each one touched."""
    second_decoder: str | None = None
    largest_difference: int | None = None
    """Between the two decoders, in grey levels; None without a second one."""
    problems: list[str] = field(default_factory=list)


def verify(
    folder: Path | str, *, decoder: str | None = None, progress: Callable[[str, int, int], None] | None = None
) -> Verification:
    """Re-hash every file, load every config afresh, decode every cell, compare with the manifest.

    Args:
        folder: the frozen dataset.
        decoder: second decoder (``torchcodec``, ``ffmpeg``, ``decord``); by default the first that is installed.
        progress: told (stage, done, total).

    Raises:
        InputError: not a frozen dataset; unknown or missing decoder.
    """
    if decoder:
        require(decoder)
    root = Path(folder)
    if bad := [pattern for pattern in UNLOADABLE if pattern in str(root.absolute())]:
        raise InputError(f"`datasets` cannot load from {str(root)!r}, which holds {bad[0]!r}; move the dataset")
    result = Verification()
    try:
        dataset = load(root)
    except VerifyError as error:
        result.problems.append(str(error))
        return result
    told = progress or (lambda stage, done, total: None)  # noqa: ARG005 - nobody watches
    result.problems += _file_problems(root, dataset, result, told)
    if not result.problems:  # loading damaged metadata would only repeat what the hashes say
        result.problems += _config_problems(root, dataset, result, told)
    result.problems += _media_problems(root, dataset, told)
    names = [decoder] if decoder else available()
    if names and not result.problems:
        result.second_decoder = names[0]
        result.problems += _decoder_problems(root, dataset, result)
    return result


def _file_problems(root: Path, dataset: Dataset, result: Verification, told: Callable[[str, int, int], None]) -> Iterator[str]:
    present = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} - {MANIFEST}
    yield from (f"{name}: missing" for name in sorted(set(dataset.files) - present))
    yield from (f"{name}: not in the manifest" for name in sorted(present - set(dataset.files)))
    for name in sorted(present & set(dataset.files)):
        if file_sha256(root / name) != dataset.files[name]:
            yield f"{name}: changed (SHA-256 differs from the manifest)"
        result.files += 1
        told("files", result.files, len(dataset.files))


def _config_problems(root: Path, dataset: Dataset, result: Verification, told: Callable[[str, int, int], None]) -> Iterator[str]:
    from datasets import disable_progress_bars, enable_progress_bars, get_dataset_config_names

    rows = {row["item_id"]: row for row in dataset.items}
    disable_progress_bars()
    try:
        names = get_dataset_config_names(str(root))
        wanted = [part.name for part in dataset.slices]
        if sorted(names) != sorted(wanted):
            yield f"README.md: configs {sorted(names)} != slices {sorted(wanted)}"
        with tempfile.TemporaryDirectory(prefix="inpaintbench-verify-") as cache:
            for part in dataset.slices:
                yield from _slice_problems(root, part, rows, cache, result)
                result.configs += 1
                told("configs", result.configs, len(dataset.slices))
    finally:
        enable_progress_bars()


def _slice_problems(root: Path, part: Slice, rows: Mapping[str, Plain], cache: str, result: Verification) -> Iterator[str]:
    from datasets import Video, load_dataset

    loaded = load_dataset(str(root), part.name, split="test", cache_dir=cache)
    for column in ("truth", "hole"):
        loaded = loaded.cast_column(column, Video(decode=False))
    ids = [row["item_id"] for row in loaded]
    if ids != list(part.item_ids):
        yield f"{part.name}: rows {ids} != items of the manifest {list(part.item_ids)}"
        return
    for row in loaded:
        expected = rows[row["item_id"]]
        for column in ("truth", "hole"):
            result.cells += 1
            found = Path(row[column]["path"])
            if found.resolve() != (root / expected[f"{column}_file_name"]).resolve():
                yield f"{part.name}: {column} of {row['item_id']} is {found.name}, not {expected[f'{column}_file_name']}"
        yield from _cell_problems(part.name, row, expected)


def _cell_problems(name: str, row: Mapping[str, Any], expected: Plain) -> Iterator[str]:
    for column, value in expected.items():
        if column.endswith("_file_name"):
            continue
        wanted = canonical_json(value) if isinstance(value, dict) else value
        if row[column] != wanted:
            yield f"{name}: {column} of {row['item_id']} is {row[column]!r}, not {wanted!r}"


def _media_problems(root: Path, dataset: Dataset, told: Callable[[str, int, int], None]) -> Iterator[str]:
    truths = {row["truth_file_name"]: (row["truth_yuv_sha256"], row["truth_rgb_sha256"]) for row in dataset.items}
    holes = {row["hole_file_name"]: row["hole_sha256"] for row in dataset.items}
    done = 0
    for name, wanted in sorted((truths | holes).items()):
        done += 1
        told("media", done, len(truths) + len(holes))
        if not (root / name).is_file():
            continue  # already reported
        try:
            if name in truths:
                yuv, rgb = video.decoded_hashes(root / name)
                if yuv != wanted[0]:
                    yield f"{name}: decoded planes differ from the manifest"
                elif rgb != wanted[1]:
                    yield f"{name}: decoded RGB differs from the manifest, though the planes are equal"
            elif hashlib.sha256(video.read_hole(root / name).tobytes()).hexdigest() != wanted:
                yield f"{name}: decoded hole differs from the manifest"
        except InpaintBenchError as error:
            yield f"{name}: does not decode: {error}"


def _decoder_problems(root: Path, dataset: Dataset, result: Verification) -> Iterator[str]:
    names = sorted({row["truth_file_name"] for row in dataset.items})
    paths = {str(root / name): name for name in names}
    limit = 60 + _SECONDS_PER_FILE * len(names)
    for path, found in compare(list(paths), decoder=str(result.second_decoder), time_limit_seconds=limit).items():
        if "error" in found:
            yield f"{paths[path]}: {found['error']}"
            continue
        difference = found["max_difference"]
        result.largest_difference = max(difference, result.largest_difference or 0)
        # Equal in every trial on x86-64; elsewhere conversions may round otherwise, so the difference is only told.
        if difference and platform.machine() in ("x86_64", "AMD64"):
            yield f"{paths[path]}: {result.second_decoder} differs from PyAV by up to {difference} levels"
