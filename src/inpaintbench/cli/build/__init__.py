"""`build`: whole benchmarks, a module each. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

from inpaintbench.catalogue import joined
from inpaintbench.cli.commands import group
from inpaintbench.recipes import NAMES, RECIPES

_OWN = {name: f"inpaintbench.cli.build.{name}:build_{name}" for name in NAMES} | joined("command of build")
app = group(
    _OWN | {name: f"inpaintbench.cli.build.anything:build_{name}" for name in RECIPES if name not in _OWN},
    help="Build a whole benchmark: sources to frozen dataset.",
)
