"""`build fingerprint`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench.cli.build.running import Behaviour, Demo, Out, Running, Seed, make_recipe, one_of, parse_size, run_build
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers, constant
from inpaintbench.errors import InputError
from inpaintbench.recipes.fingerprint import FingerprintRecipe

PUBLISHED_FINGERS = 92_400
"""75,600 for training, 8,400 for validation and 8,400 for testing. Source: ChaLearn LAP 2018, track 3."""
DEMO_FINGERS = 36


def build_fingerprint(
    out: Out,
    fingers: Annotated[
        int | None, typer.Option(help=f"How many fingers; the challenge has {PUBLISHED_FINGERS}, one impression each.")
    ] = None,
    demo: Demo = False,
    impressions: Annotated[int, typer.Option(help="Of each finger; all in one split.")] = 1,
    law: Annotated[str, typer.Option(help="How often classes occur: natural, uniform, or weights: whorl=2,arch=1.")] = "natural",
    behaviour: Behaviour = "corrected",
    size: Annotated[str, typer.Option(metavar="WxH", help="Of the pictures.")] = "275x400",
    ppi: Annotated[float, typer.Option(help="Resolution in pixels per inch, which sets how wide ridges are.")] = 500.0,
    strength: Annotated[float, typer.Option(min=0, help="Multiplies every effect of the degradation; 0 leaves the print.")] = 1.0,
    background: Annotated[
        list[str] | None,
        typer.Option(
            help="A kind of background (`masks preview fingerprint_degradation` shows them), white or none. Repeatable."
        ),
    ] = None,
    photographs: Annotated[Path | None, typer.Option(help="Folder of photographs for backgrounds instead.")] = None,
    jpeg: Annotated[
        int | None, typer.Option(help="JPEG quality of the inputs, 1 to 100.", show_default="75 as-published, else no JPEG")
    ] = None,
    orientations: Annotated[bool, typer.Option("--orientations", help="Publish the true ridge directions.")] = False,
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Synthetic fingerprints, degraded as a whole; needs no footage."""
    one_of(fingers is not None, demo, "--fingers N")
    if background and photographs:
        raise InputError("give either --background or --photographs, not both")
    width, height = parse_size(size)
    kinds = background or ["procedural"]
    recipe = make_recipe(
        FingerprintRecipe,
        {
            "name": "Fingerprint demo" if demo else "Fingerprint denoising",
            "fingers": DEMO_FINGERS if fingers is None else fingers,
            "law": "uniform" if demo else _law(law),
            "impressions": impressions, "behaviour": behaviour, "width": width, "height": height, "pixels_per_inch": ppi,
            "strength": strength, "jpeg_quality": jpeg, "orientation_fields": orientations, "seed": seed,
            "backgrounds": "photographs" if photographs else kinds[0] if len(kinds) == 1 else tuple(kinds),
        },
    )  # fmt: skip
    run_build(recipe, [recipe.source], out, Running(workers, max_failures, retry_rejected), photographs=photographs)


def _law(text: str) -> str | dict[str, Any]:
    """A name, or the weights of ``whorl=2,arch=1``."""
    return dict(map(constant, text.split(","))) if "=" in text else text
