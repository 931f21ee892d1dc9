"""`eval run`: any method on any benchmark; `eval layouts`: how the folders of programs may look."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.console import EachLocally, Running
from inpaintbench.cli.evaluate_options import InDataset, Named, ProtocolName, Run, SomeSlices, any_method
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import Among, Positive, option
from inpaintbench.cli.predicting import LAYOUT_HELP, Besides, Wanted, predict_and_tell, raise_for
from inpaintbench.cli.reporting import report as write_report
from inpaintbench.cli.scoring import score_and_tell
from inpaintbench.eval.adapters.layouts import layout_of, layouts
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.scoring.run_folder import check_reportable


def run(
    dataset: InDataset,
    *,
    method: Annotated[list[str], Named],
    run: Run,
    only: SomeSlices = None,
    report: bool = False,
    protocol: ProtocolName = None,
    second: Annotated[str | None, Among(METHODS)] = None,
    second_masks: Positive | None = None,
    command_layout: Annotated[str, option(LAYOUT_HELP, among=layouts())] = "plain",
    command_folder: Annotated[
        Path | None, option("Where programs run.", default="a temporary folder", exists=True, file_okay=False)
    ] = None,
    wanted: Besides = Wanted(),
    running: EachLocally = Running(),
) -> None:
    """Run methods, and with --report score and report them. Items are all or those of some slices; predictions of other items
    stay.

    With --report one command goes from a dataset to a page: the same as `eval score` and `eval report` afterwards. Results on a
    benchmark of re-inpainting are inpainted again by --second for their self-consistency, D(F1).

    Args:
        report: Then score all predictions of the run folder, and write its report.
        second (METHOD[,NAME=VALUE]): With --report, for benchmarks of re-inpainting: what inpaints results again (F2).
            [default: that of `eval reinpaint`]
        second_masks: With --report, for benchmarks of re-inpainting: how often a result is inpainted again (K). [default:
            that of `eval reinpaint`]

    Example: inpaintbench eval run DATASET --run RUN --method telea --method 'mine=python inpaint.py {input} {output}'
    """
    if protocol is not None and not report:
        raise UsageError("--protocol is for --report: predictions are the same under all protocols")
    program = wanted.program(command_layout, command_folder)
    specs = [any_method(text, program=program) for text in method]
    wanted = replace(wanted, slices=tuple(only or ()))
    chosen = protocol or usual(frozen.load(dataset))
    scorer = PROTOCOLS.get(chosen).its_scorer() if report else None
    if (second or second_masks) and scorer is None:
        raise UsageError("--second and --second-masks are for --report of a benchmark of re-inpainting")
    if second and scorer:
        scorer.check_second(second)
    if report:
        check_reportable(dataset, wanted.slices)  # before anything is predicted
    failed = predict_and_tell(dataset, run, specs, wanted, running)
    if scorer:
        scorer.score(dataset, run, protocol=chosen, second=second, second_masks=second_masks, running=running)
    elif report:
        score_and_tell(dataset, run, protocol=chosen, running=running)
    if report:
        write_report(dataset, run=run, protocol=chosen)
    else:
        console.tell_next("eval", "score", dataset, "--run", run)
    raise_for(failed)


def list_layouts(name: Annotated[str | None, Among(layouts())] = None) -> None:
    """List layouts of programs, or tell all of one. `eval check NAME --program FOLDER` tries it.

    Args:
        name (NAME): A layout. [default: all]

    Example: inpaintbench eval layouts propainter
    """
    if name is None:
        rows = [(name, leaf.title, str(leaf), leaf.licence or "") for name, leaf in layouts().items()]
        console.print_table("Layouts", ["name", "for", "input -> output", "licence"], rows)
        return
    layout = layout_of(name)
    facts = layout.model_dump(exclude_defaults=True)
    if layout.is_preset:  # these matter whatever they are
        given = [name for name, there in (("hole_level", layout.takes_hole), ("clip_fps", layout.video_in)) if there]
        told = {*facts, *_OF_A_PRESET, *given}
        facts = {name: value for name, value in layout.model_dump().items() if name in told}
        facts["lossy"] = layout.lossy or "no: its results are lossless"
    console.print_table(name, ["field", "value"], [(name, _fact(value)) for name, value in facts.items()])
    if layout.is_preset:
        takes_weights = "{weights}" in " ".join((*layout.started, *layout.files.values()))
        named = f"{name},weights=WEIGHTS" if takes_weights else name
        console.tell_next("eval", "run", "DATASET", "--method", named, "--program", "FOLDER", "--run", "RUN")


# Fields that a preset is told with where they are the defaults too.
_OF_A_PRESET = ("composites", "dilates", "device", "timeout", "lossy")


def _fact(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {told!r}" if isinstance(told, str) else f"{name} {told}" for name, told in value.items() if told
        )
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
