"""`build`: whole benchmarks. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console, evaluate
from inpaintbench.cli.console import WORKERS, MaxFailures, RetryRejected, Workers, constant
from inpaintbench.curation.footage import display_name
from inpaintbench.curation.labels import import_labels, read_labels
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.freeze import check_target
from inpaintbench.export.layout import by_split, splits
from inpaintbench.masks.block_json import read_blocks
from inpaintbench.masks.overlays.fonts import BUNDLED, installed_families
from inpaintbench.recipes import devil
from inpaintbench.recipes.decaption import DecaptionRecipe
from inpaintbench.recipes.humans import HumansRecipe
from inpaintbench.recipes.reinpaint import ReinpaintRecipe
from inpaintbench.recipes.settings import build, check, corrupt, export, remember
from inpaintbench.recipes.stages import SourceSpec
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
DEMO_PEOPLE = 24
DEMO_FILMS = {"count": 10, "width": 240, "height": 160, "frames": 156}
"""5.2 s at 30 frames a second: one clip each."""
SAVED_DEFAULTS = {"resize": True, "lengthen": "to_and_fro"}
"""A folder of masks rarely fits pictures that it was not made for."""
Recipe = TypeVar("Recipe", bound=BaseModel)


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


Sources = Annotated[Path | None, typer.Option(help="Folder of videos, searched recursively.")]
Out = Annotated[Path, typer.Option(help="Workspace to make or go on with.")]
Demo = Annotated[bool, typer.Option("--demo", help="Small, from material that comes with the program; needs no network.")]


@app.command("devil")
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
    _one_of(sources, demo, "--sources FOLDER")
    if demo:
        recipe, source = demo_recipe()
    else:
        thresholds = {"cut_score_limit": cut_score_limit, "level_share": level_share, "level_limit": level_limit}
        recipe = devil_recipe(behaviour=behaviour, size=size, per_slice=per_slice, seed=seed, thresholds=thresholds)
        source = SourceSpec("folder", {"folder": str(sources)})
    running = Running(workers, max_failures, retry_rejected)
    folder, dataset = build_devil_in(out, recipe, source, labels=labels, running=running)
    _told(folder, dataset)


@app.command("reinpaint")
def build_reinpaint(
    out: Out,
    sources: Annotated[Path | None, typer.Option(help="Folder of pictures (videos with --frames), searched recursively.")] = None,
    demo: Demo = False,
    size: Annotated[int | None, typer.Option(min=16, help="Side of the square pictures.", show_default="512")] = None,
    pictures: Annotated[int, typer.Option(min=1, help="Most pictures in each area bin.")] = 100,
    bins: Annotated[str, typer.Option(help="Edges of the area bins, in per cent.")] = "0,20,40,60",
    preset: Annotated[str | None, typer.Option(help="Strokes and boxes.", show_default="medium-512")] = None,
    reach: Annotated[str, typer.Option(help="How a bin is hit: grow, or rejection.")] = "grow",
    second_masks: Annotated[
        int | None, typer.Option(min=0, help="Patch masks on top of each hole (K).", show_default="10")
    ] = None,
    patch: Annotated[int, typer.Option(min=1, help="Side of a patch in pixels (S).")] = 32,
    ratio: Annotated[str, typer.Option(help="Share of patches (P): 0.4, or 0.2-0.6 for uniform between.")] = "0.4",
    saved_masks: Annotated[
        Path | None, typer.Option(help="Folder of masks made elsewhere, taken instead of brushes and boxes.")
    ] = None,
    saved: Annotated[
        list[str] | None,
        typer.Option("--saved", metavar="NAME=VALUE", help="A constant of the generator saved_masks: polarity=white_is_hole."),
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="Frames of a clip; above 1 the sources are videos.")] = 1,
    motion: Annotated[str, typer.Option(help="Of the masks in videos: static, drifting or tube.")] = "static",
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Pictures with brush or box holes in area bins, and patch masks for re-inpainting them."""
    _one_of(sources, demo, "--sources FOLDER")
    if saved and not saved_masks:
        raise InputError("--saved says how to read masks; say where they lie, too: --saved-masks FOLDER")
    if motion != "static" and frames == 1:
        raise InputError(f"--motion {motion} is for videos; give --frames above 1")
    if demo and frames > 1:
        raise InputError("the demo is of pictures; for videos give --sources FOLDER")
    media = "image" if frames == 1 else "video"
    source = SourceSpec("embedded_photographs", {}) if demo else SourceSpec("folder", {"folder": str(sources), "media": media})
    chosen = {
        "size": size, "pictures": pictures, "area_edges": _shares(bins), "preset": preset, "reach": reach, "patch_pixels": patch,
        "second_masks": second_masks, "second_ratio": _ratio(ratio), "clip_frames": frames, "motion": motion, "seed": seed,
        "saved_masks": None if saved_masks is None else SAVED_DEFAULTS | dict(map(constant, saved or ())),
    }  # fmt: skip
    small = {"name": "Re-inpainting demo", "size": 256, "preset": "medium-256", "second_masks": 3} if demo else {}
    given = {name: value for name, value in chosen.items() if value is not None}
    running = Running(workers, max_failures, retry_rejected)
    _build(make_recipe(ReinpaintRecipe, small | given), [source], out, running, masks=saved_masks)


