"""`eval report` with `--for analysis`, `eval compare`; predicting, scoring and reporting in one go for the demo."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from inpaintbench import frozen
from inpaintbench.api import runs
from inpaintbench.api.comparing import compare, write_run_report
from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console, evaluate_options
from inpaintbench.cli.evaluate_options import InDataset, LabelText, ProtocolName, Run, Scored, SomeMetrics, SomeSlices
from inpaintbench.cli.options import Among, Natural, RunFolder
from inpaintbench.cli.predicting import predict_all
from inpaintbench.compute import Compute
from inpaintbench.errors import UnknownNameError, UsageError, VerifyError
from inpaintbench.eval.analysis.means import means_of, published_means
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.report.figures import versus_figure
from inpaintbench.eval.report.two_methods import HEADS, csv_bytes, markdown, telling, text_rows
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.scoring.run_folder import bind
from inpaintbench.eval.scoring.score import score_all
from inpaintbench.eval.trackers import held_back, records, sink
from inpaintbench.export.verify import verify
from inpaintbench.files import write_atomically
from inpaintbench.pages import save_chart
from inpaintbench.pages.words import count
from inpaintbench.regions import ALL_REGIONS
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace

if TYPE_CHECKING:
    from inpaintbench.eval.report import ReportFiles

DEMO_METHODS = tuple(MethodSpec(name, name) for name in ("blank", "telea", "temporal_median", "affine_propagation"))


def evaluate(root: Path, *, run: Path, methods: Sequence[MethodSpec], protocol: str, running: console.Running) -> Path:
    """Prove a dataset, predict, score and report in one go; the path of the report."""
    result = verify(root)
    if result.problems:
        raise VerifyError(f"{root} differs from its manifest: {result.problems[0]}")
    console.say(f"Verified: {result.files} files, {result.configs} configs loaded, {result.cells} cells decoded")
    dataset, workspace = frozen.load(root), Workspace(run)
    labels = [spec.label for spec in methods]
    with running.on(workspace) as executor:
        predict_all(executor, dataset, root, methods, full=False, seconds=3600.0)
        score_all(executor, dataset, root, labels, protocol, None, Compute())
    return _report(workspace, dataset, root, protocol, methods=labels).page


def _report(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, *, out: Path | None = None, **options: Any
) -> ReportFiles:
    with suppress(OSError, ValueError, KeyError, TypeError):  # no report is there
        before = str(json.loads(((out or workspace.path / "report") / "report.json").read_text())["protocol"])
        if before != protocol:
            console.warn(f"replaces the report under {before}; --out keeps both")
    return write_run_report(workspace, dataset, root, protocol, folder=out, **options)


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
    loaded, workspace = evaluate_options.scorable(dataset), evaluate_options.opened(run)
    bind(workspace, dataset)
    with console.writing(workspace):
        name = evaluate_options.scored_protocol(workspace, loaded, protocol)
        made = _report(workspace, loaded, dataset, name, out=out, media_items=media, show=show or (), slices=only or ())
    console.say(f"Report: {made.page.resolve()}")
    if sinks:
        with tempfile.TemporaryDirectory() as scratch:
            told = list(records(made, loaded, scratch=Path(scratch)))
            for one in sinks:
                for record in told:
                    one.log(record)
                console.say(f"Logged {len(told)} methods to {one.name}:{one.where}")
        if held_back(loaded):
            console.say("The page and videos of items whose truth is held back were not logged.")
    console.tell_next("view", made.page.parent)


PAPER_FOLDER = Path("devil-paper-analysis")


def analysis(
    dataset: Annotated[Path | None, evaluate_options.dataset_argument("none, with --paper")] = None,
    *,
    run: RunFolder | None = None,
    protocol: ProtocolName = None,
    region: Annotated[str | None, Among(ALL_REGIONS)] = None,
    paper: bool = False,
    out: Path | None = None,
) -> None:
    """Write the tables and figures of DEVIL's analysis. They are rankings, difficulty of slices, sensitivity to attributes.

    Args:
        run (PATH|ADDRESS): Folder with the scores. [default: none, with --paper]
        region: Where metrics are shown that are measured there: hole, band or frame. [default: as in the report: the hole, or
            the frame under protocols that judge whole frames]
        paper: Analyse the numbers that DEVIL, CVPR 2022, published.
        out: Folder for tables, figures and the page. [default: RUN/analysis; devil-paper-analysis with --paper]

    Example: inpaintbench eval report --for analysis DATASET --run RUN
    """
    if paper:
        if dataset or run or protocol or region:
            raise UsageError("--paper analyses published numbers: leave out the dataset, --run, --protocol and --region")
        made = write_analysis((out or PAPER_FOLDER).absolute(), published_means())
    elif dataset is None or run is None:
        raise UsageError("give a dataset and --run for your own scores, or --paper for the published ones")
    else:
        results = evaluate_options.results_of(run, dataset, protocol)
        there = list(dict.fromkeys(quantity.region for quantity in results.quantities))
        if region is not None and region not in there:
            raise UnknownNameError(unknown_name("region with values:", region, there))
        means = means_of(results, region=region)
        with console.writing(Workspace(run, create=False)):
            made = write_analysis((out or run / "analysis").absolute(), means)
    console.say(f"Analysis: {made.page.resolve()}")


Names = list[str] | None
# That a terminal shows at once.
MOST_ROWS = 20


def compare_command(
    dataset: InDataset,
    one: LabelText,
    other: LabelText,
    *,
    run: Scored,
    other_run: RunFolder | None = None,
    protocol: ProtocolName = None,
    metric: SomeMetrics = None,
    region: Names = None,
    part: SomeSlices = None,
    everything: bool = False,
    out: Path | None = None,
) -> console.Answer:
    """Compare two methods by each metric in each slice. Is the difference more than chance, and who wins which items?

    Beside the tables lies a figure of what each attribute does to both, of the metrics asked for or the first.

    Args:
        one (A): A method's label.
        other (B): Another's, or the same in --other-run.
        other_run (PATH|ADDRESS): Folder with the scores of B. [default: --run]
        region: Only this region; may be given again. [default: all]
        everything --all: Show every row, not the most telling ones.
        out: Folder for both tables. [default: RUN/compare/PROTOCOL]

    Example: inpaintbench eval compare DATASET telea mine --run RUN --metric psnr
    """
    loaded = evaluate_options.scorable(dataset)
    if one == other and other_run is None:
        raise UsageError(f"{one!r} cannot be compared with itself; give two labels, or --other-run")
    workspace, *_ = (evaluate_options.opened(place) for place in (run, other_run or run))  # says what was stopped
    name = evaluate_options.scored_protocol(workspace, loaded, protocol)
    data = runs.LoadedDataset(dataset)
    called = other if one != other else f"{other} ({console.shown(other_run or run)})"
    found = compare(
        runs.Run(data, one, run, name), runs.Run(data, other, other_run or run, name),
        metrics=metric, regions=region, slices=part, called=called,
    )  # fmt: skip
    rows, quantities = found.rows, found.quantities if metric or region else found.quantities[:1]
    folder = out or run / "compare" / name.replace("/", ".")
    stem = re.sub(r"[^\w.+-]", "_", f"{one}_vs_{called}")
    table, page = folder / f"{stem}.csv", folder / f"{stem}.md"
    drawn = {one_of: versus_figure(found.results, one, called, one_of) for one_of in quantities}
    pictures = {one_of: f"{stem}_{one_of.metric}_{one_of.region}.svg" for one_of, figure in drawn.items() if figure}
    with console.writing(workspace):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(table, csv_bytes(rows, one=one, other=called))
        for quantity, picture in pictures.items():
            save_chart(drawn[quantity] or {}, folder / picture)
        write_atomically(page, markdown(rows, one=one, other=called, results=found.results, pictures=pictures).encode())
    files = [table, page, *(folder / picture for picture in pictures.values())]
    facts = {
        "a": one, "b": called, "protocol": name, "fingerprint": found.results.fingerprint, "rows": rows, "remarks": found.remarks,
        "files": files,
    }  # fmt: skip
    shown = rows if everything else telling(rows, most=MOST_ROWS)
    texts, notes = text_rows(shown)
    if len(shown) < len(rows):
        notes.append(f"the {len(shown)} most telling of {len(rows)} rows; --all shows the others, the files hold all")
    beside = f", and {count(len(pictures), 'figure')} of effects beside them" if pictures else ""
    wrote = f"wrote {console.shown(table)} and {console.shown(page)}{beside}"
    return console.Answer(facts, console.Table(f"{name}: A = {one}, B = {called}", HEADS, texts), *notes, *found.remarks, wrote)
