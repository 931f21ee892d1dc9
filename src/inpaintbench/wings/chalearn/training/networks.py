"""The trainable networks: what each is built from, what it learns from an item, and what it minimises."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench import video
from inpaintbench.catalogue import attribute_at, unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.adapters.fitting import Padding
from inpaintbench.models.torch_networks import torch
from inpaintbench.types import Frames, Hole

if TYPE_CHECKING:
    from torch import Tensor, nn

# Sides of the patches of baseline 2 of track 2, as published.
PATCH_PIXELS = 32
# Both halvings of the frame network have to come out even.
FRAME_DIVISOR = 4
# Sides of the pictures of track 1's baselines.
CONTEXT_PIXELS, MANIFOLD_PIXELS = 128, 64
# Under a hole before a picture is made smaller.
_GREY = 128
Levels = npt.NDArray[np.uint8]
Settings = Mapping[str, float]
# Arrays of one length: what goes in, what is to come out, and what else the loss needs.
Examples = tuple[npt.NDArray[Any], ...]

# Largest values of settings: beyond them a slip is likelier than a wish.
_MOST = {"width": 512, "batch": 4096, "learning_rate": 1, "classifier_weight": 1000, "adversarial_weight": 1}
# Settings that are whole numbers.
_WHOLE = ("width", "batch")


@dataclass(frozen=True)
class Network:
    """One trainable network."""

    name: str
    """Name of the network and of the method that uses it."""
    recipe: str
    """Recipe of the datasets that it learns from."""
    settings: Settings
    """``width`` (channels of the first layer), ``batch`` (examples a step), ``learning_rate`` of Adam ..., as published."""
    items_at_once: int
    """Examples of how many items are held in memory; they are exchanged now and then."""
    frames_of_item: int
    """Number of frames of an item that are looked at each time it is held."""
    layers: str
    """Its class in ``layers``, which is imported only where PyTorch is needed."""
    examples: Callable[[Frames, Frames, Hole], Examples]
    """Examples from truth, input and hole of some frames of one item."""
    loss: Callable[[nn.Module, tuple[Tensor, ...], Settings], Tensor]
    any_size: bool = False
    """True where items may have several sizes, since examples have one."""

    def build(self, width: int) -> nn.Module:
        """The network with new parameters; ``width``: channels of its first layer."""
        made: nn.Module = attribute_at(f"inpaintbench.wings.chalearn.training.layers:{self.layers}")(width=width)
        return made


def named(name: str) -> Network:
    """The network of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in NETWORKS:
        raise UnknownNameError(unknown_name("trainable network", name, list(NETWORKS)))
    return NETWORKS[name]


def settled(network: Network, given: Mapping[str, Any]) -> dict[str, float]:
    """The settings of a network, those that were ``given`` in the place of the published ones.

    Raises:
        InputError: an unknown setting, or a value that it cannot have.
    """
    for name, value in given.items():
        if name not in network.settings:
            raise UnknownNameError(unknown_name(f"setting of {network.name}", name, list(network.settings)))
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if name in _WHOLE and not (number and value == int(value) and 1 <= value <= _MOST[name]):
            raise InputError(f"{name} is {value!r}, choose a whole number from 1 to {_MOST[name]}")
        if not (number and 0 < value <= _MOST[name]):
            raise InputError(f"{name} is {value!r}, choose a number above 0, at most {_MOST[name]}")
    return {**network.settings, **given}


def frame_examples(truth: Frames, degraded: Frames, hole: Hole) -> Examples:  # noqa: ARG001 - the same for all networks
    """Whole frames, ``uint8[N, H, W, 3]``, padded to multiples of 4 as for the method."""
    height, width = truth.shape[1:3]
    padding = Padding.of(height, width, FRAME_DIVISOR)
    return padding.pad(degraded), padding.pad(truth)


