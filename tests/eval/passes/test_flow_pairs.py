from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from tests.eval.flows.test_dis import texture

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.flows import Dis
from inpaintbench.eval.passes import flow_pairs as module
from inpaintbench.eval.passes.flow_pairs import flow_pairs
from inpaintbench.view import ItemView


def sliding(frames: int = 5, height: int = 50, width: int = 90) -> np.ndarray:
    scene = texture(height, width + 2 * frames)
    return np.stack([scene[:, 2 * index : 2 * index + width] for index in range(frames)])


def test_each_pair_has_the_flow_there_and_back() -> None:
    truth = sliding()
    pairs = list(flow_pairs(ItemView.of_arrays(truth=truth), flow="dis", size_multiple=1))
    assert [pair.first for pair in pairs] == [0, 1, 2, 3]
    forward = Dis().flow(truth[:-1], truth[1:], Compute())
    backward = Dis().flow(truth[1:], truth[:-1], Compute())
    np.testing.assert_array_equal([pair.forward for pair in pairs], forward)
    np.testing.assert_array_equal([pair.backward for pair in pairs], backward)


@pytest.mark.parametrize("held_bytes", [1, 50 * 90 * 16 * 3])
def test_how_many_pairs_are_held_does_not_matter(held_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    view = ItemView.of_arrays(truth=sliding())
    usual = list(flow_pairs(view, flow="dis", size_multiple=1))
    monkeypatch.setattr(module, "_HELD_BYTES", held_bytes)
    few = list(flow_pairs(view, flow="dis", size_multiple=1))
    assert [pair.first for pair in few] == [0, 1, 2, 3]
    np.testing.assert_array_equal([pair[1:] for pair in few], [pair[1:] for pair in usual])


def test_flow_of_enlarged_frames_comes_back_in_pixels_of_the_frames() -> None:
    truth = sliding(frames=2)
    [pair] = flow_pairs(ItemView.of_arrays(truth=truth), flow="dis", size_multiple=64)
    large = np.stack([cv2.resize(frame, (128, 64), interpolation=cv2.INTER_LINEAR) for frame in truth])
    flow = Dis().flow(large[:1], large[1:], Compute())[0]
    expected = cv2.resize(flow, (90, 50), interpolation=cv2.INTER_LINEAR) * (90 / 128, 50 / 64)
    np.testing.assert_allclose(pair.forward, expected, atol=1e-5)
    np.testing.assert_allclose(np.median(pair.forward, axis=(0, 1)), (-2, 0), atol=0.1)


def test_a_multiple_that_fits_changes_nothing() -> None:
    view = ItemView.of_arrays(truth=sliding(frames=2))
    [plain], [fitting] = (list(flow_pairs(view, flow="dis", size_multiple=multiple)) for multiple in (1, 10))
    np.testing.assert_array_equal(plain.forward, fitting.forward)


def test_one_frame_has_no_pair() -> None:
    assert list(flow_pairs(ItemView.of_arrays(truth=sliding(frames=1)), flow="dis", size_multiple=1)) == []


@pytest.mark.parametrize(("kept_bytes", "same", "times"), [(1 << 20, True, 1), (1 << 20, False, 2), (1, True, 2)])
def test_the_flow_of_a_short_clip_is_estimated_once_for_its_items(
    kept_bytes: int, same: bool, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimated = []
    usual = Dis.flow

    def counted(self: Dis, one: Any, other: Any, compute: Compute) -> Any:
        estimated.append(len(one))
        return usual(self, one, other, compute)

    monkeypatch.setattr(Dis, "flow", counted)
    monkeypatch.setattr(module, "_KEPT_BYTES", kept_bytes)
    module._KEPT.clear()
    truth, other = sliding(), sliding() if same else sliding()[::-1]
    found = [
        list(
            flow_pairs(
                ItemView.of_arrays(truth=frames, shared=Shared(truth_id=name, folder=tmp_path)), flow="dis", size_multiple=1
            )
        )
        for frames, name in ((truth, "a clip"), (other, "a clip" if same else "another"))
    ]
    assert sum(estimated) == times * 2 * 4  # pairs, there and back
    monkeypatch.undo()
    expected = list(flow_pairs(ItemView.of_arrays(truth=other), flow="dis", size_multiple=1))
    np.testing.assert_array_equal([pair[1:] for pair in found[1]], [pair[1:] for pair in expected])
