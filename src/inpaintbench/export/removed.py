"""Takedowns: what a publisher has taken out of a benchmark, kept in its workspace and left out of every later export.

    WORKSPACE/removed.jsonl     one order a line: what is taken out, why, and the items that it has taken out so far

No step writes this file but ``remove`` and ``undo``, and an export that meets further items of what is taken out. Addresses of
sources stand in it as SHA-256 alone. Ids are hashes of content, so that nothing is numbered anew: whatever stays keeps its id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from urllib.parse import quote, unquote

from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.export.card.words import one_line
from inpaintbench.export.growing import appended
from inpaintbench.files import write_atomically
from inpaintbench.types import Clip, Item, Plain, Slice, Source, canonical_json
from inpaintbench.workspace import Workspace

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
    """Hash of the source's address where it was named so: another file that comes from there is taken out too."""
    items: tuple[str, ...] = field(default=())
    """Ids of the items that it has taken out, ascending."""


@dataclass(frozen=True)
class Kept:
    """Items and slices that are left for an export."""

    items: list[Item]
    slices: list[Slice]
    left_out: dict[str, str]
    """Slices that lost their last item."""
    tombstones: list[Plain]
    """``item_id`` and ``reason``, by id."""


def orders(workspace: Workspace) -> list[Order]:
    """Orders of a workspace, oldest first.

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
        named: (kind, id) each; a source may be named by its address as well, with or without percent signs for blanks and such.
        reason: told in the manifest and on the card, so it must not name anybody; it becomes one line.

    Raises:
        InputError: no reason, an address that may mean two sources, or the workspace has no such item, clip or source; nothing
            is then taken out.
    """
    reason = one_line(reason)
    if not reason:
        raise InputError("a removal needs a reason: it is published in the place of the items")
    world = _World.of(workspace)
    before = orders(workspace)
    known = {(earlier.kind, earlier.subject_id) for earlier in before}
    new: list[Order] = []
    for kind, name in named:
        order = world.order(kind, name, reason)
        if (kind, order.subject_id) not in known:
            new.append(order)
            known.add((kind, order.subject_id))
    write(workspace, [*before, *new])
    return new


def undo(workspace: Workspace, named: Iterable[tuple[str, str]]) -> list[Order]:
    """Forget orders, so that their items are exported again.

    Raises:
        InputError: something of that name was never taken out, or the address may mean two that were; nothing is then put back.
    """
    left, gone = orders(workspace), list[Order]()
    world = _World.of(workspace)
    for kind, name in named:
        hashes = {address_hash(uri) for uri in (name, _quoted(name), *world.addresses(name))}
        of_kind = [order for order in left if order.kind == kind]
        matches = [order for order in of_kind if order.subject_id == name] or [
            order for order in of_kind if order.uri_sha256 in hashes
        ]
        if not matches:
            raise InputError(f"the {kind} {name!r} was not removed, so it cannot be put back")
        if len({order.uri_sha256 for order in matches}) > 1:
            raise _ambiguous(name, [order.subject_id for order in matches])
        left, gone = [order for order in left if order not in matches], [*gone, *matches]
    write(workspace, left)
    return gone


def kept(workspace: Workspace, items: Sequence[Item], slices: Sequence[Slice]) -> Kept:
    """Items and slices without what is taken out; what is met for the first time is written down, to stay a tombstone.

    What stays keeps its order.
    """
    standing = orders(workspace)
    if not standing:
        return Kept(list(items), list(slices), {}, [])
    world = _World.of(workspace)
    known = {item.item_id: item for item in (*items, *world.items)}.values()
    grown = [replace(order, items=tuple(sorted({*order.items, *world.taken(order, known)}))) for order in standing]
    if grown != standing:
        write(workspace, grown)
    reasons = {item: one_line(order.reason) for order in reversed(grown) for item in order.items}
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
    """Items, clips and sources that the workspace holds now, and those of the dataset that it adds to."""

    items: Sequence[Item]
    source_of: Mapping[str, str]
    """Clip id -> source id."""
    uris: Mapping[str, str]
    """Source id -> address."""

    @classmethod
    def of(cls, workspace: Workspace) -> _World:
        items = {item.item_id: item for item in workspace.table("items", Item)}
        clips = {clip.clip_id: clip.source_id for clip in workspace.table("clips", Clip)}
        uris = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        if published := appended(workspace):
            rows = published.dataset.items
            items = {row["item_id"]: Item(row["item_id"], row["clip_id"], "", row["split"]) for row in rows} | items
            clips = {row["clip_id"]: row["source_id"] for row in rows} | clips
            uris = {row["source_id"]: row["source_uri"] for row in rows} | uris
        return cls(list(items.values()), clips, uris)

    def order(self, kind: str, name: str, reason: str) -> Order:
        known = {"item": {item.item_id for item in self.items}, "clip": self.source_of, "source": self.uris}[kind]
        new = Order(kind, name, reason)
        if name not in known:
            addresses = self.addresses(name) if kind == "source" else []
            if not addresses:
                raise InputError(f"the workspace has no {kind} {name!r}; take the {kind}_id of a row of the dataset")
            first = [next(source for source, uri in self.uris.items() if uri == address) for address in addresses]
            if len(first) > 1:
                raise _ambiguous(name, first)
            new = Order(kind, first[0], reason, address_hash(addresses[0]))
        return replace(new, items=tuple(sorted(self.taken(new, self.items))))

    def addresses(self, name: str) -> list[str]:
        """Different addresses of sources that ``name`` may mean: itself, what it is percent-encoded, and what NOTICE shows so."""
        same = {name, _quoted(name)}
        return sorted({uri for uri in self.uris.values() if uri in same or name in (unquote(uri), one_line(unquote(uri)))})

    def taken(self, order: Order, items: Iterable[Item]) -> set[str]:
        """Ids of the items that an order takes out."""
        if order.kind == "item":
            return {order.subject_id}
        if order.kind == "clip":
            return {item.item_id for item in items if item.clip_id == order.subject_id}
        sources = {order.subject_id} | {
            source for source, uri in self.uris.items() if order.uri_sha256 and address_hash(uri) == order.uri_sha256
        }
        return {item.item_id for item in items if self.source_of.get(item.clip_id) in sources}


def address_hash(text: str) -> str:
    """What stands for an address in an order."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _quoted(name: str) -> str:
    """As folders of films percent-encode a path; names that are not UTF-8 reach a program with surrogates."""
    return quote(name, errors="surrogateescape")


def _ambiguous(name: str, sources: Sequence[str]) -> InputError:
    ids = " and ".join(sorted(sources))
    return InputError(f"{name!r} is the address of one source, and of another once percent signs are read; take the id: {ids}")


def write(workspace: Workspace, standing: Collection[Order]) -> None:
    """Keep orders in the place of those that a workspace has."""
    path = workspace.path / FILE
    if standing:
        write_atomically(path, b"".join(canonical_json(asdict(order)).encode() + b"\n" for order in standing))
    else:
        path.unlink(missing_ok=True)
