"""Two workspaces made into one: footage, clips and all that is known of them, and what was computed for it.

What is decided over all clips (selection, levels, items, slices) is decided again, and nothing counts as published: `masks pair
--append-to` adds to the dataset of one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from inpaintbench.curation.sources.base import media_of, parts_by_footage
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Rejection
from inpaintbench.export import removed
from inpaintbench.export.growing import MAY_DIFFER
from inpaintbench.files import copy_file, display_name, write_atomically
from inpaintbench.mirrors import root_of
from inpaintbench.recipes import dataset_table
from inpaintbench.recipes.evidence import AGREEMENT, Agreement
from inpaintbench.recipes.settings import recall, remember
from inpaintbench.steps import LEVELS, MASK_LEVELS, MEASURED_MASKS, PAIR, SELECT
from inpaintbench.storage import Address, Place, is_there, read, write
from inpaintbench.types import Answer, Attribute, Clip, Download, Source, canonical_json
from inpaintbench.workspace import Workspace

Record = TypeVar("Record")
_AT_ONCE = 6
# Table -> its records, and what makes two of them one.
_TABLES: Mapping[str, tuple[type[Any], Callable[[Any], Hashable]]] = {
    "sources": (Source, lambda row: row.source_id),
    "clips": (Clip, lambda row: row.clip_id),
    "attributes": (Attribute, lambda row: (row.subject_id, row.name)),
    "answers": (Answer, lambda row: (row.subject_id, row.question)),
    "downloads": (Download, lambda row: (row.fetcher, row.name)),
    "rejected": (Rejection, lambda row: (row.subject_id, row.step)),
    AGREEMENT: (Agreement, lambda row: (row.question, row.part)),
}
# Steps that decide over all clips.
_DECIDED = frozenset(
    {LEVELS, MASK_LEVELS, MEASURED_MASKS, PAIR, SELECT, "render", "render.second", "measure.second", "duplicates"}
)


@dataclass(frozen=True)
class Merged:
    """What came of a merge."""

    sources: int
    clips: int
    in_both: int
    """Clips that both had."""
    renamed: list[str]
    """Sources of the second whose names other footage of the first has: their new names."""


def merge(first: Workspace, second: Workspace, target: Path) -> Merged:
    """Make the workspace ``target``, a folder or a mirror, of two others, which stay as they are. What both know counts as the
    first has it.

    Raises:
        InputError: they are one workspace, their recipes differ in more than how much they make, or ``target`` is there already.
        WorkspaceError: one of them is in use or cannot be read.
    """
    if first.path.samefile(second.path):
        raise InputError(f"{str(first.path)!r} is both workspaces; give another one")
    recipe = _recipe(first, second)
    _check_parts(first, second)
    _, address = root_of(target)
    if is_there(address / "heads/1.json") if address else target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{str(target)!r} is there already; choose a new folder for --out")
    with ExitStack() as held:
        for one in (first, second):
            held.enter_context(one.locked())
        made = Workspace(target)
        held.enter_context(made.locked())
        blobs = {name: one.blobs for one in (second, first) for name in one.blobs.names()}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: _copy(blobs[name].place(name), made.blobs.place(name)), blobs))
        _merge_ledgers(first, second, made)
        # Source id -> a name of its own, of sources of the second that are called as other footage of the first is.
        taken = {row.uri: row.source_id for row in first.table("sources", Source)}
        doubles = [row for row in second.table("sources", Source) if taken.get(row.uri, row.source_id) != row.source_id]
        renamed = {
            row.source_id: f"{quote(Path(str(second.address or second.path.resolve())).name)}/{row.uri}" for row in doubles
        }
        for table, (record, key) in _TABLES.items():
            _merge_table(table, record, key, first, second, made, renamed if table == "sources" else {})
        removed.write(made, _orders(first, second, renamed))
        remember(made, recipe)
        dataset_table.keep(made, dataset_table.kept(first))
    counts = [{clip.clip_id for clip in one.table("clips", Clip)} for one in (first, second)]
    sources = len(made.table("sources", Source))
    return Merged(sources, len(counts[0] | counts[1]), len(counts[0] & counts[1]), sorted(renamed.values()))


def _recipe(first: Workspace, second: Workspace) -> Any:
    recipes = [recall(one) for one in (first, second)]
    told = [{"recipe": recipe.kind, **recipe.model_dump(mode="json")} for recipe in recipes]
    for name in sorted({*told[0], *told[1]} - MAY_DIFFER):
        one, other = (canonical_json(fields.get(name)) for fields in told)
        if one != other:
            raise InputError(f"the workspaces cannot be merged: {name} is {one} in the first and {other} in the second")
    return recipes[0]


def _check_parts(first: Workspace, second: Workspace) -> None:
    """Raise ``InputError`` where the two have other masks or inputs of one film: parts are found by their numbers."""
    parts = {row.source_id: (row.uri, row.parts) for row in first.table("sources", Source)}
    for row in second.table("sources", Source):
        uri, known = parts.get(row.source_id, ("", row.parts))
        if [media_of(one) for one in parts_by_footage(known)] != [media_of(one) for one in parts_by_footage(row.parts)]:
            called = " and ".join(dict.fromkeys(repr(display_name(name)) for name in (uri, row.uri)))
            raise InputError(
                f"masks or inputs of {called} are others in the first than in the second: build both from one folder"
            )


def _copy(there: Place, to: Place) -> None:
    """Copy a blob, through no mirror."""
    data = read(there) if isinstance(there, Address) else there
    if isinstance(to, Address):
        write(to, data)
    elif isinstance(data, bytes):
        write_atomically(to, data)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        copy_file(data, to)


def _merge_ledgers(first: Workspace, second: Workspace, made: Workspace) -> None:
    """Logs and parts of both: of equal keys the entry that was finished last counts, and both gave the same."""
    for name in sorted({path.name for one in (first, second) for path in (one.path / "ledger").glob("*.jsonl")}):
        logs = [path for one in (second, first) if (path := one.path / "ledger" / name).exists()]
        parts = [part for log in logs for part in sorted(log.with_suffix("").glob("*.parquet"))]
        log = made.path / "ledger" / name
        write_atomically(log, b"\n".join(path.read_bytes() for path in logs))
        for number, part in enumerate(parts):
            log.with_suffix("").mkdir(exist_ok=True)
            copy_file(part, log.with_suffix("") / f"{number:06}.parquet")


def _orders(first: Workspace, second: Workspace, renamed: Mapping[str, str]) -> list[removed.Order]:
    """Takedowns of both; an order for a name that is now another follows it."""
    followed = [
        replace(order, uri_sha256=removed.address_hash(renamed[order.subject_id]))
        if order.uri_sha256 and order.subject_id in renamed
        else order
        for order in removed.orders(second)
    ]
    return list({(order.kind, order.subject_id): order for order in (*followed, *removed.orders(first))}.values())


def _merge_table(
    table: str,
    record: type[Record],
    key: Callable[[Record], Hashable],
    first: Workspace,
    second: Workspace,
    made: Workspace,
    renamed: Mapping[str, str],
) -> None:
    steps = [[step for step in one.steps(table) if step not in _DECIDED] for one in (first, second)]
    whole = table in ("sources", "clips")  # a step of its own each, and no content twice in the table
    known = {key(row) for step in steps[0] for row in first.table(table, record, step=step)} if whole else set()
    for step in sorted({*steps[0], *steps[1]}):
        rows = _table(first, table, record, step if step in steps[0] else None)
        seen = known or {key(row) for row in rows}
        others: list[Any] = [
            row for row in _table(second, table, record, step if step in steps[1] else None) if key(row) not in seen
        ]
        if renamed:
            others = [replace(row, uri=renamed.get(row.source_id, row.uri)) for row in others]
        made.write_table(table, step, [*rows, *others], record)


def _table(workspace: Workspace, table: str, record: type[Record], step: str | None) -> list[Record]:
    return [] if step is None else workspace.table(table, record, step=step)
