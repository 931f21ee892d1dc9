"""What holds for every attribute leaf."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import luma, pan_clip

from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import NotMeasurable
from inpaintbench.view import PARTS, ItemView


@pytest.fixture(params=list(ATTRIBUTES))
def leaf(request: pytest.FixtureRequest) -> AttributeLeaf:
    found: AttributeLeaf = ATTRIBUTES.get(request.param)()
    assert found.name == request.param
    return found


def test_states_its_facts(leaf: AttributeLeaf) -> None:
    assert leaf.version
    assert leaf.unit
    assert set(leaf.needs) <= set(PARTS)


def test_gives_a_number_and_reads_only_what_it_declares(leaf: AttributeLeaf) -> None:
    frames = pan_clip("coffee", pixels_per_frame=1, frames=20, width=160, height=120)
    view = ItemView.of_arrays(luma=luma(frames), truth=frames)
    value = leaf.measure(view.declaring(leaf.name, leaf.needs))
    assert isinstance(value, float)
    assert np.isfinite(value)
    assert value > 0


def test_a_still_image_has_a_reason_instead_of_a_value(leaf: AttributeLeaf) -> None:
    view = ItemView.of_arrays(luma=np.full((1, 48, 64), 99, np.uint8))
    with pytest.raises(NotMeasurable, match=r"one frame|1 frames"):
        leaf.measure(view)
