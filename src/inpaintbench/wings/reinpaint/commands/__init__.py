"""`eval reinpaint`: inpaint results again and compare (re-inpainting self-consistency)."""

from __future__ import annotations

from inpaintbench.cli.commands import group

app = group(
    {
        "score": "inpaintbench.wings.reinpaint.commands.scoring:score",
        "grid": "inpaintbench.wings.reinpaint.commands.scoring:grid",
        "stability": "inpaintbench.wings.reinpaint.commands.testing:stability",
        "selection": "inpaintbench.wings.reinpaint.commands.testing:selection",
        "paper": "inpaintbench.wings.reinpaint.commands.testing:paper",
    },
    help="Re-inpainting self-consistency. `eval reinpaint DATASET --run RUN` scores, the other commands tabulate and test it.",
    usual="score",
)
