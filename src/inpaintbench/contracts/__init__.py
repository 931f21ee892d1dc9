"""Rules that every leaf of a kind has to keep, as checks that `inpaintbench leaf check` and the tests run on any leaf.

A kind's checks are functions of a built leaf, ``CHECKS`` of the module here that is called as the kind. Each is named for
what it checks and raises ``ContractError`` where the leaf does something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import isfunction
from typing import Any, NamedTuple

import numpy as np

from inpaintbench.catalogue import attribute_at, joined
from inpaintbench.errors import InpaintBenchError
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames, Hole

cv2 = lazily("cv2")

Check = Callable[[Any], None]


class ContractError(InpaintBenchError):
    """A leaf does not do what every leaf of its kind has to do; the text says what it did."""


class NotChecked(Exception):
    """A check is not about this leaf, or lacks what it needs, such as weights; the text says why."""


class Outcome(NamedTuple):
    """Result of one check."""

    check: str
    """Rule that was checked, in words."""
    fault: str | None = None
    """Fault of the leaf, in words; None where it keeps the rule."""
    skipped: str | None = None
    """Reason why it was not looked at."""


def require(kept: object, sentence: str) -> None:
    """Raise ``ContractError`` with the text ``sentence`` unless ``kept`` is true."""
    if not kept:
        raise ContractError(sentence)


def checks_of(kind: str) -> Sequence[Check]:
    """The checks of a kind of leaf."""
    own = f"{__name__}.{kind.replace(' ', '_')}:CHECKS"
    checks: Sequence[Check] = attribute_at(joined("contract").get(kind, own))
    return checks


def checks_above(names: Mapping[str, Any]) -> tuple[Check, ...]:
    """The checks of a module so far, in their order: its public functions."""
    functions = (here for here in names.values() if isfunction(here) and here.__module__ == names["__name__"])
    return tuple(here for here in functions if not here.__name__.startswith("_"))


def outcomes(checks: Sequence[Check], leaf: object) -> Iterator[Outcome]:
    """Return what each check finds of ``leaf``.

    No exception of the leaf's ends them, as one that its kind does not allow is a fault.
    """
    for check in checks:
        what = check.__name__.replace("_", " ")
        try:
            check(leaf)
        except ContractError as error:
            yield Outcome(what, fault=str(error))
        except NotChecked as error:
            yield Outcome(what, skipped=str(error))
        except Exception as error:  # a leaf of somebody's may raise anything
            yield Outcome(what, fault=f"{type(error).__name__}: {error}")
        else:
            yield Outcome(what)


def states_its_facts(leaf: Any, *facts: str) -> None:
    """Name, version and documentation are there, and every one of the further ``facts``."""
    for fact in ("name", "version", "__doc__"):
        require(getattr(leaf, fact, None), f"it has no {fact}")
    for fact in facts:
        require(hasattr(leaf, fact), f"it does not state {fact}")


def moving_texture(frames: int, *, height: int, width: int, pixels_per_frame: int = 2) -> Frames:
    """``uint8[T, H, W, 3]``: a smooth random texture that slides to the left by whole pixels."""
    shape = (height, width + frames * pixels_per_frame, 3)
    noise = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, shape).astype(np.float32), (0, 0), 2)
    texture = np.clip(128 + 6 * (noise - 127.5), 0, 255).astype(np.uint8)
    return np.stack([texture[:, index * pixels_per_frame :][:, :width] for index in range(frames)])


def noisy(frames: Frames, *, amplitude: int) -> Frames:
    """``frames`` with evenly distributed noise of at most ``amplitude`` levels, the same for the same shape."""
    noise = np.random.default_rng(1).integers(-amplitude, amplitude + 1, frames.shape)
    disturbed: Frames = np.clip(frames + noise, 0, 255).astype(np.uint8)
    return disturbed


def wandering_hole(frames: int, *, height: int, width: int) -> Hole:
    """``bool[T, H, W]``: a rectangle that moves by a pixel a frame, and one that stays at the edge of the frame."""
    hole = np.zeros((frames, height, width), np.bool_)
    for index in range(frames):
        hole[index, height // 4 + index % 8 : height // 2 + index % 8, width // 3 : width // 2] = True
    hole[:, -height // 6 :, : width // 6] = True
    return hole


def read_only(*arrays: Any) -> None:
    """A leaf that writes into what it is given raises instead."""
    for array in arrays:
        array.flags.writeable = False
