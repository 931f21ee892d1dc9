"""A workspace remembers the recipe it was begun with, so that every later stage can be run on its own."""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import BaseModel, ValidationError

from inpaintbench.errors import InputError
from inpaintbench.recipes import RECIPES
from inpaintbench.types import canonical_json
from inpaintbench.workspace import Workspace, write_atomically

_FILE = "recipe.json"


def remember(workspace: Workspace, recipe: BaseModel) -> None:
    """Keep ``recipe`` in the workspace."""
    fields = {"recipe": recipe.kind, **recipe.model_dump(mode="json")}  # type: ignore[attr-defined]
    write_atomically(workspace.path / _FILE, canonical_json(fields).encode() + b"\n")


def recall(workspace: Workspace) -> Any:
    """The recipe of the workspace.

    Raises:
        InputError: there is none, or it is not a recipe.
    """
    path = workspace.path / _FILE
    try:
        fields = json.loads(path.read_text())
        return RECIPES.get(fields.pop("recipe"))(**fields)
    except FileNotFoundError as error:
        raise InputError(
            f"workspace {str(workspace.path)!r} has no recipe yet; begin with `inpaintbench curation clips`"
        ) from error
    except (ValueError, KeyError, AttributeError, TypeError, ValidationError) as error:
        raise InputError(f"{str(path)!r} is not a recipe: {str(error).splitlines()[0]}") from error


def stages_of(recipe: BaseModel) -> Any:
    """The module with the recipe's stages: ``curate``, ``label``, ``corrupt``, ``export``."""
    return sys.modules[type(recipe).__module__]


def build(recipe: BaseModel, sources: Any, executor: Any, workspace: Workspace, **corrupting: Any) -> Any:
    """All stages of a recipe; does only what is missing.

    Args:
        recipe: with every choice.
        sources: where footage comes from.
        executor: who does the work.
        workspace: where it is kept.
        corrupting: what the recipe's ``corrupt`` wants besides, such as the folder of saved masks.

    Returns:
        The dataset's folder and manifest.
    """
    remember(workspace, recipe)
    stages = stages_of(recipe)
    stages.curate(recipe, sources, executor, workspace)
    stages.label(recipe, executor, workspace)
    stages.corrupt(recipe, executor, workspace, **corrupting)
    return stages.export(recipe, workspace)
