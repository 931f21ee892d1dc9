"""`export convert`: a frozen dataset in another layout."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import completing, console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.leaf_constants import check_constants
from inpaintbench.export.layouts import LAYOUTS
from inpaintbench.export.layouts.convert import convert as convert_dataset


def convert(
    dataset: Annotated[Path, typer.Argument(help="A frozen dataset.")],
    layout: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"One of: {', '.join(LAYOUTS)}.", autocompletion=completing.names(LAYOUTS)),
    ],
    out: Annotated[Path, typer.Option(help="New folder; one of an earlier conversion is replaced whole.")],
    slices: Annotated[
        list[str] | None,
        typer.Option("--slice", metavar="NAME", help="Only this slice; may be given again.", show_default="all"),
    ] = None,
    shard_megabytes: Annotated[
        int | None,
        typer.Option(min=1, help="Most media in one file, of embedded and webdataset.", show_default="500"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a frozen dataset in another layout, checked against its manifest.

    Example: inpaintbench export convert DATASET --layout webdataset --out SHARDS
    """
    constants = {} if shard_megabytes is None else {"shard_megabytes": shard_megabytes}
    check_constants(LAYOUTS.get(layout), constants, called=f"layout {layout!r}")
    with console.progress() as told:
        made = convert_dataset(dataset, layout=layout, out=out, slices=slices or (), constants=constants, progress=told)
    if as_json:
        print_json(made)
        return
    console.out.print(
        f"{made.items} items of {made.slices} slices in {made.files} files, {made.bytes / 1e6:.1f} MB: {made.folder}",
        markup=False,
    )
