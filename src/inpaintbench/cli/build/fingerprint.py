"""`build fingerprint`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli.build.running import Behaviour, Demo, Out, make_recipe, one_of, parse_size, run_build
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Running, Workers
from inpaintbench.cli.exits import UsageError
from inpaintbench.recipes.fingerprint import PHOTOGRAPHS, FingerprintRecipe

PUBLISHED_FINGERS = 92_400
"""75,600 for training, 8,400 for validation and 8,400 for testing. Source: ChaLearn LAP 2018, track 3."""
DEMO_FINGERS = 36
ALONE = ("procedural", "white", "none")
"""Backgrounds that are not materials."""

SPLITS = ("train", "validation", "test")


def build_fingerprint(
    out: Out,
    fingers: Annotated[
        int | None, typer.Option(help=f"How many fingers; the challenge has {PUBLISHED_FINGERS}, one impression each.")
    ] = None,
    demo: Demo = False,
    impressions: Annotated[int, typer.Option(help="Of each finger; all in one split.")] = 1,
    law: Annotated[
        str | None, typer.Option(help="How often classes occur: natural, uniform, or whorl=2,arch=1.", show_default="natural")
    ] = None,
    behaviour: Behaviour = "corrected",
    size: Annotated[str, typer.Option(metavar="WxH", help="Of the pictures, which the prints fill.")] = "275x400",
    ppi: Annotated[float, typer.Option(help="Resolution in pixels per inch, which sets how wide ridges are.")] = 500.0,
    elastic: Annotated[float, typer.Option(help="Of the field that bends truth and input alike; 0 none, 1 as published.")] = 1.0,
    strength: Annotated[float, typer.Option(help="Multiplies every effect of the degradation, 0 to 4.")] = 1.0,
    background: Annotated[
        list[str] | None,
        typer.Option(help="A material (`masks preview fingerprint_degradation` shows them), repeatable; or white, or none."),
    ] = None,
    photographs: Annotated[Path | None, typer.Option(help="Folder of photographs for backgrounds instead.")] = None,
    photographs_licence: Annotated[str | None, typer.Option(help="Of these, for the rows.", show_default="not stated")] = None,
    jpeg: Annotated[
        int | None, typer.Option(help="JPEG quality of the inputs, 1 to 100.", show_default="75 as-published, else no JPEG")
    ] = None,
    splits: Annotated[
        str, typer.Option(metavar="TRAIN,VALIDATION,TEST", help="Shares of the prints: 9,1,1 or 75600,8400,8400.")
    ] = "9,1,1",
    orientations: Annotated[bool, typer.Option("--orientations", help="Publish the true ridge directions.")] = False,
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Synthetic fingerprints, degraded as a whole; needs no footage.

    Example: inpaintbench build fingerprint --fingers 1000 --law whorl=2,arch=1 --out WORKSPACE
    """
    one_of(fingers is not None, demo, "--fingers N")
    if background and photographs:
        raise UsageError("give either --background or --photographs, not both")
    if photographs_licence and not photographs:
        raise UsageError("--photographs-licence goes with --photographs FOLDER")
    if demo and law:
        raise UsageError("the demo has all classes alike; for another --law give --fingers N")
    width, height = parse_size(size)
    recipe = make_recipe(
        FingerprintRecipe,
        {
            "name": "Fingerprint demo" if demo else "Fingerprint denoising",
            "fingers": DEMO_FINGERS if fingers is None else fingers,
            "law": "uniform" if demo else _law(law or "natural"),
            "impressions": impressions, "behaviour": behaviour, "width": width, "height": height, "pixels_per_inch": ppi,
            "elastic": elastic, "strength": strength, "jpeg_quality": jpeg, "orientation_fields": orientations, "seed": seed,
            "backgrounds": PHOTOGRAPHS if photographs else _backgrounds(background or ["procedural"]),
            "photographs_licence": photographs_licence, "splits": _splits(splits),
        },
    )  # fmt: skip
    run_build(recipe, [recipe.source], out, Running(workers, max_failures, retry_rejected), photographs=photographs)


def _law(text: str) -> str | dict[str, float]:
    """A name, or the weights of ``whorl=2,arch=1``."""
    if "=" not in text:
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, weight = (one.strip() for one in part.partition("="))
        if name in weights:
            raise UsageError(f"law {text!r} gives {name} two weights")
        try:
            weights[name] = float(weight)
        except ValueError as error:
            raise UsageError(f"law {text!r}: {weight!r} is not a weight; give numbers, such as whorl=2,arch=1") from error
    return weights


def _backgrounds(kinds: Sequence[str]) -> str | tuple[str, ...]:
    if alone := [kind for kind in kinds if kind in ALONE and len(kinds) > 1]:
        raise UsageError(f"--background {alone[0]} stands alone; only materials can be combined")
    return kinds[0] if len(kinds) == 1 else tuple(kinds)


def _splits(text: str) -> dict[str, float]:
    """The shares of ``9,1,1``; a split with 0 is left out."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != len(SPLITS) or not all(0 <= number < math.inf for number in numbers) or not sum(numbers):
        raise UsageError(f"splits {text!r} are not three shares for {', '.join(SPLITS)}, such as 9,1,1")
    return {name: number / sum(numbers) for name, number in zip(SPLITS, numbers, strict=True) if number}
