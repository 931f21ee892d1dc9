"""MUSIQ: no-reference image quality, by a transformer on patches of a picture at three sizes.

Ke et al., "MUSIQ: Multi-scale Image Quality Transformer", ICCV 2021. The parameters are Google's in their public conversion to
PyTorch, which published scores agree with; that port downscales pictures by a bicubic filter without anti-aliasing where Google's
code has a Gaussian one, which changes scores by up to 3 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inpaintbench.catalogue import unknown_name
from inpaintbench.compute import Compute
from inpaintbench.errors import UnknownNameError
from inpaintbench.models import torch_networks

if TYPE_CHECKING:
    from inpaintbench.models.musiq_layers import Musiq

# Data set of ratings that the network was trained on (KonIQ-10k, SPAQ) -> entry of `weights.toml`. Scores go from 0 to about 100.
HEADS: Mapping[str, str] = {"koniq": "musiq-koniq", "spaq": "musiq-spaq"}


def check_head(name: str) -> str:
    """Return ``name`` if it is one of ``HEADS``, else raise ``UnknownNameError``."""
    if name not in HEADS:
        raise UnknownNameError(unknown_name("head of MUSIQ", name, list(HEADS)))
    return name


def musiq(head: str, compute: Compute) -> Musiq:
    """Load the network: ``float32[N, 3, H, W]`` RGB in 0..1 -> ``float32[N]``, higher is better.

    Raises:
        UnknownNameError: no such head.
        NotMeasurable: the weights are missing, damaged or of another network.
        MissingExtraError: PyTorch is not installed.
    """
    module: Musiq = torch_networks.network(_build, compute, weights_name=HEADS[check_head(head)])
    return module


def _build() -> Musiq:
    from inpaintbench.models.musiq_layers import Musiq

    return Musiq()
