"""Loading and running of PyTorch networks: cached per process, on the selected device, in the selected precision.

PyTorch is imported lazily; everything else works without it.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import attribute_at
from inpaintbench.compute import Compute, Precision, Shared
from inpaintbench.errors import InputError, MissingExtraError, NotMeasurable
from inpaintbench.models import weights
from inpaintbench.models.weights import Brought

# On a CPU larger batches are no faster.
_CPU_BATCH_BYTES = 256 << 20
# Share of a GPU's memory for one batch of one worker; independent of the number of workers, since the batch size may change the
# last digits of results.
_GPU_SHARE = 0.05
# Of each of the two buffers that a process copies through: a frame of 4K, and long enough to be worth a copy.
_STAGE_BYTES = 32 << 20
# Bytes of every array that became a tensor of the device, for tests and benches; the latest ones.
UPLOADS: deque[int] = deque(maxlen=10_000)
# Where the drivers of NVIDIA show a card, on Linux and in its Windows form.
_CARDS = (Path("/dev/nvidia0"), Path("/dev/dxg"))
# Where Linux tells what a processor can do.
_PROCESSOR = Path("/proc/cpuinfo")
# Packages of the extra "eval".
_PACKAGES = ("torch", "torchvision", "lpips", "open_clip")
# State dict: parameter names -> tensors.
State = Mapping[str, Any]


def torch() -> Any:
    """Import the package ``torch``.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import torch as package
    except ImportError as error:
        raise MissingExtraError("measuring with networks", "eval") from error
    return package


def lacking() -> str | None:
    """First package of the extra "eval" that is not installed; None = all are. Imports none of them."""
    return next((name for name in _PACKAGES if importlib.util.find_spec(name) is None), None)


def lacks(names: Sequence[str], compute: Compute) -> dict[str, str]:
    """Entries of ``weights.toml`` that cannot be used now -> reason: ``missing``, ``damaged`` or ``no PACKAGE``."""
    if package := lacking():
        return dict.fromkeys(names, f"no {package}")
    return {} if compute.random_weights is not None else weights.lacks(names)


def check_device(compute: Compute) -> None:
    """Raise ``InputError`` if a device was requested by name and does not exist; pass without PyTorch."""
    if compute.device not in ("auto", "cpu") and importlib.util.find_spec("torch") is not None:
        device_of(compute)


def network(
    build: Callable[..., Any] | str,
    compute: Compute,
    *,
    weights_name: str = "",
    brought: Brought | None = None,
    translate: Callable[[State], State] | None = None,
    read: Callable[[str], State] | None = None,
    **shape: Any,
) -> Any:
    """Load a network with its parameters, in evaluation mode, without gradients, on its device.

    Args:
        build: builds the ``torch.nn.Module`` with random parameters; part of the cache's key, so a module-level function, or
            ``module:Class`` of a module that imports PyTorch.
        compute: device and precision; with ``random_weights`` the network keeps the parameters drawn with that seed.
        weights_name: entry of ``weights.toml``; its file holds a state dict.
        brought: the user's file of a state dict, in place of an entry.
        translate: converts that state dict to the one of the module.
        read: reads the file, by default as ``read_state``.
        shape: what ``build`` is given.

    Raises:
        NotMeasurable: the weights are missing, damaged, or not those of this network; the text says how to get them.
        MissingExtraError: PyTorch is not installed.
    """
    path = None
    if compute.random_weights is None:
        path = weights.path_of(weights_name) if brought is None else brought.path()
    changed = 0 if path is None else path.stat().st_mtime_ns
    device = str(device_of(compute))
    return _network(build, tuple(shape.items()), translate, read, path and str(path), changed, compute.random_weights, device)


