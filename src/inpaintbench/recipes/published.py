"""The recipes in the form that comes nearest to their publications, and where that form still differs."""

from __future__ import annotations

import sys
from typing import Any

from inpaintbench.catalogue import Deviation, holding
from inpaintbench.recipes import RECIPES, settings, stages


def published() -> list[Any]:
    """The recipes that follow a publication, each in the form ``AS_PUBLISHED`` of its module, in the order of ``RECIPES``."""
    modules = [sys.modules[RECIPES.get(name).__module__] for name in RECIPES]
    return [module.AS_PUBLISHED for module in modules if hasattr(module, "AS_PUBLISHED")]


def all_deviations(recipe: Any) -> list[tuple[str, Deviation]]:
    """Return where a recipe differs from what it follows, each with the leaf that states it, or "" for the recipe's own."""
    own = holding(recipe.deviations, recipe.model_dump())
    leaves = [
        stages.leaf_class(kind, name) for kind, names in settings.stages_of(recipe).leaves_of(recipe).items() for name in names
    ]
    stated = [(leaf.name, deviation) for leaf in leaves for deviation in holding(leaf.deviations, recipe.model_dump())]
    return [("", deviation) for deviation in own] + stated
