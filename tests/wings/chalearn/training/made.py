"""Networks for tests: trained for a moment, or with parameters that a test plants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.scoring import predict
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import (
    ContextEncoder,
    FrameAutoencoder,
    PatchAutoencoder,
    ResidualEncoder,
    SemanticInpainting,
)
from inpaintbench.wings.chalearn.training import train
from inpaintbench.wings.chalearn.training.networks import NETWORKS
from inpaintbench.wings.chalearn.training.train import Trained

LEAVES: dict[str, Any] = {
    "frame_autoencoder": FrameAutoencoder, "patch_autoencoder": PatchAutoencoder, "residual_encoder": ResidualEncoder,
    "context_encoder": ContextEncoder, "semantic_inpainting": partial(SemanticInpainting, steps=4),
}  # fmt: skip
STEPS: dict[str, tuple[int, dict[str, float]]] = {
    "frame_autoencoder": (300, {"width": 8, "learning_rate": 0.003}),
    "patch_autoencoder": (100, {"width": 8, "batch": 16, "learning_rate": 0.003}),
    "residual_encoder": (160, {"width": 6, "learning_rate": 0.003}),
}
WIDTH = 2


class Learnt(NamedTuple):
    root: Path
    trained: Trained


def unchanged(state: dict[str, Any]) -> None:
    """Plant nothing."""


def planted(name: str, folder: Path, change: Callable[[dict[str, Any]], None] = unchanged, **facts: Any) -> str:
    """A checkpoint of seeded parameters, some of them changed in place; no item was learnt from."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        made = NETWORKS[name].build(WIDTH)
    state = made.state_dict()
    change(state)
    settings = {**NETWORKS[name].settings, "width": WIDTH}
    train.save(folder, state, {"network": name, "settings": settings, "items": [], **facts})
    return str(folder)


def padded(name: str, folder: Path, *, network: str = "") -> Any:
    """A method that was never trained, with the padding that the step around it does.

    Args:
        name: of the method.
        folder: for its checkpoint.
        network: its network, where that has another name.
    """
    bare = LEAVES[name](checkpoint=planted(network or name, folder), device="cpu")

    class Padded(Method):
        """It and the step around it."""

        name, version, needs, uses, divisor = bare.name, bare.version, bare.needs, bare.uses, bare.divisor

        def inpaint(self, view: ItemView) -> Frames:
            return predict.run(bare, view)

    return Padded()