@app.command("humans")
def build_humans(
    out: Out,
    people: Annotated[
        list[str] | None,
        typer.Option(metavar="[SET:]FORMAT=ANNOTATIONS:IMAGES", help="Annotated photographs: mpii=mpii.mat:images. Repeatable."),
    ] = None,
    demo: Demo = False,
    originals: Annotated[
        Path | None, typer.Option(help="Folder of photographs for --blocks, instead of annotated people.")
    ] = None,
    blocks: Annotated[
        Path | None, typer.Option(help="Mask file of the challenge: photograph -> [row, column, size] triples.")
    ] = None,
    crop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Of the crops: grow=0.5, shortest_side=224, framing=person ... Repeatable."),
    ] = None,
    margin: Annotated[int, typer.Option(min=0, help="Pixels between blocks and the edges of a photograph.")] = 100,
    most_blocks: Annotated[int, typer.Option(min=1, help="Most blocks in a photograph.")] = 10,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many people of each set.")] = None,
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """People with blocks missing around their joints."""
    _one_of(people or originals, demo, "--people FORMAT=ANNOTATIONS:IMAGES")
    if bool(originals) != bool(blocks) or (people and originals):
        raise InputError("--originals FOLDER and --blocks FILE belong together, instead of --people")
    if blocks:
        read_blocks(blocks)  # told before any work
    sources = [_people(text, dict(map(constant, crop or ())), limit) for text in people or ()]
    if demo:
        sources = [SourceSpec("drawn_people", {"count": DEMO_PEOPLE})]
    if originals:
        sources = [SourceSpec("folder", {"folder": str(originals), "media": "image"})]
    chosen = {"margin": margin, "most_blocks": most_blocks, "seed": seed, "given_blocks": bool(blocks)}
    recipe = make_recipe(HumansRecipe, chosen | ({"name": "People demo"} if demo else {}))
    _build(recipe, sources, out, Running(workers, max_failures, retry_rejected), blocks=blocks)


@app.command("decaption")
def build_decaption(
    out: Out,
    sources: Annotated[
        Path | None, typer.Option(help="Folder of films; FILM.srt, .ass or .vtt beside a film is its text.")
    ] = None,
    demo: Demo = False,
    side: Annotated[int, typer.Option(min=16, help="Of the square clips: 128 as published, 256 as in the paper.")] = 128,
    form: Annotated[str, typer.Option(help="lossless, or challenge (100 kbit/s).")] = "lossless",
    family: Annotated[
        list[str] | None,
        typer.Option(help="Font family, or `bundled`. Repeatable.", show_default="the common ones that are installed"),
    ] = None,
    seed: Seed = 0,
    workers: Workers = WORKERS,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
) -> None:
    """Clips of five seconds with subtitles painted on them."""
    _one_of(sources, demo, "--sources FOLDER")
    source = SourceSpec("embedded", DEMO_FILMS) if demo else SourceSpec("folder", {"folder": str(sources)})
    families = family or ([BUNDLED] if demo else list(installed_families()))
    name = {"name": "Decaptioning demo"} if demo else {}
    recipe = make_recipe(DecaptionRecipe, {"side": side, "form": form, "seed": seed, "families": families} | name)
    _build(recipe, [source], out, Running(workers, max_failures, retry_rejected))


def make_recipe(kind: type[Recipe], chosen: Mapping[str, Any]) -> Recipe:
    """A recipe with these choices; one clear sentence when one makes no sense."""
    try:
        return kind(**chosen)
    except ValidationError as error:
        first = error.errors()[0]
        where, given = ".".join(str(part) for part in first["loc"]), first["input"]
        if first["type"] == "literal_error":
            choices = re.findall("'([^']*)'", str(first["ctx"]["expected"]))
            raise InputError(unknown_name(where, str(given), choices)) from error
        reason = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{where}: {reason} (got {given!r})" if where else reason) from error


def _one_of(sources: object, demo: bool, option: str) -> None:
    if bool(sources) == demo:
        raise InputError(f"give either {option} or --demo")


