"""Options of commands: written in one line, or shared by several commands.

A parameter that is annotated with a ``Bundle`` stands for several options: ``running: Annotated[Running, bundle(Running)]`` gives
a command every option of the dataclass ``Running`` and the function one object.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from inpaintbench.cli import completing
from inpaintbench.cli.exits import UsageError

Value = TypeVar("Value")


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
        more["autocompletion"] = completing.names(among)
    return typer.Option(*names, help=words, show_default=default or True, rich_help_panel=panel, **more)


def argument(words: str, *, default: str | None = None, among: Iterable[str] | None = None, **more: Any) -> Any:
    """The metadata of an argument, as ``option`` has it."""
    if among is not None:
        more["autocompletion"] = completing.names(among)
    return typer.Argument(help=words, show_default=default or True, **more)


@dataclass(frozen=True)
class Bundle:
    """The options that one parameter of a command stands for, and what makes its value of theirs."""

    parameters: tuple[inspect.Parameter, ...]
    make: Callable[..., Any]


def bundle(kind: type, *names: str, panel: str | None = None) -> Bundle:
    """The fields of a dataclass as options, all or some; the others keep their defaults. A field may be a bundle itself."""
    hints = get_type_hints(kind, include_extras=True)
    defaults = {field.name: field.default for field in fields(kind)}
    chosen = names or [name for name in defaults if get_origin(hints[name]) is Annotated]
    return _joined([parameter(name, _in_panel(hints[name], panel), defaults[name]) for name in chosen], kind)


def _joined(parameters: Iterable[inspect.Parameter], make: Callable[..., Any]) -> Bundle:
    """The options of parameters, some of which stand for bundles; ``make`` is called with these made."""
    asked = list(parameters)
    bundles = {one.name: mark for one in asked for mark in get_args(one.annotation)[1:] if isinstance(mark, Bundle)}
    options = [option for one in asked for option in (bundles[one.name].parameters if one.name in bundles else [one])]

    def made(**given: Any) -> Any:
        parts = {name: of.make(**{part.name: given.pop(part.name) for part in of.parameters}) for name, of in bundles.items()}
        return make(**given, **parts)

    plain = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in options]
    return Bundle(tuple(plain), made if bundles else make)


def _in_panel(annotation: Any, panel: str | None) -> Any:
    if panel is None:
        return annotation
    of, info = get_args(annotation)
    if isinstance(info, Bundle):
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


def parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """A parameter for a ``Bundle``; its annotation carries an ``option``."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def expanded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command with the options of its bundles in the place of these."""
    joined = _joined(inspect.signature(function, eval_str=True).parameters.values(), function)
    if joined.make is function:
        return function

    @wraps(function)
    def command(**given: Any) -> Any:
        return joined.make(**given)

    command.__signature__ = inspect.Signature(joined.parameters)  # type: ignore[attr-defined] # what Typer reads
    command.__annotations__ = {}
    return command
