"""`curation`: sources to labelled clips, a stage at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench import video
from inpaintbench.cli import completing, console, fetching, fetching_flickr, selecting
from inpaintbench.cli.answers import AsJson, print_json, records
from inpaintbench.cli.console import (
    HDR,
    WORKERS,
    InShard,
    MaxFailures,
    Memory,
    Ray,
    RetryRejected,
    Running,
    Workers,
    parse_leaf,
    parse_shard,
)
from inpaintbench.cli.exits import UsageError
from inpaintbench.curation import measuring
from inpaintbench.curation.answers import import_answers
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.footage import display_name
from inpaintbench.curation.labels import import_labels
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.executors.base import Rejection
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import recall, remember
from inpaintbench.recipes.stages import SourceSpec, check_sources, mark_duplicates, require
from inpaintbench.types import Clip, Download
from inpaintbench.workspace import Workspace

app = typer.Typer(no_args_is_help=True, help="Find footage, cut it into clips, measure, label and select them.")
app.add_typer(fetching.fetch_app, name="fetch")
fetching.fetch_app.command("flickr")(fetching_flickr.flickr)
_OF_FILES = ("probe", "source_rules", "bars", "cut")
InWorkspace = Annotated[Path, typer.Argument(help="The workspace.")]
Sources = Annotated[
    Path | None,
    typer.Option(help="Folder of videos, searched recursively.", show_default="what `curation fetch` brought into the workspace"),
]
Splitter = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[,CONSTANT=VALUE...]",
        autocompletion=completing.names(SPLITTERS),
        help=f"How sources are divided: {', '.join(SPLITTERS)}.",
        show_default="windows",
    ),
]
Normalizer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[,CONSTANT=VALUE...]",
        autocompletion=completing.names(NORMALIZERS),
        help=f"How frames get their size: {', '.join(NORMALIZERS)}.",
        show_default="cover",
    ),
]


@app.command()
def clips(
    out: Annotated[Path, typer.Option(help="Workspace to make or go on with.")],
    sources: Sources = None,
    behaviour: Annotated[
        str | None,
        typer.Option(
            autocompletion=completing.names(("corrected", "as-published")),
            help="corrected or as-published.",
            show_default="corrected",
        ),
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Size of the clips.", show_default="832x480")] = None,
    splitter: Splitter = None,
    normalizer: Normalizer = None,
    fps: Annotated[
        float | None,
        typer.Option(min=0, max=1000, help="Frames a second, by timestamps; 0 = each source's own.", show_default="0"),
    ] = None,
    cut_bars: Annotated[
        bool | None, typer.Option("--cut-bars/--no-cut-bars", help="Cut letterbox and pillarbox bars off.", show_default="no")
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            autocompletion=completing.names(video.READERS),
            help=f"Who looks for bars: {', '.join(video.READERS)}.",
            show_default="pyav",
        ),
    ] = None,
    hdr: Annotated[str | None, typer.Option(help=HDR, show_default="exclude")] = None,
    per_slice: Annotated[int | None, typer.Option(min=1, help="Pairs wanted in each slice.", show_default="150")] = None,
    seed: Annotated[int | None, typer.Option(help="Of every random choice.", show_default="0")] = None,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
    ray: Ray = None,
    memory: Memory = None,
    shard: InShard = None,
) -> None:
    """Find, probe, cut and normalise footage; what a workspace was told before holds until it is told otherwise.

    Example: inpaintbench curation clips --sources FOLDER --out WORKSPACE --splitter shots --cut-bars
    """
    given: dict[str, Any] = {
        "behaviour": behaviour, "fps": fps, "cut_bars": cut_bars, "reader": reader, "hdr": hdr, "per_slice": per_slice,
        "seed": seed,
    }  # fmt: skip
    given["splitter"] = parse_leaf(splitter, SPLITTERS) if splitter else None
    given["normalizer"] = parse_leaf(normalizer, NORMALIZERS) if normalizer else None
    if size and normalizer:
        raise UsageError("--size is the size of the default normalizer; write it into --normalizer, or give --size alone")
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    recipe = _recipe(out, size, chosen | ({"fps": None} if fps == 0 else {}))
    spec = SourceSpec("folder", {"folder": str(sources)}) if sources else SourceSpec("fetched", {"workspace": str(out)})
    check_sources([spec])
    workspace = Workspace(out, create=sources is not None, shard=parse_shard(shard))
    before = {clip.clip_id for clip in workspace.table("clips", Clip)}
    with Running(workers, max_failures, retry_rejected, ray, memory).on(workspace) as executor:
        remember(workspace, recipe)
        made = devil.curate(recipe, [spec], executor, workspace)
    where = f" of shard {shard}" if shard else ""
    told = f"{len(made)} clips from {len({clip.source_id for clip in made})} sources{where} in {out}"
    console.out.print(told, markup=False)
    if gone := len(before - {clip.clip_id for clip in made}) if not shard else 0:
        console.out.print(
            f"{gone} clips of before are no longer part of it; another folder or other options made them", markup=False
        )
    if refused := len({row.name for row in workspace.table("rejected", Rejection) if row.step in _OF_FILES}):
        console.out.print(f"{refused} files refused: inpaintbench curation rejected {out}", markup=False)


def _recipe(out: Path, size: str | None, given: dict[str, Any]) -> devil.DevilRecipe:
    """The recipe of the workspace ``out`` with what is given changed; a new one where there is none, or of another kind."""
    from inpaintbench.cli.build.running import make_recipe, parse_size

    begun = recall(Workspace(out, create=False)) if (out / "recipe.json").exists() else None
    kept = begun.model_dump() if isinstance(begun, devil.DevilRecipe) else {}
    if size is not None:
        given["width"], given["height"] = parse_size(size)
    return make_recipe(devil.DevilRecipe, kept | given)


@app.command()
def measure(
    workspace: InWorkspace,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=completing.names(ATTRIBUTES),
            help=f"One of: {', '.join(ATTRIBUTES)}. May be given again.",
            show_default="all",
        ),
    ] = None,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
    ray: Ray = None,
    memory: Memory = None,
    shard: InShard = None,
) -> None:
    """Measure attributes of all clips; each clip is decoded once for all of them.

    Example: inpaintbench curation measure WORKSPACE --attribute camera_motion --attribute cut_score
    """
    opened = Workspace(workspace, create=False, shard=parse_shard(shard))
    leaves: dict[str, dict[str, Any]] = {name: {} for name in attribute or ATTRIBUTES}
    for name in leaves:
        ATTRIBUTES.get(name)  # a misspelt name is told before any work
    stored = opened.table("clips", Clip)
    require(stored, "clips", "curation clips")
    mine = [clip for clip in stored if opened.takes(clip.source_id)]
    with Running(workers, max_failures, retry_rejected, ray, memory).on(opened) as executor:
        outcomes = measuring.measure_together(executor, mine, leaves=leaves)
    for name, outcome in outcomes.items():
        missing = [row for row in outcome.records if row.value is None]
        why = f", such as: {missing[0].reason}" if missing else ""
        failed = f", {len(outcome.rejected)} failed" if outcome.rejected else ""
        console.out.print(
            f"{name}: {len(outcome.records) - len(missing)} values, {len(missing)} without{why}{failed}", markup=False
        )


@app.command()
def duplicates(
    workspace: InWorkspace,
    same_source: Annotated[bool, typer.Option("--same-source", help="Also clips of one source.")] = False,
    workers: Workers = WORKERS,
) -> None:
    """Find clips that are near-duplicates; the rule `duplicate_share`, below = 0.01, missing = "keep" drops them.

    Example: inpaintbench curation duplicates WORKSPACE --same-source
    """
    opened = Workspace(workspace, create=False)
    with console.running(opened, workers=workers) as executor:
        rows = mark_duplicates(executor, opened, same_source=same_source)
    found = sum(row.name == "duplicate_of" and row.value is not None for row in rows)
    console.out.print(f"{found} of {len(rows) // 2} clips are near-duplicates of another", markup=False)


@app.command()
def label(
    workspace: InWorkspace, file: Annotated[Path, typer.Argument(help="CSV with the columns subject, name, value.")]
) -> None:
    """Bring in labels that people made, such as bg_scene_motion_level low/high.

    Example: inpaintbench curation label WORKSPACE labels.csv
    """
    opened = Workspace(workspace, create=False)
    with console.writing(opened):
        rows = import_labels(opened, file)
    console.out.print(f"{len(rows)} labels; run `inpaintbench curation select {workspace}` to use them", markup=False)


@app.command()
def answers(
    workspace: InWorkspace,
    file: Annotated[Path, typer.Argument(help="CSV with the columns clip, answer, and perhaps question, reason, rater.")],
) -> None:
    """Bring in what people answered, such as keep or reject.

    Example: inpaintbench curation answers WORKSPACE answers.csv
    """
    opened = Workspace(workspace, create=False)
    with console.writing(opened):
        rows = import_answers(opened, file)
    draws = sum(row.answer is None for row in rows)
    console.out.print(f"{len(rows)} answers" + (f", {draws} of them a draw" if draws else ""), markup=False)


app.command("select")(selecting.select)
app.command("why")(selecting.why)
app.command("funnel")(selecting.funnel)
app.command("recheck")(fetching.recheck)
app.command("attribution")(fetching.attribution)


@app.command()
def rejected(workspace: InWorkspace, as_json: AsJson = False) -> None:
    """List everything that was refused, with the reason.

    Example: inpaintbench curation rejected WORKSPACE
    """
    opened = Workspace(workspace, create=False)
    rows = opened.table("rejected", Rejection)
    lost = [row for row in opened.table("downloads", Download) if row.status != "obtained"]
    if as_json:
        columns = ("step", "name", "reason", "status")
        refused = [(row.step, display_name(row.name), row.reason, "refused") for row in rows]
        refused += [(f"fetch {row.fetcher}", row.name, row.reason or "", row.status) for row in lost]
        print_json(records(columns, refused))
        return
    for row in rows:
        console.out.print(f"{row.step}: {display_name(row.name)}: {row.reason}", markup=False)
    for download in lost:
        console.out.print(f"fetch {download.fetcher}: {download.name}: {download.status}: {download.reason}", markup=False)
    empty = sum(row.step == "pair" for row in rows)
    slices = f", and {empty} slices without items" if empty else ""
    console.out.print(f"{len(rows) + len(lost) - empty} refused{slices}", markup=False)
