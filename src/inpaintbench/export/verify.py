"""Prove that a frozen dataset is what its manifest says: files, metadata, decoded planes and holes."""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from inpaintbench import manifest, video
from inpaintbench.errors import InpaintBenchError, InputError, VerifyError, how_to_install
from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export import layout
from inpaintbench.export.second_decoder import SecondDecoder, available, require
from inpaintbench.files import file_sha256
from inpaintbench.frozen import UNLOADABLE, dataset_id, is_held_back
from inpaintbench.types import Dataset, Plain, Slice, canonical_json, item_rng

# Of its library, which writes there beside what it downloads, and of git.
_FOLDERS_OF_OTHERS = (".cache", ".git")
# Rows that are compared at once: each time, groups of rows are read from all over the dataset.
_AT_ONCE = 1 << 16
_SECONDS_PER_FILE = 30.0
# That hash: some wait for the disk.
_THREADS = 2 * (os.cpu_count() or 1)
# Each holds a clip.
_DECODING_THREADS = min(4, os.cpu_count() or 1)


@dataclass
class Verification:
    """Amounts that were looked at, and the problems found."""

    dataset_id: str | None = None
    items: int = 0
    items_decoded: int = 0
    """Items whose media were decoded."""
    files: int = 0
    configs: int = 0
    cells: int = 0
    """Media cells of all configs, each one touched."""
    second_decoder: str | None = None
    largest_difference: int | None = None
    """Between the two decoders, in grey levels; None without a second one."""
    problems: list[str] = field(default_factory=list)
    not_looked_at: list[str] = field(default_factory=list)
    """In words."""


