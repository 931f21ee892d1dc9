"""A frozen dataset with licences that its publisher states: the same items and media, other rows, card and manifest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from inpaintbench.export import layout
from inpaintbench.export.documents import sealed
from inpaintbench.export.licences import is_unstated
from inpaintbench.types import Dataset

# Facts: licence -> sources that its publisher states it for; of those that said something else, their words -> the same.
STATED, OVER = "licences_stated", "licences_stated_over"


def restated(root: Path, dataset: Dataset, stated: Mapping[str, str]) -> tuple[Dataset, dict[str, bytes]]:
    """The dataset with ``stated`` licences, and the bytes of the files that change with them.

    Args:
        root: folder of the dataset.
        dataset: its manifest.
        stated: source -> licence.
    """
    rows = tuple({**row, "licence": stated.get(row["source_id"], row["licence"])} for row in dataset.items)
    changed = {name: _metadata(root / name, stated) for name in metadata_files(dataset)}
    files = dict(dataset.files) | {name: hashlib.sha256(data).hexdigest() for name, data in changed.items()}
    facts = dict(dataset.facts) | _facts(dataset, stated)
    sizes = {name: len(changed[name]) if name in changed else (root / name).stat().st_size for name in files}
    made, written = sealed(replace(dataset, items=rows, files=files, facts=facts), sizes)
    return made, changed | written


def _facts(dataset: Dataset, stated: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """What was stated and what was said before, with what an earlier publisher stated."""
    old = {row["source_id"]: row["licence"] for row in dataset.items}
    counts = Counter(dataset.facts.get(STATED, {})) + Counter(stated.values())
    over = {words: Counter(new) for words, new in dataset.facts.get(OVER, {}).items()}
    for source, licence in stated.items():
        if not is_unstated(old[source]):
            over.setdefault(str(old[source]), Counter())[licence] += 1
    facts: dict[str, dict[str, object]] = {STATED: dict(sorted(counts.items()))}
    return facts | ({OVER: {words: dict(sorted(new.items())) for words, new in sorted(over.items())}} if over else {})


def metadata_files(dataset: Dataset) -> dict[str, str]:
    """File of rows -> the slice that it is of."""
    split_of = layout.splits(dataset.items)
    return {
        layout.metadata_name(part.name, split, split_of): part.name
        for part in dataset.slices
        for split in layout.by_split(part.item_ids, split_of)
    }


def _metadata(path: Path, stated: Mapping[str, str]) -> bytes:
    table = pq.read_table(path)
    told = zip(table["source_id"].to_pylist(), table["licence"].to_pylist(), strict=True)
    column = pa.array([stated.get(source, licence) for source, licence in told], pa.string())
    sink = pa.BufferOutputStream()
    pq.write_table(table.set_column(table.schema.get_field_index("licence"), "licence", column), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())
