"""`build benchmark`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from inpaintbench.cli.build.running import Build, Building, Demo, Out, Owned, Owning
from inpaintbench.cli.options import NONE_GIVEN, Among, Given, of_recipe
from inpaintbench.curation.sources.removal_folders import LENGTHEN, RemovalFolders
from inpaintbench.curation.sources.removal_layouts import CLASSIC, GENERIC, NAMES
from inpaintbench.errors import UsageError
from inpaintbench.recipes.benchmark import BenchmarkRecipe
from inpaintbench.recipes.stages import SourceSpec

DEMO_CLIPS = 8


def build_benchmark(
    *,
    out: Out,
    clips: Path | None = None,
    masks: Path | None = None,
    layout: Annotated[str | None, Among(CLASSIC)] = None,
    demo: Demo = False,
    allow_unmatched: bool = False,
    lengthen: Annotated[str, Among(LENGTHEN)] = "reject",
    fps: float = 24.0,
    given: Annotated[Given, of_recipe(BenchmarkRecipe)] = NONE_GIVEN,
    owning: Owning = Owned(),
    build: Building = Build(),
) -> None:
    """Clips with masks of their own, measured as papers do.

    Footage:
        clips: Folder of clips (videos, folders of frames), or of a data set with --layout.
        masks: Folder of their masks, by the names of the clips.
        layout: How a data set is laid out. [default: none]
        allow_unmatched: Leave out what has no partner of its name.
        fps: Frames a second of folders of frames.

    Masks:
        lengthen: Masks of fewer frames: reject, hold (the last one), to_and_fro.

    Example: inpaintbench build benchmark --clips CLIPS --masks MASKS --out WORKSPACE
    """
    if bool(clips) == demo:
        raise UsageError("give --clips FOLDER with --masks FOLDER, --clips FOLDER with --layout NAME, or --demo")
    if clips and bool(masks) == bool(layout):
        raise UsageError("--clips needs either --masks of the same names, or the --layout of a data set that has them")
    if layout in NAMES and layout not in CLASSIC:
        raise UsageError(f"data sets of the layout {layout!r} have no truth under their masks: build removal --pairs reads them")
    usual: dict[str, Any] = {"name": "Video inpainting demo"} if demo else {}
    recipe = build.recipe(BenchmarkRecipe, usual, given)
    source = recipe.embedded(DEMO_CLIPS)
    if clips:
        constants: dict[str, Any] = {
            "folder": str(clips), "layout": layout or GENERIC, "masks": None if masks is None else str(masks),
            "allow_unmatched": allow_unmatched, "fps": fps, "lengthen": lengthen, "masks_of_any_size": recipe.fit == "stretch",
            **owning.constants,
        }  # fmt: skip
        RemovalFolders(**constants).found()  # before there is a folder
        source = SourceSpec("removal_folders", constants)
    build.run(recipe, [source], out)
