"""`build devil`, and `demo`: a small one with methods, scores and a report."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console, evaluate
from inpaintbench.cli.build.running import BEHAVIOURS, Behaviour, Demo, Out, Running, Seed, one_of, parse_size, summarise, told
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.curation.labels import import_labels, read_labels
from inpaintbench.errors import InputError
from inpaintbench.export.freeze import check_target
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import check, corrupt, export, remember
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Attribute, Dataset
from inpaintbench.workspace import Workspace

Sources = Annotated[Path | None, typer.Option(help="Folder of videos, searched recursively.")]
Size = Annotated[str, typer.Option(metavar="WxH", help="Size of the clips.")]
PerSlice = Annotated[int, typer.Option(min=1, help="Pairs of clip and mask wanted in each slice.")]
CutScoreLimit = Annotated[
    float | None, typer.Option(min=0, max=1, help="Clips with a higher cut score are dropped.", show_default="0.3")
]
LevelShare = Annotated[
    float | None, typer.Option(min=0.01, max=0.5, help="Share of the clips labelled low, and high.", show_default="0.16")
]
LevelLimit = Annotated[int | None, typer.Option(min=1, help="Most clips labelled low, and high.", show_default="150")]

DEMO_CLIPS = 13
DEMO_PER_SLICE = 2
DEMO_SIZE = "288x160"


def build_devil(
    out: Out,
    sources: Sources = None,
    demo: Demo = False,
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
    one_of(sources, demo, "--sources FOLDER")
    if demo:
        recipe, source = demo_recipe()
    else:
        thresholds = {"cut_score_limit": cut_score_limit, "level_share": level_share, "level_limit": level_limit}
        recipe = devil_recipe(behaviour=behaviour, size=size, per_slice=per_slice, seed=seed, thresholds=thresholds)
        source = SourceSpec("folder", {"folder": str(sources)})
    running = Running(workers, max_failures, retry_rejected)
    folder, dataset = build_devil_in(out, recipe, source, labels=labels, running=running)
    told(folder, dataset)


def devil_recipe(
    *, behaviour: str, size: str, per_slice: int, seed: int, thresholds: Mapping[str, Any] = MappingProxyType({})
) -> devil.DevilRecipe:
    """The recipe that the options ask for; one clear sentence when they make no sense. None among thresholds = default."""
    width, height = parse_size(size)
    if behaviour not in BEHAVIOURS:
        raise InputError(unknown_name("behaviour", behaviour, list(BEHAVIOURS)))
    chosen = {name: value for name, value in thresholds.items() if value is not None}
    return devil.DevilRecipe(behaviour=behaviour, width=width, height=height, per_slice=per_slice, seed=seed, **chosen)


def build_devil_in(
    out: Path, recipe: devil.DevilRecipe, source: SourceSpec, *, labels: Path | None = None, running: Running
) -> tuple[Path, Dataset]:
    """Build, with labels from a file, and say what came of it."""
    check_target(out / "exports" / recipe.kind)
    check(recipe, [source])
    if labels:
        read_labels(labels)
    workspace = Workspace(out)
    with running.on(workspace) as executor:
        remember(workspace, recipe)
        devil.curate(recipe, [source], executor, workspace)
        if labels:
            import_labels(workspace, labels)
        else:
            workspace.write_table("attributes", "labels", [], Attribute)
        devil.label(recipe, executor, workspace)
        corrupt(recipe, executor, workspace)
        folder, dataset = export(recipe, workspace)
    summarise(workspace, dataset, per_slice=recipe.per_slice)
    return folder, dataset


def demo_recipe() -> tuple[devil.DevilRecipe, SourceSpec]:
    """What `demo` builds."""
    width, height = parse_size(DEMO_SIZE)
    recipe = devil.DevilRecipe(name="inpaintbench demo", width=width, height=height, per_slice=DEMO_PER_SLICE)
    return recipe, SourceSpec("embedded", {"count": DEMO_CLIPS, "width": width, "height": height})


def demo(
    out: Annotated[Path, typer.Option(help="Workspace to make or go on with.")] = Path("demo"),
    workers: Workers = WORKERS,
) -> None:
    """Build, export, score and report a small benchmark from footage that comes with the program; needs no network."""
    begun = time.monotonic()
    recipe, source = demo_recipe()
    folder, _ = build_devil_in(out, recipe, source, running=Running(workers))
    evaluate.verify_loadable(folder)
    page = evaluate.evaluate(folder, run=out, methods=evaluate.DEMO_METHODS, protocol="devil/corrected", workers=workers)
    console.out.print(f"Done in {time.monotonic() - begun:.0f} s. Dataset: {console.shown(folder)}", markup=False)
    console.out.print(f"Report: {page.resolve()}", markup=False)
