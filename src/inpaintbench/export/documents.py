"""Documents about a dataset, written from its manifest alone: card, NOTICE, Croissant and manifest itself.

The same manifest, with the same sizes of the data files, gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.export import layout, responsible_ai
from inpaintbench.export.card import card, first_paragraph, plots
from inpaintbench.export.card.plots import FOLDER as PICTURES
from inpaintbench.export.card.strips import is_strip
from inpaintbench.export.card.words import sources
from inpaintbench.export.layout import configs, different, metadata_files, splits
from inpaintbench.export.licences import is_known, licence_url, spdx
from inpaintbench.export.notice import notice
from inpaintbench.manifest import (
    ALL,
    FOLDER,
    MANIFEST,
    ONE_FILE,
    OWN_HASH,
    SHARD_ROWS,
    content_of,
    is_table,
    one_file,
    root,
    tables,
)
from inpaintbench.types import Dataset

# croissant.json: the dataset in the vocabulary of ML Commons, with media columns and the SHA-256 of every file.
#
# Format: Croissant 1.1, https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. A dataset does not know where or
# when it will be published, so ``datePublished`` is left out, and ``url`` and ``creator`` where its authors did not state them;
# the same manifest gives the same bytes.

# Media files beyond it are described by their folders alone; their hashes stand in the manifest.
MOST_FILES = 5_000
# Terms and their order are fixed by the standard.
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_FORMATS = {
    ".mp4": "video/mp4", ".png": "image/png", ".svg": "image/svg+xml", ".json": "application/json", ".md": "text/markdown",
    ".parquet": "application/x-parquet", "": "text/plain",
}  # fmt: skip
_TYPES = {pa.int64(): "sc:Integer", pa.float64(): "sc:Float", pa.bool_(): "sc:Boolean"}


def croissant(dataset: Dataset, sizes: Mapping[str, int]) -> bytes:
    """The JSON-LD, with a record set for each config and for each folder of media.

    Args:
        dataset: with the hashes of every file but ``croissant.json`` and the manifest themselves.
        sizes: of these files, in bytes; those that are not known are left out.
    """
    metadata = _metadata_names(dataset)
    folders = _folders(dataset)
    paper, told = benchmark_of(dataset).paper, dataset.facts.get("dataset", {})
    cited = told.get("citation") or (paper.bibtex if paper else None)
    stated = {row["licence"] for row in sources(dataset.items).values() if is_known(row["licence"])}
    licences = sorted({licence_url(licence) or spdx(licence) or str(licence) for licence in stated})
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", responsible_ai.CONFORMS_TO],
        "name": dataset.name,
        "description": _description(dataset, folders),
        **({"license": licences} if licences else {}),
        "version": dataset.version,
        "identifier": content_of(dataset),
        "isLiveDataset": False,
        **({"url": told["homepage"]} if "homepage" in told else {}),
        **({"creator": [{"@type": "sc:Person", "name": name} for name in told["authors"]]} if "authors" in told else {}),
        **({"citeAs": cited} if cited else {}),
        **responsible_ai.rai_fields(dataset),
        "distribution": [
            *_file_objects(dataset, sizes, folders),
            *(_file_set(f"{name}-files", [f"{name}/*{suffix}"], suffix) for name, suffix in folders),
            *(_file_set(f"{slice_}-rows", names, ".parquet") for slice_, names in metadata.items()),
        ],
        "recordSet": [
            *(_media_set(name, suffix) for name, suffix in folders),
            *(_slice_set(part.name, part.rule, dataset, folders) for part in layout.configs(dataset)),
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _description(dataset: Dataset, folders: Sequence[tuple[str, str]]) -> str:
    text = f"{first_paragraph(dataset)} README.md is the card, NOTICE names the sources and their licences."
    if _too_many(dataset, folders):
        text += f" The SHA-256 of each media file stands in {MANIFEST if dataset.format_version == ONE_FILE else f'{FOLDER}/'}."
    return text


def _metadata_names(dataset: Dataset) -> dict[str, list[str]]:
    """Config -> its files of rows."""
    split_of = layout.splits(dataset.items)
    return {
        part.name: [name for names in layout.metadata_files(part, split_of).values() for name in names]
        for part in layout.configs(dataset)
    }


def _folders(dataset: Dataset) -> list[tuple[str, str]]:
    """Folders of media and the suffix of their files."""
    names = {name for row in layout.different(dataset.items, *layout.MEDIA_COLUMNS) for name in layout.media_names(row)}
    return sorted({(str(PurePosixPath(name).parent), PurePosixPath(name).suffix) for name in names})


def _too_many(dataset: Dataset, folders: Sequence[tuple[str, str]]) -> bool:
    known = {name for name, _ in folders}
    return sum(name.partition("/")[0] in known for name in dataset.files) > MOST_FILES


def _file_objects(dataset: Dataset, sizes: Mapping[str, int], folders: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    left_out = {name for name, _ in folders} if _too_many(dataset, folders) else set()
    return [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            **({"contentSize": f"{sizes[name]} B"} if name in sizes else {}),
            "encodingFormat": _FORMATS.get(PurePosixPath(name).suffix, "application/octet-stream"),
            "sha256": sha256,
        }
        for name, sha256 in sorted(dataset.files.items())
        if name.partition("/")[0] not in left_out and not is_table(name)
    ]


def _file_set(name: str, includes: Sequence[str], suffix: str) -> dict[str, Any]:
    return {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": _FORMATS[suffix], "includes": list(includes)}


def _media_set(folder: str, suffix: str) -> dict[str, Any]:
    """The files of a folder: path and content."""
    files = {"fileSet": {"@id": f"{folder}-files"}}
    kind = "sc:ImageObject" if suffix == ".png" else "sc:VideoObject"
    named = {"source": {**files, "extract": {"fileProperty": "fullpath"}}}
    content = {"source": {**files, "extract": {"fileProperty": "content"}}}
    name = _media_name(folder)
    fields = [_field(name, "path", "sc:Text", **named), _field(name, "content", kind, **content)]
    return _record_set(name, f"Media files of the folder {folder}.", fields, key="path")


def _media_name(folder: str) -> str:
    """No slice is called so, since slices are files."""
    return f"media/{folder}"


def _slice_set(name: str, rule: str, dataset: Dataset, folders: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The rows of a slice; columns of paths name the record set of their media."""
    there = {folder for folder, _ in folders}
    of_columns = {layout.file_column(part): folder for part, folder in layout.MEDIA.items() if folder in there}
    fields = []
    for column in layout.row_schema(dataset.items):
        is_list = pa.types.is_list(column.type)
        properties: dict[str, Any] = {"source": {"fileSet": {"@id": f"{name}-rows"}, "extract": {"column": column.name}}}
        if folder := of_columns.get(column.name):
            # Not ``references``: with them mlcroissant 1.1 reads no row, since it can open no video to join.
            properties["description"] = f"{'Paths' if is_list else 'Path'} of the record set {_media_name(folder)}."
        if is_list:
            properties |= {"isArray": True, "arrayShape": "-1"}
        fields.append(_field(name, column.name, _TYPES.get(column.type, "sc:Text"), **properties))
    return _record_set(name, rule, fields, key="item_id")


def _record_set(name: str, description: str, fields: Sequence[dict[str, Any]], *, key: str) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet", "@id": name, "name": name, "description": description, "key": {"@id": f"{name}/{key}"},
        "field": list(fields),
    }  # fmt: skip


def _field(of: str, name: str, kind: str, **properties: Any) -> dict[str, Any]:
    return {"@type": "cr:Field", "@id": f"{of}/{name}", "name": name, "dataType": kind, **properties}


CARD = "README.md"
NOTICE = "NOTICE"
CROISSANT = "croissant.json"


def is_document(name: str) -> bool:
    """Return whether a file of a dataset is made from its manifest, or is a table of it; all others are data."""
    return is_table(name) or name in (CARD, NOTICE, CROISSANT) or (name.startswith(f"{PICTURES}/") and name.endswith(".svg"))


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
