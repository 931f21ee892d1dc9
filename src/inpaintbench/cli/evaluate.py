"""`eval`: predict, score and report over a frozen dataset; needs nothing of the workspace that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console
from inpaintbench.cli.analysing import analysis
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.cli.run_folder import bind, predicted, scores_of
from inpaintbench.errors import InputError, RunError, UnknownNameError, VerifyError
from inpaintbench.eval.media import PredictionMedia
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.predict import MethodSpec, build, labelled
from inpaintbench.eval.predict import predict as predict_method
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.report import write_report
from inpaintbench.eval.score import SCORING_SECONDS, Predicted
from inpaintbench.eval.score import score as score_methods
from inpaintbench.eval.sets import compare_sets
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.export.verify import verify
from inpaintbench.sharing import Compute, Device, Precision
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Run methods on a frozen dataset, score their predictions, report.")

_GRACE_SECONDS = 60.0
_FAILURES_SHOWN = 5
DEMO_METHODS = tuple(MethodSpec(name, name) for name in ("blank", "telea", "temporal_median", "affine_propagation"))

InDataset = Annotated[Path, typer.Argument(help="A frozen dataset: the folder with dataset.json.")]
Run = Annotated[Path, typer.Option(help="Folder for predictions, scores and report.")]
Methods = Annotated[list[str] | None, typer.Option("--method", help=f"One of: {', '.join(METHODS)}. May be given again.")]
Saved = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL=FOLDER",
        help="Predictions made elsewhere: files ITEM.mp4, .mkv, .png, .jpg, .jpeg or .bmp, or a folder ITEM of PNGs.",
    ),
]
Commands = Annotated[
    list[str] | None,
    typer.Option("--command", metavar="LABEL=PROGRAM", help="Any program; it gets an input folder and an output folder."),
]
ProtocolName = Annotated[
    str | None, typer.Option(help=f"One of: {', '.join(PROTOCOLS)}.", show_default="the corrected one of the benchmark")
]


def method_specs(
    names: Sequence[str], saved: Sequence[str], commands: Sequence[str], *, program: Mapping[str, Any]
) -> list[MethodSpec]:
    """The methods that the options ask for, labels checked; ``program`` holds further constants of commands."""
    specs = [MethodSpec(name, name) for name in names]
    specs += [MethodSpec(label, "saved_folder", {"folder": str(Path(value).absolute())}) for label, value in map(_pair, saved)]
    specs += [MethodSpec(label, "command", {"command": value, **program}) for label, value in map(_pair, commands)]
    if not specs:
        raise InputError("no method: give --method, --saved or --command")
    labels = [spec.label for spec in specs]
    if double := [label for label in labels if labels.count(label) > 1]:
        raise InputError(f"two methods are called {double[0]!r}; give each its own label")
    return specs


def _pair(text: str) -> tuple[str, str]:
    label, equals, value = text.partition("=")
    if not (label and equals and value):
        raise InputError(f"{text!r} is not LABEL=VALUE")
    return label, value


def _predict(
    executor: LedgeredExecutor,
    dataset: Dataset,
    root: Path,
    specs: Sequence[MethodSpec],
    *,
    full: bool,
    seconds: float,
    oracle_mask: bool = False,
) -> None:
    for spec in specs:
        # A program of its own is stopped by its own clock first, which tells more than a killed worker.
        limit = seconds + _GRACE_SECONDS
        predict_method(
            executor, dataset, root=root, method=spec, keep_full_frames=full, oracle_mask=oracle_mask, time_limit_seconds=limit
        )


def _score(
    executor: LedgeredExecutor,
    dataset: Dataset,
    root: Path,
    methods: Sequence[str],
    protocol: str,
    metrics: Sequence[str] | None,
    compute: Compute,
    *,
    seconds: float = SCORING_SECONDS,
) -> None:
    workspace = executor.workspace
    given = []
    for method in methods:
        step = f"predict.{method}"
        failures = {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=step)}
        given.append(Predicted(method, workspace.table("predictions", Prediction, step=step), failures))
    score_methods(
        executor, dataset, root=root, methods=given, protocol=protocol, metrics=metrics, compute=compute,
        time_limit_seconds=seconds,
    )  # fmt: skip
    compare_sets(executor, dataset, protocol=protocol, methods=methods)


def _report(workspace: Workspace, dataset: Dataset, root: Path, protocol: str, methods: Sequence[str] | None) -> Path:
    chosen = PROTOCOLS.get(protocol)
    rows, compared = scores_of(workspace, dataset, root, protocol, methods=methods)
    media = PredictionMedia(root, dataset, workspace.blobs, workspace.table("predictions", Prediction), resize=chosen.resize)
    folder = workspace.path / "report"
    return write_report(
        folder, title=dataset.name, dataset=dataset, scores=rows, slice_scores=compared, protocol=chosen, media=media
    ).page


def evaluate(root: Path, *, run: Path, methods: Sequence[MethodSpec], protocol: str, workers: int) -> Path:
    """Predict, score and report in one go; the path of the report."""
    dataset, workspace = frozen.load(root), Workspace(run)
    labels = [spec.label for spec in methods]
    with console.running(workspace, workers=workers) as executor:
        _predict(executor, dataset, root, methods, full=False, seconds=3600.0)
        _score(executor, dataset, root, labels, protocol, None, Compute())
    return _report(workspace, dataset, root, protocol, labels)


def verify_loadable(root: Path) -> None:
    """Load every config with decoding off, decode every cell with PyAV, and say so."""
    result = verify(root)
    if result.problems:
        raise VerifyError(f"{root} differs from its manifest: {result.problems[0]}")
    text = f"Verified: {result.files} files, {result.configs} configs loaded, {result.cells} cells decoded"
    console.out.print(text, markup=False)


@app.command()
def predict(
    dataset: InDataset,
    run: Run,
    method: Methods = None,
    saved: Saved = None,
    command: Commands = None,
    keep_full_frames: Annotated[bool, typer.Option("--keep-full-frames", help="Keep pixels outside the hole too.")] = False,
    oracle_mask: Annotated[
        bool, typer.Option("--oracle-mask", help="Show methods the hole of a benchmark that hides it; their labels say so.")
    ] = False,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds for one item.")] = 3600.0,
    divisor: Annotated[int, typer.Option(min=1, help="Pad the input of --command programs to multiples of this.")] = 1,
    layout: Annotated[str, typer.Option(help="File names for --command programs: plain, or devil.")] = "plain",
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Run methods over every item; what is done already is kept."""
    program = {"time_limit_seconds": time_limit, "divisor": divisor, "layout": layout}
    specs = method_specs(method or (), saved or (), command or (), program=program)
    for spec in specs:
        build(spec)  # what cannot run is told before anything runs
    loaded = frozen.load(dataset)
    if oracle_mask and not any(map(frozen.has_hole, loaded.items)):
        raise InputError(f"{loaded.name!r} has no holes to show: its pictures are degraded everywhere; leave out --oracle-mask")
    workspace = Workspace(run)
    bind(workspace, dataset)
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        _predict(executor, loaded, dataset, specs, full=keep_full_frames, seconds=time_limit, oracle_mask=oracle_mask)
    total = 0
    for spec in specs:
        label = labelled(spec.label, loaded, oracle_mask=oracle_mask)
        step = f"predict.{label}"
        made, failed = workspace.table("predictions", Prediction, step=step), workspace.table("rejected", Rejection, step=step)
        total += len(made)
        console.out.print(f"{label}: {len(made)} predictions, {len(failed)} failed", markup=False)
        for row in failed[:_FAILURES_SHOWN]:
            console.out.print(f"  {row.subject_id}: {row.reason}", markup=False)
        if len(failed) > _FAILURES_SHOWN:
            console.out.print(f"  and {len(failed) - _FAILURES_SHOWN} more", markup=False)
    if oracle_mask and loaded.items[0]["hole_is_given"]:
        console.err.print("this benchmark gives methods the hole anyway; --oracle-mask changed nothing", markup=False)
    if not total:
        raise RunError("not one prediction was made")


