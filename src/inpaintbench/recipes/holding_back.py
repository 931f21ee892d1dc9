"""Export a benchmark in two parts: inputs for everybody, and the truth of some splits apart."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from inpaintbench.export.freeze import check_target
from inpaintbench.export.holding_back import hold_back
from inpaintbench.recipes.settings import export
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace


def export_apart(
    recipe: BaseModel, workspace: Workspace, *, splits: Sequence[str], target: Path | None = None,
    allow_exposed: str | None = None, **how: str | None,
) -> tuple[tuple[Path, Dataset], tuple[Path, Dataset]]:  # fmt: skip
    """The stage ``export`` of a recipe, and then ``hold_back``; the whole is not left anywhere.

    Args:
        recipe: of the workspace.
        workspace: with items.
        splits: those whose truth is held back.
        target: folder of the public dataset, by default ``WORKSPACE/exports/RECIPE``; the truth goes beside it, ``-truth``
            after the name.
        allow_exposed: why inputs may show what lies under the holes of others; published where they do.
        how: what ``export`` takes besides.

    Returns:
        Folder and manifest of the public dataset, and of the one with the truth.

    Raises:
        InputError: items that are missing or out of date, or what ``hold_back`` refuses.
        UnknownNameError: no such split.
        WorkspaceError: not writable.
    """
    public = target or workspace.path / "exports" / str(recipe.kind)  # type: ignore[attr-defined]
    truth, whole = public.with_name(f"{public.name}-truth"), public.with_name(f".{public.name}.whole")
    for folder in (public, truth):
        check_target(folder)
    shutil.rmtree(whole, ignore_errors=True)  # of a run that was killed
    try:
        export(recipe, workspace, target=whole, **how)
        shown, kept = hold_back(whole, splits=splits, public=public, truth=truth, allow_exposed=allow_exposed)
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    return (public, shown), (truth, kept)
