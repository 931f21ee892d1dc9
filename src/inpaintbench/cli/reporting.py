"""`eval report` and `eval analysis`; predicting, scoring and reporting in one go, for the demo."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from inpaintbench import frozen
from inpaintbench.api.comparing import write_run_report
from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console
from inpaintbench.cli.console import Running
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Run, SomeSlices, dataset_argument
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import Among, Natural, option
from inpaintbench.cli.predicting import predict_all
from inpaintbench.cli.run_folder import opened, results_of, scorable
from inpaintbench.compute import Compute
from inpaintbench.errors import UnknownNameError, VerifyError
from inpaintbench.eval.analysis.means import Means, means_of, published_means
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.protocols import usual
from inpaintbench.eval.report import ReportFiles
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.scoring.run_folder import bind
from inpaintbench.eval.scoring.score import score_all
from inpaintbench.eval.trackers import Sink, held_back, records, sink
from inpaintbench.export.verify import verify
from inpaintbench.regions import ALL_REGIONS
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace

DEMO_METHODS = tuple(MethodSpec(name, name) for name in ("blank", "telea", "temporal_median", "affine_propagation"))


def _report(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, *, out: Path | None = None, **options: Any
) -> ReportFiles:
    if (before := _reported(out or workspace.path / "report")) not in (None, protocol):
        console.warn(f"replaces the report under {before}; --out keeps both")
    return write_run_report(workspace, dataset, root, protocol, folder=out, **options)


def _reported(folder: Path) -> str | None:
    """The protocol of the report in ``folder``; None without one."""
    try:
        return str(json.loads((folder / "report.json").read_text())["protocol"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def evaluate(root: Path, *, run: Path, methods: Sequence[MethodSpec], protocol: str, running: Running) -> Path:
    """Predict, score and report in one go; the path of the report."""
    dataset, workspace = frozen.load(root), Workspace(run)
    labels = [spec.label for spec in methods]
    with running.on(workspace) as executor:
        predict_all(executor, dataset, root, methods, full=False, seconds=3600.0)
        score_all(executor, dataset, root, labels, protocol, None, Compute())
    return _report(workspace, dataset, root, protocol, methods=labels).page


def verify_loadable(root: Path) -> None:
    """Load every config with decoding off, decode every cell with PyAV, and say so."""
    result = verify(root)
    if result.problems:
        raise VerifyError(f"{root} differs from its manifest: {result.problems[0]}")
    text = f"Verified: {result.files} files, {result.configs} configs loaded, {result.cells} cells decoded"
    console.say(text)


def report(
    dataset: InDataset,
    *,
    run: Run,
    protocol: ProtocolName = None,
    only: SomeSlices = None,
    out: Path | None = None,
    media: Natural = 6,
    show: list[str] | None = None,
    log_to: list[str] | None = None,
) -> None:
    """Write the HTML report of a run. CSV and JSON lie beside it; an older one in its place goes away.

    Args:
        out: Folder for the report. [default: RUN/report]
        media: Items with a video besides those of slices: the hardest and the most disagreed.
        show (ITEM): An item with a video in any case; may be given again. [default: none]
        log_to (SINK): Log it too, to wandb:PROJECT, trackio:PROJECT, mlflow:EXPERIMENT or tensorboard:FOLDER; may be given
            again. [default: none]

    Example: inpaintbench eval report DATASET --run RUN --out report
    """
    # A name that is wrong is told before minutes of drawing.
    sinks = [sink(text) for text in log_to or ()]
    loaded, workspace = scorable(dataset), opened(run)
    bind(workspace, dataset)
    with console.writing(workspace):
        made = _report(
            workspace, loaded, dataset, protocol or usual(loaded), out=out, media_items=media, show=show or (), slices=only or ()
        )
    console.say(f"Report: {made.page.resolve()}")
    _log(made, loaded, sinks)
    console.tell_next("view", made.page.parent)


def _log(made: ReportFiles, dataset: Dataset, sinks: Sequence[Sink]) -> None:
    if not sinks:
        return
    with tempfile.TemporaryDirectory() as scratch:
        told = list(records(made, dataset, scratch=Path(scratch)))
        for one in sinks:
            for record in told:
                one.log(record)
            console.say(f"Logged {len(told)} methods to {one.name}:{one.where}")
    if held_back(dataset):
        console.say("The page and videos of items whose truth is held back were not logged.")


PAPER_FOLDER = Path("devil-paper-analysis")


def analysis(
    dataset: Annotated[Path | None, dataset_argument("none, with --paper")] = None,
    *,
    run: Path | None = None,
    protocol: ProtocolName = None,
    region: Annotated[str | None, Among(ALL_REGIONS)] = None,
    paper: bool = False,
    out: Annotated[
        Path | None, option("Folder for tables, figures and the page.", default=f"RUN/analysis; {PAPER_FOLDER} with --paper")
    ] = None,
) -> None:
    """Write the tables and figures of DEVIL's analysis. They are rankings, difficulty of slices, sensitivity to attributes.

    Args:
        run: Folder with the scores. [default: none, with --paper]
        region: Where metrics are shown that are measured there: hole, band or frame. [default: as in the report: the hole, or
            the frame under protocols that judge whole frames]
        paper: Analyse the numbers that DEVIL, CVPR 2022, published.

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
