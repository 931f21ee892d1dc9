"""Released programs as they are, with made-up weights: whether they run, and their own PSNR and SSIM beside ours.

INPAINTBENCH_PROGRAMS=FOLDER python bench/released_programs.py [--quick]

The folder holds clones, ``ProPainter``, ``E2FGVI`` and ``FuseFormer``, into which weights are written; dataset and results lie
beside them, and stay for another time. What `eval layouts env` names has to be installed beside this package, and for E2FGVI its
mmcv.py to lie in the folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inpaintbench import regions, video
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.score_arrays import score_arrays
from inpaintbench.steps import predict_step
from inpaintbench.types import Dataset, Prediction
from inpaintbench.video import bicubic, nearest
from inpaintbench.workspace import Workspace

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from old_format import write_one_file

WIDTH, HEIGHT, FRAMES, CLIPS = 160, 128, 10, 2


class Program(NamedTuple):
    """One to run."""

    folder: str
    method: str
    weights: str
    made: str
    """Python that writes the weights, run in the clone."""
    protocol: str
    """Ours that measures as the program's own script."""
    needed: str


_GENERATOR = "torch.save(importlib.import_module('model.{0}').InpaintGenerator().state_dict(), '{1}')"
PROGRAMS = (
    Program("ProPainter", "propainter", "weights/ProPainter.pth", """
from RAFT import RAFT
from model.recurrent_flow_completion import RecurrentFlowCompleteNet
options = argparse.ArgumentParser()
options.small = options.mixed_precision = options.alternate_corr = False
torch.save(torch.nn.DataParallel(RAFT(options)).state_dict(), 'weights/raft-things.pth')
torch.save(RecurrentFlowCompleteNet().state_dict(), 'weights/recurrent_flow_completion.pth')
""" + _GENERATOR.format("propainter", "weights/ProPainter.pth"), "propainter", "einops, imageio-ffmpeg, matplotlib"),
    Program("E2FGVI", "e2fgvi-hq,weights=e2fgvi_hq.pth", "release_model/e2fgvi_hq.pth", """
from model.modules.flow_comp import SPyNet
state = {name: value for name, value in SPyNet(pretrained=None).state_dict().items() if name not in ('mean', 'std')}
os.makedirs(torch.hub.get_dir() + '/checkpoints', exist_ok=True)
torch.save(state, torch.hub.get_dir() + '/checkpoints/spynet_20210409-c6c1bd09.pth')
""" + _GENERATOR.format("e2fgvi_hq", "release_model/e2fgvi_hq.pth"), "e2fgvi-legacy",
            "matplotlib, our mmcv.py for mmcv-full 1.4.8"),
    Program("FuseFormer", "fuseformer,weights=fuseformer.pth", "fuseformer.pth",
            _GENERATOR.format("fuseformer", "fuseformer.pth"), "e2fgvi-legacy", "matplotlib"),
)  # fmt: skip
# Their measure, of scikit-image below 0.18, by a current one.
THEIRS = """
import sys, numpy, skimage.measure, skimage.metrics
skimage.measure.compare_ssim = lambda a, b, data_range, multichannel, win_size: skimage.metrics.structural_similarity(
    a, b, data_range=data_range, channel_axis=-1, win_size=win_size)
try:
    from core.metrics import calc_psnr_and_ssim
except ImportError:  # FuseFormer's evaluate.py calls scikit-image itself
    def calc_psnr_and_ssim(made, truth):
        ssim = skimage.measure.compare_ssim(made, truth, data_range=255, multichannel=True, win_size=65)
        return skimage.metrics.peak_signal_noise_ratio(truth, made, data_range=255), ssim
clips = numpy.load(sys.argv[1])
print(numpy.mean([calc_psnr_and_ssim(*pair) for pair in zip(clips["made"], clips["truth"])], axis=0).tolist())
"""


def main() -> int:
    print("## Released programs with made-up weights\n")
    clones = Path(os.environ.get("INPAINTBENCH_PROGRAMS", ""))
    if "INPAINTBENCH_PROGRAMS" not in os.environ or "--quick" in sys.argv:
        print("Not measured here: INPAINTBENCH_PROGRAMS names no folder of clones.")
        return 0
    print(
        f"{CLIPS} clips of {WIDTH}x{HEIGHT}, {FRAMES} frames, by `eval run --method NAME --program CLONE`, one thread, on a busy "
        "machine. The code is that of the presets' commits, unchanged. Asked: every frame comes back, and PSNR and SSIM as the "
        "program's own evaluation takes them are ours under its protocol, of the same results at 432x240.\n"
    )
    print("| program | ran | what was needed | seconds a clip | PSNR theirs, ours | SSIM theirs, ours |")
    print("|---|---|---|---|---|---|")
    clones = clones.absolute()
    os.chdir(clones)
    truths, holes = _dataset(Path("DATASET"))
    for program in PROGRAMS:
        if (clones / program.folder).is_dir():
            print(_row(program, clones, truths, holes), flush=True)
    return 0


