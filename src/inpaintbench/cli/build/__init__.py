"""`build`: whole benchmarks. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

from inpaintbench.catalogue import joined
from inpaintbench.cli.commands import group
from inpaintbench.recipes import NAMES, RECIPES

_OWN = {name: f"inpaintbench.cli.build.{'devil' if name == 'devil' else 'folders'}:build_{name}" for name in NAMES}
_COMMANDS = _OWN | joined("command of build")
app = group(
    _COMMANDS | {name: f"inpaintbench.cli.build.folders:build_{name}" for name in RECIPES if name not in _COMMANDS},
    help="Build a whole benchmark: sources to frozen dataset.",
)