@lru_cache(maxsize=8)
def _network(
    build: Callable[..., Any] | str,
    shape: tuple[tuple[str, Any], ...],
    translate: Callable[[State], State] | None,
    read: Callable[[str], State] | None,
    path: str | None,
    changed: int,  # noqa: ARG001 - the time is part of the cache's key
    seed: int | None,
    device: str,
) -> Any:
    package = torch()
    with package.random.fork_rng(devices=[]):
        package.default_generator.manual_seed(seed or 0)  # `torch.manual_seed` would seed the generators of CUDA, too
        module = (attribute_at(build) if isinstance(build, str) else build)(**dict(shape))
    if path is not None:
        try:
            state = (read or read_state)(path)
            module.load_state_dict(translate(state) if translate else state)
        except RuntimeError as error:
            raise NotMeasurable(f"{path.rsplit('/', 1)[-1]} holds no parameters of this network: {_first(error)}") from error
    return module.eval().requires_grad_(False).to(device)


def read_state(path: str) -> State:
    """Read a state dict from a file, on the CPU, without running code in it.

    Raises:
        NotMeasurable: the file is damaged, of another kind, or holds anything but named tensors.
    """
    package, name = torch(), path.rsplit("/", 1)[-1]
    try:
        state = package.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise NotMeasurable(
            f"{name} holds more than tensors, or is damaged; it is not read, since that could run code"
        ) from error
    except Exception as error:  # undocumented by PyTorch: damaged files raise about ten kinds
        raise NotMeasurable(f"{name} cannot be read as a file of parameters: {_first(error)}") from error
    if not isinstance(state, Mapping):
        raise NotMeasurable(f"{name} holds a {type(state).__name__}, not named tensors")
    for key, value in state.items():
        if not isinstance(key, str) or not isinstance(value, package.Tensor):
            raise NotMeasurable(f"{name} holds a {type(value).__name__} under {key!r}, not named tensors alone")
    return state


def _first(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".:")


def on_card(compute: Compute) -> bool:
    """Return whether networks will run on a graphics card, as far as can be told without PyTorch: whoever imports it here pays
    for it, and workers would find a driver that is in use."""
    if compute.device == "cpu" or lacking() or os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    return compute.device == "cuda" or any(path.exists() for path in _CARDS)


def faster(compute: Compute) -> Precision | None:
    """Return the format of fewer digits in which networks take less time here, as far as can be told without PyTorch.

    On a processor bfloat16 wins with units for products of matrices (AMX) alone: by AVX-512 it takes 1.1 to 1.7 times the time of
    float32 (`bench/lpips_speed.py`).
    """
    if on_card(compute):
        return "tf32"
    if compute.device == "cuda" or lacking():
        return None
    with suppress(OSError):
        return "bf16" if " amx_bf16 " in _PROCESSOR.read_text().replace("\n", " ") else None
    return None


def segments(version: str) -> dict[str, str]:
    """Setting of the environment for PyTorch ``version``, so that freed memory of a card fits requests of other sizes, too."""
    known = tuple(int(part) for part in version.split(".")[:2])
    name = "PYTORCH_ALLOC_CONF" if known >= (2, 9) else "PYTORCH_CUDA_ALLOC_CONF"
    return {name: "expandable_segments:True"} if known >= (2, 1) else {}


