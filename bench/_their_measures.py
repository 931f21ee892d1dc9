"""Measures of released programs as their own evaluation takes them: what `bench/released_programs.py` has their Python run.

In a clone: python _their_measures.py CLIPS.npz I3D.pt prints PSNR, SSIM and VFID by the functions of E2FGVI's and ProPainter's
core/metrics.py, or of FuseFormer's evaluate.py; python _their_measures.py pictures ... is LaMa's evaluate_predicts.py.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import skimage.measure
import skimage.metrics


def _as_of_then() -> None:
    """Give current packages what those of the programs' years had, and LaMa's table all digits."""
    root = scipy.linalg.sqrtm
    scipy.linalg.sqrtm = lambda matrix, disp=True: root(matrix) if disp else (root(matrix), 0.0)
    skimage.measure.compare_ssim = _ssim
    if Path("bin/evaluate_predicts.py").exists():
        import_module("tqdm.auto")  # which its evaluator takes from tqdm without importing it
        frame: Any = import_module("pandas").DataFrame
        write = frame.to_csv
        frame.to_csv = lambda table, path, float_format=None, **options: write(table, path, **options)  # noqa: ARG005


def _ssim(made: Any, truth: Any, *, data_range: float, multichannel: bool, win_size: int) -> Any:
    axis = -1 if multichannel else None
    return skimage.metrics.structural_similarity(made, truth, data_range=data_range, channel_axis=axis, win_size=win_size)


def of_clips(path: str, parameters: str) -> dict[str, float]:
    """Means over all frames, and the distance of the clips."""
    import torch
    from PIL import Image

    clips = np.load(path)
    if Path("core/metrics.py").exists():
        own: Any = import_module("core.metrics")
        quality, distance = own.calc_psnr_and_ssim, own.calculate_vfid
    else:  # FuseFormer, whose main function calls scikit-image for two of them
        sys.argv = ["evaluate.py", "-c", ""]
        own = import_module("evaluate")
        distance = own.get_fid_score

        def quality(truth: Any, made: Any) -> tuple[float, float]:
            ssim = skimage.measure.compare_ssim(made, truth, data_range=255, multichannel=True, win_size=65)
            return float(skimage.metrics.peak_signal_noise_ratio(truth, made, data_range=255)), ssim

    network = own.InceptionI3d(400, in_channels=3, final_endpoint="Logits")
    network.load_state_dict(torch.load(parameters))

    def features(clip: Any) -> Any:
        pictures = [Image.fromarray(frame) for frame in clip]
        if hasattr(own, "calculate_i3d_activations"):
            return own.calculate_i3d_activations(pictures, pictures, network, device="cpu")[0]
        own.i3d_model = network  # it would load one onto a card
        return own.get_i3d_activations(own._to_tensors(pictures).unsqueeze(0)).numpy().flatten()

    frames = [pair for clip in zip(clips["truth"], clips["made"]) for pair in zip(*clip)]  # noqa: B905 - their Python may be old
    psnr, ssim = np.mean([quality(*pair) for pair in frames], axis=0)
    vfid = distance(*([features(clip) for clip in clips[name]] for name in ("truth", "made")))
    return {"psnr": float(psnr), "ssim": float(ssim), "vfid": float(vfid)}


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    _as_of_then()
    if sys.argv[1] == "pictures":
        del sys.argv[1]
        runpy.run_path("bin/evaluate_predicts.py", run_name="__main__")
    else:
        print(json.dumps(of_clips(*sys.argv[1:])))
