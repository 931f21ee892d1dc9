"""Shared by the `eval` commands: a run folder and its dataset, with a sentence on what was stopped or is held back."""

from __future__ import annotations

from pathlib import Path

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.scoring.parts import held_back_words, open_part
from inpaintbench.eval.scoring.run_folder import BETWEEN, bind, references_in, remembered, scores_of
from inpaintbench.executors.unfinished import stopped
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace


def opened(run: Path) -> Workspace:
    """The run folder ``run``, with what a run that was stopped had finished; says in a sentence which those are.

    Raises:
        InputError: nothing was predicted there. WorkspaceError: another run holds it.
    """
    if not (run / "workspace.json").exists():
        raise InputError(f"no run folder {str(run)!r}; `inpaintbench eval predict DATASET --run {run}` makes it")
    workspace = Workspace(run, create=False)
    for step in stopped(workspace):
        console.warn(str(step))
    return workspace


def scorable(root: Path) -> Dataset:
    """The items of a frozen dataset that can be scored; says in a sentence what is held back of it.

    Raises:
        InputError: the truth of every item is held back, or no frozen dataset is there.
    """
    whole = frozen.load(root)
    part = open_part(whole)
    if part is not whole:
        console.warn(str(held_back_words(whole)))
    return part


def results_of(run: Path, root: Path, protocol: str | None) -> Results:
    """The scores of a run folder under a protocol, by default the usual one of the dataset, as tables.

    Raises:
        InputError: the run is for another dataset, has no scores under the protocol, or scores older than its predictions.
    """
    dataset, workspace = scorable(root), opened(run)
    with workspace.locked():
        bind(workspace, root)
        chosen = PROTOCOLS.get(protocol or usual(dataset))
        scores, compared = scores_of(workspace, dataset, root, chosen.name)
        efforts = kept_between_items(workspace)
    return Results(dataset, scores, protocol=chosen, slice_scores=compared, references=references_in(workspace), efforts=efforts)


def kept_between_items(workspace: Workspace) -> dict[str, Effort]:
    """Label -> what is known of what its method kept of an item for another, and no more of its effort."""
    return {label: Effort(between_items=word) for label, word in remembered(workspace, BETWEEN).items()}
