"""Takedowns: what a publisher has taken out of a benchmark, kept in its workspace and left out of every later export.

    WORKSPACE/removed.jsonl     one order a line: what is taken out, why, and the items that it has taken out so far

No step writes this file but ``remove`` and ``undo``, and an export that meets further items of what is taken out. Addresses of
sources stand in it as SHA-256 alone. Ids are hashes of content, so that nothing is numbered anew: whatever stays keeps its id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.types import Clip, Item, Plain, Slice, Source, canonical_json
from inpaintbench.workspace import Workspace, write_atomically

FILE = "removed.jsonl"
KINDS = ("item", "clip", "source")
EMPTY = "all of its items were removed"


@dataclass(frozen=True)
class Order:
    """Something that is taken out."""

    kind: str
    """``item``, ``clip`` or ``source``."""
    subject_id: str
    reason: str
    """Is published."""
    uri_sha256: str | None = None
    """Of the source's address where it was named so: another file that comes from there is taken out too."""
    items: tuple[str, ...] = field(default=())
    """Ids of the items that it has taken out, ascending."""


@dataclass(frozen=True)
class Kept:
    """What is left for an export."""

    items: list[Item]
    slices: list[Slice]
    left_out: dict[str, str]
    """Slices that lost their last item."""
    tombstones: list[Plain]
    """``item_id`` and ``reason``, by id."""


def orders(workspace: Workspace) -> list[Order]:
    """What is taken out of a workspace, in the order of asking.

    Raises:
        WorkspaceError: the file is damaged.
    """
    path = workspace.path / FILE
    if not path.exists():
        return []
    try:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [Order(**{**row, "items": tuple(row["items"])}) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(f"{str(path)!r} is damaged: {error}; takedowns stand in it, so mend it by hand") from error


def remove(workspace: Workspace, named: Iterable[tuple[str, str]], *, reason: str) -> list[Order]:
    """Take items, clips or sources out of every later export.

    Args:
        workspace: where they are.
        named: (kind, id) each; a source may be named by its address as well.
        reason: told in the manifest and on the card, so it must not name anybody.

    Raises:
        InputError: no reason, or the workspace has no such item, clip or source; nothing is then taken out.
    """
    if not reason.strip():
        raise InputError("a removal needs a reason: it is published in the place of the items")
    world = _World.of(workspace)
    before = orders(workspace)
    known = {(one.kind, one.subject_id) for one in before}
    made: list[Order] = []
    for kind, name in named:
        order = world.order(kind, name, reason.strip())
        if (kind, order.subject_id) not in known:
            made.append(order)
            known.add((kind, order.subject_id))
    _write(workspace, [*before, *made])
    return made


def undo(workspace: Workspace, named: Iterable[tuple[str, str]]) -> list[Order]:
    """Forget orders, so that their items are exported again.

    Raises:
        InputError: something of that name was never taken out; nothing is then put back.
    """
    left, gone = orders(workspace), list[Order]()
    for kind, name in named:
        hashed = _sha256(name)
        found = [one for one in left if one.kind == kind and (one.subject_id == name or one.uri_sha256 == hashed)]
        if not found:
            raise InputError(f"the {kind} {name!r} was not removed, so it cannot be put back")
        left, gone = [one for one in left if one not in found], [*gone, *found]
    _write(workspace, left)
    return gone


def kept(workspace: Workspace, items: Sequence[Item], slices: Sequence[Slice]) -> Kept:
    """Items and slices without what is taken out; what is met for the first time is written down, to stay a tombstone.

    What stays keeps its order.
    """
    standing = orders(workspace)
    if not standing:
        return Kept(list(items), list(slices), {}, [])
    world = _World.of(workspace)
    grown = [replace(one, items=tuple(sorted({*one.items, *world.taken(one, items)}))) for one in standing]
    if grown != standing:
        _write(workspace, grown)
    reasons = {item: one.reason for one in reversed(grown) for item in one.items}
    shorter = [replace(part, item_ids=tuple(item for item in part.item_ids if item not in reasons)) for part in slices]
    empty = {part.name: EMPTY for part in shorter if not part.item_ids}
    return Kept(
        [item for item in items if item.item_id not in reasons],
        [part for part in shorter if part.item_ids],
        empty,
        [{"item_id": item, "reason": reason} for item, reason in sorted(reasons.items())],
    )


@dataclass(frozen=True)
class _World:
    """What the workspace holds now."""

    items: Sequence[Item]
    source_of: Mapping[str, str]
    """Clip id -> source id."""
    uris: Mapping[str, str]
    """Source id -> address."""

    @classmethod
    def of(cls, workspace: Workspace) -> _World:
        clips = {clip.clip_id: clip.source_id for clip in workspace.table("clips", Clip)}
        return cls(workspace.table("items", Item), clips, {row.source_id: row.uri for row in workspace.table("sources", Source)})

    def order(self, kind: str, name: str, reason: str) -> Order:
        named_so = [source for source, uri in self.uris.items() if uri == name] if kind == "source" else []
        made = Order(kind, named_so[0], reason, _sha256(name)) if named_so else Order(kind, name, reason)
        known = {"item": {item.item_id for item in self.items}, "clip": self.source_of, "source": self.uris}[kind]
        if made.subject_id not in known:
            raise InputError(f"the workspace has no {kind} {name!r}; take the {kind}_id of a row of the dataset")
        return replace(made, items=tuple(sorted(self.taken(made, self.items))))

    def taken(self, order: Order, items: Iterable[Item]) -> set[str]:
        """Ids of the items that an order takes out."""
        if order.kind == "item":
            return {order.subject_id}
        if order.kind == "clip":
            return {item.item_id for item in items if item.clip_id == order.subject_id}
        sources = {order.subject_id} | {
            source for source, uri in self.uris.items() if order.uri_sha256 and _sha256(uri) == order.uri_sha256
        }
        return {item.item_id for item in items if self.source_of.get(item.clip_id) in sources}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _write(workspace: Workspace, standing: Sequence[Order]) -> None:
    path = workspace.path / FILE
    if standing:
        write_atomically(path, b"".join(canonical_json(asdict(one)).encode() + b"\n" for one in standing))
    else:
        path.unlink(missing_ok=True)
