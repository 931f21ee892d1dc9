"""Multi-scale neural patch synthesis: a context encoder's content, and textures by the features of VGG-19."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad
from tests.eval.methods.contract import MethodContract
from tests.wings.chalearn.training.made import LEAVES, padded, planted

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.methods.base import Method
from inpaintbench.files import file_sha256
from inpaintbench.models import lpips_networks as vgg
from inpaintbench.models import torch_networks, weights
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.methods.neural_patches import NeuralPatches, _Scale, patches_of

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of seeded parameters under the names that torchvision's has, classifier and deeper layers included."""
    folder = tmp_path_factory.mktemp("weights")
    made = vgg.vgg_19(Compute(device="cpu", random_weights=1))
    state = {name.replace("trunk", "features"): value for name, value in made.state_dict().items()}
    state |= {"features.34.weight": torch.zeros(2, 2), "classifier.6.bias": torch.zeros(3)}
    torch.save(state, folder / weights.named(vgg.VGG_19).file)
    return folder


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads of a busy machine wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def _there(brought: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That file takes the place of torchvision's."""
    path = brought / weights.named(vgg.VGG_19).file
    entry = replace(weights.named(vgg.VGG_19), sha256=file_sha256(path), bytes=path.stat().st_size)
    monkeypatch.setattr(weights, "known", lambda: {vgg.VGG_19: entry})
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(brought))


