"""What holds for every attribute leaf."""

from __future__ import annotations

import os

import pytest
from laid_out import everywhere
from worlds import luma, pan_clip

from inpaintbench.contracts import Check
from inpaintbench.contracts.attribute import CHECKS
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.view import ItemView


@pytest.fixture(params=list(ATTRIBUTES))
def leaf(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AttributeLeaf:
    if assets := os.environ.get("INPAINTBENCH_TEST_ASSETS"):
        monkeypatch.setenv("INPAINTBENCH_WEIGHTS", f"{assets}/weights")
    found: AttributeLeaf = ATTRIBUTES.get(request.param)()
    assert found.name == request.param
    return found


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_contract(leaf: AttributeLeaf, check: Check) -> None:
    if leaf.weights and "INPAINTBENCH_TEST_ASSETS" not in os.environ:
        pytest.skip("its weights are among the test assets")
    check(leaf)


def test_does_not_depend_on_where_frames_lie_in_memory(leaf: AttributeLeaf) -> None:
    if leaf.weights and "INPAINTBENCH_TEST_ASSETS" not in os.environ:
        pytest.skip("its weights are among the test assets")
    frames = pan_clip("coffee", pixels_per_frame=2, frames=13, width=189, height=106)
    expected = leaf.measure(ItemView.of_arrays(luma=luma(frames), truth=frames))
    for planes, truth in everywhere([luma(frames), frames]):
        assert leaf.measure(ItemView.of_arrays(luma=planes, truth=truth)) == expected
