"""Methods whose parameters were trained here: the baselines of the challenges' three tracks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench import video
from inpaintbench.compute import Compute, Device
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.methods.base import Method, where_judged
from inpaintbench.models import torch_networks
from inpaintbench.models.torch_networks import on_device, torch
from inpaintbench.ranges import Amount, AtLeastOne, Seed
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.training.networks import (
    CONTEXT_PIXELS,
    FRAME_DIVISOR,
    MANIFOLD_PIXELS,
    PATCH_PIXELS,
    frames_of_patches,
    halved,
    patches_of,
    shares,
    small_pictures,
)
from inpaintbench.wings.chalearn.training.train import levels_of, read_facts, trained

# Of semantic inpainting: side of the window in which missing pixels make known ones count more; how fast codes move.
_WINDOW, _RATE = 7, 0.03


class TrainedMethod(Method):
    """A method whose parameters ``eval train`` wrote; its name is the network's, unless it names another.

    Args:
        checkpoint: folder with ``network.pt`` and ``network.json``.
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: no such folder, damaged parameters, or those of another network. MissingExtraError: PyTorch is not installed.
    """

    network: str = ""
    """Name of the network where that is not the method's."""
    stateless = True

    def __init__(self, *, checkpoint: str, device: Device = "auto") -> None:
        self._compute = Compute(device=device)
        self._device = torch_networks.device_of(self._compute)
        self._checkpoint, self._facts = checkpoint, read_facts(checkpoint, wanted=self.network or self.name)
        trained(checkpoint, self._facts, device=str(self._device))  # what cannot be read is told before anything runs
        self.version = f"{type(self).version}+{self._facts.sha256[:16]}"

    @contextmanager
    def running(self, view: ItemView) -> Iterator[tuple[Any, Any]]:
        """The network and its device, for an item that it has not learnt from.

        Raises:
            NotMeasurable: it has.
        """
        if view.item_id in self._facts.items:
            raise NotMeasurable("the network has learnt from this item, so its answer would say nothing")
        with torch_networks.running(self._compute) as device:
            yield trained(self._checkpoint, self._facts, device=str(self._device)), device

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; where a hole is given, the input stays around it.

        Raises:
            NotMeasurable: the network has learnt from this item.
        """
        with self.running(view) as (network, device):
            return where_judged(view, self.drawn(view, network, device))

    @abstractmethod
    def drawn(self, view: ItemView, network: Any, device: Any) -> Frames:
        """What the network makes of an item, ``uint8[T, H, W, 3]``, known pixels and hole alike."""


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
    needs = ("input",)
    uses = ("hole",)
    divisor: Divisor = FRAME_DIVISOR

    def drawn(self, view: ItemView, network: Any, device: Any) -> Frames:
        """Every frame through the network, alone."""
        return np.concatenate([levels_of(255 * network(shares(on_device(frame[None], device)))) for frame in view.input])


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
    needs = ("input",)
    uses = ("hole",)
    divisor: Divisor = PATCH_PIXELS

    def drawn(self, view: ItemView, network: Any, device: Any) -> Frames:
        """Every frame with its patches that hold text drawn anew."""
        frames = []
        for frame in view.input:
            patches = patches_of(frame[None]).copy()
            codes = network.encoder(shares(on_device(patches, device)))
            text = network.has_text(codes)
            if text.any():
                patches[text.cpu().numpy()] = levels_of(255 * network.without_text(codes[text]))
            frames.append(frames_of_patches(patches, frames=1, height=view.height, width=view.width))
        return np.concatenate(frames)


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
    needs = ("input",)
    uses = ("hole",)

    def drawn(self, view: ItemView, network: Any, device: Any) -> Frames:
        """Every frame in grey, three equal channels."""
        frames = []
        for frame in view.input:
            small = np.asarray(halved(Image.fromarray(frame)))
            levels = levels_of(network(shares(on_device(small[None], device))))[0, ..., 0]
            whole = Image.fromarray(levels).resize((view.width, view.height), Image.Resampling.LANCZOS)
            frames.append(np.repeat(np.asarray(whole)[..., None], 3, axis=2))
        return np.stack(frames)


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
    needs = ("input", "hole")

    def drawn(self, view: ItemView, network: Any, device: Any) -> Frames:
        """See ``content``."""
        return content(view, network, device)


def content(view: ItemView, network: Any, device: Any) -> Frames:
    """What a context encoder draws, known pixels and hole alike, ``uint8[T, H, W, 3]`` at the item's size."""
    small, hole = small_pictures(view.input, view.hole, side=CONTEXT_PIXELS)
    drawn = []
    for frame, inside in zip(small, hole, strict=True):
        mask = on_device(inside[None, None].astype(np.float32), device)
        drawn.append(levels_of(255 * network(shares(on_device(frame[None], device)), mask)))
    return video.bicubic(np.concatenate(drawn), height=view.height, width=view.width)


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
    needs = ("input", "hole")

    def __init__(
        self, *, checkpoint: str, device: Any = "auto", steps: AtLeastOne = 1500, prior: Amount = 0.003, seed: Seed = 0
    ) -> None:
        if steps < 1 or prior < 0:
            raise InputError(f"steps is {steps} and prior {prior:g}: at least 1 step, and a prior of 0 or more")
        super().__init__(checkpoint=checkpoint, device=device)
        self.steps, self.prior, self.seed = steps, prior, seed

    def drawn(self, view: ItemView, network: Any, device: Any) -> Frames:
        """The pictures of the codes that are found."""
        small, hole = small_pictures(view.input, view.hole, side=MANIFOLD_PIXELS)
        frames = []
        with torch().inference_mode(False), torch().enable_grad():
            for frame, inside in zip(small, hole, strict=True):
                known = shares(on_device(frame[None], device))
                weights = on_device(nearness(inside)[None, None], device)
                frames.append(levels_of(255 * self._found(network, known.clone(), weights.clone())))
        return video.bicubic(np.concatenate(frames), height=view.height, width=view.width)

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
