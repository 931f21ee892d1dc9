"""`eval predict`: run methods over a frozen dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.cli.evaluate_options import InDataset, Run
from inpaintbench.cli.run_folder import bind
from inpaintbench.errors import InputError, RunError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.methods.saved_folder import strangers
from inpaintbench.eval.predict import MethodSpec, build, labelled
from inpaintbench.eval.predict import predict as predict_method
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.ledgered import LedgeredExecutor
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

_GRACE_SECONDS = 60.0
_FAILURES_SHOWN = 5

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


def predict_all(
    executor: LedgeredExecutor,
    dataset: Dataset,
    root: Path,
    specs: Sequence[MethodSpec],
    *,
    full: bool,
    seconds: float,
    oracle_mask: bool = False,
) -> None:
    """Run methods over every item, one after the other; ``full`` and ``seconds`` as for ``predict``."""
    for spec in specs:
        # A program of its own is stopped by its own clock first, which tells more than a killed worker.
        limit = seconds + _GRACE_SECONDS
        predict_method(
            executor, dataset, root=root, method=spec, keep_full_frames=full, oracle_mask=oracle_mask, time_limit_seconds=limit
        )


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
        what = "its clips are to be edited" if any(map(frozen.is_edit, loaded.items)) else "its pictures are degraded everywhere"
        raise InputError(f"{loaded.name!r} has no holes to show: {what}; leave out --oracle-mask")
    workspace = Workspace(run)
    bind(workspace, dataset)
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        predict_all(executor, loaded, dataset, specs, full=keep_full_frames, seconds=time_limit, oracle_mask=oracle_mask)
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
        if failed and spec.leaf == "saved_folder":
            _tell_strangers(spec, loaded)
    if oracle_mask and loaded.items[0]["hole_is_given"]:
        console.err.print("this benchmark gives methods the hole anyway; --oracle-mask changed nothing", markup=False)
    if not total:
        raise RunError("not one prediction was made")


def _tell_strangers(spec: MethodSpec, dataset: Dataset) -> None:
    """Why predictions may be missing: what lies there has other names."""
    ids = [str(row["item_id"]) for row in dataset.items]
    if names := strangers(Path(str(spec.constants["folder"])), set(ids)):
        many = "1 file or folder has" if len(names) == 1 else f"{len(names)} files and folders have"
        console.out.print(f"  {many} the name of no item, such as {names[0]!r}; items are called like {ids[0]!r}", markup=False)
