"""What holds for every attribute leaf."""

from __future__ import annotations

import os

import numpy as np
import pytest
from laid_out import everywhere
from worlds import luma, pan_clip

from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.errors import NotMeasurable
from inpaintbench.view import PARTS, ItemView


@pytest.fixture(params=list(ATTRIBUTES))
def leaf(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AttributeLeaf:
    if assets := os.environ.get("INPAINTBENCH_TEST_ASSETS"):
        monkeypatch.setenv("INPAINTBENCH_WEIGHTS", f"{assets}/weights")
    found: AttributeLeaf = ATTRIBUTES.get(request.param)()
    assert found.name == request.param
    return found


def test_states_its_facts(leaf: AttributeLeaf) -> None:
    assert leaf.version
    assert leaf.unit
    assert leaf.direction
    assert leaf.cost > 0
    assert leaf.needs
    assert set(leaf.needs) <= set(PARTS)


def test_gives_a_value_and_reads_only_what_it_declares(leaf: AttributeLeaf) -> None:
    frames = pan_clip("coffee", pixels_per_frame=2, frames=60, width=160, height=120)
    frames.flags.writeable = False
    view = ItemView.of_arrays(luma=luma(frames), truth=frames)
    if leaf.weights and "INPAINTBENCH_TEST_ASSETS" not in os.environ:
        pytest.skip("its weights are among the test assets")
    value = leaf.measure(view.declaring(leaf.name, leaf.needs))
    assert isinstance(value, str) or (isinstance(value, float) and np.isfinite(value) and value >= 0)
    assert value != ""


def test_does_not_depend_on_where_frames_lie_in_memory(leaf: AttributeLeaf) -> None:
    if leaf.weights and "INPAINTBENCH_TEST_ASSETS" not in os.environ:
        pytest.skip("its weights are among the test assets")
    frames = pan_clip("coffee", pixels_per_frame=2, frames=13, width=189, height=106)
    expected = leaf.measure(ItemView.of_arrays(luma=luma(frames), truth=frames))
    for planes, truth in everywhere([luma(frames), frames]):
        assert leaf.measure(ItemView.of_arrays(luma=planes, truth=truth)) == expected


@pytest.mark.parametrize("shape", [(1, 48, 64), (2, 16, 16), (3, 17, 301), (70, 33, 31)])
@pytest.mark.parametrize("content", ["flat", "black", "noise"])
def test_clips_without_anything_to_measure_have_a_value_or_a_reason(
    leaf: AttributeLeaf, shape: tuple[int, int, int], content: str
) -> None:
    rng = np.random.default_rng(0)
    levels = {"flat": np.full(shape, 99), "black": np.full(shape, 16), "noise": rng.integers(16, 236, shape)}[content]
    frames = np.repeat(levels.astype(np.uint8)[..., None], 3, axis=3)
    view = ItemView.of_arrays(luma=levels.astype(np.uint8), truth=frames)
    value, reason = outcome(leaf, view)
    assert (value is None) == bool(reason)
    assert "\n" not in reason
    assert value is None or isinstance(value, str) or np.isfinite(value)


def outcome(leaf: AttributeLeaf, view: ItemView) -> tuple[float | str | None, str]:
    try:
        return leaf.measure(view.declaring(leaf.name, leaf.needs)), ""
    except NotMeasurable as error:
        return None, str(error)
