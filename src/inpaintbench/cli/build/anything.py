"""`build RECIPE` of recipes that join no command of their own: a folder of footage, and the options of the recipe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from inpaintbench.cli.build.running import Build, Building, Out, Owned, Owning
from inpaintbench.cli.options import NONE_GIVEN, Given, of_recipe
from inpaintbench.recipes import RECIPES
from inpaintbench.recipes.stages import SourceSpec


def __getattr__(name: str) -> Callable[..., None]:
    """``build_RECIPE``."""
    beginning, _, recipe = name.partition("build_")
    if beginning or recipe not in RECIPES:
        raise AttributeError(name)
    kind: Any = RECIPES.get(recipe)

    def build_it(
        *, out: Out, sources: Path, given: Given = NONE_GIVEN, owning: Owning = Owned(), build: Building = Build()
    ) -> None:
        footage = SourceSpec("folder", {"folder": str(sources), "media": getattr(kind, "media", "video"), **owning.constants})
        build.run(build.recipe(kind, {}, given), [footage], out)

    build_it.__annotations__["given"] = Annotated[Given, of_recipe(kind)]
    build_it.__doc__ = (
        f"{kind().name}.\n\nFootage:\n    sources: Folder of films or pictures, searched recursively.\n\n"
        f"Example: inpaintbench build {recipe} --sources FOLDER --out WORKSPACE"
    )
    return build_it
