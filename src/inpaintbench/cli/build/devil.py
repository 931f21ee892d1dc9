"""`build devil`, and `demo`: a small one with methods, scores and a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import completing, console, reporting
from inpaintbench.cli.build.running import (
    BEHAVIOURS,
    Behaviour,
    Demo,
    Out,
    Seed,
    given_alone,
    make_recipe,
    one_of,
    parse_size,
    summarise,
    told,
)  # fmt: skip
from inpaintbench.cli.console import WORKERS, Hdr, MaxFailures, Memory, Ray, RetryRejected, Running, Workers
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.fetching import AllowPrivate, Contact
from inpaintbench.cli.fetching_flickr import Licences, Uploaded
from inpaintbench.curation.fetching import FETCHERS
from inpaintbench.curation.fetching.flickr_client import connect
from inpaintbench.curation.fetching.step import fetch
from inpaintbench.curation.labels import import_labels, read_labels
from inpaintbench.curation.rules import Rule, read_rules
from inpaintbench.download import Limits
from inpaintbench.executors.base import Executor
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

PLACES = ("folder", "flickr", "fetched")
FOREGROUND_LIMIT = 0.1
"""Of boxes of a detector; the published benchmark states no number for its masks."""
FLICKR_RULES = (
    Rule(attribute="probe.orientation", equals="landscape", name="landscape"),
    Rule(attribute="probe.bits_per_second", above=1_000_000, name="bit rate"),
)
"""As the published benchmark filters; its third rule, 1920x1080, is the default of ``--least``."""

DEMO_CLIPS = 13
DEMO_PER_SLICE = 2
DEMO_SIZE = "288x160"


def build_devil(
    context: typer.Context,
    out: Out,
    source: Annotated[
        str, typer.Option(autocompletion=completing.names(PLACES), help=f"Where footage comes from: {', '.join(PLACES)}.")
    ] = "folder",
    sources: Sources = None,
    demo: Demo = False,
    query: Annotated[str, typer.Option(help="Of flickr: words in title, description or tags.")] = "",
    users: Annotated[list[str] | None, typer.Option(help="Of flickr: user name or NSID. May be given again.")] = None,
    uploaded: Uploaded = "",
    licence: Licences = None,
    most: Annotated[int | None, typer.Option(min=1, help="Of flickr: videos, the first uploaded.", show_default="all")] = None,
    least: Annotated[str, typer.Option(metavar="WxH", help="Of flickr: smallest pictures.")] = "1920x1080",
    contact: Contact = "",
    allow_private: AllowPrivate = False,
    review: Annotated[
        bool | None, typer.Option(help="Wait until people have answered keep for a clip.", show_default="of flickr alone")
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="TOML file of rules that clips must fulfil.")] = None,
    labels: Annotated[Path | None, typer.Option(help="CSV of labels: subject,name,value (see `curation label`).")] = None,
    behaviour: Behaviour = "corrected",
    size: Size = "832x480",
    per_slice: PerSlice = 150,
    seed: Seed = 0,
    cut_score_limit: CutScoreLimit = None,
    foreground_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Clips that show more of objects are dropped; 1 = no limit.",
            show_default="0.1 of flickr, else no limit",
        ),
    ] = None,
    level_share: LevelShare = None,
    level_limit: LevelLimit = None,
    cut_bars: Annotated[bool, typer.Option("--cut-bars", help="Cut letterbox and pillarbox bars off.")] = False,
    hdr: Hdr = "exclude",
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
    ray: Ray = None,
    memory: Memory = None,
) -> None:
    """A DEVIL-style benchmark from your own footage or from Flickr; run it again to go on after an interruption.

    Example: inpaintbench build devil --sources FOLDER --out WORKSPACE --per-slice 20
    """
    running = Running(workers, max_failures, retry_rejected, ray, memory)
    if demo:
        one_of(sources, demo, "--sources FOLDER")
        given_alone(context, "demo", "out", "labels", "workers", "max_failures", "retry_rejected", "ray", "memory")
        recipe, spec = demo_recipe()
        told(*build_devil_in(out, recipe, spec, labels=labels, running=running))
        return
    _check_place(source, sources, query=query, users=users, uploaded=uploaded, licence=licence, most=most)
    online = source == "flickr"
    limit = foreground_limit if foreground_limit is not None else FOREGROUND_LIMIT if online else None
    chosen = {
        "cut_score_limit": cut_score_limit, "level_share": level_share, "level_limit": level_limit, "cut_bars": cut_bars,
        "hdr": hdr, "review": online if review is None else review,
        "rules": _rules(rules, foreground_limit=limit, least=parse_size(least) if online else None),
    }  # fmt: skip
    recipe = devil_recipe(behaviour=behaviour, size=size, per_slice=per_slice, seed=seed, thresholds=chosen)
    if source == "folder":
        spec = SourceSpec("folder", {"folder": str(sources)})
    else:
        spec = SourceSpec("fetched", {"workspace": str(out), **({"fetcher": "flickr"} if source == "flickr" else {})})
    before: Callable[[Executor], object] | None = None
    if online:
        limits = Limits(allow_private=allow_private, contact=contact)
        asked = {
            "query": query, "users": users or [], "uploaded": uploaded, "licences": licence or [], "orientation": "landscape",
            "most": most, "minimum_width": parse_size(least)[0], "minimum_height": parse_size(least)[1],
        }  # fmt: skip
        # What is wrong with the question or the key is told before there is a folder.
        FETCHERS.get("flickr")(**asked)
        connect()
        before = partial(fetch, leaf_name="flickr", constants=asked, limits=limits)
    told(*build_devil_in(out, recipe, spec, labels=labels, running=running, before=before))


def _check_place(source: str, sources: Path | None, **of_flickr: Any) -> None:
    if source not in PLACES and Path(source).exists():
        raise UsageError(f"--source is a kind of place, one of {', '.join(PLACES)}; a folder of videos is --sources {source}")
    if source not in PLACES:
        raise UsageError(unknown_name("source", source, list(PLACES)))
    if (source == "folder") != (sources is not None):
        raise UsageError(
            "give either --sources FOLDER or --demo"
            if source == "folder"
            else f"--sources names a folder, and {source!r} is none"
        )
    if source != "flickr" and (given := [name for name, value in of_flickr.items() if value]):
        raise UsageError(f"--{given[0]} is for --source flickr alone")
    if source == "flickr" and not any(of_flickr.get(name) for name in ("query", "users")):
        raise UsageError("--source flickr needs --query WORDS or --users NAME")


def _rules(path: Path | None, *, foreground_limit: float | None, least: tuple[int, int] | None) -> tuple[Rule, ...]:
    """The rules of a file, those of the published benchmark for footage from Flickr, and the one on foreground objects."""
    found = tuple(read_rules(path)) if path else ()
    if least is not None:
        sides = zip(("probe.width", "probe.height"), least, strict=True)
        found = (*FLICKR_RULES, *(Rule(attribute=side, at_least=pixels) for side, pixels in sides), *found)
    if foreground_limit is not None and foreground_limit < 1:
        found = (*found, Rule(attribute="foreground_fraction", at_most=foreground_limit, name="no foreground objects"))
    return tuple(found)


def devil_recipe(
    *, behaviour: str, size: str, per_slice: int, seed: int, thresholds: Mapping[str, Any] = MappingProxyType({})
) -> devil.DevilRecipe:
    """The recipe that the options ask for; one clear sentence when they make no sense. None among thresholds = default."""
    width, height = parse_size(size)
    if behaviour not in BEHAVIOURS:
        raise UsageError(unknown_name("behaviour", behaviour, list(BEHAVIOURS)))
    chosen = {name: value for name, value in thresholds.items() if value is not None}
    given = {"behaviour": behaviour, "width": width, "height": height, "per_slice": per_slice, "seed": seed}
    return make_recipe(devil.DevilRecipe, given | chosen)


def build_devil_in(
    out: Path, recipe: devil.DevilRecipe, source: SourceSpec, *, labels: Path | None = None, running: Running,
    before: Callable[[Executor], object] | None = None,
) -> tuple[Path, Dataset]:  # fmt: skip
    """Build, with labels from a file, and say what came of it; ``before`` fetches footage where it is not here yet."""
    check_target(out / "exports" / recipe.kind)
    check(recipe, [source])
    if labels:
        read_labels(labels)
    workspace = Workspace(out)
    with running.on(workspace) as executor:
        remember(workspace, recipe)
        if before is not None:
            before(executor)
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
    """Build, export, score and report a small benchmark from footage that comes with the program; needs no network.

    Example: inpaintbench demo --out demo
    """
    begun = time.monotonic()
    recipe, source = demo_recipe()
    folder, _ = build_devil_in(out, recipe, source, running=Running(workers))
    reporting.verify_loadable(folder)
    page = reporting.evaluate(folder, run=out, methods=reporting.DEMO_METHODS, protocol="devil/corrected", workers=workers)
    console.out.print(f"Done in {time.monotonic() - begun:.0f} s. Dataset: {console.shown(folder)}", markup=False)
    console.out.print(f"Report: {page.resolve()}", markup=False)
