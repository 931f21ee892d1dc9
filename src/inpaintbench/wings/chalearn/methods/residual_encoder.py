"""Fingerprints through a trained residual network."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from inpaintbench.eval.methods.base import where_judged
from inpaintbench.models.torch_networks import on_device
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import TrainedMethod
from inpaintbench.wings.chalearn.training.checkpoint import levels_of
from inpaintbench.wings.chalearn.training.networks import halved, shares


class ResidualEncoder(TrainedMethod):
    """The baseline of ChaLearn's fingerprint denoising (2018): a network of convolutions and five residual blocks draws the print
    at half its size, and a Lanczos filter brings it back, from parameters that ``eval train residual_encoder`` learnt. Items that
    it learnt from are refused.

    Args:
        checkpoint: the folder that ``eval train`` wrote; the beginning of its parameters' SHA-256 is part of the version.
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: no such folder, damaged parameters, or those of another network. MissingExtraError: PyTorch is not installed.
    """

    name = "residual_encoder"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``, three equal channels where there is no hole around which the input stays.

        Raises:
            NotMeasurable: the network has learnt from this item.
        """
        with self.running(view) as (network, device):
            drawn = [_drawn(network, frame, device) for frame in view.input]
        return where_judged(view, np.stack(drawn))


def _drawn(network: Any, frame: Frames, device: Any) -> Frames:
    small = np.asarray(halved(Image.fromarray(frame)))
    levels = levels_of(network(shares(on_device(small[None], device))))[0, ..., 0]
    whole = Image.fromarray(levels).resize((frame.shape[1], frame.shape[0]), Image.Resampling.LANCZOS)
    return np.repeat(np.asarray(whole)[..., None], 3, axis=2)
