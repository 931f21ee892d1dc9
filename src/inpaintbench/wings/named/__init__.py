"""Published benchmarks by name: from the data of a paper to the next row of its table, one file of facts a benchmark."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "command": {"bench": "inpaintbench.wings.named.commands:app"},
    "sentence of command": {"bench": "A published benchmark: from its data to its table."},
}
