"""Shared by the `build` commands: options, a checked recipe, a run from sources to dataset, and what came of it.

And the places that `build devil` has its footage from, besides a folder of one's own: the wings add them, each with its
options.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, TypeVar

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError

from inpaintbench import frozen, storage
from inpaintbench.catalogue import joined, unknown_name
from inpaintbench.cli import console
from inpaintbench.cli.console import Running, constant, parse_leaf
from inpaintbench.cli.options import Among, option
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.errors import UsageError
from inpaintbench.executors.base import Executor, Rejection, is_note
from inpaintbench.export.growing import check_addable
from inpaintbench.export.licences import check_name
from inpaintbench.mirrors import bring_exports, root_of
from inpaintbench.pages.words import count, duration
from inpaintbench.recipes.dataset_table import SILENT, DatasetTable, make_table, read_file, with_entries
from inpaintbench.recipes.leakage import alike, not_looked_for
from inpaintbench.recipes.options import FOOTAGE
from inpaintbench.recipes.own_slices import make_slices
from inpaintbench.recipes.settings import Before, build, check, check_kind, kept_by_growth
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.recipes.versions import Asked
from inpaintbench.steps import MASK_LEVELS, PAIR
from inpaintbench.storage import CACHE_SIZE, bytes_of
from inpaintbench.types import Attribute, Dataset, Selection
from inpaintbench.workspace import Workspace

KIND = "place of footage"
# What `--source` takes.
PLACES = ("folder", *joined(KIND))


@dataclass(frozen=True)
class Place:
    """A place and what is asked of it; its fields are options of the command, none of which is given by default."""

    panel: ClassVar[str | None] = None
    """The title that they stand under in help."""

    @property
    def asked(self) -> list[str]:
        """Names of options that were given and mean nothing at another place."""
        return []

    @property
    def least_size(self) -> tuple[int, int] | None:
        """Width and height in pixels that its footage has at least, where the published rules hold."""
        return None

    def check(self) -> None:
        """Raise ``UsageError`` where too little was asked."""

    def source(self, out: Path) -> SourceSpec:
        """Where footage is found, once it is in the workspace ``out``."""
        raise NotImplementedError

    def fetching(self) -> Callable[[Executor], object] | None:
        """What brings the footage into the workspace; None where it is there.

        Raises:
            InpaintBenchError: the place would answer none of it, which is told before there is a folder.
        """
        return None


Out = console.OutWorkspace
Demo = Annotated[bool, option("Small, from material that comes with the program; needs no network.", "--demo", panel=FOOTAGE)]


@dataclass(frozen=True)
class Described:
    """What the builder says of the dataset: the table ``[dataset]`` of a file, and single entries of it.

    Dataset:
        dataset: TOML file with the table [dataset] (title, authors, licence, contact, citation, homepage, splits) and
            [[slice]]s.
        about (NAME=VALUE): An entry of that table: title="Waves", authors=NAME, licence=CC-BY-4.0. Repeatable.
    """

    dataset: Path | None = None
    about: list[str] | None = None

    def over(self, table: DatasetTable) -> DatasetTable:
        """The table of the file, or else ``table``, with the single entries in the place of its own."""
        if self.dataset is not None:
            document = read_file(self.dataset)
            table = make_table(document.get("dataset", {}), where=f"{self.dataset.name}, [dataset]")
            stated = make_table({"rai": document.get("rai", {})}, where=self.dataset.name)
            slices = make_slices(document.get("slice", ()), where=self.dataset.name)
            table = table.model_copy(update={"rai": stated.rai, "slices": slices})
        return with_entries(table, self.about or ())

    @cached_property
    def table(self) -> DatasetTable:
        """The table that the options make."""
        return self.over(SILENT)

    @property
    def choices(self) -> dict[str, Any]:
        """Choices of the recipe that stand in the table."""
        return {} if self.table.splits is None else {"splits": self.table.splits}


@dataclass(frozen=True)
class Owned:
    """Whose the footage of a folder is, where no file beside it says so.

    Footage:
        footage_licence (SPDX): Of footage that no footage.toml or FILM.mp4.toml beside it says anything of. [default: not
            stated]
        footage_author (NAME): Of the same. [default: not stated]
        cache (SIZE): Most footage from addresses that is kept here, such as 50GB. [default: by INPAINTBENCH_CACHE_SIZE, else
            20GB]
    """

    footage_licence: str | None = None
    footage_author: str | None = None
    cache: str | None = None

    def __post_init__(self) -> None:
        if self.cache is not None:
            bytes_of(self.cache)
            os.environ[CACHE_SIZE] = self.cache  # which worker processes inherit

    @property
    def constants(self) -> dict[str, str]:
        """Constants of a source leaf: those that were given."""
        licence, author = self.footage_licence, self.footage_author
        if licence is not None:
            check_name(licence)
        if author is not None and not (author.strip() and author.isprintable()):
            raise UsageError(f"--footage-author {author!r} is not one line of words")
        return {name: value for name, value in (("licence", licence), ("author", author)) if value is not None}


@dataclass(frozen=True)
class Published:
    """What becomes of the dataset that an earlier run published.

    Dataset:
        append: Keep every item of the dataset that this workspace published, and add to it.
        append_to (DATASET): The same with a dataset elsewhere, such as one fetched from the Hub.
        replace: Publish what is built in its place, even where items are lost.
    """

    append: bool = False
    append_to: Path | None = None
    replace: bool = False

    def folder(self, own: Path) -> Path | None:
        """The dataset that is added to, of which ``own`` is the workspace's; None = nothing is."""
        if self.append and self.append_to:
            raise UsageError("--append adds to the workspace's own dataset, --append-to to another; give one of them")
        if self.replace and (self.append or self.append_to):
            raise UsageError("--append keeps what --replace gives up; give one of them")
        if self.append:
            bring_exports(own.parents[1])
        return own if self.append else self.append_to

    def checked(self, own: Path) -> Path | None:
        """The same, once what can be wrong with both is told, before any work and before there is a folder."""
        from inpaintbench.export.freeze import check_target

        append_to = self.folder(own)
        check_target(own)
        if append_to:
            check_addable(append_to)
        return append_to


