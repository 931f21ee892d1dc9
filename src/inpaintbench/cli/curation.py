"""`curation`: sources to labelled clips, a stage at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from inpaintbench.catalogue import joined
from inpaintbench.cli import console
from inpaintbench.cli.build.running import Cuts, Described, Owned, make_recipe
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import Answer, InShard, InWorkspace, OutWorkspace, Processes, Running, records
from inpaintbench.cli.options import NONE_GIVEN, OR_ADDRESS, Among, Given, InSources, argument, of_recipe, option, parse_workspace
from inpaintbench.curation import measuring
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.sheets import import_answers, import_labels
from inpaintbench.errors import UsageError
from inpaintbench.executors.base import Rejection, is_note
from inpaintbench.files import display_name
from inpaintbench.pages.words import count
from inpaintbench.recipes import dataset_table, devil
from inpaintbench.recipes.settings import check_kind, recall, remember
from inpaintbench.recipes.stages import SourceSpec, check_sources, mark_duplicates, require
from inpaintbench.steps import PAIR
from inpaintbench.types import Clip, Download
from inpaintbench.workspace import Workspace

_HERE = "inpaintbench.cli.curation"
app = group(
    {
        **joined("command of curation"),
        **{name: f"{_HERE}:{name}" for name in ("clips", "measure", "duplicates", "label", "answers")},
        **{name: f"inpaintbench.cli.selecting:{name}" for name in ("select", "why", "funnel")},
        "rejected": f"{_HERE}:rejected",
        "merge": f"{_HERE}:merge",
    },
    help="Find footage, cut it into clips, measure, label and select them.",
)
_OF_FILES = ("probe", "source_rules", "bars", "cut")


def clips(
    *,
    out: OutWorkspace,
    sources: InSources | None = None,
    given: Annotated[
        Given, of_recipe(devil.DevilRecipe, "behaviour", "width", "cut_bars", "reader", "hdr", "per_slice", "seed")
    ] = NONE_GIVEN,
    cuts: Cuts = Cuts(),
    owning: Owned = Owned(),
    describing: Described = Described(),
    running: Running = Running(),
    shard: InShard = None,
) -> None:
    """Find, probe, cut and normalise footage. What a workspace was told before holds until it is told otherwise.

    Footage:
        sources (PATH|ADDRESS): Folder of videos, searched recursively; s3://bucket/films too. [default: what
            `curation fetch` brought into the workspace]

    Example: inpaintbench curation clips --sources FOLDER --out WORKSPACE --splitter shots --cut-bars
    """
    recipe = _recipe(out, {**describing.choices, **given, **cuts.choices(sized="width" in given)})
    folder = SourceSpec("folder", {"folder": str(sources), **owning.constants})
    spec = folder if sources else SourceSpec("fetched", {"workspace": str(out)})
    if owning.constants and not sources:
        raise UsageError(f"--footage-{next(iter(owning.constants))} is for footage of a folder; what is fetched states its own")
    check_sources([spec])
    workspace = Workspace(out, create=sources is not None, shard=console.parse_shard(shard))
    before = {clip.clip_id for clip in workspace.table("clips", Clip)}
    check_kind(workspace, recipe)
    with running.on(workspace) as executor:
        remember(workspace, recipe)
        dataset_table.keep(workspace, describing.over(dataset_table.kept(workspace)))
        made = devil.curate(recipe, [spec], executor, workspace)
    where = f" of shard {shard}" if shard else ""
    sentence = f"{count(len(made), 'clip')} from {count(len({clip.source_id for clip in made}), 'source')}{where} in {out}"
    console.say(sentence)
    if gone := len(before - {clip.clip_id for clip in made}) if not shard else 0:
        console.say(f"{count(gone, 'clip')} of before no longer in it; another folder or other options made what is missing")
    if refused := len({row.name for row in workspace.table("rejected", Rejection) if row.step in _OF_FILES}):
        console.say(f"{count(refused, 'file')} refused: inpaintbench curation rejected {out}")
    if not shard:
        console.tell_next("curation", "select", out)


def _recipe(out: Path, given: dict[str, Any]) -> devil.DevilRecipe:
    """The recipe of the workspace ``out`` with what is given changed; a new one where there is none, or of another kind.

    A new one has the default rules for footage of one's own, as ``build devil`` has them, unless it is as published.
    """
    begun = recall(Workspace(out, create=False)) if (out / "recipe.json").exists() else None
    kept = begun.model_dump() if isinstance(begun, devil.DevilRecipe) else {}
    recipe = make_recipe(devil.DevilRecipe, kept | given)
    if kept and recipe.behaviour == kept["behaviour"]:
        return recipe
    off = devil.switched_off(["all"] if recipe.behaviour == "as-published" else [])
    return recipe.model_copy(update={"rules": devil.in_place(recipe, without=off)})


def measure(
    workspace: InWorkspace,
    *,
    attribute: Annotated[list[str] | None, Among(ATTRIBUTES)] = None,
    running: Running = Running(),
    shard: InShard = None,
) -> None:
    """Measure attributes of all clips. Each clip is decoded once for all of them.

    Args:
        attribute: One of: {names}. May be given again. [default: all]

    Example: inpaintbench curation measure WORKSPACE --attribute camera_motion --attribute cut_score
    """
    opened = Workspace(workspace, create=False, shard=console.parse_shard(shard))
    leaves: dict[str, dict[str, Any]] = {name: {} for name in attribute or ATTRIBUTES}
    for name in leaves:
        ATTRIBUTES.get(name)  # a misspelt name is told before any work
    stored = opened.table("clips", Clip)
    require(stored, "clips", "curation clips")
    mine = [clip for clip in stored if opened.takes(clip.source_id)]
    with running.on(opened) as executor:
        outcomes = measuring.measure_together(executor, mine, leaves=leaves)
    for name, outcome in outcomes.items():
        missing = [row for row in outcome.records if row.value is None]
        why = f", such as: {missing[0].reason}" if missing else ""
        failed = f", {len(outcome.rejected)} failed" if outcome.rejected else ""
        console.say(f"{name}: {len(outcome.records) - len(missing)} values, {len(missing)} without{why}{failed}")
    console.tell_next("curation", "select", workspace)


def duplicates(workspace: InWorkspace, *, same_source: bool = False, running: Processes = Running()) -> None:
    """Find clips that are near-duplicates. The rule `duplicate_share`, below = 0.01, missing = "keep" drops them.

    Args:
        same_source: Also clips of one source.

    Example: inpaintbench curation duplicates WORKSPACE --same-source
    """
    opened = Workspace(workspace, create=False)
    with running.on(opened) as executor:
        rows = mark_duplicates(executor, opened, same_source=same_source)
    doubles = sum(row.name == "duplicate_of" and row.value is not None for row in rows)
    console.say(f"{doubles} of {len(rows) // 2} clips are near-duplicates of another")
    console.tell_next("curation", "select", workspace)


def label(workspace: InWorkspace, file: Path) -> None:
    """Bring in labels that people made, as bg_scene_motion_level.

    Args:
        file: CSV with the columns subject, name, value.

    Example: inpaintbench curation label WORKSPACE labels.csv
    """
    opened = Workspace(workspace, create=False)
    with console.writing(opened):
        rows = import_labels(opened, file)
    console.say(f"{len(rows)} labels")
    console.tell_next("curation", "select", workspace)


def answers(workspace: InWorkspace, file: Path) -> None:
    """Bring in what people answered, such as keep or reject.

    Args:
        file: CSV with the columns clip, answer, and perhaps question, reason, rater.

    Example: inpaintbench curation answers WORKSPACE answers.csv
    """
    opened = Workspace(workspace, create=False)
    with console.writing(opened):
        rows = import_answers(opened, file)
    draws = sum(row.answer is None for row in rows)
    console.say(f"{len(rows)} answers" + (f", {draws} of them a draw" if draws else ""))


def rejected(workspace: InWorkspace) -> Answer:
    """List everything that was refused, with the reason.

    Example: inpaintbench curation rejected WORKSPACE
    """
    opened = Workspace(workspace, create=False)
    rows = opened.table("rejected", Rejection)
    lost = [row for row in opened.table("downloads", Download) if row.status != "obtained"]
    refused = [(row.step, display_name(row.name), row.reason, "note" if is_note(row.step) else "refused") for row in rows]
    refused += [(f"fetch {row.fetcher}", row.name, row.reason or "", row.status) for row in lost]
    sentences = [f"{row.step}: {display_name(row.name)}: {row.reason}" for row in rows]
    sentences += [f"fetch {row.fetcher}: {row.name}: {row.status}: {row.reason}" for row in lost]
    empty, notes = sum(row.step == PAIR for row in rows), sum(is_note(row.step) for row in rows)
    beside = [f", and {count(notes, 'note')}"] * (notes > 0) + [f", and {empty} slices without items"] * (empty > 0)
    sentences.append(f"{len(rows) + len(lost) - empty - notes} refused{''.join(beside)}")
    return Answer(records(("step", "name", "reason", "status"), refused), *sentences)


def merge(
    first: InWorkspace,
    second: Annotated[Path, argument("Another one with the same recipe.", parser=parse_workspace)],
    *,
    out: Annotated[Path, option("New workspace.", **OR_ADDRESS)],
) -> None:
    """Make one workspace of two. What both have counts once, and nothing is computed again.

    Example: inpaintbench curation merge WORKSPACE OTHER --out BOTH
    """
    from inpaintbench.recipes import merging

    made = merging.merge(Workspace(first, create=False), Workspace(second, create=False), out)
    for name in made.renamed:
        console.warn(f"the first has other footage of that name, so this is called {display_name(name)}")
    console.say(f"{count(made.clips, 'clip')} of {count(made.sources, 'source')}, {made.in_both} in both: {console.shown(out)}")
    # Of those at an address none may be here yet.
    here, there = first.glob("exports/*/dataset.json"), first.glob("published/*.json")
    published = sorted({*(path.parent.name for path in here), *(path.stem for path in there)})
    pair = f"masks pair {out}" + (f" --append-to {first / 'exports' / published[0]}" if published else "")
    console.say(f"Go on with `inpaintbench curation select {out}`, `{pair}` and `export freeze {out}`")
    if published:
        console.say(
            "--append-to keeps what is published there; without it, items are those of the footage of the last builds alone"
        )
