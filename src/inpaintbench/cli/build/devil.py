"""`build devil`, and `demo`: a small one with methods, scores and a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console
from inpaintbench.cli.build import running as whole
from inpaintbench.cli.build.planning import Plan, say_what_it_tells, warn_of_few_films
from inpaintbench.cli.build.running import KIND, PLACES, Build, Cuts, Demo, Described, Out, Owned, Place, Published, Saved
from inpaintbench.cli.options import NONE_GIVEN, Among, Given, InSources, Share, bundle, joined_bundles, of_recipe, option
from inpaintbench.curation.rules import read_rules
from inpaintbench.curation.sheets import import_labels, read_labels
from inpaintbench.errors import UsageError
from inpaintbench.executors.base import Executor
from inpaintbench.recipes import devil, settings
from inpaintbench.recipes.options import SELECTION
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import LABELS
from inpaintbench.storage import Address
from inpaintbench.types import Attribute, Dataset
from inpaintbench.workspace import Workspace

# For signatures: what holds the options of all places that footage is from.
Places: Any = joined_bundles(KIND)
# Fields of the recipe that `build devil` asks for; `curation clips` asks for how films are cut, too.
OPTIONS = (
    "behaviour", "seed", "width", "hdr", "cut_bars", "design", "per_slice", "sliced_by", "cut_score_limit", "level_share",
    "level_limit", "strict_rules", "review", "masks_by_turn", "axes", "masks_per_clip", "imperfect", "splits",
)  # fmt: skip
# Options that the demo takes, besides its own.
RUNNING_OPTIONS = ("workers", "max_failures", "retry_rejected", "ray", "memory")
# Seven photographs, each filmed from a tripod and by a moving camera, are seven sources. With all of these films both axes come
# out as more than chance.
DEMO_CLIPS = DEMO_PER_SLICE = 14
DEMO_FRAMES = 48
DEMO_AXES = ("size", "camera_path")
DEMO_SIZE = (288, 160)


def build_devil(
    *,
    context: typer.Context,
    out: Out,
    source: Annotated[str, Among(PLACES)] = "folder",
    sources: InSources | None = None,
    demo: Demo = False,
    given: Annotated[Given, of_recipe(devil.DevilRecipe, *OPTIONS)] = NONE_GIVEN,
    rules: Path | None = None,
    foreground_limit: Share | None = None,
    without_rule: Annotated[
        list[str] | None,
        option(
            f"Switch off a default rule for footage of one's own: {', '.join(devil.OWN_FOOTAGE_RULES)}, or all. Repeatable.",
            default="none; all as published",
            among=(*devil.OWN_FOOTAGE_RULES, "all"),
            panel=SELECTION,
        ),
    ] = None,
    labels: Path | None = None,
    planning: Plan = Plan(),
    places: Annotated[Any, bundle(Places)] = Places(),
    cuts: Cuts = Cuts(),
    saving: Saved = Saved(),
    owning: Owned = Owned(),
    describing: Described = Described(),
    published: Published = Published(),
    running: console.Running = console.Running(),
) -> None:
    """Videos with blob masks, in pairs or in DEVIL's ten slices. Footage is yours or from Flickr; run it again to go on after an
    interruption.

    Footage:
        source: Where footage comes from: {names}.
        sources (PATH|ADDRESS): Folder of videos, searched recursively; s3://bucket/films too.

    Selection:
        rules: TOML file of rules that clips must fulfil.
        foreground_limit: Clips that show more of objects are dropped; 1 = no limit. [default: 0.05 of flickr, else no limit]
        labels: CSV of labels: subject,name,value (see `curation label`).

    Example: inpaintbench build devil --sources FOLDER --out WORKSPACE --per-slice 20
    """
    build = Build(describing, published, running)
    if demo:
        whole.one_of(sources, demo, "--sources FOLDER")
        whole.given_alone(
            context, "demo", "out", "labels", *RUNNING_OPTIONS, "dataset", "about", "append", "append_to", "replace"
        )
        recipe, spec = demo_recipe()
        recipe = recipe.model_copy(update=describing.choices)
        whole.told(*build_devil_in(out, recipe, spec, build, labels=labels))
        return
    place = _place_asked(source, sources, places)
    if place and owning.constants:
        raise UsageError(f"--footage-{next(iter(owning.constants))} is for footage of a folder; what is fetched states its own")
    least = place.least_size if place else None
    online = least is not None
    own = read_rules(rules) if rules else ()
    if without_rule and online:
        raise UsageError("--without-rule is for footage of one's own; what is from Flickr has the published rules")
    off = devil.switched_off(["all"] if given.get("behaviour") == "as-published" else without_rule or ())
    found = devil.rules_of_footage(own, foreground_limit=foreground_limit, least=least, without=off)
    of_masks = saving.choices(by_turn=bool(given.get("masks_by_turn")))
    append_to = published.folder(out / "exports" / devil.DevilRecipe.kind)
    design = _usual_design(given, out, own=place is None and not of_masks)
    chosen = {
        **({} if append_to else {"design": design}),
        "review": online,
        "rules": found,
        **cuts.choices(sized="width" in given),
        **of_masks,
        **describing.choices,
    }
    stated = {**chosen, **given}
    recipe = whole.make_recipe(devil.DevilRecipe, stated | settings.kept_by_growth(devil.DevilRecipe, stated, append_to))
    if planning.tell(recipe, sources, constants=owning.constants, out=out):
        return
    spec = place.source(out) if place else SourceSpec("folder", {"folder": str(sources), **owning.constants})
    fetching = place.fetching() if place else None
    whole.told(*build_devil_in(out, recipe, spec, build, labels=labels, fetching=fetching, masks=saving.saved_masks))


def _usual_design(given: Mapping[str, Any], out: Path, *, own: bool) -> str:
    """The design where nobody asks for one: that of the items that there are, else pairs of ``own`` footage."""
    if given.get("behaviour") == "as-published" or given.get("imperfect") or not own:
        return "slices"
    begun = Workspace(out) if (out / settings.FILE).is_file() else None
    return str(getattr(settings.recall(begun), "design", "slices")) if begun and begun.steps("items") else "paired"


def _place_asked(source: str, sources: Path | Address | None, places: Any) -> Place | None:
    """The place that is named; None for a folder of one's own."""
    if source not in PLACES and Path(source).exists():
        raise UsageError(f"--source is a kind of place, one of {', '.join(PLACES)}; a folder of videos is --sources {source}")
    if source not in PLACES:
        raise UsageError(unknown_name("source", source, list(PLACES)))
    if source == "folder" and sources is None:
        raise UsageError("give either --sources FOLDER or --demo")
    if source != "folder" and sources is not None:
        raise UsageError(f"--sources names a folder, and {source!r} is none")
    for name, place in vars(places).items():
        if name != source and place.asked:
            raise UsageError(f"--{place.asked[0]} is for --source {name} alone")
    asked: Place | None = vars(places).get(source)
    if asked:
        asked.check()
    return asked


