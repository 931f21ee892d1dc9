from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_networks import add_tiny_clip, edited, noise

from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.clip import ClipSimilarity
from inpaintbench.eval.passes.frame_vectors import clip_vectors, prompt_vector
from inpaintbench.types import Prompts

pytest.importorskip("torch")
pytest.importorskip("open_clip")

CONSTANTS = {"network": "tiny", "preprocess": "pillow", "portrait": "bottom"}


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)


def metric(network: str = "tiny") -> ClipSimilarity:
    return ClipSimilarity(regions=("frame", "hole"), band_radius_pixels=8, **{**CONSTANTS, "network": network})


def test_is_the_mean_cosine_with_the_target_as_it_is() -> None:
    view = edited(noise(4, 40, 60), Prompts(None, "a panda"))
    frames, text = clip_vectors(view, **CONSTANTS), prompt_vector(view, "target", network="tiny")
    cosines = [float(np.dot(frame, text) / np.linalg.norm(frame) / np.linalg.norm(text)) for frame in frames]
    found = metric().measure(view.declaring("clip_similarity", ClipSimilarity.needs))["frame"]
    assert found.value == pytest.approx(np.mean(cosines), abs=1e-12)
    assert found.details == {"frames": 4}


def test_needs_no_source_and_says_when_there_is_no_target() -> None:
    with pytest.raises(NotMeasurable, match="the item has no target prompt"):
        metric().measure(edited(noise(1, 40, 40), Prompts("a bear", "")))


def test_without_weights_the_reason_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    view = edited(noise(1, 40, 40), Prompts("a bear", "a panda"))
    view.shared = Shared()
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch clip-vit-b-32`"):
        metric("ViT-B/32").measure(view)


def test_names_its_weights() -> None:
    assert metric().regions == ("frame",)
    assert ClipSimilarity.weights_of({"network": "ViT-L/14"}) == ("clip-vit-l-14",)
    assert metric().reduce([0.25, 0.35]) == pytest.approx(0.3)


@pytest.mark.parametrize("wrong", [{"network": "ViT-Z/1"}, {"preprocess": "none"}, {"portrait": "top"}])
def test_what_is_not_known_is_refused_before_anything_is_measured(wrong: dict[str, str]) -> None:
    with pytest.raises(UnknownNameError, match=next(iter(wrong.values()))):
        ClipSimilarity(regions=("frame",), band_radius_pixels=8, **{**CONSTANTS, **wrong})
