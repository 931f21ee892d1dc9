"""`build reinpaint`."""

from __future__ import annotations

from typing import Annotated

from inpaintbench import frozen
from inpaintbench.cli.build.planning import say_what_pairs_tell
from inpaintbench.cli.build.running import Build, Demo, Out, Owned, Saved, one_of
from inpaintbench.cli.options import NONE_GIVEN, Given, InSources, of_recipe
from inpaintbench.errors import UsageError
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.workspace import Workspace

DEMO = {"name": "Re-inpainting demo", "size": 256, "preset": "medium-256", "second_masks": 3}


def build_reinpaint(
    *,
    out: Out,
    sources: InSources | None = None,
    demo: Demo = False,
    given: Annotated[Given, of_recipe(ReinpaintRecipe)] = NONE_GIVEN,
    saving: Saved = Saved(),
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """Pictures with brush or box holes in area bins. Patch masks for re-inpainting them lie on top.

    Footage:
        sources (PATH|ADDRESS): Folder of pictures (videos with --frames), searched recursively; s3://bucket/pictures too.

    Example: inpaintbench build reinpaint --sources PICTURES --out WORKSPACE --size 256 --preset medium-256
    """
    frames, motion = given.get("clip_frames", 1), given.get("motion", "static")
    one_of(sources, demo, "--sources FOLDER")
    of_masks = saving.choices(by_turn=bool(given.get("masks_by_turn")))
    if motion != "static" and frames == 1:
        raise UsageError(f"--motion {motion} is for videos; give --frames above 1")
    if demo and frames > 1:
        raise UsageError("the demo is of pictures; for videos give --sources FOLDER")
    folder = {"folder": str(sources), "media": "image" if frames == 1 else "video", **owning.constants}
    source = SourceSpec("embedded_photographs", {}) if demo else SourceSpec("folder", folder)
    recipe = build.recipe(ReinpaintRecipe, (DEMO if demo else {}) | of_masks, given)
    build.run(recipe, [source], out, masks=saving.saved_masks)
    if recipe.paired:
        say_what_pairs_tell("hole_area", frozen.load(out / "exports" / recipe.kind), Workspace(out))