def verify(
    folder: Path | str,
    *,
    decoder: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Verification:
    """Hash every file again, load every config afresh, decode media with two decoders, compare with the manifest.

    Decoded planes, RGB frames, holes and masks must have the hashes of the manifest, and what the second decoder makes of truth
    and input must equal what PyAV makes of them: by 0 levels on x86-64, elsewhere the difference is told.

    Args:
        folder: the frozen dataset; links to files elsewhere, as in the cache of the Hub's library, are followed.
        decoder: second decoder (``torchcodec``, ``ffmpeg``, ``decord``); by default the first that is installed.
        sample: decode the media of so many items alone, drawn by ``seed``; None = of all. Every file is hashed all the same.
        seed: another one draws other items.
        progress: told (stage, done, total).

    Raises:
        InputError: not a frozen dataset; a sample of no items; unknown or missing decoder.
    """
    if decoder:
        require(decoder)
    root, result = Path(folder), Verification()
    if bad := [pattern for pattern in UNLOADABLE if pattern in str(root.absolute())]:
        raise InputError(f"`datasets` cannot load from {str(root)!r}, which holds {bad[0]!r}; move the dataset")
    dataset = _manifest(root, result.problems)
    if dataset is None:
        return result
    report = progress or unwatched
    rows = sampled(dataset, sample, seed=seed)
    problems = list(_file_problems(root, dataset, result, report))
    result.problems += problems
    prove(root, dataset, result, rows=rows, whole=not problems, decoder=decoder, progress=report)
    return result


def sampled(dataset: Dataset, count: int | None, *, seed: int) -> list[Plain]:
    """The rows of ``count`` items, drawn by ``seed`` and in the order of the dataset; None = all.

    Raises:
        InputError: fewer than one.
    """
    if count is not None and count < 1:
        raise InputError(f"a sample of {count} items proves nothing; give at least 1, or leave it out to look at all")
    if count is None or count >= len(dataset.items):
        return list(dataset.items)
    drawn = item_rng(seed, "verify", manifest.content_of(dataset)).permutation(len(dataset.items))[:count]
    return [dataset.items[place] for place in sorted(drawn.tolist())]


def prove(
    root: Path,
    dataset: Dataset,
    result: Verification,
    *,
    rows: Sequence[Plain],
    whole: bool,
    decoder: str | None,
    progress: Progress,
) -> None:
    """Load every config and decode the media of ``rows``, with two decoders; what is found goes into ``result``.

    Where files are not ``whole``, configs are left, and with any problem the second decoder: they would repeat what is known.
    """
    result.dataset_id, result.items, result.items_decoded = dataset_id(dataset), len(dataset.items), len(rows)
    if len(rows) < len(dataset.items):
        result.not_looked_at.append(f"the pixels of {len(dataset.items) - len(rows)} of {len(dataset.items)} items")
    if held := sum(map(is_held_back, rows)):
        result.not_looked_at.append(f"the truths of {held} items, which are held back")
    if manifest.computed_content(dataset) != manifest.content_of(dataset):
        result.problems.append(f"{manifest.MANIFEST}: its content is not that of its rows, slices and recipe")
    names = [decoder] if decoder else available()[:1]
    if not names:
        result.not_looked_at.append(f"what a second decoder gives: none is installed; {how_to_install('export')}")
    with ExitStack() as running:
        hashes = {str(root / name): sha256 for name, sha256 in _rgb_hashes(rows).items()}
        other = running.enter_context(SecondDecoder(hashes, decoder=names[0])) if names and whole else None
        if whole:
            counts = Counter[str]()
            result.problems += config_problems(root, dataset, counts, progress)
            result.configs, result.cells = counts["configs"], counts["cells"]
        result.problems += _media_problems(root, rows, progress)
        if other and not result.problems:
            result.second_decoder = names[0]
            decoded = other.results(time_limit_seconds=60 + _SECONDS_PER_FILE * len(hashes))
            result.problems += _decoder_problems(root, decoded, result)
            unable = Counter(row["unable"] for row in decoded.values() if "unable" in row)
            result.not_looked_at += [f"what a second decoder gives of {count} files: {why}" for why, count in unable.items()]


def file_problems(folder: Path | str) -> list[str]:
    """The first part of ``verify``: one other byte of any file, a file or folder too many, too few or renamed.

    Nothing is decoded.

    Raises:
        InputError: not a frozen dataset.
    """
    root, problems = Path(folder), list[str]()
    dataset = _manifest(root, problems)
    if dataset is not None:
        problems += _file_problems(root, dataset, Verification(), unwatched)
    return problems


def _manifest(root: Path, problems: list[str]) -> Dataset | None:
    """The manifest, what is wrong with its bytes added to ``problems``; None when it cannot be read."""
    try:
        dataset = manifest.load(root, as_stored=True)
        if not manifest.is_as_stated(text := (root / manifest.MANIFEST).read_bytes()):
            problems.append(f"{manifest.MANIFEST}: changed (its text is not what its own SHA-256 says), or of an older program")
        names = manifest.table_names(text)
        # Those of the manifest first: hashes of the others stand in them.
        for some in ([name for name in names if manifest.is_table(name)], names):
            found = {name: file_sha256(root / name) for name in some if manifest.inside(root, name).is_file()}
            if wrong := [name for name in some if found.get(name, "") != dataset.files.get(name)]:
                problems += [f"{name}: missing or changed (SHA-256 differs from the manifest)" for name in wrong]
                return None
    except (VerifyError, ValueError) as error:
        problems.append(str(error))
        return None
    return dataset


def _file_problems(root: Path, dataset: Dataset, result: Verification, progress: Progress) -> Iterator[str]:
    present, others = there(root)
    yield from (f"{name}: missing" for name in sorted(set(dataset.files) - present))
    yield from (f"{name}: not in the manifest" for name in sorted(present - set(dataset.files)))
    yield from needless(others, files={*present, *dataset.files})
    for name in sorted(present):
        try:
            manifest.inside(root, name)
        except VerifyError as error:
            yield str(error)
            present.remove(name)
    names = sorted(present & set(dataset.files))
    with ThreadPoolExecutor(_THREADS) as threads:  # hashing releases the interpreter
        for name, sha256 in zip(names, threads.map(lambda name: file_sha256(root / name), names), strict=True):
            if sha256 != dataset.files[name]:
                yield f"{name}: changed (SHA-256 differs from the manifest)"
            result.files += 1
            progress("files", result.files, len(dataset.files))


def _media_problems(root: Path, rows: Sequence[Plain], progress: Progress) -> Iterator[str]:
    wanted: dict[str, Callable[[Path], str | None]] = {}
    for row in rows:
        for name, check in _checks(row).items():
            with suppress(VerifyError):  # which the list of files tells
                wanted |= {name: check} if manifest.inside(root, name).is_file() else {}
    with ThreadPoolExecutor(_DECODING_THREADS) as threads:
        problems = threads.map(lambda named_check: _media_problem(root, *named_check), sorted(wanted.items()))
        for done, problem in enumerate(problems, start=1):
            progress("media", done, len(wanted))
            if problem:
                yield problem


def _media_problem(root: Path, name: str, check: Callable[[Path], str | None]) -> str | None:
    try:
        problem = check(root / name)
    except InpaintBenchError as error:
        problem = f"does not decode: {error}"
    return f"{name}: {problem}" if problem else None


def _checks(row: Plain) -> dict[str, Callable[[Path], str | None]]:
    """Media file of an item -> what tells whether it decodes to what the manifest says."""
    checks: dict[str, Callable[[Path], str | None]] = dict.fromkeys(layout.media_names(row), _check_levels)
    if row.get("truth_file_name"):  # of held-back items the truth lies elsewhere
        checks[row["truth_file_name"]] = partial(_check_frames, row["truth_yuv_sha256"], row["truth_rgb_sha256"])
    if row.get("hole_file_name"):
        checks[row["hole_file_name"]] = partial(_check_hole, row["hole_sha256"])
    for name, fact in zip(row.get("second_hole_file_names") or (), row["attributes"].get("second_holes", ()), strict=True):
        checks[name] = partial(_check_hole, fact["hole_sha256"])
    for part in ("object_mask", "effect_mask"):
        if row.get(f"{part}_file_name"):
            what = part.replace("_", " ")
            checks[row[f"{part}_file_name"]] = partial(_check_hole, row[f"{part}_sha256"], what=what)
    if row.get("input_file_name") not in (None, row.get("truth_file_name")):  # of an edit, the truth is the input
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


def _rgb_hashes(rows: Sequence[Plain]) -> dict[str, str]:
    """Truth or input -> SHA-256 of its RGB frames, which ``_checks`` proves of PyAV's."""
    inputs = {row["input_file_name"]: row["input_sha256"] for row in rows if row.get("input_file_name")}
    truths = {row["truth_file_name"]: row["truth_rgb_sha256"] for row in rows if row.get("truth_file_name")}
    return dict(sorted((inputs | truths).items()))


def _decoder_problems(root: Path, decoded: Mapping[str, Mapping[str, Any]], result: Verification) -> Iterator[str]:
    for path, row in decoded.items():
        name = Path(path).relative_to(root).as_posix()
        if "error" in row:
            yield f"{name}: {row['error']}"
        if "max_difference" not in row:
            continue
        difference = row["max_difference"]
        result.largest_difference = max(difference, result.largest_difference or 0)
        # Equal in every trial on x86-64; elsewhere conversions may round otherwise, so the difference is only told.
        if difference and platform.machine() in ("x86_64", "AMD64"):
            yield f"{name}: {result.second_decoder} differs from PyAV by up to {difference} levels"


def is_ours(name: str) -> bool:
    """Return whether a file counts as part of a dataset, rather than of the Hub, its library or git."""
    return name not in layout.OF_THE_HUB and name.partition("/")[0] not in _FOLDERS_OF_OTHERS


def there(root: Path) -> tuple[set[str], dict[str, Path]]:
    """Names of the files below ``root`` without the manifest, links to files among them; all else by name, in order.

    Links to folders are not followed, so that what lies behind them is missing.
    """
    paths = {name: path for path in root.rglob("*") if is_ours(name := path.relative_to(root).as_posix())}
    files = {name for name, path in paths.items() if path.is_file()}
    return files - {manifest.MANIFEST}, {name: paths[name] for name in sorted(set(paths) - files)}


def needless(others: Mapping[str, Path], *, files: Iterable[str]) -> Iterator[str]:
    """Problems with what is no file: only real folders belong to a dataset, each for a file in it.

    Args:
        others: as ``there`` found them.
        files: names of the files that are there or ought to be.
    """
    holding = {folder.as_posix() for name in files for folder in PurePosixPath(name).parents}
    for name, path in others.items():
        if path.is_symlink():
            yield f"{name}: a link to {'a folder' if path.is_dir() else 'nothing'}, not in the manifest"
        elif not path.is_dir():
            yield f"{name}: neither file nor folder, not in the manifest"
        elif name not in holding:
            yield f"{name}: a folder without files, not in the manifest"


def config_problems(root: Path, dataset: Dataset, counts: Counter[str], progress: Progress) -> Iterator[str]:
    """Differences when `datasets` loads every config afresh; ``configs`` and media ``cells`` are counted in ``counts``."""
    from datasets import config, disable_progress_bars, enable_progress_bars, get_dataset_config_names

    rows_of, split_of = layout.finder(dataset.items), layout.splits(dataset.items)
    disable_progress_bars()
    # Media are not decoded, but the library would load torch for every video that it only lists.
    decodes, config.TORCHCODEC_AVAILABLE = config.TORCHCODEC_AVAILABLE, False
    try:
        try:
            names = get_dataset_config_names(str(root))
        except Exception as error:  # it raises many kinds, for a script beside the tables too
            yield f"README.md: `datasets` cannot load the folder: {error}".splitlines()[0]
            return
        wanted = [part.name for part in layout.configs(dataset)]
        if sorted(names) != sorted(wanted):
            yield f"README.md: configs {sorted(names)} != {sorted(wanted)} of the manifest"
        with tempfile.TemporaryDirectory(prefix="inpaintbench-verify-") as cache:
            for part in layout.configs(dataset):
                yield from _slice_problems(root, part, rows_of, split_of, cache, counts)
                counts["configs"] += 1
                progress("configs", counts["configs"], len(wanted))
    finally:
        enable_progress_bars()
        config.TORCHCODEC_AVAILABLE = decodes


def _slice_problems(
    root: Path,
    part: Slice,
    rows_of: Callable[[Sequence[str]], Sequence[Plain]],
    split_of: Mapping[str, str],
    cache: str,
    counts: Counter[str],
) -> Iterator[str]:
    from datasets import Image, LargeList, List, Video, load_dataset

    alone = set(split_of.values()) == {"test"}
    for split, wanted in layout.by_split(part.item_ids, split_of).items():
        where = part.name if alone else f"{part.name}/{split}"
        loaded = load_dataset(str(root), part.name, split=split, cache_dir=cache)
        for column, feature in loaded.features.items():
            inner = feature.feature if isinstance(feature, List | LargeList) else feature
            if isinstance(inner, Image | Video):
                undecoded = type(inner)(decode=False)
                loaded = loaded.cast_column(column, undecoded if inner is feature else type(feature)(undecoded))
        ids = list(loaded["item_id"])
        # The library takes the files of a config in any order; in each of them rows have theirs.
        in_order = len(wanted) <= manifest.SHARD_ROWS
        if ids != list(wanted) and (in_order or sorted(ids) != sorted(wanted)):
            yield f"{where}: rows {ids} != items of the manifest {list(wanted)}"
            continue
        for start in range(0, len(ids), _AT_ONCE):
            some = range(start, min(start + _AT_ONCE, len(ids)))
            for row, expected in zip(loaded.select(some), rows_of(ids[start : some.stop]), strict=True):
                for column in layout.media_parts(expected):
                    yield from _media_cell_problems(root, where, row, expected, column, counts)
                for column, value in expected.items():
                    wanted_cell = canonical_json(value) if isinstance(value, dict) else value
                    if not column.endswith(("_file_name", "_file_names")) and row[column] != wanted_cell:
                        yield f"{where}: {column} of {row['item_id']} is {row[column]!r}, not {wanted_cell!r}"


def _media_cell_problems(
    root: Path, where: str, row: Mapping[str, Any], expected: Plain, column: str, counts: Counter[str]
) -> Iterator[str]:
    wanted, cells = expected[layout.file_column(column)], row[column]
    names, cells = ([wanted], [cells]) if isinstance(wanted, str) else (list(wanted or ()), list(cells or ()))
    if len(names) != len(cells):
        yield f"{where}: {column} of {row['item_id']} has {len(cells)} cells, not {len(names)}"
        return
    for name, cell in zip(names, cells, strict=True):
        counts["cells"] += 1
        path = Path(cell["path"])
        if path.resolve() != (root / name).resolve():
            yield f"{where}: {column} of {row['item_id']} is {path.name}, not {name}"
