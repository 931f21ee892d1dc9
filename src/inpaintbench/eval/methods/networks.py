"""Fillings by networks of yours: LaMa as a TorchScript file, and Stable Diffusion through the package diffusers."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from inpaintbench.compute import Compute, Device
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.fitting import Divisor
from inpaintbench.eval.methods.base import EachFrame, Method
from inpaintbench.files import file_sha256, measured_sha256
from inpaintbench.models import torch_networks
from inpaintbench.ranges import Amount, AtLeastOne, Seed
from inpaintbench.types import Frames, content_id
from inpaintbench.view import ItemView

Numbers = Literal["float32", "float16", "bfloat16"]
_PACKAGES = ("diffusers", "transformers")
_INDEX = "model_index.json"
_CONFIGURATIONS = (".json", ".txt")


class Lama(EachFrame):
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
    divisor: Divisor = 8

    def __init__(self, *, weights: str, sha256: str | None = None, device: Device = "auto") -> None:
        path = Path(weights)
        if not path.is_file():
            raise InputError(f"no file {weights!r} to read LaMa from; give a TorchScript file by weights=")
        self._file = (str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns)
        digest = measured_sha256(path)
        if sha256 is not None and digest != sha256.lower():
            raise InputError(f"{path.name} has the SHA-256 {digest}, wanted {sha256}; get the right file, or leave sha256 out")
        self._compute = Compute(device=device)
        torch_networks.device_of(self._compute)
        self._running: Any = None
        """The network and its device, while a clip is filled."""
        self.version = f"{Lama.version}+{digest[:16]}"

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; a frame that is all hole stays as it is.

        Raises:
            InputError: the file is no TorchScript. NotMeasurable: it fails, or what it gives is no picture of that size.
        """
        with torch_networks.running(self._compute) as device:
            # Here, and not in ``fill``: a file that is none is told of a clip without a hole, too.
            self._running = _network(*self._file, str(device)), device
            return super().inpaint(view)

    def fill(self, picture: Frames, missing: npt.NDArray[np.bool_]) -> Frames:
        """The network's result for one frame, ``uint8[H, W, 3]``."""
        (network, device), package = self._running, torch_networks.torch()
        hole = package.from_numpy(missing.astype(np.float32))[None, None].to(device)
        black = np.where(missing[..., None], np.uint8(0), picture)
        try:
            given = network(torch_networks.pictures(black[None], device).contiguous(), hole)
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
        return np.rint(255 * np.clip(levels, 0, 1)).astype(np.uint8)