Recipe = TypeVar("Recipe", bound=BaseModel)


def make_recipe(kind: type[Recipe], chosen: Mapping[str, Any]) -> Recipe:
    """A recipe with these choices; one clear sentence when one makes no sense."""
    try:
        return kind(**chosen)
    except ValidationError as error:
        first = error.errors()[0]
        where, given = ".".join(str(part) for part in first["loc"]), first["input"]
        if first["type"] == "literal_error":
            choices = re.findall("'([^']*)'", str(first["ctx"]["expected"]))
            raise UsageError(unknown_name(where, str(given), choices)) from error
        reason = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{where}: {reason} (got {given!r})" if where else reason) from error


def keep_design(recipe: Recipe, append_to: Path | None) -> Recipe:
    """The recipe with the design of the dataset that it adds to, where it states none of its own."""
    stated = recipe.model_dump(exclude_unset=True)
    kept = kept_by_growth(type(recipe), stated, append_to)
    return make_recipe(type(recipe), stated | kept) if kept else recipe


def one_of(sources: object, demo: bool, option: str) -> None:
    """Raise ``UsageError`` unless there are either sources or a demo."""
    if bool(sources) == demo:
        raise UsageError(f"give either {option} or --demo")


def given_alone(context: typer.Context, *names: str) -> None:
    """Raise ``UsageError`` when the command line names another option of this command than ``names``."""
    for asked in context.command.params:
        source = context.get_parameter_source(asked.name or "")
        if source is not None and source.name == "COMMANDLINE" and asked.name not in names:
            raise UsageError(f"{asked.opts[0]} does nothing beside --demo, which has footage and settings of its own")


@dataclass(frozen=True)
class Build:
    """What every build is asked beside its recipe and its sources, and the build itself."""

    described: Described = Described()
    published: Published = Published()
    running: console.Locally = field(default_factory=Running)
    stated: DatasetTable = SILENT
    """What is said of the dataset where no file of the user does."""

    def recipe(self, kind: type[Recipe], usual: Mapping[str, Any], given: Mapping[str, Any]) -> Recipe:
        """A recipe by what was given, else by the table ``[dataset]``, else by ``usual``."""
        return make_recipe(kind, {**usual, **self.described.choices, **given})

    def run(self, recipe: Any, sources: Sequence[SourceSpec], out: Path, **corrupting: Path | None) -> None:
        """Build in the workspace ``out``, and say what came of it."""
        workspace, folder, dataset = self.made(recipe, sources, out, corrupting)
        summarise(workspace, dataset)
        told(folder, dataset)

    def made(
        self, recipe: Any, sources: Sequence[SourceSpec], out: Path, corrupting: Mapping[str, Path | None],
        *, before: Before = MappingProxyType({}),
    ) -> tuple[Workspace, Path, Dataset]:  # fmt: skip
        """Build in the workspace ``out``, with what is done ``before`` stages: that, the dataset's folder, and its manifest."""
        append_to = self.published.checked(out / "exports" / recipe.kind)
        recipe = keep_design(recipe, append_to)
        given: dict[str, Any] = {name: path for name, path in corrupting.items() if path}
        check(recipe, sources, **given)
        storage.traffic()
        workspace = Workspace(out)
        check_kind(workspace, recipe)
        with self.running.on(workspace) as executor:
            asked = Asked(replace=self.published.replace, say=console.say)
            folder, dataset = build(
                recipe, sources, executor, workspace, table=self.described.over(self.stated), append_to=append_to, asked=asked,
                before=before, **given,
            )  # fmt: skip
        if (traffic := executor.traffic + storage.traffic())["requests"]:
            from inpaintbench.recipes.traffic import HEADS, row

            console.print_table("What this run asked of object storage", HEADS, [row(traffic)])
        return workspace, folder, dataset


