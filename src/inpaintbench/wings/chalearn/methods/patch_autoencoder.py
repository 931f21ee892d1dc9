"""Patches with text through a trained autoencoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.methods.base import where_judged
from inpaintbench.models.torch_networks import on_device
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import TrainedMethod
from inpaintbench.wings.chalearn.training.checkpoint import levels_of
from inpaintbench.wings.chalearn.training.networks import PATCH_PIXELS, frames_of_patches, patches_of, shares


class PatchAutoencoder(TrainedMethod):
    """Baseline 2 of ChaLearn's video decaptioning (2018): a classifier says which 32x32 patches hold text, an autoencoder draws
    those anew, all others are copied; parameters are those that ``eval train patch_autoencoder`` learnt. Items that it learnt
    from are refused.

    Args:
        checkpoint: the folder that ``eval train`` wrote; the beginning of its parameters' SHA-256 is part of the version.
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: no such folder, damaged parameters, or those of another network. MissingExtraError: PyTorch is not installed.
    """

    name = "patch_autoencoder"
    version = "1"
    stateless = True
    needs = ("input",)
    uses = ("hole",)
    divisor: Divisor = PATCH_PIXELS

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; where a hole is given, the input stays around it.

        Raises:
            NotMeasurable: the network has learnt from this item.
        """
        with self.running(view) as (network, device):
            drawn = [_drawn(network, view.input[index : index + 1], device) for index in range(view.input.shape[0])]
        return where_judged(view, np.concatenate(drawn))


def _drawn(network: Any, frame: Frames, device: Any) -> Frames:
    patches = patches_of(frame).copy()
    codes = network.encoder(shares(on_device(patches, device)))
    text = network.has_text(codes)
    if text.any():
        patches[text.cpu().numpy()] = levels_of(255 * network.without_text(codes[text]))
    whole: Frames = frames_of_patches(patches, frames=1, height=frame.shape[1], width=frame.shape[2])
    return whole
