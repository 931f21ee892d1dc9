"""Constants of leaves have ranges, and a value outside of one is refused whoever builds the leaf."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from typing import Any, get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

from inpaintbench.catalogue import Catalogue, attribute_at
from inpaintbench.cli.leaf import CATALOGUES
from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.fitting import Padding
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols import PROTOCOLS

# What a value can be wrapped in where a constant is a list, a list of lists or a mapping.
WRAPPED = (lambda value: value, lambda value: [value, value], lambda value: [[value] * 4], lambda value: {"left": value})


def leaves() -> Iterator[Any]:
    for kind, address in CATALOGUES.items():
        catalogue: Catalogue[Any] = attribute_at(address)
        for name in catalogue:
            if isinstance(catalogue.get(name), type):
                yield pytest.param(catalogue.get(name), id=f"{kind} {name}")


def numbers(schema: Any) -> Iterator[dict[str, Any]]:
    """Every number that a JSON schema allows for."""
    if isinstance(schema, list):
        schema = dict(enumerate(schema))
    if isinstance(schema, dict):
        if schema.get("type") in ("number", "integer"):
            yield schema
        for inner in schema.values():
            yield from numbers(inner)


def declared(leaf: type) -> dict[str, tuple[Any, list[dict[str, Any]]]]:
    """Constant of a leaf -> its type, and the numbers that it can be."""
    hints, found = get_type_hints(leaf.__init__, include_extras=True), {}  # type: ignore[misc]
    for name, one in inspect.signature(leaf).parameters.items():
        if one.kind is not one.VAR_KEYWORD and (among := list(numbers(_schema(hints.get(name, Any))))):
            found[name] = (hints[name], among)
    return found


def _schema(hint: Any) -> Any:
    try:
        return TypeAdapter(hint).json_schema()
    except Exception:  # no JSON: a callable, a path
        return {}


@pytest.mark.parametrize("leaf", leaves())
def test_every_number_that_a_leaf_takes_has_two_ends_and_what_lies_beyond_is_refused(leaf: type) -> None:
    for name, (hint, among) in declared(leaf).items():
        for one in among:
            low, high = (one.get(end, one.get(f"exclusive{end.capitalize()}")) for end in ("minimum", "maximum"))
            assert low is not None, f"{name} has no least value"
            assert high is not None or _may_be(hint, math.inf), f"{name} has no largest value"
        beyond: list[Any] = [math.nan, -1e12, *(() if high is None else (10**20,))]
        for value in (wrap(value) for value in beyond for wrap in WRAPPED):
            if not _may_be(hint, value):
                # Metrics say it of protocols, whose reader takes a ValueError for its sentence.
                # Of what is no number, a library may say it first.
                plain = issubclass(leaf, Metric) or "nan" in repr(value)
                with pytest.raises((InputError, ValueError) if plain else InputError):
                    leaf(**{name: value})


def _may_be(hint: Any, value: Any) -> bool:
    try:
        TypeAdapter(hint).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("leaf", leaves())
def test_defaults_lie_within_their_ranges(leaf: type) -> None:
    for name, (hint, _) in declared(leaf).items():
        default = inspect.signature(leaf).parameters[name].default
        if default is not inspect.Parameter.empty:
            TypeAdapter(hint).validate_python(default)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_builds_its_metrics(name: str) -> None:
    assert PROTOCOLS.get(name).build_metrics()


def test_the_sentence_names_leaf_constant_and_value() -> None:
    with pytest.raises(InputError, match="'telea' cannot have radius_pixels=-3: input should be greater than 0"):
        METHODS.get("telea")(radius_pixels=-3)


@pytest.mark.parametrize("divisor", [10**20, 0, (8, 10**20)])
def test_a_divisor_that_no_picture_can_have_is_refused(divisor: int | Sequence[int]) -> None:
    with pytest.raises(InputError, match="is neither a whole number from 1 to 16384 nor two of them"):
        Padding.of(48, 64, divisor)
