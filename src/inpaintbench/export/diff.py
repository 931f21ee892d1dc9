"""Changes between two versions of a dataset, from their manifests alone, as data and in words: no media are read."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.export import layout
from inpaintbench.export.card.words import code, one_line, plain
from inpaintbench.export.documents import is_remade
from inpaintbench.frozen import SHOWN
from inpaintbench.manifest import dataset_id, load
from inpaintbench.types import Dataset, Plain, Slice, canonical_json

# Media part -> the columns that say what its file decodes to.
_PIXELS = {
    "truth": ("truth_yuv_sha256", "truth_rgb_sha256"), "hole": ("hole_sha256",), "input": ("input_sha256",),
    "object_mask": ("object_mask_sha256",), "effect_mask": ("effect_mask_sha256",),
}  # fmt: skip
_HASHES = {column for columns in _PIXELS.values() for column in columns}
# Rows of each that are compared at once.
_AT_ONCE = 4096
SAME_PIXELS, OTHER_PIXELS, OTHER_FILE, ADDED, GONE = "re-encoded, same pixels", "other pixels", "another file", "added", "gone"


@dataclass(frozen=True)
class Change:
    """A value that differs; None where there is none."""

    old: Any
    new: Any


@dataclass(frozen=True)
class ItemChange:
    """Differences of an item that both versions have."""

    columns: Mapping[str, Change]
    """Column, ``attributes.NAME`` or ``generator_parameters.NAME`` -> its values."""
    media: Mapping[str, str]
    """Media part -> what happened to its file, in words."""


@dataclass(frozen=True)
class SliceChange:
    """Differences of a slice that both versions have."""

    rule: Change | None
    added: list[str]
    """Ids of items that are new in it, in its order."""
    removed: list[str]
    reordered: bool
    """True when the items that both have stand in another order."""


@dataclass(frozen=True)
class Difference:
    """Changes between two versions; empty mappings and lists where nothing changed."""

    old: str
    """Id of the dataset, see ``frozen.dataset_id``."""
    new: str
    items: Change
    """Number of items."""
    items_added: list[str]
    items_removed: dict[str, str | None]
    """Item -> the reason on its tombstone; None without one."""
    items_changed: dict[str, ItemChange]
    slices_added: dict[str, int]
    """Slice -> its items."""
    slices_removed: dict[str, str | None]
    """Slice -> why it was left out; None where nothing says so."""
    slices_changed: dict[str, SliceChange]
    recipe: dict[str, Change]
    """Flat keys of the resolved recipe, ``source.leaf`` for example."""
    packages: dict[str, Change]
    files: dict[str, str]
    """Other files, less rows and documents -> added, gone or changed."""
    facts: dict[str, Change]
    """Facts on the card besides the rows, flat."""

    @property
    def equal(self) -> bool:
        """Return whether items, slices and recipe are the same."""
        changes = (self.items_added, self.items_removed, self.items_changed, self.slices_added, self.slices_removed)
        return not any((*changes, self.slices_changed, self.recipe, self.files))


@contextmanager
def manifest_at(where: str, *, revision: str | None = None) -> Iterator[Dataset]:
    """The manifest of a folder, or of a dataset of the Hub, ``OWNER/NAME``, of which nothing else is downloaded.

    It can be read until the block ends.

    Raises:
        InputError: neither is there.
        NetworkError: the Hub refuses, or cannot be reached.
        VerifyError: the manifest is damaged.
    """
    if Path(where).is_dir():
        yield load(where)
        return
    if not is_hub_name(where):
        raise InputError(f"{where!r} is no folder, and no dataset of the Hub (OWNER/NAME)")
    from inpaintbench.export.publishing.client import opened
    from inpaintbench.export.publishing.fetch import held

    with tempfile.TemporaryDirectory(prefix="inpaintbench-diff-") as place, opened(where) as hub:
        yield held(hub, Path(place), revision=revision).dataset


def is_hub_name(where: str) -> bool:
    """Return whether ``where`` may name a dataset of the Hub: there is no such folder, and it is two names with one slash."""
    owner, slash, name = where.partition("/")
    return bool(owner and slash and name) and "/" not in name and owner not in (".", "..", "~") and not Path(where).exists()


def difference(old: Dataset, new: Dataset) -> Difference:
    """Changes from ``old`` to ``new``; ids decide what is the same item."""
    before, after = (list(layout.ids_of(dataset.items)) for dataset in (old, new))
    known, there = set(before), set(after)
    reasons = {row["item_id"]: row["reason"] for row in new.removed}
    slices, later = ({part.name: part for part in dataset.slices} for dataset in (old, new))
    # Files that are neither media of items, nor rows, nor written from the manifest.
    hashes: list[dict[str, str]] = [
        {
            name: sha256
            for name, sha256 in dataset.files.items()
            if not (layout.is_medium(name) or name.endswith(".parquet") or is_remade(name))
        }
        for dataset in (old, new)
    ]
    words = {name: ADDED if change.old is None else GONE for name, change in _changes(*hashes).items()}
    other_files = {name: "changed" if name in hashes[0] and name in hashes[1] else what for name, what in sorted(words.items())}
    return Difference(
        old=dataset_id(old),
        new=dataset_id(new),
        items=Change(len(before), len(after)),
        items_added=[name for name in after if name not in known],
        items_removed={name: reasons.get(name) for name in before if name not in there},
        items_changed=dict(_item_changes(old, new, [name for name in after if name in known])),
        slices_added={name: len(part.item_ids) for name, part in later.items() if name not in slices},
        slices_removed={name: new.left_out.get(name) for name in slices if name not in later},
        slices_changed=dict(_slice_changes(slices, later)),
        recipe=_changes(_flat(old.recipe), _flat(new.recipe)),
        packages=_changes(old.versions, new.versions),
        files=other_files,
        facts=_changes(_flat(old.facts), _flat(new.facts)),
    )


def only_adds(diff: Difference) -> bool:
    """Whether everything of the old version is in the new one as it was: items, and slices in their order with their rules."""
    changed = any(change.rule or change.removed or change.reordered for change in diff.slices_changed.values())
    return not (diff.items_removed or diff.items_changed or diff.slices_removed or changed)


def _item_changes(old: Dataset, new: Dataset, both: Sequence[str]) -> Iterator[tuple[str, ItemChange]]:
    """The items that differ, of those that both have; some thousands of rows are in memory."""
    of_old, of_new = layout.finder(old.items), layout.finder(new.items)
    # What inputs of others show follows from their holes: nothing of the item itself is another.
    skipped = {*layout.MEDIA_COLUMNS, *_HASHES, SHOWN}
    for start in range(0, len(both), _AT_ONCE):
        ids = both[start : start + _AT_ONCE]
        for name, before, after in zip(ids, of_old(ids), of_new(ids), strict=True):
            # Nearly all items are the same to the byte, which is known in a fiftieth of the time that tells how they differ.
            if before == after and all(old.files.get(file) == new.files.get(file) for file in layout.media_names(after)):
                continue
            plain = [{column: value for column, value in row.items() if column not in skipped} for row in (before, after)]
            media = {}
            for part in layout.MEDIA:
                old_files = [old.files.get(file) for file in layout.part_names(before, part)]
                new_files = [new.files.get(file) for file in layout.part_names(after, part)]
                if what := _media_change(old_files, new_files, _pixels(before, part), _pixels(after, part)):
                    media[part] = what
            columns = _changes(_flat(plain[0]), _flat(plain[1]))
            if columns or media:
                yield name, ItemChange(columns, media)


def _pixels(row: Plain, part: str) -> list[Any]:
    """Hashes of what the files of a part decode to."""
    if part == "second_hole":
        return [second.get("hole_sha256") for second in row["attributes"].get("second_holes", ())]
    return [row.get(column) for column in _PIXELS.get(part, ())]


def _media_change(old_files: list[Any], new_files: list[Any], old_pixels: list[Any], new_pixels: list[Any]) -> str | None:
    same = old_pixels == new_pixels
    if old_files == new_files:
        return None if same else OTHER_PIXELS
    if not (old_files and new_files):
        return ADDED if new_files else GONE
    if not any(old_pixels):  # its decoded pixels are not hashed
        return OTHER_FILE
    return SAME_PIXELS if same else OTHER_PIXELS


def _slice_changes(slices: Mapping[str, Slice], later: Mapping[str, Slice]) -> Iterator[tuple[str, SliceChange]]:
    for name, new in later.items():
        if (old := slices.get(name)) is None:
            continue
        before, after = set(old.item_ids), set(new.item_ids)
        change = SliceChange(
            rule=None if old.rule == new.rule else Change(old.rule, new.rule),
            added=[item for item in new.item_ids if item not in before],
            removed=[item for item in old.item_ids if item not in after],
            reordered=[item for item in old.item_ids if item in after] != [item for item in new.item_ids if item in before],
        )
        if change.rule or change.added or change.removed or change.reordered:
            yield name, change


def _flat(value: Plain, before: str = "") -> dict[str, Any]:
    """Nested mappings as one, its keys joined by dots; lists stay whole."""
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        flat |= _flat(inner, f"{before}{name}.") if isinstance(inner, Mapping) and inner else {f"{before}{name}": inner}
    return flat


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Change]:
    names = sorted({*old, *new})
    changes = {name: Change(old.get(name), new.get(name)) for name in names}
    return {name: change for name, change in changes.items() if canonical_json(change.old) != canonical_json(change.new)}


_SHOWN = 20
_LONGEST = 60


def lines(diff: Difference, *, shown: int = _SHOWN) -> list[str]:
    """Every change in a line of its own, at most ``shown`` of a kind."""
    text = [one_line(f"{diff.old} -> {diff.new}"), f"items: {diff.items.old} -> {diff.items.new}"]
    told = [
        [f"+ item {name}" for name in diff.items_added],
        [f"- item {name}{_because(why)}" for name, why in diff.items_removed.items()],
        [
            f"~ item {name}: {what}"
            for name, changed in diff.items_changed.items()
            for what in (
                *(f"{column}: {_change(change)}" for column, change in changed.columns.items()),
                *(f"{part}: {what}" for part, what in changed.media.items()),
            )
        ],
        [f"+ slice {name}: {count} items" for name, count in diff.slices_added.items()],
        [f"- slice {name}{_because(why)}" for name, why in diff.slices_removed.items()],
        [f"~ slice {name}: {what}" for name in diff.slices_changed for what in _slice_words(diff, name)],
        *(
            [f"~ {kind} {name}: {_change(change)}" for name, change in changes.items()]
            for kind, changes in (("recipe", diff.recipe), ("package", diff.packages), ("fact", diff.facts))
        ),
        [f"~ file {name}: {what}" for name, what in diff.files.items()],
    ]
    for some in told:
        more = len(some) - shown
        text += [*map(one_line, some[:shown]), *([f"  and {more} more like these"] if more > 0 else [])]
    return [*text, "the same items, slices and recipe"] if diff.equal else text


def changelog(diff: Difference) -> str:
    """Markdown for a changelog or a card: counts and reasons, without lists of ids; words of others are no Markdown in it."""
    text = [f"## {plain(diff.new)}", "", f"Since {plain(diff.old)}:", ""]
    text += [f"- {line}" for line in _summary(diff, plain, code)]
    return "\n".join([*text, ""])


def summary(diff: Difference) -> list[str]:
    """What changed in a few phrases: counts and reasons, without lists of ids."""
    return [one_line(phrase) for phrase in _summary(diff, str, str)]


def _summary(diff: Difference, plain: Callable[[str], str], code: Callable[[str], str]) -> Iterator[str]:
    if diff.equal:
        yield "The same items, slices and recipe."
    if diff.items_added:
        yield f"{_count(len(diff.items_added), 'item')} added"
    for reason, count in sorted(Counter(why or "no reason given" for why in diff.items_removed.values()).items()):
        yield f"{_count(count, 'item')} removed: {plain(reason)}"
    columns = Counter(name for change in diff.items_changed.values() for name in change.columns)
    media = Counter((part, what) for change in diff.items_changed.values() for part, what in change.media.items())
    for name, count in sorted(columns.items()):
        yield f"{code(name)} changed for {_count(count, 'item')}"
    for (part, what), count in sorted(media.items()):
        yield f"{code(part)}: {what} for {_count(count, 'item')}"
    for name, count in diff.slices_added.items():
        yield f"slice {code(name)} added, {_count(count, 'item')}"
    for name, why in diff.slices_removed.items():
        yield f"slice {code(name)} removed{_because(why, plain)}"
    for name in diff.slices_changed:
        yield f"slice {code(name)}: {'; '.join(_slice_words(diff, name, plain))}"
    for name, change in diff.recipe.items():
        yield f"recipe {code(name)}: {_change(change, plain)}"
    for name, what in diff.files.items():
        yield f"file {code(name)}: {what}"
    if diff.packages:
        packages = [f"{plain(name)} {plain(change.new)} (was {plain(change.old)})" for name, change in diff.packages.items()]
        yield f"made with {', '.join(packages)}"


def _slice_words(diff: Difference, name: str, say: Callable[[str], str] = str) -> list[str]:
    changed = diff.slices_changed[name]
    words = [f"rule: {_change(changed.rule, say)}"] if changed.rule else []
    for items, what in ((changed.added, "added"), (changed.removed, "removed")):
        words += [f"{_count(len(items), 'item')} {what}"] if items else []
    return [*words, *(["another order"] if changed.reordered else [])]


def _because(why: str | None, say: Callable[[str], str] = str) -> str:
    return f": {say(why)}" if why else ""


def _change(change: Change, say: Callable[[str], str] = str) -> str:
    words = []
    for value in (change.old, change.new):
        text = "none" if value is None else value if isinstance(value, str) else canonical_json(value)
        words.append(say(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."))
    return " -> ".join(words)


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def as_json(diff: Difference) -> Mapping[str, Any]:
    """All of it, ready for JSON."""
    return {"equal": diff.equal, **asdict(diff)}
