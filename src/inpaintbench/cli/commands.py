"""Commands whose modules are imported when they are asked for, each with an example: the program answers at once."""

from __future__ import annotations

import gc
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from types import CodeType, MappingProxyType
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import console
from inpaintbench.errors import UnknownNameError, UsageError
from inpaintbench.storage import check_path, check_paths_within

DATASET, METHOD, SAVED = "--dataset", "--method", "--saved"
# What stands for a folder or a file in help, within texts too: `LABEL=FOLDER`, and the datasets A and B.
_PLACES = re.compile(r"FOLDER|FILE|DATASET|ANNOTATIONS|\b[AB]\b")
# Option that says which part of a command's work is asked for: `eval run --for scores` is a command with options of its own.
FOR = "--for"
# How the last paragraph of a command's docstring begins that becomes its epilog.
EXAMPLE = "Example:"


def group(
    commands: Mapping[str, str],
    *,
    help: str,  # noqa: A002 - Typer's own name
    sentences: Mapping[str, str] = MappingProxyType({}),
    panels: Mapping[str, Sequence[str]] = MappingProxyType({}),
    former: Mapping[str, str] = MappingProxyType({}),
    usual: str | None = None,
    **options: Any,
) -> typer.Typer:
    """A group of commands.

    Args:
        commands: name -> ``module:name`` of a function, or of the ``typer.Typer`` of a group below; ``run --for scores`` is the
            name of a part of the command ``run``.
        help: what the group is for.
        sentences: name -> what the command says of itself, of groups and where help shall not even look for docstrings.
        panels: title -> the commands that stand under it in help, each command once; one panel where none are given.
        former: former name, of one word or two -> the name now, as it is typed behind the program's; it does the same and says
            so, and no help lists it. "" for a group whose commands say it.
        usual: the command that is meant where none is named.
        options: further ones of ``typer.Typer``.
    """
    shown = tuple(name for name in commands if " " not in name and name not in former)
    texts, titles, old, default = sentences, panels or {"Commands": shown}, former, usual

    class Group(_Group):
        addresses, sentences, panels, former, usual = commands, texts, titles, old, default

    plain = {"add_completion": False, "rich_markup_mode": None}
    made = typer.Typer(cls=Group, no_args_is_help=True, help=help, **plain | options)
    made.callback()(lambda: None)  # without one Typer makes no command of what has no commands of its own
    return made


