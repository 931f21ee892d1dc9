"""Submissions of several people and the site that compares them. Everything in a submission is untrusted."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "command of eval": {
        "submit": "inpaintbench.wings.leaderboard.commands:submit",
        "leaderboard": "inpaintbench.wings.leaderboard.commands:leaderboard",
    },
    "page of a command": {"leaderboard.html": "leaderboard"},
    "rows of a leaderboard": {"leaderboard.json": "inpaintbench.wings.leaderboard.write:rows_in"},
}
