"""Options derived from the fields of a recipe: ``given: Annotated[Given, of_recipe(DevilRecipe)] = NONE_GIVEN``.

Names, kinds, help, defaults, bounds and panels are those of the recipe; the command gets what was given and nothing else, so that
the recipe alone knows its defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le  # what pydantic writes bounds with
from pydantic import BaseModel

from inpaintbench.cli.options import Bundle, option, parameter, read_option
from inpaintbench.recipes.options import Option

# Field -> value.
Given = Mapping[str, Any]
NONE_GIVEN: Given = MappingProxyType({})


def of_recipe(recipe: type[BaseModel], *names: str) -> Bundle:
    """The fields of a recipe that carry an ``Option``, all or some; the value holds those that were given."""
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
    # Typer knows inclusive bounds alone; the recipe itself checks the others.
    least = next((mark.ge for mark in field.metadata if isinstance(mark, Ge)), None)
    most = next((mark.le for mark in field.metadata if isinstance(mark, Le)), None)
    bounds: dict[str, Any] = {} if mark.read else {"min": least, "max": most}
    default = field.default
    if mark.shown is not None:
        shown = mark.shown
    elif default is None or default is False or default == ():
        shown = ""
    else:
        shown = mark.write((default, recipe.model_fields[mark.beside].default) if mark.beside else default)
    kind, literals = (list[str] if mark.repeatable else str, ()) if mark.read else _kind(field.annotation)
    among = (*literals, *mark.names) or None
    word = mark.name or f"--{name.replace('_', '-')}"
    made = option(field.description or "", word, among=among, panel=mark.panel, metavar=mark.metavar, **bounds)
    made.show_default = shown or False
    return parameter(name, Annotated[kind | None, made], None)


def _kind(annotation: Any) -> tuple[Any, tuple[str, ...]]:
    """Type of a field on a command line: its type without None, text for words that are listed, and these words."""
    if get_origin(annotation) in (Union, UnionType):
        [annotation] = [arg for arg in get_args(annotation) if arg is not NoneType]
    if get_origin(annotation) is Literal:
        return str, get_args(annotation)
    return (list[str] if get_origin(annotation) is tuple else annotation), ()
