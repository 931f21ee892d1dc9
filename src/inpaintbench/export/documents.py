"""Documents about a dataset, written from its manifest alone: card, NOTICE, Croissant and manifest itself.

The same manifest, with the same sizes of the data files, gives the same bytes. Croissant 1.1 is the dataset in the vocabulary of
ML Commons, https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. A dataset does not know where or when it will be
published, so ``datePublished`` is left out, and ``url`` and ``creator`` where its authors did not state them.

Its fields for responsible AI say how the data came about, what it is for, and what it should not be used for: Croissant RAI 1.0,
https://docs.mlcommons.org/croissant/docs/croissant-rai-spec.html. What the manifest knows is told from it; what only people know
comes from the builder's table ``[rai]``, and is left out where they said nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from inpaintbench import manifest
from inpaintbench.benchmarks import benchmark_of, drawn_footage
from inpaintbench.export import layout
from inpaintbench.export.card import card, first_paragraph, is_strip, plots
from inpaintbench.export.card.plots import FOLDER as PICTURES
from inpaintbench.export.card.words import are_stills, counted, listed, one_line, sources, things
from inpaintbench.export.licences import NOT_STATED, is_known, licence_url, spdx
from inpaintbench.pages.words import span
from inpaintbench.types import Dataset, Plain

CARD = "README.md"
NOTICE = "NOTICE"
CROISSANT = "croissant.json"
# What says how a clip was made from its source.
_SPAN = ("start_frame", "end_frame", "frames", "width", "height", "normalised")
# Media files beyond it are described by their folders alone; their hashes stand in the manifest.
MOST_FILES = 5_000
_OF_CROISSANT = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject", "fileProperty",
    "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
    "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
_OF_OTHERS: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
# Terms are fixed by the standard, which lists them by the alphabet.
_CONTEXT = dict(sorted({**_OF_OTHERS, **{term: f"cr:{term}" for term in _OF_CROISSANT}}.items()))
_FORMATS = {
    ".mp4": "video/mp4", ".png": "image/png", ".svg": "image/svg+xml", ".json": "application/json", ".md": "text/markdown",
    ".parquet": "application/x-parquet", "": "text/plain",
}  # fmt: skip
_TYPES = {pa.int64(): "sc:Integer", pa.float64(): "sc:Float", pa.bool_(): "sc:Boolean"}
CONFORMS_TO = "http://mlcommons.org/croissant/RAI/1.0"
# Entry of the table [rai] -> its field.
STATED: Mapping[str, str] = {
    "limitations": "rai:dataLimitations",
    "biases": "rai:dataBiases",
    "personal_information": "rai:personalSensitiveInformation",
    "use_cases": "rai:dataUseCases",
    "social_impact": "rai:dataSocialImpact",
    "collection_timeframe": "rai:dataCollectionTimeframe",
    "annotator_demographics": "rai:annotatorDemographics",
    "maintenance": "rai:dataReleaseMaintenancePlan",
}


def is_document(name: str) -> bool:
    """Return whether a file of a dataset is made from its manifest, or is a table of it; all others are data."""
    is_picture = name.startswith(f"{PICTURES}/") and name.endswith(".svg")
    return manifest.is_table(name) or name in (CARD, NOTICE, CROISSANT) or is_picture


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
    facts = dict(dataset.facts)
    if "titles" in facts:  # without those of sources that are not here, or that rows do not name because their truth is held back
        named = {row["source_id"] for row in layout.different(dataset.items, "source_id", "source_uri") if row.get("source_uri")}
        facts["titles"] = {source: title for source, title in sorted(facts["titles"].items()) if source in named}
    dataset = replace(dataset, files=dict(sorted(data.items())), facts=facts)
    sizes = {name: sizes[name] for name in data if name in sizes}
    pictures = plots(dataset)
    written = {picture.path: picture.svg.encode() for picture in pictures}
    written[NOTICE] = notice(dataset).encode()
    written[CARD] = card(dataset, pictures=pictures, sizes=sizes).encode()
    # Croissant states the hashes of the others.
    written[CROISSANT] = croissant(_with_hashes(dataset, written), {**sizes, **_lengths(written)})
    dataset = _with_hashes(dataset, written)
    if dataset.format_version == manifest.ONE_FILE:
        text = manifest.one_file(dataset)
    else:
        listed = dict(manifest.tables(dataset, {**sizes, **_lengths(written)}))
        dataset, written = _with_hashes(dataset, listed), written | listed
        # How many rows of all items each file has.
        split_of = layout.splits(dataset.items)
        whole = next(part for part in layout.configs(dataset) if part.name == manifest.ALL)
        counts, found = Counter(split_of.values()), dict[str, int]()
        for split, names in layout.metadata_files(whole, split_of).items():
            found |= {
                name: min(manifest.SHARD_ROWS, counts[split] - place * manifest.SHARD_ROWS) for place, name in enumerate(names)
            }
        text = manifest.root(dataset, item_tables=found)
    return replace(dataset, manifest_sha256=json.loads(text)[manifest.OWN_HASH]), written | {manifest.MANIFEST: text}


def _with_hashes(dataset: Dataset, written: Mapping[str, bytes]) -> Dataset:
    hashes = {name: hashlib.sha256(text).hexdigest() for name, text in written.items()}
    return replace(dataset, files=dict(sorted((dict(dataset.files) | hashes).items())))


def _lengths(written: Mapping[str, bytes]) -> dict[str, int]:
    return {name: len(text) for name, text in written.items()}


def notice(dataset: Dataset) -> str:
    """NOTICE: every source once, grouped by licence: what it is called, its author, its page, and what was changed.

    Attribution licences ask for it, in plain text.
    """
    groups: dict[str, dict[str, list[Plain]]] = {}
    for row in layout.different(dataset.items, "source_id", "licence", *_SPAN):
        licence = spdx(row["licence"]) or one_line(row["licence"]) or f"licence {NOT_STATED}"
        groups.setdefault(licence, {}).setdefault(str(row["source_id"]), []).append(row)
    told = dataset.facts.get("dataset", {})
    what = (
        "pictures were scaled, cropped or kept as they are"
        if are_stills(dataset.items)
        else "spans of frames were cut out, brought to another size and rate where stated, and encoded anew"
    )
    lines = [
        f"{one_line(dataset.name)}, version {one_line(dataset.version)}",
        *([f"by {one_line(', '.join(told['authors']))}"] if "authors" in told else []),
        *(one_line(told[name]) for name in ("homepage", "contact") if name in told),
        "",
        "What this dataset is made from, source by source. Licences are those that the sources came with or that whoever",
        "published the dataset stated; nobody else has checked them.",
        "",
        f"Changes made to every source: {what};",
        "corrupted versions, masks and measurements were made from the result. Each entry says what was done to it.",
        "",
    ]
    for licence, rows_of in sorted(groups.items()):
        lines += _group(licence, rows_of, titles=dataset.facts.get("titles", {}))
    program = f"inpaintbench {dataset.versions.get('inpaintbench', '')}".rstrip()
    lines.append(f"Made with {program}. The licence of that program, Apache-2.0, covers the program and not this dataset.")
    return "\n".join([*lines, ""])


def _group(licence: str, rows_of: Mapping[str, Sequence[Plain]], *, titles: Mapping[str, Any]) -> list[str]:
    count, entries, drawn, hidden = len(rows_of), [], Counter[str](), 0
    called = {name: footage.called for name, footage in drawn_footage().items() if footage.called}
    for source_id, rows in rows_of.items():
        first = rows[0]
        if not first.get("source_uri"):
            hidden += 1
        elif (leaf := str(first["source_uri"]).partition(":")[0]) in called:
            drawn[called[leaf]] += 1
        else:
            name, title = one_line(unquote(str(first["source_uri"]))), one_line(titles.get(source_id))
            facts = {"author": first.get("author"), "page": first.get("page_url"), "changes": _changes(rows)}
            told = [f"  {what}: {one_line(value)}" for what, value in facts.items() if value]
            entries.append([f'- "{title}" ({name})' if title else f"- {name}", *told, ""])
    url = licence_url(licence)
    lines = [f"== {licence} ({count} {'source' if count == 1 else 'sources'}) ==", *([url] if url else []), ""]
    lines += [line for entry in sorted(entries) for line in entry]
    for what, number in sorted(drawn.items()):
        lines += [f"- {number} {what}, drawn by the program", ""]
    if hidden:
        lines += [f"- {hidden} of these sources {'is' if hidden == 1 else 'are'} not named here: their truth is held back.", ""]
    return lines


def _changes(rows: Sequence[Plain]) -> str:
    """The spans that were taken, and what was done to their frames."""
    spans = sorted({(row["start_frame"], row["end_frame"]) for row in rows if row["frames"] > 1})
    shown = ", ".join(f"{start} to {end}" for start, end in spans)
    done = sorted({str(text).partition("; ")[2] for row in rows if (text := row["attributes"].get("normalised"))})
    sizes = sorted({f"{row['width']}x{row['height']}" for row in rows})
    return "; ".join([*([f"frames {shown}"] if spans else []), *(done or [f"size {', '.join(sizes)}"])])


def croissant(dataset: Dataset, sizes: Mapping[str, int]) -> bytes:
    """The JSON-LD, with a record set for each config and for each folder of media.

    Args:
        dataset: with the hashes of every file but ``croissant.json`` and the manifest themselves.
        sizes: of these files, in bytes; those that are not known are left out.
    """
    configs, split_of = layout.configs(dataset), layout.splits(dataset.items)
    row_files = {part.name: [name for of in layout.metadata_files(part, split_of).values() for name in of] for part in configs}
    media = [name for row in layout.different(dataset.items, *layout.MEDIA_COLUMNS) for name in layout.media_names(row)]
    folders = sorted({(str(PurePosixPath(name).parent), PurePosixPath(name).suffix) for name in media})
    there = {folder for folder, _ in folders}
    description = f"{first_paragraph(dataset)} README.md is the card, NOTICE names the sources and their licences."
    files = [name for name in sorted(dataset.files) if not manifest.is_table(name)]
    if sum(name.partition("/")[0] in there for name in dataset.files) > MOST_FILES:
        where = manifest.MANIFEST if dataset.format_version == manifest.ONE_FILE else f"{manifest.FOLDER}/"
        description += f" The SHA-256 of each media file stands in {where}."
        files = [name for name in files if name.partition("/")[0] not in there]
    paper, told = benchmark_of(dataset).paper, dataset.facts.get("dataset", {})
    cited = told.get("citation") or (paper.bibtex if paper else None)
    stated = {row["licence"] for row in sources(dataset.items).values() if is_known(row["licence"])}
    licences = sorted({licence_url(licence) or spdx(licence) or str(licence) for licence in stated})
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", CONFORMS_TO],
        "name": dataset.name,
        "description": description,
        **({"license": licences} if licences else {}),
        "version": dataset.version,
        "identifier": manifest.content_of(dataset),
        "isLiveDataset": False,
        **({"url": told["homepage"]} if "homepage" in told else {}),
        **({"creator": [{"@type": "sc:Person", "name": name} for name in told["authors"]]} if "authors" in told else {}),
        **({"citeAs": cited} if cited else {}),
        **rai_fields(dataset),
        "distribution": [
            *(_file_object(name, dataset.files[name], sizes.get(name)) for name in files),
            *(_file_set(f"{name}-files", [f"{name}/*{suffix}"], suffix) for name, suffix in folders),
            *(_file_set(f"{slice_}-rows", names, ".parquet") for slice_, names in row_files.items()),
        ],
        "recordSet": [
            *(_media_set(name, suffix) for name, suffix in folders),
            *(_slice_set(part.name, part.rule, layout.row_schema(dataset.items), there) for part in configs),
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _file_object(name: str, sha256: str, size: int | None) -> dict[str, Any]:
    encoding = _FORMATS.get(PurePosixPath(name).suffix, "application/octet-stream")
    sized = {} if size is None else {"contentSize": f"{size} B"}
    named = {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name}
    return {**named, **sized, "encodingFormat": encoding, "sha256": sha256}


def _file_set(name: str, includes: Sequence[str], suffix: str) -> dict[str, Any]:
    return {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": _FORMATS[suffix], "includes": list(includes)}


def _media_set(folder: str, suffix: str) -> dict[str, Any]:
    """The files of a folder: path and content."""
    files, name = {"fileSet": {"@id": f"{folder}-files"}}, _media_name(folder)
    kind = "sc:ImageObject" if suffix == ".png" else "sc:VideoObject"
    fields = [
        _field(name, "path", "sc:Text", source={**files, "extract": {"fileProperty": "fullpath"}}),
        _field(name, "content", kind, source={**files, "extract": {"fileProperty": "content"}}),
    ]
    return _record_set(name, f"Media files of the folder {folder}.", fields, key="path")


def _media_name(folder: str) -> str:
    """No slice is called so, since slices are files."""
    return f"media/{folder}"


def _slice_set(name: str, rule: str, schema: pa.Schema, folders: set[str]) -> dict[str, Any]:
    """The rows of a slice; columns of paths name the record set of their media."""
    of_columns = {layout.file_column(part): folder for part, folder in layout.MEDIA.items() if folder in folders}
    fields = []
    for column in schema:
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


def rai_fields(dataset: Dataset) -> dict[str, Any]:
    """Field -> its text, or a list of texts; of the fields that the manifest or the builder says something of."""
    words = benchmark_of(dataset)
    stated = {STATED[name]: text for name, text in dataset.facts.get("rai", {}).items()}
    limits = [*words.limits, *([stated.pop("rai:dataLimitations")] if "rai:dataLimitations" in stated else [])]
    uses = [words.use, *([stated.pop("rai:dataUseCases")] if "rai:dataUseCases" in stated else [])]
    leaves = dataset.recipe.get("leaves", {})
    from_sources, generated = set(leaves.get("source", {})), set(words.generated)
    kinds = ["Software Collection"] if from_sources & generated else []
    kinds += ["Secondary Data Analysis"] if from_sources - generated or not kinds else []
    return {
        "rai:dataCollection": _collection(dataset),
        "rai:dataCollectionType": kinds,
        "rai:dataPreprocessingProtocol": _preparation(dataset),
        "rai:dataUseCases": uses,
        **({"rai:dataLimitations": limits} if limits else {}),
        **_annotation(dataset.facts.get("raters", ())),
        "rai:machineAnnotationTools": [
            f"{kind} {name} {version}"
            for kind in ("attribute", "mask generator")
            for name, version in sorted(leaves.get(kind, {}).items())
        ],
        **stated,
    }


def unstated(dataset: Dataset) -> list[str]:
    """Entries of the table ``[rai]`` whose fields nobody and nothing says anything of."""
    told = rai_fields(dataset)
    return [name for name, field in STATED.items() if field not in told]


def _collection(dataset: Dataset) -> str:
    rows = sources(dataset.items).values()
    addresses = [str(row.get("source_uri") or "") for row in rows]
    origins = Counter(address.partition(":")[0] if ":" in address else "" for address in addresses)
    named = listed([f"{name or 'files of the builder'} ({count:,})" for name, count in sorted(origins.items())])
    licences = Counter(str(row["licence"] or "not stated") for row in rows)
    stated = listed([f"{name} ({count:,})" for name, count in sorted(licences.items())])
    leaves = dataset.recipe.get("leaves", {}).get("source", {})
    made = "".join(f" {text}" for name, text in benchmark_of(dataset).generated.items() if name in leaves)
    return f"{counted(len(addresses), 'source')} from {named}. Licences: {stated}.{made}"


def _preparation(dataset: Dataset) -> list[str]:
    normalised = {row["attributes"].get("normalised") for row in layout.different(dataset.items, "normalised")}
    steps = [f"{things(dataset.items)} brought to {how}" for how in sorted(filter(None, normalised), key=repr)]
    selection = dataset.facts.get("selection", {})
    steps += [f"selected by: {rule['rule']}, which dropped {rule['dropped']:,}" for rule in selection.get("rules", ())]
    leaves = dataset.recipe.get("leaves", {})
    steps += [f"{kind} {name} {version}" for kind in ("splitter", "normalizer") for name, version in leaves.get(kind, {}).items()]
    return steps[:50] or [f"recipe {dataset.recipe.get('recipe')}"]


def _annotation(raters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not raters:
        return {"rai:dataAnnotationProtocol": "No person annotated items; labels are measured or drawn by programs."}
    asked = listed([str(rating["question"]) for rating in raters])
    votes = [rating["votes"] / rating["clips"] for rating in raters if rating.get("clips")]
    told = {
        "rai:dataAnnotationProtocol": f"People answered {asked} in the app of inpaintbench; the card tells the agreement.",
        "rai:dataAnnotationPlatform": ["inpaintbench annotate"],
    }
    if votes:
        told["rai:annotationsPerItem"] = f"{span(f'{min(votes):.1f}', f'{max(votes):.1f}')} votes a clip, on average"
    return told | {"rai:annotatorDemographics": "not collected"}
