"""How methods are scored on a dataset."""

from __future__ import annotations

from inpaintbench.export.card.words import code, table
from inpaintbench.types import Dataset

_BASELINES = {"fingerprint": "oriented_gabor", "decaption": "decaption_median", "editing": "edit_recolour"}
"""Recipe -> a method that needs no weights."""


def scoring(dataset: Dataset) -> list[str]:
    """Commands, and the protocols with their fingerprints."""
    recipe = str(dataset.recipe.get("recipe"))
    lines = [
        "## Score a method",
        "",
        "```",
        f"inpaintbench eval predict PATH --run RUN --method {_BASELINES.get(recipe, 'telea')}",
        "inpaintbench eval score   PATH --run RUN",
        *(["inpaintbench eval reinpaint PATH --run RUN"] if recipe == "reinpaint" else []),
        "inpaintbench eval report  PATH --run RUN",
        "```",
        "",
        "`--saved NAME=FOLDER` scores predictions that were made elsewhere.",
    ]
    protocols = dataset.facts.get("protocols", ())
    if not protocols:
        return [*lines, ""]
    rows = [
        [code(one["name"]), code(one["fingerprint"]), "unless another is asked for" if one.get("usual") else ""]
        for one in protocols
    ]
    return [
        *lines,
        "A protocol states every constant that a number depends on; numbers compare where the fingerprints are equal.",
        "",
        *table(["protocol", "fingerprint", "used"], rows),
    ]
