"""I3D: the Inception-v1 network inflated to three dimensions, on the RGB frames of a clip.

Carreira and Zisserman, "Quo Vadis, Action Recognition?", CVPR 2017. Every convolution and pooling is padded with zeros as
TensorFlow's "SAME". Any box of a layer's output can be computed by itself, from its receptive field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

from inpaintbench.compute import Compute
from inpaintbench.models import boxes
from inpaintbench.models.boxes import NO_ZEROS, Box, Reach, Size, Zeros
from inpaintbench.models.torch_networks import network, torch

Tensor = Any

_KERNEL_3 = Reach((3, 3, 3), (1, 1, 1))


class Stage(Protocol):
    """Layer, or parallel layers."""

    @property
    def reach(self) -> Reach:
        """Kernel and stride; the largest of parallel layers."""
        ...

    @property
    def channels(self) -> int | None:
        """Channels of the output; None = those of the input."""
        ...

    def __call__(self, x: Tensor, zeros: Zeros, outside: Zeros = NO_ZEROS) -> Tensor:
        """Output for ``x`` padded with ``zeros`` and nothing else.

        Positions ``outside``, at the ends of ``x``, are set to zero in it.
        """
        ...


@dataclass(frozen=True, eq=False)
class Convolution:
    """Convolution, batch norm and ReLU. Without ``affine`` the norm is folded into ``weight`` and ``bias``."""

    weight: Tensor
    bias: Tensor | None
    reach: Reach
    affine: tuple[Tensor, Tensor, float] | None = None
    """Gain, offset and epsilon of a norm by the statistics of each clip, which is defined for whole clips only."""

    @property
    def channels(self) -> int | None:
        """Channels of the output."""
        return int(self.weight.shape[0])

    def __call__(self, x: Tensor, zeros: Zeros, outside: Zeros = NO_ZEROS) -> Tensor:
        """Return ``ReLU(norm(convolution(x)))``."""
        package = torch()
        even, odd = _split(zeros)
        given = padded(cleared(x, outside), odd), self.weight, self.bias
        if x.device.type == "cpu" and package.backends.mkldnn.is_available() and not package.is_autocast_enabled("cpu"):
            # `conv3d` leaves oneDNN out where a single clip seems small to it, for up to five times the time.
            out = package.mkldnn_convolution(*given, even, self.reach.stride, (1, 1, 1), 1)
        else:
            out = package.nn.functional.conv3d(*given, self.reach.stride, even)
        if self.affine is not None:
            out = _batch_norm(out, *self.affine)
        return package.relu_(out)


@dataclass(frozen=True, eq=False)
class Pooling:
    """Max pooling."""

    reach: Reach
    channels: int | None = None

    def __call__(self, x: Tensor, zeros: Zeros, outside: Zeros = NO_ZEROS) -> Tensor:
        """Return the pooled ``x``, where nothing is negative: a zero beside it changes no maximum, and none is written."""
        even, odd = _split(zeros, self.reach.stride)
        with torch().autocast(x.device.type, enabled=False):  # on a CPU it widens what is pooled to float32
            return torch().nn.functional.max_pool3d(
                padded(cleared(x, outside), odd), self.reach.kernel, self.reach.stride, even, ceil_mode=True
            )


@dataclass(frozen=True, eq=False)
class Inception:
    """Inception module: four parallel branches."""

    b0: Convolution
    b1: tuple[Convolution, Convolution]
    b2: tuple[Convolution, Convolution]
    b3: Convolution
    channels: int | None
    reach: Reach = _KERNEL_3

    def __call__(self, x: Tensor, zeros: Zeros, outside: Zeros = NO_ZEROS) -> Tensor:
        """Return the branches' outputs, concatenated along channels."""
        x = cleared(x, outside)
        # Where there is no padding, `x` includes the neighbours that kernels of 3 need, and those of 1 do not.
        middle = x[(..., *(slice(1 - a, length - 1 + b) for (a, b), length in zip(zeros, x.shape[2:], strict=True)))]
        branches = [
            self.b0(middle, NO_ZEROS),
            self.b1[1](self.b1[0](x, NO_ZEROS), zeros, outside),
            self.b2[1](self.b2[0](x, NO_ZEROS), zeros, outside),
            self.b3(Pooling(self.reach)(x, zeros), NO_ZEROS),
        ]
        return torch().cat(branches, dim=1)


def _batch_norm(x: Tensor, gain: Tensor, offset: Tensor, epsilon: float) -> Tensor:
    """Batch norm by the statistics of each clip; a single position becomes ``offset``."""
    x = x.float()
    variance, mean = torch().var_mean(x, dim=(2, 3, 4), correction=0, keepdim=True)
    return x.sub_(mean).mul_((variance + epsilon).rsqrt_() * gain[:, None, None, None]).add_(offset[:, None, None, None])


def _split(zeros: Zeros, ceiled: Size = (1, 1, 1)) -> tuple[Size, Zeros]:
    """Zeros that a layer adds itself, which saves a copy of its input: as many before as behind; and the others, to be written.

    Along axes where ``ceiled``, a stride, is not 1, the layer completes its last kernel, and one zero more behind is no other.
    """
    own = [
        before if behind == before or (step > 1 and behind == before + 1) else None
        for (before, behind), step in zip(zeros, ceiled, strict=True)
    ]
    even: Any = tuple(side or 0 for side in own)
    odd: Any = tuple((0, 0) if side is not None else ends for ends, side in zip(zeros, own, strict=True))
    return even, odd


def padded(x: Tensor, zeros: Zeros) -> Tensor:
    """Pad ``x`` with zeros."""
    (front, back), (top, bottom), (left, right) = zeros
    amounts = (left, right, top, bottom, front, back)
    return torch().nn.functional.pad(x, amounts) if any(amounts) else x


def cleared(x: Tensor, outside: Zeros) -> Tensor:
    """Set to zero, in place, the positions of ``x`` at its ends that ``outside`` counts along time, height and width."""
    for axis, (before, behind) in enumerate(outside, start=2):
        if before:
            x.narrow(axis, 0, before).zero_()
        if behind:
            x.narrow(axis, x.shape[axis] - behind, behind).zero_()
    return x


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
    from inpaintbench.models.i3d_network import INCEPTIONS, fold_batch_norm

    def convolution(unit: Any) -> Convolution:
        reach, layout = Reach(unit.conv3d.kernel_size, unit.conv3d.stride), torch().channels_last_3d
        if batch_norm == "train":
            weight = unit.conv3d.weight.detach().contiguous(memory_format=layout)
            return Convolution(weight, None, reach, (unit.bn.weight.detach(), unit.bn.bias.detach(), unit.bn.eps))
        weight, bias = fold_batch_norm(unit)
        return Convolution(weight.contiguous(memory_format=layout), bias, reach)

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
        b0, b1a, b1b, b2a, b2b, b3b = map(convolution, module.get_submodule(name).values())
        stages[name] = Inception(b0, (b1a, b1b), (b2a, b2b), b3b, channels=outputs[0] + outputs[2] + outputs[4] + outputs[5])
    return I3d(stages, batch_norm, module.logits["conv3d"].weight.device)
