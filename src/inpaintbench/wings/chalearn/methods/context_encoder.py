"""Pictures of people through a trained context encoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.eval.methods.base import where_judged
from inpaintbench.models.torch_networks import on_device
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import TrainedMethod
from inpaintbench.wings.chalearn.training.checkpoint import levels_of
from inpaintbench.wings.chalearn.training.networks import CONTEXT_PIXELS, shares, small_pictures


class ContextEncoder(TrainedMethod):
    """A baseline of ChaLearn's inpainting of people (2018), context encoders: an autoencoder that learnt with a critic draws the
    picture at 128x128, and a bicubic filter brings what is drawn back, from parameters that ``eval train context_encoder``
    learnt. Items that it learnt from are refused.

    Args:
        checkpoint: the folder that ``eval train`` wrote; the beginning of its parameters' SHA-256 is part of the version.
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: no such folder, damaged parameters, or those of another network. MissingExtraError: PyTorch is not installed.
    """

    name = "context_encoder"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; the input stays around the hole.

        Raises:
            NotMeasurable: the network has learnt from this item.
        """
        with self.running(view) as (network, device):
            return where_judged(view, content(view, network, device))


def content(view: ItemView, network: Any, device: Any) -> Frames:
    """What a context encoder draws, known pixels and hole alike, ``uint8[T, H, W, 3]`` at the item's size."""
    small, hole = small_pictures(view.input, view.hole, side=CONTEXT_PIXELS)
    drawn = []
    for frame, inside in zip(small, hole, strict=True):
        mask = on_device(inside[None, None].astype(np.float32), device)
        drawn.append(levels_of(255 * network(shares(on_device(frame[None], device)), mask)))
    return video.bicubic(np.concatenate(drawn), height=view.height, width=view.width)
