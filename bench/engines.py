"""Whether ONNX Runtime or OpenVINO run LPIPS' trunks and I3D in less CPU time than PyTorch, and whether features stay the same.

python bench/engines.py [--quick]

Neither is a dependency: ``pip install onnx onnxruntime openvino`` in an environment of one's own. One thread each, seeded
parameters, shapes as scoring has them: crops around a hole and frames of 832x480 for LPIPS, windows of ten frames for I3D. CPU
time of the process, the least of several rounds in which all take turns. PyTorch as scoring runs it: pictures channels last,
batch norm folded, `Convolution` for I3D.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch
from torch import Tensor, nn

from inpaintbench.compute import Compute
from inpaintbench.models import boxes, i3d, lpips_networks
from inpaintbench.models.i3d import Block
from inpaintbench.models.i3d_network import INCEPTIONS, fold_batch_norm
from inpaintbench.models.lpips_layers import ENDS
from inpaintbench.models.torch_networks import network

COMPUTE = Compute(device="cpu", random_weights=3)
I3D_ENDS = ("Conv3d_2c_3x3", "Mixed_3c", "Mixed_4f", "Mixed_5c")
Run = Callable[[], list[Any]]


class Trunk(nn.Module):
    """Activations that LPIPS compares, before they are normalised."""

    def __init__(self, net: str) -> None:
        super().__init__()
        self.own = lpips_networks.lpips(net, COMPUTE)

    def forward(self, pictures: Tensor) -> list[Tensor]:
        found, start, x = [], 0, (pictures * 2 - 1 - self.own.shift) / self.own.scale
        for end in ENDS[self.own.net]:
            x = self.own.trunk[start:end](x)
            found.append(x)
            start = end
        return found


class Windows(nn.Module):
    """I3D in operators that every engine has; batch norm is folded into the convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.own = network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS)

    @staticmethod
    def same(x: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
        sides: list[int] = []
        for length, k, s in zip(reversed(x.shape[2:]), reversed(kernel), reversed(stride), strict=True):
            total = max(k - s if int(length) % s == 0 else k - int(length) % s, 0)
            sides += [total // 2, total - total // 2]
        return nn.functional.pad(x, sides)

    def unit(self, unit: Any, x: Tensor) -> Tensor:
        weight, bias = fold_batch_norm(unit)
        kernel, stride = unit.conv3d.kernel_size, unit.conv3d.stride
        return nn.functional.conv3d(self.same(x, kernel, stride), weight, bias, stride).relu()

    def pool(self, x: Tensor, kernel: tuple[int, int, int], stride: tuple[int, int, int]) -> Tensor:
        return nn.functional.max_pool3d(self.same(x, kernel, stride), kernel, stride)

    def forward(self, clip: Tensor) -> list[Tensor]:
        own, found = self.own, []
        x = self.pool(self.unit(own.Conv3d_1a_7x7, clip), (1, 3, 3), (1, 2, 2))
        x = self.unit(own.Conv3d_2c_3x3, self.unit(own.Conv3d_2b_1x1, x))
        found.append(x)
        pools = {"Mixed_3b": ((1, 3, 3), (1, 2, 2)), "Mixed_4b": ((3, 3, 3), (2, 2, 2)), "Mixed_5b": ((2, 2, 2), (2, 2, 2))}
        for name in INCEPTIONS:
            if name in pools:
                x = self.pool(x, *pools[name])
            b0, b1a, b1b, b2a, b2b, b3b = own.get_submodule(name).values()
            parts = [self.unit(b0, x), self.unit(b1b, self.unit(b1a, x)), self.unit(b2b, self.unit(b2a, x))]
            x = torch.cat([*parts, self.unit(b3b, self.pool(x, (3, 3, 3), (1, 1, 1)))], dim=1)
            if name in I3D_ENDS:
                found.append(x)
        return found


def scored_i3d(clip: Tensor) -> Run:
    """The network as scoring runs it."""
    blocks = i3d.i3d(COMPUTE, batch_norm="eval").blocks(I3D_ENDS)

    def run() -> list[Any]:
        found, x = [], clip
        for block in blocks:
            x = _whole(block, x)
            found.append(x.numpy())
        return found

    return run


def _whole(block: Block, x: Tensor) -> Tensor:
    size: Any = tuple(x.shape[2:])
    return block.run(
        lambda box: x[(..., *(slice(*side) for side in box))], size, boxes.whole(boxes.output_size(block.reaches, size))
    )


def engines(module: nn.Module, x: Tensor) -> dict[str, Run]:
    """The module in each of them."""
    import onnxruntime
    import openvino

    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module.eval(), (x,), file, dynamo=False, opset_version=17, input_names=["x"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
    core, given = openvino.Core(), {"x": x.contiguous().numpy()}
    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(core.read_model(io.BytesIO(file.getvalue())), "CPU", settings)
    halved = core.compile_model(
        core.read_model(io.BytesIO(file.getvalue())), "CPU", {**settings, "INFERENCE_PRECISION_HINT": "bf16"}
    )
    return {
        "ONNX Runtime": lambda: session.run(None, given),
        "OpenVINO": lambda: list(compiled(given).values()),
        "OpenVINO, bf16": lambda: list(halved(given).values()),
    }


def row(name: str, ways: dict[str, Run], *, rounds: int) -> str:
    """CPU time of each as a multiple of the first one's, and the largest difference of a layer by its length."""
    expected = next(iter(ways.values()))()
    worst = {}
    for way, run in ways.items():  # which warms up, too
        pairs = zip(run(), expected, strict=True)
        worst[way] = max(float(np.linalg.norm(one - other) / np.linalg.norm(other)) for one, other in pairs)
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for way, run in ways.items():
            begin = time.process_time()
            run()
            least[way] = min(least[way], time.process_time() - begin)
    first, *others = ways
    told = [f"{least[way] / least[first]:.2f} ({worst[way]:.0e})" for way in others]
    return f"| {name} | {1e3 * least[first]:.0f} ms | " + " | ".join(told) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small shapes, two rounds")
    quick = parser.parse_args().quick
    print("## Engines for networks on processors\n")
    if lacking := [name for name in ("onnx", "onnxruntime", "openvino") if importlib.util.find_spec(name) is None]:
        print(f"Not measured: {lacking[0]} is not installed.")
        return
    torch.set_num_threads(1)
    rng = torch.Generator().manual_seed(0)
    rounds = 2 if quick else 7
    print(f"PyTorch {torch.__version__}, ONNX Runtime {version('onnxruntime')}, OpenVINO {version('openvino')}.\n")
    print("| network and shape | PyTorch | ONNX Runtime | OpenVINO | OpenVINO, bf16 |\n|---|---|---|---|---|")
    shapes = [(4, 3, 128, 160)] if quick else [(8, 3, 192, 256), (1, 3, 480, 832)]
    with torch.inference_mode():
        for net in ("alex", "vgg"):
            module = Trunk(net)
            for shape in shapes:
                x = torch.rand(shape, generator=rng).contiguous(memory_format=torch.channels_last)
                ways: dict[str, Run] = {
                    "PyTorch": lambda x=x, module=module: [one.numpy() for one in module(x)], **engines(module, x)
                }  # type: ignore[misc] # fmt: skip
                print(row(f"LPIPS, {net}, {'x'.join(map(str, shape))}", ways, rounds=rounds), flush=True)
        for shape in [(1, 3, 10, 96, 128)] if quick else [(1, 3, 10, 192, 256), (1, 3, 10, 480, 832)]:
            x = torch.rand(shape, generator=rng)
            ways = {"PyTorch": scored_i3d(x.contiguous(memory_format=torch.channels_last_3d)), **engines(Windows(), x)}
            print(row(f"I3D, {'x'.join(map(str, shape))}", ways, rounds=rounds), flush=True)


if __name__ == "__main__":
    main()
