"""`eval verify`: a run folder against its own hashes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from inpaintbench.cli import completing, console
from inpaintbench.cli.console import Locally, Running
from inpaintbench.cli.options import option
from inpaintbench.cli.run_folder import opened
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.scoring.proving import damaged_media, proof, repair, roots_of
from inpaintbench.pages.words import count
from inpaintbench.workspace import Workspace


def verify(
    run: Path,
    *,
    mend: bool = False,
    dataset: Annotated[
        Path | None,
        option(
            "The dataset that the run is of.",
            default="where it lay when the run was made",
            parser=completing.dataset,
            metavar="DATASET",
        ),
    ] = None,
    running: Locally = Running(),
) -> None:
    """Prove a run folder by its hashes, and mend what differs.

    Everything that a number comes from is compared with its own hash: predictions, scores and what stands beside them, and the
    media of the dataset, which --repair cannot mend. Exit status 1 tells of damage.

    Args:
        run (RUN): Folder with predictions and scores.
        mend --repair: Drop what is damaged, and compute that alone again.

    Example: inpaintbench eval verify RUN --repair
    """
    if not (run / "workspace.json").exists():
        raise InputError(f"no run folder {str(run)!r}; `inpaintbench eval predict DATASET --run {run}` makes it")
    workspace = Workspace(run, create=False)
    found = proof(workspace)
    for one in found.damaged:
        console.say(f"damaged: {one.what.partition(';')[0]}")
    media = _tell_media([dataset] if dataset else roots_of(workspace), given=dataset is not None)
    if found.damaged and not mend:
        again = f"`inpaintbench eval verify {shlex.quote(console.shown(run))} --repair` does again what they held"
        raise VerifyError(f"{count(len(found.damaged), 'part')} of {str(run)!r} damaged: {again}")
    repaired = bool(found.damaged)
    if repaired:
        with running.on(workspace) as executor:
            left = repair(executor, found.damaged, root=dataset)
        for path in left:
            console.warn(f"dropped, and not made again: {path}; run the command that made it")
        opened(run)
        found = proof(workspace)
        if left or found.damaged:
            raise VerifyError(found.damaged[0].what if found.damaged else f"{count(len(left), 'table')} not made again")
    if media:
        raise VerifyError(
            f"{count(media, 'file')} of the dataset differ from its manifest: `inpaintbench export verify` lists all; export it "
            "again, or fetch it with `export fetch`"
        )
    unrecorded = f"; {count(found.unrecorded, 'table')} of an earlier release: not recorded" if found.unrecorded else ""
    amounts = f"{count(found.blobs, 'blob')}, {count(found.lines, 'line')} of ledgers and {count(found.tables, 'table')}"
    console.say(f"{'Repaired' if repaired else 'Verified'}: {amounts} are what was written{unrecorded}")


def _tell_media(places: list[Path], *, given: bool) -> int:
    """Print what of the media of datasets is damaged; return how much. A dataset that was ``given`` has to be there."""
    count_of = 0
    for place in places:
        try:
            lacking = damaged_media(place)
        except InputError as error:
            if given:
                raise
            console.warn(f"media not looked at: {error}")
            continue
        for sentence in lacking:
            console.say(f"damaged: {sentence.partition(';')[0]}")
        count_of += len(lacking)
    return count_of
