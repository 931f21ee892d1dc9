"""Divide a frozen dataset for a challenge: inputs for everybody, and the truth of some splits in a dataset of its own.

Both are frozen datasets. Items keep their ids, so predictions on the one are scored on the other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from inpaintbench import frozen, video
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError, VerifyError
from inpaintbench.export.documents import is_remade
from inpaintbench.export.exposure import check_exposed, exposure, is_exposed
from inpaintbench.export.freeze import check_target, seal
from inpaintbench.export.held_rows import (
    open_facts,
    open_row,
    shown_row,
    slipped,
    slipped_inside,
    stand_ins,
    withheld_words,
    without_seed,
)
from inpaintbench.export.layout import MEDIA, by_split, config_of_file, filled_columns, media_names, splits
from inpaintbench.files import copy_file, file_sha256, replacing, write_atomically
from inpaintbench.manifest import ALL, FOLDER, MANIFEST
from inpaintbench.types import Dataset, Plain, Slice, canonical_json

# Files that a recipe adds to its dataset: which of them, and how much of them, a part of the dataset has.

# Holes as lists of blocks: item -> blocks.
HOLES_FILE = "maskdata.json"


def copy_further(
    root: Path, whole: Dataset, folder: Path, *, of: Callable[[str], Collection[str]], everybody: bool
) -> None:  # fmt: skip
    """Copy what is neither media nor rows nor a document, as far as it is of some items.

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
    for name in _further(whole):
        allowed, stem = of(name), PurePosixPath(name).stem
        of_none = not everybody or f"]({name})" in whole.about
        goes = bool(owners[stem].intersection(allowed)) if stem in owners else of_none
        if (data := _of_items(root / name, whole, allowed)) is None and goes:
            data = (root / name).read_bytes()
        if data:
            (folder / name).parent.mkdir(exist_ok=True)
            write_atomically(folder / name, data)


def _further(whole: Dataset) -> list[str]:
    """Files that are neither media nor rows nor documents: what a recipe adds."""
    media = {name for row in whole.items for name in media_names(row)}
    metadata = config_of_file(whole)
    return [name for name in sorted(whole.files) if name not in media and name not in metadata and not is_remade(name)]


def _of_items(path: Path, whole: Dataset, items: Collection[str]) -> bytes | None:
    """A JSON object of items limited to ``items``, no bytes where it has none of them; None for any other file."""
    if path.suffix != ".json":
        return None
    whole_object, known = json.loads(path.read_bytes()), {row["item_id"] for row in whole.items}
    if not isinstance(whole_object, dict) or not whole_object or not {PurePosixPath(key).stem for key in whole_object} <= known:
        return None
    limited = {key: value for key, value in whole_object.items() if PurePosixPath(key).stem in items}
    return canonical_json(limited).encode() + b"\n" if limited else b""


# Facts of the public dataset and of the one with the truth.
HELD_BACK, TRUTH_OF = "held_back", "truth_of"
# The source whose truths are drawn from the recipe's seed alone.
_DRAWN = "fingerprints"
_FEWEST_DIGITS = 18
_AT_ONCE = 4


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
    _check_places(root, public, truth)
    # The truth comes into place first: nothing is public of which it could be lost.
    with replacing(public, what="export ") as shown, replacing(truth, what="export ") as hidden:
        _check_files(root, whole)
        seen = exposure(root, held)
        check_exposed(seen, items=len(held), allowed=allow_exposed)
        exposed = _exposed_facts(seen, allow_exposed)
        given = _inputs(root, held, shown)
        public_dataset = _write_public(root, whole, held, given, shown, exposed)
        truth_dataset = _write_truth(root, whole, held, given, shown, hidden)
    return public_dataset, truth_dataset


def truth_name(whole: Dataset) -> str:
    """Name of the dataset with the truth."""
    return f"{whole.name} (truth)"


def _exposed_facts(seen: Plain | None, allowed: str | None) -> dict[str, Any]:
    """Facts of the public dataset on inputs that show each other's truth."""
    if not seen:
        return {}
    return {"shown_by_other_inputs": seen} | ({"allowed": allowed} if is_exposed(seen) else {})


def _held(whole: Dataset, names: Sequence[str]) -> list[Plain]:
    """The rows to hold back, after every check that needs the manifest alone."""
    known = list(by_split([row["item_id"] for row in whole.items], splits(whole.items)))
    if not names:
        raise InputError(f"name the splits to hold back; {whole.name!r} has {', '.join(known)}")
    for name in names:
        if name not in known:
            raise UnknownNameError(unknown_name("split", name, known))
    if other := [fact for fact in (HELD_BACK, TRUTH_OF, "part_of") if fact in whole.facts]:
        raise InputError(f"{whole.name!r} is itself made from another dataset ({other[0]}); hold back from the whole one")
    held = [row for row in whole.items if row["split"] in names]
    if any(map(frozen.is_edit, held)):
        raise InputError(f"{whole.name!r} asks for edits, whose input is their truth: there is nothing to hold back")
    _check_apart([row for row in whole.items if row["split"] not in names], held)
    _check_seed(whole)
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