@app.command()
def score(
    dataset: InDataset,
    run: Run,
    protocol: ProtocolName = None,
    metric: Annotated[list[str] | None, typer.Option(help=f"One of: {', '.join(METRICS)}. May be given again.")] = None,
    device: Annotated[str, typer.Option(help=f"Where networks run: {', '.join(get_args(Device))}.")] = "auto",
    precision: Annotated[str, typer.Option(help=f"Of networks: {', '.join(get_args(Precision))}.")] = "fp32",
    random_weights: Annotated[
        int | None,
        typer.Option(metavar="SEED", help="Made-up parameters for networks, to try things out; no report takes such scores."),
    ] = None,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds for one item of one method.")] = SCORING_SECONDS,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Score every method that has predictions in the run folder; with --metric, the table holds these metrics alone."""
    loaded = frozen.load(dataset)
    protocol = protocol or usual(loaded)
    PROTOCOLS.get(protocol).build_metrics(metric)  # misspelt names are told before any work
    compute = _compute(device, precision, random_weights)
    workspace = Workspace(run, create=False)
    bind(workspace, dataset)
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        _score(executor, loaded, dataset, predicted(workspace), protocol, metric, compute, seconds=time_limit)
    rows = [row for row in workspace.table("scores", Score) if row.protocol == protocol]
    missing = sum(row.value is None and row.features is None for row in rows)
    console.out.print(f"{len(rows)} scores under {protocol}, {missing} without a value", markup=False)
    for reason, names in _unmeasured(rows).items():
        console.out.print(f"not measured: {', '.join(names)}: {reason}", markup=False)


def _unmeasured(rows: Sequence[Score]) -> dict[str, list[str]]:
    """Metrics that have no number of any item, by the first reason of each."""
    reasons: dict[str, str] = {}
    for row in rows:
        reasons.setdefault(row.metric, row.reason or "")
    measured = {row.metric for row in rows if row.value is not None or row.features is not None}
    found: dict[str, list[str]] = {}
    for metric, reason in reasons.items():
        if metric not in measured:
            found.setdefault(reason, []).append(metric)
    return found


def _compute(device: str, precision: str, seed: int | None) -> Compute:
    for kind, name, known in (("device", device, get_args(Device)), ("precision", precision, get_args(Precision))):
        if name not in known:
            raise UnknownNameError(unknown_name(kind, name, list(known)))
    return Compute(device=device, precision=precision, random_weights=seed)  # type: ignore[arg-type]


@app.command()
def report(dataset: InDataset, run: Run, protocol: ProtocolName = None) -> None:
    """Write the HTML report of a run, with CSV and JSON beside it."""
    loaded, workspace = frozen.load(dataset), Workspace(run, create=False)
    bind(workspace, dataset)
    with workspace.locked():
        page = _report(workspace, loaded, dataset, protocol or usual(loaded), None)
    console.out.print(f"Report: {page.resolve()}", markup=False)


app.command()(analysis)


@app.command("list")
def list_leaves() -> None:
    """List methods, metrics and protocols."""
    console.print_table("Methods", ["name", "what it does"], [(name, _sentence(METHODS.get(name))) for name in METHODS])
    metrics = [(name, METRICS.get(name)) for name in METRICS]
    rows = [(name, leaf.unit, _better(leaf), _sentence(leaf)) for name, leaf in metrics]
    console.print_table("Metrics", ["name", "unit", "better", "what it is"], rows)
    protocols = [(name, PROTOCOLS.get(name).fingerprint, ", ".join(PROTOCOLS.get(name).metrics)) for name in PROTOCOLS]
    console.print_table("Protocols", ["name", "fingerprint", "metrics"], protocols)


def _sentence(leaf: type) -> str:
    return " ".join((leaf.__doc__ or "").split("\n\n")[0].replace("``", "").split())


def _better(leaf: Any) -> str:
    if not getattr(leaf, "ranked", True):
        return "not ranked"
    return "higher" if leaf.higher_is_better else "lower"
