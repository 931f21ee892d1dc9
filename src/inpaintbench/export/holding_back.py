"""Divide a frozen dataset for a challenge: inputs for everybody, and the truth of some splits in a dataset of its own.

Both are frozen datasets. Items keep their ids, so predictions on the one are scored on the other. A row whose truth is held back
is an allow-list; everything else stays with the truth.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from inpaintbench import frozen, video
from inpaintbench.benchmarks import drawn_footage
from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export.documents import is_remade
from inpaintbench.export.exposure import check_exposed, exposure, is_exposed
from inpaintbench.export.freeze import check_target, seal
from inpaintbench.export.layout import MEDIA, by_split, config_of_file, filled_columns, media_names, part_names, splits
from inpaintbench.files import copy_file, file_sha256, replacing, write_atomically
from inpaintbench.manifest import ALL, FOLDER, MANIFEST
from inpaintbench.types import Dataset, Plain, canonical_json

# Holes as lists of blocks: item -> blocks.
HOLES_FILE = "maskdata.json"
# Facts of the public dataset and of the one with the truth.
HELD_BACK, TRUTH_OF = "held_back", "truth_of"
_FEWEST_DIGITS = 18
_AT_ONCE = 4
_SHOWN = ("item_id", "split", "licence", "author", "frames", "width", "height", "fps", "generator", "fill", "hole_is_given")
# Attributes that begin so are measured on the hole alone.
_OF_HOLES = "hole."
_HEX = re.compile(r"[0-9a-f]{16,}")
# Letters of what is searched for inside of texts; shorter words, and titles of a word or two, stand there by chance.
_SHORTEST_WORD, _SHORTEST_TITLE = 6, 12
_NAMING = ("clip_id", "source_id", "source_uri", "page_url", "truth_yuv_sha256", "truth_rgb_sha256", "hole_sha256")


def hold_back(
    full: Path | str, *, splits: Sequence[str], public: Path, truth: Path, allow_exposed: str | None = None
) -> tuple[Dataset, Dataset]:  # fmt: skip
    """Write two datasets: ``public`` without the truth of some splits, ``truth`` with their items alone.

    Of a held-back item ``public`` has the input as a stored file, the hole where methods are told it, size, licence and author;
    no truth, no hash or id made from it, nothing on where it came from. The items of other splits stay as they are, less the
    recipe's seed. ``truth`` has complete rows and the same inputs. The same ``full`` gives the same bytes.

    Args:
        full: folder of the whole, a frozen dataset.
        splits: those to hold back.
        public: folder of the dataset for everybody; an older dataset there is replaced.
        truth: the same for the dataset to keep.
        allow_exposed: why inputs may show more than ``MOST_SHOWN`` of what lies under the holes of others; published where
            they do.

    Returns:
        Their manifests. The fact ``held_back`` of the first names ``splits``, ``items``, ``truth_dataset`` and, where inputs of
        one clip show what lies under each other's holes, ``shown_by_other_inputs`` and why that is ``allowed``; the fact
        ``truth_of`` of the second has ``dataset``, ``manifest_sha256`` and ``splits``.

    Raises:
        InputError: inputs that show what is held back of other items; edits, whose input is their truth; a source in both a
            held-back and an open split; a seed that is found by trying; a dataset that is itself a part of another.
        UnknownNameError: no such split.
        VerifyError: a file of ``full`` is missing or does not decode to what its manifest says.
        WorkspaceError: not writable.
    """
    root, whole = Path(full), frozen.load(full)
    held = _held(whole, splits)
    for target in (public, truth):
        check_target(target)
    for first, other in combinations([folder.resolve() for folder in (root, public, truth)], 2):
        if first.is_relative_to(other) or other.is_relative_to(first):
            raise InputError(f"{str(first)!r} and {str(other)!r} lie in each other; choose another folder")
    # The truth comes into place first: nothing is public of which it could be lost.
    with replacing(public, what="export ") as shown, replacing(truth, what="export ") as hidden:
        for name, sha256 in whole.files.items():
            if not (root / name).is_file() or file_sha256(root / name) != sha256:
                raise VerifyError(f"{name} of {str(root)!r} is missing or differs from the manifest; export the dataset again")
        seen = exposure(root, held)
        check_exposed(seen, items=len(held), allowed=allow_exposed)
        fact: dict[str, Any] = {
            "splits": sorted({row["split"] for row in held}), "items": len(held), "truth_dataset": truth_name(whole),
        }  # fmt: skip
        if seen:
            fact |= {"shown_by_other_inputs": seen} | ({"allowed": allow_exposed} if is_exposed(seen) else {})
        given = _inputs(root, held, shown)
        public_dataset = _write_public(root, whole, held, given, shown, fact)
        truth_dataset = _write_truth(root, whole, held, given, shown, hidden)
    return public_dataset, truth_dataset


def truth_name(whole: Dataset) -> str:
    """Name of the dataset with the truth."""
    return f"{whole.name} (truth)"


def _held(whole: Dataset, names: Sequence[str]) -> list[Plain]:
    """The rows to hold back, after every check that needs the manifest alone."""
    known = list(by_split([row["item_id"] for row in whole.items], splits(whole.items)))
    if not names:
        raise InputError(f"name the splits to hold back; {whole.name!r} has {', '.join(known)}")
    for name in names:
        known_name("split", name, known)
    if other := [fact for fact in (HELD_BACK, TRUTH_OF, "part_of") if fact in whole.facts]:
        raise InputError(f"{whole.name!r} is itself made from another dataset ({other[0]}); hold back from the whole one")
    held = [row for row in whole.items if row["split"] in names]
    if any(map(frozen.is_edit, held)):
        raise InputError(f"{whole.name!r} asks for edits, whose input is their truth: there is nothing to hold back")
    _check_apart([row for row in whole.items if row["split"] not in names], held)
    seed = whole.recipe.get("seed", 0)
    drawn = {name for name, footage in drawn_footage().items() if footage.of_seed}
    if drawn & set(whole.recipe.get("leaves", {}).get("source", {})) and abs(seed) < 10 ** (_FEWEST_DIGITS - 1):
        raise InputError(
            f"the truths of {whole.name!r} are drawn from the seed {seed} alone, which anybody finds by trying; build it again "
            f"with --seed and a random number of {_FEWEST_DIGITS} digits that nobody is told"
        )
    return held


def _check_apart(open_rows: Sequence[Plain], held: Sequence[Plain]) -> None:
    """No open item may show the frames of a held-back one, or where they came from."""
    identities: Mapping[str, Callable[[Plain], str]] = {
        "source": frozen.source_of, "file": itemgetter("source_id"), "true picture": itemgetter("truth_rgb_sha256")
    }  # fmt: skip
    for what, identity in identities.items():
        split_of = {identity(row): row["split"] for row in open_rows}
        if shared := [row for row in held if identity(row) in split_of]:
            row = shared[0]
            raise InputError(
                f"item {row['item_id']} of the split {row['split']!r} shares its {what} with items of "
                f"{split_of[identity(row)]!r}, which shows what is to be held back; hold both splits back, or split by source "
                "and build again"
            )


def _inputs(root: Path, held: Sequence[Plain], shown: Path) -> dict[str, dict[str, str]]:
    """Item -> name and hash of its input, which then lies in ``shown``: the stored file, or its frames without loss."""
    (shown / MEDIA["input"]).mkdir()

    def stored(row: Plain) -> dict[str, str]:
        if name := row.get("input_file_name"):
            copy_file(root / name, shown / name)
            return {"input_file_name": name, "input_sha256": row["input_sha256"]}
        frames = frozen.corrupted(root, row, lambda: frozen.hole_of(root, row))
        suffix = video.suffix_for(row["frames"])
        path = shown / MEDIA["input"] / f"{row['item_id']}{suffix}"
        video.write_lossless(path, frames, fps=row["fps"])
        digest = hashlib.sha256(frames.tobytes()).hexdigest()
        if video.decoded_hashes(path)[1] != digest:
            raise VerifyError(f"the input of item {row['item_id']} cannot be stored without loss")
        name = f"{MEDIA['input']}/{file_sha256(path)[:16]}{suffix}"
        path.replace(shown / name)
        return {"input_file_name": name, "input_sha256": digest}

    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as threads:
        return dict(zip((row["item_id"] for row in held), threads.map(stored, held), strict=True))


def _write_public(
    root: Path, whole: Dataset, held: Sequence[Plain], given: Mapping[str, Plain], folder: Path, fact: Plain
) -> Dataset:  # fmt: skip
    withheld, seed = withheld_words(whole, held), whole.recipe.get("seed")
    clips, sources = stand_ins(held, "clip", itemgetter("clip_id")), stand_ins(held, "source", frozen.source_of)
    rows = []
    for row in whole.items:
        if row["item_id"] in given:
            shown = shown_row(row, given[row["item_id"]], clip=clips[row["clip_id"]], source=sources[frozen.source_of(row)])
        else:
            kept = {name: value for name, value in row["attributes"].items() if not slipped({name: value}, withheld)}
            shown = {"input_file_name": None, **row, "attributes": kept}
        rows.append(shown | {"generator_parameters": without_seed(shown["generator_parameters"], seed)})
    rows = filled_columns(rows)
    _copy_media(root, rows, folder)
    opened = {row["item_id"] for row in rows if frozen.has_truth(row)}
    with_holes = opened | {row["item_id"] for row in rows if frozen.has_hole(row)}
    copy_further(root, whole, folder, of=lambda name: with_holes if name == HOLES_FILE else opened, everybody=True)
    # Facts of single sources without the held-back ones, and no other that names one.
    facts: dict[str, Any] = {}
    for name, told in whole.facts.items():
        left = {key: inner for key, inner in told.items() if key not in withheld} if isinstance(told, Mapping) else told
        if not slipped(left, withheld):
            facts[name] = left
    recipe = without_seed(dict(whole.recipe), seed)
    dataset = seal(folder, replace(whole, items=tuple(rows), recipe=recipe, facts=facts | {HELD_BACK: fact}))
    _check_nothing_slipped(folder, dataset, withheld)
    return dataset


def _write_truth(
    root: Path, whole: Dataset, held: Sequence[Plain], given: Mapping[str, Plain], shown: Path, folder: Path
) -> Dataset:  # fmt: skip
    rows = filled_columns([{**row, **given[row["item_id"]]} for row in held])
    slices = [replace(part, item_ids=tuple(name for name in part.item_ids if name in given)) for part in whole.slices]
    empty = {part.name: "its items are in splits that are not held back" for part in slices if not part.item_ids}
    (folder / MEDIA["input"]).mkdir()
    for name in {row["input_file_name"] for row in rows}:
        copy_file(shown / name, folder / name)
    _copy_media(root, rows, folder)
    copy_further(root, whole, folder, of=lambda name: set(given), everybody=False)  # noqa: ARG005
    fact = {
        "dataset": whole.name, "manifest_sha256": file_sha256(shown / MANIFEST), "splits": sorted({row["split"] for row in held}),
    }  # fmt: skip
    dataset = replace(
        whole, name=truth_name(whole), items=tuple(rows), slices=tuple(part for part in slices if part.item_ids),
        left_out=dict(whole.left_out) | empty, facts=dict(whole.facts) | {TRUTH_OF: fact},
    )  # fmt: skip
    return seal(folder, dataset)


def _copy_media(root: Path, rows: Sequence[Plain], folder: Path) -> None:
    for name in sorted({name for row in rows for name in media_names(row)}):
        if not (folder / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            copy_file(root / name, folder / name)


def copy_further(
    root: Path, whole: Dataset, folder: Path, *, of: Callable[[str], Collection[str]], everybody: bool
) -> None:  # fmt: skip
    """Copy what a recipe added, which is neither media nor rows nor a document, as far as it is of some items.

    A JSON object of items is limited to them, a file that has the name of an item or clip goes with it. What is of no item goes
    along unless ``everybody`` is to see it: then only what the text about the dataset shows.

    Args:
        root: folder of the whole dataset.
        whole: its manifest.
        folder: where copies go.
        of: name of a file -> ids of the items that it may be about.
        everybody: whether the copy is public.
    """
    owners: dict[str, set[str]] = {}
    for row in whole.items:
        for stem in (row["item_id"], row["clip_id"]):
            owners.setdefault(stem, set()).add(row["item_id"])
    ids = {row["item_id"] for row in whole.items}
    others = {name for row in whole.items for name in media_names(row)} | set(config_of_file(whole))
    for name in sorted(whole.files):
        if name in others or is_remade(name):
            continue
        allowed, stem = of(name), PurePosixPath(name).stem
        of_none = not everybody or f"]({name})" in whole.about
        data = (root / name).read_bytes()
        about = json.loads(data) if name.endswith(".json") else None
        if isinstance(about, dict) and about and {PurePosixPath(key).stem for key in about} <= ids:
            limited = {key: value for key, value in about.items() if PurePosixPath(key).stem in allowed}
            data = canonical_json(limited).encode() + b"\n" if limited else b""
        elif not (owners[stem].intersection(allowed) if stem in owners else of_none):
            continue
        if data:
            (folder / name).parent.mkdir(exist_ok=True)
            write_atomically(folder / name, data)


def _check_nothing_slipped(folder: Path, public: Dataset, withheld: set[str]) -> None:
    """Search what is written for everybody for ids, hashes and addresses of what is held back, whoever wrote it."""
    media = {name for row in public.items for name in media_names(row)}
    texts = [name for name in public.files if name not in media and not name.endswith(".parquet")]
    read = {name: (folder / name).read_text(encoding="utf-8", errors="replace") for name in [MANIFEST, *texts]}
    shown = {"items": list(public.items), "files": dict(public.files)}
    for name, text in [*read.items(), (f"{ALL}.parquet or {FOLDER}", json.dumps(shown))]:
        value = json.loads(text) if name.endswith((".json", FOLDER)) else text
        if words := slipped(value, withheld) or slipped_inside(text, withheld):
            raise InputError(f"{name} would tell everybody {words[0]!r}, which belongs to what is held back; nothing was written")


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
        of_hole = ("hole_file_name", "hole_sha256", "generator_parameters", frozen.SHOWN)
        shown |= {name: row[name] for name in of_hole if name in row}
        shown["attributes"] = {name: value for name, value in row["attributes"].items() if name.startswith(_OF_HOLES)}
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
    named = {word for row in held for word in _names_of(row, whole.files, titles)}
    public_words = {word for row in whole.items if row["item_id"] not in ids for word in _names_of(row, whole.files, titles)}
    for row in held:
        if row["hole_is_given"] and frozen.has_hole(row):
            name = row["hole_file_name"]
            public_words |= {name, PurePosixPath(name).stem, row["hole_sha256"], whole.files[name]}
    return named - public_words


def _names_of(row: Plain, files: Mapping[str, str], titles: Mapping[str, str]) -> Iterator[str]:
    yield from (str(row[name]) for name in _NAMING if row[name])
    for part in set(MEDIA) - {"input"}:
        for name in part_names(row, part):
            yield from (name, PurePosixPath(name).stem, files[name])
    for second in row["attributes"].get("second_holes", ()):
        yield from (second["corruption_id"], second["hole_sha256"])
    if row["source_id"] in titles:
        yield titles[row["source_id"]]


def _words(value: Any) -> Iterator[str]:
    """Every text in ``value``, and every run of hexadecimal digits in them that is long enough for an id."""
    if isinstance(value, str):
        yield value
        yield from _HEX.findall(value)
    elif isinstance(value, Mapping):
        yield from _words([*value, *value.values()])
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


def without_seed(value: Any, seed: Any) -> Any:
    """Plain data with None for every ``seed`` that is the recipe's: from it, whatever was drawn can be drawn again."""
    if isinstance(value, Mapping):
        return {
            name: None if name == "seed" and canonical_json(inner) == canonical_json(seed) else without_seed(inner, seed)
            for name, inner in value.items()
        }
    return [without_seed(inner, seed) for inner in value] if isinstance(value, list | tuple) else value
