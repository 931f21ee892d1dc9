"""Whole benchmarks: each recipe is a class with every choice, in a module with the four stages that ``stages`` describes."""

from __future__ import annotations

from typing import Any

from inpaintbench.catalogue import Catalogue

RECIPES: Catalogue[Any] = Catalogue(
    "recipe",
    {
        "devil": "inpaintbench.recipes.devil:DevilRecipe",
        "reinpaint": "inpaintbench.recipes.reinpaint:ReinpaintRecipe",
        "humans": "inpaintbench.recipes.humans:HumansRecipe",
        "fingerprint": "inpaintbench.recipes.fingerprint:FingerprintRecipe",
        "decaption": "inpaintbench.recipes.decaption:DecaptionRecipe",
        "editing": "inpaintbench.recipes.editing:EditingRecipe",
    },
)
