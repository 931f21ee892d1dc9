"""Reading parameters from files good and bad, made-up parameters, devices and precision."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.models import torch_networks, weights
from inpaintbench.models.torch_networks import network, pictures, read_state, running
from inpaintbench.models.weights import Weights, known

torch = pytest.importorskip("torch")

CPU = Compute(device="cpu")


class Trap:
    """Runs code when it is unpickled: makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        import os

        return os.mkdir, (str(self.path),)


def build() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))


def good_state() -> dict[str, Any]:
    generator = torch.Generator().manual_seed(5)
    state = build().state_dict()
    return {name: torch.rand(value.shape, generator=generator).to(value.dtype) for name, value in state.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "given"))
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "given").mkdir()
    return tmp_path / "given"


def entered(path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file as an entry of the table, with the bytes that it has now."""
    body = path.read_bytes()
    row = Weights("net", path.name, hashlib.sha256(body).hexdigest(), len(body), "MIT", None, ("leaf",))
    monkeypatch.setitem(known(), "net", row)
    return "net"


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_of_parameters_is_loaded_ready_to_run(folder: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool) -> None:
    torch.save(good_state(), folder / "net.pth", _use_new_zipfile_serialization=zipped)
    made = network(build, CPU, weights_name=entered(folder / "net.pth", monkeypatch))
    assert all(torch.equal(made.state_dict()[name], value) for name, value in good_state().items())
    assert not made.training
    assert not any(parameter.requires_grad for parameter in made.parameters())
    assert network(build, CPU, weights_name="net") is made


def test_a_file_from_before_batches_were_counted_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = {name: value for name, value in good_state().items() if "num_batches" not in name}
    torch.save(state, folder / "old.pth")
    made = network(build, CPU, weights_name=entered(folder / "old.pth", monkeypatch))
    assert torch.equal(made.state_dict()["1.running_var"], state["1.running_var"])


def renamed(state: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name.removeprefix("module."): value for name, value in state.items()}


def test_parameters_under_other_names_are_translated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({f"module.{name}": value for name, value in good_state().items()}, folder / "other.pth")
    name = entered(folder / "other.pth", monkeypatch)
    made = network(build, CPU, weights_name=name, translate=renamed)
    assert torch.equal(made[0].weight, good_state()["0.weight"])
    with pytest.raises(NotMeasurable, match=r"other.pth holds no parameters of this network: Error\(s\) in loading state_dict"):
        network(build, CPU, weights_name=name)


def test_missing_weights_say_how_to_get_them(folder: Path) -> None:
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch alexnet`, or put alexnet-owt"):
        network(build, CPU, weights_name="alexnet")


def test_a_truncated_file_is_never_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save(good_state(), folder / "net.pth")
    name = entered(folder / "net.pth", monkeypatch)
    body = (folder / "net.pth").read_bytes()
    (folder / "net.pth").write_bytes(body[:-100])
    with pytest.raises(NotMeasurable, match=f"weights damaged: .* has {len(body) - 100} bytes instead of {len(body)}"):
        network(build, CPU, weights_name=name)


def test_a_file_with_another_hash_is_never_read(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save(good_state(), folder / "net.pth")
    name = entered(folder / "net.pth", monkeypatch)
    trap = pickle.dumps(Trap(tmp_path / "ran"))
    size = (folder / "net.pth").stat().st_size
    (folder / "net.pth").write_bytes(trap + b"\0" * (size - len(trap)))
    with pytest.raises(NotMeasurable, match="has other bytes than its SHA-256 says"):
        network(build, CPU, weights_name=name)
    assert not (tmp_path / "ran").exists()


def saved_zipped(state: Any, path: Path) -> None:
    torch.save(state, path)


def saved_as_before(state: Any, path: Path) -> None:
    torch.save(state, path, _use_new_zipfile_serialization=False)


def saved_bare(state: Any, path: Path) -> None:
    path.write_bytes(pickle.dumps(state, protocol=2))


@pytest.mark.parametrize("save", [saved_zipped, saved_as_before, saved_bare])
def test_code_in_a_file_is_refused_and_does_not_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Any, Path], None]
) -> None:
    save({**good_state(), "trap": Trap(tmp_path / "ran")}, folder / "trap.pth")
    with pytest.raises(NotMeasurable, match=r"trap.pth holds more than tensors, or is damaged; it is not read"):
        network(build, CPU, weights_name=entered(folder / "trap.pth", monkeypatch))
    assert not (tmp_path / "ran").exists()


def test_the_trap_of_these_tests_does_run_where_code_is_allowed(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Trap(tmp_path / "ran")))
    assert (tmp_path / "ran").is_dir()


def test_parameters_of_another_network_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save(torch.nn.Linear(3, 5).state_dict(), folder / "net.pth")
    with pytest.raises(NotMeasurable, match=r"net.pth holds no parameters of this network"):
        network(build, CPU, weights_name=entered(folder / "net.pth", monkeypatch))


def test_parameters_of_another_size_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({**good_state(), "0.weight": torch.zeros(4, 7)}, folder / "net.pth")
    with pytest.raises(NotMeasurable, match=r"net.pth holds no parameters of this network"):
        network(build, CPU, weights_name=entered(folder / "net.pth", monkeypatch))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (["0.weight"], "holds a list, not named tensors"),
        ({"state_dict": {"0.weight": 1.0}}, "holds a dict under 'state_dict', not named tensors alone"),
        ({3: 1.5}, "holds a float under 3, not named tensors alone"),
    ],
)
def test_other_things_than_named_tensors_are_refused(tmp_path: Path, content: object, said: str) -> None:
    torch.save(content, tmp_path / "net.pth")
    with pytest.raises(NotMeasurable, match=said):
        read_state(str(tmp_path / "net.pth"))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_torn_anywhere_is_refused(tmp_path: Path, zipped: bool) -> None:
    torch.save(good_state(), tmp_path / "whole.pth", _use_new_zipfile_serialization=zipped)
    body = (tmp_path / "whole.pth").read_bytes()
    for length in [0, 1, 2, 10, 100, *range(150, len(body) - 1, len(body) // 12)]:
        (tmp_path / "torn.pth").write_bytes(body[:length])
        with pytest.raises(NotMeasurable, match=r"torn.pth (cannot be read as a file of parameters|holds more than tensors, or)"):
            read_state(str(tmp_path / "torn.pth"))


def test_random_parameters_follow_their_seed_alone() -> None:
    made = {}
    for place, seed in enumerate([3, 3, 4]):
        torch_networks._network.cache_clear()
        torch.rand(place + 1)
        made[place] = network(build, Compute(device="cpu", random_weights=seed), weights_name="alexnet")[0].weight
    assert made[0] is not made[1]
    assert torch.equal(made[0], made[1])
    assert not torch.equal(made[0], made[2])


def test_building_a_network_leaves_the_global_randomness_alone() -> None:
    before = torch.get_rng_state()
    torch_networks._network.cache_clear()
    network(build, Compute(device="cpu", random_weights=9), weights_name="alexnet")
    assert torch.equal(torch.get_rng_state(), before)


def test_two_seeds_are_kept_apart_though_networks_are_remembered() -> None:
    one, other, again = (network(build, Compute(device="cpu", random_weights=seed), weights_name="alexnet") for seed in (1, 2, 1))
    assert one is again
    assert not torch.equal(one[0].weight, other[0].weight)


def test_a_device_that_is_not_there_is_an_error_of_the_user() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has the device")
    for ask in (torch_networks.check_device, lambda compute: network(build, compute, weights_name="alexnet")):
        with pytest.raises(InputError, match="there is no device 'cuda' here; leave --device out, or choose cpu"):
            ask(Compute(device="cuda", random_weights=1))
    torch_networks.check_device(Compute())
    torch_networks.check_device(CPU)


def test_the_first_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_networks, "_PACKAGES", ("json", "no_such_package", "nor_this_one"))
    assert torch_networks.lacking() == "no_such_package"
    monkeypatch.setattr(torch_networks, "_PACKAGES", ("json", "torch"))
    assert torch_networks.lacking() is None


def test_whether_there_is_a_card_is_told_without_loading_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch_networks, "_CARDS", (tmp_path / "card",))
    asked = (Compute(), Compute(device="cuda"), CPU)
    assert [torch_networks.on_card(compute) for compute in asked] == [False, True, False]
    (tmp_path / "card").touch()
    assert [torch_networks.on_card(compute) for compute in asked] == [True, True, False]
    for hidden in ("", "-1"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
        assert not any(torch_networks.on_card(compute) for compute in asked)


def test_fewer_digits_are_faster_on_a_card_and_on_processors_with_units_for_matrices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch_networks, "_CARDS", (tmp_path / "card",))
    monkeypatch.setattr(torch_networks, "_PROCESSOR", tmp_path / "cpuinfo")
    assert torch_networks.faster(CPU) is None
    (tmp_path / "cpuinfo").write_text("model name\t: some\nflags\t\t: fpu avx512_bf16 amx_tile\n")
    assert torch_networks.faster(CPU) is None
    (tmp_path / "cpuinfo").write_text("model name\t: some\nflags\t\t: fpu avx512_bf16 amx_bf16\nflags: none\n")
    assert [torch_networks.faster(compute) for compute in (CPU, Compute())] == ["bf16", "bf16"]
    (tmp_path / "card").touch()
    assert [torch_networks.faster(compute) for compute in (CPU, Compute())] == ["bf16", "tf32"]


def test_segments_are_expandable_where_pytorch_knows_them() -> None:
    assert torch_networks.segments("2.0.1") == {}
    assert torch_networks.segments("2.8.0+cu128") == {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    assert torch_networks.segments("2.15.0+cu132") == {"PYTORCH_ALLOC_CONF": "expandable_segments:True"}


@pytest.mark.parametrize("theirs", ["", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"])
def test_what_somebody_else_set_for_the_allocator_stands(monkeypatch: pytest.MonkeyPatch, theirs: str) -> None:
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setitem(os.environ, name, "")  # so that it is put back
        monkeypatch.delenv(name)
    if theirs:
        monkeypatch.setenv(theirs, "backend:native")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert str(torch_networks.device_of(Compute())) == "cuda"
    found = {name: os.environ[name] for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF") if name in os.environ}
    assert found == ({theirs: "backend:native"} if theirs else torch_networks.segments(torch.__version__))


@pytest.mark.parametrize("fails", [False, True])
def test_the_threads_of_others_are_put_back(fails: bool) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with contextlib.suppress(ZeroDivisionError), running(CPU):
            assert torch.get_num_threads() == 1
            if fails:
                raise ZeroDivisionError
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("precision", "dtype"), [("fp32", "float32"), ("bf16", "bfloat16"), ("tf32", "float32")])
def test_the_precision_is_that_of_convolutions_and_is_put_back(precision: Any, dtype: str) -> None:
    before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    convolution = torch.nn.Conv2d(1, 1, 3)
    with running(Compute(device="cpu", precision=precision)):
        answer = convolution(torch.ones(1, 1, 5, 5))
        assert torch.backends.cudnn.allow_tf32 is (precision == "tf32")
        assert torch.backends.cuda.matmul.allow_tf32 is (precision == "tf32")
    assert answer.dtype is getattr(torch, dtype)
    assert not answer.requires_grad
    assert (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32) == before
    assert convolution(torch.ones(1, 1, 5, 5)).requires_grad


@pytest.mark.parametrize("writable", [True, False])
def test_pictures_are_channels_first_in_0_to_1(rng: np.random.Generator, writable: bool) -> None:
    frames = rng.integers(0, 256, (2, 5, 7, 3), dtype=np.uint8)
    frames.flags.writeable = writable
    answer = pictures(frames, torch.device("cpu"))
    assert answer.shape == (2, 3, 5, 7)
    assert answer.dtype is torch.float32
    assert answer.is_contiguous(memory_format=torch.channels_last)
    np.testing.assert_array_equal(answer.numpy(), frames.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255))


def test_pictures_take_every_second_frame_as_well(rng: np.random.Generator) -> None:
    frames = rng.integers(0, 256, (4, 5, 7, 3), dtype=np.uint8)
    np.testing.assert_array_equal(
        pictures(frames[::-2, ::-1], torch.device("cpu")).numpy(),
        frames[::-2, ::-1].transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255),
    )


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_every_network_of_the_table_is_in_it_once() -> None:
    from inpaintbench.eval import flows as raft
    from inpaintbench.eval.metrics import inception
    from inpaintbench.models import lpips_networks

    names = [*lpips_networks.LPIPS_WEIGHTS.values(), inception.WEIGHTS, *raft.RAFT_WEIGHTS]
    assert len(set(names)) == len(names)
    assert all(weights.named(name).file for name in names)
