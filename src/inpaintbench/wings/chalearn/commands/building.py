"""`build humans`, `build decaption` and `build fingerprint`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from inpaintbench.cli.build.running import Build, Demo, Out, Owned, one_of
from inpaintbench.cli.console import constant
from inpaintbench.cli.options import NONE_GIVEN, Given, Positive, of_recipe
from inpaintbench.errors import UsageError
from inpaintbench.masks.generators.given import read_blocks
from inpaintbench.masks.overlays.fonts import BUNDLED, installed_families
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.chalearn.fingerprint import PHOTOGRAPHS, FingerprintRecipe
from inpaintbench.wings.chalearn.humans import HumansRecipe

DEMO = {"name": "Fingerprint demo", "fingers": 36, "law": "uniform"}


def build_fingerprint(
    *,
    out: Out,
    demo: Demo = False,
    given: Annotated[Given, of_recipe(FingerprintRecipe)] = NONE_GIVEN,
    photographs: Path | None = None,
    build: Build = Build(),
) -> None:
    """Synthetic fingerprints, degraded as a whole. Needs no footage.

    Degradation:
        photographs: Folder of photographs for backgrounds instead.

    Example: inpaintbench build fingerprint --fingers 1000 --law whorl=2,arch=1 --out WORKSPACE
    """
    one_of("fingers" in given, demo, "--fingers N")
    if "backgrounds" in given and photographs:
        raise UsageError("give either --background or --photographs, not both")
    if given.get("photographs_licence") and not photographs:
        raise UsageError("--photographs-licence goes with --photographs FOLDER")
    if demo and "law" in given:
        raise UsageError("the demo has all classes alike; for another --law give --fingers N")
    laid_on = {"backgrounds": PHOTOGRAPHS} if photographs else {}
    recipe = build.recipe(FingerprintRecipe, (DEMO if demo else {}) | laid_on, given)
    build.run(recipe, [recipe.source], out, photographs=photographs)


# 5.2 s at 30 frames a second: one clip each.
DEMO_FILMS = {"count": 10, "width": 240, "height": 160, "frames": 156}


# One that gives ten films all difficulties, backgrounds and shares.
DEMO_SEED = 6


def build_decaption(
    *,
    out: Out,
    sources: Path | None = None,
    demo: Demo = False,
    given: Annotated[Given, of_recipe(DecaptionRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """Clips of five seconds with subtitles painted on them.

    Footage:
        sources: Folder of films; FILM.srt, .ass or .vtt beside a film is its text.

    Example: inpaintbench build decaption --sources FILMS --out WORKSPACE --side 256
    """
    one_of(sources, demo, "--sources FOLDER")
    source = SourceSpec("embedded", DEMO_FILMS) if demo else SourceSpec("folder", {"folder": str(sources), **owning.constants})
    usual = {
        "form": "challenge" if given.get("behaviour") == "as-published" else "lossless",
        "families": [BUNDLED] if demo else list(installed_families()),
        **({"name": "Decaptioning demo", "seed": DEMO_SEED} if demo else {}),
    }
    build.run(build.recipe(DecaptionRecipe, usual, given), [source], out)


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
