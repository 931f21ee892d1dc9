"""Generators of holes that are given rather than drawn: blocks, the mask of a clip, the same with errors, and along an axis.

Blocks are kept as JSON, ``{file name: [[row, column, size], ...]}``, as in the ChaLearn challenge's ``maskdata.json``: one
covers rows ``row .. row + size - 1`` and columns ``column .. column + size - 1``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import regions
from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.axes import AXES
from inpaintbench.masks.axes.base import known_level
from inpaintbench.masks.generators.base import Drawn, Generator, share
from inpaintbench.masks.mask_errors import FIXED, KINDS, Kind, agreement, spoilt
from inpaintbench.ranges import Amount, Offset, Share, Whole
from inpaintbench.types import Hole
from inpaintbench.view import ItemView

# (row, column, size) in pixels.
Block = tuple[int, int, int]


def read_blocks(path: Path | str) -> dict[str, list[Block]]:
    """Read the blocks of every file name in ``path``, in its order.

    Raises:
        InputError: the file is not of this format; the text names the wrong entry.
    """
    where = Path(path).name
    try:
        data = json.loads(Path(path).read_bytes().decode("utf-8-sig"), object_pairs_hook=_object)
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # also for bytes that are not UTF-8, and numbers of thousands of digits
        raise InputError(f"{where} is not readable as JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"{where} holds {_shown(data)}, but blocks come as {{file name: [[row, column, size], ...]}}")
    return {name: _blocks(blocks, f"{where}: {name!r}") for name, blocks in data.items()}


def hole_of(blocks: Iterable[Sequence[int]], height: int, width: int) -> Hole:
    """Hole mask of blocks, which may overlap, ``bool[1, height, width]``.

    Raises:
        InputError: a block reaches beyond the image, or is not three whole numbers in range.
    """
    hole = np.zeros((1, height, width), np.bool_)
    for row, column, size in _blocks([list(block) for block in blocks], "hole"):
        if row + size > height or column + size > width:
            raise InputError(
                f"block (row {row}, column {column}, size {size}) reaches outside the image of {width}x{height}: blocks are "
                "(row, column, size), rows first"
            )
        hole[:, row : row + size, column : column + size] = True
    return hole


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # JSON's reader would keep the last of equal names and drop the others silently.
    entries = dict(pairs)
    if len(entries) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)!r} is in it twice")
    return entries


def _blocks(blocks: object, where: str) -> list[Block]:
    if not isinstance(blocks, list):
        raise InputError(f"{where} has {_shown(blocks)}, but needs a list of [row, column, size]")
    checked = []
    for block in blocks:
        numbers = [int(number) for number in block if _is_whole(number)] if isinstance(block, list) else []
        if len(numbers) != 3 or len(block) != 3:
            raise InputError(f"{where} has the block {_shown(block)}, but a block is three whole numbers [row, column, size]")
        row, column, size = numbers
        if row < 0 or column < 0 or size < 1:
            raise InputError(f"{where} has the block {_shown(block)}, but rows and columns count from 0 and a size from 1")
        checked.append((row, column, size))
    return checked


def _is_whole(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class GivenBlocks(Generator):
    """The blocks that ``blocks`` lists, ``[row, column, size]`` each, the same in all frames.

    Facts: ``blocks``, ``block_triples``, ``area_fraction``, ``hidden_joint_names`` (none: nothing is known of joints).
    """

    name = "given_blocks"
    version = "1"
    needs = ()

    def __init__(self, *, blocks: Sequence[Sequence[Offset]] = ()) -> None:
        self.blocks = [list(block) for block in blocks]

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:  # noqa: ARG002 - nothing is drawn
        """Hole ``bool[view.frames, view.height, view.width]``.

        Raises:
            Rejected: no blocks, or one reaches beyond the frame.
        """
        if not self.blocks:
            raise Rejected("no blocks are given for it")
        try:
            hole = hole_of(self.blocks, view.height, view.width)
        except InputError as error:
            raise Rejected(str(error)) from error
        facts = {
            "blocks": len(self.blocks),
            "block_triples": self.blocks,
            "area_fraction": float(hole.mean()),
            "hidden_joint_names": [],
        }
        return Drawn(np.repeat(hole, view.frames, axis=0), facts)


class OwnMask(Generator):
    """The hole is ``object_mask``, grown ``dilations`` times by a 3x3 cross; ``rng`` is not used.

    Facts: ``neighbour_iou``, the mean intersection over union of the holes of neighbouring frames, over pairs of which one has a
    hole (1 = it stands still); it is missing where no pair has.
    """

    name = "own_mask"
    version = "1"
    needs = ("object_mask",)

    def __init__(self, *, dilations: Whole = 0) -> None:
        """Number of dilations.

        Raises:
            InputError: a negative number.
        """
        if dilations < 0:
            raise InputError(f"dilations is {dilations}, it must be 0 or more")
        self.dilations = dilations

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:  # noqa: ARG002 - leaf signature
        """Grow the mask, ``bool[T, H, W]``.

        Raises:
            Rejected: it fills the clip.
        """
        hole = regions.dilate_by_cross(view.object_mask, times=self.dilations)
        if hole.all():
            raise Rejected(f"its mask, grown {self.dilations} times, covers every pixel of the clip")
        iou = neighbour_iou(hole)
        return Drawn(hole, {} if iou is None else {"neighbour_iou": iou})


def neighbour_iou(hole: Hole) -> float | None:
    """Mean intersection over union of the holes of neighbouring frames, 0..1; None where no pair has a hole.

    Args:
        hole: ``bool[T, H, W]``.
    """
    shares = [
        float(np.count_nonzero(one & other) / union) for one, other in pairwise(hole) if (union := np.count_nonzero(one | other))
    ]
    return float(np.mean(shares)) if shares else None


class ImperfectMask(Generator):
    """The hole is ``object_mask``, spoilt in one way by an amount that is given or looked for.

    * ``dilate``, ``erode``: by a square of 2r + 1 pixels. ``box``: the box of each frame. ``hull``: the hull of each piece.
    * ``jitter``: each frame moved by whole pixels, normal with the standard deviation r. ``shift``: all by the same r pixels.
    * ``late``: that of r frames before. ``drop``: the share r of frames have none.

    Without an amount one is looked for that brings the mean intersection over union with the exact mask into ``iou``. Facts:
    ``mask_kind``, ``mask_amount``, and over the frames with the object ``mask_iou``, ``mask_recall`` (the share of the object
    that is covered) and ``mask_excess`` (what is covered besides, as a share of the object).

    Args:
        kind: one of ``KINDS``.
        amount: r; for ``drop`` a share.
        iou: (lowest, highest), the highest not included.
    """

    name = "imperfect_mask"
    version = "1"
    needs = ("object_mask",)

    def __init__(self, *, kind: Kind = "hull", amount: Amount | None = None, iou: tuple[Share, Share] | None = None) -> None:
        self.kind: Kind = known_name("kind", kind, KINDS)  # type: ignore[assignment]
        if kind in FIXED and amount is not None:
            raise InputError(f"the kind {kind!r} has no amount")
        if kind not in FIXED and (amount is None) == (iou is None):
            raise InputError(f"the kind {kind!r} needs an amount, or the interval of the IoU that one is looked for")
        if kind == "drop" and amount is None:
            raise InputError("the kind 'drop' needs an amount, the share of frames without a mask: its IoU is that of the others")
        if amount is not None and kind == "drop":
            share("amount", amount)
        elif amount is not None and not (isinstance(amount, int | float) and math.isfinite(amount) and amount >= 0):
            raise InputError(f"amount is {amount!r}, give a number from 0 upwards")
        self.amount = None if amount is None else float(amount)
        self.iou = None if iou is None else (share("iou", iou[0]), share("iou", iou[1]))

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw the mask, ``bool[T, H, W]``.

        Raises:
            Rejected: no amount brings the mask there.
        """
        made, amount = spoilt(view.object_mask, self.kind, amount=self.amount, iou=self.iou, rng=rng)
        given = {} if amount is None else {"mask_amount": amount}
        facts = {"mask_kind": self.kind, **given, **agreement(made, view.object_mask)}
        return Drawn(made, facts)


class Varied(Generator):
    """The hole is ``object_mask``, that of the unchanged item, at one ``level`` of one ``axis``.

    Along most axes it is the same hole, or the same cut to the new clip's size and frames. Levels share their random numbers.
    """

    name = "varied"
    version = "1"
    needs = ("object_mask",)
    same_draw = ("level",)

    def __init__(self, *, axis: str = "hole_duration", level: str | None = None) -> None:
        """``level``: one of the axis's ``levels``; the last one by default.

        Raises:
            UnknownNameError: no such axis or level.
            InputError: an axis of presets, which the generator of the presets draws.
        """
        self.axis = AXES.get(axis)()
        if self.axis.changes == "preset":
            raise InputError(f"the axis {axis!r} is one of presets: devil_blobs draws its holes")
        self.level = known_level(self.axis, self.axis.levels[-1] if level is None else level)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """The hole of this level, ``bool[T, H, W]`` of the level's clip.

        Raises:
            Rejected: the axis cannot make it of this hole.
        """
        return Drawn(self.axis.hole(self.level, view.object_mask, rng))
