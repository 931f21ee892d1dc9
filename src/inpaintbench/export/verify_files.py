"""Files and configs of a frozen dataset: what lies in its folder, and every config as `datasets` loads it, without decoding."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from inpaintbench.executors.base import Progress
from inpaintbench.export import layout
from inpaintbench.manifest import MANIFEST, SHARD_ROWS
from inpaintbench.types import Dataset, Plain, Slice, canonical_json

# Of its library, which writes there beside what it downloads, and of git.
_FOLDERS_OF_OTHERS = (".cache", ".git")
# Rows that are compared at once: each time, groups of rows are read from all over the dataset.
_AT_ONCE = 1 << 16


def is_ours(name: str) -> bool:
    """Return whether a file counts as part of a dataset, rather than of the Hub, its library or git."""
    return name not in layout.OF_THE_HUB and name.partition("/")[0] not in _FOLDERS_OF_OTHERS


def there(root: Path) -> tuple[set[str], dict[str, Path]]:
    """Names of the files below ``root`` without the manifest, links to files among them; all else by name, in order.

    Links to folders are not followed, so that what lies behind them is missing.
    """
    paths = {name: path for path in root.rglob("*") if is_ours(name := path.relative_to(root).as_posix())}
    files = {name for name, path in paths.items() if path.is_file()}
    return files - {MANIFEST}, {name: paths[name] for name in sorted(set(paths) - files)}


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
    alone = set(split_of.values()) == {"test"}
    for split, wanted in layout.by_split(part.item_ids, split_of).items():
        where = part.name if alone else f"{part.name}/{split}"
        loaded = _undecoded(root, part.name, split, cache)
        ids = list(loaded["item_id"])
        # The library takes the files of a config in any order; in each of them rows have theirs.
        in_order = len(wanted) <= SHARD_ROWS
        if ids != list(wanted) and (in_order or sorted(ids) != sorted(wanted)):
            yield f"{where}: rows {ids} != items of the manifest {list(wanted)}"
            continue
        for start in range(0, len(ids), _AT_ONCE):
            some = range(start, min(start + _AT_ONCE, len(ids)))
            for row, expected in zip(loaded.select(some), rows_of(ids[start : some.stop]), strict=True):
                for column in layout.media_parts(expected):
                    yield from _media_cell_problems(root, where, row, expected, column, counts)
                yield from _cell_problems(where, row, expected)


def _undecoded(root: Path, config: str, split: str, cache: str) -> Any:
    from datasets import Image, LargeList, List, Video, load_dataset

    loaded = load_dataset(str(root), config, split=split, cache_dir=cache)
    for column, feature in loaded.features.items():
        inner = feature.feature if isinstance(feature, List | LargeList) else feature
        if isinstance(inner, Image | Video):
            undecoded = type(inner)(decode=False)
            loaded = loaded.cast_column(column, undecoded if inner is feature else type(feature)(undecoded))
    return loaded


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


def _cell_problems(name: str, row: Mapping[str, Any], expected: Plain) -> Iterator[str]:
    for column, value in expected.items():
        if column.endswith(("_file_name", "_file_names")):
            continue
        wanted = canonical_json(value) if isinstance(value, dict) else value
        if row[column] != wanted:
            yield f"{name}: {column} of {row['item_id']} is {row[column]!r}, not {wanted!r}"
