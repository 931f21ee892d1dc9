"""Pictures of people as a trained generator can draw them, found by the code whose picture is nearest to what is known."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import where_judged
from inpaintbench.models.torch_networks import on_device, torch
from inpaintbench.ranges import Amount, AtLeastOne, Seed
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import TrainedMethod
from inpaintbench.wings.chalearn.training.checkpoint import levels_of
from inpaintbench.wings.chalearn.training.networks import MANIFOLD_PIXELS, shares, small_pictures

# Side of the window in which missing pixels make known ones count more; how fast codes move.
_WINDOW, _RATE = 7, 0.03


class SemanticInpainting(TrainedMethod):
    """A baseline of ChaLearn's inpainting of people (2018), semantic inpainting (Yeh et al., CVPR 2017): the code is looked for
    whose picture of 64x64 differs least from the known pixels, those by the hole before others, and seems real to the critic;
    from parameters that ``eval train semantic_inpainting`` learnt. Items that it learnt from are refused.

    Args:
        checkpoint: the folder that ``eval train`` wrote; the beginning of its parameters' SHA-256 is part of the version.
        device: "auto", "cpu" or "cuda".
        steps: of the search, by Adam.
        prior: weight of what the critic says.
        seed: of the first codes.

    Raises:
        InputError: no such folder, damaged parameters, or those of another network. MissingExtraError: PyTorch is not installed.
    """

    name = "semantic_inpainting"
    version = "1"
    stateless = True
    needs = ("input", "hole")

    def __init__(
        self, *, checkpoint: str, device: Any = "auto", steps: AtLeastOne = 1500, prior: Amount = 0.003, seed: Seed = 0
    ) -> None:
        if steps < 1 or prior < 0:
            raise InputError(f"steps is {steps} and prior {prior:g}: at least 1 step, and a prior of 0 or more")
        super().__init__(checkpoint=checkpoint, device=device)
        self.steps, self.prior, self.seed = steps, prior, seed

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; the input stays around the hole.

        Raises:
            NotMeasurable: the network has learnt from this item.
        """
        small, hole = small_pictures(view.input, view.hole, side=MANIFOLD_PIXELS)
        drawn = []
        with self.running(view) as (network, device), torch().inference_mode(False), torch().enable_grad():
            for frame, inside in zip(small, hole, strict=True):
                known = shares(on_device(frame[None], device))
                weights = on_device(nearness(inside)[None, None], device)
                drawn.append(levels_of(255 * self._found(network, known.clone(), weights.clone())))
        return where_judged(view, video.bicubic(np.concatenate(drawn), height=view.height, width=view.width))

    def _found(self, network: Any, known: Any, weights: Any) -> Any:
        """The picture of the code that is found, ``float32[1, 3, 64, 64]`` in 0..1."""
        package = torch()
        random = package.Generator().manual_seed(self.seed)
        codes = (2 * package.rand(1, network.code, generator=random) - 1).to(known.device).requires_grad_(True)
        adam = package.optim.Adam([codes], lr=_RATE)
        for _ in range(self.steps):
            adam.zero_grad()
            picture = network(codes)
            real = package.nn.functional.softplus(-network.critic(picture)).sum()
            (((picture - known).abs() * weights).sum() + self.prior * real).backward()
            adam.step()
            with package.no_grad():
                codes.clamp_(-1, 1)
        with package.no_grad():
            return network(codes)


def nearness(hole: Hole) -> npt.NDArray[np.float32]:
    """Weight of each pixel, ``float32[H, W]``: the share of missing ones in the window around a known one; 0 in the hole."""
    missing = cv2.blur(hole.astype(np.float32), (_WINDOW, _WINDOW), borderType=cv2.BORDER_REFLECT_101)
    return np.where(hole, np.float32(0), missing).astype(np.float32)
