from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_networks import RANDOM, add_tiny_clip, edited, noise

from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.clip import SuccessRate
from inpaintbench.eval.passes.frame_vectors import clip_vectors
from inpaintbench.models.clip import text_network, tokens
from inpaintbench.models.torch_networks import running
from inpaintbench.types import Prompts
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch")
pytest.importorskip("open_clip")

TARGET = "a white bear walks in the snow"
TEXTS = ("a bear", "a panda", "snow", "grass", "the sea", "red", "two dogs run", "night")


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)


def metric(**constants: Any) -> SuccessRate:
    given = {"network": "tiny", "preprocess": "pillow", "portrait": "bottom", "tie": 1.0} | constants
    return SuccessRate(regions=("frame", "hole", "band"), band_radius_pixels=8, **given)


def value(view: ItemView, **constants: Any) -> float:
    found = metric(**constants).measure(view.declaring("success_rate", SuccessRate.needs))["frame"].value
    assert found is not None
    return found


def chances(vectors: np.ndarray) -> np.ndarray:
    """For every pair of ``TEXTS`` and frame, what the second has in the softmax over both at CLIP's scale of 100."""
    rows = torch.zeros((len(TEXTS), 77), dtype=torch.int64)
    for row, text in zip(rows, TEXTS, strict=True):
        row[: len(tokens(text))] = torch.tensor(tokens(text))
    with running(RANDOM):
        encoded = torch.nn.functional.normalize(text_network("tiny", RANDOM)(rows).double()).numpy()
    share = np.exp(100 * encoded @ vectors.T)
    return share[None] / (share[None] + share[:, None])


def test_is_the_share_of_frames_that_are_nearer_to_the_target() -> None:
    colours = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [255, 0, 255], [0, 0, 0], [255, 255, 255]]
    frames = np.concatenate([np.full((8, 40, 60, 3), np.uint8(colours)[:, None, None]), noise(4, 40, 60)])
    nearer = (chances(clip_vectors(edited(frames), network="tiny", preprocess="pillow", portrait="bottom")) >= 0.5).sum(axis=2)
    # Made-up parameters promise nothing, so the two texts are taken that split the frames most evenly.
    source, target = np.unravel_index(np.abs(nearer - 6).argmin(), nearer.shape)
    wins = int(nearer[source, target])
    assert 0 < wins < 12
    found = metric().measure(edited(frames, Prompts(TEXTS[source], TEXTS[target])))["frame"]
    assert found.value == wins / 12
    assert found.details == {"frames": 12, "successes": wins, "ties": 0}
    assert value(edited(frames, Prompts(TEXTS[target], TEXTS[source]))) == pytest.approx(1 - wins / 12)


def test_the_same_words_are_a_tie_which_counts_as_published() -> None:
    view = edited(noise(3, 40, 40), Prompts(TARGET, TARGET))
    assert value(view) == 1.0
    assert value(view, tie=0.5) == 0.5
    assert metric().measure(view)["frame"].details == {"frames": 3, "successes": 0, "ties": 3}


def test_of_portrait_frames_the_bottom_square_counts_or_the_middle() -> None:
    frames = noise(2, 120, 40)
    bottom, middle = frames.copy(), frames.copy()
    bottom[:, 84:], middle[:, 44:76] = 255 - bottom[:, 84:], 255 - middle[:, 44:76]
    for portrait, seen, unseen in (("bottom", bottom, middle), ("centre", middle, bottom)):
        given, changed, same = (
            clip_vectors(edited(one), network="tiny", preprocess="pillow", portrait=portrait) for one in (frames, seen, unseen)
        )
        assert not np.allclose(given, changed, atol=1e-3)
        np.testing.assert_array_equal(given, same)


def test_what_is_missing_is_named() -> None:
    for prompts, reason in ((Prompts(None, TARGET), "the item has no source prompt"), (None, "the item has no source prompt")):
        with pytest.raises(NotMeasurable, match=reason):
            metric().measure(edited(noise(1, 40, 40), prompts))
    with pytest.raises(NotMeasurable, match="the source prompt has 92 tokens"):
        metric().measure(edited(noise(1, 40, 40), Prompts("cat " * 90, TARGET)))


def test_answers_for_the_frame_alone() -> None:
    assert metric().regions == ("frame",)
    assert SuccessRate.weights_of({"network": "ViT-B/32"}) == ("clip-vit-b-32",)
    assert metric().reduce([0.25, 1.0]) == 0.625
    nothing = SuccessRate(
        regions=("hole",), band_radius_pixels=8, network="tiny", preprocess="pillow", portrait="bottom", tie=1.0
    )
    assert nothing.measure(edited(noise(1, 40, 40))) == {}


def test_constants_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"tie is 2\.0, it must be from 0 to 1"):
        metric(tie=2.0)
    with pytest.raises(UnknownNameError, match="unknown network of CLIP 'ViT-B/31'"):
        metric(network="ViT-B/31")
    with pytest.raises(UnknownNameError, match="unknown preprocessing for CLIP 'pil'"):
        metric(preprocess="pil")
