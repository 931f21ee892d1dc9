from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_networks import RANDOM, add_tiny_clip, edited, noise

from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.clip import AestheticQuality
from inpaintbench.eval.passes.frame_vectors import clip_vectors
from inpaintbench.models.clip import aesthetic_head

pytest.importorskip("torch")
pytest.importorskip("open_clip")

CLIP = {"network": "tiny-768", "preprocess": "tensor", "portrait": "centre"}


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)


def metric(**constants: object) -> AestheticQuality:
    given = {**CLIP, "divisor": 10.0, "gif": False, **constants}
    return AestheticQuality(regions=("frame", "hole"), band_radius_pixels=8, **given)  # type: ignore[arg-type]


def test_is_the_mean_rating_of_unit_vectors_over_ten() -> None:
    view = edited(noise(3, 40, 60))
    vectors = clip_vectors(view, **CLIP)
    assert vectors.shape == (3, 768)
    state = {name: value.double().numpy() for name, value in aesthetic_head(RANDOM).state_dict().items()}
    expected = [float(state["weight"][0] @ vector / np.linalg.norm(vector) + state["bias"][0]) / 10 for vector in vectors]
    found = metric().measure(view.declaring("aesthetic_quality", AestheticQuality.needs))["frame"]
    assert found.value == pytest.approx(np.mean(expected), rel=1e-5)
    assert found.details == {"frames": 3}
    assert metric(divisor=1.0).measure(view)["frame"].value == pytest.approx(10 * np.mean(expected), rel=1e-5)


def test_without_weights_the_reason_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    view = edited(noise(1, 40, 40))
    view.shared = Shared()
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch aesthetic-linear-vit-l-14`"):
        metric(network="ViT-L/14").measure(view)


def test_names_its_weights_and_refuses_other_lengths() -> None:
    assert metric().regions == ("frame",)
    assert AestheticQuality.weights_of({"network": "ViT-L/14"}) == ("clip-vit-l-14", "aesthetic-linear-vit-l-14")
    with pytest.raises(ValueError, match="network is 'ViT-B/32', whose vectors do not have the 768 numbers"):
        metric(network="ViT-B/32")
    with pytest.raises(ValueError, match=r"divisor is 0\.0, it must be above 0"):
        metric(divisor=0.0)
