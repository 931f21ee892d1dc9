"""What people write beside what is found: names, notes and tags of things, and flags on items. All of it lies in one file."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from inpaintbench.curation.sheets import label_value
from inpaintbench.errors import InputError
from inpaintbench.files import write_atomically
from inpaintbench.types import canonical_json

FILE = "inpaintbench-notes.json"
FIELDS = ("name", "note", "tags")
# Letters of one field, flags of one item, and things with notes, at most.
_LONGEST, _MOST = 4000, 100_000
_WRITING = threading.Lock()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One writer at a time: of this process, and of others where the file system holds folders."""
    with _WRITING, ExitStack() as held:
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            held.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


class Notes:
    """Notes of the things below folders, in ``inpaintbench-notes.json`` of the first.

    Args:
        folder: the first.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def read(self) -> dict[str, Any]:
        """``things``: key -> name, note, tags; ``flags``: rows of subject, name and value.

        Raises:
            InputError: the file cannot be read.
        """
        if not self.path.exists():
            return {"things": {}, "flags": []}
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return {"things": dict(found["things"]), "flags": list(found["flags"])}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{str(self.path)!r} cannot be read: {error}; mend it or move it away") from error

    def annotate(self, key: str, fields: Any) -> list[dict[str, str]]:
        """Keep name, note and tags of a thing; empty ones go away. Returns all flags, as ``flag`` does.

        Raises:
            InputError: other fields, too long ones, or the file cannot be written.
        """
        if not isinstance(fields, dict) or not all(
            isinstance(value, str) and len(value) <= _LONGEST for value in fields.values()
        ):
            raise InputError(f"a note has {', '.join(FIELDS)}, texts of at most {_LONGEST} letters")
        if unknown := [name for name in fields if name not in FIELDS]:
            raise InputError(f"a note has no {unknown[0]!r}, only {', '.join(FIELDS)}")
        with _alone(self.path.parent):
            told = self.read()
            kept = {name: value for name, value in {**told["things"].get(key, {}), **fields}.items() if value}
            told["things"] = {
                **{name: value for name, value in told["things"].items() if name != key},
                **({key: kept} if kept else {}),
            }
            return self._write(told)

    def flag(self, subject: str, name: str, value: str) -> list[dict[str, str]]:
        """Keep a flag of a clip or item; an empty value takes it away.

        Raises:
            InputError: texts that are missing or too long, or that no label may have, too many flags, or the file cannot be
                written.
        """
        if not subject or not name or max(map(len, (subject, name, value))) > _LONGEST:
            raise InputError(f"a flag has a subject, a name and a value, of at most {_LONGEST} letters")
        if value:
            label_value(name, value)
        with _alone(self.path.parent):
            told = self.read()
            others = [row for row in told["flags"] if (row["subject"], row["name"]) != (subject, name)]
            told["flags"] = others + ([{"subject": subject, "name": name, "value": value}] if value else [])
            return self._write(told)

    def _write(self, told: dict[str, Any]) -> list[dict[str, str]]:
        if len(told["flags"]) + len(told["things"]) > _MOST:
            raise InputError(f"{str(self.path)!r} holds {_MOST:,} notes and flags, the most there can be")
        try:
            write_atomically(self.path, canonical_json(told).encode() + b"\n")
        except OSError as error:
            raise InputError(f"{str(self.path)!r} cannot be written: {error.strerror}") from error
        flags: list[dict[str, str]] = told["flags"]
        return flags