@lru_cache(maxsize=1)
def _network(path: str, size: int, changed: int, device: str) -> Any:  # noqa: ARG001 - size and time are part of what is remembered
    package = torch_networks.torch()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch calls the format old; files of LaMa come in no other
            network = package.jit.load(path, map_location="cpu")
    except (RuntimeError, ValueError, OSError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{Path(path).name} is no TorchScript file: {reason}") from error
    return network.eval().to(device)


class StableDiffusion(Method):
    """Fills each frame by itself with a diffusion model for inpainting, in the folder layout of the package diffusers.

    Nothing is downloaded, and of parameters only safetensors files are read, which cannot run code. The noise is drawn on the
    processor from ``seed``, anew for each frame, so that it depends neither on the device nor on the other frames. The versions
    of the packages and an identity of the folder are part of this method's version. The checker that blackens pictures is left
    out: a black picture would be scored as what the model made.

    Args:
        model: folder with ``model_index.json``.
        prompt: what to fill with; empty = what suits.
        negative_prompt: what not to fill with; only with ``guidance`` above 1.
        steps: of denoising.
        guidance: scale of classifier-free guidance.
        strength: share of the noise that the hole starts from, above 0 up to 1.
        seed: of the noise.
        numbers: "float32", "float16" or "bfloat16".
        device: "auto", "cpu" or "cuda".

    Raises:
        InputError: a constant out of its range, no such folder, or the packages diffusers and transformers are not installed.
        MissingExtraError: PyTorch is not installed.
    """

    name = "stable_diffusion"
    version = "1"
    stateless = True
    needs = ("input", "hole")
    divisor: Divisor = 8

    def __init__(
        self,
        *,
        model: str,
        prompt: str = "",
        negative_prompt: str = "",
        steps: AtLeastOne = 50,
        guidance: Amount = 7.5,
        strength: Amount = 1.0,
        seed: Seed = 0,
        numbers: Numbers = "float32",
        device: Device = "auto",
    ) -> None:
        if lacking := [name for name in _PACKAGES if importlib.util.find_spec(name) is None]:
            raise InputError(f'filling with "stable_diffusion" needs {" and ".join(lacking)}: pip install {" ".join(_PACKAGES)}')
        if not Path(model, _INDEX).is_file():
            raise InputError(f"no folder {model!r} with a {_INDEX}; save a model in the layout of diffusers and give its folder")
        if steps < 1 or not 0 < strength <= 1:
            raise InputError(f"steps is {steps} and strength {strength}, choose steps from 1 up and a strength above 0 up to 1")
        if numbers not in get_args(Numbers):
            raise InputError(f"there are no numbers {numbers!r} here: choose one of {', '.join(get_args(Numbers))}")
        self._folder, self._numbers, self._compute, self._seed = str(Path(model).resolve()), numbers, Compute(device=device), seed
        torch_networks.device_of(self._compute)
        self._asked = {
            "prompt": prompt,
            "negative_prompt": negative_prompt or None,
            "num_inference_steps": steps,
            "guidance_scale": guidance,
            "strength": strength,
        }
        installed = "+".join(f"{name}-{importlib.metadata.version(name)}" for name in _PACKAGES)
        self.version = f"{StableDiffusion.version}+{installed}+{_identity(self._folder)}"

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]``; a frame that is all hole is filled, too.

        Raises:
            InputError: the folder cannot be loaded. NotMeasurable: what the model gives is no picture of that size.
        """
        from PIL import Image

        filled, hole = view.input.copy(), view.hole
        with torch_networks.running(self._compute) as device:
            pipeline = _pipeline(self._folder, self._numbers, str(device))
            for index in np.flatnonzero(hole.any(axis=(1, 2))):
                missing = hole[index]
                given = pipeline(
                    image=Image.fromarray(np.where(missing[..., None], np.uint8(0), view.input[index])),
                    mask_image=Image.fromarray(missing.astype(np.uint8) * 255),
                    height=view.height,
                    width=view.width,
                    generator=torch_networks.torch().Generator("cpu").manual_seed(self._seed),
                    output_type="np",
                    **self._asked,
                ).images[0]
                if given.shape != view.input.shape[1:] or not np.isfinite(given).all():
                    raise NotMeasurable(f"the model gave {given.shape}, wanted {view.input.shape[1:]} and finite numbers")
                filled[index][missing] = np.rint(255 * np.clip(given[missing], 0, 1)).astype(np.uint8)
        return filled


@lru_cache(maxsize=4)
def _identity(folder: str) -> str:
    """16 hex digits of every file's name and size, and of the bytes of those that configure the model."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    hashes = [file_sha256(path) if path.suffix in _CONFIGURATIONS else "" for path in files]
    facts = [
        [path.relative_to(folder).as_posix(), path.stat().st_size, digest] for path, digest in zip(files, hashes, strict=True)
    ]
    return content_id("diffusers", facts)


@lru_cache(maxsize=1)
def _pipeline(folder: str, numbers: Numbers, device: str) -> Any:
    package = torch_networks.torch()
    parts = json.loads(Path(folder, _INDEX).read_text())
    without = {"safety_checker": None, "requires_safety_checker": False} if "safety_checker" in parts else {}
    try:
        pipeline = importlib.import_module("diffusers").AutoPipelineForInpainting.from_pretrained(
            folder, torch_dtype=getattr(package, numbers), local_files_only=True, use_safetensors=True, **without
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{Path(folder).name} cannot be loaded as a model for inpainting: {reason}") from error
    pipeline.set_progress_bar_config(disable=True)
    return pipeline.to(device)
