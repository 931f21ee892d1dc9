"""`eval run --for stability`, `selection` and `paper`: how far D can be trusted, and what the paper printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from inpaintbench.annotate.outcomes.judgement_files import read_rows
from inpaintbench.cli import console
from inpaintbench.cli.console import Locally, Running
from inpaintbench.cli.evaluate_options import RandomWeights, opened, scorable
from inpaintbench.cli.options import Among, bundle, option
from inpaintbench.cli.words import check_name
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.measured import one_fingerprint
from inpaintbench.eval.results.quantity import Quantity, metric_label, metric_leaf, place_label, quantity_label
from inpaintbench.eval.scoring.run_folder import bind, references_in, scores_of
from inpaintbench.pages.words import percent
from inpaintbench.types import Dataset, Score
from inpaintbench.wings.reinpaint import stability as experiments
from inpaintbench.wings.reinpaint.commands import options
from inpaintbench.wings.reinpaint.commands.options import PROTOCOL, parse_ratio, second_spec
from inpaintbench.wings.reinpaint.engine import REGION
from inpaintbench.wings.reinpaint.grid import bins_of, published, write_grid
from inpaintbench.wings.reinpaint.rows import Selected, agreement, chosen_by_people, selected_by_metric
from inpaintbench.wings.reinpaint.setting import PAPER_MASKS, Setting, setting_of
from inpaintbench.wings.reinpaint.stability import under_seeds
from inpaintbench.wings.reinpaint.step import SECONDS, First, inpaint_again_all
from inpaintbench.workspace import Workspace

PAPER_FOLDER = Path("reinpaint-paper-tables")
PEOPLE, BEST_OF = "people", "best_of"
# Protocols of what is measured without the truth -> what tells their heads apart.
BESIDE = {"no-reference/koniq": " (KonIQ)", "no-reference/spaq": " (SPAQ)"}


def stability(
    dataset: options.InDataset,
    *,
    run: options.Run,
    experiment: Annotated[list[str] | None, Among(experiments.EXPERIMENTS)] = None,
    second: options.Second = "exemplar",
    firsts: options.WhichFirsts = options.Firsts(),
    metric: str | None = None,
    seeds: Annotated[
        int | None,
        option(
            "Seeds of one picture: of F2 in fill_seeds (Fig. 3f), of --first in objectives (Fig. 4).",
            default=f"{experiments.FIGURE_SEEDS} in fill_seeds, none in objectives",
            min=2,
        ),
    ] = None,
    first: Annotated[str, Among(METHODS)] = "exemplar",
    item: str | None = None,
    protocol: options.ProtocolName = PROTOCOL,
    masks: options.Masks = PAPER_MASKS,
    ratio: options.RatioText = "0.4",
    drawing: Annotated[options.Drawing, bundle(options.Drawing, "patch", "seed")] = options.Drawing(),
    out: Path | None = None,
    random_weights: RandomWeights = None,
    time_limit: options.TimeLimit = SECONDS,
    running: Locally = Running(),
) -> None:
    """Say how much D changes with seeds, masks, items and K. Tables and plots are those of the paper's Figs. 3f, 4, 7.

    Args:
        experiment: One of: {names}. May be given again. [default: all]
        metric: Sub-metric: psnr, ssim or lpips. [default: psnr; of one picture under seeds lpips, if it can be]
        first (METHOD[,NAME=VALUE]): F1 of objectives with --seeds.
        item: The picture that is inpainted under seeds. [default: the first]
        out: Folder for plots. [default: RUN/reinpaint-stability]

    Example: inpaintbench eval run --for stability DATASET --run RUN --experiment fill_seeds --seeds 100
    """
    chosen, loaded = PROTOCOLS.get(protocol), scorable(dataset)
    names = _experiments(experiment)
    of_seeds = [name for name in names if name == experiments.FILL_SEEDS or (name == "objectives" and seeds)]
    patches = drawing.of(parse_ratio(ratio))
    submetric = metric or "psnr"
    base = setting_of(chosen, second=second_spec(second), masks=masks, patches=patches, submetrics=[submetric])
    of_picture = setting_of(
        chosen, second=second_spec(second), masks=seeds or experiments.FIGURE_SEEDS, submetrics=[metric] if metric else None,
        patches=drawing.patches,
    )  # fmt: skip
    alone = len(of_seeds) == len(names)  # nothing that was predicted is looked at
    workspace = Workspace(run) if alone else opened(run)
    bind(workspace, dataset)
    chosen_firsts = firsts.of(workspace, seed=drawing.seed, needed=not alone)
    folder = out or workspace.path / "reinpaint-stability"
    compute = Compute(random_weights=random_weights)
    with running.on(workspace) as executor:

        def measure(some: Dataset, ones: Sequence[First], settings: Sequence[Setting]) -> experiments.Found:
            return inpaint_again_all(
                executor, some, root=dataset, firsts=ones, settings=settings, protocol=protocol,
                fingerprint=chosen.fingerprint, compute=compute, time_limit_seconds=time_limit,
            )  # fmt: skip

        for name in names:
            if name not in of_seeds:
                _show(experiments.run(name, measure, loaded, chosen_firsts, base, submetric), folder)
                continue
            try:
                rows = under_seeds(
                    executor, loaded, root=dataset, item_id=item, setting=of_picture,
                    first=None if name == experiments.FILL_SEEDS else second_spec(first), protocol=protocol,
                    fingerprint=chosen.fingerprint, compute=compute, time_limit_seconds=time_limit,
                )  # fmt: skip
            except InputError as error:
                if experiment:
                    raise
                console.warn(f"{name} is left out: {error}")  # nobody asked for it by name
                continue
            shown, why = experiments.measured_submetrics(rows)
            if why:
                console.warn(f"{name}: LPIPS is not measured ({why}); in its place stand {' and '.join(map(str.upper, shown))}")
            for made in experiments.seed_figures(name, rows, of_picture, shown):
                _show(made, folder)


def _experiments(asked: Sequence[str] | None) -> list[str]:
    """Names as they are now; one of before is told."""
    names = []
    for name in asked or experiments.EXPERIMENTS:
        now = experiments.RENAMED.get(name, name)
        check_name("experiment", now, experiments.EXPERIMENTS)
        if now != name:
            console.warn(f"the experiment {name} is called {now} now; the paper's Fig. 3f is {experiments.FILL_SEEDS}")
        names.append(now)
    return list(dict.fromkeys(names))


def _show(made: experiments.Experiment, folder: Path) -> None:
    path = experiments.write(folder, made)
    heads, lines = experiments.table(made)
    console.print_table(f"{made.title}: {made.submetric.upper()}", heads, lines)
    console.say(f"{made.told} Plot: {path.resolve()}")


def selection(
    dataset: options.InDataset,
    *,
    run: options.Run,
    protocol: options.ProtocolName = PROTOCOL,
    firsts: Annotated[options.Firsts, bundle(options.Firsts, "method")] = options.Firsts(),
    people: Path | None = None,
) -> None:
    """Say on which share of the items each method is the best. It is so by every metric and by people (the paper's Table 5).

    Reference methods are never chosen. MUSIQ and PAR stand beside D where `eval run --for scores` has measured them, under
    no-reference/koniq or no-reference/spaq.

    Args:
        people: Judgements of the question best_of, as `annotate` exports them: .csv, .jsonl or .parquet.

    Example: inpaintbench eval table --for selection DATASET --run RUN --people judgements.csv
    """
    loaded, workspace = scorable(dataset), opened(run)
    chosen = PROTOCOLS.get(protocol)
    scored, _ = scores_of(workspace, loaded, dataset, chosen.name, methods=firsts.method)
    one_fingerprint(scored, chosen)
    references = references_in(workspace)
    rows = [row for row in scored if row.method not in references]
    methods = list(dict.fromkeys(row.method for row in rows))
    if not methods:
        raise InputError("every method that was scored is a reference, which does not compete: there is nothing to choose from")
    metrics = [name for name in chosen.metrics if any(row.metric == name and row.value is not None for row in rows)]
    beside = _beside(workspace, loaded, dataset, methods)
    choices = _choices(people) if people else []
    for bin_name, items in bins_of(loaded).items():
        columns: dict[str, Selected] = {
            metric_label(name): selected_by_metric(rows, name, higher_is_better=metric_leaf(name).higher_is_better, items=items)
            for name in metrics
        }
        columns |= {label: selected_by_metric(rows, items=items, **given) for label, (rows, given) in beside.items()}
        if people:
            columns[PEOPLE] = chosen_by_people(choices, methods=methods, items=items)
        lines = [[method, *(percent(column.shares.get(method)) for column in columns.values())] for method in methods]
        lines.append(["items (ties)", *(f"{column.items} ({column.tied})" for column in columns.values())])
        if people:
            shares = columns[PEOPLE].shares
            lines.append(["like people", *(percent(agreement(column.shares, shares)) for column in columns.values())])
        console.print_table(f"Chosen, first masks {bin_name}, by values {place_label(REGION)}", ["method", *columns], lines)


def _beside(
    workspace: Workspace, dataset: Dataset, root: Path, methods: Sequence[str]
) -> dict[str, tuple[list[Score], dict[str, Any]]]:
    """Label -> scores of a measure that looks at the picture alone, of those in the run folder, and how it is read."""
    scores: dict[str, tuple[list[Score], dict[str, Any]]] = {}
    there = {row.protocol for row in workspace.table("scores", Score) if row.method in methods}
    for name in sorted(there & set(BESIDE)):
        rows, _ = scores_of(workspace, dataset, root, name, methods=methods)
        one_fingerprint(rows, PROTOCOLS.get(name))
        for metric in dict.fromkeys(row.metric for row in rows if row.value is not None):
            region = next(row.region for row in rows if row.metric == metric and row.value is not None)
            settings = {"metric": metric, "higher_is_better": metric_leaf(metric).higher_is_better, "region": region}
            label = metric_label(metric) if region == REGION else quantity_label(Quantity(metric, region))
            scores[f"{label}{BESIDE[name] if metric == 'musiq' else ''}"] = rows, settings
    return scores


def paper(*, out: Path = PAPER_FOLDER) -> None:
    """Write the paper's published numbers as tables. The same code makes yours.

    Args:
        out: Folder for the tables.

    Example: inpaintbench eval table --for reinpainting-paper --out reinpaint-paper-tables
    """
    page = write_grid(out, published(), notes=["Anomalies stand as printed."])
    console.say(f"Tables: {page.resolve()}")


def _choices(path: Path) -> list[tuple[str, str]]:
    """(item, chosen method) of every vote on which of several results is the best; test tasks and repeats do not count."""
    rows = read_rows(path)
    votes = [
        row for row in rows if row.fields.get("question", BEST_OF) == BEST_OF and row.fields.get("purpose", "vote") == "vote"
    ]
    if lacking := [name for name in ("subject_id", "choice") if votes and name not in votes[0].fields]:
        raise InputError(
            f"{path.name} has no column {' and '.join(lacking)}; wanted are rater, question, subject_id and choice, as "
            "`inpaintbench annotate export` writes them (comparisons of pairs go to `inpaintbench eval align`)"
        )
    if not votes:
        raise InputError(f"{path.name} holds no votes on the question {BEST_OF}")
    return [(str(row.needed("subject_id")), str(row.needed("choice"))) for row in votes]
