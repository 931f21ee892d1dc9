"""`masks`: pair clips with holes in a workspace, or render holes on their own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le

from inpaintbench import video
from inpaintbench.cli import console
from inpaintbench.cli.build.running import Published, keep_design, make_recipe
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import InWorkspace, Processes, Running, constant
from inpaintbench.cli.options import NONE_GIVEN, Among, Given, Natural, Positive, argument, bundle, of_recipe, option, read_option
from inpaintbench.cli.words import check_name
from inpaintbench.errors import InputError
from inpaintbench.manifest import MANIFEST
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.blob_motion import PRESETS, find_preset
from inpaintbench.masks.gallery import quantity_of, refused_words, write_gallery
from inpaintbench.masks.generators import GENERATORS
from inpaintbench.masks.measure import check_labels, labels_of, measure
from inpaintbench.masks.render import build, generate
from inpaintbench.pages.words import count as counted
from inpaintbench.recipes import preview as previewing
from inpaintbench.recipes import settings
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.options import read_size
from inpaintbench.recipes.preview import AXIS_FRAMES, SIZE
from inpaintbench.types import Corruption, Item
from inpaintbench.workspace import Workspace

# Of films that subtitles are shown on: five seconds.
TEXT_FRAMES = 125
app = group(
    {name: f"inpaintbench.cli.masks:{name}" for name in ("pair", "render", "presets", "preview")},
    help="Make corruptions and measure them.",
)


def pair(
    workspace: InWorkspace,
    *,
    saved_masks: Path | None = None,
    blocks: Path | None = None,
    photographs: Path | None = None,
    published: Annotated[Published, bundle(Published, "append", "append_to", panel="Options")] = Published(),
    running: Processes = Running(),
) -> None:
    """Pair kept clips with corruptions, render and measure those.

    Args:
        saved_masks: Folder of the masks of a recipe that takes saved ones.
        blocks: Mask file of a recipe that takes given blocks.
        photographs: Folder of the backgrounds of a recipe that takes some.

    Example: inpaintbench masks pair WORKSPACE
    """
    opened = Workspace(workspace, create=False)
    with running.on(opened) as executor:
        recipe = settings.recall(opened)
        if append_to := published.folder(settings.own_export(recipe, opened)):
            recipe = keep_design(recipe, append_to)
            settings.remember(opened, recipe)
            settings.begin(recipe, opened, append_to)
            settings.leave_out_published(opened)
            settings.stages_of(recipe).label(recipe, executor, opened)  # by the thresholds of what is published
        options = (("masks", saved_masks), ("blocks", blocks), ("photographs", photographs))
        given = {name: path for name, path in options if path}
        settings.corrupt(recipe, executor, opened, **given)
    corruptions, items = len(opened.table("corruptions", Corruption)), len(opened.table("items", Item))
    console.say(f"{counted(items, 'item')} with {counted(corruptions, 'corruption')}")
    frozen = not append_to and (target := settings.own_export(recipe, opened) / MANIFEST).is_file()
    if frozen:
        console.say(f"{console.shown(target.parent)} is there: --replace puts these in its place, and --append here adds to it")
    console.tell_next("export", "freeze", workspace, *["--replace"] * frozen)


def render(
    *,
    preset: Annotated[str, Among(PRESETS)],
    out: Path,
    count: Positive = 1,
    first: Natural = 0,
    given: Annotated[Given, of_recipe(DevilRecipe, "behaviour", "width", "clip_frames", "seed")] = NONE_GIVEN,
) -> None:
    """Render blob masks of one preset, and print what they measure.

    Args:
        preset: See `masks presets`.
        out: Folder for the hole videos (255 = hole).
        count: How many masks.
        first: Number of the first one.

    Example: inpaintbench masks render --preset size-low_pose-low_displacement-low --count 4 --out masks
    """
    find_preset(preset)
    recipe = make_recipe(DevilRecipe, given)
    build("devil_blobs", {"preset": preset, "behaviour": recipe.behaviour, "index": first})
    if out.exists() and not out.is_dir():
        raise InputError(f"{str(out)!r} is a file, not a folder")
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for index in range(first, first + count):
        parameters = {"preset": preset, "behaviour": recipe.behaviour, "index": index, "reverse": False}
        hole = generate(
            "devil_blobs", parameters, seed=recipe.seed, frames=recipe.clip_frames, height=recipe.height, width=recipe.width
        ).hole
        assert hole is not None, "blobs are holes"
        name = f"{preset}_{index:05d}.mp4"
        made = out / f".{name}.tmp.mp4"
        video.write_hole(made, hole, fps=30.0)
        made.replace(out / name)
        measures = measure(hole)
        doubts = "; ".join(check_labels(preset, measures, width=recipe.width, height=recipe.height).values()) or "as promised"
        rows.append((name, measures.hole_fraction, measures.centroid_speed_pixels_per_frame, measures.pose_change, doubts))
    console.print_table("Masks", ["file", "hole fraction", "speed px/frame", "pose change", "labels"], rows)


def presets() -> None:
    """List the mask presets.

    Example: inpaintbench masks presets
    """
    rows = [(name, *labels_of(name).values()) for name in PRESETS]
    console.print_table("Presets", ["name", "size", "pose", "displacement"], rows)


def preview(
    generator: Annotated[
        str,
        argument(
            f"One of: {', '.join(GENERATORS)}; or an axis of paired designs: {', '.join(AXES)}.", among=[*GENERATORS, *AXES]
        ),
    ],
    *,
    out: Path,
    constants: list[str] | None = None,
    vary: list[str] | None = None,
    count: Annotated[int, Ge(1), Le(200)] = 8,
    size: Annotated[str | None, option("Size of the pictures.", default=f"{SIZE}, prints 275x400", metavar="WxH")] = None,
    frames: Annotated[int, Ge(1), Le(250)] = 1,
    seed: int = 0,
    images: Path | None = None,
) -> None:
    """Write a contact sheet of a generator's masks or degradations. The HTML page tells their measured attributes.

    Of an axis it shows every level over the same films, with the property in which they differ.

    Args:
        out: HTML file to write.
        constants --set (NAME=VALUE): A constant of the generator, such as preset=thick-256. Repeatable.
        vary (NAME=VALUE;VALUE): A constant with a panel for each value: area=[0,0.2];[0.2,0.4].
        count: Masks of each setting.
        frames: Length; above 1 over films.
        seed: Of the masks.
        images: Folder of pictures to show them over, stills only; of prints the backgrounds.

    Example: inpaintbench masks preview brush_box --set preset=thick-256 --count 12 --out masks.html
    """
    check_name("mask generator or axis", generator, [*GENERATORS, *AXES])
    if generator in AXES and generator not in GENERATORS:
        if constants or vary or images is not None:
            raise InputError(f"the axis {generator} has no constants and its own films: leave --set, --vary and --images out")
        _make_room_for(out)
        width, height = read_option(read_size, size or SIZE)
        axis, shown = AXES.get(generator), list(previewing.films(width, height, AXIS_FRAMES if frames == 1 else frames, count))
        levels, title = previewing.axis_panels(generator, shown, seed=seed), f"Levels of {generator}: {axis.property}"
        page = write_gallery(out, title=title, panels=levels, generator=generator, version=axis.version, seed=seed)
        films = max(len(panel.tiles) for panel in levels)
        console.say(f"{counted(len(levels), 'level')} over {counted(films, 'film')}: {page}{refused_words(levels)}")
        return
    leaf = GENERATORS.get(generator)
    variants, where = settings_of(constants or (), vary or ()), dict[str, Any]()
    stills = previewing.own_stills(generator)
    if images is not None and stills:
        variants, where = stills.over_photographs(variants, images)
    for chosen in variants:
        previewing.check(generator, chosen, where=where)  # what cannot be built is told before any picture is made
    _make_room_for(out)
    width, height = read_option(read_size, size or (stills.size if stills else SIZE))
    if "timed_text" in leaf.needs and frames == 1:
        frames = TEXT_FRAMES
    shown = previewing.backdrops(generator, width=width, height=height, frames=frames, count=count, seed=seed, images=images)
    made = previewing.panels(generator, variants, shown, count=count, seed=seed, where=where)
    if warning := previewing.guessed(made):
        console.warn(f"warning: {warning}")
    noun = quantity_of(made).noun
    title = f"{noun.capitalize()}s of {generator}"
    page = write_gallery(out, title=title, panels=made, generator=generator, version=leaf.version, seed=seed)
    console.say(f"{counted(sum(len(panel.tiles) for panel in made), noun)}: {page}{refused_words(made)}")


def _make_room_for(out: Path) -> None:
    if out.is_dir():
        raise InputError(f"{str(out)!r} is a folder; name the HTML file to write")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{str(out)!r} cannot be written: {error.strerror}") from error


def settings_of(constants: Sequence[str], vary: Sequence[str]) -> list[dict[str, Any]]:
    """Every combination of constants that the options ask for."""
    fixed = dict(map(constant, constants))
    names, values = [], []
    for text in vary:
        name, _ = constant(text)
        names.append(name)
        values.append([console.value(part) for part in text.partition("=")[2].split(";")])
    return [fixed | dict(zip(names, chosen, strict=True)) for chosen in product(*values)]
