"""Row of an item whose truth is held back: an allow-list; everything else stays with the truth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from inpaintbench import frozen
from inpaintbench.export.layout import MEDIA, file_column, media_names
from inpaintbench.types import Dataset, Plain, canonical_json

_SHOWN = ("item_id", "split", "licence", "author", "frames", "width", "height", "fps", "generator", "fill", "hole_is_given")
# Attributes that begin so are measured on the hole alone.
_OF_HOLES = "hole."
_HEX = re.compile(r"[0-9a-f]{16,}")
# Letters of what is searched for inside of texts; shorter words, and titles of a word or two, stand there by chance.
_SHORTEST_WORD, _SHORTEST_TITLE = 6, 12


def shown_row(row: Plain, given: Plain, *, clip: str, source: str) -> dict[str, Any]:
    """The row as everybody may see it. Every column is there; what is held back is None, or empty.

    Args:
        row: of the whole dataset.
        given: ``input_file_name`` and ``input_sha256`` of the stored input.
        clip: stands for the clip's id, which is made from the source's bytes.
        source: stands for the source's.
    """
    shown: dict[str, Any] = {name: [] if name.endswith("_file_names") else None for name in row}
    shown |= {name: row[name] for name in _SHOWN} | {"clip_id": clip, "source_id": source, "attributes": {}}
    shown |= {"generator_parameters": {}, "input_file_name": given["input_file_name"], "input_sha256": given["input_sha256"]}
    if row["hole_is_given"] and frozen.has_hole(row):
        measured = {name: value for name, value in row["attributes"].items() if name.startswith(_OF_HOLES)}
        shown |= {
            name: row[name] for name in ("hole_file_name", "hole_sha256", "generator_parameters", frozen.SHOWN) if name in row
        }
        shown["attributes"] = measured
    return shown


def stand_ins(held: Sequence[Plain], kind: str, identity: Callable[[Plain], str]) -> dict[str, str]:
    """Id -> a number that says nothing of it, in the order of the items: those are hashes, so nothing follows from it either."""
    return {name: f"held-back-{kind}-{place}" for place, name in enumerate(dict.fromkeys(map(identity, held)), start=1)}


def withheld_words(whole: Dataset, held: Sequence[Plain]) -> set[str]:
    """Words that name a truth that is held back, or where it came from: ids, hashes, file names, addresses.

    What the open items or the shown holes say too is not among it.
    """
    ids = {row["item_id"] for row in held}
    titles = {name: str(title) for name, title in whole.facts.get("titles", {}).items() if len(str(title)) >= _SHORTEST_TITLE}
    named = {word for row in held for word in (*_names_of(row, whole.files), *_title(row, titles))}
    others = [row for row in whole.items if row["item_id"] not in ids]
    public_words = {word for row in others for word in (*_names_of(row, whole.files), *_title(row, titles))}
    for row in held:
        if row["hole_is_given"] and frozen.has_hole(row):
            name = row["hole_file_name"]
            public_words |= {name, PurePosixPath(name).stem, row["hole_sha256"], whole.files[name]}
    return named - public_words


def _names_of(row: Plain, files: Mapping[str, str]) -> Iterator[str]:
    columns = ("clip_id", "source_id", "source_uri", "page_url", "truth_yuv_sha256", "truth_rgb_sha256", "hole_sha256")
    yield from (str(row[name]) for name in columns if row[name])
    for part in set(MEDIA) - {"input"}:
        for name in media_names({file_column(part): row.get(file_column(part))}):
            yield from (name, PurePosixPath(name).stem, files[name])
    for second in row["attributes"].get("second_holes", ()):
        yield from (second["corruption_id"], second["hole_sha256"])


def _title(row: Plain, titles: Mapping[str, str]) -> list[str]:
    return [titles[row["source_id"]]] if row["source_id"] in titles else []


def _words(value: Any) -> Iterator[str]:
    """Every text in ``value``, and every run of hexadecimal digits in them that is long enough for an id."""
    if isinstance(value, str):
        yield value
        yield from _HEX.findall(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _words(name)
            yield from _words(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _words(inner)


def slipped(value: Any, withheld: set[str]) -> list[str]:
    """The withheld words that are a text of plain data, or the ids and hashes inside of one, sorted."""
    return sorted(withheld.intersection(_words(value)))


def slipped_inside(text: str, withheld: set[str]) -> list[str]:
    """The withheld words anywhere in a text, as words of their own, sorted; in any case, quoted as in addresses or not."""
    searched = [text.casefold(), unquote(text).casefold()]
    forms = {word: {word.casefold(), unquote(word).casefold()} for word in withheld if len(word) >= _SHORTEST_WORD}
    return sorted(word for word, said in forms.items() if any(_stands_in(form, term) for form in said for term in searched))


def _stands_in(word: str, text: str) -> bool:
    """Not as a part of a longer name: ``1.mp4`` is not in ``11.mp4``."""
    place = text.find(word)
    while place >= 0:
        around = text[place - 1 : place] + text[place + len(word) : place + len(word) + 1]
        if not any(letter.isalnum() or letter in "_-/%" for letter in around):
            return True
        place = text.find(word, place + 1)
    return False


def open_row(row: Plain, withheld: set[str], seed: Any) -> dict[str, Any]:
    """The row of an item that is not held back, without the seed of the recipe and what it says of items that are."""
    row_facts = {name: value for name, value in row["attributes"].items() if not slipped({name: value}, withheld)}
    return {**row, "attributes": row_facts, "generator_parameters": without_seed(row["generator_parameters"], seed)}


def open_facts(facts: Plain, withheld: set[str]) -> dict[str, Any]:
    """Facts of the dataset: those of single sources without the held-back ones, and no other that names one."""
    shown = {
        name: {key: inner for key, inner in fact.items() if key not in withheld} if isinstance(fact, Mapping) else fact
        for name, fact in facts.items()
    }
    return {name: fact for name, fact in shown.items() if not slipped(fact, withheld)}


def without_seed(value: Any, seed: Any) -> Any:
    """Plain data with None for every ``seed`` that is the recipe's: from it, whatever was drawn can be drawn again."""
    if isinstance(value, Mapping):
        return {
            name: None if name == "seed" and canonical_json(inner) == canonical_json(seed) else without_seed(inner, seed)
            for name, inner in value.items()
        }
    return [without_seed(inner, seed) for inner in value] if isinstance(value, list | tuple) else value
