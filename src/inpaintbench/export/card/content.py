"""What a dataset holds, as far as its card has to know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inpaintbench.export import layout
from inpaintbench.types import Dataset, Plain, canonical_json


def has_media(rows: Sequence[Plain], part: str) -> bool:
    """Whether any item has a file of the media column ``part``."""
    return any(row.get(layout.file_column(part)) for row in rows)


def have_holes(rows: Sequence[Plain]) -> bool:
    """Whether pixels are missing, rather than all degraded."""
    return has_media(rows, "hole")


def are_edits(rows: Sequence[Plain]) -> bool:
    """Whether prompts ask for something else than the truth."""
    return "target_prompt" in rows[0]


def are_stills(rows: Sequence[Plain]) -> bool:
    """Whether every clip is a single picture."""
    return all(row["frames"] == 1 for row in rows)


def things(rows: Sequence[Plain]) -> str:
    """What the footage is cut into: clips or pictures."""
    return "pictures" if are_stills(rows) else "clips"


def media_suffix(rows: Sequence[Plain]) -> str:
    """Of the files of clips: ``.png`` or ``.mp4``."""
    return next((Path(name).suffix for row in rows for name in layout.media_names(row)), ".mp4")


def sources(rows: Sequence[Plain]) -> dict[str, Plain]:
    """Source id -> its first row."""
    found: dict[str, Plain] = {}
    for row in rows:
        found.setdefault(str(row["source_id"]), row)
    return found


def files_sha256(dataset: Dataset) -> str:
    """One hash for the bytes of all data files, with their names."""
    import hashlib

    return hashlib.sha256(canonical_json(dict(dataset.files)).encode()).hexdigest()
