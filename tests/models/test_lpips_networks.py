"""LPIPS against the package `lpips` with the same parameters."""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.files import file_sha256
from inpaintbench.models import lpips_networks
from inpaintbench.models.lpips_networks import HEADS, LPIPS_WEIGHTS, lpips

torch = pytest.importorskip("torch")
package = pytest.importorskip("lpips")

NETS = ["alex", "vgg", "squeeze"]


@lru_cache(maxsize=3)
def theirs(net: str) -> Any:
    """The package's network with the heads it comes with and a trunk that it drew."""
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")  # it calls torchvision as that was years ago
        torch.manual_seed(11)
        return package.LPIPS(net=net, pnet_rand=True, verbose=False)


@lru_cache(maxsize=3)
def ours(net: str) -> Any:
    """Our network with the package's parameters, taken over under our names as those of a file are."""
    from inpaintbench.models.lpips_layers import LpipsNetwork

    made = LpipsNetwork(net)
    trunk = {}
    for name, value in theirs(net).net.state_dict().items():  # "slice2.3.weight": the number is torchvision's
        trunk[f"features.{name.split('.', 1)[1]}"] = value
    made.load_state_dict(lpips_networks._translated(net, trunk))
    return made.eval().requires_grad_(False)


def pictures(seed: int, height: int, width: int) -> Any:
    """Two pictures like photographs: smooth, with noise, the second another version of the first."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.rand(2, 3, height // 8, width // 8, generator=generator)
    smooth = torch.nn.functional.interpolate(coarse, (height, width), mode="bilinear")
    one = (smooth + 0.1 * torch.rand(2, 3, height, width, generator=generator)).clamp(0, 1)
    return one, (0.8 * one + 0.2 * torch.rand(2, 3, height, width, generator=generator)).clamp(0, 1)


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("size", [(64, 96), (71, 83)])
def test_distances_are_those_of_the_package(net: str, size: tuple[int, int]) -> None:
    one, other = pictures(1, *size)
    with torch.inference_mode():
        expected = theirs(net)(one, other, normalize=True).reshape(2).double()
        maps = ours(net).layer_maps(ours(net).layers(one), ours(net).layers(other))
        found = sum(layer.double().mean(dim=(1, 2)) for layer in maps)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)
    assert found.min() > 1e-3


@pytest.mark.parametrize("net", NETS)
def test_maps_are_those_of_the_package(net: str) -> None:
    one, other = pictures(2, 71, 83)
    with torch.inference_mode():
        theirs(net).spatial = True
        try:
            expected = theirs(net)(one * 2 - 1, other * 2 - 1)[:, 0]
        finally:
            theirs(net).spatial = False
        maps = ours(net).layer_maps(ours(net).layers(one), ours(net).layers(other))
        enlarged = [
            torch.nn.functional.interpolate(layer[:, None], (71, 83), mode="bilinear", align_corners=False)[:, 0]
            for layer in maps
        ]
    torch.testing.assert_close(sum(enlarged), expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("net", NETS)
def test_a_picture_is_at_no_distance_from_itself_and_distances_are_symmetric(net: str) -> None:
    network = lpips(net, Compute(device="cpu", random_weights=3))
    one, other = (network.layers(each) for each in pictures(3, 40, 48))
    assert all(not layer.any() for layer in network.layer_maps(one, one))
    for mine, yours in zip(network.layer_maps(one, other), network.layer_maps(other, one), strict=True):
        assert torch.equal(mine, yours)
        assert mine.min() >= 0


@pytest.mark.parametrize("net", NETS)
def test_activations_have_length_one_or_none(net: str) -> None:
    one, _ = pictures(4, 40, 48)
    for layer in lpips(net, Compute(device="cpu", random_weights=3)).layers(one):
        length = layer.square().sum(dim=1)
        torch.testing.assert_close(length[length > 0], torch.ones_like(length[length > 0]))


def test_in_bfloat16_differences_are_still_taken_in_float32() -> None:
    from inpaintbench.models.torch_networks import running

    compute = Compute(device="cpu", random_weights=3, precision="bf16")
    one, other = pictures(5, 40, 48)
    network = lpips("squeeze", compute)
    with running(compute):
        coarse = network.layer_maps(network.layers(one), network.layers(other))
    exact = network.layer_maps(network.layers(one), network.layers(other))
    for found, expected in zip(coarse, exact, strict=True):
        assert found.dtype is torch.float32
        assert not torch.equal(found, expected)
        torch.testing.assert_close(found.mean(), expected.mean(), rtol=0.05, atol=0)


@pytest.mark.parametrize(("net", "least"), [("alex", 31), ("vgg", 16), ("squeeze", 17)])
def test_pictures_that_leave_nothing_are_refused(net: str, least: int) -> None:
    network = lpips(net, Compute(device="cpu", random_weights=3))
    assert all(layer.numel() for layer in network.layers(torch.rand(1, 3, least, least)))
    with pytest.raises(NotMeasurable, match=f"needs at least {least}x{least} pixels, the frames have 40x{least - 1}"):
        network.layers(torch.rand(1, 3, least - 1, 40))


@pytest.mark.parametrize("net", NETS)
def test_the_layers_are_torchvisions_with_its_names(net: str) -> None:
    models = pytest.importorskip("torchvision.models")
    with torch.device("meta"):
        classifier = {"alex": models.alexnet, "vgg": models.vgg16, "squeeze": models.squeezenet1_1}[net](weights=None)
    used = [name for name in classifier.state_dict() if name.startswith("features.")]
    made = lpips(net, Compute(device="cpu", random_weights=3)).state_dict()
    assert [name for name in made if name.startswith("trunk.")] == [name.replace("features.", "trunk.") for name in used]
    assert all(made[f"trunk.{name[9:]}"].shape == classifier.state_dict()[name].shape for name in used)
    translated = lpips_networks._translated(net, classifier.state_dict())
    assert set(translated) == set(made)
    assert {name: value.shape for name, value in translated.items()} == {name: value.shape for name, value in made.items()}


@pytest.mark.parametrize("net", NETS)
def test_the_heads_are_those_of_the_installed_package(net: str) -> None:
    path = Path(package.__file__).parent / "weights" / "v0.1" / f"{net}.pth"
    assert file_sha256(path) == HEADS[net]
    ours, theirs = lpips_networks._translated(net, {}), torch.load(path, map_location="cpu", weights_only=True)
    assert [value.tolist() for value in ours.values()] == [value.ravel().tolist() for value in theirs.values()]


@pytest.mark.real
@pytest.mark.parametrize("net", NETS)
def test_the_heads_are_the_published_ones(assets: Path, net: str) -> None:
    published = [file_sha256(path) for path in (assets / "weights/lpips-lin").glob("*.pth")]
    assert HEADS[net] in published


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch squeezenet1-1`"):
        lpips("squeeze", Compute(device="cpu"))


def test_an_unknown_network_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown network of LPIPS 'alx', did you mean 'alex'"):
        lpips("alx", Compute(random_weights=1))


def test_names_of_weights_are_known_without_pytorch() -> None:
    code = (
        "import sys, inpaintbench.eval.flows, inpaintbench.eval.metrics.inception, inpaintbench.models.lpips_networks; "
        "sys.exit(any(name in sys.modules for name in ('torch', 'torchvision', 'lpips')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert set(LPIPS_WEIGHTS) == set(HEADS)
