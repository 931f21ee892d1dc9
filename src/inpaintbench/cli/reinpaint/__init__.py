"""`eval reinpaint`: inpaint results again and compare (re-inpainting self-consistency)."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from inpaintbench.cli.reinpaint.scoring import grid, score
from inpaintbench.cli.reinpaint.testing import paper, selection, stability


class _Group(TyperGroup):
    """`eval reinpaint DATASET` is `eval reinpaint score DATASET`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the usual command in front of what names none."""
        asks = not args or args[0] in ("--help", *self.commands)
        return super().parse_args(ctx, args if asks else ["score", *args])


app = typer.Typer(
    cls=_Group, no_args_is_help=True,
    help="Re-inpainting self-consistency: `eval reinpaint DATASET --run RUN` scores, the other commands tabulate and test it.",
)  # fmt: skip

for _command in (score, grid, stability, selection, paper):
    app.command()(_command)
