"""`build`: whole benchmarks. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console, evaluate
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.curation.footage import display_name
from inpaintbench.curation.labels import import_labels, read_labels
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Rejection
from inpaintbench.export.freeze import check_target
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import remember
from inpaintbench.types import Attribute, Dataset
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Build a whole benchmark: sources to frozen dataset.")

Behaviour = Annotated[str, typer.Option(help="corrected, or as-published (repeats the released code's choices).")]
Size = Annotated[str, typer.Option(metavar="WxH", help="Size of the clips.")]
PerSlice = Annotated[int, typer.Option(min=1, help="Pairs of clip and mask wanted in each slice.")]
CutScoreLimit = Annotated[
    float | None, typer.Option(min=0, max=1, help="Clips with a higher cut score are dropped.", show_default="0.3")
]
LevelShare = Annotated[
    float | None, typer.Option(min=0.01, max=0.5, help="Share of the clips labelled low, and high.", show_default="0.16")
]
LevelLimit = Annotated[int | None, typer.Option(min=1, help="Most clips labelled low, and high.", show_default="150")]
Seed = Annotated[int, typer.Option(help="Of every random choice of the corrected behaviour.")]

BEHAVIOURS = ("corrected", "as-published")
DEMO_CLIPS = 13
DEMO_PER_SLICE = 2
DEMO_SIZE = "288x160"


def devil_recipe(
    *, behaviour: str, size: str, per_slice: int, seed: int, thresholds: Mapping[str, Any] = MappingProxyType({})
) -> devil.DevilRecipe:
    """The recipe that the options ask for; one clear sentence when they make no sense. None among thresholds = default."""
    width, height = parse_size(size)
    if behaviour not in BEHAVIOURS:
        raise InputError(unknown_name("behaviour", behaviour, list(BEHAVIOURS)))
    chosen = {name: value for name, value in thresholds.items() if value is not None}
    return devil.DevilRecipe(behaviour=behaviour, width=width, height=height, per_slice=per_slice, seed=seed, **chosen)


def parse_size(size: str) -> tuple[int, int]:
    """``832x480`` -> (832, 480)."""
    if not re.fullmatch(r"[0-9]{2,4}x[0-9]{2,4}", size) or min(map(int, size.split("x"))) < 16:
        raise InputError(f"size {size!r} is not WxH with sides of 16 to 9999, such as 832x480")
    width, height = map(int, size.split("x"))
    return width, height


@app.command("devil")
def build_devil(
    sources: Annotated[Path, typer.Option(help="Folder of videos, searched recursively.")],
    out: Annotated[Path, typer.Option(help="Workspace to make or go on with.")],
    labels: Annotated[Path | None, typer.Option(help="CSV of labels: subject,name,value (see `curation label`).")] = None,
    behaviour: Behaviour = "corrected",
    size: Size = "832x480",
    per_slice: PerSlice = 150,
    seed: Seed = 0,
    cut_score_limit: CutScoreLimit = None,
    level_share: LevelShare = None,
    level_limit: LevelLimit = None,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """A DEVIL-style benchmark from your own footage; run it again to go on after an interruption."""
    thresholds = {"cut_score_limit": cut_score_limit, "level_share": level_share, "level_limit": level_limit}
    recipe = devil_recipe(behaviour=behaviour, size=size, per_slice=per_slice, seed=seed, thresholds=thresholds)
    source = devil.SourceSpec("folder", {"folder": str(sources)})
    folder, dataset = _build(recipe, source, out, labels, workers, max_failures, retry_rejected)
    console.out.print(f"Dataset: {folder}", markup=False)
    console.out.print(f'Load it: datasets.load_dataset("{folder}", "{dataset.slices[0].name}", split="test")', markup=False)
    console.out.print(f"Check it: inpaintbench export verify {folder}", markup=False)


def _build(
    recipe: devil.DevilRecipe, source: devil.SourceSpec, out: Path, labels: Path | None,
    workers: int, max_failures: int | None, retry_rejected: bool,
) -> tuple[Path, Dataset]:  # fmt: skip
    # What can be wrong with the arguments is told before any work.
    check_target(out / "exports" / "devil")
    if labels:
        read_labels(labels)
    workspace = Workspace(out)
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        remember(workspace, recipe)
        devil.curate(recipe, source, executor, workspace)
        if labels:
            import_labels(workspace, labels)
        else:
            workspace.write_table("attributes", "labels", [], Attribute)
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
    doubts = [row for row in workspace.table("attributes", Attribute, step="mask_levels") if row.name == "label_doubts"]
    unsure = sum(row.value != "none" for row in doubts)
    where = "; the others are named in the attribute label_doubts of their items" if unsure else ""
    console.out.print(f"{len(doubts) - unsure} of {len(doubts)} masks measure as their preset promises{where}", markup=False)
    refused = [row for row in workspace.table("rejected", Rejection) if row.step != "pair"]
    for row in refused[:10]:
        console.out.print(f"refused by {row.step}: {display_name(row.name)}: {row.reason}", markup=False)
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