def _check_seed(whole: Dataset) -> None:
    seed = whole.recipe.get("seed", 0)
    if _DRAWN in whole.recipe.get("leaves", {}).get("source", {}) and abs(seed) < 10 ** (_FEWEST_DIGITS - 1):
        raise InputError(
            f"the truths of {whole.name!r} are drawn from the seed {seed} alone, which anybody finds by trying; build it again "
            f"with --seed and a random number of {_FEWEST_DIGITS} digits that nobody is told"
        )


def _check_places(*folders: Path) -> None:
    resolved = [folder.resolve() for folder in folders]
    for place, first in enumerate(resolved):
        for other in resolved[place + 1 :]:
            if first.is_relative_to(other) or other.is_relative_to(first):
                raise InputError(f"{str(first)!r} and {str(other)!r} lie in each other; choose another folder")


def _check_files(root: Path, whole: Dataset) -> None:
    for name, sha256 in whole.files.items():
        if not (root / name).is_file() or file_sha256(root / name) != sha256:
            raise VerifyError(f"{name} of {str(root)!r} is missing or differs from the manifest; export the dataset again")


def _inputs(root: Path, held: Sequence[Plain], shown: Path) -> dict[str, dict[str, str]]:
    """Item -> name and hash of its input, which then lies in ``shown``: the stored file, or its frames without loss."""
    (shown / MEDIA["input"]).mkdir()

    def store(row: Plain) -> dict[str, str]:
        if name := row.get("input_file_name"):
            copy_file(root / name, shown / name)
            return {"input_file_name": name, "input_sha256": row["input_sha256"]}
        return _rendered(root, row, shown)

    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as threads:
        return dict(zip((row["item_id"] for row in held), threads.map(store, held), strict=True))


def _rendered(root: Path, row: Plain, shown: Path) -> dict[str, str]:
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


def _write_public(
    root: Path, whole: Dataset, held: Sequence[Plain], given: Mapping[str, Plain], folder: Path, exposed: Plain
) -> Dataset:  # fmt: skip
    withheld, seed = withheld_words(whole, held), whole.recipe.get("seed")
    clips, sources = stand_ins(held, "clip", itemgetter("clip_id")), stand_ins(held, "source", frozen.source_of)
    rows = []
    for row in whole.items:
        if row["item_id"] in given:
            shown = shown_row(row, given[row["item_id"]], clip=clips[row["clip_id"]], source=sources[frozen.source_of(row)])
            rows.append(shown | {"generator_parameters": without_seed(shown["generator_parameters"], seed)})
        else:
            rows.append({"input_file_name": None, **open_row(row, withheld, seed)})
    rows = filled_columns(rows)
    fact: dict[str, Any] = {
        "splits": sorted({row["split"] for row in held}), "items": len(held), "truth_dataset": truth_name(whole),
        **exposed,
    }  # fmt: skip
    _copy_media(root, rows, folder)
    opened = {row["item_id"] for row in rows if frozen.has_truth(row)}
    with_holes = opened | {row["item_id"] for row in rows if frozen.has_hole(row)}
    copy_further(root, whole, folder, of=lambda name: with_holes if name == HOLES_FILE else opened, everybody=True)
    facts = open_facts(whole.facts, withheld) | {HELD_BACK: fact}
    dataset = replace(whole, items=tuple(rows), recipe=without_seed(dict(whole.recipe), seed), facts=facts)
    dataset = seal(folder, dataset)
    _check_nothing_slipped(folder, dataset, withheld)
    return dataset


def _write_truth(
    root: Path, whole: Dataset, held: Sequence[Plain], given: Mapping[str, Plain], shown: Path, folder: Path
) -> Dataset:  # fmt: skip
    rows = filled_columns([{**row, **given[row["item_id"]]} for row in held])
    slices = [replace(part, item_ids=tuple(name for name in part.item_ids if name in given)) for part in whole.slices]
    filled: list[Slice] = [part for part in slices if part.item_ids]
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
        whole, name=truth_name(whole), items=tuple(rows), slices=tuple(filled), left_out=dict(whole.left_out) | empty,
        facts=dict(whole.facts) | {TRUTH_OF: fact},
    )  # fmt: skip
    return seal(folder, dataset)


def _copy_media(root: Path, rows: Sequence[Plain], folder: Path) -> None:
    for name in sorted({name for row in rows for name in media_names(row)}):
        if not (folder / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            copy_file(root / name, folder / name)


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
