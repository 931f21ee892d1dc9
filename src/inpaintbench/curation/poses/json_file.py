"""JSON files that may be damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inpaintbench.curation.poses.base import number
from inpaintbench.errors import InputError


def load_json(path: Path | str) -> Any:
    """What a JSON file holds.

    Raises:
        InputError: the file cannot be read or is not JSON.
    """
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"annotations {str(path)!r} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{Path(path).name} is not JSON: {error}") from error


def pairs(value: Any) -> list[tuple[float | None, float | None]]:
    """A list of points; None for what is no number, (None, None) for what is no pair, empty for what is no list."""
    entries = value if isinstance(value, list) else []
    return [
        (number(entry[0]), number(entry[1])) if isinstance(entry, list) and len(entry) == 2 else (None, None) for entry in entries
    ]
