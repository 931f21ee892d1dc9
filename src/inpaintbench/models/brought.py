"""Files of parameters that users bring: a licence, or a hash that nobody published, keeps them out of the table of weights."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.errors import NotMeasurable
from inpaintbench.models.weights import known_sha256

# What a score says of a file that is not there.
MISSING = "missing"


@dataclass(frozen=True)
class Brought:
    """A file, or a folder of files, that a variable of the environment names."""

    variable: str
    what: str
    """What it is, after "set VARIABLE to"."""
    advice: str
    """Why it is not there and where it is from, before "and set VARIABLE to ..."."""
    files: tuple[str, ...] = ()
    """Patterns of the files of a folder, of each of which there has to be one; empty for a file."""

    def path(self) -> Path:
        """The file or folder that the user named.

        Raises:
            NotMeasurable: none was named, or it is not there.
        """
        given = os.environ.get(self.variable)
        if not given:
            raise NotMeasurable(f"{self.advice} and set {self.variable} to {self.what}")
        path = Path(given)
        if not (path.is_dir() if self.files else path.is_file()):
            kind = "folder" if self.files else "file"
            raise NotMeasurable(f"{self.variable} names no {kind}: {path.name!r}; set it to {self.what}")
        return path

    def member(self, pattern: str) -> Path:
        """The file of the folder whose name matches one of ``pattern``'s alternatives (``"a.bin|a.safetensors"``).

        Raises:
            NotMeasurable: it is not there.
        """
        folder = self.path()
        names = [folder / name for name in pattern.split("|") if (folder / name).is_file()]
        if not names:
            raise NotMeasurable(f"{self.variable} names {folder.name!r}, which has no {pattern.replace('|', ' or ')}")
        return names[0]

    def sha256(self) -> str:
        """The SHA-256 of the file, or of those of its folder, one after the other; ``MISSING`` where there is none."""
        try:
            hashes = [known_sha256(path) for path in self._all()]
        except NotMeasurable:
            return MISSING
        return hashlib.sha256("".join(hashes).encode()).hexdigest() if self.files else hashes[0]

    def changed(self) -> int:
        """When the latest of its files changed, in nanoseconds; raises as ``path``."""
        return max(path.stat().st_mtime_ns for path in self._all())

    def _all(self) -> Iterator[Path]:
        yield from map(self.member, self.files) if self.files else [self.path()]
