"""A workspace remembers the recipe it was begun with, so that every later stage can be run on its own."""

from __future__ import annotations

import json

from pydantic import ValidationError

from inpaintbench.errors import InputError
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.types import canonical_json
from inpaintbench.workspace import Workspace, write_atomically

_FILE = "recipe.json"


def remember(workspace: Workspace, recipe: DevilRecipe) -> None:
    """Keep ``recipe`` in the workspace."""
    write_atomically(workspace.path / _FILE, canonical_json({"recipe": "devil", **recipe.model_dump()}).encode() + b"\n")


def recall(workspace: Workspace) -> DevilRecipe:
    """The recipe of the workspace.

    Raises:
        InputError: there is none, or it is not a recipe.
    """
    path = workspace.path / _FILE
    try:
        fields = json.loads(path.read_text())
        fields.pop("recipe")
        return DevilRecipe(**fields)
    except FileNotFoundError as error:
        raise InputError(
            f"workspace {str(workspace.path)!r} has no recipe yet; begin with `inpaintbench curation clips`"
        ) from error
    except (ValueError, KeyError, AttributeError, TypeError, ValidationError) as error:
        raise InputError(f"{str(path)!r} is not a recipe: {str(error).splitlines()[0]}") from error
