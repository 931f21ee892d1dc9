"""Choices of a recipe on a command line: what ``Field`` does not say of them, and choices written as text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field

FOOTAGE, CLIPS, SELECTION, DATASET = "Footage", "Clips", "Selection", "Dataset"
# Titles that options stand under in the help of a command.
MASKS, SECOND_MASKS, PRINTS, DEGRADATION, SUBTITLES = "Masks", "Second masks", "Prints", "Degradation", "Subtitles"


@dataclass(frozen=True)
class Option:
    """The option of a field, as ``Annotated[int, Option(CLIPS)] = Field(90, ge=1, description="Frames of a clip.")``.

    The field's description is its help, its default is shown, and its bounds are checked before anything else.
    """

    panel: str
    name: str | None = None
    """``--patch``, or ``--cut-bars/--no-cut-bars``; by default the field's name."""
    shown: str | None = None
    """Text that stands for the default where the command has its own; "" = nothing."""
    metavar: str | None = None
    read: Callable[[Any], Any] | None = None
    """Text, or the texts of a repeatable option -> the field's value; raises ``ValueError`` in a sentence."""
    write: Callable[[Any], str] = str
    """The inverse of ``read``, for the default."""
    beside: str | None = None
    """A second field that the option sets; ``read`` then gives both values, ``write`` takes both."""
    repeatable: bool = False
    names: Iterable[str] = ()
    """Names that shells complete it with, besides the words of a ``Literal``."""


def read_size(text: str) -> tuple[int, int]:
    """``832x480`` -> (832, 480) pixels."""
    if not re.fullmatch(r"[0-9]{2,4}x[0-9]{2,4}", text) or min(map(int, text.split("x"))) < 16:
        raise ValueError(f"size {text!r} is not WxH with sides of 16 to 9999, such as 832x480")
    width, height = map(int, text.split("x"))
    return width, height


def read_edges(text: str) -> tuple[float, ...]:
    """``0,20,40`` per cent -> (0.0, 0.2, 0.4)."""
    try:
        edges = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise ValueError(f"bins {text!r} are not edges in per cent, such as 0,20,40,60") from error
    if len(edges) < 2 or not all(0 <= low < high <= 100 for low, high in pairwise(edges)):
        raise ValueError(f"bins {text!r} are not two or more ascending edges from 0 to 100 per cent, such as 0,20,40,60")
    return tuple(edge / 100 for edge in edges)


def write_edges(edges: Sequence[float]) -> str:
    """(0.0, 0.2, 0.4) -> ``0,20,40`` per cent."""
    return ",".join(f"{100 * edge:g}" for edge in edges)


def read_ratio(text: str) -> float | tuple[float, ...]:
    """``0.4``, or ``0.2-0.6`` -> (0.2, 0.6)."""
    try:
        numbers = tuple(float(part) for part in text.split("-"))
    except ValueError as error:
        raise ValueError(f"ratio {text!r} is neither a number nor two, such as 0.2-0.6") from error
    if not all(0 < number <= 1 for number in numbers) or sorted(numbers) != list(numbers) or len(numbers) > 2:
        raise ValueError(f"ratio {text!r} should be a number above 0 and at most 1, or two ascending ones, such as 0.2-0.6")
    return numbers[0] if len(numbers) == 1 else numbers


def read_weights(text: str) -> str | dict[str, float]:
    """A name as it is, or the weights of ``whorl=2,arch=1``."""
    if "=" not in text:
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, weight = (word.strip() for word in part.partition("="))
        if name in weights:
            raise ValueError(f"law {text!r} gives {name} two weights")
        try:
            weights[name] = float(weight)
        except ValueError as error:
            raise ValueError(f"law {text!r}: {weight!r} is not a weight; give numbers, such as whorl=2,arch=1") from error
    return weights


def read_splits(text: str) -> dict[str, float]:
    """``9,1,1`` -> shares of train, validation and test, of which one with 0 is left out."""
    names = ("train", "validation", "test")
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        shares = []
    if len(shares) != len(names) or not all(0 <= share < math.inf for share in shares) or not sum(shares):
        raise ValueError(f"splits {text!r} are not three shares for {', '.join(names)}, such as 9,1,1")
    return {name: share / sum(shares) for name, share in zip(names, shares, strict=True) if share}


def write_splits(splits: Mapping[str, float]) -> str:
    """Shares -> the smallest as 1: ``9,1,1``."""
    return ",".join(f"{share / min(splits.values()):g}" for share in splits.values())


def splits_option(shown: str | None = None) -> Option:
    """The option of a recipe's shares of splits; ``shown`` stands for the default where that is none of three shares."""
    return Option(DATASET, "--splits", shown=shown, metavar="TRAIN,VALIDATION,TEST", read=read_splits, write=write_splits)


BY_TURN = Option(MASKS, "--masks-by-turn")
# Of recipes whose benchmark is for testing alone.
TEST_ALONE: Mapping[str, float] = {"test": 1.0}
HeldOut = Annotated[
    Mapping[str, float],
    splits_option("all are test"),
    # What has one split is called as it was before there was a choice.
    Field(exclude_if=TEST_ALONE.__eq__, description="Shares of the splits, such as 8,1,1; a source is in one of them."),
]
SIZE = Option(CLIPS, "--size", metavar="WxH", read=read_size, write="{0[0]}x{0[1]}".format, beside="height")
Seed = Annotated[int, Option(DATASET), Field(description="Of every random choice.")]
StrictRules = Annotated[
    bool,
    Option(SELECTION, "--strict-rules/--no-strict-rules"),
    # What does not ask for it is called as it was before there was a choice.
    Field(exclude_if=(False).__eq__, description="Refuse where a rule has no value on some clip."),
]
Behaviour = Annotated[
    Literal["corrected", "as-published"],
    Option(DATASET),
    Field(description="corrected, or as-published (repeats the released code's choices)."),
]
