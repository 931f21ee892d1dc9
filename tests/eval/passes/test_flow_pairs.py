from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import pytest
from tests.eval.flows.test_dis import texture

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.flows import Dis
from inpaintbench.eval.passes import flow_pairs as module
from inpaintbench.eval.passes.flow_pairs import flow_windows
from inpaintbench.view import ItemView


class Pair(NamedTuple):
    first: int
    forward: np.ndarray
    backward: np.ndarray


def flow_pairs(view: ItemView, *, flow: str = "dis", size_multiple: int = 1) -> list[Pair]:
    return [
        Pair(window.first + place, there, back)
        for window in flow_windows(view, flow=flow, size_multiple=size_multiple)
        for place, (there, back) in enumerate(zip(window.there(), window.back(), strict=True))
    ]


def sliding(frames: int = 5, height: int = 50, width: int = 90) -> np.ndarray:
    scene = texture(height, width + 2 * frames)
    return np.stack([scene[:, 2 * index : 2 * index + width] for index in range(frames)])


def test_each_pair_has_the_flow_there_and_back() -> None:
    truth = sliding()
    pairs = flow_pairs(ItemView.of_arrays(truth=truth))
    assert [pair.first for pair in pairs] == [0, 1, 2, 3]
    forward = Dis().flow(truth[:-1], truth[1:], Compute())
    backward = Dis().flow(truth[1:], truth[:-1], Compute())
    np.testing.assert_array_equal([pair.forward for pair in pairs], forward)
    np.testing.assert_array_equal([pair.backward for pair in pairs], backward)


@pytest.mark.parametrize("held_bytes", [1, 50 * 90 * 16 * 3])
def test_how_many_pairs_are_held_does_not_matter(held_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    view = ItemView.of_arrays(truth=sliding())
    usual = flow_pairs(view)
    monkeypatch.setattr(module, "_HELD_BYTES", held_bytes)
    few = flow_pairs(view)
    assert [pair.first for pair in few] == [0, 1, 2, 3]
    np.testing.assert_array_equal([pair[1:] for pair in few], [pair[1:] for pair in usual])


def test_flow_of_enlarged_frames_comes_back_in_pixels_of_the_frames() -> None:
    truth = sliding(frames=2)
    [pair] = flow_pairs(ItemView.of_arrays(truth=truth), size_multiple=64)
    large = np.stack([cv2.resize(frame, (128, 64), interpolation=cv2.INTER_LINEAR) for frame in truth])
    flow = Dis().flow(large[:1], large[1:], Compute())[0]
    expected = cv2.resize(flow, (90, 50), interpolation=cv2.INTER_LINEAR) * (90 / 128, 50 / 64)
    np.testing.assert_allclose(pair.forward, expected, atol=1e-5)
    np.testing.assert_allclose(np.median(pair.forward, axis=(0, 1)), (-2, 0), atol=0.1)


def test_a_multiple_that_fits_changes_nothing() -> None:
    view = ItemView.of_arrays(truth=sliding(frames=2))
    [plain], [fitting] = (flow_pairs(view, size_multiple=multiple) for multiple in (1, 10))
    np.testing.assert_array_equal(plain.forward, fitting.forward)


def test_one_frame_has_no_pair() -> None:
    assert flow_pairs(ItemView.of_arrays(truth=sliding(frames=1))) == []


@pytest.fixture(name="estimated")
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many fields were estimated by each call."""
    found: list[int] = []
    usual = Dis.coarse

    def count(self: Dis, one: Any, other: Any, compute: Compute) -> Any:
        found.append(len(one))
        return usual(self, one, other, compute)

    monkeypatch.setattr(Dis, "coarse", count)
    return found


def test_flow_is_estimated_once_for_whatever_has_these_frames(tmp_path: Path, estimated: list[int]) -> None:
    truth = sliding()
    expected = flow_pairs(ItemView.of_arrays(truth=truth))
    estimated.clear()
    for _ in range(3):
        found = flow_pairs(ItemView.of_arrays(truth=truth.copy(), shared=Shared(folder=tmp_path)))
        np.testing.assert_array_equal([pair[1:] for pair in found], [pair[1:] for pair in expected])
    assert estimated == [4, 4]
    flow_pairs(ItemView.of_arrays(truth=truth[::-1], shared=Shared(folder=tmp_path)))
    assert estimated == [4, 4, 4, 4]


@pytest.mark.parametrize(
    "spoil", [lambda content: content[:-3], lambda content: content[:400] + b"?" + content[401:], lambda _: b""]
)
def test_flow_that_was_damaged_is_estimated_anew(tmp_path: Path, estimated: list[int], spoil: Callable[[bytes], bytes]) -> None:
    truth = sliding()
    expected = flow_pairs(ItemView.of_arrays(truth=truth, shared=Shared(folder=tmp_path)))
    path, _ = sorted(tmp_path.rglob("*.npy"))
    path.write_bytes(spoil(path.read_bytes()))
    for _ in range(2):
        found = flow_pairs(ItemView.of_arrays(truth=truth, shared=Shared(folder=tmp_path)))
        np.testing.assert_array_equal([pair[1:] for pair in found], [pair[1:] for pair in expected])
    assert estimated == [4, 4, 4]


def test_a_pixel_of_another_frame_or_another_size_is_another_flow(tmp_path: Path, estimated: list[int]) -> None:
    truth = sliding()
    other = truth.copy()
    other[-1, -1, -1, -1] ^= 1
    for frames, multiple in ((truth, 1), (other, 1), (truth, 64), (truth, 1)):
        flow_pairs(ItemView.of_arrays(truth=frames, shared=Shared(folder=tmp_path)), size_multiple=multiple)
    assert estimated == [4] * 6
