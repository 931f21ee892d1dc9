"""What every built benchmark is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from footage import contents

from inpaintbench import frozen
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export import layout
from inpaintbench.export.verify import verify
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace


def built(path: Path, recipe: Any, *sources: SourceSpec, workers: int = 0) -> tuple[Workspace, Path, Dataset]:
    workspace = Workspace(path)
    with LocalExecutor(workspace, workers=workers) as executor:
        folder, dataset = build(recipe, list(sources), executor, workspace)
    return workspace, folder, dataset


def check_published(folder: Path) -> None:
    """Every config and split loads as the manifest says, and every file decodes to what it says."""
    result = verify(folder)
    assert result.problems == []
    dataset = frozen.load(folder)
    assert result.configs == len(layout.configs(dataset))
    media = [layout.media_names(row) for row in dataset.items]
    assert result.cells >= sum(map(len, media))


def check_same_bytes(one: Path, other: Path) -> None:
    expected = contents(one)
    assert len(expected) > 10
    assert contents(other) == expected
