"""CLIP score and temporal consistency, as torchmetrics and VideoPainter's released code have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_networks import by_formula
from waves import MASK, image

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.clip import ClipNeighbours, ClipScore
from inpaintbench.models.clip import NETWORKS, Shape, build_images, build_texts
from inpaintbench.types import Prompts
from inpaintbench.view import ItemView

SHORT, LONG = "a brown bear walks over rocks", "a long caption of the film, " * 30
WHERE: Any = {"regions": ("frame", "hole"), "band_radius_pixels": 8}
CONSTANTS: Any = {**WHERE, "network": "small", "preprocess": "transformers", "portrait": "centre", "stride": 1}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("open_clip")
    shape = Shape("", 24, layers=1, width=64, patch_pixels=32, text_layers=1, text_width=64)
    monkeypatch.setitem(NETWORKS, "small", shape)  # type: ignore[arg-type]
    images, texts = by_formula(build_images(shape)), by_formula(build_texts(shape))
    for module in ("eval.metrics.clip", "eval.passes.frame_vectors"):
        monkeypatch.setattr(f"inpaintbench.{module}.image_network", lambda name, compute: images)
    monkeypatch.setattr("inpaintbench.eval.passes.frame_vectors.text_network", lambda name, compute: texts)
    monkeypatch.setattr("inpaintbench.eval.passes.frame_vectors._text_vector", _uncached())


def _uncached() -> Any:
    from inpaintbench.eval.passes import frame_vectors

    return frame_vectors._text_vector.__wrapped__


def view_of(frames: np.ndarray, prompt: str) -> ItemView:
    hole = np.stack([MASK] * len(frames))
    parts: dict[str, Any] = {"composite": frames, "hole": hole, "prompts": Prompts(source=None, target=prompt)}
    return ItemView(
        item_id="", frames=len(frames), height=240, width=432, fps=25.0, shared=Shared(compute=Compute(device="cpu")),
        parts={name: (lambda held=held: held) for name, held in parts.items()},
    )  # fmt: skip


@pytest.mark.parametrize(("prompt", "whole", "inside"), [(SHORT, 20.4884796, 19.8335896), (LONG, 24.6614819, 32.5695419)])
def test_what_torchmetrics_gives(prompt: str, whole: float, inside: float, small: None) -> None:
    """Of a long text the first 77 tokens are left without its end, and all such texts have one vector."""
    metric = ClipScore(cut=True, rule="five", **CONSTANTS)
    view = view_of(image(1)[None], prompt)
    found = metric.measure(view.declaring(metric.name, metric.parts))
    assert [found["frame"].value, found["hole"].value] == pytest.approx([whole, inside], rel=1e-4)


def test_long_texts_are_all_alike_or_refused(small: None) -> None:
    frames = image(1)[None]
    cut, whole = (ClipScore(cut=cut, rule="five", **CONSTANTS) for cut in (True, False))
    found = [cut.measurement(view_of(frames, text)).value for text in (LONG, "other words " * 60)]
    assert found[0] == found[1]
    with pytest.raises(NotMeasurable, match="CLIP takes 77 at most"):
        whole.measurement(view_of(frames, LONG))


def test_holes_have_the_caption_of_what_fills_them_and_empty_frames_count_or_not(small: None) -> None:
    """VideoPainter's Masked_Region_CLIP_Score counts black frames; FiVE's column has the target prompt and leaves them out."""
    frames, hole = image(1)[None].repeat(2, 0), np.stack([MASK, MASK & False])
    found = {}
    for rule, inside in (("videopainter", LONG), ("videopainter", None), ("five", LONG)):
        parts = {"composite": frames, "hole": hole, "prompts": Prompts(None, SHORT, hole=inside)}
        view = ItemView(
            item_id="", frames=2, height=240, width=432, fps=25.0, shared=Shared(compute=Compute(device="cpu")),
            parts={name: (lambda held=held: held) for name, held in parts.items()},
        )  # fmt: skip
        found[rule, inside] = ClipScore(cut=True, rule=rule, **CONSTANTS).measure(view)
    black = np.zeros_like(frames[:1])
    of_black = ClipScore(cut=True, rule="five", **CONSTANTS).measurement(view_of(black, LONG)).value
    assert of_black is not None
    assert [of["frame"].value for of in found.values()] == pytest.approx([20.4884796] * 3, rel=1e-4)
    assert found["five", LONG]["hole"].value == pytest.approx(19.8335896, rel=1e-4)
    assert found["videopainter", LONG]["hole"].value == pytest.approx((32.5695419 + of_black) / 2, rel=1e-4)
    assert found["videopainter", None]["hole"] == Measurement(None, "nobody says what fills the hole")


def test_what_videopainter_gives_between_frames(small: None) -> None:
    metric = ClipNeighbours(network="small", **WHERE)
    view = view_of(np.stack([image(0), image(1)]), SHORT)
    found = metric.measure(view.declaring(metric.name, metric.parts))
    assert [found["frame"].value, found["hole"].value] == pytest.approx([0.9998153, 0.9999745], abs=1e-6)
    with pytest.raises(NotMeasurable, match="one frame"):
        metric.measure(view_of(image(0)[None], SHORT))
