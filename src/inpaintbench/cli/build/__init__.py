"""`build`: whole benchmarks, a module each. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

import typer

from inpaintbench.cli.build.decaption import build_decaption
from inpaintbench.cli.build.devil import build_devil, demo, devil_recipe
from inpaintbench.cli.build.fingerprint import build_fingerprint
from inpaintbench.cli.build.humans import build_humans
from inpaintbench.cli.build.reinpaint import build_reinpaint
from inpaintbench.cli.build.running import parse_size

__all__ = ["app", "demo", "devil_recipe", "parse_size"]

app = typer.Typer(no_args_is_help=True, help="Build a whole benchmark: sources to frozen dataset.")
app.command("devil")(build_devil)
app.command("reinpaint")(build_reinpaint)
app.command("humans")(build_humans)
app.command("decaption")(build_decaption)
app.command("fingerprint")(build_fingerprint)
