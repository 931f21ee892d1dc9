from __future__ import annotations

import numpy as np
import pytest
from tiny_networks import add_tiny_clip, edited, noise

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.clip import BackgroundConsistency
from inpaintbench.eval.passes.frame_vectors import clip_vectors

pytest.importorskip("torch")
pytest.importorskip("open_clip")

CONSTANTS = {"network": "tiny", "preprocess": "tensor", "portrait": "centre"}


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)


def metric() -> BackgroundConsistency:
    return BackgroundConsistency(regions=("frame", "band"), band_radius_pixels=8, gif=False, least_cosine=0.0, **CONSTANTS)


def test_is_the_mean_likeness_to_the_first_frame_and_the_one_before() -> None:
    view = edited(noise(4, 40, 60))
    vectors = clip_vectors(view, **CONSTANTS)
    cosines = np.maximum(0, vectors @ vectors.T)
    expected = np.mean([(cosines[index, 0] + cosines[index, index - 1]) / 2 for index in (1, 2, 3)])
    found = metric().measure(view.declaring("background_consistency", BackgroundConsistency.needs))["frame"]
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.details == {"pairs": 3}


def test_a_still_clip_is_one_and_a_change_costs() -> None:
    still = np.repeat(noise(1, 40, 40), 3, axis=0)
    assert metric().measure(edited(still))["frame"].value == pytest.approx(1, abs=1e-9)
    changed = still.copy()
    changed[2] = 255 - changed[2]
    value = metric().measure(edited(changed))["frame"].value
    assert value is not None
    assert 0 <= value < 0.9999


def test_one_frame_has_nothing_to_be_like() -> None:
    with pytest.raises(NotMeasurable, match="one frame has no other frame to be like"):
        metric().measure(edited(noise(1, 40, 40)))


def test_names_its_weights() -> None:
    assert metric().regions == ("frame",)
    assert BackgroundConsistency.weights_of({"network": "ViT-B/32"}) == ("clip-vit-b-32",)
    assert metric().reduce([0.9, 1.0]) == pytest.approx(0.95)


def test_two_frames_are_enough_and_smaller_cosines_count_as_the_least() -> None:
    frames = np.concatenate([noise(1, 40, 40), 255 - noise(1, 40, 40)])
    found = metric().measure(edited(frames))["frame"]
    assert found.details == {"pairs": 1}
    lenient = BackgroundConsistency(
        regions=("frame",),
        band_radius_pixels=8,
        gif=False,
        least_cosine=0.99999,
        network="tiny",
        preprocess="tensor",
        portrait="centre",
    )
    assert found.value is not None
    assert found.value < 0.9999
    assert lenient.measure(edited(frames))["frame"].value == pytest.approx(0.99999, abs=1e-9)