def told(folder: Path, dataset: Dataset) -> None:
    """Say how long scoring a method will take, where the dataset is, and how it is loaded and checked."""
    from inpaintbench.eval.scoring.precision import estimate
    from inpaintbench.export.layout import by_split, splits

    split = next(iter(by_split(dataset.slices[0].item_ids, splits(dataset.items))))
    if (measured := estimate(dataset, folder)) is not None:
        items, workers = len(dataset.items), max(1, console.WORKERS)
        networks = f", without {', '.join(measured.networks)}, which need networks" if measured.networks else ""
        console.say(
            f"Scoring a method will take about {duration(items * measured.seconds / workers)} here: {count(items, 'item')} x "
            f"{measured.seconds:.1f} s, measured on the first, by {count(workers, 'worker')}{networks}"
        )
    console.say(f"Dataset: {folder}")
    if root_of(folder.parents[1])[1] is None:
        console.say(f'Load it: datasets.load_dataset("{folder}", "{dataset.slices[0].name}", split="{split}")')
    console.say(f"Check it: inpaintbench export verify {folder}")
    console.tell_next("eval", "run", folder, "--run", "RUN", "--method", "MODULE:NAME", "--report")


def summarise(workspace: Workspace, dataset: Dataset, *, per_slice: int | None = None) -> None:
    """Slices with their numbers, and how many files gave nothing."""
    from inpaintbench.recipes.paired import remarks

    source_of, told = frozen.sources_of(dataset), remarks(workspace, dataset, per_slice)
    rows = [
        (part.name, len(part.item_ids), len({source_of[item] for item in part.item_ids}), told[part.name])
        for part in dataset.slices
    ]
    rows += [(name, 0, 0, f"left out: {reason}") for name, reason in dataset.left_out.items()]
    console.print_table("Slices", ["slice", "items", "sources", "remark"], rows)
    tell_doubts(workspace, dataset)


def tell_doubts(workspace: Workspace, dataset: Dataset) -> None:
    """Say what of masks and footage is unsure, what was not asked or looked for, and how many files gave nothing."""
    doubts = [row for row in workspace.table("attributes", Attribute, step=MASK_LEVELS) if row.name == "label_doubts"]
    if doubts:
        unsure = sum(row.value != "none" for row in doubts)
        where = "; the others are named in the attribute label_doubts of their items" if unsure else ""
        console.say(f"{len(doubts) - unsure} of {len(doubts)} masks measure as their preset promises{where}")
    guessed = sum(row["attributes"].get("mask.polarity_guessed") == "yes" for row in dataset.items)
    if guessed:
        text = f"warning: whether white or black is the hole was guessed for {guessed} of {len(dataset.items)} masks"
        console.warn(f"{text}; state it with --saved polarity=white_is_hole")
    for sentence in _of_footage(workspace, dataset):
        console.say(sentence)
    from inpaintbench.curation.facts import Facts
    from inpaintbench.curation.funnel.stages import funnel_words
    from inpaintbench.curation.judging import stored_selection, unasked

    for rule in unasked(workspace):
        console.warn(f"warning: {rule.words}")
    if lacking := not_looked_for(workspace):
        console.warn(f"warning: {lacking}")
    console.say(funnel_words(workspace, stored_selection(workspace, Facts.of_workspace(workspace, ()))))


