"""A folder in which the commands of one page run, and the things that lie there when a command first names them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from tests.docs.things import Maker


class World:
    """A folder in which the commands of one page run, one after the other.

    Args:
        folder: empty.
        shared: what was made once for all pages.
        given: name -> how it is made where a command names it.
    """

    def __init__(self, folder: Path, shared: Path, given: Mapping[str, Maker | None]) -> None:
        self.folder, self.shared, self.given = folder, shared, given
        self._lent: set[str] = set()

    def provide(self, words: list[str]) -> None:
        """Make what the words of a command name and what is not there; deeper paths first."""
        made = _outputs(words)
        for word in [word for word in words if word.endswith(".toml") and (self.folder / word).exists()]:
            words = [*words, *re.findall(r'"([^"\n]+)"', (self.folder / word).read_text())]
        if words[1:2] == ["build"] or words[1:3] == ["curation", "fetch"]:
            self._put_aside(made & self._lent)
        for name in sorted(self.given, key=len, reverse=True):
            if name in made or (self.folder / name).exists() or not any(_names(word, name) for word in words):
                continue
            make = self.given[name]
            if make is None:
                continue
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            make(self.folder / name, self.shared)
            self._lent.add(name.partition("/")[0])

    def after(self, words: list[str]) -> None:
        """A workspace that was built at full size is put aside: the small one takes its place in what follows."""
        if words[1:2] == ["build"] and not {"--size", "--demo"} & set(words):
            self._put_aside(_outputs(words))

    def _put_aside(self, names: set[str]) -> None:
        for name in names:
            if (self.folder / name).exists():
                shutil.rmtree(self.folder / name)
            self._lent.discard(name)


def _outputs(words: list[str]) -> set[str]:
    return {word for before, word in pairwise(words) if before in ("--out", "--to")}


def _names(word: str, name: str) -> bool:
    """Whether a word is this path, one below it, or has it behind a sign such as ``=`` or ``:``."""
    parts = word.replace("=", " ").replace(":", " ").replace(",", " ").split()
    return any(part == name or part.startswith(f"{name}/") for part in parts) or (
        name == "mine.py" and any(part == "mine" or part == "mine.py" for part in parts)
    )
