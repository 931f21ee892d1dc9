"""CLIP: layer by layer against plain formulas, its published shape, its tokens, and archives as OpenAI has them."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_networks import RANDOM, TINY, add_tiny_clip, shaken

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.models.clip import NETWORKS, build_images, build_texts, image_network, text_network, tokens
from inpaintbench.models.torch_networks import running
from inpaintbench.models.weights import Weights, known

torch = pytest.importorskip("torch")
pytest.importorskip("open_clip")

CPU = Compute(device="cpu")


def transformed(state: dict[str, Any], x: Any, *, layers: int, causal: bool) -> Any:
    """The residual blocks of CLIP over ``[L, width]``, one head of 64 at a time."""
    for layer in range(layers):
        own = {name.split(f"resblocks.{layer}.")[1]: value for name, value in state.items() if f"resblocks.{layer}." in name}
        y = norm(x, own["ln_1.weight"], own["ln_1.bias"])
        query, key, value = (y @ own["attn.in_proj_weight"].T + own["attn.in_proj_bias"]).chunk(3, dim=-1)
        heads = []
        for begin in range(0, x.shape[-1], 64):
            some = slice(begin, begin + 64)
            scores = query[:, some] @ key[:, some].T / 8
            if causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
            heads.append(scores.exp() / scores.exp().sum(-1, keepdim=True) @ value[:, some])
        x = x + torch.cat(heads, -1) @ own["attn.out_proj.weight"].T + own["attn.out_proj.bias"]
        y = norm(x, own["ln_2.weight"], own["ln_2.bias"]) @ own["mlp.c_fc.weight"].T + own["mlp.c_fc.bias"]
        x = x + (y / (1 + (-1.702 * y).exp())) @ own["mlp.c_proj.weight"].T + own["mlp.c_proj.bias"]
    return x


def norm(x: Any, weight: Any, bias: Any) -> Any:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt() * weight + bias


def test_pictures_go_through_the_layers_as_published() -> None:
    module = shaken(lambda: build_images(TINY))
    state = {name: value.double() for name, value in module.state_dict().items()}
    picture = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    expected = []
    for one in picture.double():
        corners = [(row, column) for row in range(0, 32, 8) for column in range(0, 32, 8)]
        patches = [state["conv1.weight"].flatten(1) @ one[:, r : r + 8, c : c + 8].flatten() for r, c in corners]
        x = torch.stack([state["class_embedding"], *patches]) + state["positional_embedding"]
        x = transformed(state, norm(x, state["ln_pre.weight"], state["ln_pre.bias"]), layers=2, causal=False)
        expected.append(norm(x[0], state["ln_post.weight"], state["ln_post.bias"]) @ state["proj"])
    with running(CPU):
        found = module(picture).double()
    torch.testing.assert_close(found, torch.stack(expected), rtol=1e-4, atol=1e-5)


def test_texts_go_through_the_layers_as_published() -> None:
    module = shaken(lambda: build_texts(TINY))
    state = {name: value.double() for name, value in module.state_dict().items()}
    numbers = tokens("a panda walks on the grass")
    row = torch.tensor([numbers + [0] * (77 - len(numbers))])
    x = state["token_embedding.weight"][row[0]] + state["positional_embedding"]
    x = transformed(state, x, layers=2, causal=True)
    expected = norm(x[len(numbers) - 1], state["ln_final.weight"], state["ln_final.bias"]) @ state["text_projection"]
    with running(CPU):
        found = module(row)[0].double()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def block_names(layers: int) -> set[str]:
    parts = ["ln_1.weight", "ln_1.bias", "attn.in_proj_weight", "attn.in_proj_bias", "attn.out_proj.weight", "attn.out_proj.bias"]
    parts += ["ln_2.weight", "ln_2.bias", "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias"]
    return {f"transformer.resblocks.{layer}.{part}" for layer in range(layers) for part in parts}


@pytest.mark.parametrize(("name", "parameters", "layers"), [("ViT-B/32", 151_277_313, 12), ("ViT-L/14", 427_616_513, 24)])
def test_the_networks_have_the_published_parameters(name: str, parameters: int, layers: int) -> None:
    with torch.device("meta"):
        images, texts = build_images(NETWORKS[name]), build_texts(NETWORKS[name])
    total = sum(parameter.numel() for module in (images, texts) for parameter in module.parameters())
    assert total + 1 == parameters  # and the scale of logits
    own = {"class_embedding", "positional_embedding", "proj", "conv1.weight"}
    norms = {f"{one}.{part}" for one in ("ln_pre", "ln_post") for part in ("weight", "bias")}
    assert set(images.state_dict()) == own | norms | block_names(layers)
    named = {"positional_embedding", "text_projection", "token_embedding.weight", "ln_final.weight", "ln_final.bias"}
    assert set(texts.state_dict()) == named | block_names(12)
    assert images.proj.shape[1] == texts.text_projection.shape[1] == NETWORKS[name].length


def test_tokens_are_those_of_openai() -> None:
    assert tokens("a photo of a cat") == [49406, 320, 1125, 539, 320, 2368, 49407]
    assert tokens("  A  Photo of\na CAT ") == tokens("a photo of a cat")
    assert tokens("Tom &amp; Jerry") == tokens("tom & jerry")
    assert tokens("") == [49406, 49407]
    assert len(tokens("cat " * 200)) == 202


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    """The state dicts of a small network, rounded to the 16 bits that OpenAI's archives have."""
    made = {"visual.": shaken(lambda: build_images(TINY)), "": shaken(lambda: build_texts(TINY), seed=2)}
    return {prefix: {name: value.half() for name, value in one.state_dict().items()} for prefix, one in made.items()}


