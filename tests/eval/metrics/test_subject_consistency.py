from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image
from tiny_networks import edited, noise

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import dino as dino_metrics
from inpaintbench.eval.metrics.dino import SubjectConsistency, dino_vectors

torch = pytest.importorskip("torch")


def metric(side_pixels: int = 32, *, gif: bool = False) -> SubjectConsistency:
    where = {"regions": ("frame", "hole"), "band_radius_pixels": 8}
    return SubjectConsistency(side_pixels=side_pixels, gif=gif, least_cosine=0.0, network="dino-vit-b-16", **where)  # type: ignore[arg-type]


def test_is_the_mean_likeness_to_the_first_frame_and_the_one_before() -> None:
    view = edited(np.concatenate([noise(2, 40, 60), 255 - noise(1, 40, 60), np.zeros((1, 40, 60, 3), np.uint8)]))
    vectors = dino_vectors(view, side_pixels=32)
    cosines = np.maximum(0, vectors @ vectors.T)
    expected = np.mean([(cosines[index, 0] + cosines[index, index - 1]) / 2 for index in (1, 2, 3)])
    found = metric().measure(view.declaring("subject_consistency", SubjectConsistency.needs))["frame"]
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert 0 < expected < 0.9999
    assert found.details == {"pairs": 3}


def test_a_still_clip_is_one_and_one_frame_has_no_value() -> None:
    still = np.repeat(noise(1, 40, 40), 3, axis=0)
    assert metric().measure(edited(still))["frame"].value == pytest.approx(1, abs=1e-9)
    with pytest.raises(NotMeasurable, match="one frame has no other frame to be like"):
        metric().measure(edited(still[:1]))


def test_through_a_gif_frames_that_repeat_are_seen_once() -> None:
    one, other = noise(2, 40, 40)
    stuttering = metric(gif=True).measure(edited(np.stack([one, one, other, other])))["frame"]
    assert stuttering.details == {"pairs": 1}
    with pytest.raises(NotMeasurable, match="one frame has no other frame to be like"):
        metric(gif=True).measure(edited(np.stack([one, one, one])))


def test_names_its_weights_and_refuses_a_side_below_a_patch() -> None:
    assert metric().regions == ("frame",)
    assert SubjectConsistency.weights_of({"network": "dino-vit-b-16"}) == ("dino-vit-b-16",)
    with pytest.raises(ValueError, match="side_pixels is 8, it must be at least 16"):
        metric(8)


def test_two_frames_are_enough_and_smaller_cosines_count_as_the_least() -> None:
    frames = np.concatenate([noise(1, 40, 40), 255 - noise(1, 40, 40)])
    found = metric().measure(edited(frames))["frame"]
    assert found.details == {"pairs": 1}
    lenient = metric()
    lenient.least_cosine = 0.99999
    assert found.value is not None
    assert found.value < 0.9999
    assert lenient.measure(edited(frames))["frame"].value == pytest.approx(0.99999, abs=1e-9)


def test_the_least_side_is_that_of_one_patch() -> None:
    assert metric(16).side_pixels == 16
    with pytest.raises(ValueError, match="15"):
        metric(15)


def test_the_small_network_sees_squares_as_ivebench_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its evaluation: Pillow's bilinear filter to a square, levels 0..1, ImageNet's statistics."""
    seen: list[np.ndarray] = []

    class Answering(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, pictures: Any) -> Any:
            seen.append(pictures.numpy())
            return pictures.flatten(1)

    monkeypatch.setattr(dino_metrics, "small_dino", lambda compute: Answering())
    frames = noise(2, 40, 60)
    small = SubjectConsistency(
        regions=("frame",), band_radius_pixels=8, side_pixels=32, gif=False, least_cosine=0.0, network="dino-vit-s-16"
    )
    found = small.measure(edited(frames))["frame"]
    squares = np.stack([np.asarray(Image.fromarray(frame).resize((32, 32), Image.Resampling.BILINEAR)) for frame in frames])
    expected = (squares / 255 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    np.testing.assert_allclose(np.concatenate(seen).transpose(0, 2, 3, 1), expected, atol=1e-5)
    one, other = (vector / np.linalg.norm(vector) for vector in expected.transpose(0, 3, 1, 2).reshape(2, -1))
    assert found.value == pytest.approx(max(0, one @ other), abs=1e-5)
    assert SubjectConsistency.weights_of({"network": "dino-vit-s-16"}) == ()
