"""`eval run --for reinpainting` and `eval table --for reinpainting`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from inpaintbench.cli import console
from inpaintbench.cli.console import Locally, Running
from inpaintbench.cli.evaluate_options import RandomWeights, opened, scorable
from inpaintbench.cli.options import Among, Natural
from inpaintbench.compute import Compute
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.run_folder import asked, bind, check_any_value, check_undamaged, references_in
from inpaintbench.wings.reinpaint import gallery
from inpaintbench.wings.reinpaint.commands import options
from inpaintbench.wings.reinpaint.commands.options import OF_DATASET, PROTOCOL, parse_ratio, second_spec, tell_missing, tell_work
from inpaintbench.wings.reinpaint.engine import NATURAL, NOISE_SIGMA
from inpaintbench.wings.reinpaint.grid import grid_of, settings_of, write_grid
from inpaintbench.wings.reinpaint.rows import preferences, store, summary, with_variants
from inpaintbench.wings.reinpaint.setting import PAPER_MASKS, USUAL_SECOND, setting_of
from inpaintbench.wings.reinpaint.step import SECONDS, inpaint_again_all, natural


def score(
    dataset: options.InDataset,
    *,
    run: options.Run,
    second: options.Second = USUAL_SECOND,
    firsts: options.WhichFirsts = options.Firsts(),
    metric: options.Metrics = None,
    protocol: options.ProtocolName = PROTOCOL,
    masks: options.PublishedMasks = None,
    ratio: options.RatioText = OF_DATASET,
    drawing: options.Drawn = options.Drawing(),
    noise_sigma: Annotated[float, Ge(0)] = NOISE_SIGMA,
    clip: bool = True,
    random_weights: RandomWeights = None,
    time_limit: options.TimeLimit = SECONDS,
    running: Locally = Running(),
) -> None:
    """Score methods by how well results can be inpainted again (D). Their results are those of a run folder.

    Args:
        noise_sigma: Of the fill `noise`, in intensities of 0..1.
        clip --clip/--wrap: What the fill `noise` does beyond black and white.

    Example: inpaintbench eval run --for reinpainting DATASET --run RUN --second telea,radius_pixels=5 --ratio 0.2-0.6
    """
    chosen, loaded = PROTOCOLS.get(protocol), scorable(dataset)
    patches = drawing.of(parse_ratio(ratio))
    setting = setting_of(
        chosen, second=second_spec(second), masks=options.masks_of(masks, loaded, patches), patches=patches, submetrics=metric
    )
    workspace = opened(run)
    bind(workspace, dataset)
    chosen_firsts = firsts.of(workspace, seed=drawing.seed, sigma=noise_sigma, clip=clip)
    measured = chosen_firsts if NATURAL in (firsts.fill or ()) else [*chosen_firsts, natural()]
    compute = Compute(random_weights=random_weights)
    tell_work(setting, loaded, ["the truth" if row.fill == NATURAL else row.label for row in measured], workers=running.workers)
    with running.on(workspace) as executor:
        results = inpaint_again_all(
            executor, loaded, root=dataset, firsts=measured, settings=[setting], protocol=protocol,
            fingerprint=chosen.fingerprint, compute=compute, time_limit_seconds=time_limit,
        )  # fmt: skip
        base = results[NATURAL, setting.key]
        rows = [(first, with_variants(results[first.label, setting.key], base, chosen)) for first in chosen_firsts]
        dropped = store(workspace, loaded, rows, protocol=chosen)
    for heads, lines, title in summary(loaded, rows, title=setting.words(loaded), references=references_in(workspace)):
        console.print_table(title, heads, lines)
    for sentence in preferences(loaded, rows):
        console.warn(sentence)
    tell_missing(results)
    for name in dropped:
        text = (
            f"{name}: its scores under {protocol} were of another setting and left the table; --method {name} puts new ones there"
        )
        console.warn(text)
    asked_for = [row for _, scores in rows for row in asked(scores)]
    check_undamaged(asked_for, run)
    check_any_value(asked_for)


def grid(
    dataset: options.InDataset,
    *,
    run: options.Run,
    second: Annotated[list[str] | None, Among(METHODS)] = None,
    ratio: list[str] | None = None,
    firsts: options.WhichFirsts = options.Firsts(),
    metric: options.Metrics = None,
    protocol: options.ProtocolName = "reinpaint/as-published",
    masks: options.Masks = PAPER_MASKS,
    drawing: options.Drawn = options.Drawing(),
    out: Path | None = None,
    pictures: Natural = 3,
    random_weights: RandomWeights = None,
    time_limit: options.TimeLimit = SECONDS,
    running: Locally = Running(),
) -> None:
    """Tabulate D as the paper's Tables 1-3 and 6-14. The axes are F2, first masks, second masks, objective and sub-metric.

    Args:
        second (METHOD[,NAME=VALUE]): F2; may be given again. [default: telea, navier_stokes]
        ratio: Second ratio, as in `eval run --for reinpainting`; may be given again. [default: 0.2, 0.4, 0.6]
        out: Folder for tables and gallery. [default: RUN/reinpaint-grid]
        pictures: Items in the gallery.

    Example: inpaintbench eval table --for reinpainting DATASET --run RUN --second telea --ratio 0.4
    """
    chosen, loaded = PROTOCOLS.get(protocol), scorable(dataset)
    ratios = [parse_ratio(text) for text in ratio or ("0.2", "0.4", "0.6")]
    specs = [second_spec(text) for text in second or ("telea", "navier_stokes")]
    patches = drawing.patches
    base = setting_of(chosen, second=specs[0], masks=masks, patches=patches, submetrics=metric)
    for spec in specs:
        setting_of(chosen, second=spec, masks=masks, patches=patches)  # misspelt names are told before any work
    settings = settings_of(base, seconds=specs, ratios=ratios)
    workspace = opened(run)
    bind(workspace, dataset)
    chosen_firsts = firsts.of(workspace, seed=drawing.seed)
    with running.on(workspace) as executor:
        results = inpaint_again_all(
            executor, loaded, root=dataset, firsts=chosen_firsts, settings=list(settings.values()), protocol=protocol,
            fingerprint=chosen.fingerprint, compute=Compute(random_weights=random_weights), time_limit_seconds=time_limit,
        )  # fmt: skip
    folder = out or workspace.path / "reinpaint-grid"
    made = grid_of(results, settings, loaded, references=references_in(workspace))
    with console.writing(workspace):
        page = write_grid(folder, made, notes=[f"Scored by {protocol} ({chosen.fingerprint})."])
        if pictures:
            gallery.write(
                folder, loaded, root=dataset, blobs=workspace.blobs, firsts=chosen_firsts, setting=next(iter(settings.values())),
                pictures=pictures,
            )  # fmt: skip
    console.say(page.read_text())
    tell_missing(results)
    if pictures:
        console.say(f"Gallery: {(folder / gallery.PAGE).resolve()}")
    console.say(f"Tables: {folder.resolve()}")
