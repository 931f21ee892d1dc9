"""`eval analysis`: the tables and figures of DEVIL's analysis, from a run's scores or from the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import completing, console
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.run_folder import bind, opened, scorable, scores_of
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.analysis.means import Means, means_of
from inpaintbench.eval.analysis.paper import published_means
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.references import references_in
from inpaintbench.eval.report.tables import Results
from inpaintbench.regions import REGIONS
from inpaintbench.workspace import Workspace

PAPER_FOLDER = Path("devil-paper-analysis")


def analysis(
    dataset: Annotated[
        Path | None, typer.Argument(help="A frozen dataset: the folder with dataset.json.", show_default="none, with --paper")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="Folder with the scores.", show_default="none, with --paper")] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            autocompletion=completing.names(PROTOCOLS),
            help=f"One of: {', '.join(PROTOCOLS)}.",
            show_default="the corrected one of the benchmark",
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            autocompletion=completing.names(REGIONS),
            help="Where metrics are shown that are measured there: hole, band or frame.",
            show_default="as in the report: the hole, or the frame under protocols that judge whole frames",
        ),
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Analyse the numbers that DEVIL, CVPR 2022, published.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for tables, figures and the page.", show_default=f"RUN/analysis; {PAPER_FOLDER} with --paper"),
    ] = None,
) -> None:
    """Tables and figures of DEVIL's analysis: rankings, difficulty of slices, sensitivity to attributes.

    Example: inpaintbench eval analysis DATASET --run RUN
    """
    if paper:
        if dataset or run or protocol or region:
            raise UsageError("--paper analyses published numbers: leave out the dataset, --run, --protocol and --region")
        made = write_analysis((out or PAPER_FOLDER).absolute(), published_means())
    elif dataset is None or run is None:
        raise UsageError("give a dataset and --run for your own scores, or --paper for the published ones")
    else:
        workspace = opened(run)
        with console.writing(workspace):
            means = means_of_run(workspace, dataset, protocol, region=region)
            made = write_analysis((out or workspace.path / "analysis").absolute(), means)
    console.out.print(f"Analysis: {made.page.resolve()}", markup=False)


def means_of_run(workspace: Workspace, root: Path, protocol: str | None, *, region: str | None = None) -> Means:
    """The means of every scored method in a run folder, each metric in ``region`` where it is measured there.

    Raises:
        UnknownNameError: nothing is measured in such a region.
        InputError: the run is for another dataset, has no scores under the protocol, or scores older than its predictions.
    """
    dataset = scorable(root)
    bind(workspace, root)
    name = protocol or usual(dataset)
    chosen = PROTOCOLS.get(name)
    scores, compared = scores_of(workspace, dataset, root, name)
    results = Results(dataset, scores, protocol=chosen, slice_scores=compared, references=references_in(workspace))
    there = list(dict.fromkeys(quantity.region for quantity in results.quantities))
    if region is not None and region not in there:
        raise UnknownNameError(unknown_name("region with values:", region, there))
    return means_of(results, region=region)
