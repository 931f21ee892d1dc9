"""MiniMax-Remover's pipeline gets what its script would give it, once loaded for all items."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.eval.methods.contract import corrupted, wandering_hole, world

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.minimax_remover import MiniMaxRemover
from inpaintbench.eval.methods.brought import PythonCallable
from inpaintbench.eval.scoring.predict import run
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch")
# Stands for the pipeline: holes get the number of the frame, and it is noted how often it was made.
PIPELINE = """
import numpy as np
from types import SimpleNamespace
MADE = []

class Minimax_Remover_Pipeline:
    def __init__(self, transformer, vae, scheduler):
        MADE.append((transformer, vae, scheduler))

    def to(self, device):
        assert device == "cuda:0"

    def __call__(self, *, images, masks, num_frames, height, width, num_inference_steps, generator, iterations):
        assert images.shape == (num_frames, height, width, 3) and masks.shape == (num_frames, height, width, 1)
        assert num_frames % 4 == 1 and height % 16 == width % 16 == 0 and -1 <= images.min() <= images.max() <= 1
        assert (num_inference_steps, iterations, generator) == (12, 6, 42) and set(masks.unique().tolist()) == {0, 1}
        assert str(images.dtype) == "torch.float32"
        frames = (images.numpy() + 1) / 2
        for number, (frame, mask) in enumerate(zip(frames, masks.numpy())):
            frame[mask[..., 0] > 0] = number / 255
        return SimpleNamespace(frames=[frames])
"""
TRANSFORMER = """
class Transformer3DModel:
    from_pretrained = staticmethod(lambda folder, torch_dtype: (folder, str(torch_dtype)))
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("vae", "transformer", "scheduler"):
        (tmp_path / name).mkdir()
    (tmp_path / "pipeline_minimax_remover.py").write_text(PIPELINE)
    (tmp_path / "transformer_minimax_remover.py").write_text(TRANSFORMER)
    loads: Any = SimpleNamespace(from_pretrained=lambda folder, **constants: (folder, *map(str, constants.values())))
    for name, kind in (("models", "AutoencoderKLWan"), ("schedulers", "UniPCMultistepScheduler")):
        module = ModuleType(f"diffusers.{name}")
        setattr(module, kind, loads)
        monkeypatch.setitem(sys.modules, f"diffusers.{name}", module)
    monkeypatch.setitem(sys.modules, "diffusers", ModuleType("diffusers"))
    monkeypatch.setattr(torch, "Generator", lambda device: SimpleNamespace(manual_seed=lambda seed: seed))
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("pipeline_minimax_remover", "transformer_minimax_remover"):
        sys.modules.pop(name, None)


def test_clips_of_any_size_and_length_come_back(clone: Path) -> None:
    hole = wandering_hole()
    frames = corrupted(world(), hole)
    address = f"{MiniMaxRemover.__module__}:MiniMaxRemover"
    for _ in range(2):  # items of one worker
        leaf = PythonCallable(address=address, arguments={"program": str(clone)})
        made = run(leaf, ItemView.of_arrays(input=frames, hole=hole))
    assert made.shape == frames.shape
    np.testing.assert_array_equal(made[~hole], frames[~hole])
    for number, missing in enumerate(hole):
        assert (made[number][missing] == number).all()
    ((transformer, vae, scheduler),) = sys.modules["pipeline_minimax_remover"].MADE  # type: ignore[attr-defined]
    assert transformer == (str(clone / "transformer"), "torch.float16")
    assert (vae[0], scheduler[0]) == (str(clone / "vae"), str(clone / "scheduler"))
    with pytest.raises(NotMeasurable, match="takes a hole, which this benchmark hides"):
        run(leaf, ItemView.of_arrays(input=frames))


def test_what_is_missing_is_told(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "diffusers.models", None)
    with pytest.raises(InputError, match=r"needs what its requirements\.txt names: .*diffusers\.models"):
        MiniMaxRemover(program=str(clone))
    (clone / "vae").rmdir()
    with pytest.raises(InputError, match="is no clone of MiniMax-Remover with its weights: it has no vae"):
        MiniMaxRemover(program=str(clone))
