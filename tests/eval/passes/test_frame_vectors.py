"""Batches, lengths and likeness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.passes.frame_vectors import consistency, frame_vectors, unit_length

torch = pytest.importorskip("torch")


def reference(vectors: np.ndarray) -> list[float]:
    values = []
    for index in range(1, len(vectors)):
        cosines = [
            float(vectors[index] @ vectors[other] / (np.linalg.norm(vectors[index]) * np.linalg.norm(vectors[other])))
            for other in (0, index - 1)
        ]
        values.append((max(0.0, cosines[0]) + max(0.0, cosines[1])) / 2)
    return values


@settings(max_examples=50, deadline=None)
@given(frames=st.integers(2, 9), length=st.integers(1, 6), seed=st.integers(0, 999))
def test_consistency_is_the_mean_of_two_cosines(frames: int, length: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(frames, length))
    found = consistency(unit_length(vectors))
    assert found == pytest.approx(reference(vectors), abs=1e-12)
    assert all(0 <= value <= 1 for value in found)


def test_a_still_clip_is_one_and_opposites_are_zero() -> None:
    vectors = unit_length(np.tile(np.random.default_rng(0).normal(size=(1, 512)), (4, 1)))
    assert consistency(vectors) == pytest.approx([1.0] * 3, abs=1e-12)
    assert consistency(np.array([[1.0, 0], [-1, 0], [1, 0]])) == [0.0, 0.5]
    assert consistency(vectors[:1]) == []


def test_cosines_below_zero_count_as_zero_or_as_they_are() -> None:
    turning = np.array([[1.0, 0], [-1, 0], [1, 0]])
    assert consistency(turning, least_cosine=-1.0) == [-1.0, 0.0]
    with pytest.raises(ValueError, match=r"least_cosine is 2\.0, it must be from -1 to 1"):
        consistency(turning, least_cosine=2.0)


def test_a_vector_of_zeros_stays_one() -> None:
    assert unit_length(np.array([[0.0, 0], [3, 4]])).tolist() == [[0, 0], [0.6, 0.8]]


@pytest.mark.parametrize("batch_bytes", [1, 40_000, None])
def test_batches_change_nothing(batch_bytes: int | None) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (5, 12, 20, 3), dtype=np.uint8)
    sizes = []

    def answer(pictures: Any) -> Any:
        sizes.append(len(pictures))
        return pictures.mean(dim=(2, 3))

    found = frame_vectors(frames, Shared(compute=Compute(device="cpu", batch_bytes=batch_bytes)), answer, picture_bytes=4000)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, frames.mean(axis=(1, 2)) / 255, rtol=1e-5)
    assert sizes == {1: [1] * 5, 40_000: [2, 2, 1], None: [5]}[batch_bytes]
