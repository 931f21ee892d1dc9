"""`build removal`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from inpaintbench.cli.build.running import Build, Building, Demo, Out, Owned, Owning
from inpaintbench.cli.options import NONE_GIVEN, Among, Given, Positive, of_recipe
from inpaintbench.curation.sources.removal_folders import RemovalFolders
from inpaintbench.curation.sources.removal_layouts import GENERIC, NAMES
from inpaintbench.errors import UsageError
from inpaintbench.recipes.removal import RemovalRecipe
from inpaintbench.recipes.stages import SourceSpec

DEMO_ITEMS = 24


def build_removal(
    *,
    out: Out,
    items: Positive | None = None,
    demo: Demo = False,
    pairs: Path | None = None,
    layout: Annotated[str | None, Among(NAMES[1:])] = None,
    clips: Path | None = None,
    masks: Path | None = None,
    truth: Path | None = None,
    allow_unmatched: bool = False,
    effects: Path | None = None,
    fps: float = 24.0,
    given: Annotated[Given, of_recipe(RemovalRecipe)] = NONE_GIVEN,
    owning: Owning = Owned(),
    build: Building = Build(),
) -> None:
    """Objects to be removed with their side effects. Rendered with an exact truth, from pairs of others, or clips without truth.

    Footage:
        items: Render so many items; their truth is exact. [default: none]
        pairs: Folder of a data set with truths; --layout says whose.
        layout: How --pairs is laid out. [default: none]
        clips: Folder of clips with an object (videos, or folders of frames).
        masks: Folder of its masks, by the names of the clips.
        truth: Folder of the same clips without it. [default: nobody has them]
        allow_unmatched: Leave out what has no partner of its name.
        effects: Table of their side effects: clip, side_effect, strength. [default: by folders]
        fps: Frames a second of folders of frames.

    Example: inpaintbench build removal --items 240 --out WORKSPACE
    """
    if sum(map(bool, (items or demo, pairs, clips))) != 1:
        raise UsageError("give --items N or --demo, --pairs FOLDER with --layout NAME, or --clips FOLDER with --masks FOLDER")
    if bool(pairs) != bool(layout):
        raise UsageError("--pairs and --layout go together: the one says where a data set lies, the other whose layout it has")
    if (clips is None) != (masks is None) or (truth and not clips):
        raise UsageError("--clips needs --masks of the same names, and --truth goes with both")
    if effects and not (pairs or clips):
        raise UsageError("--effects says something of --pairs or --clips; those of rendered items are known")
    recipe = build.recipe(RemovalRecipe, {"name": "Object removal demo"} if demo else {}, given)
    source = recipe.rendered(items or DEMO_ITEMS)
    if pairs or clips:
        constants: dict[str, Any] = {
            "folder": str(pairs or clips), "layout": layout or GENERIC, "masks": None if masks is None else str(masks),
            "truth": None if truth is None else str(truth), "allow_unmatched": allow_unmatched, "fps": fps,
            "effects": None if effects is None else str(effects), **owning.constants,
        }  # fmt: skip
        RemovalFolders(**constants).found()  # before there is a folder
        source = SourceSpec("removal_folders", constants)
    build.run(recipe, [source], out)
