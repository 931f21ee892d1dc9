"""Commands whose modules are imported when they are asked for, each with an example: the program answers at once."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

EXAMPLE = "Example:"
"""How the last paragraph of a command's docstring begins that becomes its epilog."""


def group(
    commands: Mapping[str, str],
    *,
    help: str,  # noqa: A002 - Typer's own name
    sentences: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> typer.Typer:
    """A group of commands.

    Args:
        commands: name -> ``module:name`` of a function, or of the ``typer.Typer`` of a group below.
        help: what the group is for.
        sentences: name -> what the command says of itself; where all are here, the group's help imports none of them.
        options: further ones of ``typer.Typer``.
    """
    told = sentences

    class Group(_Group):
        addresses, sentences = commands, told

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

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Without folding: what is folded cannot be copied."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"  {self.epilog}\n")


class _Group(TyperGroup):
    addresses: ClassVar[Mapping[str, str]]
    sentences: ClassVar[Mapping[str, str]]
    _unloaded = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(dict.fromkeys(self.addresses))  # type: ignore[arg-type] # Typer suggests among these names

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
        """Names and sentences."""
        with self._left_unloaded() if self.sentences.keys() >= self.addresses.keys() else nullcontext():
            super().format_commands(ctx, formatter)

    @contextmanager
    def _left_unloaded(self) -> Iterator[None]:
        self._unloaded = True
        try:
            yield
        finally:
            self._unloaded = False


@lru_cache(maxsize=256)
def _command(name: str, address: str) -> Any:
    module, _, attribute = address.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if isinstance(found, typer.Typer):
        _give_examples(found)
        made: Any = typer.main.get_group(found)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, cls=Command)(found)
        made = typer.main.get_command(alone)
    made.name = name
    return made


def _give_examples(app: typer.Typer) -> None:
    app.rich_markup_mode = None
    for command in app.registered_commands:
        command.cls = Command
    for below in app.registered_groups:
        if below.typer_instance is not None:
            _give_examples(below.typer_instance)
