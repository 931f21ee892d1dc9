"""Small networks of the same classes as the large ones, and parameters that hide no mistake."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from inpaintbench.compute import Compute, Shared
from inpaintbench.models.clip import NETWORKS, Shape
from inpaintbench.types import Prompts
from inpaintbench.view import ItemView

RANDOM = Compute(device="cpu", random_weights=3)
TINY = Shape("clip-vit-b-32", 24, layers=2, width=128, patch_pixels=8, text_layers=2, text_width=64, side_pixels=32)
TINY_768 = Shape("clip-vit-l-14", 768, layers=1, width=64, patch_pixels=16, text_layers=1, text_width=64, side_pixels=32)


def edited(frames: npt.NDArray[np.uint8], prompts: Prompts | None = None, **parts: npt.NDArray[Any]) -> ItemView:
    """An item with a prediction and maybe prompts, measured by made-up parameters."""
    given = {"prediction": frames, **parts, **({} if prompts is None else {"prompts": prompts})}
    return ItemView(
        item_id="item",
        frames=frames.shape[0],
        height=frames.shape[1],
        width=frames.shape[2],
        fps=30.0,
        parts={name: partial(dict.__getitem__, given, name) for name in given},
        shared=Shared(compute=RANDOM),
    )


def noise(frames: int, height: int, width: int, *, seed: int = 0) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)


def add_tiny_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets ``"tiny"`` and ``"tiny-768"`` be asked for as networks of CLIP."""
    for name, shape in (("tiny", TINY), ("tiny-768", TINY_768)):
        monkeypatch.setitem(NETWORKS, name, shape)  # type: ignore[arg-type]


def shorten_dino(monkeypatch: pytest.MonkeyPatch) -> None:
    """One block instead of twelve: what holds of any parameters holds of it, too, and it looks at pictures of full size."""
    monkeypatch.setattr("inpaintbench.models.dino._ADDRESS", f"{__name__}:one_block")


def one_block(**shape: Any) -> Any:
    from inpaintbench.models.dino_layers import Dino

    return Dino(layers=1, **shape)


def shaken(build: Callable[[], Any], *, seed: int = 1) -> Any:
    """What ``build`` makes, with noise on all its parameters: fresh ones have biases of 0 and norms that do nothing."""
    torch = pytest.importorskip("torch")
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        module = build()
        for parameter in module.parameters():
            parameter += 0.1 * torch.randn(parameter.shape)
    return module.eval()


def by_formula(module: Any) -> Any:
    """The same module with parameters that can be written down: what released code made of them was pinned once.

    The parameter number ``i``, counted by names in order, has ``0.1 sin(0.01 k^2 + 0.3 k + i)`` at its place ``k``, and 1 more
    where it is the factor of a norm or of a scale.
    """
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        for index, (name, parameter) in enumerate(sorted(module.named_parameters())):
            k = np.arange(parameter.numel(), dtype=np.float64)
            values = 0.1 * np.sin(0.01 * k * k + 0.3 * k + index) + (parameter.ndim == 1 and name.endswith(("weight", "gamma")))
            parameter.copy_(torch.from_numpy(values).reshape(parameter.shape))
    return module.eval()
