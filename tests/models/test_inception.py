"""The Inception network of FID against a plain forward written down from the publications, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import inception as module
from inpaintbench.eval.metrics.inception import FEATURES, SIDE, inception

torch = pytest.importorskip("torch")
functional = torch.nn.functional

RANDOM = Compute(device="cpu", random_weights=3)


def parameters(seed: int) -> dict[str, Any]:
    """Of every layer, the statistics of the batch normalisations away from 0 and 1."""
    from inpaintbench.models.inception_layers import Inception

    generator = torch.Generator().manual_seed(seed)
    ranges = {"bn.weight": (0.8, 1.4), "bn.bias": (-0.1, 0.2), "running_mean": (-0.1, 0.1), "running_var": (0.7, 1.3)}
    state = dict(Inception().state_dict())
    for name, value in state.items():
        for end, (least, most) in ranges.items():
            if name.endswith(end):
                state[name] = least + (most - least) * torch.rand(value.shape, generator=generator)
    return state


def averaged(x: Any) -> Any:
    """3x3 averages that leave out what lies beyond the border."""
    ones = torch.ones_like(x[:, :1])
    kernel = torch.ones(1, 1, 3, 3, dtype=x.dtype)
    sums = functional.conv2d(x.flatten(0, 1)[:, None], kernel, padding=1).reshape(x.shape)
    return sums / functional.conv2d(ones, kernel, padding=1)


def averaged_with_border(x: Any) -> Any:
    return functional.avg_pool2d(x, 3, stride=1, padding=1)


def highest(x: Any) -> Any:
    return functional.max_pool2d(x, 3, stride=1, padding=1)


def conv(state: Mapping[str, Any], x: Any, name: str, stride: int = 1, padding: Any = 0) -> Any:
    def of(part: str) -> Any:
        return state[f"{name}.{part}"].double()[:, None, None]

    x = functional.conv2d(x, state[f"{name}.conv.weight"].double(), stride=stride, padding=padding)
    x = (x - of("bn.running_mean")) / (of("bn.running_var") + 0.001).sqrt() * of("bn.weight") + of("bn.bias")
    return x.clamp(min=0)


def reference(state: Mapping[str, Any], pictures: Any, average: Any = averaged, last: Any = highest) -> Any:
    c = partial(conv, state)
    x = c(pictures.double(), "Conv2d_1a_3x3", 2)
    x = c(c(x, "Conv2d_2a_3x3"), "Conv2d_2b_3x3", 1, 1)
    x = functional.max_pool2d(x, 3, 2)
    x = c(c(x, "Conv2d_3b_1x1"), "Conv2d_4a_3x3")
    x = functional.max_pool2d(x, 3, 2)
    for block in ("Mixed_5b.", "Mixed_5c.", "Mixed_5d."):
        one = c(x, block + "branch1x1")
        five = c(c(x, block + "branch5x5_1"), block + "branch5x5_2", 1, 2)
        three = c(c(c(x, block + "branch3x3dbl_1"), block + "branch3x3dbl_2", 1, 1), block + "branch3x3dbl_3", 1, 1)
        x = torch.cat([one, five, three, c(average(x), block + "branch_pool")], 1)
    three = c(x, "Mixed_6a.branch3x3", 2)
    double = c(c(c(x, "Mixed_6a.branch3x3dbl_1"), "Mixed_6a.branch3x3dbl_2", 1, 1), "Mixed_6a.branch3x3dbl_3", 2)
    x = torch.cat([three, double, functional.max_pool2d(x, 3, 2)], 1)
    for block in ("Mixed_6b.", "Mixed_6c.", "Mixed_6d.", "Mixed_6e."):
        one = c(x, block + "branch1x1")
        seven = c(c(c(x, block + "branch7x7_1"), block + "branch7x7_2", 1, (0, 3)), block + "branch7x7_3", 1, (3, 0))
        double = c(c(x, block + "branch7x7dbl_1"), block + "branch7x7dbl_2", 1, (3, 0))
        double = c(c(double, block + "branch7x7dbl_3", 1, (0, 3)), block + "branch7x7dbl_4", 1, (3, 0))
        double = c(double, block + "branch7x7dbl_5", 1, (0, 3))
        x = torch.cat([one, seven, double, c(average(x), block + "branch_pool")], 1)
    three = c(c(x, "Mixed_7a.branch3x3_1"), "Mixed_7a.branch3x3_2", 2)
    seven = c(c(x, "Mixed_7a.branch7x7x3_1"), "Mixed_7a.branch7x7x3_2", 1, (0, 3))
    seven = c(c(seven, "Mixed_7a.branch7x7x3_3", 1, (3, 0)), "Mixed_7a.branch7x7x3_4", 2)
    x = torch.cat([three, seven, functional.max_pool2d(x, 3, 2)], 1)
    for block, pool in (("Mixed_7b.", average), ("Mixed_7c.", last)):
        one = c(x, block + "branch1x1")
        three = c(x, block + "branch3x3_1")
        three = torch.cat([c(three, block + "branch3x3_2a", 1, (0, 1)), c(three, block + "branch3x3_2b", 1, (1, 0))], 1)
        double = c(c(x, block + "branch3x3dbl_1"), block + "branch3x3dbl_2", 1, 1)
        double = torch.cat([c(double, block + "branch3x3dbl_3a", 1, (0, 1)), c(double, block + "branch3x3dbl_3b", 1, (1, 0))], 1)
        x = torch.cat([one, three, double, c(pool(x), block + "branch_pool")], 1)
    return x.mean((2, 3))


@pytest.fixture(scope="module")
def state() -> dict[str, Any]:
    return parameters(5)


@pytest.fixture(scope="module")
def network(state: dict[str, Any]) -> Any:
    from inpaintbench.models.inception_layers import Inception

    made = Inception()
    made.load_state_dict(state)
    return made.eval().requires_grad_(False)


def pictures(count: int, side: int) -> Any:
    return torch.rand(count, 3, side, side, generator=torch.Generator().manual_seed(side)) * 2 - 1


@pytest.mark.parametrize(("count", "side"), [(1, SIDE), (2, 123)])
def test_features_are_those_of_the_plain_forward(network: Any, state: dict[str, Any], count: int, side: int) -> None:
    given = pictures(count, side)
    found, expected = network(given), reference(state, given)
    assert found.shape == (count, FEATURES)
    assert found.dtype is torch.float32
    assert (found.double() - expected).norm() / expected.norm() < 1e-5
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-5 * float(expected.mean()))


@pytest.mark.parametrize(("average", "last"), [(averaged_with_border, highest), (averaged, averaged)])
def test_torchvisions_poolings_would_give_other_features(network: Any, state: dict[str, Any], average: Any, last: Any) -> None:
    given = pictures(1, 123)
    expected = reference(state, given, average, last)
    assert (network(given).double() - expected).norm() / expected.norm() > 1e-3


def test_features_do_not_depend_on_the_batch(network: Any) -> None:
    given = pictures(3, 107)
    alone = torch.cat([network(given[place : place + 1]) for place in range(3)])
    assert ((network(given) - alone).norm(dim=1) / alone.norm(dim=1)).max() < 1e-5


def test_parameters_have_torchvisions_names_and_the_file_may_hold_classes(state: dict[str, Any]) -> None:
    from inpaintbench.models.inception_layers import Inception

    models = pytest.importorskip("torchvision.models")
    with torch.device("meta"):
        theirs = models.inception_v3(weights=None, aux_logits=False, init_weights=False, num_classes=1008).state_dict()
    translated = module._without_classes({name: torch.zeros(value.shape) for name, value in theirs.items()})
    assert {name: value.shape for name, value in translated.items()} == {name: value.shape for name, value in state.items()}
    Inception().load_state_dict(translated)
    uncounted = {name: value for name, value in translated.items() if "num_batches" not in name}
    Inception().load_state_dict(uncounted)


def test_random_parameters_keep_the_size_of_activations() -> None:
    features = inception(RANDOM)(pictures(2, 123))
    assert 0.01 < float(features.std()) < 100
    assert inception(RANDOM) is inception(RANDOM)


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch inception-fid`"):
        inception(Compute(device="cpu"))
