"""Generator of holes from listed square blocks, e.g. those of a challenge's mask file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.block_json import hole_of
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.ranges import Offset
from inpaintbench.view import ItemView


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
