"""Answers of commands as JSON, for scripts: standard output then holds nothing else."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any

from inpaintbench.cli.options import option

AsJson = Annotated[bool, option("Print JSON instead of tables, for scripts.", "--json")]


def print_json(answer: object) -> None:
    """The answer of a command on standard output, for scripts: numbers in full, null for what is missing or not finite."""
    sys.stdout.write(json.dumps(_plain(answer), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def records(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """Rows of a table for ``print_json``, by the names of their columns."""
    return [dict(zip(columns, row, strict=True)) for row in rows]
