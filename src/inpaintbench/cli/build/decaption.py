"""`build decaption`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli.build.running import Behaviour, Demo, Out, Seed, make_recipe, one_of, run_build
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Running, Workers
from inpaintbench.masks.overlays.fonts import BUNDLED, installed_families
from inpaintbench.recipes.decaption import DecaptionRecipe
from inpaintbench.recipes.stages import SourceSpec

DEMO_FILMS = {"count": 10, "width": 240, "height": 160, "frames": 156}
"""5.2 s at 30 frames a second: one clip each."""


def build_decaption(
    out: Out,
    sources: Annotated[
        Path | None, typer.Option(help="Folder of films; FILM.srt, .ass or .vtt beside a film is its text.")
    ] = None,
    demo: Demo = False,
    side: Annotated[int, typer.Option(min=16, help="Of the square clips: 128 as published, 256 as in the paper.")] = 128,
    behaviour: Behaviour = "corrected",
    form: Annotated[
        str | None,
        typer.Option(help="lossless, or challenge (100 kbit/s).", show_default="lossless; of as-published challenge"),
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(help="Font family, or `bundled`. Repeatable.", show_default="the common ones that are installed"),
    ] = None,
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Clips of five seconds with subtitles painted on them.

    Example: inpaintbench build decaption --sources FILMS --out WORKSPACE --side 256
    """
    one_of(sources, demo, "--sources FOLDER")
    source = SourceSpec("embedded", DEMO_FILMS) if demo else SourceSpec("folder", {"folder": str(sources)})
    families = family or ([BUNDLED] if demo else list(installed_families()))
    name = {"name": "Decaptioning demo"} if demo else {}
    coding = form or ("challenge" if behaviour == "as-published" else "lossless")
    chosen = {"side": side, "behaviour": behaviour, "form": coding, "seed": seed, "families": families}
    recipe = make_recipe(DecaptionRecipe, chosen | name)
    run_build(recipe, [source], out, Running(workers, max_failures, retry_rejected))
