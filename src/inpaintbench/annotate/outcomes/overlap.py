"""Rows of several studies in one table: what would contradict is found before it is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from inpaintbench.workspace import Workspace

# Begins the names of all steps that write what people answered.
PRODUCER = "annotate"


@dataclass(frozen=True)
class Older:
    """Rows of another study about the same."""

    step: str
    taken: list[Any]
    """Those about the same."""
    left: list[Any]
    """The others."""


def overlapping(
    workspace: Workspace,
    table: str,
    record: type[Any],
    rows: Sequence[Any],
    *,
    own: Collection[str],
    key: Callable[[Any], Hashable],
) -> list[Older]:
    """Steps of other studies that have rows about the same as ``rows``, in order of their names.

    Args:
        workspace: where the table lies.
        table: its name.
        record: of its rows.
        rows: those to be written.
        own: steps that they replace.
        key: what a row is about.
    """
    about = {key(row) for row in rows}
    found = []
    for path in sorted((workspace.path / "tables" / table).glob(f"{PRODUCER}.*.parquet")):
        theirs = workspace.table(table, record, step=path.stem) if path.stem not in own else []
        if taken := [row for row in theirs if key(row) in about]:
            found.append(Older(path.stem, taken, [row for row in theirs if key(row) not in about]))
    return found
