"""FVMD: histograms of given tracks, the released arithmetic said again, and the distance of a set from itself."""

from __future__ import annotations

import math
from pathlib import Path

import brought
import numpy as np
import pytest
import scipy.linalg

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.metrics.brought_sets import Fvmd, histogram
from inpaintbench.view import ItemView


def built(rule: str = "corrected") -> Fvmd:
    return Fvmd(rule=rule, regions=("frame",), band_radius_pixels=8)  # type: ignore[arg-type]


def test_histogram_of_given_velocities() -> None:
    k, t = np.arange(400), np.arange(16)[:, None]
    vectors = np.stack(np.broadcast_arrays(2 * np.cos(0.05 * k)[None], 3 * np.sin(0.3 * t + 0.02 * k)), axis=-1)
    found = histogram(vectors)
    assert found.sum() == 1801.625
    assert found[0, 0, 0].tolist() == [0, 0, 0, 19.875, 7.5, 3.5, 0.25, 0]
    assert found[3, 3, 3].tolist() == [11, 1.25, 0, 0, 0, 0, 2.375, 15.875]


@pytest.mark.parametrize(
    ("vector", "bin_of", "weight"),
    [
        ((0.0, 1.0), 4, 0.125), ((0.0, 3.0), 4, 0.25), ((0.0, 300.0), 4, 1.0), ((0.0, 1.001), 4, 0.25),
        ((0.0, -1.0), 7, 0.125),  # an angle of exactly pi
        ((-0.0, -1.0), 0, 0.125),
    ],
)  # fmt: skip
def test_steps_of_magnitude_and_ends_of_the_circle(vector: tuple[float, float], bin_of: int, weight: float) -> None:
    vectors = np.zeros((16, 400, 2))
    vectors[5, 42] = vector
    found = histogram(vectors)
    [place] = np.argwhere(found).tolist()
    assert place == [1, 0, 0, bin_of]  # frame 5, row 2, column 2
    assert found[tuple(place)] == weight


def released(tracks: np.ndarray) -> np.ndarray:
    """Position differences twice, loops over points, as in the released code, for one window ``[16, 400, 2]``."""
    velocity = np.concatenate([np.zeros((1, 400, 2)), tracks[1:] - tracks[:-1]])
    # Their acceleration is made of tracks, not of velocities.
    acceleration = np.concatenate([np.zeros((2, 400, 2)), tracks[2:] - tracks[1:-1]])
    found = []
    for vectors in (velocity, acceleration):
        grid, cells = vectors.reshape(16, 20, 20, 2), np.zeros((4, 4, 4, 8))
        for s, i, j in np.ndindex(16, 20, 20):
            x, y = grid[s, i, j]
            angle = min(max(int((math.atan2(x, y) + math.pi) // (2 * math.pi / 8)), 0), 7)
            cells[s // 4, i // 5, j // 5, angle] += math.ceil(math.log2(min(math.hypot(x, y), 255) + 1)) / 8
        found.append(cells.ravel())
    return np.concatenate(found)


def test_rules_of_acceleration() -> None:
    tracks = np.random.default_rng(0).normal(0, 3, (16, 400, 2)).cumsum(axis=0)
    assert np.array_equal(built("as-published").histogram_of(tracks), released(tracks))
    steady = np.arange(16)[:, None, None] * np.array([2.0, 1.0]) + np.zeros((16, 400, 2))
    moving = {rule: built(rule).histogram_of(steady)[512:].sum() for rule in ("as-published", "corrected")}
    assert moving["as-published"] > 0
    assert moving["corrected"] == 0  # nothing is faster or slower


def test_distance_of_a_set_from_itself_and_from_another() -> None:
    rng = np.random.default_rng(1)
    one, other = (rng.integers(0, 40, (30, 40)).astype(np.float32) / 8 for _ in range(2))
    itself = [Features(one, one)]
    assert built("as-published").compare(itself, ["a"]).value == pytest.approx(-2 * 40 * 1e-5, abs=1e-9)
    assert built().compare(itself, ["a"]).value == 0
    small = one.astype(float), other.astype(float)
    covariances = [np.cov(part, rowvar=False) for part in small]
    root = scipy.linalg.sqrtm(np.matmul(*(covariance + 1e-5 * np.eye(40) for covariance in covariances))).real
    gap = small[0].mean(axis=0) - small[1].mean(axis=0)
    expected = gap @ gap + sum(map(np.trace, covariances)) - 2 * np.trace(root)
    found = built("as-published").compare([Features(one[:20], other), Features(one[20:], other[:0])], "ab")
    assert found.value == pytest.approx(expected, rel=1e-5)
    assert "warning" in found.details
    assert built("as-published").compare([], []).value is None


@pytest.mark.long
def test_a_set_of_histograms_from_itself() -> None:
    vectors = np.random.default_rng(1).integers(0, 40, (30, 1024)).astype(np.float32) / 8
    assert built("as-published").compare([Features(vectors, vectors)], ["a"]).value == pytest.approx(-0.02048, abs=1e-9)


def test_the_program_tracks_squashed_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
assert all(frame.shape == (256, 256, 3) for frame in frames)
steps = np.arange(16)[:, None, None] * np.array([2.0, 0.0])
np.save(target / 'array.npy', np.broadcast_to(steps, (len(frames) - 15, 16, 400, 2)))
"""
    brought.give(Fvmd.brought, body, tmp_path, monkeypatch)
    truth = np.zeros((17, 20, 30, 3), np.uint8)
    found = built().measure(ItemView.of_arrays(truth=truth, composite=truth))["frame"]
    assert found.details == {"vectors": 2}
    assert found.features is not None
    assert found.features.prediction.shape == (2, 1024)
    assert found.features.prediction.sum() == 2 * 15 * 400 * 0.25
    with pytest.raises(NotMeasurable, match="15 frames are no window of 16"):
        built().measure(ItemView.of_arrays(truth=truth[:15], composite=truth[:15]))
