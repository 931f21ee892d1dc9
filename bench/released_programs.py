"""Released programs as they are, with made-up weights: whether they run by their presets, and their own measures beside ours.

INPAINTBENCH_PROGRAMS=FOLDER INPAINTBENCH_TEST_ASSETS=ASSETS python bench/released_programs.py [--quick]

FOLDER/clones holds clones of the repositories, at the presets' commits: ``FuseFormer``, ``E2FGVI``, ``ProPainter``, ``lama`` and
``DiffuEraser``, or some of them. FOLDER/envs/PRESET is the environment of each: what `eval layouts env PRESET` names (of
``diffueraser``: its requirements.txt), with scikit-image and scipy for the measures. Weights are written into the clones and
FOLDER/made, dataset and results beside them; all that stay for another time.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import inpaintbench as ib
from inpaintbench import frozen, video
from inpaintbench.compute import Compute
from inpaintbench.eval.adapters.environments import beside
from inpaintbench.models import weights
from inpaintbench.steps import predict_step
from inpaintbench.types import Prediction
from inpaintbench.workspace import Workspace

# Clips of the test assets, and the moving object that hides a part of each.
CLIPS = {
    "palmtrees": ("scenery-cc0-hhoppe/palmtrees_loop_512.mp4", "goat"),
    "flower": ("scenery-cc0-mdn/flower.mp4", "blackswan"),
}
MASKS, FRAMES = "masks/masks-davis2017-osvos/results/semi-supervised/osvos", 6
LIMIT_SECONDS = 7200


class Program(NamedTuple):
    """One to run, from its clone of a folder, with weights in some place of it."""

    title: str
    folder: str
    preset: str
    weights: str
    """Those that the method is told, "" where the program finds them."""
    protocol: str
    """Ours that measures as the program's own evaluation; "" where it has none of its own."""
    needed: str


PROGRAMS = (
    Program("FuseFormer", "FuseFormer", "fuseformer", "fuseformer.pth", "e2fgvi", "its environment file"),
    Program("E2FGVI", "E2FGVI", "e2fgvi", "e2fgvi.pth", "e2fgvi", "its environment file, with mmcv.py"),
    Program("E2FGVI-HQ", "E2FGVI", "e2fgvi-hq", "e2fgvi_hq.pth", "e2fgvi", "its environment file, with mmcv.py"),
    Program("ProPainter", "ProPainter", "propainter", "", "propainter", "its environment file"),
    Program("LaMa", "lama", "lama", "{made}/big-lama", "lama", "its environment file, Python 3.10"),
    Program(
        "DiffuEraser",
        "DiffuEraser",
        "diffueraser",
        "",
        "",
        "its requirements.txt with torch 2.6, Python 3.10; diffusion of 32 channels",
    ),
)
BENCH = Path(__file__).resolve().parent


def main() -> int:
    print("## Released programs with made-up weights\n")
    given = [os.environ.get(name) for name in ("INPAINTBENCH_PROGRAMS", "INPAINTBENCH_TEST_ASSETS")]
    if not all(given) or "--quick" in sys.argv:
        print("Not measured here: INPAINTBENCH_PROGRAMS names no folder of clones, or INPAINTBENCH_TEST_ASSETS no clips.")
        return 0
    folder, assets = (Path(str(name)).absolute() for name in given)
    there = [program for program in PROGRAMS if (folder / "clones" / program.folder).is_dir()]
    made = folder / "made"
    made.mkdir(parents=True, exist_ok=True)
    (made / "mmcv.py").write_text(beside("e2fgvi")["mmcv.py"], encoding="utf-8")
    _networks(made)
    dataset = _dataset(folder, assets)
    print(
        f"{len(CLIPS)} clips of 432x240, {FRAMES} frames, of films and of moving objects' masks, by `build benchmark` and "
        "`eval run --method PRESET --program CLONE`; one thread, on a busy machine. The code is that of the presets' commits, "
        "unchanged.\n"
    )
    print("| program | ran | with | seconds a clip |\n|---|---|---|---|")
    for program in there:
        print(_ran(program, folder, dataset), flush=True)
    print(
        "\nTheir own measures of those results beside ours: the functions of E2FGVI's, ProPainter's and FuseFormer's evaluation, "
        "and LaMa's whole `evaluate_predicts.py`. Both sides read the same files of made-up I3D, VGG-16 and Inception.\n"
    )
    print("| program | measure | theirs | ours | relative difference |\n|---|---|---|---|---|")
    for program in there:
        for row in _measures(program, folder, dataset) if program.protocol else ():
            print(row, flush=True)
    return 0


