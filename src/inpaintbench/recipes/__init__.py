"""Whole benchmarks: each recipe is a class with every choice, in a module with the four stages that ``stages`` describes."""

from __future__ import annotations

from typing import Any

from inpaintbench.catalogue import Catalogue

# Of the module of a recipe, of its command under `build` and, in capitals, of what ``about`` says of it.
NAMES = ("devil", "removal", "benchmark")
RECIPES: Catalogue[Any] = Catalogue("recipe", {name: f"inpaintbench.recipes.{name}:{name.capitalize()}Recipe" for name in NAMES})
