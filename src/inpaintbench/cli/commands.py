"""Commands whose modules are imported when they are asked for, each with an example: the program answers at once."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from inpaintbench.cli import console

DATASET = "--dataset"
# How the last paragraph of a command's docstring begins that becomes its epilog.
EXAMPLE = "Example:"


def group(
    commands: Mapping[str, str],
    *,
    help: str,  # noqa: A002 - Typer's own name
    sentences: Mapping[str, str] = MappingProxyType({}),
    panels: Mapping[str, Sequence[str]] = MappingProxyType({}),
    usual: str | None = None,
    **options: Any,
) -> typer.Typer:
    """A group of commands.

    Args:
        commands: name -> ``module:name`` of a function, or of the ``typer.Typer`` of a group below.
        help: what the group is for.
        sentences: name -> what the command says of itself; where all are here, the group's help imports none of them.
        panels: title -> the commands that stand under it in help, each command once; one panel where none are given.
        usual: the command that is meant where none is named.
        options: further ones of ``typer.Typer``.
    """
    texts, titles, default = sentences, panels or {"Commands": tuple(commands)}, usual

    class Group(_Group):
        addresses, sentences, panels, usual = commands, texts, titles, default

    plain = {"add_completion": False, "rich_markup_mode": None}
    made = typer.Typer(cls=Group, no_args_is_help=True, help=help, **plain | options)
    made.callback()(_nothing)  # without one Typer makes no command of what has no commands of its own
    return made


def _nothing() -> None:
    pass


class Command(TyperCommand):
    """A command whose docstring ends with an example; it is the epilog, in one line that can be copied."""

    def __init__(self, *positional: Any, **options: Any) -> None:
        text, mark, example = (options.get("help") or "").rpartition(f"\n\n{EXAMPLE} ")
        if mark:
            options |= {"help": text, "epilog": f"{EXAMPLE} {' '.join(example.split())}"}
        super().__init__(*positional, **options)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes the dataset, which is the first argument, as the option ``--dataset`` too: older commands have it there."""
        first = self.params[0] if self.params else None
        places = [place for place, word in enumerate(args) if word == DATASET or word.startswith(f"{DATASET}=")]
        if places and first is not None and first.name == "dataset" and first.param_type_name == "argument":
            place, old = places[0], args[places[0]]
            value = [old.partition("=")[2]] if "=" in old else args[place + 1 : place + 2]
            args = [*value, *args[:place], *args[place + (1 if "=" in old else 2) :]]
            if not ctx.resilient_parsing:
                console.warn(f"note: the dataset is the first argument now: {ctx.command_path} {' '.join(value)} ...")
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]  # the value that a shell asks for; without this the arguments before it would not be read
        return super().parse_args(ctx, args)

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


def panel_of(parameter: Any) -> str:
    """The title that a parameter stands under in help."""
    return "Arguments" if parameter.param_type_name == "argument" else parameter.rich_help_panel or "Options"


class _Group(TyperGroup):
    addresses: ClassVar[Mapping[str, str]]
    sentences: ClassVar[Mapping[str, str]]
    panels: ClassVar[Mapping[str, Sequence[str]]]
    usual: ClassVar[str | None]
    _unloaded = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(dict.fromkeys(self.addresses))  # type: ignore[arg-type] # Typer suggests among these names

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the usual command, if there is one, in front of what names none."""
        names_one = not args or args[0] == "--help" or args[0] in self.addresses
        return super().parse_args(ctx, args if names_one or self.usual is None else [self.usual, *args])

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Names in the order of the table."""
        return list(self.addresses)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command, or None."""
        if cmd_name not in self.addresses:
            return None
        if self._unloaded:
            return TyperCommand(cmd_name, help=self.sentences.get(cmd_name))
        return _command(cmd_name, self.addresses[cmd_name])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names, with sentences where these are here: to import all commands at every press of the key takes too long."""
        with self._left_unloaded():
            return super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Names and sentences under the titles of their panels, in columns of one width."""
        widest = max(len(name) for name in self.addresses)
        with self._left_unloaded() if self.sentences.keys() >= self.addresses.keys() else nullcontext():
            for title, names in self.panels.items():
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


@lru_cache(maxsize=256)
def _command(name: str, address: str) -> Any:
    from inpaintbench.cli.options import expanded  # which imports more than the help of the program needs

    module, _, attribute = address.partition(":")
    built = getattr(importlib.import_module(module), attribute)
    if isinstance(built, typer.Typer):
        made: Any = typer.main.get_group(built)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, cls=Command)(expanded(built))
        made = typer.main.get_command(alone)
    made.name = name
    return made
