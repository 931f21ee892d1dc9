"""Networks in PyTorch: read once a process, put where they run, and run in the precision that was asked for.

PyTorch is imported only when a network is; everything else works without it.
"""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError, MissingExtraError, NotMeasurable
from inpaintbench.models import weights

_PROCESSOR_BATCH_BYTES = 256 << 20
# Of a graphics card's memory for one batch of one worker; whatever their number, since the batch may change last digits.
_CARD_SHARE = 0.05
# What the extra "eval" brings.
_PACKAGES = ("torch", "torchvision", "lpips", "open_clip")
# Names of parameters -> tensors.
State = Mapping[str, Any]


def torch() -> Any:
    """The package.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import torch as package
    except ImportError as error:
        raise MissingExtraError("measuring with networks", "eval") from error
    return package


def lacking() -> str | None:
    """The first package of the extra "eval" that is not installed, without importing any; None = all are there."""
    return next((name for name in _PACKAGES if importlib.util.find_spec(name) is None), None)


def lacks(names: Sequence[str], compute: Compute) -> dict[str, str]:
    """Those entries of ``weights.toml`` that cannot be used now -> why: ``missing``, ``damaged`` or ``no PACKAGE``."""
    if package := lacking():
        return dict.fromkeys(names, f"no {package}")
    return {} if compute.random_weights is not None else weights.lacks(names)


def check_device(compute: Compute) -> None:
    """Raise ``InputError`` where a device was asked for by name and is not there; says nothing where PyTorch is not there."""
    if compute.device not in ("auto", "cpu") and importlib.util.find_spec("torch") is not None:
        device_of(compute)


def network(
    build: Callable[[], Any], compute: Compute, *, weights_name: str, translate: Callable[[State], State] | None = None
) -> Any:
    """A network with its parameters, in evaluation mode, without gradients, on its device.

    Args:
        build: gives the ``torch.nn.Module`` with the parameters that PyTorch draws for it; a module-level function.
        compute: where and how it runs; with ``random_weights`` it keeps those drawn with that seed.
        weights_name: entry of ``weights.toml``; its file holds a state dict.
        translate: other names for the parameters of that file.

    Raises:
        NotMeasurable: the weights are missing, damaged, or not those of this network; the text says how to get them.
        MissingExtraError: PyTorch is not installed.
    """
    path = None if compute.random_weights is not None else str(weights.path_of(weights_name))
    return _network(build, translate, path, compute.random_weights, str(device_of(compute)))


@lru_cache(maxsize=8)
def _network(
    build: Callable[[], Any], translate: Callable[[State], State] | None, path: str | None, seed: int | None, device: str
) -> Any:
    package = torch()
    with package.random.fork_rng(devices=[]):
        package.default_generator.manual_seed(seed or 0)  # `manual_seed` would touch the generators of CUDA, too
        made = build()
    if path is not None:
        state = read_state(path)
        try:
            made.load_state_dict(translate(state) if translate else state)
        except RuntimeError as error:
            raise NotMeasurable(f"{path.rsplit('/', 1)[-1]} holds no parameters of this network: {_first(error)}") from error
    return made.eval().requires_grad_(False).to(device)


def read_state(path: str) -> State:
    """The tensors of a file of parameters, on the processor; nothing in it is run.

    Raises:
        NotMeasurable: it is no such file, is damaged, or holds other things than named tensors.
    """
    package, name = torch(), path.rsplit("/", 1)[-1]
    try:
        state = package.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise NotMeasurable(
            f"{name} holds more than tensors, or is damaged; it is not read, since that could run code"
        ) from error
    except Exception as error:  # PyTorch promises no kinds: a torn file gives about ten of them
        raise NotMeasurable(f"{name} cannot be read as a file of parameters: {_first(error)}") from error
    if not isinstance(state, Mapping):
        raise NotMeasurable(f"{name} holds a {type(state).__name__}, not named tensors")
    for key, value in state.items():
        if not isinstance(key, str) or not isinstance(value, package.Tensor):
            raise NotMeasurable(f"{name} holds a {type(value).__name__} under {key!r}, not named tensors alone")
    return state


def _first(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".:")


def device_of(compute: Compute) -> Any:
    """The ``torch.device`` that networks run on.

    Raises:
        InputError: the one that was asked for is not there.
    """
    package = torch()
    cuda = package.cuda.is_available()
    name = ("cuda" if cuda else "cpu") if compute.device == "auto" else compute.device
    if name != "cpu" and not (name == "cuda" and cuda):
        raise InputError(f"there is no device {name!r} here; leave --device out, or choose cpu")
    return package.device(name)


def batch_bytes(compute: Compute) -> int:
    """How much the activations of one batch may take: what was asked for, else what suits the device.

    On the processor small batches are as fast as large ones; a graphics card wants many windows at once, and several workers
    share its memory.
    """
    if compute.batch_bytes is not None:
        return compute.batch_bytes
    device = device_of(compute)
    if device.type != "cuda":
        return _PROCESSOR_BATCH_BYTES
    return int(torch().cuda.mem_get_info(device)[1] * _CARD_SHARE)


@contextmanager
def running(compute: Compute) -> Iterator[Any]:
    """Run networks without gradients in the precision of ``compute``; gives the device.

    On the processor one thread is used: workers share the cores, and a sum must not depend on how many there are. Threads and
    precision are put back afterwards.
    """
    package, device = torch(), device_of(compute)
    with ExitStack() as stack:
        if device.type == "cpu":
            stack.callback(package.set_num_threads, package.get_num_threads())
            package.set_num_threads(1)
        stack.enter_context(package.inference_mode())
        # TF32 is PyTorch's default for convolutions: fp32 has to say no.
        before = package.backends.cuda.matmul.allow_tf32, package.backends.cudnn.allow_tf32
        stack.callback(_allow_tf32, *before)
        _allow_tf32(compute.precision == "tf32", compute.precision == "tf32")
        if compute.precision == "bf16":
            stack.enter_context(package.autocast(device.type, dtype=package.bfloat16))
        yield device


def _allow_tf32(products: bool, convolutions: bool) -> None:
    package = torch()
    package.backends.cuda.matmul.allow_tf32, package.backends.cudnn.allow_tf32 = products, convolutions


def pictures(frames: npt.NDArray[Any], device: Any) -> Any:
    """Frames as a network takes them.

    Args:
        frames: ``uint8[N, H, W, 3]`` RGB.
        device: where they go; they travel as bytes.

    Returns:
        ``float32[N, 3, H, W]`` in 0..1, channels last in memory.
    """
    return on_device(frames, device).permute(0, 3, 1, 2).to(torch().float32) / 255


def on_device(array: npt.NDArray[Any], device: Any) -> Any:
    """A tensor of ``array``, of its shape and type, on ``device``.

    To a graphics card it goes through pinned memory, so that the processor need not wait until it has arrived.
    """
    tensor = torch().from_numpy(np.require(array, requirements=["C", "W"]))  # PyTorch warns of arrays that cannot be written
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
