"""`eval run --for reinpainting`: inpaint results again and compare (re-inpainting self-consistency)."""

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
    help="Former names: score is `eval run --for reinpainting` now, stability `eval run --for stability`, grid `eval table --for "
    "reinpainting`, selection `eval table --for selection`, paper `eval table --for reinpainting-paper`.",
    former={
        "score": "eval run --for reinpainting",
        "grid": "eval table --for reinpainting",
        "stability": "eval run --for stability",
        "selection": "eval table --for selection",
        "paper": "eval table --for reinpainting-paper",
    },
    usual="score",
)
