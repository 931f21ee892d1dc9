"""Commands whose modules are imported when they are asked for: the program answers at once, whatever its rooms import."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup


def group(commands: Mapping[str, str], *, help: str, **options: Any) -> typer.Typer:  # noqa: A002 - Typer's own name
    """A group of commands.

    Args:
        commands: name -> ``module:name`` of a function, or of the ``typer.Typer`` of a group below.
        help: what the group is for.
        options: further ones of ``typer.Typer``.
    """

    class Group(_Group):
        addresses = commands

    return typer.Typer(cls=Group, no_args_is_help=True, help=help, add_completion=False, rich_markup_mode=None, **options)


class _Group(TyperGroup):
    addresses: ClassVar[Mapping[str, str]]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands.update(dict.fromkeys(self.addresses))  # type: ignore[arg-type] # Typer suggests among these names

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Names in the order of the table."""
        return list(self.addresses)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command, or None."""
        return _command(cmd_name, self.addresses[cmd_name]) if cmd_name in self.addresses else None


@lru_cache(maxsize=256)
def _command(name: str, address: str) -> Any:
    module, _, attribute = address.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if isinstance(found, typer.Typer):
        found.rich_markup_mode = None
        made: Any = typer.main.get_group(found)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(found)
        made = typer.main.get_command(alone)
    made.name = name
    return made
