"""`export`: freeze a dataset and prove it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import console, publishing
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.converting import convert
from inpaintbench.cli.differing import diff
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.holding_back import tell_apart
from inpaintbench.cli.removing import remove
from inpaintbench.cli.verifying import verify
from inpaintbench.frozen import dataset_id, has_truth
from inpaintbench.recipes.holding_back import export_apart
from inpaintbench.recipes.settings import export, recall
from inpaintbench.recipes.versions import last, next_version
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Freeze items and slices into a dataset that anyone can load and verify.")
app.command()(convert)
app.command()(verify)
app.command()(diff)
app.command()(remove)
app.command("push")(publishing.push)
app.command("fetch")(publishing.fetch)


@app.command()
def freeze(
    workspace: Annotated[Path, typer.Argument(help="The workspace.")],
    to: Annotated[Path | None, typer.Option(help="Dataset folder.", show_default="WORKSPACE/exports/RECIPE")] = None,
    held: Annotated[
        list[str] | None,
        typer.Option(
            "--hold-back",
            metavar="SPLIT",
            help="Keep the truth of this split out of the dataset, in a second one called TO-truth; may be given again.",
            show_default="none",
        ),
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="X.Y.Z", help="Of the dataset.", show_default="the last one's, at first 1.0.0")
    ] = None,
    allow_near_duplicates: Annotated[
        str | None,
        typer.Option(metavar="WHY", help="Leave near-duplicates in different splits, for a reason that is published."),
    ] = None,
    allow_exposed: Annotated[
        str | None,
        typer.Option(
            metavar="WHY",
            help="With --hold-back: let inputs show what lies under each other's holes, for a reason that is published.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the frozen dataset of a workspace; an older one there is replaced whole.

    Example: inpaintbench export freeze WORKSPACE --to FOLDER
    """
    if allow_exposed is not None and not held:
        raise UsageError("--allow-exposed is for --hold-back; give both, or neither")
    opened = Workspace(workspace, create=False)
    how = {"version": version, "allow_near_duplicates": allow_near_duplicates}
    with console.writing(opened):
        before = last(opened)
        if held:
            made = list(export_apart(recall(opened), opened, splits=held, target=to, allow_exposed=allow_exposed, **how))
        else:
            made = [export(recall(opened), opened, target=to, **how)]
        now = last(opened)
    if as_json:
        print_json([_in_numbers(folder, dataset) for folder, dataset in made])
    elif len(made) == 2:
        tell_apart(made[0], made[1])
    else:
        [(folder, dataset)] = made
        console.out.print(f"{len(dataset.items)} items in {len(dataset.slices)} slices: {folder}", markup=False)
        console.out.print(f"It is {dataset_id(dataset)}", markup=False)
    if before.content not in (None, now.content) and before.version == now.version:
        console.warn(f"its content changed since the last export, its version did not; give it one of its own: --version"
                     f" {next_version(now.version)}")  # fmt: skip


def _in_numbers(folder: Path, dataset: Dataset) -> dict[str, object]:
    truths = sum(map(has_truth, dataset.items))
    return {
        "folder": folder, "id": dataset_id(dataset), "items": len(dataset.items), "with_truth": truths,
        "slices": {part.name: len(part.item_ids) for part in dataset.slices}, "left_out": dataset.left_out,
        "removed": len(dataset.removed),
    }  # fmt: skip