def build_devil_in(
    out: Path, recipe: devil.DevilRecipe, source: SourceSpec, build: Build, *, labels: Path | None = None,
    fetching: Callable[[Executor], object] | None = None, masks: Path | None = None,
) -> tuple[Path, Dataset]:  # fmt: skip
    """Build, with labels from a file, and say what came of it; ``fetching`` brings footage where it is not here yet."""

    def take_labels(executor: Executor) -> None:
        if labels:
            import_labels(executor.workspace, labels)
        else:
            executor.workspace.write_table("attributes", LABELS, [], Attribute)

    if labels:
        read_labels(labels)
    before: settings.Before = {
        **({"curate": fetching} if fetching else {}),
        "label": take_labels,
        "corrupt": lambda executor: warn_of_few_films(recipe, executor.workspace),
    }
    workspace, folder, dataset = build.made(recipe, [source], out, {"masks": masks}, before=before)
    whole.summarise(workspace, dataset, per_slice=recipe.per_slice)
    say_what_it_tells(dataset)
    if words := devil.scene_motion_words(workspace, dataset):
        console.say(words)
    return folder, dataset


def demo_recipe() -> tuple[devil.DevilRecipe, SourceSpec]:
    """The recipe and the source of `demo`."""
    width, height = DEMO_SIZE
    recipe = devil.DevilRecipe(
        name="inpaintbench demo", width=width, height=height, design="paired", per_slice=DEMO_PER_SLICE,
        masks_per_clip=1, axes=DEMO_AXES, sliced_by=DEMO_AXES[:1],
        level_share=0.5, clip_frames=DEMO_FRAMES,
    )  # fmt: skip
    constants = {"count": DEMO_CLIPS, "width": width, "height": height, "frames": DEMO_FRAMES, "stills_and_pans": True}
    return recipe, SourceSpec("embedded", constants)


def demo(*, out: Out = Path("demo"), running: console.Processes = console.Running()) -> None:
    """Build, score and report a small benchmark. Its footage comes with the program; needs no network.

    Example: inpaintbench demo --out demo
    """
    begun = time.monotonic()
    recipe, source = demo_recipe()
    folder, _ = build_devil_in(out, recipe, source, Build(running=running))
    from inpaintbench.cli import reporting

    page = reporting.evaluate(folder, run=out, methods=reporting.DEMO_METHODS, protocol="devil/corrected", running=running)
    console.say(f"Done in {time.monotonic() - begun:.0f} s. Dataset: {console.shown(folder)}")
    console.say(f"Report: {page.resolve()}")
    score = f"inpaintbench eval run {console.shown(folder)} --run {console.shown(out)} --method MODULE:NAME --report"
    console.say(f"Next: open the report in a browser, then score a method of your own beside these: {score}")
