"""Convert a frozen dataset: choose, check, write beside, list, and move into place when whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

import inpaintbench
from inpaintbench import frozen
from inpaintbench.catalogue import pick
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export.card.words import code, plain, sources, table
from inpaintbench.export.documents import NOTICE, notice
from inpaintbench.export.layouts import LAYOUTS
from inpaintbench.export.layouts.base import Chosen, Layout, kind_of
from inpaintbench.export.licences import NOT_STATED
from inpaintbench.files import file_sha256, replacing, write_atomically

# README.md of a converted dataset.

_LOAD = """\
```python
from datasets import load_dataset

rows = load_dataset("PATH", {config}, split={split})
rows = load_dataset("PATH", {config}, split={split}, streaming=True)  # one after the other
```
"""
_ITEMS_LIST = [
    "`items.jsonl` has one line for every item that was written: `item_id`, `slice` (null where an item is written once for",
    "all), `files` (where it lies; `%04d` is the number of a frame) and `row`, all that the dataset says of it.",
    "",
]


class _Head(yaml.SafeDumper):
    """Writes no text over several lines: one of them may be the end of the head."""


_Head.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if "\n" in text else None)
)


def readme(leaf: Layout, chosen: Chosen, *, origin: Mapping[str, Any]) -> str:
    """The text of README.md.

    Args:
        leaf: the layout.
        chosen: what was converted.
        origin: what ``layout.json`` holds.
    """
    front = dict(leaf.front_matter(chosen))
    slices = [[code(part.name), plain(part.rule), str(len(part.item_ids))] for part in chosen.slices]
    head = ["---", yaml.dump(front, Dumper=_Head, sort_keys=False, allow_unicode=False).rstrip(), "---", ""] if front else []
    loading: list[str] = []
    if front:
        config = front["configs"][0]
        # Of a name, JSON makes one line that is a string of Python too.
        names = {"config": config["config_name"], "split": config["data_files"][0]["split"]}
        loading = ["## Load", "", _LOAD.format(**{what: json.dumps(name) for what, name in names.items()})]
    lines = [
        *head,
        f"# {plain(chosen.dataset.name)}",
        "",
        f"{len(chosen.rows)} items in the layout `{leaf.name}` of inpaintbench, from the frozen dataset whose `dataset.json` has",
        f"the SHA-256 `{origin['manifest_sha256']}`. `sha256sum --check SHA256SUMS` finds any changed byte.",
        "",
        "## What lies where",
        "",
        leaf.about,
        "",
        *(_ITEMS_LIST if leaf.lists_items else []),
        *loading,
        "## Slices",
        "",
        table(["slice", "rule", "items"], slices),
        *_licences(chosen),
    ]
    return "\n".join(lines)


def _licences(chosen: Chosen) -> list[str]:
    """Words of others stand in tables alone: in a list, one that begins with a sign would start a rule or another list."""
    known = sources(chosen.rows).values()
    counts = Counter(str(row["licence"] or NOT_STATED) for row in known)
    licences = [[plain(licence), f"{count} of {len(known)}"] for licence, count in sorted(counts.items())]
    authors = sorted({(str(row["author"]), str(row["page_url"] or "")) for row in known if row["author"]})
    return [
        "## Licences",
        "",
        f"[{NOTICE}]({NOTICE}) names every source with its author, its page, its licence and what was changed;",
        "keep it with copies.",
        "",
        table(["licence", "sources"], licences),
        *([table(["author", "page"], [[plain(author), plain(page)] for author, page in authors])] if authors else []),
    ]


# What the folder is and where it comes from.
MARKER = "layout.json"
# Of every other file, in the form of `sha256sum`.
SUMS = "SHA256SUMS"
ITEMS = "items.jsonl"
_RESERVED = {MARKER, SUMS, ITEMS, "README.md", NOTICE}


@dataclass(frozen=True)
class Converted:
    """Result of a conversion."""

    folder: Path
    items: int
    """Different ones; some layouts write an item once a slice."""
    slices: int
    files: int
    bytes: int


def convert(
    dataset: Path | str,
    *,
    layout: str,
    out: Path | str,
    slices: Sequence[str] = (),
    constants: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Converted:
    """Write a frozen dataset in another layout. Equal datasets and slices give equal bytes.

    Args:
        dataset: folder of the frozen dataset.
        layout: a name of ``LAYOUTS``.
        out: a new or empty folder, or one that an earlier conversion wrote, which is replaced when the new one is whole.
        slices: names of those to convert; all by default.
        constants: of the layout.
        progress: told (stage, done, total).

    Raises:
        InputError: no such dataset, layout or slice; items that the layout has no place for; ``out`` holds something else.
        VerifyError: a file of the dataset is not what the manifest says.
        WorkspaceError: not writable.
    """
    root, target = Path(dataset), Path(out)
    leaf: Layout = LAYOUTS.get(layout)(**(constants or {}))
    whole = frozen.load(root)
    parts = pick("slice", slices, {part.name: part for part in whole.slices})
    chosen = Chosen(root, whole, parts, named=bool(slices))
    if not chosen.rows:
        raise InputError(f"{str(root)!r} has no items to convert")
    _check_truths(leaf, chosen)
    _check_kind(leaf, chosen)
    _check_target(target, root, loadable=bool(leaf.front_matter(chosen)))
    origin = {
        "layout": leaf.name, "layout_version": leaf.version, "dataset": whole.name,
        "manifest_sha256": file_sha256(root / frozen.MANIFEST), "slices": [part.name for part in chosen.slices],
        "items": len(chosen.rows), "constants": dict(constants or {}), "inpaintbench": inpaintbench.__version__,
    }  # fmt: skip
    with replacing(target) as folder:
        _write_items(leaf, folder, chosen, progress or unwatched)
        write_atomically(folder / "README.md", readme(leaf, chosen, origin=origin).encode())
        converted = replace(whole, items=tuple(chosen.rows), slices=chosen.slices)
        write_atomically(folder / NOTICE, notice(converted).encode())
        write_atomically(folder / MARKER, json.dumps(origin, indent=1, sort_keys=True).encode() + b"\n")
        paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        sums = "".join(f"{file_sha256(path)}  {name}\n" for name, path in sorted(paths.items()))
        held = sum(path.stat().st_size for path in paths.values()) + len(sums.encode())
        (folder / SUMS).write_text(sums, encoding="utf-8", newline="\n")
    return Converted(target, len(chosen.rows), len(chosen.slices), len(paths) + 1, held)


def _check_truths(leaf: Layout, chosen: Chosen) -> None:
    hidden = [row for row in chosen.rows if not frozen.has_truth(row)]
    without_input = not all(row.get("input_file_name") for row in hidden)
    if not hidden or not (leaf.needs_truth or without_input):
        return
    open_ones = "" if len(hidden) == len(chosen.rows) else ", or --slice for slices that have theirs"
    way_out = f"take {' or '.join(name for name in LAYOUTS if not LAYOUTS.get(name).needs_truth)}{open_ones}"
    if without_input:
        way_out = "it has no stored input either: `inpaintbench export verify` lists all that is wrong"
    raise InputError(
        f"item {hidden[0]['item_id']} of {chosen.dataset.name!r} comes without its truth, as {len(hidden)} of its items do, "
        f"which the layout {leaf.name!r} has a place for; {way_out}"
    )


def _check_kind(leaf: Layout, chosen: Chosen) -> None:
    foreign = sorted({kind_of(row) for row in chosen.rows} - set(leaf.takes))
    if foreign:
        fitting = [name for name in LAYOUTS if foreign[0] in LAYOUTS.get(name).takes]
        raise InputError(
            f"{chosen.dataset.name!r} has {foreign[0]}, but the layout {leaf.name!r} is for {' and '.join(leaf.takes)}; "
            f"take {' or '.join(fitting)}"
        )
    names = [part.name for part in chosen.slices]
    if strange := [name for name in names if not name or name.startswith(".") or set(name) & set("/\\\0")]:
        raise InputError(f"the slice {strange[0]!r} has no name that a folder may have")
    if reserved := [name for name in names if name in _RESERVED]:
        raise InputError(f"the slice {reserved[0]!r} has the name of a file that every converted dataset holds")


def _check_target(target: Path, root: Path, *, loadable: bool) -> None:
    if loadable and (bad := [pattern for pattern in frozen.UNLOADABLE if pattern in str(target.absolute())]):
        raise InputError(f"the path {str(target)!r} holds {bad[0]!r}, which `datasets` takes for a pattern; use another name")
    inner, outer = target.resolve(), root.resolve()
    if inner.is_relative_to(outer) or outer.is_relative_to(inner):
        raise InputError(f"{str(target)!r} and the dataset {str(root)!r} lie in each other; choose another folder")
    if target.exists() and not (target.is_dir() and ((target / MARKER).is_file() or not any(target.iterdir()))):
        raise InputError(f"{str(target)!r} exists and is not a converted dataset; choose another folder")


def _write_items(leaf: Layout, folder: Path, chosen: Chosen, progress: Progress) -> None:
    total = leaf.count(chosen)
    with ExitStack() as held:
        lines = held.enter_context((folder / ITEMS).open("wb")) if leaf.lists_items else None
        for done, written in enumerate(leaf.write(folder, chosen), start=1):
            if lines:
                row = dict(written.row)
                fields = {"item_id": row["item_id"], "slice": written.slice, "files": dict(written.files), "row": row}
                lines.write(json.dumps(fields, sort_keys=True, ensure_ascii=True, allow_nan=False).encode() + b"\n")
            progress(leaf.name, done, total)
