"""Options and helpers that the commands of `eval reinpaint` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench.cli import completing, console
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.method_options import leaf_and_constants
from inpaintbench.cli.run_folder import predicted
from inpaintbench.errors import InputError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.predict import MethodSpec
from inpaintbench.eval.reinpainting.fills import FILLS
from inpaintbench.eval.reinpainting.grid import Ratio, missing_of
from inpaintbench.eval.reinpainting.second_masks import Patches
from inpaintbench.eval.reinpainting.setting import PAPER_MASKS, Setting, seconds_of, usual_masks
from inpaintbench.eval.reinpainting.step import First
from inpaintbench.executors.base import Rejection
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

PROTOCOL = "reinpaint/corrected"
OF_DATASET = "published"
"""In the place of a ratio: the second masks of the dataset."""

InDataset = Annotated[Path, typer.Argument(help="A frozen dataset with second masks: `build reinpaint` makes one.")]
Run = Annotated[Path, typer.Option(help="Folder with the predictions.")]
Second = Annotated[
    str,
    typer.Option(
        metavar="METHOD[,NAME=VALUE]",
        autocompletion=completing.names(METHODS),
        help=f"F2, with constants: one of {', '.join(METHODS)}.",
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        autocompletion=completing.labels,
        help="First methods by their labels; may be given again.",
        show_default="all",
    ),
]
Fills = Annotated[
    list[str] | None,
    typer.Option(
        "--fill",
        autocompletion=completing.names(FILLS),
        help=f"Score a synthetic fill too: {', '.join(FILLS)}. May be given again.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        autocompletion=completing.names(("psnr", "ssim", "lpips")),
        help="Sub-metric: psnr, ssim or lpips. May be given again.",
        show_default="all",
    ),
]
ProtocolName = Annotated[
    str,
    typer.Option(
        autocompletion=completing.names(("reinpaint/corrected", "reinpaint/as-published")),
        help="reinpaint/corrected composites second results, reinpaint/as-published does not.",
    ),
]
Masks = Annotated[int, typer.Option(min=1, help="Second masks of an item (K).")]
PublishedMasks = Annotated[
    int | None,
    typer.Option(
        "--masks", min=1, help="Second masks of an item (K).", show_default="10, or as many as the dataset publishes for each"
    ),
]
RatioText = Annotated[
    str, typer.Option(help="Second ratio: a number, two (0.2-0.6, uniform between), or published: the dataset's own masks.")
]
PatchPixels = Annotated[int, typer.Option(min=1, help="Side of a patch in pixels, where masks are drawn.")]
Count = Annotated[str, typer.Option(help="Of drawn patches: bernoulli, or exact.")]
Tube = Annotated[int, typer.Option(min=0, help="Frames that a patch lasts in clips; 0 = all.")]
MaskSeed = Annotated[int, typer.Option(help="Of drawn masks and synthetic fills.")]
Sigma = Annotated[float, typer.Option(min=0, help="Of the fill `noise`, in intensities of 0..1.")]
Clip = Annotated[bool, typer.Option("--clip/--wrap", help="What the fill `noise` does beyond black and white.")]
RandomWeights = Annotated[
    int | None, typer.Option(metavar="SEED", help="Made-up parameters for networks, to try things out; no report takes these.")
]
TimeLimit = Annotated[float, typer.Option(min=1, help="Seconds for one item of one method, K second results.")]


def firsts_of(workspace: Workspace, labels: Sequence[str] | None, *, needed: bool = True) -> list[First]:
    """The methods with predictions in a run folder, all or some.

    Raises:
        InputError: a label without predictions, or none at all though they are ``needed``.
    """
    try:
        there = predicted(workspace)
    except InputError:
        if needed or labels:
            raise
        return []
    if unknown := [label for label in labels or () if label not in there]:
        raise InputError(f"no predictions of {unknown[0]!r} in {str(workspace.path)!r}, only of {', '.join(there)}")
    found = []
    for label in dict.fromkeys(labels or there):
        step = f"predict.{label}"
        failures = {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=step)}
        found.append(First.of_method(label, workspace.table("predictions", Prediction, step=step), failures))
    return found


def second_spec(text: str) -> MethodSpec:
    """``telea``, or ``telea,radius_pixels=5`` with constants; the label says both."""
    leaf, constants = leaf_and_constants(text)
    return MethodSpec(text.replace(",", " "), leaf, constants)


def parse_ratio(text: str) -> Ratio:
    """``0.4``, ``0.2-0.6``, or ``published``: None."""
    if text == OF_DATASET:
        return None
    try:
        numbers = tuple(float(part) for part in text.split("-"))
    except ValueError as error:
        raise UsageError(f"ratio {text!r} is neither a number, nor two such as 0.2-0.6, nor {OF_DATASET}") from error
    if len(numbers) > 2:
        raise UsageError(f"ratio {text!r} has more than two numbers; give one, or two such as 0.2-0.6")
    ratio = numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
    return Patches(ratio=ratio).ratio


def drawn(ratio: Ratio, *, patch: int, count: str, tube_frames: int, seed: int) -> Patches | None:
    """How second masks are drawn; None for those of the dataset."""
    made = Patches(size_pixels=patch, count=count, tube_frames=tube_frames, seed=seed)  # type: ignore[arg-type]
    return None if ratio is None else replace(made, ratio=ratio)


def tell_missing(found: Any) -> None:
    """Every reason for missing values, once."""
    for reason, times in missing_of(found).items():
        console.out.print(f"not measured ({times} values): {reason}", markup=False)


def masks_of(masks: int | None, dataset: Dataset, patches: Patches | None) -> int:
    """K: what was asked for, else that of the paper or, where the dataset's own masks are taken, as many as there are."""
    if masks is not None or patches is not None:
        return masks or PAPER_MASKS
    return usual_masks(dataset)


def tell_work(setting: Setting, dataset: Dataset, labels: Sequence[str], *, workers: int) -> None:
    """Say what is going to be inpainted again for self-consistency, D(F1), and about how long that takes."""
    results = len(labels) * setting.masks * len(dataset.items)
    text = (
        f"self-consistency, D(F1): {', '.join(labels[:-1])}{' and ' if len(labels) > 1 else ''}{labels[-1]} are inpainted again "
        f"by {setting.second.label}: {results} second results"
    )
    seconds = seconds_of(setting, dataset, firsts=len(labels))
    about = "" if seconds is None else f", about {max(1, round(seconds / max(workers, 1)))} s where networks take none"
    console.err.print(f"{text}{about}; K and F2 are options", markup=False)
