"""`eval`: predict, score and report over a frozen dataset; needs nothing of the workspace that made it."""

from __future__ import annotations

from inpaintbench.catalogue import joined
from inpaintbench.cli.commands import group

_OF_WINGS = joined("command of eval")
app = group(
    {
        "run": "inpaintbench.cli.running_methods:run",
        "check": "inpaintbench.cli.checking:check_method",
        "predict": "inpaintbench.cli.predicting:predict",
        "score": "inpaintbench.cli.scoring:score",
        "score-folders": "inpaintbench.cli.scoring_folders:score_folders_command",
        "verify": "inpaintbench.cli.verifying:verify",
        "report": "inpaintbench.cli.reporting:report",
        "table": "inpaintbench.cli.table:table",
        "figure": "inpaintbench.cli.table:figure",
        "export": "inpaintbench.cli.table:export",
        "diagnose": "inpaintbench.cli.diagnosing:diagnose_command",
        "analysis": "inpaintbench.cli.reporting:analysis",
        "compare": "inpaintbench.cli.comparing:compare_command",
        "results": "inpaintbench.cli.handing_on:hand_on",
        "layouts": "inpaintbench.cli.running_methods:list_layouts",
        "list": "inpaintbench.cli.listing:list_leaves",
        **_OF_WINGS,
    },
    help="Run methods on a frozen dataset, score them, report.",
    panels={
        "Run and score": ("run", "check", "predict", "score", "score-folders", "verify", "layouts", "list"),
        "Look and compare": ("report", "diagnose", "compare", "table", "figure", "export", "analysis", "results"),
        **({"Of one paper, and leaderboards": tuple(_OF_WINGS)} if _OF_WINGS else {}),
    },
)
