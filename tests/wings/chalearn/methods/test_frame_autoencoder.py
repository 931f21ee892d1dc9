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
    name = "frame_autoencoder"

    @pytest.fixture
    def method(self, tmp_path: Path) -> Method:
        method: Method = padded(self.name, tmp_path)
        return method


def test_levels_are_rounded_from_the_whole_range(tmp_path: Path) -> None:
    """A last layer that looks at nothing gives the sigmoid of its bias everywhere."""

    def change(state: dict[str, torch.Tensor]) -> None:
        last = [name for name in state if name.endswith(".bias")][-1]
        state[last].copy_(torch.logit(torch.tensor([0.25, 0.5, 0.9999])))
        state[last.replace("bias", "weight")].zero_()

    method = LEAVES["frame_autoencoder"](checkpoint=planted("frame_autoencoder", tmp_path, change), device="cpu")
    found = method.inpaint(ItemView.of_arrays(input=world()))
    assert np.abs(found.astype(int) - [64, 128, 255]).max() <= 1
    assert (found == found[0, 0, 0]).all()
