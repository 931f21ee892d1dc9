"""A frozen dataset with licences that its publisher states: the same items and media, other rows, card and manifest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from inpaintbench.errors import VerifyError
from inpaintbench.export import layout
from inpaintbench.export.publishing.licences import hub_name
from inpaintbench.frozen import MANIFEST, manifest_bytes
from inpaintbench.types import Dataset, content_id

CARD = "README.md"


def restated(root: Path, dataset: Dataset, stated: Mapping[str, str]) -> tuple[Dataset, dict[str, bytes]]:
    """The dataset with ``stated`` licences, and the bytes of the files that change with them.

    Args:
        root: folder of the dataset.
        dataset: its manifest.
        stated: source -> licence.
    """
    rows = tuple({**row, "licence": stated.get(row["source_id"], row["licence"])} for row in dataset.items)
    changed = {name: _metadata(root / name, stated) for name in metadata_files(dataset)}
    changed[CARD] = _card((root / CARD).read_text(), replace(dataset, items=rows), stated, content_of(dataset)).encode()
    files = dict(dataset.files) | {name: hashlib.sha256(data).hexdigest() for name, data in changed.items()}
    made = replace(dataset, items=rows, files=files)
    return made, changed | {MANIFEST: manifest_bytes(made)}


def metadata_files(dataset: Dataset) -> dict[str, str]:
    """File of rows -> the slice that it is of."""
    split_of = layout.splits(dataset.items)
    return {
        layout.metadata_name(part.name, split, split_of): part.name
        for part in dataset.slices
        for split in layout.by_split(part.item_ids, split_of)
    }


def content_of(dataset: Dataset) -> str:
    """The hash that every config carries in its description."""
    return content_id(
        list(dataset.items), [asdict(part) for part in dataset.slices], dict(dataset.left_out), dict(dataset.recipe)
    )


def split_card(text: str) -> tuple[dict[str, Any], str]:
    """Header and body of a card.

    Raises:
        VerifyError: it has no header.
    """
    begin, _, rest = text.partition("---\n")
    header, mark, body = rest.partition("\n---\n")
    try:
        fields = yaml.safe_load(header)
    except yaml.YAMLError as error:
        raise VerifyError(f"the header of {CARD} is damaged: {error}") from error
    if begin or not mark or not isinstance(fields, dict):
        raise VerifyError(f"{CARD} has no header that names the slices")
    return fields, body


def joined_card(header: Mapping[str, Any], body: str) -> str:
    """A card of both."""
    return f"---\n{yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True).rstrip()}\n---\n{body}"


def _metadata(path: Path, stated: Mapping[str, str]) -> bytes:
    table = pq.read_table(path)
    told = zip(table["source_id"].to_pylist(), table["licence"].to_pylist(), strict=True)
    column = pa.array([stated.get(source, licence) for source, licence in told], pa.string())
    sink = pa.BufferOutputStream()
    pq.write_table(table.set_column(table.schema.get_field_index("licence"), "licence", column), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def _card(text: str, dataset: Dataset, stated: Mapping[str, str], old_content: str) -> str:
    # Part of every config, so that no cache takes the rows without licences for these.
    header, body = split_card(text.replace(old_content, content_of(dataset)))
    header["license"] = sorted({hub_name(row["licence"] or "") for row in dataset.items})
    counts = Counter(stated.values())
    lines = [f"- {licence}: {count} {'source' if count == 1 else 'sources'}" for licence, count in sorted(counts.items())]
    told = "These sources came without a known licence; their publisher states it, in the column `licence` too."
    return joined_card(
        header, "\n".join([body.rstrip("\n"), "", "## Licences stated by the publisher", "", told, "", *lines, ""])
    )