def _networks(made: Path) -> None:
    """Files of parameters in their published forms, which this package then takes for the published ones."""
    import torch
    from torchvision.models import vgg16

    from inpaintbench.models.i3d_network import Parameters
    from inpaintbench.models.inception_layers import Inception

    checkpoints = made / "hub" / "checkpoints"
    checkpoints.mkdir(parents=True, exist_ok=True)
    weights.path_of = lambda name: checkpoints / weights.named(name).file
    classes = {"fc.weight": torch.zeros(1008, 2048), "fc.bias": torch.zeros(1008)}
    for name, build, more in (
        ("i3d-rgb-imagenet", Parameters, {}), ("vgg16", vgg16, {}), ("inception-fid", Inception, classes),
    ):  # fmt: skip
        torch.manual_seed(0)
        if not weights.path_of(name).exists():
            torch.save({**build().state_dict(), **more}, weights.path_of(name))


def _dataset(folder: Path, assets: Path) -> Path:
    for name, (film, mask) in CLIPS.items():
        sources = folder / "CLIPS" / name, folder / "MASKS" / name
        for source in sources:
            source.mkdir(parents=True, exist_ok=True)
        for place, frame in enumerate(video.read_frames(assets / "videos/scenery" / film)[:FRAMES]):
            video.write_image(sources[0] / f"{place:05d}.png", frame)
            (sources[1] / f"{place:05d}.png").write_bytes((assets / MASKS / mask / f"{place:05d}.png").read_bytes())
    words = ["build", "benchmark", "--clips", "CLIPS", "--masks", "MASKS", "--out", "WORKSPACE", "--workers", "1"]
    subprocess.run([sys.executable, "-m", "inpaintbench", *words], cwd=folder, check=True, capture_output=True)
    return folder / "WORKSPACE" / "exports" / "benchmark"


