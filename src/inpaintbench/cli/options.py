"""Options of commands, derived from what stands elsewhere: signatures, dataclasses, and fields of recipes.

A command is a function. What its signature has before ``*`` are its arguments, what it has behind are its options; their kinds,
bounds and defaults are those of the signature, and their help stands in the docstring::

    def report(dataset: InDataset, *, run: Scored, media: Natural = 6, log_to: list[str] | None = None) -> None:
        \"\"\"Write the HTML report of a run.

        Args:
            media: Items with a video besides those of slices.
            log_to (SINK): Log it too; may be given again. [default: none]

        Example: inpaintbench eval report DATASET --run RUN
        \"\"\"

A title other than ``Args`` is that of a panel in help; ``name --word/--no-word (METAVAR): help [default: words]`` is all that an
entry may say. What many commands take is told once: as an alias, ``Run = Annotated[Path, option("Folder ...")]``; as a dataclass
whose docstring has such entries, ``running: Running``, of which the command gets one object (``Annotated[Running, bundle(Running,
"workers")]`` of some of them); or as fields of a recipe, ``given: Annotated[Given, of_recipe(DevilRecipe)] = NONE_GIVEN``, of
which it gets what was given and nothing else, so that the recipe alone knows its defaults.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, make_dataclass, replace
from functools import reduce, wraps
from operator import or_
from pathlib import Path
from types import GenericAlias, MappingProxyType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from annotated_types import Ge, Le  # what pydantic writes bounds with
from typer.models import ParameterInfo

from inpaintbench.catalogue import attribute_at, joined
from inpaintbench.errors import UsageError
from inpaintbench.mirrors import here
from inpaintbench.steps import predicted_label
from inpaintbench.storage import Address, place

if TYPE_CHECKING:
    from pydantic import BaseModel

    from inpaintbench.recipes.options import Option

Value = TypeVar("Value")
Natural = Annotated[int, Ge(0)]
Positive = Annotated[int, Ge(1)]
Share = Annotated[float, Ge(0), Le(1)]
Seconds = Annotated[float, Ge(1)]
Port = Annotated[int, Ge(0), Le(65535)]
# Field of a recipe -> value.
Given = Mapping[str, Any]
NONE_GIVEN: Given = MappingProxyType({})
# Titles of sections whose entries stand under no title of their own in help.
ARGS = ("Args", "Attributes")
_NOT_OPTIONS = ("Raises", "Returns", "Example")
_TITLE = re.compile(r"([A-Z][\w ]*):")
_ENTRY = re.compile(r"    (\w+)( --\S+)?(?: \((.+?)\))?: (.*)")
_DEFAULT = re.compile(r" \[default: (.*)\]$")
# How lines begin that go on with the entry above.
_DEEPER = " " * 5
# Environment variable that shells set when they ask for completions.
_PROMISE = "_INPAINTBENCH_COMPLETE"


def complete_names(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Completes with some of ``known``: a catalogue or any collection of names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name.startswith(incomplete)]

    return complete


def complete_slices(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes with the slices and splits of the frozen dataset that the command line names."""
    try:
        from inpaintbench import manifest

        dataset = manifest.load(str(ctx.params.get("dataset")))
        splits = dict.fromkeys(f"split-{split or 'test'}" for split in manifest.column(dataset, "split"))
        candidates = [*(part.name for part in dataset.slices), *splits]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [name for name in candidates if name.startswith(incomplete)]


