"""`export diff`: what changed between two versions of a dataset."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from inpaintbench.cli import console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.exits import UsageError

_SHOWN = 20


def diff(
    old: Annotated[str, typer.Argument(metavar="A", help="Folder of a frozen dataset, or OWNER/NAME on the Hub.")],
    new: Annotated[str, typer.Argument(metavar="B", help="The same, of the later version.")],
    changelog: Annotated[bool, typer.Option("--changelog", help="Print Markdown for a changelog.")] = False,
    shown: Annotated[int, typer.Option("--show", min=1, help="Most lines of a kind.")] = _SHOWN,
    old_revision: Annotated[str | None, typer.Option(help="Of A on the Hub.", show_default="main")] = None,
    new_revision: Annotated[str | None, typer.Option(help="Of B on the Hub.", show_default="main")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what changed between two datasets, from their manifests alone; exit status 0 whether or not they differ.

    Example: inpaintbench export diff exports/devil-1.0 exports/devil --changelog
    """
    from inpaintbench.export.diff import difference, manifest_of
    from inpaintbench.export.diff_text import as_json as plain
    from inpaintbench.export.diff_text import changelog as markdown
    from inpaintbench.export.diff_text import lines

    if changelog and as_json:
        raise UsageError("--changelog prints Markdown and --json JSON; give one of them")
    found = difference(manifest_of(old, revision=old_revision), manifest_of(new, revision=new_revision))
    if as_json:
        print_json(plain(found))
    elif changelog:
        sys.stdout.write(markdown(found))
    else:
        for line in lines(found, shown=shown):
            console.out.print(line, markup=False)