def _environment(folder: Path, **more: str) -> dict[str, str]:
    paths = os.pathsep.join(filter(None, [str(folder / "made"), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_HOME": str(folder / "made"), "PYTHONPATH": paths, **more}


def _python(program: Program, folder: Path) -> str:
    return str(folder / "envs" / program.preset / "bin" / "python")


def _ran(program: Program, folder: Path, dataset: Path) -> str:
    """Make the weights, run the program, and tell of it."""
    clone, made, env = folder / "clones" / program.folder, folder / "made", _environment(folder)
    if not (made / f"{program.preset}.done").exists():
        words = [_python(program, folder), str(BENCH / "_made_weights.py"), program.preset, str(made)]
        subprocess.run(words, cwd=clone, env=env, check=True, capture_output=True)
        (made / f"{program.preset}.done").touch()
    weights_given = f",weights={program.weights.format(made=made)}" if program.weights else ""
    method = f"{program.preset}{weights_given},python={_python(program, folder)},device=any"
    words = ["eval", "run", str(dataset), "--run", f"RUN/{program.preset}", "--workers", "1", "--time-limit", str(LIMIT_SECONDS)]
    words += ["--method", method, "--program", str(clone)]
    done = subprocess.run(
        [sys.executable, "-m", "inpaintbench", *words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    logs_of = folder / "RUN" / program.preset / "logs/methods" / program.preset
    logs = [path.read_text() for path in logs_of.glob("*.txt") if path.stem != "made clip"]  # which the check before a run makes
    if done.returncode or not logs:
        return f"| {program.title} | no: {done.stderr.strip().splitlines()[-1]} | {program.needed} | |"
    seconds = np.mean([float(text.rstrip().rpartition("after ")[2].removesuffix(" s")) for text in logs])
    ran = sum(1 for _ in _results(program, folder, dataset))
    return f"| {program.title} | {ran} of {len(CLIPS)} | {program.needed} | {seconds:.0f} |"


def _results(program: Program, folder: Path, dataset: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Truth, hole, and the truth with the program's result in the hole, of each item."""
    run = Workspace(folder / "RUN" / program.preset)
    blobs = {row.item_id: row.blob for row in run.table("predictions", Prediction, step=predict_step(program.preset))}
    for row in frozen.load(dataset).items:
        if blobs.get(row["item_id"]):
            truth, hole = frozen.truth_and_hole(dataset, row)
            yield truth, hole, np.where(hole[..., None], video.read_frames(run.blobs.path(blobs[row["item_id"]])), truth)


def _measures(program: Program, folder: Path, dataset: Path) -> Iterator[str]:
    results = list(_results(program, folder, dataset))
    theirs = (_of_pictures if program.protocol == "lama" else _of_videos)(program, folder, results)
    for name, value in theirs.items():
        metric = getattr(ib.metrics, name).over_batches(protocol=program.protocol, compute=Compute(device="cpu"))
        for truth, hole, made in results:
            metric.add(truth, made, hole)
        ours = metric.value()
        yield f"| {program.title} | {name} | {value:.8g} | {ours:.8g} | {abs(ours - value) / abs(value):.1g} |"


def _of_videos(program: Program, folder: Path, results: list[tuple[Any, Any, Any]]) -> dict[str, float]:
    path = folder / "clips.npz"
    np.savez(path, truth=np.stack([one[0] for one in results]), made=np.stack([one[2] for one in results]))
    words = [_python(program, folder), str(BENCH / "_their_measures.py"), str(path), str(weights.path_of("i3d-rgb-imagenet"))]
    env = _environment(folder, MPLBACKEND="Agg")
    told = subprocess.run(words, cwd=folder / "clones" / program.folder, env=env, capture_output=True, text=True, check=True)
    values: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return values


def _of_pictures(program: Program, folder: Path, results: list[tuple[Any, Any, Any]]) -> dict[str, float]:
    clone, places = folder / "clones" / program.folder, [folder / name for name in ("PICTURES", "FILLED")]
    for place in places:
        place.mkdir(exist_ok=True)
    for clip, (truth, hole, made) in enumerate(results):
        for frame in range(len(truth)):
            name = f"{clip}-{frame:04d}"
            video.write_image(places[0] / f"{name}.png", truth[frame])
            video.write_image(places[0] / f"{name}_mask.png", hole[frame] * np.uint8(255))
            video.write_image(places[1] / f"{name}_mask.png", made[frame])
    words = ["configs/eval2_cpu.yaml", *map(str, places), str(folder / "table" / "lama.csv")]
    env = _environment(folder, PYTHONPATH=str(clone))
    subprocess.run(
        [_python(program, folder), str(BENCH / "_their_measures.py"), "pictures", *words],
        cwd=clone,
        env=env,
        check=True,
        capture_output=True,
    )
    with (folder / "table" / "lama.csv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    means = {(name, kind): value for name, kind, value in zip(rows[0], rows[1], _row(rows, "total"), strict=True)}
    names = {"ssim": "ssim", "lpips": "lpips", "fid": "fid", "lama_f1": "lpips_fid100_f1"}
    return {ours: float(means[theirs, "mean"]) for ours, theirs in names.items()}


def _row(rows: list[list[str]], name: str) -> list[str]:
    return next(row for row in rows if row[0] == name)


if __name__ == "__main__":
    raise SystemExit(main())
