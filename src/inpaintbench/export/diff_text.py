"""A difference of two datasets in words: for a terminal, and as Markdown for a changelog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from inpaintbench.export.card.words import code, plain
from inpaintbench.export.diff import Change, Difference
from inpaintbench.types import canonical_json

_SHOWN = 20
_LONGEST = 60


def lines(found: Difference, *, shown: int = _SHOWN) -> list[str]:
    """Every change in a line of its own, at most ``shown`` of a kind."""
    made = [_one_line(f"{found.old} -> {found.new}"), f"items: {found.items.old} -> {found.items.new}"]
    made += _some([f"+ item {name}" for name in found.items_added], shown)
    made += _some([f"- item {name}{_because(why)}" for name, why in found.items_removed.items()], shown)
    made += _some([line for name in found.items_changed for line in _item_lines(found, name)], shown)
    made += _some([f"+ slice {name}: {count} items" for name, count in found.slices_added.items()], shown)
    made += _some([f"- slice {name}{_because(why)}" for name, why in found.slices_removed.items()], shown)
    made += _some([f"~ slice {name}: {what}" for name in found.slices_changed for what in _slice_words(found, name)], shown)
    for kind, changes in (("recipe", found.recipe), ("package", found.packages), ("fact", found.facts)):
        made += _some([f"~ {kind} {name}: {_change(one)}" for name, one in changes.items()], shown)
    made += _some([f"~ file {name}: {what}" for name, what in found.files.items()], shown)
    return [*made, "the same items, slices and recipe"] if found.equal else made


def changelog(found: Difference) -> str:
    """Markdown for a changelog or a card: counts and reasons, without lists of ids; words of others are no Markdown in it."""
    made = [f"## {plain(found.new)}", "", f"Since {plain(found.old)}:", ""]
    made += [f"- {line}" for line in _summary(found)]
    return "\n".join([*made, ""])


def _summary(found: Difference) -> Iterator[str]:
    if found.equal:
        yield "The same items, slices and recipe."
    if found.items_added:
        yield f"{_count(len(found.items_added), 'item')} added"
    for reason, count in sorted(Counter(why or "no reason given" for why in found.items_removed.values()).items()):
        yield f"{_count(count, 'item')} removed: {plain(reason)}"
    yield from _summary_of_items(found)
    for name, count in found.slices_added.items():
        yield f"slice {code(name)} added, {_count(count, 'item')}"
    for name, why in found.slices_removed.items():
        yield f"slice {code(name)} removed{_because(why, plain)}"
    for name in found.slices_changed:
        yield f"slice {code(name)}: {'; '.join(_slice_words(found, name, plain))}"
    for name, one in found.recipe.items():
        yield f"recipe {code(name)}: {_change(one, plain)}"
    for name, what in found.files.items():
        yield f"file {code(name)}: {what}"
    if found.packages:
        packages = [f"{plain(name)} {plain(one.new)} (was {plain(one.old)})" for name, one in found.packages.items()]
        yield f"made with {', '.join(packages)}"


def _summary_of_items(found: Difference) -> Iterator[str]:
    columns = Counter(name for one in found.items_changed.values() for name in one.columns)
    media = Counter((part, what) for one in found.items_changed.values() for part, what in one.media.items())
    for name, count in sorted(columns.items()):
        yield f"{code(name)} changed for {_count(count, 'item')}"
    for (part, what), count in sorted(media.items()):
        yield f"{code(part)}: {what} for {_count(count, 'item')}"


def _item_lines(found: Difference, name: str) -> list[str]:
    one = found.items_changed[name]
    told = [f"{column}: {_change(change)}" for column, change in one.columns.items()]
    return [f"~ item {name}: {what}" for what in [*told, *(f"{part}: {what}" for part, what in one.media.items())]]


def _slice_words(found: Difference, name: str, say: Callable[[str], str] = str) -> list[str]:
    one = found.slices_changed[name]
    made = [f"rule: {_change(one.rule, say)}"] if one.rule else []
    for items, what in ((one.added, "added"), (one.removed, "removed")):
        made += [f"{_count(len(items), 'item')} {what}"] if items else []
    return [*made, *(["another order"] if one.reordered else [])]


def _some(made: Sequence[str], shown: int) -> list[str]:
    more = len(made) - shown
    return [*map(_one_line, made[:shown]), *([f"  and {more} more like these"] if more > 0 else [])]


def _one_line(text: str) -> str:
    """Printable characters alone: a terminal obeys others, and a line break would begin another change."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def _because(why: str | None, say: Callable[[str], str] = str) -> str:
    return f": {say(why)}" if why else ""


def _change(one: Change, say: Callable[[str], str] = str) -> str:
    return f"{say(_word(one.old))} -> {say(_word(one.new))}"


def _word(value: Any) -> str:
    text = "none" if value is None else value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def as_json(found: Difference) -> Mapping[str, Any]:
    """All of it, ready for JSON."""
    return {"equal": found.equal, **asdict(found)}
