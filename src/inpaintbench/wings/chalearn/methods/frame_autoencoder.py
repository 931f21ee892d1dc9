"""Whole frames through a trained autoencoder."""

from __future__ import annotations

import numpy as np

from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.methods.base import where_judged
from inpaintbench.models.torch_networks import on_device
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import TrainedMethod
from inpaintbench.wings.chalearn.training.checkpoint import levels_of
from inpaintbench.wings.chalearn.training.networks import FRAME_DIVISOR, shares


class FrameAutoencoder(TrainedMethod):
    """Baseline 1 of ChaLearn's video decaptioning (2018): an autoencoder draws every frame anew and looks at no other, from
    parameters that ``eval train frame_autoencoder`` learnt. Items that it learnt from are refused.

    Args:
        checkpoint: the folder that ``eval train`` wrote; the beginning of its parameters' SHA-256 is part of the version.
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: no such folder, damaged parameters, or those of another network. MissingExtraError: PyTorch is not installed.
    """

    name = "frame_autoencoder"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)
    divisor: Divisor = FRAME_DIVISOR

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; where a hole is given, the input stays around it.

        Raises:
            NotMeasurable: the network has learnt from this item.
        """
        with self.running(view) as (network, device):
            drawn = [levels_of(255 * network(shares(on_device(frame[None], device)))) for frame in view.input]
        return where_judged(view, np.concatenate(drawn))
