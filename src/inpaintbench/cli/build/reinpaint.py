"""`build reinpaint`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.cli.build.running import Demo, Described, Describing, Out, Owned, Owning, make_recipe, one_of, run_build
from inpaintbench.cli.console import Locally, Running, constant
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import option
from inpaintbench.cli.recipe_options import NONE_GIVEN, Given, of_recipe
from inpaintbench.recipes.options import FOOTAGE, MASKS
from inpaintbench.recipes.reinpaint import ReinpaintRecipe
from inpaintbench.recipes.stages import SourceSpec

# Masks of a picture's own name are scaled and cropped as it is; of a film that goes on without masks nobody knows the hole.
SAVED_DEFAULTS = {"resize": "cover"}
# A folder of masks rarely fits pictures that it was not made for.
TURN_DEFAULTS = {"resize": True, "lengthen": "to_and_fro"}
DEMO = {"name": "Re-inpainting demo", "size": 256, "preset": "medium-256", "second_masks": 3}


def build_reinpaint(
    out: Out,
    sources: Annotated[
        Path | None, option("Folder of pictures (videos with --frames), searched recursively.", panel=FOOTAGE)
    ] = None,
    demo: Demo = False,
    given: Annotated[Given, of_recipe(ReinpaintRecipe)] = NONE_GIVEN,
    saved_masks: Annotated[
        Path | None,
        option("Folder of masks made elsewhere, by the names of the sources, taken instead of brushes and boxes.", panel=MASKS),
    ] = None,
    saved: Annotated[
        list[str] | None,
        option("A constant of the generator saved_masks: polarity=white_is_hole.", metavar="NAME=VALUE", panel=MASKS),
    ] = None,
    owning: Owning = Owned(),
    describing: Describing = Described(),
    running: Locally = Running(),
) -> None:
    """Pictures with brush or box holes in area bins. Patch masks for re-inpainting them lie on top.

    Example: inpaintbench build reinpaint --sources PICTURES --out WORKSPACE --size 256 --preset medium-256
    """
    by_turn, frames, motion = given.get("masks_by_turn"), given.get("clip_frames", 1), given.get("motion", "static")
    one_of(sources, demo, "--sources FOLDER")
    if saved and not saved_masks:
        raise UsageError("--saved says how to read masks; say where they lie, too: --saved-masks FOLDER")
    if by_turn and not saved_masks:
        raise UsageError("--masks-by-turn says how masks are shared out; say where they lie, too: --saved-masks FOLDER")
    if motion != "static" and frames == 1:
        raise UsageError(f"--motion {motion} is for videos; give --frames above 1")
    if demo and frames > 1:
        raise UsageError("the demo is of pictures; for videos give --sources FOLDER")
    fitting = TURN_DEFAULTS if by_turn else SAVED_DEFAULTS
    folder = {"folder": str(sources), "media": "image" if frames == 1 else "video", **owning.constants}
    source = SourceSpec("embedded_photographs", {}) if demo else SourceSpec("folder", folder)
    of_masks = {"saved_masks": fitting | dict(map(constant, saved or ()))} if saved_masks else {}
    recipe = make_recipe(ReinpaintRecipe, {**(DEMO if demo else {}), **of_masks, **describing.choices, **given})
    run_build(recipe, [source], out, running, describing, masks=saved_masks)
