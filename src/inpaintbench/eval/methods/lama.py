"""LaMa, as a TorchScript file."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute, Device
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.methods.base import Method
from inpaintbench.files import file_sha256
from inpaintbench.models import torch_networks
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class Lama(Method):
    """Fills each frame by itself with LaMa (Suvorov et al., WACV 2022), or another network of that interface, from a TorchScript
    file of yours: pictures ``float32[1, 3, H, W]`` in 0..1 and holes ``float32[1, 1, H, W]``, 1 = hole, give pictures in 0..1.

    Levels are rounded, where the authors' program cuts them off. The beginning of the file's SHA-256 is part of the version.

    Args:
        weights: the TorchScript file.
        sha256: what its bytes must hash to; None = anything.
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: there is no such file, or it has another hash. MissingExtraError: PyTorch is not installed.
    """

    name = "lama"
    version = "1"
    stateless = True
    needs = ("input", "hole")
    divisor: Divisor = 8

    def __init__(self, *, weights: str, sha256: str | None = None, device: Device = "auto") -> None:
        path = Path(weights)
        if not path.is_file():
            raise InputError(f"no file {weights!r} to read LaMa from; give a TorchScript file by weights=")
        self._file = (str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns)
        digest = _sha256(*self._file)
        if sha256 is not None and digest != sha256.lower():
            raise InputError(f"{path.name} has the SHA-256 {digest}, wanted {sha256}; get the right file, or leave sha256 out")
        self._compute = Compute(device=device)
        torch_networks.device_of(self._compute)
        self.version = f"{Lama.version}+{digest[:16]}"

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; a frame that is all hole stays as it is.

        Raises:
            InputError: the file is no TorchScript. NotMeasurable: it fails, or what it gives is no picture of that size.
        """
        filled, hole = view.input.copy(), view.hole
        with torch_networks.running(self._compute) as device:
            network = _network(*self._file, str(device))
            for index in np.flatnonzero(hole.any(axis=(1, 2)) & ~hole.all(axis=(1, 2))):
                missing = hole[index]
                picture = _filled(network, np.where(missing[..., None], np.uint8(0), view.input[index]), missing, device)
                filled[index][missing] = picture[missing]
        return filled


def _filled(network: Any, picture: npt.NDArray[np.uint8], missing: npt.NDArray[np.bool_], device: Any) -> npt.NDArray[np.uint8]:
    """The network's result for one frame, ``uint8[H, W, 3]``."""
    package = torch_networks.torch()
    hole = package.from_numpy(missing.astype(np.float32))[None, None].to(device)
    try:
        given = network(torch_networks.pictures(picture[None], device).contiguous(), hole)
    except (RuntimeError, package.jit.Error) as error:
        lines = str(error).strip().splitlines() or ["no reason given"]
        raise NotMeasurable(f"the network failed: {lines[-1]}") from error
    wanted = (1, 3, *missing.shape)
    if not isinstance(given, package.Tensor) or tuple(given.shape) != wanted:
        shape = tuple(getattr(given, "shape", ())) or type(given).__name__
        raise NotMeasurable(f"the network gave {shape} for a picture of {wanted}; it has not the interface of LaMa")
    levels: npt.NDArray[np.float32] = given[0].permute(1, 2, 0).float().cpu().numpy()
    if not np.isfinite(levels).all():
        raise NotMeasurable("the network gave numbers that are not finite")
    filled: npt.NDArray[np.uint8] = np.rint(255 * np.clip(levels, 0, 1)).astype(np.uint8)
    return filled


@lru_cache(maxsize=4)
def _sha256(path: str, size: int, changed: int) -> str:  # noqa: ARG001 - size and time are part of what is remembered
    return file_sha256(Path(path))


@lru_cache(maxsize=1)
def _network(path: str, size: int, changed: int, device: str) -> Any:  # noqa: ARG001 - as above
    package = torch_networks.torch()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch calls the format old; files of LaMa come in no other
            network = package.jit.load(path, map_location="cpu")
    except (RuntimeError, ValueError, OSError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{Path(path).name} is no TorchScript file: {reason}") from error
    return network.eval().to(device)
