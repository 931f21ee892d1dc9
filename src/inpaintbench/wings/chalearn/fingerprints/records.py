"""Parameters of a synthetic print: a finger, an impression of it, and the elastic field of the picture. Numbers, no pixels.

Coordinates are pixels, x to the right, y down; the centre of the upper left pixel is (0, 0). Lengths hold at the finger's own
resolution. Every record is JSON-able by ``dataclasses.asdict`` and comes back by ``of_plain``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

CLASSES = ("arch", "tented_arch", "left_loop", "right_loop", "double_loop", "whorl")
# Resolution that lengths are stated for; the usual one of fingerprint scanners.
REFERENCE_PIXELS_PER_INCH = 500.0

# (x, y).
Point = tuple[float, float]


@dataclass(frozen=True)
class Finger:
    """Parameters of a master print."""

    finger_class: str
    """One of ``CLASSES``."""
    width: int
    height: int
    pixels_per_inch: float
    cores: tuple[Point, ...]
    deltas: tuple[Point, ...]
    bends_degrees: tuple[tuple[float, float], ...]
    """(u, v) of the correction around each core: deviation of its ridges from the plain zero-pole model."""
    arch: tuple[float, float, float] | None
    """(k, f1, f2) of a plain arch; None for the other classes."""
    seed: int
    """Seed of the density map and of the points that ridges grow from."""


@dataclass(frozen=True)
class Impression:
    """Parameters of one picture of a finger before the elastic field."""

    number: int
    """Index among the impressions of its finger."""
    moisture: float
    """-1 dry (ridges thin and broken) to 1 wet (ridges thick, valleys filled)."""
    pressure: float
    """0 light to 1 heavy; determines the contact area and the darkness."""
    silhouette: tuple[float, float, float, float]
    """(left, right, lower, upper) half axes of the contact region's five-parameter shape, pixels."""
    contact_shift: Point
    """Translation of the contact region against the ridges, pixels."""
    rotation_degrees: float
    """Rotation of the whole print, and of the skin against the surface."""
    translation: Point
    skin_plasticity: float
    """k of the skin's distortion model: width of the transition from its still centre to the moving border; 0 = rigid motion."""
    noise: float
    """Density of white specks, 1 = as in the challenge."""
    scratches: int
    seed: int
    """Seed of noise, scratches and edges."""


@dataclass(frozen=True)
class Elastic:
    """The elastic field that truth and input share. Source: Simard, Steinkraus, Platt, ICDAR 2003."""

    seed: int
    strength: float
    """Factor of the smoothed noise in -1..1, pixels; 0 = no field."""
    reach: float
    """Standard deviation of the smoothing, pixels."""


@dataclass(frozen=True)
class Print:
    """Parameters of one picture of one finger."""

    finger: Finger
    impression: Impression
    elastic: Elastic

    @classmethod
    def of_plain(cls, fields: Mapping[str, Any]) -> Print:
        """Build a record from the result of ``asdict``, also where JSON has turned its tuples into lists."""
        return _PRINTS.validate_python(fields)


_PRINTS = TypeAdapter(Print)
