"""Square blocks around the joints of people, as in the ChaLearn 2018 challenge on inpainting humans."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain

import numpy as np

from inpaintbench.catalogue import Deviation
from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import AtLeastOne, Share, Whole
from inpaintbench.types import Joint
from inpaintbench.view import ItemView

# (row, column, size): it covers `row .. row + size - 1` and `column .. column + size - 1`.
Block = tuple[int, int, int]
# (row, column) of a joint.
Place = tuple[float, float]
Uniform = Callable[[], float]

# Largest distance of a block's centre from its joint along either axis, in block sizes.
NEAR_BLOCK_SIZES = 1.0
# Attempts before no more blocks are placed; the paper states no number.
_SIZES_TRIED = 6
_PLACES_TRIED = 8
# Random numbers drawn per call.
_BATCH = 128


@dataclass(frozen=True)
class Rules:
    """Constraints on the blocks of one image; sizes are whole pixels, both ends included."""

    height: int
    width: int
    margin: int
    smallest: int
    largest: int
    most_pixels: int


class JointBlocks(Generator):
    """Up to ten squares, each placed around a joint. Source: ChaLearn LAP 2018, track 1 (arXiv 2106.13071, section 2.1).

    The number is uniform in 1 .. ``most_blocks``. The size of a block is uniform over the whole numbers strictly between
    ``smallest`` and ``largest`` times the shorter side; its centre lies at most one block size from the joint along either
    axis, uniformly, so that the joint is inside or just outside. Blocks may touch but do not overlap, stay ``margin`` pixels
    away from every edge of the image and cover at most ``largest_area`` of it. Where a block finds no place after many tries
    no more are placed: ``facts`` tell how many were wanted.

    The paper leaves open how joints are chosen and how often to try. Here joints are drawn with replacement, or without
    (``replacement=False``: no joint gets two blocks); joints outside the image do not count.

    Of all blocks the first ``kept_share`` stay, rounded up and one at least; the others are drawn all the same, so that holes of
    several shares lie in each other.
    """

    name = "joint_blocks"
    deviations = (
        Deviation(
            "which joints, and how far from them",
            "not stated",
            "joints with replacement; the block's centre uniform within one block size",
            "not known",
        ),
    )
    version = "1"
    needs = ("joints",)
    same_draw = ("kept_share",)

    def __init__(
        self,
        *,
        margin: Whole = 100,
        most_blocks: AtLeastOne = 10,
        smallest: Share = 1 / 20,
        largest: Share = 1 / 3,
        largest_area: Share = 0.7,
        replacement: bool = True,
        kept_share: Share = 1.0,
    ) -> None:
        """``margin``: pixels; ``smallest``, ``largest``: shares of the shorter side; ``largest_area``: share of the image."""
        if margin < 0:
            raise InputError(f"margin is {margin}, it must be 0 pixels or more")
        if most_blocks < 1:
            raise InputError(f"most_blocks is {most_blocks}, an image gets at least 1 block")
        if not 0 <= smallest < largest <= 1:
            raise InputError(f"block sizes {smallest:g}-{largest:g} are empty: give shares of the shorter side, 0 to 1, rising")
        if not 0 < largest_area <= 1:
            raise InputError(f"largest_area is {largest_area:g}, it must be a share of the image above 0, at most 1")
        self.margin, self.most_blocks, self.replacement = margin, most_blocks, replacement
        self.kept_share = kept_share
        self.smallest, self.largest, self.largest_area = smallest, largest, largest_area

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """The hole ``bool[view.frames, view.height, view.width]``, the same blocks in every frame.

        ``facts``: ``blocks``, ``blocks_wanted``, ``block_triples`` (row, column, size), ``area_fraction``, ``joints_hidden``
        (joints under the hole) and ``hidden_joint_names``.

        Raises:
            Rejected: the image is too small for its margin, has no joints, or no joint has room for a block.
        """
        # In batches: drawn one by one uniform numbers would cost more than everything else.
        uniform = chain.from_iterable(iter(lambda: rng.random(_BATCH).tolist(), None)).__next__
        # Joints whose pixel lies in the image; those at NaN do not.
        inside = (joint for joint in view.joints if -0.5 <= joint.x < view.width - 0.5 and -0.5 <= joint.y < view.height - 0.5)
        joints: list[Joint] = list(inside)
        places = [(joint.y, joint.x) for joint in joints]
        if not places:
            raise Rejected(f"no joints inside the image of {view.width}x{view.height}")
        height, width = view.height, view.width
        smallest, largest = size_limits(min(height, width), self.smallest, self.largest)
        most_pixels = math.floor(_share(self.largest_area) * (height * width))
        room = min(min(height, width) - 2 * self.margin, math.isqrt(most_pixels), largest)
        if room < smallest:
            raise Rejected(
                f"image {width}x{height} is too small: {self.margin} pixels from its edges there is no room for a block of "
                f"{smallest} pixels"
            )
        rules = Rules(height, width, self.margin, smallest, room, most_pixels)
        count = 1 + int(uniform() * self.most_blocks)
        blocks = place_blocks(places, count, rules=rules, uniform=uniform, replacement=self.replacement)
        blocks = blocks[: max(1, math.ceil(self.kept_share * len(blocks)))]
        hole = np.zeros((view.frames, view.height, view.width), np.bool_)
        for row, column, size in blocks:
            hole[:, row : row + size, column : column + size] = True
        hidden = [joint.name for joint in joints if hole.item(0, _pixel(joint.y), _pixel(joint.x))]
        facts = {
            "blocks": len(blocks),
            "blocks_wanted": count,
            "block_triples": [list(block) for block in blocks],
            "area_fraction": sum(size * size for _, _, size in blocks) / (view.height * view.width),
            "joints_hidden": len(hidden),
            "hidden_joint_names": sorted(set(hidden)),
        }
        return Drawn(hole, facts)


def size_limits(side: int, smallest: float, largest: float) -> tuple[int, int]:
    """Least and greatest integer strictly between two shares of ``side`` pixels."""
    return math.floor(_share(smallest) * side) + 1, math.ceil(_share(largest) * side) - 1


@lru_cache
def _share(value: float) -> Fraction:
    # 0.05 and 1/3 as exact fractions: a strict limit must not depend on rounding.
    return Fraction(value).limit_denominator(10_000)


def place_blocks(places: Sequence[Place], count: int, *, rules: Rules, uniform: Uniform, replacement: bool = True) -> list[Block]:
    """Place up to ``count`` blocks around ``places``, at least one.

    Raises:
        Rejected: not even the smallest block has room near any of ``places``.
    """
    free, pixels = list(places), 0
    blocks: list[Block] = []
    while len(blocks) < count and free:
        placed = _place(free, blocks, rules=rules, most_pixels=rules.most_pixels - pixels, uniform=uniform)
        if placed is None and not blocks:
            # The smallest, at one of the places that have room for it.
            candidates = [(block, place) for place in free if (block := _near(place, rules.smallest, rules, uniform))]
            if not candidates:
                raise Rejected(
                    f"none of the {len(free)} joints has room for a block of {rules.smallest} pixels, {rules.margin} pixels from "
                    f"the edges of an image of {rules.width}x{rules.height}"
                )
            placed = candidates[int(uniform() * len(candidates))]
        if placed is None:
            break
        block, place = placed
        blocks.append(block)
        pixels += block[2] ** 2
        if not replacement:
            free.remove(place)
    return blocks


def _place(
    places: Sequence[Place], blocks: Sequence[Block], *, rules: Rules, most_pixels: int, uniform: Uniform
) -> tuple[Block, Place] | None:
    """Block that fits beside ``blocks``, and its place; None after many tries."""
    # Each size is tried at several places before another is drawn: otherwise crowding would favour small blocks.
    for _ in range(_SIZES_TRIED):
        size = rules.smallest + int(uniform() * (rules.largest - rules.smallest + 1))
        if size * size > most_pixels:
            continue
        for _ in range(_PLACES_TRIED):
            place = places[int(uniform() * len(places))]
            block = _near(place, size, rules, uniform)
            if block is None:
                continue
            row, column, _ = block
            if not any(
                row < top + side and top < row + size and column < left + side and left < column + size
                for top, left, side in blocks
            ):
                return block, place
    return None


def _near(place: Place, size: int, rules: Rules, uniform: Uniform) -> Block | None:
    """Block around ``place``, uniform over those within the margin; None where there are none."""
    reach, half, end = NEAR_BLOCK_SIZES * size, (size - 1) / 2, rules.margin + size
    first_row = max(rules.margin, math.ceil(place[0] - reach - half))
    rows = min(rules.height - end, math.floor(place[0] + reach - half)) - first_row + 1
    first_column = max(rules.margin, math.ceil(place[1] - reach - half))
    columns = min(rules.width - end, math.floor(place[1] + reach - half)) - first_column + 1
    if rows < 1 or columns < 1:
        return None
    return first_row + int(uniform() * rows), first_column + int(uniform() * columns), size


def _pixel(coordinate: float) -> int:
    return math.floor(coordinate + 0.5)
