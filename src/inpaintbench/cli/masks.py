"""`masks`: pair clips with holes in a workspace, or render holes on their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench import video
from inpaintbench.cli import console
from inpaintbench.cli.build import parse_size
from inpaintbench.cli.console import WORKERS, Workers
from inpaintbench.errors import InputError
from inpaintbench.masks.generators.blob_presets import PRESETS, find_preset
from inpaintbench.masks.measure import check_labels, labels_of, measure
from inpaintbench.masks.render import generate
from inpaintbench.recipes.settings import recall, stages_of
from inpaintbench.types import Corruption, Item
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Make corruptions and measure them.")


@app.command()
def pair(workspace: Annotated[Path, typer.Argument(help="The workspace.")], workers: Workers = WORKERS) -> None:
    """Pair the kept clips with masks, render the masks that are used, measure them."""
    opened = Workspace(workspace, create=False)
    with console.running(opened, workers=workers) as executor:
        recipe = recall(opened)
        stages_of(recipe).corrupt(recipe, executor, opened)
    holes, items = len(opened.table("corruptions", Corruption)), len(opened.table("items", Item))
    console.out.print(f"{items} items with {holes} holes", markup=False)


@app.command()
def render(
    preset: Annotated[str, typer.Option(help="See `masks presets`.")],
    out: Annotated[Path, typer.Option(help="Folder for the hole videos (255 = hole).")],
    count: Annotated[int, typer.Option(min=1, help="How many masks.")] = 1,
    first: Annotated[int, typer.Option(min=0, help="Number of the first one.")] = 0,
    behaviour: Annotated[str, typer.Option(help="corrected or as-published.")] = "corrected",
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the holes.")] = "832x480",
    frames: Annotated[int, typer.Option(min=1, help="Length.")] = 90,
    seed: Annotated[int, typer.Option(help="Of the corrected behaviour.")] = 0,
) -> None:
    """Render numbered blob masks of one preset and print what they measure."""
    find_preset(preset)
    width, height = parse_size(size)
    if out.exists() and not out.is_dir():
        raise InputError(f"{str(out)!r} is a file, not a folder")
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for index in range(first, first + count):
        parameters = {"preset": preset, "behaviour": behaviour, "index": index, "reverse": False}
        hole = generate("devil_blobs", parameters, seed=seed, frames=frames, height=height, width=width).hole
        name = f"{preset}_{index:05d}.mp4"
        made = out / f".{name}.tmp.mp4"
        video.write_hole(made, hole, fps=30.0)
        made.replace(out / name)
        found = measure(hole)
        doubts = "; ".join(check_labels(preset, found, width=width, height=height).values()) or "as promised"
        rows.append((name, found.hole_fraction, found.centroid_speed_pixels_per_frame, found.pose_change, doubts))
    console.print_table("Masks", ["file", "hole fraction", "speed px/frame", "pose change", "labels"], rows)


@app.command()
def presets() -> None:
    """List the mask presets."""
    rows = [(name, *labels_of(name).values()) for name in PRESETS]
    console.print_table("Presets", ["name", "size", "pose", "displacement"], rows)
