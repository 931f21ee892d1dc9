"""`build`: whole benchmarks. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import console, evaluate
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.curation.footage import display_name
from inpaintbench.curation.labels import import_labels
from inpaintbench.executors.base import Rejection
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import remember
from inpaintbench.types import Dataset
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Build a whole benchmark: sources to frozen dataset.")

Behaviour = Annotated[str, typer.Option(help="corrected, or as-published (repeats the released code's choices).")]
Size = Annotated[str, typer.Option(metavar="WxH", help="Size of the clips.")]
PerSlice = Annotated[int, typer.Option(min=1, help="Pairs of clip and mask wanted in each slice.")]
Seed = Annotated[int, typer.Option(help="Of every random choice of the corrected behaviour.")]

DEMO_CLIPS = 16
DEMO_PER_SLICE = 2
DEMO_SIZE = "416x240"


def devil_recipe(*, behaviour: str, size: str, per_slice: int, seed: int) -> devil.DevilRecipe:
    """The recipe that the options ask for; one clear sentence when they make no sense."""
    width, height = parse_size(size)
    if behaviour not in ("corrected", "as-published"):
        raise typer.BadParameter(f"unknown behaviour {behaviour!r}, choose from corrected, as-published")
    return devil.DevilRecipe(behaviour=behaviour, width=width, height=height, per_slice=per_slice, seed=seed)


def parse_size(size: str) -> tuple[int, int]:
    """``832x480`` -> (832, 480)."""
    width, _, height = size.partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) >= 16 and int(height) >= 16):
        raise typer.BadParameter(f"size {size!r} is not WxH with sides of at least 16, such as 832x480")
    return int(width), int(height)


@app.command("devil")
def build_devil(
    sources: Annotated[Path, typer.Option(help="Folder of videos, searched recursively.")],
    out: Annotated[Path, typer.Option(help="Workspace to make or go on with.")],
    labels: Annotated[Path | None, typer.Option(help="CSV of labels: subject,name,value (see `curation label`).")] = None,
    behaviour: Behaviour = "corrected",
    size: Size = "832x480",
    per_slice: PerSlice = 150,
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """A DEVIL-style benchmark from your own footage; run it again to go on after an interruption."""
    recipe = devil_recipe(behaviour=behaviour, size=size, per_slice=per_slice, seed=seed)
    source = devil.SourceSpec("folder", {"folder": str(sources)})
    folder, dataset = _build(recipe, source, out, labels, workers, max_failures, retry_rejected)
    console.out.print(f"Dataset: {folder}", markup=False)
    console.out.print(f'Load it: datasets.load_dataset("{folder}", "{dataset.slices[0].name}", split="test")', markup=False)
    console.out.print(f"Check it: inpaintbench export verify {folder}", markup=False)


def _build(
    recipe: devil.DevilRecipe, source: devil.SourceSpec, out: Path, labels: Path | None,
    workers: int, max_failures: int | None, retry_rejected: bool,
) -> tuple[Path, Dataset]:  # fmt: skip
    workspace = Workspace(out)
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        remember(workspace, recipe)
        devil.curate(recipe, source, executor, workspace)
        if labels:
            import_labels(workspace, labels)
        devil.label(recipe, executor, workspace)
        devil.corrupt(recipe, executor, workspace)
        folder, dataset = devil.export(recipe, workspace)
    summarise(workspace, dataset, per_slice=recipe.per_slice)
    return folder, dataset


def summarise(workspace: Workspace, dataset: Dataset, *, per_slice: int) -> None:
    """Slices with their numbers, and how many files gave nothing."""
    rows = [(part.name, len(part.item_ids), _short(len(part.item_ids), per_slice)) for part in dataset.slices]
    rows += [(name, 0, f"left out: {reason}") for name, reason in dataset.left_out.items()]
    console.print_table("Slices", ["slice", "items", "remark"], rows)
    refused = [row for row in workspace.table("rejected", Rejection) if row.step != "pair"]
    for row in refused[:10]:
        console.out.print(f"{row.step}: {display_name(row.name)}: {row.reason}", markup=False)
    if len(refused) > 10:
        console.out.print(f"and {len(refused) - 10} more: inpaintbench curation rejected {workspace.path}", markup=False)


def _short(found: int, wanted: int) -> str:
    return "" if found >= wanted else f"{found} of {wanted} pairs wanted"


def demo(
    out: Annotated[Path, typer.Option(help="Workspace to make or go on with.")] = Path("demo"),
    workers: Workers = WORKERS,
) -> None:
    """Build, export, score and report a small benchmark from footage that comes with the program; needs no network."""
    begun = time.monotonic()
    width, height = parse_size(DEMO_SIZE)
    recipe = devil.DevilRecipe(name="inpaintbench demo", width=width, height=height, per_slice=DEMO_PER_SLICE)
    source = devil.SourceSpec("embedded", {"count": DEMO_CLIPS, "width": width, "height": height})
    folder, _ = _build(recipe, source, out, None, workers, None, False)
    evaluate.verify_loadable(folder)
    page = evaluate.evaluate(folder, run=out, methods=evaluate.DEMO_METHODS, protocol="devil/corrected", workers=workers)
    console.out.print(f"Done in {time.monotonic() - begun:.0f} s. Dataset: {console.shown(folder)}", markup=False)
    console.out.print(f"Report: {page.resolve()}", markup=False)
