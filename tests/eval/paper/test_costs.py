"""Parameters and operations of networks, counted while they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.eval.scoring.test_predict import SIZE, scene, write_dataset

from inpaintbench.eval.paper.tables import Cost, cost_of, may_count
from inpaintbench.eval.scoring.predict import MethodSpec

CALLABLE = """
import torch

class Network:
    def __init__(self):
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 3, padding=1), torch.nn.ReLU())
        self.unused = torch.nn.Linear(100, 100)

    def __call__(self, frames, hole):
        with torch.no_grad():
            self.layers(torch.from_numpy(frames.copy()).permute(0, 3, 1, 2).float())
        return frames

def plain(frames, hole):
    return frames

def broken(frames, hole):
    raise RuntimeError("no")
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "counted_networks.py").write_text(CALLABLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def spec(name: str) -> MethodSpec:
    return MethodSpec(name, "python_callable", {"address": f"counted_networks:{name}"})


def test_a_network_has_the_parameters_that_ran_and_the_operations_of_a_frame(place: Path) -> None:
    pytest.importorskip("torch")
    row = write_dataset(place / "dataset", *scene()).items[0]
    products = SIZE["height"] * SIZE["width"] * 3 * 3 * 9
    assert cost_of(spec("Network"), place / "dataset", row) == Cost(3 * 3 * 9 + 3, 2 * products)
    for name in ("plain", "broken"):
        assert cost_of(spec(name), place / "dataset", row) == Cost(None, None)


def test_only_what_runs_in_this_process_with_pytorch_is_run_again() -> None:
    assert may_count(spec("Network"))
    assert may_count(MethodSpec("lama", "lama", {"weights": "big-lama.pt"}))
    assert not any(may_count(MethodSpec(name, name)) for name in ("telea", "command", "saved_folder", "http_endpoint"))
