"""Parameters of I3D, named as in its published state dict."""

from __future__ import annotations

import torch
from torch import nn

# Of every batch norm, as published.
EPSILON = 1e-3

# Of Kinetics-400. The classifier is not used; loading it lets a file of another network be noticed.
CLASSES = 400

# Input channels, and the output channels of b0, b1a, b1b, b2a, b2b and b3b. Carreira and Zisserman, CVPR 2017, figure 3.
INCEPTIONS: dict[str, tuple[int, tuple[int, int, int, int, int, int]]] = {
    "Mixed_3b": (192, (64, 96, 128, 16, 32, 32)),
    "Mixed_3c": (256, (128, 128, 192, 32, 96, 64)),
    "Mixed_4b": (480, (192, 96, 208, 16, 48, 64)),
    "Mixed_4c": (512, (160, 112, 224, 24, 64, 64)),
    "Mixed_4d": (512, (128, 128, 256, 24, 64, 64)),
    "Mixed_4e": (512, (112, 144, 288, 32, 64, 64)),
    "Mixed_4f": (528, (256, 160, 320, 32, 128, 128)),
    "Mixed_5b": (832, (256, 160, 320, 32, 128, 128)),
    "Mixed_5c": (832, (384, 192, 384, 48, 128, 128)),
}


class Unit(nn.Module):
    """Parameters of a convolution without bias and of the batch norm behind it."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.conv3d = nn.Conv3d(inputs, outputs, kernel, stride, bias=False)
        self.bn = nn.BatchNorm3d(outputs, eps=EPSILON)
        # With PyTorch's default initialisation, activations of random weights would vanish with depth.
        nn.init.kaiming_normal_(self.conv3d.weight, nonlinearity="relu")
        # With its default of an identity, random weights would hide mistakes with the norm.
        state = self.bn.state_dict()
        for name in ("weight", "running_var"):
            nn.init.uniform_(state[name], 0.5, 1.5)
        for name in ("bias", "running_mean"):
            nn.init.normal_(state[name], std=0.1)


def inception(inputs: int, outputs: tuple[int, int, int, int, int, int]) -> nn.ModuleDict:
    """Parameters of an inception module: four branches."""
    b0, b1a, b1b, b2a, b2b, b3b = outputs
    units = {
        "b0": Unit(inputs, b0, 1), "b1a": Unit(inputs, b1a, 1), "b1b": Unit(b1a, b1b, 3), "b2a": Unit(inputs, b2a, 1),
        "b2b": Unit(b2a, b2b, 3), "b3b": Unit(inputs, b3b, 1),
    }  # fmt: skip
    return nn.ModuleDict(units)


class Parameters(nn.Module):
    """Parameters of the network, which ``models.i3d`` runs."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv3d_1a_7x7 = Unit(3, 64, 7, 2)
        self.Conv3d_2b_1x1 = Unit(64, 64, 1)
        self.Conv3d_2c_3x3 = Unit(64, 192, 3)
        for name, (inputs, outputs) in INCEPTIONS.items():
            self.add_module(name, inception(inputs, outputs))
        self.logits = nn.ModuleDict({"conv3d": nn.Conv3d(1024, CLASSES, 1)})


def fold_batch_norm(unit: Unit) -> tuple[torch.Tensor, torch.Tensor]:
    """Fold the batch norm, with its running statistics, into the convolution: weight and bias, float32."""
    norm = unit.bn
    assert norm.running_mean is not None
    assert norm.running_var is not None
    # In float64, which some devices lack: on the CPU.
    gain = norm.weight.detach().cpu().double() / (norm.running_var.cpu().double() + norm.eps).sqrt()
    bias = norm.bias.detach().cpu().double() - norm.running_mean.cpu().double() * gain
    weight = unit.conv3d.weight.detach().cpu().double() * gain[:, None, None, None, None]
    device = unit.conv3d.weight.device
    return weight.float().to(device), bias.float().to(device)
