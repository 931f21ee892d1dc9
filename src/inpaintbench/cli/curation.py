"""`curation`: sources to labelled clips, a stage at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inpaintbench.cli import console
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers
from inpaintbench.curation import measuring
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.footage import display_name
from inpaintbench.curation.labels import import_labels
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Rejection
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import check, recall, remember
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Attribute, Clip, Selection, Source
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Find footage, cut it into clips, measure, label and select them.")
InWorkspace = Annotated[Path, typer.Argument(help="The workspace.")]


@app.command()
def clips(
    sources: Annotated[Path, typer.Option(help="Folder of videos, searched recursively.")],
    out: Annotated[Path, typer.Option(help="Workspace to make or go on with.")],
    behaviour: Annotated[str, typer.Option(help="corrected or as-published.")] = "corrected",
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the clips.")] = "832x480",
    per_slice: Annotated[int, typer.Option(min=1, help="Pairs wanted in each slice.")] = 150,
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Find, probe, cut and normalise footage."""
    from inpaintbench.cli.build import devil_recipe

    recipe = devil_recipe(behaviour=behaviour, size=size, per_slice=per_slice, seed=seed)
    specs = [SourceSpec("folder", {"folder": str(sources)})]
    check(recipe, specs)
    workspace = Workspace(out)
    with console.running(workspace, workers=workers, max_failures=max_failures, retry_rejected=retry_rejected) as executor:
        remember(workspace, recipe)
        devil.curate(recipe, specs, executor, workspace)
    made = workspace.table("clips", Clip)
    console.out.print(f"{len(made)} clips from {len({clip.source_id for clip in made})} sources in {out}", markup=False)


@app.command()
def measure(
    workspace: InWorkspace,
    attribute: Annotated[list[str], typer.Option(help=f"One of: {', '.join(ATTRIBUTES)}. May be given again.")],
    workers: Workers = WORKERS,
) -> None:
    """Measure attributes of all clips."""
    opened = Workspace(workspace, create=False)
    for name in attribute:
        ATTRIBUTES.get(name)  # a misspelt name is told before any work
    with console.running(opened, workers=workers) as executor:
        for name in attribute:
            rows = measuring.measure(executor, opened.table("clips", Clip), leaf=name).records
            missing = sum(row.value is None for row in rows)
            console.out.print(f"{name}: {len(rows) - missing} values, {missing} without", markup=False)


@app.command()
def label(
    workspace: InWorkspace, file: Annotated[Path, typer.Argument(help="CSV with the columns subject, name, value.")]
) -> None:
    """Bring in labels that people made, such as scene_motion_level low/high."""
    opened = Workspace(workspace, create=False)
    with opened.locked():
        rows = import_labels(opened, file)
    console.out.print(f"{len(rows)} labels; run `inpaintbench curation select {workspace}` to use them", markup=False)


@app.command()
def select(
    workspace: InWorkspace,
    cut_score_limit: Annotated[
        float | None, typer.Option(min=0, max=1, help="Clips with a higher cut score are dropped.")
    ] = None,
    level_share: Annotated[float | None, typer.Option(min=0.01, max=0.5, help="Share labelled low, and high.")] = None,
    level_limit: Annotated[int | None, typer.Option(min=1, help="Most clips labelled low, and high.")] = None,
    workers: Workers = WORKERS,
) -> None:
    """Drop clips with cuts and label the rest low or high; thresholds given here are kept, and nothing is decoded again."""
    opened = Workspace(workspace, create=False)
    given = {"cut_score_limit": cut_score_limit, "level_share": level_share, "level_limit": level_limit}
    recalled = recall(opened)
    if not isinstance(recalled, devil.DevilRecipe):
        raise InputError(f"the recipe {recalled.kind!r} has no thresholds to change; `inpaintbench masks pair` applies its rules")
    recipe = recalled.model_copy(update={name: value for name, value in given.items() if value is not None})
    with console.running(opened, workers=workers) as executor:
        remember(opened, recipe)
        devil.label(recipe, executor, opened)
    judged = opened.table("selection", Selection)
    dropped = [row for row in judged if not row.keep]
    console.out.print(f"{len(judged) - len(dropped)} clips kept, {len(dropped)} dropped", markup=False)


@app.command()
def why(
    workspace: InWorkspace, clip: Annotated[str, typer.Argument(help="A clip id or its beginning, or the path of its source.")]
) -> None:
    """Print every measurement and rule behind the keeping or dropping of a clip."""
    opened = Workspace(workspace, create=False)
    sources = {row.source_id: row for row in opened.table("sources", Source)}
    clips = opened.table("clips", Clip)
    matches = [row for row in clips if row.clip_id.startswith(clip) or display_name(sources[row.source_id].uri) == clip]
    if len(matches) != 1:
        ids = ", ".join(row.clip_id for row in (matches or clips)[:5])
        raise InputError(f"{len(matches)} clips are called {clip!r}; name one by its id, such as {ids}")
    found = matches[0]
    source = sources[found.source_id]
    span = f"frames {found.start_frame}..{found.end_frame - 1}"
    console.out.print(f"clip {found.clip_id}: {span} of {display_name(source.uri)}", markup=False)
    subjects = {found.clip_id: "clip", found.source_id: "source"}
    facts = [row for row in opened.table("attributes", Attribute) if row.subject_id in subjects]
    rows = [(subjects[row.subject_id], row.name, row.value, row.reason, row.producer) for row in facts]
    console.print_table("Measurements and labels", ["of", "name", "value", "reason", "producer"], rows)
    judged = [row for row in opened.table("selection", Selection) if row.clip_id == found.clip_id]
    verdicts = [(row.rule, row.value, "keep" if row.keep else "drop", row.reason) for row in judged]
    if verdicts:
        console.print_table("Rules", ["rule", "value", "verdict", "reason"], verdicts)
    else:
        console.out.print("No rule applies to it.", markup=False)


@app.command()
def rejected(workspace: InWorkspace) -> None:
    """List everything that was refused, with the reason."""
    rows = Workspace(workspace, create=False).table("rejected", Rejection)
    for row in rows:
        console.out.print(f"{row.step}: {display_name(row.name)}: {row.reason}", markup=False)
    empty = sum(row.step == "pair" for row in rows)
    slices = f", and {empty} slices without items" if empty else ""
    console.out.print(f"{len(rows) - empty} refused{slices}", markup=False)
