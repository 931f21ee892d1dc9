"""`build decaption`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.cli.build.running import Build, Demo, Out, Owned, one_of
from inpaintbench.cli.options import NONE_GIVEN, Given, of_recipe
from inpaintbench.masks.overlays.fonts import BUNDLED, installed_families
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe

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
