"""Clips with prompts and exact masks that come with the program."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from inpaintbench.curation.sources.embedded_edits import MOST, EmbeddedEdits, filmed
from inpaintbench.errors import InputError
from inpaintbench.types import EDIT_TASKS


def test_every_clip_asks_for_two_edits_in_every_task() -> None:
    pieces = list(EmbeddedEdits().footage())
    assert len({piece.uri for piece in pieces}) == MOST >= 10  # as many as the paper has in a task
    for piece in pieces:
        edits = piece.data["edits"]
        assert Counter(edit["task"] for edit in edits) == dict.fromkeys(EDIT_TASKS, 2)
        assert len({edit["target_prompt"] for edit in edits}) == 8
        assert piece.licence in ("CC0", "public domain")


def test_the_mask_lies_where_the_object_is() -> None:
    """A white rocket in front of the evening sky, still and under a pan."""
    for place in (3, 7):
        piece = list(EmbeddedEdits(side=128, frames=4).footage())[place]
        frames, mask = filmed(piece.payload)
        assert set(np.unique(mask)) == {0, 255}
        beside = np.roll(mask, 20, axis=2) & ~mask
        for frame, inside, outside in zip(frames.mean(axis=3), mask > 0, beside > 0, strict=True):
            assert frame[inside].mean() > frame[outside].mean() + 40
    centres = [np.nonzero(one)[1].mean() for one in mask]
    assert centres[0] > centres[-1] + 3  # the camera goes to the right


@pytest.mark.parametrize("constants", [{"count": 0}, {"count": 13}, {"side": 300}, {"side": 64}, {"frames": 1}])
def test_numbers_that_cannot_be_used(constants: dict[str, int]) -> None:
    with pytest.raises(InputError, match=str(next(iter(constants.values())))):
        EmbeddedEdits(**constants)
