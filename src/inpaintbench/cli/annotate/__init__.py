"""`annotate`: studies, the rater's browser app, and what answers come to."""

from __future__ import annotations

from inpaintbench.cli.commands import group

app = group(
    {
        "demo": "inpaintbench.cli.annotate.running:demo",
        "studies": "inpaintbench.cli.annotate.studies:list_shipped",
        "new": "inpaintbench.cli.annotate.studies:new",
        "prepare": "inpaintbench.cli.annotate.studies:prepare",
        "upload": "inpaintbench.cli.annotate.studies:upload",
        "serve": "inpaintbench.cli.annotate.running:serve",
        "invite": "inpaintbench.cli.annotate.running:invite",
        "raters": "inpaintbench.cli.annotate.running:raters",
        "revoke": "inpaintbench.cli.annotate.running:revoke",
        "space": "inpaintbench.cli.annotate.studies:space",
        "crowd": "inpaintbench.cli.annotate.studies:crowd",
        "platform": "inpaintbench.cli.annotate.platform:app",
        "withdraw": "inpaintbench.cli.annotate.studies:withdraw",
        "close": "inpaintbench.cli.annotate.studies:close",
        "resume": "inpaintbench.cli.annotate.running:resume",
        "exclude": "inpaintbench.cli.annotate.running:exclude",
        "include": "inpaintbench.cli.annotate.running:include",
        "screen": "inpaintbench.cli.annotate.results:screen",
        "status": "inpaintbench.cli.annotate.running:status",
        "plan": "inpaintbench.cli.annotate.studies:plan",
        "agreement": "inpaintbench.cli.annotate.results:agreement",
        "ranking": "inpaintbench.cli.annotate.results:ranking",
        "report": "inpaintbench.cli.annotate.results:report",
        "resolve": "inpaintbench.cli.annotate.results:resolve",
        "export": "inpaintbench.cli.annotate.results:export",
        "import": "inpaintbench.cli.annotate.results:import_file",
        "backup": "inpaintbench.cli.annotate.running:backup",
        "restore": "inpaintbench.cli.annotate.running:restore",
    },
    help="Ask people: judgements in the browser, agreement, rankings.",
)
