"""`build reinpaint`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import completing
from inpaintbench.cli.build.running import Demo, Out, Seed, make_recipe, one_of, run_build
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Running, Workers, constant
from inpaintbench.cli.exits import UsageError
from inpaintbench.masks.generators.brush_presets import PRESETS
from inpaintbench.recipes.reinpaint import ReinpaintRecipe
from inpaintbench.recipes.stages import SourceSpec

SAVED_DEFAULTS = {"resize": "cover"}
"""Masks of a picture's own name are scaled and cropped as it is; of a film that goes on without masks nobody knows the hole."""
TURN_DEFAULTS = {"resize": True, "lengthen": "to_and_fro"}
"""A folder of masks rarely fits pictures that it was not made for."""


def build_reinpaint(
    out: Out,
    sources: Annotated[Path | None, typer.Option(help="Folder of pictures (videos with --frames), searched recursively.")] = None,
    demo: Demo = False,
    size: Annotated[int | None, typer.Option(min=16, help="Side of the square pictures.", show_default="512")] = None,
    pictures: Annotated[int, typer.Option(min=1, help="Most pictures in each area bin.")] = 100,
    bins: Annotated[str, typer.Option(help="Edges of the area bins, in per cent.")] = "0,20,40,60",
    preset: Annotated[
        str | None, typer.Option(autocompletion=completing.names(PRESETS), help="Strokes and boxes.", show_default="medium-512")
    ] = None,
    reach: Annotated[str, typer.Option(help="How a bin is hit: grow, or rejection.")] = "grow",
    second_masks: Annotated[
        int | None, typer.Option(min=0, help="Patch masks on top of each hole (K).", show_default="10")
    ] = None,
    patch: Annotated[int, typer.Option(min=1, help="Side of a patch in pixels (S).")] = 32,
    ratio: Annotated[str, typer.Option(help="Share of patches (P): 0.4, or 0.2-0.6 for uniform between.")] = "0.4",
    saved_masks: Annotated[
        Path | None,
        typer.Option(help="Folder of masks made elsewhere, by the names of the sources, taken instead of brushes and boxes."),
    ] = None,
    masks_by_turn: Annotated[
        bool, typer.Option("--masks-by-turn", help="Take saved masks in turn, whatever they are called, and squash them to fit.")
    ] = False,
    saved: Annotated[
        list[str] | None,
        typer.Option("--saved", metavar="NAME=VALUE", help="A constant of the generator saved_masks: polarity=white_is_hole."),
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="Frames of a clip; above 1 the sources are videos.")] = 1,
    motion: Annotated[str, typer.Option(help="Of the masks in videos: static, drifting or tube.")] = "static",
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Pictures with brush or box holes in area bins, and patch masks for re-inpainting them.

    Example: inpaintbench build reinpaint --sources PICTURES --out WORKSPACE --size 256 --preset medium-256
    """
    one_of(sources, demo, "--sources FOLDER")
    if saved and not saved_masks:
        raise UsageError("--saved says how to read masks; say where they lie, too: --saved-masks FOLDER")
    if masks_by_turn and not saved_masks:
        raise UsageError("--masks-by-turn says how masks are shared out; say where they lie, too: --saved-masks FOLDER")
    if motion != "static" and frames == 1:
        raise UsageError(f"--motion {motion} is for videos; give --frames above 1")
    if demo and frames > 1:
        raise UsageError("the demo is of pictures; for videos give --sources FOLDER")
    media = "image" if frames == 1 else "video"
    fitting = TURN_DEFAULTS if masks_by_turn else SAVED_DEFAULTS
    source = SourceSpec("embedded_photographs", {}) if demo else SourceSpec("folder", {"folder": str(sources), "media": media})
    chosen = {
        "size": size, "pictures": pictures, "area_edges": _shares(bins), "preset": preset, "reach": reach, "patch_pixels": patch,
        "second_masks": second_masks, "second_ratio": _ratio(ratio), "clip_frames": frames, "motion": motion, "seed": seed,
        "saved_masks": None if saved_masks is None else fitting | dict(map(constant, saved or ())),
        "masks_by_turn": masks_by_turn,
    }  # fmt: skip
    small = {"name": "Re-inpainting demo", "size": 256, "preset": "medium-256", "second_masks": 3} if demo else {}
    given = {name: value for name, value in chosen.items() if value is not None}
    running = Running(workers, max_failures, retry_rejected)
    run_build(make_recipe(ReinpaintRecipe, small | given), [source], out, running, masks=saved_masks)


def _shares(text: str) -> tuple[float, ...]:
    try:
        edges = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"bins {text!r} are not edges in per cent, such as 0,20,40,60") from error
    if len(edges) < 2 or not all(0 <= low < high <= 100 for low, high in pairwise(edges)):
        raise UsageError(f"bins {text!r} are not two or more ascending edges from 0 to 100 per cent, such as 0,20,40,60")
    return tuple(edge / 100 for edge in edges)


def _ratio(text: str) -> float | tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split("-"))
    except ValueError as error:
        raise UsageError(f"ratio {text!r} is neither a number nor two, such as 0.2-0.6") from error
    if not all(0 < number <= 1 for number in numbers) or sorted(numbers) != list(numbers) or len(numbers) > 2:
        raise UsageError(f"ratio {text!r} should be a number above 0 and at most 1, or two ascending ones, such as 0.2-0.6")
    return numbers[0] if len(numbers) == 1 else numbers