def device_of(compute: Compute) -> Any:
    """Select the ``torch.device`` that networks run on.

    Raises:
        InputError: the requested device does not exist.
    """
    package = torch()
    cuda = package.cuda.is_available()
    name = ("cuda" if cuda else "cpu") if compute.device == "auto" else compute.device
    if name != "cpu" and not (name == "cuda" and cuda):
        raise InputError(f"there is no device {name!r} here; leave --device out, or choose cpu")
    # PyTorch reads it when something is first put on the card; what somebody else has set stands.
    if name == "cuda" and not {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"} & set(os.environ):
        os.environ.update(segments(package.__version__))
    return package.device(name)


def batch_bytes(compute: Compute) -> int:
    """Memory for the activations of one batch: the requested one, else a default for the device.

    On a CPU small batches are as fast as large ones; a GPU wants many windows at once, and several workers share its memory.
    """
    if compute.batch_bytes is not None:
        return compute.batch_bytes
    device = device_of(compute)
    if device.type != "cuda":
        return _CPU_BATCH_BYTES
    return int(torch().cuda.mem_get_info(device)[1] * _GPU_SHARE)


@contextmanager
def running(compute: Compute) -> Iterator[Any]:
    """Context of inference without gradients in the precision of ``compute``; yields the device.

    On a CPU one thread is used: workers share the cores, and a sum must not depend on their number. Threads and precision are
    restored afterwards.
    """
    package, device = torch(), device_of(compute)
    with ExitStack() as stack:
        if device.type == "cpu":
            stack.callback(package.set_num_threads, package.get_num_threads())
            package.set_num_threads(1)
        stack.enter_context(package.inference_mode())
        # PyTorch enables TF32 for convolutions by default, so that fp32 has to disable it.
        for backend in (package.backends.cuda.matmul, package.backends.cudnn):
            stack.callback(setattr, backend, "allow_tf32", backend.allow_tf32)
            backend.allow_tf32 = compute.precision == "tf32"
        if compute.precision == "bf16":
            stack.enter_context(package.autocast(device.type, dtype=package.bfloat16))
        yield device


def pictures(frames: npt.NDArray[Any], device: Any) -> Any:
    """Convert frames to a network's input.

    Args:
        frames: ``uint8[N, H, W, 3]`` RGB.
        device: of the result; frames are copied to it as bytes, a quarter of their size as float32.

    Returns:
        ``float32[N, 3, H, W]`` in 0..1, channels last in memory.
    """
    return as_pictures(on_device(frames, device))


def as_pictures(frames: Any) -> Any:
    """``pictures`` of frames that are on the device already, ``uint8[N, H, W, 3]``."""
    return frames.contiguous().permute(0, 3, 1, 2).to(torch().float32) / 255


def resident(frames: npt.NDArray[np.uint8], shared: Shared, device: Any) -> Any:
    """A clip, ``uint8[T, H, W, 3]``, on ``device``, where all networks slice it; it stays while its item is measured."""
    return shared.once_of([frames], ("resident", str(device)), lambda: on_device(frames, device))


def few_shapes(compute: Compute) -> bool:
    """Return whether parts of frames are grown to few sizes."""
    return device_of(compute).type != "cpu" if compute.few_shapes is None else compute.few_shapes


def on_device(array: npt.NDArray[Any], device: Any) -> Any:
    """Tensor of ``array``, of its shape and dtype, on ``device``; nobody may write into it.

    On the CPU it is the array itself, where that lies in order. Everything that networks read passes here: ``UPLOADS`` counts it.
    """
    UPLOADS.append(array.nbytes)
    with warnings.catch_warnings():  # decoded frames are read-only, which PyTorch warns of; networks only read
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        tensor = torch().from_numpy(np.ascontiguousarray(array))
    return tensor if device.type == "cpu" else _stage(device).to_device(tensor)


class Stage:
    """Two pinned buffers through which all copies to a card go, piece by piece: the CPU fills one while the other travels.

    Pinning a page costs more than copying it, and a clip's worth of pinned pages is lost to every other process.

    Args:
        device: where to.
        buffer_bytes: of each buffer.
    """

    def __init__(self, device: Any, *, buffer_bytes: int) -> None:
        package, is_card = torch(), device.type == "cuda"
        self.device = device
        self.buffers = [package.empty(buffer_bytes, dtype=package.uint8, pin_memory=is_card) for _ in range(2)]
        self._left = [package.cuda.Event() if is_card else None for _ in self.buffers]
        """Marks of each buffer: what was last in it is on the card."""

    def to_device(self, tensor: Any) -> Any:
        """Copy of a contiguous tensor of the CPU; the card may still be waiting for it when this returns."""
        package = torch()
        target = package.empty_like(tensor, device=self.device)
        source, there = (one.reshape(-1).view(package.uint8) for one in (tensor, target))
        places = range(0, len(source), len(self.buffers[0]))
        for begin, buffer, left in zip(places, cycle(self.buffers), cycle(self._left), strict=False):
            piece = source[begin : begin + len(buffer)]
            if left:
                left.synchronize()
            buffer[: len(piece)].copy_(piece)
            there[begin : begin + len(piece)].copy_(buffer[: len(piece)], non_blocking=True)
            if left:
                left.record()
        return target


@lru_cache
def _stage(device: Any) -> Stage:
    return Stage(device, buffer_bytes=_STAGE_BYTES)
