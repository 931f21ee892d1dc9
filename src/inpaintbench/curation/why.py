"""The whole trail of one clip: where it came from, what was measured, what was decided, and where it ended."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.facts import LicenceCheck, latest_checks, uri_of
from inpaintbench.curation.rules import parse_label
from inpaintbench.errors import InputError
from inpaintbench.files import display_name
from inpaintbench.lazily import lazily
from inpaintbench.steps import OF_HOLES
from inpaintbench.tables import to_records
from inpaintbench.types import Answer, Attribute, Clip, Corruption, Download, Item, Selection, Slice, Source
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

Record = TypeVar("Record")
_SHOWN = 5


@dataclass(frozen=True)
class Ending:
    """One item that a clip became part of."""

    item: Item
    corruption: Corruption | None
    slices: tuple[str, ...]


@dataclass(frozen=True)
class Trail:
    """Everything that is stored about a clip."""

    clip: Clip
    source: Source | None
    download: Download | None
    """None for footage that was not downloaded."""
    check: LicenceCheck | None
    """Last answer of upstream on the licence; None where nobody has asked again."""
    facts: tuple[Attribute, ...]
    """Rows of the source first, then of the clip."""
    selections: tuple[Selection, ...]
    answers: tuple[Answer, ...]
    copies: tuple[str, ...]
    """Clips that are said to be duplicates of this one."""
    endings: tuple[Ending, ...]


def find_clip(workspace: Workspace, name: str) -> Clip:
    """The clip that people call ``name``: the beginning of its id, the path of its source, or ``SOURCE:FRAME``.

    Raises:
        InputError: no clip is called so, or several are.
    """
    sources = workspace.columns("sources", Source, columns=["source_id", "uri"])
    matches = _of_source(workspace, sources, name)
    if not matches:
        source, colon, frame = name.rpartition(":")
        held = _of_source(workspace, sources, source) if colon and re.fullmatch(r"[0-9]{1,12}", frame) else []
        matches = [row for row in held if row["start_frame"] <= int(frame) < row["end_frame"]]
    if len(matches) != 1:
        ids = workspace.columns("clips", Clip, columns=["clip_id"])
        matches = matches or (ids.filter(pc.starts_with(ids["clip_id"], name)).to_pylist() if name else [])
        if len(matches) != 1:
            if not ids.num_rows:
                raise InputError("the workspace has no clips yet; `inpaintbench curation clips` makes them")
            shown = [row["clip_id"] for row in matches[:_SHOWN]] or ids["clip_id"].slice(0, _SHOWN).to_pylist()
            count, such_as = f"{len(matches)} clips are" if matches else "no clip is", ", ".join(map(str, shown))
            raise InputError(f"{count} called {name!r}; name one by its id, such as {such_as}, or as SOURCE:FRAME")
    (clip,) = _records(workspace, "clips", Clip, "clip_id", [matches[0]["clip_id"]])
    return clip


def _of_source(workspace: Workspace, sources: pa.Table, name: str) -> list[dict[str, Any]]:
    # Letters and digits are never percent-encoded, so few addresses have to be decoded.
    plain = max(re.findall("[A-Za-z0-9]+", name), key=len, default="")
    sources = sources.filter(pc.match_substring(sources["uri"], plain))
    called = [source for source, uri in zip(*(sources[column].to_pylist() for column in ("source_id", "uri")), strict=True)
              if name in (uri, display_name(uri))]  # fmt: skip
    columns = ["clip_id", "source_id", "start_frame", "end_frame"]
    matches: list[dict[str, Any]] = workspace.columns(
        "clips", Clip, columns=columns, where=("source_id", set(called))
    ).to_pylist()
    return matches


def trail(workspace: Workspace, clip: Clip) -> Trail:
    """Everything that the tables of ``workspace`` hold about ``clip``; missing tables count as empty."""
    subjects = [clip.source_id, clip.clip_id]
    sources = _records(workspace, "sources", Source, "source_id", [clip.source_id])
    source = sources[0] if sources else None  # of several with the same bytes, the one that `footage.distinct` keeps
    of_bytes = _records(workspace, "downloads", Download, "sha256", [source.sha256]) if source else []
    own = (row for row in of_bytes if source and (uri_of(row.fetcher, row.name), row.licence) == (source.uri, source.licence))
    download = next(own, None)
    facts: list[Attribute] = []
    copies: list[str] = []
    steps = (step for step in workspace.steps("attributes") if step not in OF_HOLES)
    for measured, some in itertools.groupby(steps, key=lambda step: step.startswith("measure.")):
        names = list(some)
        # What is measured is written clip by clip, and tells of clips alone.
        where = ("subject_id", {clip.clip_id} if measured else set(subjects))
        facts += to_records(workspace.columns("attributes", Attribute, steps=names, where=where, together=measured), Attribute)
        if not measured:
            named = workspace.columns("attributes", Attribute, steps=names, where=("value_text", {clip.clip_id}))
            copies += named.filter(pc.starts_with(named["name"], "duplicate"))["subject_id"].to_pylist()
    items = _records(workspace, "items", Item, "clip_id", [clip.clip_id])
    made = _records(workspace, "corruptions", Corruption, "corruption_id", [item.corruption_id for item in items])
    corruptions = {row.corruption_id: row for row in made}
    slices_of: dict[str, list[str]] = {item.item_id: [] for item in items}
    for slices in workspace.batches("slices", Slice, columns=["name", "item_ids"]) if items else ():
        for item_id, slice_names in slices_of.items():  # ids are JSON, of millions of items perhaps
            holding = pc.match_substring(slices["item_ids"], json.dumps(item_id))
            slice_names += slices.filter(holding)["name"].to_pylist()
    return Trail(
        clip=clip,
        source=source,
        download=download,
        check=latest_checks(workspace).get(source.uri) if source and download else None,
        facts=tuple(sorted(facts, key=lambda row: subjects.index(row.subject_id))),
        selections=tuple(_records(workspace, "selection", Selection, "clip_id", [clip.clip_id])),
        answers=tuple(_records(workspace, "answers", Answer, "subject_id", subjects)),
        copies=tuple(copies),
        endings=tuple(Ending(item, corruptions.get(item.corruption_id), tuple(slices_of[item.item_id])) for item in items),
    )


def _records(workspace: Workspace, table: str, record: type[Record], column: str, values: Collection[str]) -> list[Record]:
    return to_records(workspace.columns(table, record, where=(column, set(values))), record)


def unit_and_direction(name: str) -> tuple[str, str]:
    """Unit and direction that the leaf of a measured attribute states; both empty for anything else."""
    if name not in ATTRIBUTES:
        return "", ""
    leaf = ATTRIBUTES.get(name)
    return leaf.unit, leaf.direction


def margin(selection: Selection) -> float | None:
    """Return how far the value lies inside the nearest threshold of its rule, below 0 outside.

    None where there is no such number.
    """
    rule = parse_label(selection.rule)
    if rule is None or not isinstance(selection.value, int | float):
        return None
    distances = [
        selection.value - bound if key in ("at_least", "above") else bound - selection.value
        for key, bound in rule.bounds.items()
        if isinstance(bound, float)
    ]
    return min(distances, default=None)
