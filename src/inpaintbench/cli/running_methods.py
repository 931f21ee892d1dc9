"""`eval run`: any method on any benchmark; `eval layouts`: how the folders of programs may look."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench import frozen
from inpaintbench.cli import completing, console
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.cli.evaluate_options import ProtocolName, Run
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.holding_back import check_reportable
from inpaintbench.cli.method_options import any_method, program_constants
from inpaintbench.cli.predicting import (
    LAYOUT_HELP,
    KeepFullFrames,
    OracleMask,
    ProgramDivisor,
    References,
    TimeLimit,
    Wanted,
    predict_and_tell,
    with_references,
)
from inpaintbench.cli.reinpaint.options import second_spec
from inpaintbench.cli.reinpaint.scoring import score as score_again
from inpaintbench.cli.reporting import report as write_report
from inpaintbench.cli.scoring import score
from inpaintbench.eval.adapters.layouts import layouts
from inpaintbench.eval.hub import frozen_or_hub
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.reinpainting.setting import USUAL_SECOND, inpaints_again

AnyMethod = Annotated[
    list[str],
    typer.Option(
        "--method",
        metavar="METHOD",
        autocompletion=completing.names(METHODS),
        help=f"NAME of {', '.join(METHODS)}, with constants after commas (telea,radius_pixels=5); MODULE:NAME, a callable that "
        "takes frames uint8[T,H,W,3] and hole bool[T,H,W]; or LABEL=PROGRAM. LABEL= may stand before each. May be given again.",
    ),
]


def run(
    method: AnyMethod,
    dataset: Annotated[str, typer.Option(metavar="PATH|OWNER/NAME", help="A frozen dataset: a folder, or its name on the Hub.")],
    run: Run,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--slice",
            metavar="NAME",
            autocompletion=completing.slices,
            help="Only items of this slice, or of a split (split-test); may be given again.",
            show_default="all items",
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Then score all predictions of the run folder, and write its report.")
    ] = False,
    protocol: ProtocolName = None,
    second: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD[,NAME=VALUE]",
            autocompletion=completing.names(METHODS),
            help="With --report, for benchmarks of re-inpainting: what inpaints results again (F2).",
            show_default=USUAL_SECOND,
        ),
    ] = None,
    second_masks: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --report, for benchmarks of re-inpainting: how often a result is inpainted again (K).",
            show_default="10, or as many as the dataset publishes",
        ),
    ] = None,
    reference: References = None,
    command_layout: Annotated[str, typer.Option(autocompletion=completing.names(layouts()), help=LAYOUT_HELP)] = "plain",
    command_folder: Annotated[
        Path | None, typer.Option(help="Where programs run.", show_default="a temporary folder", exists=True, file_okay=False)
    ] = None,
    divisor: ProgramDivisor = None,
    keep_full_frames: KeepFullFrames = False,
    oracle_mask: OracleMask = False,
    time_limit: TimeLimit = 3600.0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Run any methods, on all items or those of some slices; predictions of other items stay.

    With --report one command goes from a dataset to a page: the same as `eval score` and `eval report` afterwards. Results on a
    benchmark of re-inpainting are inpainted again by --second for their self-consistency, D(F1).

    Example: inpaintbench eval run --dataset DATASET --run RUN --method telea --method 'mine=python inpaint.py {input} {output}'
    """
    folder = None if command_folder is None else str(command_folder.absolute())
    program = program_constants(seconds=time_limit, layout=command_layout, divisor=divisor, folder=folder)
    if protocol is not None and not report:
        raise UsageError("--protocol is for --report: predictions are the same under all protocols")
    specs = with_references([any_method(text, program=program) for text in method], reference or ())
    wanted = Wanted(keep_full_frames, time_limit, oracle_mask, tuple(only or ()))
    running = console.Running(workers, max_failures, retry_rejected)
    root = frozen_or_hub(dataset)
    chosen = protocol or usual(frozen.load(root))
    again = report and inpaints_again(PROTOCOLS.get(chosen))
    if (second or second_masks) and not again:
        raise UsageError("--second and --second-masks are for --report of a benchmark of re-inpainting")
    if second:
        second_spec(second)
    if report:
        check_reportable(root, wanted.slices)  # before anything is predicted
    predict_and_tell(root, run, specs, wanted, running)
    if again:
        score_again(
            root, run, protocol=chosen, second=second or USUAL_SECOND, masks=second_masks, workers=workers,
            max_failures=max_failures, retry_rejected=retry_rejected,
        )  # fmt: skip
    elif report:
        score(root, run, protocol=chosen, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected)
    if report:
        write_report(root, run, protocol=chosen)


def list_layouts() -> None:
    """List the layouts of folders that programs read and write, and what is known of each.

    Example: inpaintbench eval layouts
    """
    rows = [
        (name, one.title, str(one), _sides(one.divisor), one.command, _known(one.source, one.unchecked, one.licence))
        for name, one in layouts().items()
    ]
    console.print_table("Layouts", ["name", "for", "input -> output", "divisor", "example", "known from"], rows)


def _sides(divisor: int | tuple[int, int]) -> str:
    return str(divisor) if isinstance(divisor, int) else f"{divisor[0]}x{divisor[1]}"


def _known(source: str, unchecked: tuple[str, ...], licence: str | None) -> str:
    doubt = f"; not checked against the code: {', '.join(unchecked)}" if unchecked else ""
    return f"{source}{f' ({licence})' if licence else ''}{doubt}"
