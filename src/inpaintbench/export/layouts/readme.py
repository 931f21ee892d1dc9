"""README.md of a converted dataset."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import yaml

from inpaintbench.export.card.words import code, plain, sources, table
from inpaintbench.export.documents import NOTICE
from inpaintbench.export.layouts.base import Chosen, Layout
from inpaintbench.export.licences import NOT_STATED

_LOAD = """\
```python
from datasets import load_dataset

rows = load_dataset("PATH", {config}, split={split})
rows = load_dataset("PATH", {config}, split={split}, streaming=True)  # one after the other
```
"""


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
    head = ["---", yaml.dump(front, Dumper=_Head, sort_keys=False, allow_unicode=False).rstrip(), "---", ""] if front else []
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
        *(_items_list() if leaf.lists_items else []),
        *(_how_to_load(front) if front else []),
        *_slices(chosen),
        *_licences(chosen),
    ]
    return "\n".join(lines)


def _items_list() -> list[str]:
    return [
        "`items.jsonl` has one line for every item that was written: `item_id`, `slice` (null where an item is written once for",
        "all), `files` (where it lies; `%04d` is the number of a frame) and `row`, all that the dataset says of it.",
        "",
    ]


def _how_to_load(front: Mapping[str, Any]) -> list[str]:
    config = front["configs"][0]
    # Of a name, JSON makes one line that is a string of Python too.
    names = {"config": config["config_name"], "split": config["data_files"][0]["split"]}
    return ["## Load", "", _LOAD.format(**{what: json.dumps(name) for what, name in names.items()})]


def _slices(chosen: Chosen) -> list[str]:
    rows = [[code(part.name), plain(part.rule), str(len(part.item_ids))] for part in chosen.slices]
    return ["## Slices", "", table(["slice", "rule", "items"], rows)]


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
