from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, world
from tests.wings.chalearn.training.made import LEAVES, padded, planted

from inpaintbench.eval.methods.base import Method
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


class TestContract(MethodContract):
    name = "residual_encoder"

    @pytest.fixture
    def method(self, tmp_path: Path) -> Method:
        method: Method = padded(self.name, tmp_path)
        return method


@pytest.mark.parametrize("size", [(400, 275), (37, 50)])
def test_prints_keep_their_size_and_are_grey(tmp_path: Path, size: tuple[int, int]) -> None:
    """A last normalisation that keeps its bias alone gives 127.5 tanh(bias) + 127.5 everywhere."""

    def change(state: dict[str, torch.Tensor]) -> None:
        state["last.1.weight"].zero_()
        state["last.1.bias"].fill_(np.arctanh(0.5))

    frames = np.random.default_rng(1).integers(0, 256, (1, *size, 3), dtype=np.uint8)
    method = LEAVES["residual_encoder"](checkpoint=planted("residual_encoder", tmp_path, change), device="cpu")
    found = method.inpaint(ItemView.of_arrays(input=frames))
    assert found.shape == frames.shape
    assert (found == 191).all()  # 191.25


def test_it_looks_at_the_print_and_gives_grey_levels(tmp_path: Path) -> None:
    def change(state: dict[str, torch.Tensor]) -> None:
        state["last.1.weight"].fill_(100)  # of parameters that were never trained the answer is faint

    method = LEAVES["residual_encoder"](checkpoint=planted("residual_encoder", tmp_path, change), device="cpu")
    found = method.inpaint(ItemView.of_arrays(input=world()))
    assert (found[..., 0] == found[..., 1]).all()
    assert (found[..., 0] == found[..., 2]).all()
    assert len(np.unique(found)) > 20
