"""The contract of attributes, whatever they measure."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from inpaintbench import contracts
from inpaintbench.contracts import NotChecked, checks_above, moving_texture, require
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import NotMeasurable
from inpaintbench.models import weights
from inpaintbench.types import Frames
from inpaintbench.view import PARTS, ItemView

_SHAPES = ((1, 48, 64), (2, 16, 16), (3, 17, 301), (70, 33, 31))
_CONTENTS = ("flat", "black", "noise")


def states_its_facts(attribute: AttributeLeaf) -> None:
    """Name, version, documentation, unit, direction, cost, and the parts of a clip that it reads."""
    contracts.states_its_facts(attribute, "unit", "cost", "needs")
    require(attribute.direction, "it does not say what a higher value means (direction)")
    require(attribute.cost > 0, f"its cost is {attribute.cost}; state its time as a multiple of decoding the clip")
    foreign = set(attribute.needs) - set(PARTS)
    fields = ", ".join(sorted(foreign)) or "nothing"
    require(attribute.needs and not foreign, f"it needs {fields}; choose from {', '.join(PARTS)}")


def gives_a_value_and_leaves_the_clip_alone(attribute: AttributeLeaf) -> None:
    """A finite number, or a word."""
    value = _measured(attribute, moving_texture(60, height=120, width=160))
    require(_is_value(value), f"it gives {value!r}, not a finite number or a word")


def gives_the_same_twice(attribute: AttributeLeaf) -> None:
    """Equal clips have equal values."""
    frames = moving_texture(13, height=106, width=189)
    first, second = (_measured(attribute, frames) for _ in range(2))
    require(first == second, f"the same clip has {first!r} and then {second!r}")


def has_a_value_or_a_reason_where_there_is_nothing_to_measure(attribute: AttributeLeaf) -> None:
    """Clips that are flat, black or noise, short and of odd sizes."""
    rng = np.random.default_rng(0)
    for shape, content in product(_SHAPES, _CONTENTS):
        levels = {"flat": np.full(shape, 99), "black": np.full(shape, 16), "noise": rng.integers(16, 236, shape)}[content]
        try:
            value = _measured(attribute, np.repeat(levels.astype(np.uint8)[..., None], 3, axis=3))
        except NotMeasurable as error:
            require(str(error) and "\n" not in str(error), f"of a {content} clip it says no reason in one line")
        else:
            require(_is_value(value), f"of a {content} clip of {shape} it gives {value!r}")


CHECKS = checks_above(globals())


def _measured(attribute: AttributeLeaf, frames: Frames) -> float | str:
    for name in attribute.weights:
        try:
            weights.path_of(name)
        except NotMeasurable as error:
            raise NotChecked(str(error)) from error
    luma = np.ascontiguousarray(frames[..., 1])  # any plane of the right kind: nothing here depends on colours
    contracts.read_only(frames, luma)
    return attribute.measure(ItemView.of_arrays(truth=frames, luma=luma).declaring(attribute.name, attribute.needs))


def _is_value(value: object) -> bool:
    return bool(value) if isinstance(value, str) else isinstance(value, int | float | np.floating) and math.isfinite(value)
