"""I3D: against an independent network, layer by layer, and its files."""

from __future__ import annotations

import i3d_reference as reference
import pytest

pytest.importorskip("torch")
import torch

from inpaintbench.compute import Compute
from inpaintbench.models import boxes, i3d
from inpaintbench.models.boxes import Span
from inpaintbench.models.torch_networks import network

COMPUTE = Compute(device="cpu", random_weights=3)


def layers(net: i3d.I3d, clip: torch.Tensor) -> dict[str, torch.Tensor]:
    found, x = {}, clip
    for block in net.blocks(list(net.stages)):
        size = tuple(x.shape[2:])
        with torch.inference_mode():
            x = block.run(lambda _, x=x: x, size, boxes.whole(boxes.output_size(block.reaches, size)))
        found[block.name] = x
    return found


@pytest.mark.parametrize("batch_norm", ["eval", "train"])
@pytest.mark.parametrize("size", [(10, 32, 48), (7, 37, 51)])
def test_every_layer_is_that_of_the_reference(size: tuple[int, int, int], batch_norm: i3d.BatchNorm) -> None:
    torch.set_num_threads(1)
    clip = torch.rand((1, 3, *size), generator=torch.Generator().manual_seed(0))
    state = network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS).state_dict()
    expected = reference.features(state, clip, train=batch_norm == "train")
    found = layers(i3d.i3d(COMPUTE, batch_norm=batch_norm), clip)
    assert list(found) == list(expected)
    # Norms by the statistics of the few positions of a deep layer magnify rounding.
    tolerance = 1e-4 if batch_norm == "eval" else 1e-3
    for name, layer in found.items():
        assert layer.shape == expected[name].shape
        assert float((layer - expected[name]).abs().max()) <= tolerance * float(expected[name].abs().max()), name
        assert 0.1 < float(layer.std()) < 10, name


def test_in_train_mode_a_single_position_is_no_error() -> None:
    deep = layers(i3d.i3d(COMPUTE, batch_norm="train"), torch.rand((1, 3, 2, 16, 16)))["Mixed_5c"]
    assert deep.shape == (1, 1024, 1, 1, 1)
    assert deep.isfinite().all()


def test_in_train_mode_each_clip_of_a_batch_is_alone() -> None:
    clips = torch.rand((2, 3, 3, 24, 28), generator=torch.Generator().manual_seed(1))
    net = i3d.i3d(COMPUTE, batch_norm="train")
    together, alone = (layers(net, some)["Mixed_3c"] for some in (clips, clips[1:]))
    torch.testing.assert_close(together[1:], alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("ends", [["MaxPool3d_3a_3x3", "Mixed_5c"], ["Mixed_3c", "Mixed_4f", "Mixed_5c"]])
def test_any_box_can_be_computed_alone(ends: list[str]) -> None:
    x = torch.rand((1, 3, 9, 45, 70), generator=torch.Generator().manual_seed(0))
    for block in i3d.i3d(COMPUTE, batch_norm="eval").blocks(ends):
        size = tuple(x.shape[2:])
        sizes = boxes.output_size(block.reaches, size)
        with torch.inference_mode():
            everything = block.run(lambda _, x=x: x, size, boxes.whole(sizes))
            for part in range(3):
                box = tuple(Span(length * part // 3, max(length * (part + 1) // 3, length * part // 3 + 1)) for length in sizes)
                found = block.run(lambda region, x=x: x[(..., *(slice(*span) for span in region))], size, box)
                expected = everything[(..., *(slice(*span) for span in box))]
                assert float((found - expected).abs().max()) <= 1e-5 * float(everything.abs().max())
        x = everything


def test_names_and_shapes_are_those_of_the_published_file() -> None:
    shapes = {name: tuple(value.shape) for name, value in i3d.build().state_dict().items()}
    convolutions = [name for name in shapes if name.endswith("conv3d.weight")]
    assert len(convolutions) == 3 + 9 * 6 + 1
    assert shapes["Conv3d_1a_7x7.conv3d.weight"] == (64, 3, 7, 7, 7)
    assert shapes["Mixed_3b.b1b.conv3d.weight"] == (128, 96, 3, 3, 3)
    assert shapes["Mixed_4f.b3b.bn.running_var"] == (128,)
    assert shapes["Mixed_5c.b2b.conv3d.weight"] == (128, 48, 3, 3, 3)
    assert shapes["logits.conv3d.weight"] == (400, 1024, 1, 1, 1)
    assert shapes["logits.conv3d.bias"] == (400,)
    # 12.3 million parameters in convolutions and norms without the classifier: Carreira and Zisserman, table 1, say 12 M.
    learned = sum(value.numel() for name, value in i3d.build().named_parameters() if not name.startswith("logits"))
    assert learned == 12_287_264
