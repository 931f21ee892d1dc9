"""Rows of a frozen dataset as a stream of several shards, so that several workers read them.

``load_dataset(FOLDER, CONFIG, streaming=True)`` is one shard, however many files the config has: the builder of folders with
media keeps its files of rows in a set, and only lists are shared out (datasets 5.2, ``folder_based_builder``). The builder of
Parquet has a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inpaintbench.errors import InputError
from inpaintbench.frozen import proved_file
from inpaintbench.manifest import ALL

if TYPE_CHECKING:
    from datasets import IterableDataset

_ONE, _MANY = "_file_name", "_file_names"


def stream(dataset: Path | str, config: str = ALL, *, split: str = "test", revision: str | None = None) -> IterableDataset:
    """Stream the rows of a config, with its media, in their order: one shard for each file of rows.

    Args:
        dataset: a folder, whose files are compared with its manifest as they come; or ``OWNER/NAME`` of the Hub, of which only
            what is looked at is fetched, and nothing is compared.
        config: a slice, or ``all``.
        split: one that the config has.
        revision: of the Hub: branch, tag or commit.

    Raises:
        InputError: no such dataset, config or split. Going through the rows raises ``VerifyError`` where a file is another one.
    """
    from datasets import Features, List, load_dataset, load_dataset_builder

    try:
        builder = load_dataset_builder(str(dataset), config, revision=revision)
    except (ValueError, FileNotFoundError) as error:
        raise InputError(str(error).splitlines()[0]) from error
    if split not in (files := builder.config.data_files):
        raise InputError(f"{config!r} of {str(dataset)!r} has no split {split!r}, only {', '.join(map(str, files))}")
    named = [str(path) for path in files[split] if str(path).endswith(".parquet")]
    rows = load_dataset("parquet", data_files={split: named}, split=split, streaming=True)
    folder, cell = named[0].rpartition("/")[0], builder.BASE_FEATURE()
    known = dict(rows.features)
    kinds = {name.removesuffix(_ONE): cell for name in known if name.endswith(_ONE)}
    kinds |= {name.removesuffix(_MANY): List(cell) for name in known if name.endswith(_MANY)}
    plain = {name: kind for name, kind in known.items() if not name.endswith((_ONE, _MANY))}
    left = [name for name in known if name not in plain]
    return rows.map(_with_media, remove_columns=left, fn_kwargs={"folder": folder}).cast(Features(kinds | plain))


def _with_media(row: Mapping[str, Any], *, folder: str) -> dict[str, Any]:
    """Media columns of a row: the files at their places."""
    media: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith(_ONE):
            media[name.removesuffix(_ONE)] = None if value is None else _file(folder, value)
        elif name.endswith(_MANY):
            media[name.removesuffix(_MANY)] = [_file(folder, one) for one in value or ()]
    return media


def _file(folder: str, name: str) -> dict[str, Any]:
    if "://" not in folder:
        proved_file(folder, name)
    return {"bytes": None, "path": f"{folder}/{name}"}
