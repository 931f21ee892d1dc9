"""Motion fidelity of given tracks, as published and mended, and of a program's."""

from __future__ import annotations

from pathlib import Path

import brought
import numpy as np
import pytest

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.brought import MotionFidelity, along
from inpaintbench.view import ItemView


def tracks(first: float, second: float) -> np.ndarray:
    n, t = np.arange(5)[:, None], np.arange(9)[None]
    x = 3 * t + 2 * np.sin(0.7 * t + n + first)
    y = (n - 2) * t + np.cos(0.5 * t * (n + 1) + second)
    return np.stack(np.broadcast_arrays(x, y), axis=-1)


ONE, OTHER = tracks(0, 0), tracks(0.4, 0.3)


def built(rule: str) -> MotionFidelity:
    return MotionFidelity(rule=rule, regions=("frame",), band_radius_pixels=8)  # type: ignore[arg-type]


def test_given_tracks() -> None:
    """As published: what MotionFidelityScore of FiVE at 737b30e gives."""
    assert along(OTHER, ONE, rule="as-published") == pytest.approx(0.8733932, abs=5e-8)
    assert along(ONE, OTHER, rule="as-published") == pytest.approx(0.8785347, abs=5e-8)
    assert along(ONE, ONE, rule="as-published") == pytest.approx(0.8732953, abs=5e-8)
    assert along(ONE, OTHER, rule="corrected") == pytest.approx(0.9950415, abs=5e-8)
    assert along(ONE, ONE, rule="corrected") == pytest.approx(1, abs=1e-12)


def test_points_that_stand_still() -> None:
    still = np.zeros((5, 9, 2))
    assert np.isnan(along(still, ONE, rule="as-published"))
    assert along(still, still, rule="corrected") == 1
    assert along(still, ONE, rule="corrected") == 0


def test_a_program_gives_the_tracks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
level = float(frames[0].mean())
t = np.arange(len(frames))[None, :, None] * np.array([[[1.0, level]], [[level, 1.0]]])
np.save(target / "array.npy", (t if level < 200 else t[:1]).astype(np.float32))
"""
    brought.give(MotionFidelity.brought, body, tmp_path, monkeypatch)
    truth = np.ones((3, 8, 8, 3), np.uint8)

    def value(levels: int, rule: str) -> float | None:
        view = ItemView.of_arrays(truth=truth, composite=np.full_like(truth, levels))
        return built(rule).measure(view.declaring("motion_fidelity", built(rule).parts))["frame"].value

    assert value(1, "corrected") == pytest.approx(1)
    assert value(0, "corrected") == pytest.approx(np.sqrt(0.5))
    assert value(0, "as-published") == pytest.approx(np.sqrt(0.5))  # of the other point
    with pytest.raises(NotMeasurable, match="gave 1 tracks of a clip, 2 of its source"):
        value(255, "corrected")
    with pytest.raises(NotMeasurable, match="one frame"):
        built("corrected").measure(ItemView.of_arrays(truth=truth[:1], composite=truth[:1]))


def test_without_the_program_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MotionFidelity.brought.variable, raising=False)
    clip = np.zeros((2, 8, 8, 3), np.uint8)
    with pytest.raises(NotMeasurable, match="set INPAINTBENCH_TRACKS to"):
        built("corrected").measure(ItemView.of_arrays(truth=clip, composite=clip))
