"""`build humans`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench.cli.build.running import Demo, Out, Seed, make_recipe, one_of, run_build
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Running, Workers, constant
from inpaintbench.cli.exits import UsageError
from inpaintbench.masks.block_json import read_blocks
from inpaintbench.recipes.humans import HumansRecipe
from inpaintbench.recipes.stages import SourceSpec

DEMO_PEOPLE = 24


def build_humans(
    out: Out,
    people: Annotated[
        list[str] | None,
        typer.Option(metavar="[SET:]FORMAT=ANNOTATIONS:IMAGES", help="Annotated photographs: mpii=mpii.mat:images. Repeatable."),
    ] = None,
    demo: Demo = False,
    originals: Annotated[
        Path | None, typer.Option(help="Folder of photographs for --blocks, instead of annotated people.")
    ] = None,
    blocks: Annotated[
        Path | None, typer.Option(help="Mask file of the challenge: photograph -> [row, column, size] triples.")
    ] = None,
    crop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Of the crops: grow=0.5, shortest_side=224, framing=person ... Repeatable."),
    ] = None,
    margin: Annotated[int, typer.Option(min=0, help="Pixels between blocks and the edges of a photograph.")] = 100,
    most_blocks: Annotated[int, typer.Option(min=1, help="Most blocks in a photograph.")] = 10,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many people of each set.")] = None,
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """People with blocks missing around their joints.

    Example: inpaintbench build humans --people mpii=mpii.mat:images --out WORKSPACE --limit 500
    """
    one_of(people or originals, demo, "--people FORMAT=ANNOTATIONS:IMAGES")
    if bool(originals) != bool(blocks) or (people and originals):
        raise UsageError("--originals FOLDER and --blocks FILE belong together, instead of --people")
    if blocks:
        read_blocks(blocks)  # told before any work
    sources = [_people(text, dict(map(constant, crop or ())), limit) for text in people or ()]
    if demo:
        sources = [SourceSpec("drawn_people", {"count": DEMO_PEOPLE})]
    if originals:
        sources = [SourceSpec("folder", {"folder": str(originals), "media": "image"})]
    chosen = {"margin": margin, "most_blocks": most_blocks, "seed": seed, "given_blocks": bool(blocks)}
    recipe = make_recipe(HumansRecipe, chosen | ({"name": "People demo"} if demo else {}))
    run_build(recipe, sources, out, Running(workers, max_failures, retry_rejected), blocks=blocks)


def _people(text: str, crop: Mapping[str, Any], limit: int | None) -> SourceSpec:
    names, equals, paths = text.partition("=")
    name, colon, reader = names.partition(":")
    annotations, between, images = paths.rpartition(":")
    if not (name and equals and annotations and between and images and bool(colon) == bool(reader)):
        raise UsageError(f"--people {text!r} is not [SET:]FORMAT=ANNOTATIONS:IMAGES, such as mpii=mpii.mat:images")
    constants = {"format": reader or name, "annotations": annotations, "images": images, "dataset": name, "limit": limit, **crop}
    return SourceSpec("people", constants, label=name)
