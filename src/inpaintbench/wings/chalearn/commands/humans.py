"""`build humans`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from inpaintbench.cli.build.running import Build, Demo, Out, Owned, one_of
from inpaintbench.cli.console import constant
from inpaintbench.cli.options import NONE_GIVEN, Given, Positive, of_recipe
from inpaintbench.errors import UsageError
from inpaintbench.masks.block_json import read_blocks
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.humans import HumansRecipe

DEMO_PEOPLE = 24


def build_humans(
    *,
    out: Out,
    people: list[str] | None = None,
    demo: Demo = False,
    originals: Path | None = None,
    crop: list[str] | None = None,
    limit: Positive | None = None,
    blocks: Path | None = None,
    given: Annotated[Given, of_recipe(HumansRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """People with blocks missing around their joints.

    Footage:
        people ([SET:]FORMAT=ANNOTATIONS:IMAGES): Annotated photographs: mpii=mpii.mat:images. Repeatable.
        originals: Folder of photographs for --blocks, instead of annotated people.
        crop (NAME=VALUE): Of the crops: grow=0.5, shortest_side=224, framing=person ... Repeatable.
        limit: At most so many people of each set.

    Masks:
        blocks: Mask file of the challenge: photograph -> [row, column, size] triples.

    Example: inpaintbench build humans --people mpii=mpii.mat:images --out WORKSPACE --limit 500
    """
    one_of(people or originals, demo, "--people FORMAT=ANNOTATIONS:IMAGES")
    if bool(originals) != bool(blocks) or (people and originals):
        raise UsageError("--originals FOLDER and --blocks FILE belong together, instead of --people")
    if blocks:
        read_blocks(blocks)  # told before any work
    sources = [_people(text, {**dict(map(constant, crop or ())), **owning.constants}, limit) for text in people or ()]
    if demo:
        sources = [SourceSpec("drawn_people", {"count": DEMO_PEOPLE})]
    if originals:
        sources = [SourceSpec("folder", {"folder": str(originals), "media": "image", **owning.constants})]
    name = {"name": "People demo"} if demo else {}
    recipe = build.recipe(HumansRecipe, {**name, "given_blocks": bool(blocks)}, given)
    build.run(recipe, sources, out, blocks=blocks)


def _people(text: str, crop: Mapping[str, Any], limit: int | None) -> SourceSpec:
    names, equals, paths = text.partition("=")
    name, colon, reader = names.partition(":")
    annotations, between, images = paths.rpartition(":")
    if not (name and equals and annotations and between and images and bool(colon) == bool(reader)):
        raise UsageError(f"--people {text!r} is not [SET:]FORMAT=ANNOTATIONS:IMAGES, such as mpii=mpii.mat:images")
    constants = {"format": reader or name, "annotations": annotations, "images": images, "dataset": name, "limit": limit, **crop}
    return SourceSpec("people", constants, label=name)
