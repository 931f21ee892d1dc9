"""`eval reinpaint` and `eval reinpaint grid`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import completing, console
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.cli.reinpaint.options import (
    OF_DATASET,
    PROTOCOL,
    Clip,
    Count,
    Fills,
    InDataset,
    Masks,
    MaskSeed,
    Methods,
    Metrics,
    PatchPixels,
    ProtocolName,
    PublishedMasks,
    RandomWeights,
    RatioText,
    Run,
    Second,
    Sigma,
    TimeLimit,
    Tube,
    drawn,
    firsts_of,
    masks_of,
    parse_ratio,
    second_spec,
    tell_missing,
    tell_work,
)  # fmt: skip
from inpaintbench.cli.run_folder import bind, opened, scorable
from inpaintbench.compute import Compute
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.reinpainting import gallery, writing
from inpaintbench.eval.reinpainting.fills import NATURAL, NOISE_SIGMA
from inpaintbench.eval.reinpainting.grid import grid_of, settings_of
from inpaintbench.eval.reinpainting.rows import store, with_variants
from inpaintbench.eval.reinpainting.second_masks import Patches
from inpaintbench.eval.reinpainting.setting import USUAL_SECOND, setting_of
from inpaintbench.eval.reinpainting.step import SECONDS, First, inpaint_again_all, natural


def score(
    dataset: InDataset,
    run: Run,
    second: Second = USUAL_SECOND,
    method: Methods = None,
    fill: Fills = None,
    metric: Metrics = None,
    protocol: ProtocolName = PROTOCOL,
    masks: PublishedMasks = None,
    ratio: RatioText = OF_DATASET,
    patch: PatchPixels = 32,
    count: Count = "bernoulli",
    tube_frames: Tube = 0,
    seed: MaskSeed = 0,
    noise_sigma: Sigma = NOISE_SIGMA,
    clip: Clip = True,
    random_weights: RandomWeights = None,
    time_limit: TimeLimit = SECONDS,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Score the methods of a run folder by how well their results can be inpainted again (D).

    Example: inpaintbench eval reinpaint score DATASET --run RUN --second telea,radius_pixels=5 --ratio 0.2-0.6
    """
    chosen, loaded = PROTOCOLS.get(protocol), scorable(dataset)
    patches = drawn(parse_ratio(ratio), patch=patch, count=count, tube_frames=tube_frames, seed=seed)
    setting = setting_of(
        chosen, second=second_spec(second), masks=masks_of(masks, loaded, patches), patches=patches, submetrics=metric
    )
    workspace = opened(run)
    bind(workspace, dataset)
    fills = [First.of_fill(name, seed=seed, sigma=noise_sigma, clip=clip) for name in dict.fromkeys(fill or ())]
    firsts = [*firsts_of(workspace, method, needed=not fills), *fills]
    measured = firsts if NATURAL in (fill or ()) else [*firsts, natural()]
    compute = Compute(random_weights=random_weights)
    tell_work(setting, loaded, ["the truth" if one.fill == NATURAL else one.label for one in measured], workers=workers)
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        found = inpaint_again_all(
            executor, loaded, root=dataset, firsts=measured, settings=[setting], protocol=protocol,
            fingerprint=chosen.fingerprint, compute=compute, time_limit_seconds=time_limit,
        )  # fmt: skip
        base = found[NATURAL, setting.key]
        rows = [(first, with_variants(found[first.label, setting.key], base, chosen)) for first in firsts]
        dropped = store(workspace, loaded, rows, protocol=chosen)
    for heads, lines, title in writing.summary(loaded, rows, title=setting.words(loaded)):
        console.print_table(title, heads, lines)
    for sentence in writing.preferences(loaded, rows):
        console.warn(sentence)
    tell_missing(found)
    for name in dropped:
        text = (
            f"{name}: its scores under {protocol} were of another setting and left the table; --method {name} puts new ones there"
        )
        console.warn(text)


def grid(
    dataset: InDataset,
    run: Run,
    second: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD[,NAME=VALUE]",
            autocompletion=completing.names(METHODS),
            help="F2; may be given again.",
            show_default="telea, navier_stokes",
        ),
    ] = None,
    ratio: Annotated[
        list[str] | None,
        typer.Option(help="Second ratio, as in `eval reinpaint`; may be given again.", show_default="0.2, 0.4, 0.6"),
    ] = None,
    method: Methods = None,
    fill: Fills = None,
    metric: Metrics = None,
    protocol: ProtocolName = "reinpaint/as-published",
    masks: Masks = 10,
    patch: PatchPixels = 32,
    count: Count = "bernoulli",
    tube_frames: Tube = 0,
    seed: MaskSeed = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for tables and gallery.", show_default="RUN/reinpaint-grid")] = None,
    pictures: Annotated[int, typer.Option(min=0, help="Items in the gallery.")] = 3,
    random_weights: RandomWeights = None,
    time_limit: TimeLimit = SECONDS,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """F2 x first masks x second masks x objective x sub-metric, as the paper's Tables 1-3 and 6-14.

    Example: inpaintbench eval reinpaint grid DATASET --run RUN --second telea --ratio 0.4
    """
    chosen, loaded = PROTOCOLS.get(protocol), scorable(dataset)
    ratios = [parse_ratio(text) for text in ratio or ("0.2", "0.4", "0.6")]
    specs = [second_spec(text) for text in second or ("telea", "navier_stokes")]
    patches = Patches(size_pixels=patch, count=count, tube_frames=tube_frames, seed=seed)  # type: ignore[arg-type]
    base = setting_of(chosen, second=specs[0], masks=masks, patches=patches, submetrics=metric)
    for spec in specs:
        setting_of(chosen, second=spec, masks=masks, patches=patches)  # misspelt names are told before any work
    settings = settings_of(base, seconds=specs, ratios=ratios)
    workspace = opened(run)
    bind(workspace, dataset)
    fills = [First.of_fill(name, seed=seed) for name in dict.fromkeys(fill or ())]
    firsts = [*firsts_of(workspace, method, needed=not fills), *fills]
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        found = inpaint_again_all(
            executor, loaded, root=dataset, firsts=firsts, settings=list(settings.values()), protocol=protocol,
            fingerprint=chosen.fingerprint, compute=Compute(random_weights=random_weights), time_limit_seconds=time_limit,
        )  # fmt: skip
    folder = out or workspace.path / "reinpaint-grid"
    made = grid_of(found, settings, loaded)
    page = writing.write_grid(folder, made, notes=[f"Scored by {protocol} ({chosen.fingerprint})."])
    console.out.print(page.read_text(), markup=False)
    tell_missing(found)
    if pictures:
        gallery.write(
            folder, loaded, root=dataset, blobs=workspace.blobs, firsts=firsts, setting=next(iter(settings.values())),
            pictures=pictures,
        )  # fmt: skip
        console.out.print(f"Gallery: {(folder / gallery.PAGE).resolve()}", markup=False)
    console.out.print(f"Tables: {folder.resolve()}", markup=False)
