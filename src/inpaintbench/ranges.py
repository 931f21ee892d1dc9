"""Ranges of the constants of leaves, stated where a constant is declared: ``radius_pixels: Radius = 3.0``.

Whatever builds a leaf has its constants compared with them: a value outside is refused, where it would be ignored by some library
or be scored under a label that it cannot mean. Ends are generous: what nobody can have meant lies beyond them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from inpaintbench.errors import InpaintBenchError, InputError

# Of the largest picture that is read (``video.decoding``), pixels.
LARGEST_SIDE = 16_384

Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
Whole = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""An amount that may be none, or a place."""
AtLeastOne = Annotated[int, Field(ge=1, le=1_000_000)]
Side = Annotated[int, Field(ge=1, le=LARGEST_SIDE)]
"""Of a picture or a part of it, pixels; a multiple that it is padded to."""
Offset = Annotated[int, Field(ge=-LARGEST_SIDE, le=LARGEST_SIDE)]
"""Pixels or grey levels to either side."""
Pixels = Annotated[float, Field(ge=0, le=LARGEST_SIDE)]
Radius = Annotated[float, Field(gt=0, le=LARGEST_SIDE)]
"""Pixels, some at least."""
Level = Annotated[float, Field(ge=0, le=255)]
WholeLevel = Annotated[int, Field(ge=0, le=255)]
Share = Annotated[float, Field(ge=0, le=1)]
Cosine = Annotated[float, Field(ge=-1, le=1)]
Percentile = Annotated[float, Field(ge=0, le=100)]
Positive = Annotated[float, Field(gt=0, le=1e9)]
Enlargement = Annotated[float, Field(gt=0, le=float("inf"))]
"""Infinite where there is no limit."""
Amount = Annotated[float, Field(ge=0, le=1e9)]
Unlimited = Annotated[float, Field(ge=0, le=float("inf"))]
"""An amount that may be infinite, where nothing is to be left out."""
Number = Annotated[float, Field(ge=-1e9, le=1e9)]
Duration = Annotated[float, Field(gt=0, le=31_536_000)]
"""A year at most."""


def bounded(init: Callable[..., None]) -> Callable[..., None]:
    """``init`` of a leaf, which refuses constants outside their ranges."""

    @functools.wraps(init)
    def checked(self: Any, *given: Any, **constants: Any) -> None:
        try:
            init(self, *given, **constants)
        except Exception as error:  # goes on as it is
            # Of a value that no range allows that is what is wrong, unless the leaf says more.
            if not isinstance(error, InpaintBenchError) and type(error) is not ValueError:
                _check(init, type(self), given, constants)
            raise
        _check(init, type(self), given, constants)

    checked.is_bounded = True  # type: ignore[attr-defined]
    return checked


def _check(init: Callable[..., None], leaf: type, given: tuple[Any, ...], constants: dict[str, Any]) -> None:
    names = [name for name in inspect.signature(init).parameters if name != "self"]
    for name, value in {**dict(zip(names, given, strict=False)), **constants}.items():
        if (reads := readers(init).get(name)) is None:
            continue
        try:
            reads.validate_python(value)
        except ValidationError as error:
            wrong = error.errors()[0]
            what = f"{getattr(leaf, 'name', leaf.__name__)!r} cannot have {name}={value!r}"
            raise InputError(f"{what}: {wrong['msg'][:1].lower()}{wrong['msg'][1:]}") from error


@cache
def readers(init: Callable[..., None]) -> dict[str, TypeAdapter[Any]]:
    """Constant of a leaf -> what reads what it is declared as, of those with a range."""
    hints = get_type_hints(init, include_extras=True)
    return {name: TypeAdapter(hint) for name, hint in hints.items() if "FieldInfo" in repr(hint)}
