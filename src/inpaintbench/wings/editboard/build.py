"""`build editing`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.build.planning import say_what_pairs_tell
from inpaintbench.cli.build.running import Build, Demo, Out, Owned, one_of
from inpaintbench.cli.options import NONE_GIVEN, Given, Positive, of_recipe, option, read_option
from inpaintbench.curation.nearer import ZOOM
from inpaintbench.curation.sources.edit_clips import EditClips
from inpaintbench.curation.sources.edit_prompts import read_columns
from inpaintbench.errors import UsageError
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.editboard.recipe import AXIS, EditingRecipe, warnings
from inpaintbench.workspace import Workspace

DEMO_SIDE = 192


def build_editing(
    *,
    out: Out,
    clips: Path | None = None,
    prompts: Path | None = None,
    columns: str | None = None,
    demo: Demo = False,
    masks: Path | None = None,
    fps: float = 24.0,
    fewest_prompts: Positive = 2,
    licence: Annotated[str | None, option("The former name of --footage-licence.", hidden=True)] = None,
    given: Annotated[Given, of_recipe(EditingRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """Clips with prompts that ask for edits in four tasks. Masks say what these are about.

    Footage:
        clips: Folder of clips (frames or videos), as DAVIS, TGVE, EditBoard.
        prompts: CSV, JSON lines or JSON: clip, target_prompt or instruction, perhaps task, source_prompt and object.
        columns (OURS=THEIRS,...): What it calls these, where that is something else: clip=video_name,task=edit_type.
        masks: Folder of the clips' masks. [default: beside the clips]
        fps: Frames a second of folders of frames.
        fewest_prompts: Target prompts, or instructions, that a clip needs in each of its tasks.

    Example: inpaintbench build editing --clips CLIPS --prompts prompts.csv --out WORKSPACE
    """
    one_of(clips, demo, "--clips FOLDER")
    if clips is not None and prompts is None:
        raise UsageError("--clips says where clips lie; say what is asked of them, too: --prompts FILE")
    if columns and not prompts:
        raise UsageError("--columns says what a table calls its columns; say which table: --prompts FILE")
    if demo and (prompts or masks):
        raise UsageError("the demo has prompts and masks of its own; for yours give --clips FOLDER")
    if licence is not None:
        owning = replace(owning, footage_licence=licence)
    # The demo's films have 256 pixels a side at most.
    side = 256 // ZOOM if given.get("paired") else DEMO_SIDE
    small = {"name": "Video editing demo", "side": side} if demo else {}
    recipe = build.recipe(EditingRecipe, small, given)
    filmed = recipe.large["width"] if recipe.paired else recipe.side
    source = SourceSpec("embedded_edits", {"side": min(max(filmed, 128), 256)})
    if clips is not None:
        constants: dict[str, Any] = {
            "folder": str(clips), "prompts": str(prompts), "masks": None if masks is None else str(masks), "fps": fps,
            "fewest_prompts": fewest_prompts, **owning.constants, "mask_tasks": list(recipe.mask_tasks),
            **({"columns": read_option(read_columns, columns)} if columns else {}),
        }  # fmt: skip
        source = SourceSpec("edit_clips", constants)
        EditClips(**constants).checked()  # before there is a folder
    build.run(recipe, [source], out)
    dataset = frozen.load(out / "exports" / recipe.kind)
    if recipe.paired:
        say_what_pairs_tell(AXIS.name, dataset, Workspace(out))
    for warning in warnings(dataset.items):
        console.warn(f"warning: {warning}")
