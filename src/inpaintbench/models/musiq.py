"""MUSIQ: how good a picture looks, told from patches of it at three sizes, without another picture to compare with.

Ke et al., "MUSIQ: Multi-scale Image Quality Transformer", ICCV 2021. The parameters are Google's in their public conversion to
PyTorch, with whose numbers published scores agree; that port shrinks pictures by a bicubic filter without anti-aliasing where
Google's code has a Gaussian one, which moves scores by up to 3 %.
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

# Ratings that the network was trained on (KonIQ-10k, SPAQ) -> the entry of `weights.toml`. Both score from 0 to about 100.
HEADS: Mapping[str, str] = {"koniq": "musiq-koniq", "spaq": "musiq-spaq"}


def check_head(name: str) -> str:
    """``name`` when it is one of ``HEADS``, else ``UnknownNameError``."""
    if name not in HEADS:
        raise UnknownNameError(unknown_name("head of MUSIQ", name, list(HEADS)))
    return name


def musiq(head: str, compute: Compute) -> Musiq:
    """The network, ready to run: ``float32[N, 3, H, W]`` RGB in 0..1 -> ``float32[N]``, higher is better.

    Raises:
        UnknownNameError: no such head.
        NotMeasurable: its weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    made: Musiq = torch_networks.network(_build, compute, weights_name=HEADS[check_head(head)])
    return made


def _build() -> Musiq:
    from inpaintbench.models.musiq_layers import Musiq

    return Musiq()
