"""CMMD of given vectors, and of a small CLIP with made-up parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every_metric import RANDOM, moving_picture
from tiny_networks import add_tiny_clip

from inpaintbench.compute import Shared
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.metrics.clip import Cmmd
from inpaintbench.view import ItemView


def built(network: str = "ViT-L/14@336px") -> Cmmd:
    return Cmmd(network=network, regions=("frame",), band_radius_pixels=8)


def vectors(count: int, a: float, b: float) -> np.ndarray:
    i, j = np.mgrid[:count, :8]
    return np.asarray(np.sin(0.01 * a * (i + 1) * (j + 1) + b) + 0.1 * np.cos(0.3 * i + 0.7 * j))


def test_given_vectors() -> None:
    one, other = vectors(12, 3, 0.2), vectors(9, 2, 0.9)
    halves = [Features(one[:6], other[:4]), Features(one[6:], other[4:])]
    found = built().compare(halves, ["a", "b"])
    assert found.value == pytest.approx(0.27399135, abs=5e-9)
    assert found.value == pytest.approx(built().compare([Features(one, other)], ["a"]).value, rel=1e-10)  # type: ignore[arg-type]
    assert found.value == pytest.approx(built().compare([Features(other, one)], ["a"]).value, rel=1e-10)  # type: ignore[arg-type]
    assert built().compare([Features(one, one)], ["a"]).value == pytest.approx(0, abs=1e-10)
    assert built().compare([], []).value is None


def test_frames_come_as_middle_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("open_clip")
    add_tiny_clip(monkeypatch)
    truth = moving_picture(2, height=40, width=60)
    other = truth.copy()
    other[:, :, :10] = other[:, :, 50:] = 0  # beside the square
    spoilt = 255 - truth

    def features(frames: Any) -> Features:
        view = ItemView.of_arrays(truth=truth, composite=frames, shared=Shared(compute=RANDOM))
        found = built("tiny").measure(view)["frame"].features
        assert found is not None
        return found

    assert np.array_equal(*features(truth))
    assert np.array_equal(*features(other))
    assert features(spoilt).prediction.shape == features(spoilt).truth.shape
    assert float(built("tiny").compare([features(spoilt)], ["a"]).value or 0) > 0
