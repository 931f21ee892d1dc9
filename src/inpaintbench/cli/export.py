"""`export`: freeze a dataset and prove it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import console, publishing
from inpaintbench.cli.converting import convert
from inpaintbench.errors import VerifyError
from inpaintbench.export.verify import verify as verify_dataset
from inpaintbench.recipes.settings import export, recall
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Freeze items and slices into a dataset that anyone can load and verify.")
app.command()(convert)
app.command("push")(publishing.push)
app.command("fetch")(publishing.fetch)


@app.command()
def freeze(
    workspace: Annotated[Path, typer.Argument(help="The workspace.")],
    to: Annotated[Path | None, typer.Option(help="Dataset folder.", show_default="WORKSPACE/exports/RECIPE")] = None,
) -> None:
    """Write the frozen dataset of a workspace; an older one there is replaced whole."""
    opened = Workspace(workspace, create=False)
    with opened.locked():
        folder, dataset = export(recall(opened), opened, target=to)
    console.out.print(f"{len(dataset.items)} items in {len(dataset.slices)} slices: {folder}", markup=False)


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="A frozen dataset.")],
    decoder: Annotated[
        str | None, typer.Option(help="Second decoder: torchcodec, ffmpeg or decord.", show_default="the first installed")
    ] = None,
) -> None:
    """Re-hash every file, load every config, decode every cell; exit status 1 on any difference."""
    with console.progress() as told:
        result = verify_dataset(folder, decoder=decoder, progress=told)
    for problem in result.problems[:50]:
        console.err.print(problem, markup=False)
    if result.problems:
        raise VerifyError(f"{folder} differs from its manifest in {len(result.problems)} places")
    second = (
        f"{result.second_decoder} agrees with PyAV to {result.largest_difference} levels"
        if result.second_decoder
        else 'no second decoder installed (pip install "inpaintbench[export]")'
    )
    console.out.print(
        f"{folder}: {result.files} files, {result.configs} configs, {result.cells} cells equal the manifest", markup=False
    )
    console.out.print(second, markup=False)