def _dataset(folder: Path) -> tuple[list[Any], list[Any]]:
    """Waves that move, and a hole that moves with them."""
    folder.mkdir(exist_ok=True)
    row, column = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    truths, holes, rows = [], [], []
    for clip in range(CLIPS):
        waves = [
            (127 + 90 * np.sin(0.05 * column + 0.06 * t + clip), 127 + 80 * np.cos(0.045 * row - 0.05 * t),
             127 + 70 * np.sin(0.03 * (row + column) + 0.1 * t + clip)) for t in range(FRAMES)
        ]  # fmt: skip
        truth = np.round(np.stack([np.stack(wave, -1) for wave in waves])).astype(np.uint8)
        hole = np.zeros(truth.shape[:3], bool)
        for t in range(FRAMES):
            hole[t, 40:76, 50 + 2 * t : 94 + 2 * t] = True
        video.write_lossless(folder / f"truth {clip}.mp4", truth, fps=25.0)
        video.write_hole(folder / f"hole {clip}.mp4", hole, fps=25.0)
        yuv, rgb = video.decoded_hashes(folder / f"truth {clip}.mp4")
        rows.append({
            "item_id": f"item{clip}", "truth_file_name": f"truth {clip}.mp4", "hole_file_name": f"hole {clip}.mp4", "fps": 25.0,
            "frames": FRAMES, "height": HEIGHT, "width": WIDTH, "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb,
            "hole_sha256": f"{clip}", "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test",
            "source_id": f"{clip}",
        })  # fmt: skip
        truths.append(truth)
        holes.append(hole)
    if not (folder / "dataset.json").exists():
        write_one_file(folder, Dataset("tiny", {}, tuple(rows), (), {}, {}, {}))
    return truths, holes


def _row(program: Program, clones: Path, truths: list[Any], holes: list[Any]) -> str:
    clone, protocol = clones / program.folder, PROTOCOLS.get(program.protocol)
    paths = os.pathsep.join([str(clones), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = os.environ | {"OMP_NUM_THREADS": "1", "TORCH_HOME": str(clones / "hub"), "PYTHONPATH": paths}
    head = "import argparse, importlib, os, sys, torch\ntorch.manual_seed(0)\nsys.path.insert(0, os.getcwd())\n"
    if not (clone / program.weights).exists():
        subprocess.run([sys.executable, "-c", head + program.made], cwd=clone, env=env, check=True, stdout=subprocess.DEVNULL)
    method = f"{program.method},python={sys.executable},device=any"
    words = ["eval", "run", "DATASET", "--run", "RUN", "--workers", "1", "--keep-full-frames", "--time-limit", "300"]
    words = [sys.executable, "-m", "inpaintbench", *words, "--method", method, "--program", str(clone)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"| {program.folder} | no: {done.stderr.strip().splitlines()[-1]} | {program.needed} | | | |"
    workspace, seen = Workspace("RUN"), []
    label = program.method.partition(",")[0]
    rows = workspace.table("predictions", Prediction, step=predict_step(label))
    for place, row in enumerate(rows):
        both = video.read_frames(workspace.blobs.path(row.blob)), truths[place]
        made, truth = (bicubic(clip, height=240, width=432) for clip in both)
        hole = nearest(holes[place], height=240, width=432)
        grown = regions.dilate_by_cross(hole, times=protocol.hole_dilations)
        np.savez("clips.npz", made=np.where(grown[..., None], made, truth), truth=truth)
        words = [sys.executable, "-c", THEIRS, str(Path("clips.npz").absolute())]
        told = subprocess.run(words, cwd=clone, env=env, capture_output=True, text=True, check=True)
        ours = [score.value for score in score_arrays(truth, hole, made, protocol=program.protocol, metrics=["psnr", "ssim"])]
        seen.append((*json.loads(told.stdout.splitlines()[-1]), *ours))
    their_psnr, their_ssim, psnr, ssim = np.mean(seen, axis=0)
    logs = [path.read_text() for path in Path("RUN/logs/methods", label).glob("item*.txt")]
    seconds = np.mean([float(text.rstrip().rpartition("after ")[2].removesuffix(" s")) for text in logs])
    values = f"{their_psnr:.5f}, {psnr:.5f} | {their_ssim:.6f}, {ssim:.6f}"
    return f"| {program.folder} | {len(rows)} of {CLIPS} | {program.needed} | {seconds:.0f} | {values} |"


if __name__ == "__main__":
    raise SystemExit(main())
