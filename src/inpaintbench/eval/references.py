"""Which methods of a run are references: floors that others are seen against, and that never compete."""

from __future__ import annotations

from inpaintbench.steps import predict_step, predicted_label
from inpaintbench.workspace import Workspace, write_atomically

_ENDING = ".reference"


def remember(workspace: Workspace, label: str, *, reference: bool) -> None:
    """Keep beside the predictions of a method whether it is a reference."""
    path = workspace.path / "tables" / "predictions" / f"{predict_step(label)}{_ENDING}"
    if reference:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, b"")
    else:
        path.unlink(missing_ok=True)


def references_in(workspace: Workspace) -> frozenset[str]:
    """Labels of the reference methods of a run folder."""
    found = (workspace.path / "tables" / "predictions").glob(f"{predict_step('*')}{_ENDING}")
    return frozenset(label for path in found if (label := predicted_label(path.name.removesuffix(_ENDING))) is not None)