def picture(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Stripes with a hole in them, ``uint8[1, H, W, 3]`` and ``bool[1, H, W]``."""
    stripes = np.where((np.arange(width) // 3 % 2 == 0)[None, None, :, None], 220, 40)
    frames = np.broadcast_to(stripes, (1, height, width, 3)).astype(np.uint8)
    hole = np.zeros((1, height, width), bool)
    hole[:, height // 3 : height // 2, width // 3 : width // 2] = True
    return np.where(hole[..., None], np.uint8(255), frames), hole


@pytest.mark.long
@pytest.mark.usefixtures("_there")
class TestNeuralPatches(MethodContract):
    name = "neural_patches"

    @pytest.fixture
    def method(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Method:
        monkeypatch.setitem(LEAVES, self.name, lambda **given: NeuralPatches(iterations=1, **given))
        method: Method = padded(self.name, tmp_path, network="context_encoder")
        return method


def test_the_loss_falls_and_only_the_hole_changes() -> None:
    frames, hole = picture(24, 32)
    network = vgg.vgg_19(Compute(device="cpu", random_weights=0))
    grey = np.where(hole[..., None], np.uint8(128), frames)[0]
    scale = _Scale(grey, hole[0], network, torch.device("cpu"), 1e-4, 5e-6)
    start = grey[hole[0]].astype(float).ravel() / 127.5 - 1
    found = scale.solved(4)
    end = found[hole[0]].astype(float).ravel() / 127.5 - 1
    losses = [scale.loss(values, scale.nearest(values))[0] for values in (start, end)]
    assert losses[1] < 0.95 * losses[0]
    np.testing.assert_array_equal(found[~hole[0]], frames[0][~hole[0]])


@pytest.mark.parametrize(("texture", "smoothness"), [(0.0, 0.0), (1e-6, 0.0), (0.0, 1e-5)])
def test_every_term_has_its_gradient(texture: float, smoothness: float) -> None:
    """Against differences: of content, patches and smoothness alone (float32 inside, so steps are large)."""
    frames, hole = picture(24, 32)
    network = vgg.vgg_19(Compute(device="cpu", random_weights=0))
    scale = _Scale(frames[0], hole[0], network, torch.device("cpu"), texture, smoothness)
    values = np.random.default_rng(3).uniform(-0.4, 0.4, 3 * int(hole.sum()))
    targets = scale.nearest(np.zeros_like(values))
    gradient = scale.loss(values, targets)[1]
    error = check_grad(
        lambda given: scale.loss(given, targets)[0], lambda given: scale.loss(given, targets)[1], values,
        epsilon=1e-3, direction="random", rng=np.random.default_rng(1),
    )  # fmt: skip
    assert np.linalg.norm(gradient) > 0.1
    assert error < 0.03 * np.linalg.norm(gradient)


def test_without_weights_of_textures_and_smoothness_the_content_stays() -> None:
    frames, hole = picture(24, 32)
    network = vgg.vgg_19(Compute(device="cpu", random_weights=0))
    scale = _Scale(frames[0], hole[0], network, torch.device("cpu"), 0.0, 0.0)
    np.testing.assert_array_equal(scale.solved(3), frames[0])


def test_each_missing_patch_is_given_the_nearest_known_one() -> None:
    """Against all distances, one by one."""
    frames, hole = picture(32, 40)
    network = vgg.vgg_19(Compute(device="cpu", random_weights=0))
    scale = _Scale(frames[0], hole[0], network, torch.device("cpu"), 1.0, 0.0)
    values = np.zeros(3 * int(hole.sum()))
    given = scale.nearest(values)[0].numpy()
    cells = network(scale._canvas(scale._pixels(values)))[0].detach().numpy()[0].reshape(256, -1)
    grid = patches_of(hole[0], 4)
    cut = {kind: np.stack([cells[:, places].ravel() for places in getattr(grid, kind)]) for kind in grid._fields}
    for patch, chosen in zip(cut["missing"], given, strict=True):
        distances = ((cut["known"] - patch) ** 2).sum(axis=1)
        assert ((chosen - patch) ** 2).sum() == pytest.approx(distances.min(), rel=1e-4)


def test_patches_reach_to_the_last_row_and_know_the_hole_by_one_pixel() -> None:
    hole = np.zeros((24, 35), bool)  # 6 x 8 cells; three columns fill no cell
    hole[23, 31] = True
    grid = patches_of(hole, 4)
    assert sorted({int(place) // 8 for place in (*grid.missing.ravel(), *grid.known.ravel())}) == list(range(6))
    assert (len(grid.missing), len(grid.known)) == (1, 11)  # tops 0, 2, 3 and lefts 0, 2, 4, 5
    assert grid.missing[0, -1] == 47
    assert all(part.shape == (0, 9) for part in patches_of(hole[:8, :8], 4))


@pytest.mark.usefixtures("_there")
def test_a_file_of_parameters_is_read_and_gives_the_same_twice(tmp_path: Path) -> None:
    frames, hole = picture(24, 32)
    folder = planted("context_encoder", tmp_path)
    twice = [
        NeuralPatches(checkpoint=folder, device="cpu", iterations=2).inpaint(ItemView.of_arrays(input=frames, hole=hole))
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*twice)
    np.testing.assert_array_equal(twice[0][~hole], frames[~hole])
    read, drawn = (vgg.vgg_19(Compute(device="cpu", random_weights=seed)) for seed in (None, 1))
    for (name, one), other in zip(read.state_dict().items(), drawn.state_dict().values(), strict=True):
        assert torch.equal(one, other), name


@pytest.mark.usefixtures("_there")
def test_refusals_are_one_sentence_each(tmp_path: Path) -> None:
    folder = planted("context_encoder", tmp_path / "one")
    method = NeuralPatches(checkpoint=folder, device="cpu", iterations=1)
    large = np.zeros((1, 1024, 1032, 3), np.uint8)
    with pytest.raises(NotMeasurable, match="take at most 1,048,576 pixels a frame, the frames have 1032x1024"):
        method.inpaint(ItemView.of_arrays(input=large, hole=np.ones(large.shape[:3], bool)))
    with pytest.raises(InputError, match="choose weights of 0 or more, and at least 1 scale and iteration"):
        NeuralPatches(checkpoint=folder, device="cpu", scales=0)
    other = planted("semantic_inpainting", tmp_path / "two")
    with pytest.raises(InputError, match="holds a semantic_inpainting, not a context_encoder"):
        NeuralPatches(checkpoint=other, device="cpu")


def test_without_vgg_19_the_way_to_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    with pytest.raises(InputError, match="neural_patches needs VGG-19: weights missing: run `inpaintbench models fetch vgg19`"):
        NeuralPatches(checkpoint=planted("context_encoder", tmp_path), device="cpu")


@pytest.mark.parametrize(
    ("size", "scales", "wanted"),
    [
        ((512, 512), 3, [(128, 128), (256, 256), (512, 512)]),
        ((512, 640), 2, [(256, 320), (512, 640)]),
        ((200, 160), 3, [(200, 160)]),
    ],
)
@pytest.mark.usefixtures("_there")
def test_scales_halve_down_to_what_the_content_network_draws(
    size: tuple[int, int], scales: int, wanted: Any, tmp_path: Path
) -> None:
    method = NeuralPatches(checkpoint=planted("context_encoder", tmp_path), device="cpu", scales=scales)
    assert method._sizes(*size) == wanted


@pytest.mark.usefixtures("_there")
def test_the_features_are_those_of_the_named_layers() -> None:
    """relu3_1 and relu4_1 of torchvision's own network with the same parameters, on a larger scale."""
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    with torch.device("meta"):
        whole = torchvision.models.vgg19(weights=None).features
    network = vgg.vgg_19(Compute(device="cpu", random_weights=None))
    trunk = whole[:21].to_empty(device="cpu")
    trunk.load_state_dict({name.removeprefix("trunk."): value for name, value in network.state_dict().items()})
    levels = torch.rand(1, 3, 24, 32, generator=torch.Generator().manual_seed(0)) * 255
    mean, deviation = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]]).reshape(2, 1, 3, 1, 1)
    normal = (levels / 255 - mean) / deviation
    with torch.no_grad():
        for end, found in zip((12, 21), network(levels), strict=True):
            torch.testing.assert_close(found / 57.63, trunk[:end](normal), rtol=1e-4, atol=1e-4)
    assert torch_networks.lacks([vgg.VGG_19], Compute(device="cpu")) == {}
