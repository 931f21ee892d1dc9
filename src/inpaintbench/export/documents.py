"""Documents about a dataset, written from its manifest alone: card, NOTICE, Croissant and manifest itself.

The same manifest, with the same sizes of the data files, gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from inpaintbench.export.card import card, plots
from inpaintbench.export.card.plots import FOLDER
from inpaintbench.export.card.strips import is_strip
from inpaintbench.export.croissant import croissant
from inpaintbench.export.layout import configs, different, metadata_files, splits
from inpaintbench.export.notice import notice
from inpaintbench.manifest import ALL, MANIFEST, ONE_FILE, OWN_HASH, SHARD_ROWS, is_table, one_file, root, tables
from inpaintbench.types import Dataset

CARD = "README.md"
NOTICE = "NOTICE"
CROISSANT = "croissant.json"


def is_document(name: str) -> bool:
    """Return whether a file of a dataset is made from its manifest, or is a table of it; all others are data."""
    return is_table(name) or name in (CARD, NOTICE, CROISSANT) or (name.startswith(f"{FOLDER}/") and name.endswith(".svg"))


def is_remade(name: str) -> bool:
    """Return whether a file of a dataset is made anew with its rows: a document, or a strip of pictures on the card."""
    return is_document(name) or is_strip(name)


def sealed(dataset: Dataset, sizes: Mapping[str, int]) -> tuple[Dataset, dict[str, bytes]]:
    """The manifest with the hashes of its documents, and the documents with ``dataset.json``: path -> bytes.

    Args:
        dataset: ``files`` has the hash of every data file; documents in it are made anew.
        sizes: of the data files, in bytes.
    """
    data = {name: sha256 for name, sha256 in dataset.files.items() if not is_document(name)}
    dataset = replace(dataset, files=dict(sorted(data.items())), facts=_facts(dataset))
    written = _documents(dataset, {name: sizes[name] for name in data if name in sizes})
    dataset = replace(dataset, files=dict(sorted((data | _hashes(written)).items())))
    if dataset.format_version == ONE_FILE:
        text = one_file(dataset)
        return replace(dataset, manifest_sha256=json.loads(text)[OWN_HASH]), written | {MANIFEST: text}
    listed = dict(tables(dataset, {**sizes, **{name: len(text) for name, text in written.items()}}))
    dataset = replace(dataset, files=dict(sorted((dict(dataset.files) | _hashes(listed)).items())))
    text = root(dataset, item_tables=_item_tables(dataset))
    return replace(dataset, manifest_sha256=json.loads(text)[OWN_HASH]), written | listed | {MANIFEST: text}


def _item_tables(dataset: Dataset) -> dict[str, int]:
    """File of the rows of all items -> how many."""
    split_of = splits(dataset.items)
    whole = next(part for part in configs(dataset) if part.name == ALL)
    counts, found = Counter(split_of.values()), dict[str, int]()
    for split, names in metadata_files(whole, split_of).items():
        found |= {name: min(SHARD_ROWS, counts[split] - place * SHARD_ROWS) for place, name in enumerate(names)}
    return found


def _facts(dataset: Dataset) -> dict[str, object]:
    """Without the titles of sources that are not here, or that rows do not name because their truth is held back."""
    facts = dict(dataset.facts)
    if "titles" in facts:
        named = {row["source_id"] for row in different(dataset.items, "source_id", "source_uri") if row.get("source_uri")}
        facts["titles"] = {source: title for source, title in sorted(facts["titles"].items()) if source in named}
    return facts


def _documents(dataset: Dataset, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """Croissant last: it states the hashes of the others."""
    pictures = plots(dataset)
    written = {picture.path: picture.svg.encode() for picture in pictures}
    written[NOTICE] = notice(dataset).encode()
    written[CARD] = card(dataset, pictures=pictures, sizes=sizes).encode()
    known = replace(dataset, files=dict(dataset.files) | _hashes(written))
    written[CROISSANT] = croissant(known, {**sizes, **{name: len(text) for name, text in written.items()}})
    return written


def _hashes(written: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(text).hexdigest() for name, text in written.items()}
