"""How many films and items find an effect, and the least effect that so many find.

An effect is a mean of differences over films: of pairs of one clip that differ in one property, or of methods. Told is what
``simultaneous`` leaves of it among all that is looked at. The bound is taken as Student's t of one effect at the level that Šidák
(Journal of the American Statistical Association, 1967) gives each of so many, as if they had nothing in common. Errors of several
effects are drawn together, which is worth about as many degrees of freedom again as films give: measured with 6 to 24 films and 3
to 40 effects, bounds of ``simultaneous`` are then within a tenth of these. `bench/diagnosis.py` measures the deviations of real
films, and whether studies find what is promised here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import nctdtr

from inpaintbench.claims import ENOUGH_SOURCES, students_t
from inpaintbench.errors import InputError
from inpaintbench.eval.comparing.simultaneous import FIRST_SHARE, LEVEL

# Share of studies that are to find what is there.
POWER = 0.8
# Beyond it nobody plans; where so many do not do, none are said to.
MOST_FILMS = 10_000


class Deviations(NamedTuple):
    """Standard deviations of an effect, in its unit."""

    films: float
    """Of what it is in each film, between films."""
    clips: float
    """Of what it is in each clip of a film, between them."""
    masks: float
    """Of one difference around what its clip has: masks and what else chance draws."""


class Design(NamedTuple):
    """How much is measured, and how much is looked at."""

    clips: float
    """Of a film."""
    masks: float
    """Of a clip: differences that the effect is the mean of, such as pairs of an axis."""
    effects: int
    """Looked at together; see ``effects_of``."""
    declared: float = FIRST_SHARE
    """Share of the 5 % that they have: the primary quantity's beside others, or 1 where there is no other."""


class Needed(NamedTuple):
    """What finds an effect."""

    effect: float
    films: int | None
    """None where more than ``MOST_FILMS`` would have to be."""


def effects_of(axes: int, methods: int) -> int:
    """Number of effects of so many axes of two levels: of each on each method and on each lead of one over another."""
    leads = methods * (methods - 1) // 2
    return axes * (methods + leads) + leads


def power_of(effect: float, films: int, deviations: Deviations, design: Design) -> float:
    """Share of studies, 0..1, that tell an effect of a true size and get its sign right; 0 with too few films for any claim."""
    if films < ENOUGH_SOURCES:
        return 0.0
    error = _error(films, deviations, design)
    if error == 0:
        return float(effect != 0)
    degrees = (films - 1) * (1 if design.effects == 1 else 2)
    # Standard errors by which an effect has to differ from 0.
    bound = students_t((1 - (1 - LEVEL) * design.declared) ** (1 / design.effects), degrees)
    # Of a t that lies off by the effect in standard errors: the share beyond the bound on that side.
    return 1 - float(nctdtr(degrees, abs(effect) / error, bound))


def least_effect(films: int, deviations: Deviations, design: Design, *, power: float = POWER) -> float | None:
    """The least size that a share ``power`` of studies of so many films tells; None with too few films for any claim."""
    if films < ENOUGH_SOURCES:
        return None
    error = _error(films, deviations, design)
    low, high = 0.0, 1.0
    while error and power_of(high * error, films, deviations, design) < power:
        low, high = high, 2 * high
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if error and power_of(middle * error, films, deviations, design) < power else (low, middle)
    return high * error


def needed(effect: float, deviations: Deviations, design: Design, *, power: float = POWER) -> Needed:
    """The fewest films that find an effect in a share ``power`` of studies.

    Raises:
        InputError: an effect of no size, or a power that is no share.
    """
    if not effect > 0 or not 0 < power < 1:
        raise InputError(f"an effect of {effect:g} or a power of {power:g} is out of range (above 0, 0..1)")
    low, high = ENOUGH_SOURCES - 1, ENOUGH_SOURCES
    while power_of(effect, high, deviations, design) < power:
        low, high = high, 2 * high
        if low >= MOST_FILMS:
            return Needed(effect, None)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(effect, middle, deviations, design) < power else (low, middle)
    return Needed(effect, high)


def _error(films: int, deviations: Deviations, design: Design) -> float:
    """Standard error of the mean over films."""
    of_clip = deviations.clips**2 + deviations.masks**2 / design.masks
    return math.sqrt((deviations.films**2 + of_clip / design.clips) / films)
