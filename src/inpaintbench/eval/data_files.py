"""Rows and records as the bytes of files; equal input gives equal bytes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any


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
