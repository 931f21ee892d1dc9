"""`eval`: run, score and report over a frozen dataset; needs nothing of the workspace that made it."""

from __future__ import annotations

from inpaintbench.catalogue import joined
from inpaintbench.cli.commands import group

_OF_WINGS, _FORMER = joined("command of eval"), joined("former command of eval")
_SHOWN = tuple(name for name in _OF_WINGS if " " not in name and name not in _FORMER)
app = group(
    {
        "run": "inpaintbench.cli.running_methods:run",
        "run --for predictions": "inpaintbench.cli.predicting:predict",
        "run --for scores": "inpaintbench.cli.scoring:score",
        "check": "inpaintbench.cli.running_methods:check_method",
        "run --for folders": "inpaintbench.cli.scoring:score_folders_command",
        "verify": "inpaintbench.cli.scoring:verify",
        "report": "inpaintbench.cli.reporting:report",
        "report --for analysis": "inpaintbench.cli.reporting:analysis",
        "report --for hub": "inpaintbench.cli.table:hand_on",
        "compare": "inpaintbench.cli.reporting:compare_command",
        "diagnose": "inpaintbench.cli.table:diagnose_command",
        "table": "inpaintbench.cli.table:table",
        "table --for rows": "inpaintbench.cli.table:export",
        "figure": "inpaintbench.cli.table:figure",
        "paper": "inpaintbench.cli.paper:paper",
        "layouts": "inpaintbench.cli.running_methods:list_layouts",
        "layouts env": "inpaintbench.cli.running_methods:environment",
        "list": "inpaintbench.cli.running_methods:list_leaves",
        **_OF_WINGS,
    },
    help="Run methods on a frozen dataset, score them, report.",
    panels={
        "Run and score": ("run", "check", "verify", "layouts", "list"),
        "Look and compare": ("report", "compare", "diagnose", "table", "figure", "paper"),
        **({"Train, submit, and people's judgement": _SHOWN} if _SHOWN else {}),
    },
    former={
        "predict": "eval run --for predictions",
        "score": "eval run --for scores",
        "score-folders": "eval run --for folders",
        "analysis": "eval report --for analysis",
        "results": "eval report --for hub",
        "export": "eval table --for rows",
        "layouts check": "eval check",
        **_FORMER,
    },
)