def _shares(text: str) -> tuple[float, ...]:
    try:
        edges = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"bins {text!r} are not edges in per cent, such as 0,20,40,60") from error
    if len(edges) < 2 or not all(0 <= low < high <= 100 for low, high in pairwise(edges)):
        raise InputError(f"bins {text!r} are not two or more ascending edges from 0 to 100 per cent, such as 0,20,40,60")
    return tuple(edge / 100 for edge in edges)


def _ratio(text: str) -> float | tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split("-"))
    except ValueError as error:
        raise InputError(f"ratio {text!r} is neither a number nor two, such as 0.2-0.6") from error
    if not all(0 < number <= 1 for number in numbers) or sorted(numbers) != list(numbers) or len(numbers) > 2:
        raise InputError(f"ratio {text!r} should be a number above 0 and at most 1, or two ascending ones, such as 0.2-0.6")
    return numbers[0] if len(numbers) == 1 else numbers


def _people(text: str, crop: Mapping[str, Any], limit: int | None) -> SourceSpec:
    names, equals, paths = text.partition("=")
    name, colon, reader = names.partition(":")
    annotations, between, images = paths.rpartition(":")
    if not (name and equals and annotations and between and images and bool(colon) == bool(reader)):
        raise InputError(f"--people {text!r} is not [SET:]FORMAT=ANNOTATIONS:IMAGES, such as mpii=mpii.mat:images")
    constants = {"format": reader or name, "annotations": annotations, "images": images, "dataset": name, "limit": limit, **crop}
    return SourceSpec("people", constants, label=name)


@dataclass(frozen=True)
class Running:
    """How a build runs."""

    workers: int = WORKERS
    max_failures: int | None = None
    retry_rejected: bool = False

    def on(self, workspace: Workspace) -> AbstractContextManager[LocalExecutor]:
        """An executor on ``workspace``."""
        return console.running(
            workspace, workers=self.workers, max_failures=self.max_failures, retry_rejected=self.retry_rejected
        )


def _build(recipe: Any, sources: Sequence[SourceSpec], out: Path, running: Running, **corrupting: Path | None) -> None:
    # What can be wrong with the arguments is told before any work, and before there is a folder.
    check_target(out / "exports" / recipe.kind)
    given = {name: path for name, path in corrupting.items() if path}
    check(recipe, sources, **given)
    workspace = Workspace(out)
    with running.on(workspace) as executor:
        folder, dataset = build(recipe, sources, executor, workspace, **given)
    summarise(workspace, dataset)
    _told(folder, dataset)


def _told(folder: Path, dataset: Dataset) -> None:
    split = next(iter(by_split(dataset.slices[0].item_ids, splits(dataset.items))))
    console.out.print(f"Dataset: {folder}", markup=False)
    console.out.print(f'Load it: datasets.load_dataset("{folder}", "{dataset.slices[0].name}", split="{split}")', markup=False)
    console.out.print(f"Check it: inpaintbench export verify {folder}", markup=False)


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


def summarise(workspace: Workspace, dataset: Dataset, *, per_slice: int | None = None) -> None:
    """Slices with their numbers, and how many files gave nothing."""
    rows = [(part.name, len(part.item_ids), _short(len(part.item_ids), per_slice)) for part in dataset.slices]
    rows += [(name, 0, f"left out: {reason}") for name, reason in dataset.left_out.items()]
    console.print_table("Slices", ["slice", "items", "remark"], rows)
    doubts = [row for row in workspace.table("attributes", Attribute, step="mask_levels") if row.name == "label_doubts"]
    if dataset.recipe["recipe"] == "devil":
        unsure = sum(row.value != "none" for row in doubts)
        where = "; the others are named in the attribute label_doubts of their items" if unsure else ""
        text = f"{len(doubts) - unsure} of {len(doubts)} masks measure as their preset promises{where}"
        console.out.print(text, markup=False)
    guessed = sum(row["attributes"].get("mask.polarity_guessed") == "yes" for row in dataset.items)
    if guessed:
        text = f"warning: whether white or black is the hole was guessed for {guessed} of {len(dataset.items)} masks"
        console.err.print(f"{text}; state it with --saved polarity=white_is_hole", markup=False)
    refused = [row for row in workspace.table("rejected", Rejection) if row.step != "pair"]
    for row in refused[:10]:
        console.out.print(f"refused by {row.step}: {display_name(row.name)}: {row.reason}", markup=False)
    if len(refused) > 10:
        console.out.print(f"and {len(refused) - 10} more: inpaintbench curation rejected {workspace.path}", markup=False)


def _short(found: int, wanted: int | None) -> str:
    return "" if wanted is None or found >= wanted else f"{found} of {wanted} pairs wanted"


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