def complete_labels(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes with the methods that the run folder of the command line holds predictions or scores of."""
    tables = Path(str(ctx.params.get("run"))) / "tables" / "predictions"
    labels = sorted(label for path in tables.glob("*.parquet") if (label := predicted_label(path.stem)) is not None)
    return [name for name in labels if name.startswith(incomplete)]


def takes_addresses(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    """Mark what reads the text of an option that may be an address, or have one in it."""
    parse.takes_addresses = True  # type: ignore[attr-defined]
    return parse


@takes_addresses
def parse_dataset(text: str) -> Path:
    """The dataset that ``frozen_or_hub`` finds, which asks the Hub nothing while a shell completes."""
    if _PROMISE in os.environ:
        return Path(text)
    from inpaintbench.eval.scoring.parts import frozen_or_hub  # the help of the program imports no room

    return frozen_or_hub(text)


@takes_addresses
def parse_brought(text: str) -> str:
    """``text`` as it is; of an address the folder that the dataset there is brought to."""
    return text if isinstance(place(text), Path) else str(parse_dataset(text))


@takes_addresses
def parse_workspace(text: str) -> Path:
    """A folder, or the mirror of a workspace or a run at an address, which is asked nothing while a shell completes."""
    if _PROMISE in os.environ:
        return Path(text)
    return here(text)


class More:
    """What else Typer is told of an option or argument of a kind, such as its ``parser``."""

    def __init__(self, **given: Any) -> None:
        self.given = given


# Footage, in a folder of this machine or of a bucket.
InSources = Annotated[Path | Address, More(parser=takes_addresses(place))]
# The folder of a run, with predictions and scores, or its address; and what an option of it, or of a workspace, has beside words.
RunFolder = Annotated[Path, More(parser=parse_workspace)]
OR_ADDRESS: Any = {"parser": parse_workspace, "metavar": "PATH|ADDRESS"}
Folder = Annotated[Path, More(exists=True, file_okay=False)]
FrozenDataset = Annotated[Path, More(parser=parse_dataset)]
# A folder, also one of the Hub where a command asks for its names, or an address.
OfDataset = Annotated[str, More(parser=parse_brought)]


@dataclass(frozen=True)
class Among:
    """Names that shells complete an option with, and that stand for ``{names}`` in its help."""

    known: Iterable[str]


def option(
    words: str, *names: str, default: str | None = None, among: Iterable[str] | None = None, panel: str | None = None, **more: Any
) -> Any:
    """The metadata of an option.

    Args:
        words: its help.
        names: by default that of the parameter.
        default: words in the place of the default, in help.
        among: what shells complete it with.
        panel: the title that it stands under in help.
        more: further ones of ``typer.Option``.
    """
    if among is not None:
        more["autocompletion"] = complete_names(among)
    return typer.Option(*names, help=words, show_default=default or True, rich_help_panel=panel, **more)


def argument(words: str, *, default: str | None = None, among: Iterable[str] | None = None, **more: Any) -> Any:
    """The metadata of an argument, as ``option`` has it."""
    if among is not None:
        more["autocompletion"] = complete_names(among)
    return typer.Argument(help=words, show_default=default or True, **more)


@dataclass(frozen=True)
class _Entry:
    """What a docstring says of one parameter."""

    panel: str
    word: str
    metavar: str | None
    help: str
    default: str | None

    def metadata(self, name: str, marks: Iterable[Any], *, is_argument: bool, is_flag: bool) -> Any:
        """Of the parameter ``name``, whose annotation has ``marks``."""
        among = next((mark.known for mark in marks if isinstance(mark, Among)), None)
        words = self.help.replace("{names}", ", ".join(among or ()))
        more = bounds(marks)
        for mark in marks:
            if isinstance(mark, More):
                more |= mark.given
        if is_argument:
            return argument(words, default=self.default, among=among, metavar=self.metavar, **more)
        word = self.word or (f"--{name.replace('_', '-')}" if is_flag else None)
        panel = None if self.panel in ARGS else self.panel
        return option(words, *filter(None, [word]), default=self.default, among=among, panel=panel, metavar=self.metavar, **more)


def bounds(marks: Iterable[Any]) -> dict[str, Any]:
    """Inclusive bounds, which alone Typer knows, as it calls them."""
    marks = list(marks)
    least = [("min", mark.ge) for mark in marks if isinstance(mark, Ge)]
    return dict(least + [("max", mark.le) for mark in marks if isinstance(mark, Le)])


def divided(text: str) -> tuple[str, dict[str, _Entry]]:
    """A docstring -> what it says without its sections of parameters, and what these say by name.

    Raises:
        ValueError: a line of such a section is neither an entry nor, indented deeper, more words of the one above.
    """
    kept, entries, title, name = [], dict[str, _Entry](), "", ""
    for line in inspect.cleandoc(text).splitlines():
        if head := _TITLE.fullmatch(line):
            title, name = head[1] if head[1] not in _NOT_OPTIONS else "", ""
        elif line and not line.startswith(" "):
            title = ""
        if not title:
            kept.append(line)
        elif found := _ENTRY.fullmatch(line):
            name = found[1]
            entries[name] = _Entry(title, (found[2] or "").strip(), found[3], found[4], None)
        elif line.strip() and not head:
            if not (name and line.startswith(_DEEPER)):
                raise ValueError(f"below {title}: in a docstring is no 'name --word (METAVAR): help': {line.strip()!r}")
            entries[name] = replace(entries[name], help=f"{entries[name].help} {line.strip()}")
    for name, of in entries.items():
        if default := _DEFAULT.search(of.help):
            entries[name] = replace(of, help=of.help[: default.start()], default=default[1])
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)), entries


def _check_named(entries: Mapping[str, _Entry], known: Collection[str], of: str) -> None:
    """Raise ``ValueError`` for an entry that would be dropped, since its name is misspelt or its parameter gone."""
    for name, entry in entries.items():
        if name not in known:
            raise ValueError(f"the docstring of {of} has an entry for what it does not take: '{name}: {entry.help}'")


@dataclass(frozen=True)
class Bundle:
    """The options that one parameter of a command stands for, and what makes its value of theirs."""

    parameters: tuple[inspect.Parameter, ...]
    make: Callable[..., Any]


def bundle(kind: type, *names: str, panel: str | None = None) -> Bundle:
    """The fields of a dataclass as options, all or some; the others keep their defaults. A field may be a bundle itself."""
    hints = get_type_hints(kind, include_extras=True)
    entries = {name: of for base in reversed(kind.__mro__[:-1]) for name, of in divided(base.__doc__ or "")[1].items()}
    defaults = {one.name: _default_of(one) for one in fields(kind)}
    _check_named(entries, defaults, kind.__name__)
    tells_itself = {name for name, hint in hints.items() if get_origin(hint) is Annotated or is_dataclass(hint)}
    chosen = names or [name for name in defaults if name in entries or name in tells_itself]
    asked = [parameter(name, hints[name], defaults[name], entries) for name in chosen]
    return _joined([one.replace(annotation=_in_panel(one.annotation, panel)) for one in asked], kind)


def joined_bundles(kind: str) -> Any:
    """For signatures: a dataclass of the dataclasses that wings join to ``kind``, made without any option."""
    kinds: dict[str, type] = {name: attribute_at(address) for name, address in joined(kind).items()}
    return make_dataclass("Joined", [(name.replace(" ", "_"), of, of()) for name, of in kinds.items()], frozen=True)


def _default_of(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def _joined(parameters: Iterable[inspect.Parameter], make: Callable[..., Any]) -> Bundle:
    """The options of parameters, some of which stand for bundles; ``make`` is called with these made."""
    asked = list(parameters)
    bundles = {one.name: mark for one in asked for mark in get_args(one.annotation)[1:] if isinstance(mark, Bundle)}
    options = [part for one in asked for part in (bundles[one.name].parameters if one.name in bundles else [one])]

    def made(**given: Any) -> Any:
        parts = {name: of.make(**{part.name: given.pop(part.name) for part in of.parameters}) for name, of in bundles.items()}
        return make(**given, **parts)

    return Bundle(tuple(options), made if bundles else make)


def _in_panel(annotation: Any, panel: str | None) -> Any:
    of, info = get_args(annotation)
    if panel is None or isinstance(info, Bundle):
        return annotation
    info = copy(info)
    info.rich_help_panel = panel
    return Annotated[of, info]


def read_option(read: Callable[[Any], Value], text: Any) -> Value:
    """Value of an option's text; one that means nothing is a wrong use of the command."""
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(str(error)) from error


def parameter(
    name: str, annotation: Any, default: Any, entries: Mapping[str, _Entry] = NONE_GIVEN, *, is_argument: bool = False
) -> inspect.Parameter:
    """A parameter as Typer reads it: annotated with metadata of its own, or with those that its entry in a docstring makes."""
    kind, marks = _bare(annotation)
    tells_itself = [mark for mark in marks if isinstance(mark, Bundle | ParameterInfo)]
    if not tells_itself and isinstance(kind, type) and is_dataclass(kind):
        tells_itself = [bundle(kind, panel=getattr(kind, "panel", None))]
    elif not tells_itself and annotation is not typer.Context:
        of = entries.get(name) or _Entry(ARGS[0], "", None, "", None)
        tells_itself = [of.metadata(name, marks, is_argument=is_argument, is_flag=kind is bool)]
    if Address in get_args(kind):  # which Typer knows no union of
        kind = str | None if NoneType in get_args(kind) else str
    annotated = Annotated[kind, tells_itself[-1]] if tells_itself else kind
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotated)


