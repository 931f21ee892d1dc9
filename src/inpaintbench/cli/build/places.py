"""Places that `build devil` has its footage from, besides a folder of one's own: the wings add them, each with its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from inpaintbench.catalogue import joined
from inpaintbench.executors.base import Executor
from inpaintbench.recipes.stages import SourceSpec

KIND = "place of footage"
# What `--source` takes.
PLACES = ("folder", *joined(KIND))


@dataclass(frozen=True)
class Place:
    """A place and what is asked of it; its fields are options of the command, none of which is given by default."""

    panel: ClassVar[str | None] = None
    """The title that they stand under in help."""

    @property
    def asked(self) -> list[str]:
        """Names of options that were given and mean nothing at another place."""
        return []

    @property
    def least_size(self) -> tuple[int, int] | None:
        """Width and height in pixels that its footage has at least, where the published rules hold."""
        return None

    def check(self) -> None:
        """Raise ``UsageError`` where too little was asked."""

    def source(self, out: Path) -> SourceSpec:
        """Where footage is found, once it is in the workspace ``out``."""
        raise NotImplementedError

    def fetching(self) -> Callable[[Executor], object] | None:
        """What brings the footage into the workspace; None where it is there.

        Raises:
            InpaintBenchError: the place would answer none of it, which is told before there is a folder.
        """
        return None
