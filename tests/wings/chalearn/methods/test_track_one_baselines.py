"""The trained baselines of inpainting people: context encoders, and the code whose picture is nearest to what is known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract
from tests.wings.chalearn.training.made import LEAVES, padded, planted

from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.trained import SemanticInpainting, nearness
from inpaintbench.wings.chalearn.training.networks import NETWORKS, context_examples, manifold_examples, shares

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads of a busy machine wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["context_encoder", "semantic_inpainting"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestContextEncoder(MethodContract):
    name = "context_encoder"

    @pytest.fixture
    def method(self, tmp_path: Path) -> Method:
        method: Method = padded(self.name, tmp_path)
        return method


class TestSemanticInpainting(MethodContract):
    name = "semantic_inpainting"

    @pytest.fixture
    def method(self, tmp_path: Path) -> Method:
        method: Method = padded(self.name, tmp_path)
        return method


def picture(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    frames = np.random.default_rng(seed).integers(0, 256, (1, 150, 90, 3), dtype=np.uint8)
    hole = np.zeros((1, 150, 90), bool)
    hole[:, 40:90, 30:60] = True
    frames[hole] = 255
    return frames, hole


def test_a_constant_generator_fills_the_hole_alone_with_its_level(kind: str, tmp_path: Path) -> None:
    def change(state: dict[str, Any]) -> None:
        last = sorted((name for name in state if name.startswith("decoder") and name.endswith("weight")), key=_place)[-1]
        state[last].zero_()
        state[last.replace("weight", "bias")].fill_(float(np.log(0.25 / 0.75)))  # a quarter by the logistic function

    frames, hole = picture()
    method = LEAVES[kind](checkpoint=planted(kind, tmp_path, change), device="cpu")
    found = method.inpaint(ItemView.of_arrays(input=frames, hole=hole))
    np.testing.assert_array_equal(found[~hole], frames[~hole])
    assert (found[hole] == 64).all()


def _place(name: str) -> int:
    return int(name.split(".")[1])


def test_what_lies_under_the_hole_is_not_looked_at(kind: str, tmp_path: Path) -> None:
    method = LEAVES[kind](checkpoint=planted(kind, tmp_path), device="cpu")
    frames, hole = picture()
    other = frames.copy()
    other[hole] = 7
    seen = [method.inpaint(ItemView.of_arrays(input=one, hole=hole)) for one in (frames, other)]
    np.testing.assert_array_equal(seen[0], seen[1])


def test_the_search_comes_nearer_to_the_known_pixels(tmp_path: Path) -> None:
    """Against a target that the generator itself drew, more steps leave less error around the hole."""
    folder = planted("semantic_inpainting", tmp_path)
    few, many = (SemanticInpainting(checkpoint=folder, device="cpu", steps=steps, prior=0.0) for steps in (1, 60))
    hole = np.zeros((64, 64), bool)
    hole[20:44, 20:44] = True
    weights, errors = torch.from_numpy(nearness(hole))[None, None], []
    view = ItemView.of_arrays(input=picture()[0])
    for method in (few, many):
        with method.running(view) as (network, _), torch.inference_mode(False), torch.enable_grad():
            code = 2 * torch.rand(1, network.code, generator=torch.Generator().manual_seed(9)) - 1
            target = network(code).detach()
            found = method._found(network, target, weights)
        errors.append(float(((found - target).abs() * weights).sum()))
    assert errors[1] < 0.8 * errors[0]
    with pytest.raises(InputError, match="at least 1 step"):
        SemanticInpainting(checkpoint=folder, steps=0)


def test_known_pixels_count_by_the_missing_ones_around_them() -> None:
    hole = np.zeros((20, 20), bool)
    hole[8:12, 8:12] = True
    weights = nearness(hole)
    assert (weights[hole] == 0).all()
    assert weights[7, 9] == pytest.approx(3 * 4 / 49)  # of the window of 7 pixels, three rows below have four each
    assert weights[0, 0] == 0


def test_the_critic_and_the_rest_learn_each_from_its_own_part_of_the_loss() -> None:
    network = NETWORKS["context_encoder"]
    truth = np.random.default_rng(1).integers(0, 256, (4, 60, 80, 3), dtype=np.uint8)
    hole = np.zeros((4, 60, 80), bool)
    hole[:, 20:40, 20:50] = True
    batch = tuple(map(torch.from_numpy, context_examples(truth, np.where(hole[..., None], 255, truth).astype(np.uint8), hole)))
    assert [tuple(part.shape) for part in batch] == [(4, 128, 128, 3), (4, 128, 128, 3), (4, 128, 128)]
    gradients = {}
    for weight in (1e-3, 0.5):
        torch.manual_seed(0)
        made = network.build(4).train()
        network.loss(made, batch, {**network.settings, "adversarial_weight": weight}).backward()
        gradients[weight] = {name: part.grad.clone() for name, part in made.named_parameters()}
    moved = {name: not torch.allclose(gradients[1e-3][name], part, rtol=1e-4, atol=1e-7) for name, part in gradients[0.5].items()}
    assert not any(moved[name] for name in moved if name.startswith("critic"))  # however much it counts for the rest
    assert all(moved[name] for name in moved if name.startswith("decoder"))


def test_both_learn_from_pictures_of_several_sizes_and_get_better() -> None:
    sizes = [(60, 80), (130, 90)]
    parts = [context_examples(*[np.zeros((1, *size, 3), np.uint8)] * 2, np.zeros((1, *size), bool)) for size in sizes]
    assert len({part[0].shape for part in parts}) == 1
    assert all(NETWORKS[name].any_size for name in ("context_encoder", "semantic_inpainting"))
    truth = np.full((4, 64, 64, 3), (200, 60, 20), np.uint8)
    hole = np.zeros((4, 64, 64), bool)
    hole[:, 16:48, 16:48] = True
    network = NETWORKS["context_encoder"]
    torch.manual_seed(0)
    made = network.build(4).train()
    batch = tuple(map(torch.from_numpy, context_examples(truth, np.where(hole[..., None], 255, truth).astype(np.uint8), hole)))
    adam, inside = torch.optim.Adam(made.parameters(), lr=5e-3), batch[2][:, None].float()
    errors = []
    for _ in range(30):
        adam.zero_grad()
        network.loss(made, batch, network.settings).backward()
        adam.step()
        with torch.no_grad():
            errors.append(float(((made(shares(batch[0]), inside) - shares(batch[1])).square() * inside).mean()))
    assert errors[-1] < 0.5 * errors[0]
    (pictures,) = manifold_examples(truth, truth, hole)
    assert pictures.shape == (4, 64, 64, 3)
    other = NETWORKS["semantic_inpainting"]
    generator, given = other.build(4).train(), (torch.from_numpy(pictures),)
    values = [float(other.loss(generator, given, other.settings).detach()) for _ in range(2)]
    assert values[0] == values[1]  # codes follow from the batch
