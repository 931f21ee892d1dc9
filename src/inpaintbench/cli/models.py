"""`models`: parameters of the networks that some attributes and metrics use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import completing, console
from inpaintbench.cli.answers import AsJson, print_json, records
from inpaintbench.cli.exits import UsageError
from inpaintbench.download import Limits
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import fetching
from inpaintbench.models.weights import Weights, known, located, named, state

app = typer.Typer(no_args_is_help=True, help="Fetch, import and check the parameters of networks.")

Names = Annotated[
    list[str] | None, typer.Argument(autocompletion=completing.names(known()), help="Which ones.", show_default="all")
]
Fetched = Annotated[
    list[str] | None,
    typer.Argument(autocompletion=completing.names(known()), help="Which ones.", show_default="all that have a public address"),
]


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List the known files, whether they are here, and who needs them.

    Example: inpaintbench models list
    """
    if as_json:
        columns = ("name", "state", "bytes", "licence", "used_by", "file", "sha256", "origin")
        found = [
            (one.name, state(one), one.bytes, one.licence, one.used_by, one.file, one.sha256, one.origin)
            for one in known().values()
        ]
        print_json(records(columns, found))
        return
    rows = [
        (weights.name, state(weights), weights.bytes, weights.licence, ", ".join(weights.used_by), weights.file)
        for weights in known().values()
    ]
    console.print_table("weights", ["name", "state", "bytes", "licence", "used by", "file"], rows)


@app.command()
def fetch(
    names: Fetched = None,
    mirror: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="Another address of the same bytes; for one name.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Longest time for one file, with all tries.")] = 3600.0,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also from loopback, private and link-local addresses.")
    ] = False,
) -> None:
    """Bring files into the cache folder from their public addresses, checked by their SHA-256.

    Without names all but those that only non-commercial work may use.

    Example: inpaintbench models fetch alexnet
    """
    chosen = [named(name) for name in names] if names else [one for one in known().values() if mirror or _for_everybody(one)]
    if mirror and len(chosen) != 1:
        raise UsageError(f"--from gives one file, {len(chosen)} were asked for: name one of {', '.join(known())}")
    for weights in chosen:
        address = mirror or weights.origin or "no known address"
        console.out.print(f"{weights.name}: {weights.licence}, {weights.bytes / 1e6:.1f} MB, from {address}", markup=False)
        limits = Limits(most_bytes=weights.bytes, seconds=seconds, allow_private=allow_private)
        path = fetching.fetch(weights, limits=limits, mirror=mirror)
        console.out.print(f"{weights.name}: {console.shown(path)}", markup=False)


def _for_everybody(weights: Weights) -> bool:
    return bool(weights.origin) and "Noncommercial" not in weights.licence


@app.command()
def verify(names: Names = None) -> None:
    """Check the files that are here; exit status 1 when one is missing or damaged.

    Example: inpaintbench models verify alexnet raft-small
    """
    wrong = 0
    for weights in [named(name) for name in names or known()]:
        try:
            console.out.print(f"{weights.name}: ready, {console.shown(located(weights))}", markup=False)
        except NotMeasurable as error:
            wrong += 1
            console.out.print(f"{weights.name}: {error}", markup=False)
    if wrong:
        console.stop(f"{wrong} of the weights cannot be used")


@app.command("import")
def import_file(file: Annotated[Path, typer.Argument(help="A file under any name.")]) -> None:
    """Copy a file into the cache folder; which one it is, its bytes tell.

    Example: inpaintbench models import downloads/alexnet.pth
    """
    weights = fetching.import_file(file)
    console.out.print(f"{weights.name}: imported, {weights.licence}, used by {', '.join(weights.used_by)}", markup=False)