@pytest.fixture(scope="module")
def body(parts: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Both in one archive of TorchScript."""
    root = torch.nn.Module()
    state = {prefix + name: value for prefix, one in parts.items() for name, value in one.items()}
    for name, value in (state | {"logit_scale": torch.tensor(4.6)}).items():
        place, *rest = root, *name.split(".")
        for part in rest[:-1]:
            if part not in dict(place.named_children()):
                place.add_module(part, torch.nn.Module())
            place = place.get_submodule(part)
        place.register_parameter(rest[-1], torch.nn.Parameter(value, requires_grad=False))
    root.register_buffer("context_length", torch.tensor(77))
    path = tmp_path_factory.mktemp("archive") / "tiny.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(root), path)
    return path.read_bytes()


@pytest.fixture
def archive(body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """It lies where weights are looked for, and the table knows it."""
    path = tmp_path / "tiny.pt"
    path.write_bytes(body)
    entry = Weights("tiny", "tiny.pt", hashlib.sha256(body).hexdigest(), len(body), "MIT", None, ("leaf",))
    monkeypatch.setitem(known(), "tiny", entry)
    monkeypatch.setitem(NETWORKS, "tiny", replace(TINY, weights="tiny"))  # type: ignore[arg-type]
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    return path


@pytest.mark.usefixtures("archive")
def test_an_archive_of_openai_is_read_into_both_parts(parts: dict[str, Any]) -> None:
    for prefix, loaded in (("visual.", image_network), ("", text_network)):
        found = loaded("tiny", CPU)
        assert not found.training
        state = found.state_dict()
        assert set(state) == set(parts[prefix])
        for name, value in parts[prefix].items():
            assert state[name].dtype is torch.float32
            assert torch.equal(state[name], value.float())
        assert loaded("tiny", CPU) is found


def test_other_bytes_are_refused_before_they_are_opened(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-1] + b"\1")
    with pytest.raises(NotMeasurable, match=r"weights damaged: the tiny.pt that was found has other bytes"):
        image_network("tiny", CPU)


def test_an_archive_of_another_network_is_refused(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NETWORKS, "tiny", replace(TINY, weights="tiny", layers=3))  # type: ignore[arg-type]
    with pytest.raises(NotMeasurable, match=r"tiny.pt holds no parameters of this network: Error.* in loading state_dict"):
        image_network("tiny", CPU)


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    for name, entry in (("ViT-B/32", "clip-vit-b-32"), ("ViT-L/14", "clip-vit-l-14")):
        with pytest.raises(NotMeasurable, match=f"weights missing: run `inpaintbench models fetch {entry}`"):
            image_network(name, CPU)


def test_made_up_parameters_follow_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)
    one, other = (image_network("tiny", replace(RANDOM, random_weights=seed)).proj for seed in (3, 4))
    assert image_network("tiny", RANDOM).proj is one
    assert not torch.equal(one, other)


def test_an_unknown_network_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown network of CLIP 'ViT-B-32', did you mean 'ViT-B/32'"):
        image_network("ViT-B-32", CPU)
