"""CLIP of frames and prompts, by a small network of the same kind."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from tiny_networks import RANDOM, add_tiny_clip, edited, noise

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.passes.frame_vectors import clip_vectors, prompt_vector
from inpaintbench.models.clip import image_network, text_network, tokens
from inpaintbench.models.torch_networks import running
from inpaintbench.types import Prompts

torch = pytest.importorskip("torch")
pytest.importorskip("open_clip")

MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)


@pytest.mark.parametrize(
    ("preprocess", "portrait"), [("pillow", "bottom"), ("pillow", "centre"), ("tensor", "bottom"), ("tensor", "centre")]
)
def test_portrait_frames_go_in_as_published(preprocess: str, portrait: str) -> None:
    transforms = pytest.importorskip("torchvision.transforms")
    bicubic = transforms.InterpolationMode.BICUBIC
    frames = noise(3, 90, 61)
    kept = frames[:, 29:] if portrait == "bottom" else frames
    if preprocess == "pillow":
        steps = [transforms.Resize(32, interpolation=bicubic), transforms.CenterCrop(32), transforms.ToTensor()]
        given = [Image.fromarray(frame) for frame in kept]
    else:
        steps = [
            transforms.Resize(32, interpolation=bicubic, antialias=False),
            transforms.CenterCrop(32),
            transforms.Lambda(lambda x: x / 255),
        ]
        given = list(torch.from_numpy(kept.copy()).permute(0, 3, 1, 2).float())
    published = transforms.Compose([*steps, transforms.Normalize(MEAN, DEVIATION)])
    with running(RANDOM):
        expected = image_network("tiny", RANDOM)(torch.stack([published(one) for one in given])).double()
    found = clip_vectors(edited(frames), network="tiny", preprocess=preprocess, portrait=portrait)
    torch.testing.assert_close(torch.from_numpy(found), torch.nn.functional.normalize(expected), rtol=1e-4, atol=1e-5)


def test_frames_go_through_the_network_once_for_all_that_ask_alike() -> None:
    item = edited(noise(3, 40, 60))
    one = clip_vectors(item, network="tiny", preprocess="pillow", portrait="bottom")
    assert clip_vectors(item, network="tiny", preprocess="pillow", portrait="bottom") is one
    assert clip_vectors(item, network="tiny", preprocess="tensor", portrait="bottom") is not one
    assert clip_vectors(item.declaring("leaf", ("prediction",)), network="tiny", preprocess="pillow", portrait="bottom") is one


def test_a_prompt_is_encoded_once_for_all_items() -> None:
    one, other = (edited(noise(1, 40, 40), Prompts("a bear", "a panda")) for _ in range(2))
    found = prompt_vector(one, "target", network="tiny")
    assert prompt_vector(other, "target", network="tiny") is found
    with running(RANDOM):
        expected = text_network("tiny", RANDOM)(torch.tensor([tokens("a panda") + [0] * (77 - len(tokens("a panda")))]))[
            0
        ].double()
    np.testing.assert_allclose(found, expected / expected.norm(), rtol=1e-5)
    assert not np.allclose(prompt_vector(one, "source", network="tiny"), found)


def test_prompts_that_cannot_be_taken_are_named_and_never_cut() -> None:
    frames = noise(1, 40, 40)
    fits, long = "cat " * 75, "cat " * 76
    assert prompt_vector(edited(frames, Prompts(None, fits)), "target", network="tiny").shape == (24,)
    with pytest.raises(
        NotMeasurable, match=r"the target prompt has 78 tokens with the marks of its beginning and end, CLIP takes 77"
    ):
        prompt_vector(edited(frames, Prompts(None, long)), "target", network="tiny")
    with pytest.raises(NotMeasurable, match="the item has no source prompt"):
        prompt_vector(edited(frames, Prompts(None, fits)), "source", network="tiny")
    with pytest.raises(NotMeasurable, match="the item has no target prompt"):
        prompt_vector(edited(frames, Prompts("a", " ")), "target", network="tiny")
    with pytest.raises(NotMeasurable, match="the item has no target prompt"):
        prompt_vector(edited(frames), "target", network="tiny")
