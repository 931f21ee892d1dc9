"""NOTICE: whose footage a dataset is made from, as attribution licences ask for it, in plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from inpaintbench.export.layout import different
from inpaintbench.export.licences import NOT_STATED, licence_url, spdx
from inpaintbench.types import Dataset, Plain

# Sources that are nobody's, and too many to name.
_DRAWN = "fingerprints:"
# What says how a clip was made from its source.
_SPAN = ("start_frame", "end_frame", "frames", "width", "height", "normalised")


def notice(dataset: Dataset) -> str:
    """Every source once, grouped by licence: what it is called, its author, its page, and what was changed."""
    groups: dict[str, dict[str, list[Plain]]] = {}
    for row in different(dataset.items, "source_id", "licence", *_SPAN):
        licence = spdx(row["licence"]) or _line(row["licence"]) or f"licence {NOT_STATED}"
        groups.setdefault(licence, {}).setdefault(str(row["source_id"]), []).append(row)
    lines = [*_top(dataset)]
    for licence, sources in sorted(groups.items()):
        lines += _group(licence, sources, titles=dataset.facts.get("titles", {}))
    return "\n".join([*lines, *_bottom(dataset)])


def _top(dataset: Dataset) -> list[str]:
    told = dataset.facts.get("dataset", {})
    stills = all(row["frames"] == 1 for row in different(dataset.items, "frames"))
    what = (
        "pictures were scaled, cropped or kept as they are"
        if stills
        else "spans of frames were cut out, brought to another size and rate where stated, and encoded anew"
    )
    return [
        f"{_line(dataset.name)}, version {_line(dataset.version)}",
        *([f"by {_line(', '.join(told['authors']))}"] if "authors" in told else []),
        *(_line(told[name]) for name in ("homepage", "contact") if name in told),
        "",
        "What this dataset is made from, source by source. Licences are those that the sources came with or that whoever",
        "published the dataset stated; nobody else has checked them.",
        "",
        f"Changes made to every source: {what};",
        "corrupted versions, masks and measurements were made from the result. Each entry says what was done to it.",
        "",
    ]


def _group(licence: str, sources: Mapping[str, Sequence[Plain]], *, titles: Mapping[str, Any]) -> list[str]:
    count = len(sources)
    url = licence_url(licence)
    lines = [f"== {licence} ({count} {'source' if count == 1 else 'sources'}) ==", *([url] if url else []), ""]
    named = {name: rows for name, rows in sources.items() if rows[0].get("source_uri")}
    drawn = [rows for rows in named.values() if str(rows[0]["source_uri"]).startswith(_DRAWN)]
    entries = [
        _entry(_title(source_id, rows[0], titles), rows)
        for source_id, rows in named.items()
        if not str(rows[0]["source_uri"]).startswith(_DRAWN)
    ]
    for entry in sorted(entries):
        lines += [*entry, ""]
    if drawn:
        lines += [f"- {len(drawn)} fingerprints of nobody, drawn by the program", ""]
    hidden = count - len(named)
    if hidden:
        lines += [f"- {hidden} of these sources {'is' if hidden == 1 else 'are'} not named here: their truth is held back.", ""]
    return lines


def _title(source_id: str, row: Plain, titles: Mapping[str, Any]) -> str:
    name, title = _line(unquote(str(row["source_uri"]))), _line(titles.get(source_id))
    return f'"{title}" ({name})' if title else name


def _entry(title: str, rows: Sequence[Plain]) -> list[str]:
    first = rows[0]
    facts = {"author": first.get("author"), "page": first.get("page_url"), "changes": _changes(rows)}
    return [f"- {title}", *(f"  {name}: {_line(value)}" for name, value in facts.items() if value)]


def _changes(rows: Sequence[Plain]) -> str:
    """The spans that were taken, and what was done to their frames."""
    spans = sorted({(row["start_frame"], row["end_frame"]) for row in rows if row["frames"] > 1})
    shown = ", ".join(f"{start} to {end}" for start, end in spans)
    done = sorted({str(text).partition("; ")[2] for row in rows if (text := row["attributes"].get("normalised"))})
    sizes = sorted({f"{row['width']}x{row['height']}" for row in rows})
    return "; ".join([*([f"frames {shown}"] if spans else []), *(done or [f"size {', '.join(sizes)}"])])


def _bottom(dataset: Dataset) -> list[str]:
    program = f"inpaintbench {dataset.versions.get('inpaintbench', '')}".rstrip()
    return [
        f"Made with {program}. The licence of that program, Apache-2.0, covers the program and not this dataset.",
        "",
    ]


def _line(text: object) -> str:
    """One line of printable characters, whatever somebody wrote."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in str(text or "")).split())