class Command(TyperCommand):
    """A command whose docstring ends with an example; it is the epilog, in one line that can be copied.

    An option of one value that is given again is refused, where Click would take the last value and say nothing.
    """

    now: str = ""
    """What a former name is called now."""

    def __init__(self, *positional: Any, **options: Any) -> None:
        text, mark, example = (options.get("help") or "").rpartition(f"\n\n{EXAMPLE} ")
        if mark:
            options |= {"help": text, "epilog": f"{EXAMPLE} {' '.join(example.split())}"}
        super().__init__(*positional, **options)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes what the first argument is as an option too: the dataset, which older commands have there, and a method, which
        is one of other commands."""
        if self.now and not ctx.resilient_parsing:
            console.warn(f"note: `{ctx.command_path}` is `inpaintbench {self.now}` now")
        first = self.params[0] if self.params and self.params[0].param_type_name == "argument" else None
        option = {"dataset": DATASET, "method": METHOD}.get(first.name or "") if first is not None else None
        value, others = _taken(args, option) if option is not None else (None, args)
        if value is not None:
            args = [*value, *others]
            if option == DATASET and not ctx.resilient_parsing:
                console.warn(f"note: the dataset is the first argument now: {ctx.command_path} {' '.join(value)} ...")
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]  # the value that a shell asks for; without this the arguments before it would not be read
        if not ctx.resilient_parsing:
            values, _, given = self.make_parser(ctx).parse_args(list(args))
            _check_once(given)
            _check_places(self.params, {one.name: one.consume_value(ctx, values)[0] for one in self.params}, self.callback)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Collects garbage again, which the program leaves while it imports, and never looks through what was imported."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options under the titles of their panels, in the order of the first of each."""
        panels: dict[str, list[Any]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                panels.setdefault(panel_of(parameter), []).append(record)
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Without folding: what is folded cannot be copied."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"  {self.epilog}\n")


def _check_once(given: Sequence[Any]) -> None:
    """Raise ``UsageError`` where an option of one value stands twice among the parameters that were ``given``."""
    for one in given:
        if one.param_type_name == "option" and not (one.multiple or one.is_flag) and given.count(one) > 1:
            raise UsageError(f"{one.opts[0]} is given {given.count(one)} times, and takes one value")


def _check_places(parameters: Sequence[Any], values: Mapping[str, Any], command: Any) -> None:
    """Raise ``UsageError`` where a parameter that names a folder or a file has an address, before any work is begun."""
    for one in parameters:
        called = one.opts[0] if one.param_type_name == "option" else (one.metavar or one.name.upper())
        value = None if one.name in getattr(command, "addresses", ()) else values[one.name]
        for text in value if isinstance(value, list | tuple) else [value]:
            if one.name in getattr(command, "paths", ()) and text is not None:
                check_path(str(text), called=called)
            elif isinstance(text, str) and (one.opts[0] == SAVED or _PLACES.search(one.metavar or "")):
                check_paths_within(text, called=called)


def _taken(args: list[str], option: str) -> tuple[list[str] | None, list[str]]:
    """The value of an option among ``args``, [] where it stands last and None where it is not there; and the other words."""
    place = next((place for place, word in enumerate(args) if word == option or word.startswith(f"{option}=")), None)
    if place is None:
        return None, args
    _, equals, value = args[place].partition("=")
    values = [value] if equals else args[place + 1 : place + 2]
    return values, [*args[:place], *args[place + (1 if equals else 2) :]]


def panel_of(parameter: Any) -> str:
    """The title that a parameter stands under in help."""
    return "Arguments" if parameter.param_type_name == "argument" else parameter.rich_help_panel or "Options"


class _Group(TyperGroup):
    addresses: ClassVar[Mapping[str, str]]
    sentences: ClassVar[Mapping[str, str]]
    panels: ClassVar[Mapping[str, Sequence[str]]]
    former: ClassVar[Mapping[str, str]]
    usual: ClassVar[str | None]
    _unloaded = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(dict.fromkeys([*self.addresses, *self.former]))  # type: ignore[arg-type] # Typer suggests among them

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the usual command, if there is one, in front of what names none."""
        names_one = not args or args[0] == "--help" or args[0] in self.addresses or args[0] in self.former
        return super().parse_args(ctx, args if names_one or self.usual is None else [self.usual, *args])

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Names in the order of the table, without former ones and parts."""
        return [name for name in self.addresses if " " not in name and name not in self.former]

    def with_parts(self) -> list[str]:
        """The same with the parts of commands."""
        return [name for name in self.addresses if name not in self.former]

    def parts(self, name: str) -> dict[str, str]:
        """What a command can be asked to do alone -> the name of the command that does it."""
        beginning = f"{name} {FOR} "
        return {key.removeprefix(beginning): key for key in self.addresses if key.startswith(beginning)}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command, or None."""
        now = self.former.get(cmd_name, "")
        address = self.addresses.get(cmd_name) or self.addresses.get(now.partition(" ")[2])
        if address is None:
            return None
        if self._unloaded and (sentence := self.sentences.get(cmd_name) or _docstring(address)):
            return TyperCommand(cmd_name, help=sentence)
        made = _command(cmd_name, address, tuple(self.parts(cmd_name)))
        if cmd_name in self.former:
            made.now, made.hidden = now, True
        return made

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word or the first two name, or the part of it that its option ``--for`` names."""
        if (both := " ".join(args[:2])) in self.addresses or both in self.former:
            args = [both, *args[2:]]
        parts, (value, others) = self.parts(args[0]), _taken(args, FOR)
        if parts and value:
            if value[0] in parts:
                return super().resolve_command(ctx, [parts[value[0]], *others[1:]])
            if not ctx.resilient_parsing:
                raise UnknownNameError(unknown_name(f"part of {args[0]}", value[0], parts))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names with sentences: to import all commands at every press of the key takes too long."""
        with self._left_unloaded():
            return super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Names and sentences under the titles of their panels, in columns of one width."""
        widest = max((len(name) for name in self.list_commands(ctx)), default=0)
        with self._left_unloaded():
            for title, names in self.panels.items() if widest else ():
                rows = [(f"{name:<{widest}}", self.get_command(ctx, name)) for name in names]
                limit = formatter.width - 6 - widest
                with formatter.section(title):
                    formatter.write_dl(
                        [(name, command.get_short_help_str(limit)) for name, command in rows if not command.hidden]
                    )

    @contextmanager
    def _left_unloaded(self) -> Iterator[None]:
        self._unloaded = True
        try:
            yield
        finally:
            self._unloaded = False


def _docstring(address: str) -> str | None:
    """That of the function at ``module:name``, whose module is not run; None where it is made another way."""
    module, _, name = address.partition(":")
    spec = find_spec(module)
    code: Any = spec.loader.get_code(module)  # type: ignore[union-attr] # a module of this program
    found = [part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name]
    return inspect.cleandoc(str(found[-1].co_consts[0])) if found else None


@lru_cache(maxsize=256)
def _command(name: str, address: str, parts: tuple[str, ...]) -> Any:
    from inpaintbench.cli.options import expanded  # which imports more than the help of the program needs

    module, _, attribute = address.partition(":")
    built = getattr(importlib.import_module(module), attribute)
    if isinstance(built, typer.Typer):
        made: Any = typer.main.get_group(built)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, cls=Command)(expanded(built, parts))
        made = typer.main.get_command(alone)
    made.name = name
    return made
