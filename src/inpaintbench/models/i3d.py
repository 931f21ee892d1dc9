"""I3D: the Inception-v1 network inflated to three dimensions, on the RGB frames of a clip.

Carreira and Zisserman, "Quo Vadis, Action Recognition?", CVPR 2017. Every convolution and pooling is padded with zeros as
TensorFlow's "SAME". Any box of a layer's output can be computed by itself, from its receptive field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from inpaintbench.compute import Compute
from inpaintbench.models import boxes
from inpaintbench.models.boxes import Box, Reach, Size
from inpaintbench.models.i3d_stages import Convolution, Inception, Pooling, Stage, Tensor, padded
from inpaintbench.models.torch_networks import network, torch

WEIGHTS = "i3d-rgb-imagenet"
# Dimension of a clip's feature vector: the last layer averaged over time, height and width.
LENGTH = 1024

BatchNorm = Literal["eval", "train"]
# Returns a box of a layer's input, `float32[N, C, t, h, w]`.
Source = Callable[[Box], Tensor]


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive stages; ``name`` is that of the last."""

    name: str
    stages: tuple[Stage, ...]

    @property
    def reaches(self) -> list[Reach]:
        """Kernels and strides of the stages."""
        return [stage.reach for stage in self.stages]

    def run(self, source: Source, size: Size, box: Box, *, few_shapes: bool = False) -> Tensor:
        """Compute ``box`` of the output, ``float32[N, C, t, h, w]``, for an input of ``size`` read from ``source``.

        ``few_shapes`` as for ``boxes.plan``.
        """
        plan = boxes.plan(self.reaches, size, box, few_shapes=few_shapes)
        x = padded(source(plan.region), plan.border)
        for stage, zeros, outside in zip(self.stages, plan.zeros, plan.outside, strict=True):
            x = stage(x, zeros, outside)
        return x


@dataclass(frozen=True, eq=False)
class I3d:
    """Executable network, up to ``Mixed_5c``."""

    stages: dict[str, Stage]
    batch_norm: BatchNorm
    device: Any

    def blocks(self, ends: Sequence[str]) -> list[Block]:
        """Partition the stages into blocks that end with those named."""
        blocks, stages = [], []
        for name, stage in self.stages.items():
            stages.append(stage)
            if name in ends:
                blocks.append(Block(name, tuple(stages)))
                stages = []
        return blocks


def i3d(compute: Compute, *, batch_norm: BatchNorm) -> I3d:
    """Load the network.

    Args:
        compute: device, precision and seed of random weights.
        batch_norm: ``"eval"`` normalises by the running statistics of the training; ``"train"`` by those of each clip, as LGTSM,
            E2FGVI and others did, which gives entirely different numbers.

    Raises:
        NotMeasurable, MissingExtraError: as ``models.torch_networks.network``.
    """
    return _running(network(build, compute, weights_name=WEIGHTS), batch_norm)


def build() -> Any:
    """Build a module named as in the published state dict; its random parameters keep activations of order one."""
    torch()
    from inpaintbench.models.i3d_network import Parameters

    return Parameters()


@lru_cache(maxsize=4)
def _running(module: Any, batch_norm: BatchNorm) -> I3d:
    from inpaintbench.models.i3d_network import INCEPTIONS

    def convolution(unit: Any) -> Convolution:
        return _convolution(unit, batch_norm)

    stages: dict[str, Stage] = {
        "Conv3d_1a_7x7": convolution(module.Conv3d_1a_7x7),
        "MaxPool3d_2a_3x3": Pooling(Reach((1, 3, 3), (1, 2, 2))),
        "Conv3d_2b_1x1": convolution(module.Conv3d_2b_1x1),
        "Conv3d_2c_3x3": convolution(module.Conv3d_2c_3x3),
    }
    poolings = {
        "Mixed_3b": ("MaxPool3d_3a_3x3", Reach((1, 3, 3), (1, 2, 2))),
        "Mixed_4b": ("MaxPool3d_4a_3x3", Reach((3, 3, 3), (2, 2, 2))),
        "Mixed_5b": ("MaxPool3d_5a_2x2", Reach((2, 2, 2), (2, 2, 2))),
    }
    for name, (_, outputs) in INCEPTIONS.items():
        if name in poolings:
            pooling, reach = poolings[name]
            stages[pooling] = Pooling(reach)
        b0, b1a, b1b, b2a, b2b, b3b = (
            convolution(getattr(module.get_submodule(name), branch)) for branch in ("b0", "b1a", "b1b", "b2a", "b2b", "b3b")
        )
        stages[name] = Inception(b0, (b1a, b1b), (b2a, b2b), b3b, channels=outputs[0] + outputs[2] + outputs[4] + outputs[5])
    return I3d(stages, batch_norm, module.logits.conv3d.weight.device)


def _convolution(unit: Any, batch_norm: BatchNorm) -> Convolution:
    from inpaintbench.models.i3d_network import fold_batch_norm

    reach = Reach(unit.conv3d.kernel_size, unit.conv3d.stride)
    layout = torch().channels_last_3d
    if batch_norm == "train":
        weight = unit.conv3d.weight.detach().contiguous(memory_format=layout)
        return Convolution(weight, None, reach, (unit.bn.weight.detach(), unit.bn.bias.detach()))
    weight, bias = fold_batch_norm(unit)
    return Convolution(weight.contiguous(memory_format=layout), bias, reach)
