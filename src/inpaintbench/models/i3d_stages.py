"""Executable layers of I3D: each takes its padding as an argument, so that any box of its output can be computed by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from inpaintbench.models.boxes import NO_ZEROS, Reach, Zeros
from inpaintbench.models.torch_networks import torch

Tensor = Any

# Of every batch norm, as published.
EPSILON = 1e-3
# Up to so many channels, the frames under a kernel are stacked in one convolution; beyond, one for each tap in time is faster.
_MOST_STACKED_CHANNELS = 32
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
    affine: tuple[Tensor, Tensor] | None = None
    """Gain and offset of a norm by the statistics of each clip, which is defined for whole clips only."""

    @property
    def channels(self) -> int | None:
        """Channels of the output."""
        return int(self.weight.shape[0])

    def __call__(self, x: Tensor, zeros: Zeros, outside: Zeros = NO_ZEROS) -> Tensor:
        """Return ``ReLU(norm(convolution(x)))``."""
        functional = torch().nn.functional
        x = cleared(x, outside)
        if self.affine is None and x.device.type == "cpu":
            return functional.relu_(self._by_frames(padded(x, ((0, 0), *zeros[1:])), *zeros[0]))
        out = functional.conv3d(padded(x, zeros), self.weight, self.bias, stride=self.reach.stride)
        if self.affine is not None:
            out = _batch_norm(out, *self.affine)
        return functional.relu_(out)

    def _by_frames(self, x: Tensor, before: int, behind: int) -> Tensor:
        """Sum of one 2-D convolution for each tap in time: on a CPU two to three times faster than a 3-D convolution."""
        (taps, *_), (step, *_) = self.reach
        if taps * x.shape[1] <= _MOST_STACKED_CHANNELS:
            return self._stacked(padded(x, ((before, behind), (0, 0), (0, 0))))
        count = (x.shape[2] + before + behind - taps) // step + 1
        middle = taps // 2
        out = self._tap(x, middle, middle - before, count, bias=self.bias)
        for tap in (tap for tap in range(taps) if tap != middle):
            # Taps on the zeros before and behind the clip contribute nothing.
            inside = [index for index in range(count) if 0 <= index * step + tap - before < x.shape[2]]
            if inside:
                part = self._tap(x, tap, inside[0] * step + tap - before, len(inside), bias=None)
                out[:, :, inside[0] : inside[-1] + 1] += part
        return out

    def _tap(self, x: Tensor, tap: int, first: int, count: int, *, bias: Tensor | None) -> Tensor:
        step, *strides = self.reach.stride
        frames = x[:, :, first : first + (count - 1) * step + 1 : step]
        out = torch().nn.functional.conv2d(as_pictures(frames), self.weight[:, :, tap], bias, stride=strides)
        return as_clips(out, len(x))

    def _stacked(self, x: Tensor) -> Tensor:
        package, (taps, *_), (step, *strides) = torch(), *self.reach
        count = (x.shape[2] - taps) // step + 1
        stacked = package.cat([x[:, :, tap : tap + (count - 1) * step + 1 : step] for tap in range(taps)], dim=1)
        weight = self.weight.permute(0, 2, 1, 3, 4).flatten(1, 2)
        return as_clips(package.nn.functional.conv2d(as_pictures(stacked), weight, self.bias, stride=strides), len(x))


@dataclass(frozen=True, eq=False)
class Pooling:
    """Max pooling."""

    reach: Reach
    channels: int | None = None

    def __call__(self, x: Tensor, zeros: Zeros, outside: Zeros = NO_ZEROS) -> Tensor:
        """Return the pooled ``x``."""
        return torch().nn.functional.max_pool3d(padded(cleared(x, outside), zeros), self.reach.kernel, self.reach.stride)


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


def _batch_norm(x: Tensor, gain: Tensor, offset: Tensor) -> Tensor:
    """Batch norm by the statistics of each clip; a single position becomes ``offset``."""
    x = x.float()
    variance, mean = torch().var_mean(x, dim=(2, 3, 4), correction=0, keepdim=True)
    return x.sub_(mean).mul_((variance + EPSILON).rsqrt_() * gain[:, None, None, None]).add_(offset[:, None, None, None])


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


def as_pictures(clips: Tensor) -> Tensor:
    """``[N, C, T, H, W]`` -> ``[N T, C, H, W]``, channels last in memory."""
    return clips.transpose(1, 2).flatten(0, 1).contiguous(memory_format=torch().channels_last)


def as_clips(pictures: Tensor, count: int) -> Tensor:
    """Inverse of ``as_pictures`` for ``count`` clips, without copying."""
    return pictures.unflatten(0, (count, -1)).transpose(1, 2)
