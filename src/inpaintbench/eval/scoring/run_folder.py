"""A folder of predictions and scores, bound to one frozen dataset: what it holds, and whether that still stands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.parts import held_back_words, items_of_slices
from inpaintbench.eval.scoring.run_state import check_undamaged, gained_since, is_stale, is_truth_of, remember_inputs
from inpaintbench.eval.scoring.scores import Scores
from inpaintbench.files import file_sha256, write_atomically
from inpaintbench.frozen import content_of, dataset_id
from inpaintbench.pages.words import count
from inpaintbench.steps import predicted_label, score_step
from inpaintbench.types import Dataset, Score, SliceScore
from inpaintbench.workspace import Workspace


def bind(workspace: Workspace, root: Path) -> str | None:
    """Remember which dataset a run folder is for.

    Predictions made on a public dataset are scored on the one that holds its truth: the folder stays that of the first. A folder
    of an earlier version becomes one of the new version, where predictions and scores of items that stayed stand.

    Returns:
        That the folder goes on from an earlier version, in a sentence; None where it does not.

    Raises:
        InputError: it is for another one.
    """
    marker, content = workspace.path / "dataset.sha256", workspace.path / "dataset.content"
    manifest = file_sha256(root / frozen.MANIFEST)
    bound = marker.read_text(errors="replace").strip() if marker.exists() else ""
    if bound == manifest:
        return None
    dataset = frozen.load(root)
    same = content.exists() and content.read_text(errors="replace").strip() == content_of(
        dataset
    )  # of another version, or sealed anew
    earlier = frozen.version_of(dataset, bound) if bound and not same else None
    if bound and not same and not earlier and not is_truth_of(workspace.path, dataset, bound=bound):
        raise InputError(
            f"run folder {str(workspace.path)!r} holds results on another dataset than {dataset_id(dataset)}; use another --run"
        )
    if not bound or earlier:
        remember_inputs(workspace.path, dataset)
        write_atomically(content, f"{content_of(dataset)}\n".encode())
        write_atomically(marker, f"{manifest}\n".encode())
    return f"results on {earlier} go on as those on {dataset_id(dataset)}" if earlier else None


def predicted(workspace: Workspace) -> list[str]:
    """Methods with predictions, sorted.

    Raises:
        InputError: there are none.
    """
    tables = (workspace.path / "tables").glob("*/*.parquet")
    labels = sorted({label for path in tables if (label := predicted_label(path.stem)) is not None})
    if not labels:
        raise InputError(f"no predictions in {str(workspace.path)!r}; run `inpaintbench eval predict` first")
    return labels


def scored_methods(workspace: Workspace, protocol: str) -> list[str]:
    """Methods with scores under a protocol, sorted."""
    prefix = score_step(protocol, "")
    return [step.removeprefix(prefix) for step in workspace.steps("scores") if step.startswith(prefix)]


def check_scored(method: str, scored: Sequence[str]) -> None:
    """Raise ``UnknownNameError`` where others were scored and ``method`` was not."""
    if scored and method not in scored:
        raise UnknownNameError(f"{unknown_name('scored method', method, list(scored))}: run `inpaintbench eval score` for others")


def scores_of(
    workspace: Workspace, dataset: Dataset, root: Path, protocol: str, *, methods: Sequence[str] | None = None
) -> tuple[Scores[Score], list[SliceScore]]:
    """Scores under a protocol, of items and of slices, of all methods or some.

    Raises:
        InputError: there are none, or a method was run again after it was scored: old scores would stand for new predictions; or
            the dataset grew since, and a method was not run on what is new.
        VerifyError: there are none of some item because its bytes are damaged.
        WorkspaceError: a table is damaged.
    """
    command = (PROTOCOLS.get(protocol).command if protocol in PROTOCOLS else "eval score").split()
    rows = [row for row in workspace.table("scores", Score) if row.protocol == protocol]
    rows = [row for row in rows if methods is None or row.method in methods]
    if not rows:
        others = sorted({row.protocol for row in workspace.table("scores", Score)})
        there = f", but under {', '.join(others)}: give --protocol, or" if others else ";"
        first = shlex.join(["inpaintbench", *command, str(root), "--run", str(workspace.path), "--protocol", protocol])
        raise InputError(f"no scores under protocol {protocol!r} in {str(workspace.path)!r}{there} run `{first}` first")
    for method in dict.fromkeys(row.method for row in rows):
        if is_stale(workspace, dataset, protocol=protocol, method=method):
            again = shlex.join(["inpaintbench", *command, str(root), "--run", str(workspace.path), "--protocol", protocol])
            scored = {row.item_id for row in rows if row.method == method}
            if gained := gained_since(workspace, dataset, scored, protocol=protocol, method=method):
                more = f"the dataset has {count(len(gained), 'item')} more than when {method!r} was run and scored"
                raise InputError(f"{more} under {protocol!r}: run `inpaintbench eval predict` first, then `{again}`")
            raise InputError(f"the scores of {method!r} under {protocol!r} are older than its predictions; run `{again}` again")
    check_undamaged(rows, workspace.path)
    return Scores(rows), [row for row in workspace.table("slice_scores", SliceScore) if row.protocol == protocol]


def check_reportable(root: Path, slices: Sequence[str]) -> None:
    """Refuse a report before anything runs where not one of the asked items can be scored.

    Args:
        root: a frozen dataset.
        slices: the items that are asked for are in these; () = all items.

    Raises:
        InputError: the truth of every asked item is held back, or no item is in the slices. UnknownNameError: no such slice.
    """
    dataset = frozen.load(root)
    asked = items_of_slices(dataset, slices) if slices else {row["item_id"] for row in dataset.items}
    words = held_back_words(dataset)
    if words and not any(row["item_id"] in asked and not frozen.is_held_back(row) for row in dataset.items):
        raise InputError(f"{words}; leave out --report, and send the run folder to those who hold the truth")
