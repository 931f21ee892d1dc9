"""The recipes in the form that comes nearest to their publications, and where that form still differs."""

from __future__ import annotations

from typing import Any

from inpaintbench.deviations import Deviation, holding
from inpaintbench.recipes import settings, stages
from inpaintbench.recipes.decaption import DecaptionRecipe
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.editing import EditingRecipe
from inpaintbench.recipes.fingerprint import FingerprintRecipe
from inpaintbench.recipes.humans import HumansRecipe
from inpaintbench.recipes.reinpaint import ReinpaintRecipe

# Recipes without a choice of behaviours leave open, and state as deviations, what was not published.
PUBLISHED: tuple[Any, ...] = (
    DevilRecipe(behaviour="as-published"),
    ReinpaintRecipe(),
    HumansRecipe(),
    DecaptionRecipe(behaviour="as-published", form="challenge"),
    FingerprintRecipe(behaviour="as-published"),
    EditingRecipe(behaviour="as-published"),
)


def all_deviations(recipe: Any) -> list[tuple[str, Deviation]]:
    """Return where a recipe differs from what it follows, each with the leaf that states it, or "" for the recipe's own."""
    own = holding(recipe.deviations, recipe.model_dump())
    leaves = [
        stages.leaf_class(kind, name) for kind, names in settings.stages_of(recipe).leaves_of(recipe).items() for name in names
    ]
    stated = [(leaf.name, deviation) for leaf in leaves for deviation in holding(leaf.deviations, recipe.model_dump())]
    return [("", deviation) for deviation in own] + stated
