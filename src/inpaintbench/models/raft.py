"""Optical flow by RAFT (Teed and Deng, "RAFT: Recurrent All-Pairs Field Transforms for Optical Flow", ECCV 2020).

The networks are torchvision's. ``raft-small`` and ``raft-large`` take the parameters that torchvision's authors trained
(``C_T_V2`` and ``C_T_SKHT_V2``), ``raft-small-official`` those of the paper's authors, whose file has other names for them.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.compute import Compute
from inpaintbench.errors import MissingExtraError, UnknownNameError
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from torch import Tensor

# Entries of `weights.toml`.
WEIGHTS = ("raft-small", "raft-large", "raft-small-official")
# Number of refinements of the flow: torchvision's default.
UPDATES = 12
# Sides of input pictures, pixels: features have an eighth of the resolution, the last of four levels of correlations an eighth of
# that, and it needs two positions.
MULTIPLE, LEAST_SIDE = 8, 128


def raft(name: str, compute: Compute) -> Any:
    """Load the network for ``flow``.

    Args:
        name: one of ``WEIGHTS``.
        compute: device, precision and seed of random weights.

    Raises:
        UnknownNameError: no such network.
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch or torchvision is not installed.
    """
    if name not in WEIGHTS:
        raise UnknownNameError(unknown_name("weights of RAFT", name, list(WEIGHTS)))
    build = _build_large if name == "raft-large" else _build_small
    translate = _from_official if name == "raft-small-official" else None
    return torch_networks.network(build, compute, weights_name=name, translate=translate)


def flow(module: Any, first: Tensor, second: Tensor) -> Tensor:
    """Optical flow from one picture to another.

    Positions need more digits than bfloat16 has, so this runs in float32 (or TF32) whatever the precision.

    Args:
        module: result of ``raft``.
        first: ``float32[N, 3, H, W]`` RGB in 0..1, of any size: borders are replicated up to a size that the network accepts.
        second: of the same shape.

    Returns:
        ``float32[N, 2, H, W]``: displacements (x, y) in pixels from positions in ``first`` to those in ``second``.
    """
    package = torch_networks.torch()
    height, width = first.shape[-2:]
    left, right = _borders(width)
    top, bottom = _borders(height)
    padded = [
        package.nn.functional.pad(pictures.float() * 2 - 1, (left, right, top, bottom), mode="replicate")
        for pictures in (first, second)
    ]
    with package.autocast(first.device.type, enabled=False):
        displacements: Tensor = module(*padded, num_flow_updates=UPDATES)[-1]
    return displacements[..., top : top + height, left : left + width]


def _borders(side: int) -> tuple[int, int]:
    """Padding before and after a side, pixels, split as evenly as possible."""
    missing = max(LEAST_SIDE, -(-side // MULTIPLE) * MULTIPLE) - side
    return missing // 2, missing - missing // 2


def _build_small() -> Any:
    return _optical_flow().raft_small(weights=None)


def _build_large() -> Any:
    return _optical_flow().raft_large(weights=None)


def _optical_flow() -> Any:
    try:
        return import_module("torchvision.models.optical_flow")
    except ImportError as error:
        raise MissingExtraError("optical flow by RAFT", "eval") from error


# Substitutions that turn the authors' parameter names into torchvision's, applied in this order.
_NAMES = (
    (r"^module\.", ""),
    (r"^fnet\.", "feature_encoder."),
    (r"^cnet\.", "context_encoder."),
    (r"^(feature|context)_encoder\.conv1\.", r"\1_encoder.convnormrelu.0."),
    (r"^(feature|context)_encoder\.conv2\.", r"\1_encoder.conv."),
    (r"\.(\d)\.conv(\d)\.", r".\1.convnormrelu\2.0."),
    (r"^update_block\.encoder\.", "update_block.motion_encoder."),
    (r"\.convc(\d)\.", r".convcorr\1.0."),
    (r"\.convf(\d)\.", r".convflow\1.0."),
    (r"^update_block\.motion_encoder\.conv\.", "update_block.motion_encoder.conv.0."),
    (r"^update_block\.gru\.", "update_block.recurrent_block.convgru1."),
)


def _from_official(state: torch_networks.State) -> torch_networks.State:
    translated = {}
    for name, value in state.items():
        for pattern, replacement in _NAMES:
            name = re.sub(pattern, replacement, name)
        translated[name] = value
    return translated