def _bare(annotation: Any) -> tuple[Any, list[Any]]:
    """An annotation without its metadata, which may stand inside a union or a list, and these."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        kind, marks = _bare(parts[0])
        return kind, [*marks, *parts[1:]]
    if origin not in (Union, UnionType, list):
        return annotation, []
    kinds, marks_of = zip(*map(_bare, parts), strict=True)
    kind = GenericAlias(list, kinds) if origin is list else reduce(or_, kinds)
    return kind, [mark for marks in marks_of for mark in marks]


def _kinds(annotation: Any) -> set[Any]:
    """The types in an annotation: those of a union, of what a list holds, and so on."""
    return {annotation}.union(*map(_kinds, get_args(annotation)))


def expanded(function: Callable[..., Any], parts: Sequence[str] = ()) -> Callable[..., Any]:
    """A command as Typer reads it: with help of its docstring, and the options of its bundles in the place of these.

    Args:
        function: the command.
        parts: what it can be asked to do alone, as its option ``--for`` lists; the group takes that to another command.
    """
    text, entries = divided(function.__doc__ or "")
    signature = inspect.signature(function, eval_str=True)
    _check_named(entries, signature.parameters, function.__qualname__)
    joined = _joined(
        [
            parameter(one.name, one.annotation, one.default, entries, is_argument=one.kind is not inspect.Parameter.KEYWORD_ONLY)
            for one in signature.parameters.values()
        ],
        function,
    )

    # What a command answers with may take options of its own, as ``console.Answer`` does; the command may take them, too.
    of_answer = getattr(signature.return_annotation, "parameters", ())
    further = [one for one in of_answer if one.name not in signature.parameters]

    @wraps(function)
    def command(part_: str | None = None, **given: Any) -> None:  # noqa: ARG001 - where it is given, another command runs
        how = {one.name: given[one.name] for one in of_answer}
        for one in further:
            del given[one.name]
        answer = joined.make(**given)
        if answer is not None:
            answer.tell(**how)

    asked = [*joined.parameters, *further]
    if parts:
        words = f"Something else of the kind, with options of its own: {', '.join(parts)}; --help after it tells them."
        asked.append(parameter("part_", Annotated[str | None, option(words, "--for", among=parts, default="none")], None))
    command.__signature__ = inspect.Signature(asked)  # type: ignore[attr-defined] # what Typer reads
    command.__annotations__, command.__doc__ = {}, text
    # Those that are folders or files, before Typer makes paths of them: `s3://a` is none, and becomes `s3:/a`.
    parsers = {one.name: {getattr(mark, "parser", None) for mark in get_args(one.annotation)[1:]} for one in asked}
    command.addresses = {name for name, of in parsers.items() if any(hasattr(one, "takes_addresses") for one in of)}  # type: ignore[attr-defined]
    paths = {one.name for one in asked if Path in _kinds(one.annotation)}
    command.paths = paths - command.addresses  # type: ignore[attr-defined]
    return command


def of_recipe(recipe: type[BaseModel], *names: str) -> Bundle:
    """The fields of a recipe that carry an ``Option``, all or some; the value holds those that were given."""
    from inpaintbench.recipes.options import Option  # which the help of the program does without

    asked = {
        name: mark
        for name, field in recipe.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Option) and (not names or name in names)
    }
    ordered = {name: asked[name] for name in names} or asked

    def given(**values: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for name, value in values.items():
            if value is None:
                continue
            mark = ordered[name]
            read = value if mark.read is None else read_option(mark.read, value)
            chosen |= {name: read[0], mark.beside: read[1]} if mark.beside else {name: read}
        return chosen

    return Bundle(tuple(_of_field(recipe, name, mark) for name, mark in ordered.items()), given)


def _of_field(recipe: type[BaseModel], name: str, mark: Option) -> inspect.Parameter:
    """An option without a default of its own, so that what was not given is left to the recipe."""
    field = recipe.model_fields[name]
    default, kind = field.default, field.annotation
    if mark.shown is not None:
        shown = mark.shown
    elif default is None or default is False or default == ():
        shown = ""
    else:
        shown = mark.write((default, recipe.model_fields[mark.beside].default) if mark.beside else default)
    words: tuple[str, ...] = ()
    if mark.read:
        kind = list[str] if mark.repeatable else str
    elif get_origin(kind) in (Union, UnionType):
        [kind] = [one for one in get_args(kind) if one is not NoneType]
    if get_origin(kind) is Literal:
        # Text here, so that the recipe's own sentence tells of a misspelt word.
        kind, words = str, get_args(kind)
    made = option(
        field.description or "",
        mark.name or f"--{name.replace('_', '-')}",
        among=(*words, *mark.names) or None,
        panel=mark.panel,
        metavar=mark.metavar,
        **({} if mark.read else bounds(field.metadata)),
    )
    made.show_default = shown or False
    if get_origin(kind) is tuple:
        kind = list[str]
    return parameter(name, Annotated[kind | None, made], None)  # type: ignore[operator]
