"""`eval analysis`: the tables and figures of DEVIL's analysis, from a run's scores or from the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import ProtocolName, dataset_argument
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import option
from inpaintbench.cli.run_folder import results_of
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.analysis.means import Means, means_of
from inpaintbench.eval.analysis.paper import published_means
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.regions import REGIONS
from inpaintbench.workspace import Workspace

PAPER_FOLDER = Path("devil-paper-analysis")


def analysis(
    dataset: Annotated[Path | None, dataset_argument("none, with --paper")] = None,
    run: Annotated[Path | None, option("Folder with the scores.", default="none, with --paper")] = None,
    protocol: ProtocolName = None,
    region: Annotated[
        str | None,
        option(
            "Where metrics are shown that are measured there: hole, band or frame.",
            default="as in the report: the hole, or the frame under protocols that judge whole frames",
            among=REGIONS,
        ),
    ] = None,
    paper: Annotated[bool, option("Analyse the numbers that DEVIL, CVPR 2022, published.", "--paper")] = False,
    out: Annotated[
        Path | None, option("Folder for tables, figures and the page.", default=f"RUN/analysis; {PAPER_FOLDER} with --paper")
    ] = None,
) -> None:
    """Write the tables and figures of DEVIL's analysis. They are rankings, difficulty of slices, sensitivity to attributes.

    Example: inpaintbench eval analysis DATASET --run RUN
    """
    if paper:
        if dataset or run or protocol or region:
            raise UsageError("--paper analyses published numbers: leave out the dataset, --run, --protocol and --region")
        made = write_analysis((out or PAPER_FOLDER).absolute(), published_means())
    elif dataset is None or run is None:
        raise UsageError("give a dataset and --run for your own scores, or --paper for the published ones")
    else:
        means = means_of_run(run, dataset, protocol, region=region)
        with console.writing(Workspace(run, create=False)):
            made = write_analysis((out or run / "analysis").absolute(), means)
    console.say(f"Analysis: {made.page.resolve()}")


def means_of_run(run: Path, root: Path, protocol: str | None, *, region: str | None = None) -> Means:
    """The means of every scored method in a run folder, each metric in ``region`` where it is measured there.

    Raises:
        UnknownNameError: nothing is measured in such a region. InputError: as ``results_of``.
    """
    results = results_of(run, root, protocol)
    there = list(dict.fromkeys(quantity.region for quantity in results.quantities))
    if region is not None and region not in there:
        raise UnknownNameError(unknown_name("region with values:", region, there))
    return means_of(results, region=region)