def patch_examples(truth: Frames, degraded: Frames, hole: Hole) -> Examples:
    """Patches, ``uint8[N, 32, 32, 3]`` each, and ``bool[N]``: True where text covers any of the patch. Frames are padded to
    multiples of 32 as for the method."""
    height, width = truth.shape[1:3]
    padding = Padding.of(height, width, PATCH_PIXELS)
    text: npt.NDArray[np.bool_] = np.any(patches_of(padding.pad(hole)[..., None]), axis=(1, 2, 3))
    return patches_of(padding.pad(degraded)), patches_of(padding.pad(truth)), text


def patches_of(frames: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The 32x32 patches of ``[T, H, W, C]``, row by row, ``[N, 32, 32, C]``; sides are multiples of 32."""
    count, height, width, channels = frames.shape
    rows, columns = height // PATCH_PIXELS, width // PATCH_PIXELS
    cut = frames.reshape(count, rows, PATCH_PIXELS, columns, PATCH_PIXELS, channels).swapaxes(2, 3)
    return cut.reshape(-1, PATCH_PIXELS, PATCH_PIXELS, channels)


def frames_of_patches(patches: npt.NDArray[Any], *, frames: int, height: int, width: int) -> npt.NDArray[Any]:
    """``[T, H, W, C]`` from its patches, the reverse of ``patches_of``; sides are multiples of 32."""
    rows, columns = height // PATCH_PIXELS, width // PATCH_PIXELS
    tiles = patches.reshape(frames, rows, columns, PATCH_PIXELS, PATCH_PIXELS, -1).swapaxes(2, 3)
    return tiles.reshape(frames, height, width, -1)


def print_examples(truth: Frames, degraded: Frames, hole: Hole) -> Examples:  # noqa: ARG001 - the same for all networks
    """Prints at half their size, ``uint8[N, H, W, 3]``, and the grey levels of the truth, ``uint8[N, H, W, 1]``."""
    grey = [np.asarray(halved(Image.fromarray(frame).convert("L")))[..., None] for frame in truth]
    return np.stack([np.asarray(halved(Image.fromarray(frame))) for frame in degraded]), np.stack(grey)


def halved(picture: Image.Image) -> Image.Image:
    """At half its size, rounded up, by a Lanczos filter: 275x400 becomes 138x200."""
    return picture.resize(((picture.width + 1) // 2, (picture.height + 1) // 2), Image.Resampling.LANCZOS)


def small_pictures(frames: Frames, hole: Hole, *, side: int) -> tuple[Frames, Hole]:
    """Frames with grey in their holes, ``uint8[N, side, side, 3]``, by Pillow's bicubic filter, and the holes by the nearest."""
    filled = np.where(hole[..., None], np.uint8(_GREY), frames).astype(np.uint8)
    return video.bicubic(filled, height=side, width=side), video.nearest(hole, height=side, width=side)


def context_examples(truth: Frames, degraded: Frames, hole: Hole) -> Examples:
    """Pictures of 128x128 with their holes, without, and ``bool[N, 128, 128]``."""
    small, inside = small_pictures(degraded, hole, side=CONTEXT_PIXELS)
    return small, video.bicubic(truth, height=CONTEXT_PIXELS, width=CONTEXT_PIXELS), inside


def manifold_examples(truth: Frames, degraded: Frames, hole: Hole) -> Examples:  # noqa: ARG001 - the same for all networks
    """Whole pictures of 64x64."""
    return (video.bicubic(truth, height=MANIFOLD_PIXELS, width=MANIFOLD_PIXELS),)


def shares(levels: Tensor) -> Tensor:
    """``float32[N, C, H, W]`` in 0..1 from ``uint8[N, H, W, C]``."""
    return levels.permute(0, 3, 1, 2).float().contiguous() / 255


def _squared_error(made: nn.Module, batch: tuple[Tensor, ...], settings: Settings, *, most: int = 1) -> Tensor:  # noqa: ARG001 - as above
    """Mean squared error of shares 0..1, from a network that gives levels 0..``most``."""
    degraded, truth = batch
    return torch().nn.functional.mse_loss(made(shares(degraded)) / most, shares(truth))  # type: ignore[no-any-return]


def _patch_loss(made: nn.Module, batch: tuple[Tensor, ...], settings: Settings) -> Tensor:
    """Squared error of patches with text, which alone are replaced, and the classifier's cross entropy."""
    degraded, truth, text = batch
    found, scores = made(shares(degraded))
    errors = (found - shares(truth)).square().mean(dim=(1, 2, 3))
    label = text.float()
    missed = torch().nn.functional.binary_cross_entropy_with_logits(scores, label)
    loss: Tensor = (errors * label).sum() / label.sum().clamp(min=1) + settings["classifier_weight"] * missed
    return loss


def _against_critic(made: Any, real: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
    """Cross entropy of the critic, which learns to tell both apart, and that of pictures that it is to take for real.

    The first moves the critic alone and the second all else, so that one optimiser serves both.
    """
    package = torch()
    entropy = package.nn.functional.binary_cross_entropy_with_logits
    told_real, told_drawn = made.critic(real), made.critic(drawn.detach())
    learnt = entropy(told_real, package.ones_like(told_real)) + entropy(told_drawn, package.zeros_like(told_drawn))
    fixed = {name: part.detach() for name, part in made.critic.named_parameters()}
    taken = package.func.functional_call(made.critic, {**fixed, **dict(made.critic.named_buffers())}, (drawn,))
    return learnt, entropy(taken, package.ones_like(taken))


def _context_loss(made: nn.Module, batch: tuple[Tensor, ...], settings: Settings) -> Tensor:
    """Squared error in the hole by its number of values, and what the critic says of the filled picture."""
    degraded, truth, hole = batch
    inside, whole, weight = hole[:, None].float(), shares(truth), settings["adversarial_weight"]
    drawn = made(shares(degraded), inside)
    error = ((drawn - whole).square() * inside).sum() / (3 * inside.sum()).clamp(min=1)
    learnt, taken = _against_critic(made, whole, inside * drawn + (1 - inside) * whole)
    loss: Tensor = (1 - weight) * error + weight * taken + learnt
    return loss


def _manifold_loss(made: Any, batch: tuple[Tensor, ...], settings: Settings) -> Tensor:  # noqa: ARG001 - the same for all networks
    """What the critic says of pictures of codes that are drawn for the batch, and how well it tells them apart."""
    package = torch()
    (truth,) = batch
    random = package.Generator().manual_seed(zlib.crc32(truth.cpu().numpy().tobytes()))
    codes = (2 * package.rand(len(truth), made.code, generator=random) - 1).to(truth.device)
    learnt, taken = _against_critic(made, shares(truth), made(codes))
    loss: Tensor = learnt + taken
    return loss


NETWORKS: Mapping[str, Network] = {
    network.name: network
    for network in (
        Network(
            name="frame_autoencoder", recipe="decaption", settings={"width": 64, "batch": 8, "learning_rate": 1e-3},
            items_at_once=64, frames_of_item=16, layers="FrameNetwork", examples=frame_examples, loss=_squared_error,
        ),
        Network(
            name="patch_autoencoder", recipe="decaption",
            settings={"width": 32, "batch": 128, "learning_rate": 1e-3, "classifier_weight": 0.1},
            items_at_once=64, frames_of_item=16, layers="PatchNetwork", examples=patch_examples, loss=_patch_loss,
        ),
        Network(
            name="residual_encoder", recipe="fingerprint", settings={"width": 32, "batch": 4, "learning_rate": 1e-3},
            items_at_once=512, frames_of_item=1, layers="PrintNetwork", examples=print_examples,
            loss=partial(_squared_error, most=255),
        ),
        Network(
            name="context_encoder", recipe="humans",
            settings={"width": 64, "batch": 64, "learning_rate": 2e-4, "adversarial_weight": 1e-3},
            items_at_once=4096, frames_of_item=1, layers="ContextNetwork", examples=context_examples, loss=_context_loss,
            any_size=True,
        ),
        Network(
            name="semantic_inpainting", recipe="humans", settings={"width": 64, "batch": 64, "learning_rate": 2e-4},
            items_at_once=4096, frames_of_item=1, layers="ManifoldNetwork", examples=manifold_examples, loss=_manifold_loss,
            any_size=True,
        ),
    )
}  # fmt: skip
