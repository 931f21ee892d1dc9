"""Rows and records as the bytes of files; equal input gives equal bytes."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from inpaintbench.types import canonical_json


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """CSV with a line of heads: None is an empty cell, infinity is ``inf``, lines end in ``\\n``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def json_bytes(value: Any) -> bytes:
    """JSON in UTF-8 with an indent of 1.

    Raises:
        ValueError: a number is infinite or NaN.
    """
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def canonical_bytes(value: Any) -> bytes:
    """Canonical JSON on one line; infinity, which JSON has no number for, is the text ``inf``."""
    return canonical_json(_without_infinity(value)).encode() + b"\n"


def _without_infinity(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _without_infinity(inner) for key, inner in value.items()}
    return [_without_infinity(inner) for inner in value] if isinstance(value, list | tuple) else value
