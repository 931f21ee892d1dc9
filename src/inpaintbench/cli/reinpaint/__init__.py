"""`eval reinpaint`: inpaint results again and compare (re-inpainting self-consistency)."""

from __future__ import annotations

from inpaintbench.cli.commands import group

app = group(
    {
        "score": "inpaintbench.cli.reinpaint.scoring:score",
        "grid": "inpaintbench.cli.reinpaint.scoring:grid",
        "stability": "inpaintbench.cli.reinpaint.testing:stability",
        "selection": "inpaintbench.cli.reinpaint.testing:selection",
        "paper": "inpaintbench.cli.reinpaint.testing:paper",
    },
    help="Re-inpainting self-consistency. `eval reinpaint DATASET --run RUN` scores, the other commands tabulate and test it.",
    usual="score",
)
