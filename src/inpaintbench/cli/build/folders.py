"""`build removal`, `build benchmark`, and `build RECIPE` of recipes without a command of their own: footage lies in folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from inpaintbench.cli import console
from inpaintbench.cli.build.running import Build, Demo, Out, Owned
from inpaintbench.cli.options import NONE_GIVEN, Among, Given, InSources, Positive, of_recipe, read_option
from inpaintbench.curation.sources.clip_tables import FILMS, TABLE, matched, read_columns
from inpaintbench.curation.sources.mask_values import MASK_VALUES
from inpaintbench.curation.sources.removal_folders import LENGTHEN, RemovalFolders
from inpaintbench.curation.sources.removal_layouts import CLASSIC, GENERIC, NAMES
from inpaintbench.errors import UsageError
from inpaintbench.recipes import RECIPES
from inpaintbench.recipes.benchmark import BenchmarkRecipe
from inpaintbench.recipes.removal import RemovalRecipe
from inpaintbench.recipes.stages import SourceSpec

DEMO_CLIPS, DEMO_ITEMS = 8, 24


def columns_of_table(path: Path, columns: str | None, films: tuple[str, ...]) -> dict[str, str]:
    """Our columns of a table of clips -> its own; those that were guessed are told."""
    table = matched(path, read_option(read_columns, columns) if columns else None, films=films)
    if table.sentence:
        console.say(table.sentence)
    return dict(table.columns)


def build_removal(
    *,
    out: Out,
    items: Positive | None = None,
    demo: Demo = False,
    pairs: Path | None = None,
    layout: Annotated[str | None, Among(NAMES[1:])] = None,
    clips: Path | None = None,
    masks: Path | None = None,
    truth: Path | None = None,
    columns: str | None = None,
    allow_unmatched: bool = False,
    effects: Path | None = None,
    mask_values: Annotated[str | None, Among(MASK_VALUES)] = None,
    fps: float = 24.0,
    given: Annotated[Given, of_recipe(RemovalRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """Objects to be removed with their side effects. Rendered with an exact truth, from pairs of others, or clips without truth.

    Footage:
        items: Render so many items; their truth is exact. [default: none]
        pairs: Folder of a data set with truths; --layout says whose.
        layout: How --pairs is laid out. [default: none]
        clips: Folder of clips with an object (videos, or folders of frames); or a table of clips, their masks and truths: CSV,
            JSON, JSON lines or Parquet.
        masks: Folder of its masks, by the names of the clips.
        truth: Folder of the same clips without it. [default: nobody has them]
        columns (OURS=THEIRS,...): What the table calls input, mask, truth, name, caption, object and effects.
            [default: by names and values]
        allow_unmatched: Leave out what has no partner of its name.
        effects: Table of their side effects: clip, side_effect, strength. [default: by folders]
        mask_values: Levels of masks that are the object; quad: 0 object, 63 overlap, 127 what it changes, 255 the rest.
            [default: quad of the layout void, else white]
        fps: Frames a second of folders of frames.

    Example: inpaintbench build removal --items 240 --out WORKSPACE
    """
    if sum(map(bool, (items or demo, pairs, clips))) != 1:
        raise UsageError("give --items N or --demo, --pairs FOLDER with --layout NAME, or --clips FOLDER with --masks FOLDER")
    if bool(pairs) != bool(layout):
        raise UsageError("--pairs and --layout go together: the one says where a data set lies, the other whose layout it has")
    table = clips is not None and clips.is_file()
    if table and (masks or truth):
        raise UsageError("a table of clips says where their masks and truths lie; leave out --masks and --truth")
    if not table and ((clips is None) != (masks is None) or (truth and not clips)):
        raise UsageError("--clips needs --masks of the same names, and --truth goes with both; or give a table: --clips TABLE")
    if columns and not table:
        raise UsageError("--columns says what a table calls its columns; give one: --clips TABLE")
    if effects and not (pairs or clips):
        raise UsageError("--effects says something of --pairs or --clips; those of rendered items are known")
    if mask_values and not (pairs or clips):
        raise UsageError("--mask-values says something of the masks of --pairs or --clips; those of rendered items are known")
    recipe = build.recipe(RemovalRecipe, {"name": "Object removal demo"} if demo else {}, given)
    source = recipe.rendered(items or DEMO_ITEMS)
    if pairs or clips:
        constants: dict[str, Any] = {
            "folder": str(pairs or clips), "layout": layout or GENERIC, "masks": None if masks is None else str(masks),
            "truth": None if truth is None else str(truth), "allow_unmatched": allow_unmatched, "fps": fps,
            "effects": None if effects is None else str(effects), **owning.constants,
            **({"mask_values": mask_values} if mask_values else {}),
            **({"layout": TABLE, "columns": columns_of_table(clips, columns, FILMS)} if clips and table else {}),
        }  # fmt: skip
        RemovalFolders(**constants).found()  # before there is a folder
        source = SourceSpec("removal_folders", constants)
    build.run(recipe, [source], out)


def build_benchmark(
    *,
    out: Out,
    clips: Path | None = None,
    masks: Path | None = None,
    layout: Annotated[str | None, Among(CLASSIC)] = None,
    columns: str | None = None,
    demo: Demo = False,
    allow_unmatched: bool = False,
    lengthen: Annotated[str, Among(LENGTHEN)] = "reject",
    fps: float = 24.0,
    given: Annotated[Given, of_recipe(BenchmarkRecipe)] = NONE_GIVEN,
    owning: Owned = Owned(),
    build: Build = Build(),
) -> None:
    """Clips with masks of their own, measured as papers do.

    Footage:
        clips: Folder of clips (videos, folders of frames), or of a data set with --layout; or a table of clips and their masks:
            CSV, JSON, JSON lines or Parquet.
        masks: Folder of their masks, by the names of the clips.
        layout: How a data set is laid out. [default: none]
        columns (OURS=THEIRS,...): What the table calls input, mask, name and caption. [default: by names and values]
        allow_unmatched: Leave out what has no partner of its name.
        fps: Frames a second of folders of frames.

    Masks:
        lengthen: Masks of fewer frames: reject, hold (the last one), to_and_fro.

    Example: inpaintbench build benchmark --clips CLIPS --masks MASKS --out WORKSPACE
    """
    if bool(clips) == demo:
        raise UsageError("give --clips FOLDER with --masks FOLDER, --clips FOLDER with --layout NAME, or --demo")
    table = clips is not None and clips.is_file()
    if table and (masks or layout):
        raise UsageError("a table of clips says where their masks lie; leave out --masks and --layout")
    if clips and not table and bool(masks) == bool(layout):
        raise UsageError(
            "--clips needs either --masks of the same names, or the --layout of a data set; or it is a table of both"
        )
    if columns and not table:
        raise UsageError("--columns says what a table calls its columns; give one: --clips TABLE")
    if layout in NAMES and layout not in CLASSIC:
        raise UsageError(f"data sets of the layout {layout!r} have no truth under their masks: build removal --pairs reads them")
    usual: dict[str, Any] = {"name": "Video inpainting demo"} if demo else {}
    recipe = build.recipe(BenchmarkRecipe, usual, given)
    source = recipe.embedded(DEMO_CLIPS)
    if clips:
        constants: dict[str, Any] = {
            "folder": str(clips), "layout": layout or GENERIC, "masks": None if masks is None else str(masks),
            "allow_unmatched": allow_unmatched, "fps": fps, "lengthen": lengthen, "masks_of_any_size": recipe.fit == "stretch",
            **owning.constants, **({"layout": TABLE, "columns": columns_of_table(clips, columns, FILMS[:2])} if table else {}),
        }  # fmt: skip
        RemovalFolders(**constants).found()  # before there is a folder
        source = SourceSpec("removal_folders", constants)
    build.run(recipe, [source], out)


def __getattr__(name: str) -> Callable[..., None]:
    """``build_RECIPE``."""
    beginning, _, recipe = name.partition("build_")
    if beginning or recipe not in RECIPES:
        raise AttributeError(name)
    kind: Any = RECIPES.get(recipe)

    def build_it(
        *, out: Out, sources: InSources, given: Given = NONE_GIVEN, owning: Owned = Owned(), build: Build = Build()
    ) -> None:
        footage = SourceSpec("folder", {"folder": str(sources), "media": getattr(kind, "media", "video"), **owning.constants})
        build.run(build.recipe(kind, {}, given), [footage], out)

    build_it.__annotations__["given"] = Annotated[Given, of_recipe(kind)]
    build_it.__doc__ = (
        f"{kind().name}.\n\nFootage:\n    sources (PATH|ADDRESS): Folder of films or pictures, searched recursively; "
        f"s3://bucket/films too.\n\nExample: inpaintbench build {recipe} --sources FOLDER --out WORKSPACE"
    )
    return build_it
