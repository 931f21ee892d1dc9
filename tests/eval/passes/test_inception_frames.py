from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inpaintbench.compute import Compute, Shared, as_stored
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.metrics.inception import Fid, inception, inception_vectors
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch")
FRAMES, HEIGHT, WIDTH = 3, 48, 64
COMPUTE = Compute(device="cpu", random_weights=3)


def item() -> dict[str, np.ndarray]:
    """Three frames; the second has no hole."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.repeat(rng.integers(0, 256, (FRAMES, HEIGHT // 8, WIDTH // 8, 3), np.uint8), 8, axis=1), 8, axis=2)
    hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.bool_)
    hole[[0, 2], 10:30, 12:40] = True
    return {"truth": truth, "hole": hole}


def seen(shared: Shared, *seeds: int) -> list[ItemView]:
    parts, shape = item(), (FRAMES, HEIGHT, WIDTH, 3)
    made = [np.random.default_rng(seed).integers(0, 256, shape, np.uint8) for seed in seeds]
    return [ItemView.of_arrays(**parts, prediction=prediction, shared=shared) for prediction in made]


def vectors(views: list[ItemView]) -> list[Features]:
    return inception_vectors(views, resize="bilinear", side_pixels=299)


@pytest.fixture(scope="module")
def found() -> list[Features]:
    """Of two methods together."""
    return vectors(seen(Shared(compute=COMPUTE), 1, 2))


def resized(frame: np.ndarray, side: int) -> np.ndarray:
    """Bilinear between centres of pixels, axis after axis, in float64."""
    picture = frame / 255
    for axis in (0, 1):
        length = frame.shape[axis]
        at = np.clip((np.arange(side) + 0.5) * length / side - 0.5, 0, length - 1)
        low = np.floor(at).astype(int)
        weight = (at - low).reshape([-1 if one == axis else 1 for one in range(3)])
        picture = picture.take(low, axis) * (1 - weight) + picture.take(np.minimum(low + 1, length - 1), axis) * weight
    return picture


def test_equals_the_network_frame_by_frame(found: list[Features]) -> None:
    network = inception(COMPUTE)
    views = seen(Shared(compute=COMPUTE), 1, 2)
    cases = [(views[0].truth[1], found[0].truth[1]), (views[1].composite[2], found[1].prediction[2])]
    for frame, vector in cases:
        picture = 2 * resized(frame, 299).transpose(2, 0, 1)[None] - 1
        with torch.inference_mode():
            expected = network(torch.from_numpy(picture.astype(np.float32)))[0].numpy()
        assert np.linalg.norm(vector - expected) < 1e-4 * np.linalg.norm(expected)


def test_gives_a_vector_of_each_frame(found: list[Features]) -> None:
    for one in found:
        assert one.prediction.shape == one.truth.shape == (FRAMES, 2048)
        assert one.prediction.dtype == one.truth.dtype == np.float32
        assert np.isfinite(one.prediction).all()
    assert found[0].truth is found[1].truth


def test_frames_that_equal_the_truth_have_its_vector(found: list[Features]) -> None:
    for one in found:
        assert np.array_equal(one.prediction[1], one.truth[1])
        assert not np.array_equal(one.prediction[0], one.truth[0])
    assert not np.array_equal(found[0].prediction[0], found[1].prediction[0])


def test_neither_the_batch_nor_the_other_methods_matter(found: list[Features]) -> None:
    alone = Compute(device="cpu", random_weights=3, batch_bytes=1)
    [one] = vectors(seen(Shared(compute=alone), 2))
    for vector, expected in ((one.prediction, found[1].prediction), (one.truth, found[1].truth)):
        assert np.abs(vector - expected).max() < 1e-5 * np.abs(expected).max()


def test_is_remembered_for_each_prediction(found: list[Features]) -> None:
    shared = Shared(compute=COMPUTE)
    [first], [second] = (seen(shared, seed) for seed in (1, 2))
    one, other = vectors([first]), vectors([second])
    assert vectors([first.declaring("fid", ("truth", "composite"))])[0].prediction is one[0].prediction
    np.testing.assert_allclose(one[0].prediction, found[0].prediction, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(other[0].prediction, found[1].prediction, rtol=1e-4, atol=1e-5)


def test_the_truth_is_read_from_disk_when_it_was_seen_before(tmp_path: Path, found: list[Features]) -> None:
    def shared() -> Shared:
        return Shared(folder=tmp_path, compute=COMPUTE)

    vectors(seen(shared(), 1))
    [path] = tmp_path.rglob("*.npy")
    kept = np.load(path)
    np.testing.assert_allclose(kept, found[0].truth, rtol=1e-4, atol=1e-5)
    path.write_bytes(as_stored(kept + 1))
    [again] = vectors(seen(shared(), 1))
    assert np.array_equal(again.truth, kept + 1)
    assert np.array_equal(again.prediction[1], kept[1] + 1)


def test_missing_weights_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    with pytest.raises(NotMeasurable, match="INPAINTBENCH_WEIGHTS"):
        vectors(seen(Shared(compute=Compute(device="cpu")), 1))


def test_an_unknown_way_to_resize_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'bilinea', did you mean 'bilinear'"):
        Fid(resize="bilinea", side_pixels=299, ddof=1, regions=("frame",), band_radius_pixels=8)


def test_a_single_picture_has_one_vector() -> None:
    parts: dict[str, Any] = {name: part[:1] for name, part in item().items()}
    view = ItemView.of_arrays(**parts, prediction=255 - parts["truth"], shared=Shared(compute=COMPUTE))
    [one] = vectors([view])
    assert one.prediction.shape == one.truth.shape == (1, 2048)
