"""`build`: whole benchmarks, a module each. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

from inpaintbench.catalogue import joined
from inpaintbench.cli.commands import group
from inpaintbench.recipes import NAMES

app = group(
    {name: f"inpaintbench.cli.build.{name}:build_{name}" for name in NAMES} | joined("command of build"),
    help="Build a whole benchmark: sources to frozen dataset.",
)
