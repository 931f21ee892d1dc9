"""Prove that a frozen dataset is what its manifest says: files, metadata, decoded planes and holes."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from inpaintbench import video
from inpaintbench.errors import InpaintBenchError, InputError, VerifyError
from inpaintbench.export import layout
from inpaintbench.export.second_decoder import available, compare, require
from inpaintbench.frozen import MANIFEST, UNLOADABLE, load, manifest_bytes
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
    dataset = _manifest(root, result.problems)
    if dataset is None:
        return result
    told = progress or (lambda stage, done, total: None)  # noqa: ARG005 - nobody watches
    found = list(_file_problems(root, dataset, result, told))
    result.problems += found
    if not found:  # loading damaged metadata would only repeat what the hashes say
        result.problems += _config_problems(root, dataset, result, told)
    result.problems += _media_problems(root, dataset, told)
    names = [decoder] if decoder else available()
    if names and not result.problems:
        result.second_decoder = names[0]
        result.problems += _decoder_problems(root, dataset, result)
    return result


def file_problems(folder: Path | str) -> list[str]:
    """The first part of ``verify``: one other byte of any file, a file too many, too few or renamed. Nothing is decoded.

    Raises:
        InputError: not a frozen dataset.
    """
    root, problems = Path(folder), list[str]()
    dataset = _manifest(root, problems)
    if dataset is not None:
        problems += _file_problems(root, dataset, Verification(), lambda stage, done, total: None)  # noqa: ARG005
    return problems


def _manifest(root: Path, problems: list[str]) -> Dataset | None:
    """The manifest, what is wrong with its bytes added to ``problems``; None when it cannot be read."""
    try:
        dataset = load(root)
        as_written = manifest_bytes(dataset)
    except (VerifyError, ValueError) as error:
        problems.append(str(error))
        return None
    if (root / MANIFEST).read_bytes() != as_written:
        problems.append(f"{MANIFEST}: changed (its text is not what its own SHA-256 says), or of an older program")
    return dataset


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
    split_of = layout.splits(list(rows.values()))
    for split, wanted in layout.by_split(part.item_ids, split_of).items():
        where = part.name if set(split_of.values()) == {"test"} else f"{part.name}/{split}"
        loaded = _undecoded(root, part.name, split, cache)
        ids = [row["item_id"] for row in loaded]
        if ids != wanted:
            yield f"{where}: rows {ids} != items of the manifest {wanted}"
            continue
        for row in loaded:
            expected = rows[row["item_id"]]
            for column in layout.media_parts(expected):
                yield from _media_cell_problems(root, where, row, expected, column, result)
            yield from _cell_problems(where, row, expected)


def _undecoded(root: Path, config: str, split: str, cache: str) -> Any:
    from datasets import Image, Video, load_dataset

    loaded = load_dataset(str(root), config, split=split, cache_dir=cache)
    for column, feature in loaded.features.items():
        inner = getattr(feature, "feature", feature)
        if isinstance(inner, Image | Video):
            undecoded = type(inner)(decode=False)
            loaded = loaded.cast_column(column, undecoded if inner is feature else type(feature)(undecoded))
    return loaded


def _media_cell_problems(
    root: Path, where: str, row: Mapping[str, Any], expected: Plain, column: str, result: Verification
) -> Iterator[str]:
    wanted, cells = expected[layout.file_column(column)], row[column]
    names, cells = ([wanted], [cells]) if isinstance(wanted, str) else (list(wanted or ()), list(cells or ()))
    if len(names) != len(cells):
        yield f"{where}: {column} of {row['item_id']} has {len(cells)} cells, not {len(names)}"
        return
    for name, cell in zip(names, cells, strict=True):
        result.cells += 1
        found = Path(cell["path"])
        if found.resolve() != (root / name).resolve():
            yield f"{where}: {column} of {row['item_id']} is {found.name}, not {name}"


def _cell_problems(name: str, row: Mapping[str, Any], expected: Plain) -> Iterator[str]:
    for column, value in expected.items():
        if column.endswith(("_file_name", "_file_names")):
            continue
        wanted = canonical_json(value) if isinstance(value, dict) else value
        if row[column] != wanted:
            yield f"{name}: {column} of {row['item_id']} is {row[column]!r}, not {wanted!r}"


def _media_problems(root: Path, dataset: Dataset, told: Callable[[str, int, int], None]) -> Iterator[str]:
    wanted = {name: check for row in dataset.items for name, check in _checks(row).items()}
    for done, (name, check) in enumerate(sorted(wanted.items()), start=1):
        told("media", done, len(wanted))
        if not (root / name).is_file():
            continue  # already reported
        try:
            if problem := check(root / name):
                yield f"{name}: {problem}"
        except InpaintBenchError as error:
            yield f"{name}: does not decode: {error}"


def _checks(row: Plain) -> dict[str, Callable[[Path], str | None]]:
    """Media file of an item -> what tells whether it decodes to what the manifest says."""
    checks: dict[str, Callable[[Path], str | None]] = dict.fromkeys(layout.media_names(row), _check_levels)
    checks[row["truth_file_name"]] = partial(_check_frames, row["truth_yuv_sha256"], row["truth_rgb_sha256"])
    if row.get("hole_file_name"):
        checks[row["hole_file_name"]] = partial(_check_hole, row["hole_sha256"])
    for name, fact in zip(row.get("second_hole_file_names") or (), row["attributes"].get("second_holes", ()), strict=True):
        checks[name] = partial(_check_hole, fact["hole_sha256"])
    if row.get("object_mask_file_name"):
        checks[row["object_mask_file_name"]] = partial(_check_hole, row["object_mask_sha256"], what="object mask")
    if row.get("input_file_name") not in (None, row["truth_file_name"]):  # of an edit, the truth is the input
        checks[row["input_file_name"]] = partial(_check_frames, None, row["input_sha256"])
    return checks


def _check_frames(yuv_sha256: str | None, rgb_sha256: str, path: Path) -> str | None:
    yuv, rgb = video.decoded_hashes(path)
    if yuv_sha256 and yuv != yuv_sha256:
        return "decoded planes differ from the manifest"
    return "decoded RGB differs from the manifest, though the planes are equal" if rgb != rgb_sha256 else None


def _check_hole(sha256: str, path: Path, *, what: str = "hole") -> str | None:
    equal = hashlib.sha256(video.read_hole(path).tobytes()).hexdigest() == sha256
    return None if equal else f"decoded {what} differs from the manifest"


def _check_levels(path: Path) -> str | None:
    video.read_levels(path)  # its bytes are hashed; that it decodes is what is left to prove
    return None


def _decoder_problems(root: Path, dataset: Dataset, result: Verification) -> Iterator[str]:
    names = sorted({row[column] for row in dataset.items for column in ("truth_file_name", "input_file_name") if row.get(column)})
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
