"""README.md of a converted dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import yaml

from inpaintbench.export.layouts.base import Chosen, DatasetLayout

_LOAD = """\
```python
from datasets import load_dataset

rows = load_dataset("PATH", "{config}", split="{split}")
rows = load_dataset("PATH", "{config}", split="{split}", streaming=True)  # one after the other
```
"""


def readme(leaf: DatasetLayout, chosen: Chosen, *, origin: Mapping[str, Any]) -> str:
    """The text of README.md.

    Args:
        leaf: the layout.
        chosen: what was converted.
        origin: what ``layout.json`` holds.
    """
    front = dict(leaf.front_matter(chosen))
    head = ["---", yaml.safe_dump(front, sort_keys=False, allow_unicode=True).rstrip(), "---", ""] if front else []
    lines = [
        *head,
        f"# {chosen.dataset.name}",
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
    return ["## Load", "", _LOAD.format(config=config["config_name"], split=config["data_files"][0]["split"])]


def _slices(chosen: Chosen) -> list[str]:
    table = ["## Slices", "", "| slice | rule | items |", "|---|---|---|"]
    return [*table, *(f"| `{part.name}` | {part.rule} | {len(part.item_ids)} |" for part in chosen.slices), ""]


def _licences(chosen: Chosen) -> list[str]:
    sources = {row["source_id"]: row for row in chosen.rows}
    found = Counter(str(row["licence"] or "not stated") for row in sources.values())
    authors = sorted({(str(row["author"]), str(row["page_url"] or "")) for row in sources.values() if row["author"]})
    return [
        "## Licences",
        "",
        *(f"- {licence}: {count} of {len(sources)} sources" for licence, count in sorted(found.items())),
        "",
        *([f"- {author}{f' ({page})' if page else ''}" for author, page in authors] + [""] if authors else []),
    ]
