"""Options about masks made elsewhere, and about how films are cut, that several commands take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le

from inpaintbench.cli.console import constant, parse_leaf
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import bundle, option
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.recipes.options import CLIPS, MASKS

_LEAF = "NAME[,CONSTANT=VALUE...]"
# Masks of a picture's own name are scaled and cropped as it is; of a film that goes on without masks nobody knows the hole.
SAVED_DEFAULTS = {"resize": "cover"}
# A folder of masks rarely fits pictures that it was not made for.
TURN_DEFAULTS = {"resize": True, "lengthen": "to_and_fro"}


@dataclass(frozen=True)
class Saved:
    """Masks made elsewhere.

    Attributes:
        saved_masks: Folder of masks made elsewhere, by the names of the sources, taken instead of drawn ones.
        saved (NAME=VALUE): A constant of the generator saved_masks: polarity=white_is_hole.
    """

    saved_masks: Path | None = None
    saved: list[str] | None = None

    def choices(self, *, by_turn: bool) -> dict[str, Any]:
        """Choices of the recipe.

        Raises:
            UsageError: how to read masks is said, but not where they lie.
        """
        if self.saved_masks is None:
            if self.saved:
                raise UsageError("--saved says how to read masks; say where they lie, too: --saved-masks FOLDER")
            if by_turn:
                raise UsageError("--masks-by-turn says how masks are shared out; say where they lie, too: --saved-masks FOLDER")
            return {}
        return {"saved_masks": (TURN_DEFAULTS if by_turn else SAVED_DEFAULTS) | dict(map(constant, self.saved or ()))}


@dataclass(frozen=True)
class Cuts:
    """How films are divided, at which rate, and how their frames get their size.

    Attributes:
        fps: Frames a second, by timestamps; 0 = each source's own. [default: 0]
    """

    splitter: Annotated[
        str | None,
        option(f"How sources are divided: {', '.join(SPLITTERS)}.", default="windows", among=SPLITTERS, metavar=_LEAF),
    ] = None
    normalizer: Annotated[
        str | None,
        option(f"How frames get their size: {', '.join(NORMALIZERS)}.", default="cover", among=NORMALIZERS, metavar=_LEAF),
    ] = None
    fps: Annotated[float | None, Ge(0), Le(1000)] = None

    def choices(self, *, sized: bool) -> dict[str, Any]:
        """Choices of the recipe: those that were given.

        Args:
            sized: the size of the clips was given as well.

        Raises:
            UsageError: two sizes.
        """
        if sized and self.normalizer:
            raise UsageError("--size is the size of the default normalizer; write it into --normalizer, or give --size alone")
        leaves = {
            "splitter": parse_leaf(self.splitter, SPLITTERS) if self.splitter else None,
            "normalizer": parse_leaf(self.normalizer, NORMALIZERS) if self.normalizer else None,
        }
        rate = {} if self.fps is None else {"fps": self.fps or None}
        return rate | {name: leaf for name, leaf in leaves.items() if leaf}


Saving = Annotated[Saved, bundle(Saved, panel=MASKS)]
CutAs = Annotated[Cuts, bundle(Cuts, panel=CLIPS)]
