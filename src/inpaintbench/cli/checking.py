"""`eval check`: what a method does wrong, before it is believed."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Annotated

from inpaintbench import frozen
from inpaintbench.cli import completing, console
from inpaintbench.cli.console import Running
from inpaintbench.cli.evaluate_options import FORMS, SomeSlices, any_method
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.options import argument, bundle, option
from inpaintbench.cli.predicting import LAYOUT_HELP, Wanted, limit_of, tell_verdict, with_references
from inpaintbench.errors import InputError, RunError
from inpaintbench.eval.adapters.layouts import layouts
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.scoring.check import check
from inpaintbench.eval.scoring.parts import items_of_slices
from inpaintbench.eval.scoring.predict import LOGS, why_not
from inpaintbench.workspace import Workspace


def check_method(
    method: Annotated[str, argument(FORMS, metavar="METHOD", among=METHODS)],
    dataset: Annotated[
        Path | None,
        argument(
            "A frozen dataset, as for `eval run`: its first item is tried too.",
            default="a made clip alone",
            parser=completing.dataset,
            metavar="DATASET",
        ),
    ] = None,
    *,
    command_layout: Annotated[str, option(LAYOUT_HELP, among=layouts())] = "plain",
    command_folder: Annotated[
        Path | None, option("Where programs run.", default="a temporary folder", exists=True, file_okay=False)
    ] = None,
    only: SomeSlices = None,
    wanted: Annotated[Wanted, bundle(Wanted, "reference", "divisor", "oracle_mask", "time_limit", "own_folder")] = Wanted(),
) -> None:
    """Try a method on two clips, and name its mistakes.

    It runs twice on a clip that is made for it and twice on the first item of the dataset. What it gives before known pixels are
    put back tells of another order of colours, frames that are late or early, flips, transposition and shifts, floats of another
    range, another size or padding left in, holes that stay as they were or are taken the other way round, results that differ
    from call to call, an input that is written into, and known pixels that are repainted. A method that puts known pixels back
    itself hides what it does to colours and time inside its hole. `eval run` does the same before its first item, and does not
    run what is refused. Exit status 1 where anything is.

    Example: inpaintbench eval check mine:fill DATASET
    """
    [spec] = with_references([any_method(method, program=wanted.program(command_layout, command_folder))], wanted.reference or ())
    loaded = None if dataset is None else frozen.load(dataset)
    if loaded is None and spec.leaf == "saved_folder":
        raise UsageError("a folder of results is looked at beside a dataset: eval check saved_folder,folder=RESULTS DATASET")
    if loaded is not None and (reason := why_not(spec, loaded, oracle_mask=wanted.oracle_mask)):
        raise InputError(reason)
    log = Path(f"{spec.label}.log")
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        with Running(workers=1).on(Workspace(Path(folder))) as executor:
            verdict = check(
                executor, spec, dataset=loaded, root=dataset or "", oracle_mask=wanted.oracle_mask,
                among=items_of_slices(loaded, only) if loaded is not None and only else None,
                time_limit_seconds=limit_of(spec, wanted.time_limit),
            )  # fmt: skip
        said = b"".join(path.read_bytes() for path in sorted(Path(folder, LOGS).glob("*/*.txt")))
    for clip in verdict.clips:
        known = clip.known_db
        kept = "as they were" if known == math.inf else known is not None and f"{known:.1f} dB from the input"
        console.say(f"tried on {clip.clip}{f': known pixels {kept}' if kept else ''}")
    reasons, _ = tell_verdict(spec.label, verdict, Path(folder))  # whose logs are gone, and below in one file
    if verdict.clips and not verdict.findings:
        console.say("no mistake shows")
    if said:
        log.write_bytes(said)
        console.say(f"what it said is in {log}")
    if reasons:
        raise RunError(f"`eval run` would not run {spec.label}, for it {'; '.join(reasons)}")
    if not verdict.clips:
        raise RunError(f"{spec.label} gave no result")
