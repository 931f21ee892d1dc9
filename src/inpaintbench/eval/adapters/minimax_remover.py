"""MiniMax-Remover as a callable: networks stay loaded, clips keep size and length, and nothing is written as a video."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.layouts import FramesRule
from inpaintbench.types import Frames, Hole

_PIPELINE, _TRANSFORMER = "pipeline_minimax_remover", "transformer_minimax_remover"
# Its networks take a latent frame for every fourth frame, and for the first.
_FRAMES = FramesRule(step=4, offset=1)


class MiniMaxRemover:
    """Removes what is in the hole, by the pipeline in a clone of zibojia/MiniMax-Remover (read at 28e12b4) on an NVIDIA card.

    Its script takes 81 frames of 832x480 and writes MP4; the pipeline itself takes other sizes and lengths. The constants
    are the script's.

    Args:
        program: the clone, with ``vae/``, ``transformer/`` and ``scheduler/`` in it.
        seed: of its noise.
        steps: of the denoising.
        grown: how often it grows the hole by a cross of 3x3.

    Raises:
        InputError: it is no such clone, or packages are missing.
    """

    divisor = 16

    def __init__(self, *, program: str, seed: int = 42, steps: int = 12, grown: int = 6) -> None:
        folder = Path(program).absolute()
        for name in (f"{_PIPELINE}.py", "vae", "transformer", "scheduler"):
            if not (folder / name).exists():
                raise InputError(f"{program!r} is no clone of MiniMax-Remover with its weights: it has no {name}")
        sys.path.insert(0, str(folder))
        try:
            self._torch: Any = importlib.import_module("torch")
            models, schedulers = (importlib.import_module(f"diffusers.{name}") for name in ("models", "schedulers"))
            pipeline, transformer = importlib.import_module(_PIPELINE), importlib.import_module(_TRANSFORMER)
        except ImportError as error:
            raise InputError(f"MiniMax-Remover needs what its requirements.txt names: {error}") from error
        half = {"torch_dtype": self._torch.float16}
        self._pipeline: Any = pipeline.Minimax_Remover_Pipeline(
            transformer=transformer.Transformer3DModel.from_pretrained(str(folder / "transformer"), **half),
            vae=models.AutoencoderKLWan.from_pretrained(str(folder / "vae"), **half),
            scheduler=schedulers.UniPCMultistepScheduler.from_pretrained(str(folder / "scheduler")),
        )
        self._pipeline.to("cuda:0")
        self._seed, self._steps, self._grown = seed, steps, grown

    def __call__(self, frames: Frames, hole: Hole | None) -> Frames:
        """Frames ``uint8[T, H, W, 3]``, all of them its own; the last is repeated up to 4n+1 and cut off again."""
        if hole is None:
            raise NotMeasurable("MiniMax-Remover takes a hole, which this benchmark hides")
        order = _FRAMES.order(len(frames))
        made = self._pipeline(
            images=self._torch.from_numpy(frames[order] / np.float32(127.5) - 1),
            masks=self._torch.from_numpy(hole[order][..., None].astype(np.float32)),
            num_frames=len(order),
            height=frames.shape[1],
            width=frames.shape[2],
            num_inference_steps=self._steps,
            generator=self._torch.Generator(device="cuda:0").manual_seed(self._seed),
            iterations=self._grown,
        ).frames[0]
        filled: Frames = np.rint(np.clip(made, 0, 1) * 255).astype(np.uint8)
        return filled[: len(frames)]