def _of_footage(workspace: Workspace, dataset: Dataset) -> Iterator[str]:
    """Sentences on clips that were enlarged or cropped, that show what others show, or that a rule left out, and on refusals."""
    from inpaintbench.curation.footage import reshaped
    from inpaintbench.files import display_name

    clips, enlarged, cropped = reshaped(workspace, {row["clip_id"] for row in dataset.items})
    if parts := [f"{number} {how}" for number, how in ((enlarged, "enlarged"), (cropped, "cropped")) if number]:
        yield f"of {count(clips, 'clip')} in the dataset, {' and '.join(parts)} to its size"
    if copies := alike(workspace):
        items = sum(row["clip_id"] in copies for row in dataset.items)
        shows = "shows" if len(copies) == 1 else "show"
        yield (
            f"{count(len(copies), 'clip')} of the workspace {shows} what a clip of another file shows, as a copy, a crop or a "
            f"mirror image; of {count(len(dataset.items), 'item')}, {items} are of them, and count as one source with what they "
            "show"
        )
    judged: dict[str, list[Selection]] = {}
    for verdict in workspace.table("selection", Selection):
        judged.setdefault(verdict.rule, []).append(verdict)
    for rule, verdicts in judged.items():
        if lost := [row for row in verdicts if not row.keep]:
            why = f"such as {lost[0].clip_id}: {lost[0].reason}"
            yield f"left out by the rule {rule!r}: {len(lost)} of {len(verdicts)} clips, {why}"
    rejections = [row for row in workspace.table("rejected", Rejection) if row.step != PAIR]
    for words, notes in (("refused by {}", False), ("note", True)):
        listed = [row for row in rejections if is_note(row.step) == notes]
        for row in listed[:10]:
            yield f"{words.format(row.step)}: {display_name(row.name)}: {row.reason}"
        if len(listed) > 10:
            yield f"and {len(listed) - 10} more: inpaintbench curation rejected {workspace.path}"


# Masks of a picture's own name are scaled and cropped as it is; of a film that goes on without masks nobody knows the hole.
SAVED_DEFAULTS = {"resize": "cover"}
# A folder of masks rarely fits pictures that it was not made for.
TURN_DEFAULTS = {"resize": True, "lengthen": "to_and_fro"}


@dataclass(frozen=True)
class Saved:
    """Masks made elsewhere.

    Masks:
        saved_masks: Folder of masks made elsewhere, by the names of the sources, taken instead of drawn ones.
        saved (NAME=VALUE): A constant of the generator saved_masks: polarity=white_is_hole.
    """

    saved_masks: Path | None = None
    saved: list[str] | None = None

    def choices(self, *, by_turn: bool) -> dict[str, Any]:
        """Choices of the recipe.

        Raises:
            UsageError: how to read masks is said, but not where they lie.
        """
        if self.saved_masks is None:
            if self.saved:
                raise UsageError("--saved says how to read masks; say where they lie, too: --saved-masks FOLDER")
            if by_turn:
                raise UsageError("--masks-by-turn says how masks are shared out; say where they lie, too: --saved-masks FOLDER")
            return {}
        return {"saved_masks": (TURN_DEFAULTS if by_turn else SAVED_DEFAULTS) | dict(map(constant, self.saved or ()))}


@dataclass(frozen=True)
class Cuts:
    """How films are divided, at which rate, and how their frames get their size.

    Clips:
        splitter (NAME[,CONSTANT=VALUE...]): How sources are divided: {names}. [default: windows]
        normalizer (NAME[,CONSTANT=VALUE...]): How frames get their size: {names}. [default: cover]
        fps: Frames a second, by timestamps; 0 = each source's own. [default: 0]
    """

    splitter: Annotated[str | None, Among(SPLITTERS)] = None
    normalizer: Annotated[str | None, Among(NORMALIZERS)] = None
    fps: Annotated[float | None, Ge(0), Le(1000)] = None

    def choices(self, *, sized: bool) -> dict[str, Any]:
        """Choices of the recipe: those that were given.

        Args:
            sized: the size of the clips was given as well.

        Raises:
            UsageError: two sizes.
        """
        if sized and self.normalizer:
            raise UsageError("--size is the size of the default normalizer; write it into --normalizer, or give --size alone")
        chosen: dict[str, Any] = {} if self.fps is None else {"fps": self.fps or None}
        if self.splitter:
            chosen["splitter"] = parse_leaf(self.splitter, SPLITTERS)
        if self.normalizer:
            chosen["normalizer"] = parse_leaf(self.normalizer, NORMALIZERS)
        return chosen
