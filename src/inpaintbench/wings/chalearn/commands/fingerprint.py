"""`build fingerprint`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.cli.build.running import Build, Demo, Out, one_of
from inpaintbench.cli.options import NONE_GIVEN, Given, of_recipe
from inpaintbench.errors import UsageError
from inpaintbench.wings.chalearn.fingerprint import PHOTOGRAPHS, FingerprintRecipe

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
