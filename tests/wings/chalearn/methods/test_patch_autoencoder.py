from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract
from tests.wings.chalearn.training.made import LEAVES, padded, planted

from inpaintbench.eval.methods.base import Method
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


class TestContract(MethodContract):
    name = "patch_autoencoder"

    @pytest.fixture
    def method(self, tmp_path: Path) -> Method:
        method: Method = padded(self.name, tmp_path)
        return method


def test_only_patches_that_the_classifier_finds_text_in_are_replaced(tmp_path: Path) -> None:
    """The classifier is made to look at brightness alone: patches whose mean is above half are drawn anew, in one colour."""
    frames = np.random.default_rng(0).integers(0, 90, (2, 64, 96, 3), dtype=np.uint8)
    bright = {(0, 0, 1), (1, 1, 2), (1, 0, 0)}
    for frame, row, column in bright:
        frames[frame, 32 * row : 32 * row + 32, 32 * column : 32 * column + 32] += 160
    found = LEAVES["patch_autoencoder"](
        checkpoint=planted("patch_autoencoder", tmp_path, brightness_is_text), device="cpu"
    ).inpaint(ItemView.of_arrays(input=frames))
    for frame in range(2):
        for row in range(2):
            for column in range(3):
                place = np.s_[frame, 32 * row : 32 * row + 32, 32 * column : 32 * column + 32]
                if (frame, row, column) in bright:
                    assert np.abs(found[place].astype(int) - 64).max() <= 1
                else:
                    np.testing.assert_array_equal(found[place], frames[place])


def brightness_is_text(state: dict[str, torch.Tensor]) -> None:
    """Every layer passes the mean of its channels on, but the classifier's last, which takes half of the range from it."""
    for name, part in state.items():
        if part.ndim == 4:
            part.zero_()
            part[:, :, 1, 1] = 1 / part.shape[1]
        elif name.endswith(("running_mean", "bias")):
            part.zero_()
        elif name.endswith(("running_var", "weight")):
            part.fill_(1 / part.shape[1] if part.ndim == 2 else 1)
    state["classifier.3.bias"].fill_(-0.5)
    last = [name for name in state if name.startswith("decoder") and name.endswith(".bias")][-1]
    state[last].fill_(float(torch.logit(torch.tensor(0.25))))
    state[last.replace("bias", "weight")].zero_()
