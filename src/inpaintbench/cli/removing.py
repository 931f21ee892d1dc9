"""`export remove`: take items, clips or sources out of every later export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.exits import UsageError
from inpaintbench.export import removed
from inpaintbench.workspace import Workspace


def remove(
    workspace: Annotated[Path, typer.Argument(help="The workspace.")],
    items: Annotated[
        list[str] | None, typer.Option("--item", metavar="ID", help="May be given again.", show_default="none")
    ] = None,
    clips: Annotated[
        list[str] | None, typer.Option("--clip", metavar="ID", help="May be given again.", show_default="none")
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="ID|URI", help="As the dataset has it; may be given again.", show_default="none"),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="Published in the place of the items, so name nobody.", show_default="none")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Put back what was removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take items, clips or sources out of every later export; ids of the others stay. Without any, tell what is taken out.

    Example: inpaintbench export remove WORKSPACE --source films/a.mp4 --reason "withdrawn by its author"
    """
    named = [(kind, name) for kind, names in (("item", items), ("clip", clips), ("source", sources)) for name in names or ()]
    opened = Workspace(workspace, create=False)
    if not named:
        if undo or reason is not None:
            raise UsageError("say what: --item, --clip or --source")
        _tell(removed.orders(opened), as_json=as_json)
        return
    with opened.locked():
        if undo:
            if reason is not None:
                raise UsageError("--undo puts back, which needs no --reason")
            done = removed.undo(opened, named)
        elif reason is None:
            raise UsageError('a removal needs a reason, which is published: --reason "withdrawn by its author"')
        else:
            done = removed.remove(opened, named, reason=reason)
    _tell(done, as_json=as_json, title="Put back" if undo else "Taken out")
    if not as_json:
        console.out.print(
            f"{'Put back' if undo else 'Removed'}: {sum(len(one.items) for one in done)} items; export the dataset again with"
            " `inpaintbench export freeze`",
            markup=False,
        )


def _tell(orders: list[removed.Order], *, as_json: bool, title: str = "Taken out") -> None:
    if as_json:
        print_json(orders)
        return
    rows = [(one.kind, one.subject_id, len(one.items), one.reason) for one in orders]
    if rows:
        console.print_table(title, ["kind", "id", "items", "reason"], rows)
    else:
        console.out.print("Nothing is taken out.", markup=False)
