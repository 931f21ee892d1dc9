"""`build editing`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.build.running import Behaviour, Demo, Out, make_recipe, one_of, run_build
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Running, Workers
from inpaintbench.cli.exits import UsageError
from inpaintbench.curation.sources.edit_clips import EditClips
from inpaintbench.recipes.editing import EditingRecipe, warnings
from inpaintbench.recipes.stages import SourceSpec

DEMO_SIDE = 192


def build_editing(
    out: Out,
    clips: Annotated[Path | None, typer.Option(help="Folder of clips (frames or videos), as DAVIS, TGVE, EditBoard.")] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="CSV or JSON lines: clip, task, target_prompt, perhaps source_prompt and object.")
    ] = None,
    demo: Demo = False,
    masks: Annotated[Path | None, typer.Option(help="Folder of the clips' masks.", show_default="beside the clips")] = None,
    behaviour: Behaviour = "corrected",
    side: Annotated[int | None, typer.Option(min=16, help="Of the square frames.", show_default="512")] = None,
    frames: Annotated[int | None, typer.Option(min=2, help="At most so many of a clip.", show_default="all")] = None,
    fps: Annotated[float, typer.Option(help="Frames a second of folders of frames.")] = 24.0,
    fewest_prompts: Annotated[int, typer.Option(min=1, help="Target prompts that a clip needs in each of its tasks.")] = 2,
    captioner: Annotated[
        str | None, typer.Option(help="Attribute whose text says what a clip shows where the prompts do not.")
    ] = None,
    licence: Annotated[str | None, typer.Option(help="Of the clips, for the rows.", show_default="not stated")] = None,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Clips with prompts that ask for edits in four tasks, and masks of what these are about.

    Example: inpaintbench build editing --clips CLIPS --prompts prompts.csv --out WORKSPACE
    """
    one_of(clips, demo, "--clips FOLDER")
    if clips is not None and prompts is None:
        raise UsageError("--clips says where clips lie; say what is asked of them, too: --prompts FILE")
    if demo and (prompts or masks):
        raise UsageError("the demo has prompts and masks of its own; for yours give --clips FOLDER")
    chosen = {"side": side, "frames": frames, "behaviour": behaviour, "captioner": captioner}
    small = {"name": "Video editing demo", "side": DEMO_SIDE} if demo else {}
    recipe = make_recipe(EditingRecipe, small | {name: value for name, value in chosen.items() if value is not None})
    source = SourceSpec("embedded_edits", {"side": min(max(recipe.side, 128), 256)})
    if clips is not None:
        constants: dict[str, Any] = {
            "folder": str(clips), "prompts": str(prompts), "masks": None if masks is None else str(masks), "fps": fps,
            "fewest_prompts": fewest_prompts, "licence": licence, "mask_tasks": list(recipe.mask_tasks),
        }  # fmt: skip
        source = SourceSpec("edit_clips", constants)
        EditClips(**constants).checked()  # before there is a folder
    run_build(recipe, [source], out, Running(workers, max_failures, retry_rejected))
    for warning in warnings(frozen.load(out / "exports" / recipe.kind).items):
        console.warn(f"warning: {warning}")
