"""`eval paper`: tables, figures, references and facts of a run for a paper, and the archive that proves them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Scored, opened, results_of
from inpaintbench.cli.options import Among
from inpaintbench.cli.table import RegionName, asked_quantities
from inpaintbench.cli.words import check_name
from inpaintbench.eval.paper.figures import STYLES
from inpaintbench.eval.paper.tables import Asked, Cost, cost_of, default_quantities, may_count
from inpaintbench.eval.paper.write import ARCHIVE, Source, check_folder, verify_paper, write_paper
from inpaintbench.eval.report.media import PredictionMedia
from inpaintbench.eval.scoring.effort import efforts_of
from inpaintbench.eval.scoring.predict import MethodSpec, labelled
from inpaintbench.eval.scoring.run_folder import settings_in
from inpaintbench.pages.words import count
from inpaintbench.types import Prediction


def paper(
    dataset: InDataset,
    *,
    run: Scored,
    out: Path,
    protocol: ProtocolName = None,
    metric: list[str] | None = None,
    region: RegionName = None,
    style: Annotated[str, Among(STYLES)] = "cvpr",
    costs: bool = True,
) -> None:
    """Write tables, figures and references of a run for a paper.

    With facts that reviewers ask for, a document that shows it all, and an archive that proves the tables.

    `pdflatex main` makes a page of all of it; `inpaintbench eval verify OUT/paper.zip` proves it where no dataset is.

    Args:
        out: Folder to write; an earlier one of this command is replaced.
        metric: A column of the first table; may be given again. [default: the protocol's that rank methods]
        style (STYLE): Widths and type of {names}.
        costs --costs/--no-costs: Run networks that ran in this program on one item more, to count parameters and operations.

    Example: inpaintbench eval paper DATASET --run RUN --style neurips --out PAPER
    """
    check_name("style", style, STYLES)
    check_folder(out)  # before anything runs again
    results = results_of(run, dataset, protocol)
    workspace = opened(run)
    there = default_quantities(results)
    if region and not metric:
        check_name("region", region, sorted({one.region for one in results.quantities}))
        there = [one for one in results.quantities if one.ranked and one.region == region]
    quantities = asked_quantities(results, metric, region) if metric else there
    predictions = workspace.table("predictions", Prediction)
    settings = {
        labelled(told["method"]["label"], results.dataset, oracle_mask=told["how"]["oracle_mask"]): told
        for told in settings_in(workspace, "predictions")
    }
    ran = {label: MethodSpec(**told["method"]) for label, told in settings.items() if label in results.methods}
    found: dict[str, Cost] = {}
    row = min(results.dataset.items, key=lambda row: row["frames"] * row["width"] * row["height"])
    for label, method in ran.items():
        if costs and may_count(method):
            console.say(f"runs {label} on {row['item_id']} once more, to count what it computes")
            found[label] = cost_of(method, dataset, row, oracle_mask=settings[label]["how"]["oracle_mask"])
    archive = write_paper(
        out,
        results,
        Source(
            media=PredictionMedia(dataset, results.dataset, workspace.blobs, predictions, protocol=results.protocol),
            asked=Asked(quantities, efforts_of(workspace, results.dataset, results.methods), found),
            methods=[ran[label] for label in sorted(ran)],
            versions={one.method: one.method_version for one in predictions if one.method in results.methods},
        ),
        style=style,
    )
    console.say(f"Paper: {console.shown(archive.parent)}, compiled by `pdflatex main` there")
    console.tell_next("eval", "verify", archive)


def verify_archive(path: Path) -> None:
    """Say that an archive of ``paper``, or that of its folder, is what was written, and that its scores make its tables."""
    path = path / ARCHIVE if path.is_dir() else path
    files, tables = verify_paper(path)
    console.say(f"Verified: {count(files, 'file')} as written, {count(tables, 'table')} made again from the scores byte for byte")
