"""Released programs as they are, with made-up weights: whether they run by their presets, and their own measures beside ours.

INPAINTBENCH_PROGRAMS=FOLDER INPAINTBENCH_TEST_ASSETS=ASSETS python bench/released_programs.py [--quick] [PRESET ...]

FOLDER/clones holds clones of the repositories, at the presets' commits: ``FuseFormer``, ``E2FGVI``, ``ProPainter``, ``lama`` and
``DiffuEraser``, or some of them. FOLDER/envs/PRESET is the environment of each: what `eval layouts env PRESET` names (of
``diffueraser``: its requirements.txt), with scikit-image and scipy for the measures. Weights are written into the clones and
FOLDER/made, dataset and results beside them; all that stay for another time. Presets that are named are run alone, so that
several calls can work beside each other; "parts" is what is tried of ProPainter's windows.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

import inpaintbench as ib
from inpaintbench import frozen, video
from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.adapters.environments import beside
from inpaintbench.eval.methods.command import Command
from inpaintbench.models import weights
from inpaintbench.view import ItemView

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
    only = [word for word in sys.argv[1:] if not word.startswith("-")]
    there = [
        program for program in PROGRAMS if (folder / "clones" / program.folder).is_dir() and (not only or program.preset in only)
    ]
    made = folder / "made"
    made.mkdir(parents=True, exist_ok=True)
    (made / "mmcv.py").write_text(beside("e2fgvi")["mmcv.py"], encoding="utf-8")
    # For the programs: one thread, made-up networks in place of those that PyTorch would fetch, and the module mmcv.
    paths = os.pathsep.join(filter(None, [str(made), os.environ.get("PYTHONPATH")]))
    os.environ.update(OMP_NUM_THREADS="1", TORCH_HOME=str(made), PYTHONPATH=paths)
    _networks(made)
    dataset = _dataset(folder, assets)
    print(
        f"{len(CLIPS)} clips of 432x240, {FRAMES} frames, of films and of moving objects' masks, each preset run by the class "
        "that `eval run` runs it by, without the check before a run; one thread. The code is that of the presets' commits, "
        "unchanged.\n"
    )
    print("| program | ran | with | CPU seconds a clip |\n|---|---|---|---|")
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
    if (folder / "clones" / "ProPainter").is_dir() and (not only or "parts" in only):
        _windows(folder, assets)
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
    made = folder / "WORKSPACE" / "exports" / "benchmark"
    if (made / frozen.MANIFEST).exists():
        return made
    for name, (film, mask) in CLIPS.items():
        sources = folder / "CLIPS" / name, folder / "MASKS" / name
        for source in sources:
            source.mkdir(parents=True, exist_ok=True)
        for place, frame in enumerate(video.read_frames(assets / "videos/scenery" / film)[:FRAMES]):
            video.write_image(sources[0] / f"{place:05d}.png", frame)
            (sources[1] / f"{place:05d}.png").write_bytes((assets / MASKS / mask / f"{place:05d}.png").read_bytes())
    words = ["build", "benchmark", "--clips", "CLIPS", "--masks", "MASKS", "--out", "WORKSPACE", "--workers", "1"]
    subprocess.run([sys.executable, "-m", "inpaintbench", *words], cwd=folder, check=True, capture_output=True)
    return made


def _python(program: Program, folder: Path) -> str:
    return str(folder / "envs" / program.preset / "bin" / "python")


def _ran(program: Program, folder: Path, dataset: Path) -> str:
    """Make the weights, run the program on each clip that has no result yet, and tell of it."""
    clone, made = folder / "clones" / program.folder, folder / "made"
    if not (made / f"{program.preset}.done").exists():
        words = [_python(program, folder), str(BENCH / "_made_weights.py"), program.preset, str(made)]
        subprocess.run(words, cwd=clone, check=True, capture_output=True)
        (made / f"{program.preset}.done").touch()
    weights_given = program.weights.format(made=made) or None
    method = Command(
        layout=program.preset, folder=str(clone), weights=weights_given, python=_python(program, folder), device="any",
        time_limit_seconds=LIMIT_SECONDS,
    )  # fmt: skip
    seconds, why = [], ""
    for row in frozen.load(dataset).items:
        path = _result(program, folder, row)
        if not path.exists():
            method.log = path.with_suffix(".txt")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                frames = method.inpaint(frozen.input_view(dataset, row))
            except NotMeasurable as error:
                why = f": {error}"
                continue
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            np.savez(path, frames=frames, seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        seconds.append(float(np.load(path)["seconds"]))
    return f"| {program.title} | {len(seconds)} of {len(CLIPS)}{why} | {program.needed} | {np.mean(seconds or [np.nan]):.0f} |"


def _result(program: Program, folder: Path, row: Any) -> Path:
    return folder / "RUN" / program.preset / f"{row['item_id']}.npz"


def _results(program: Program, folder: Path, dataset: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Truth, hole, and the truth with the program's result in the hole, of each item."""
    for row in frozen.load(dataset).items:
        if (path := _result(program, folder, row)).exists():
            truth, hole = frozen.truth_and_hole(dataset, row)
            yield truth, hole, np.where(hole[..., None], np.load(path)["frames"], truth)


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
    path = folder / f"clips-{program.preset}.npz"
    np.savez(path, truth=np.stack([one[0] for one in results]), made=np.stack([one[2] for one in results]))
    words = [_python(program, folder), str(BENCH / "_their_measures.py"), str(path), str(weights.path_of("i3d-rgb-imagenet"))]
    env = {**os.environ, "MPLBACKEND": "Agg"}
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
    env = {**os.environ, "PYTHONPATH": str(clone)}
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


def _windows(folder: Path, assets: Path) -> None:
    """Where ProPainter's result on a part of a clip is that on the whole, at small constants in the place of its own: sub-videos
    of 12 frames, which are also the batches of its flow."""

    program = next(program for program in PROGRAMS if program.preset == "propainter")
    options = {"subvideo_length": 12, "neighbor_length": 4, "ref_stride": 4, "raft_iter": 2}
    print(
        "\nProPainter on 96 frames of 128x128 with a moving hole, with "
        + ", ".join(f"`--{name} {value}`" for name, value in options.items())
        + ": a part of the clip against the whole. By its code results are the same from three sub-videos (36) behind a new "
        "beginning on, and up to 30 frames before a new end, 36 with whole batches of flow.\n"
    )
    print("| part | frames that differ from the whole clip's | largest difference of a level there |\n|---|---|---|")
    film = video.read_frames(assets / "videos/scenery" / CLIPS["palmtrees"][0])
    frames = np.stack([cv2.resize(film[place % len(film)], (128, 128)) for place in range(96)])
    hole = np.zeros(frames.shape[:3], np.bool_)
    for place in range(len(hole)):
        hole[place, 40:72, place % 80 : place % 80 + 32] = True
    method = Command(
        layout=program.preset, folder=str(folder / "clones" / program.folder), python=_python(program, folder), device="any",
        time_limit_seconds=LIMIT_SECONDS,
    )  # fmt: skip
    method.commands[0] += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    given, whole = np.where(hole[..., None], np.uint8(0), frames), np.empty(0)
    for first, last in ((0, 96), (0, 84), (12, 96)):
        path = folder / "RUN" / f"part-{first}-{last}.npy"
        if not path.exists():
            method.log = path.with_suffix(".txt")
            np.save(path, method.inpaint(ItemView.of_arrays(input=given[first:last], hole=hole[first:last])))
        made = np.load(path)
        if last - first == len(frames):
            whole = made
            continue
        apart = np.abs(made.astype(int) - whole[first:last]).max(axis=(1, 2, 3))
        differing = np.flatnonzero(apart) + first
        which = f"{len(differing)}, {differing[0]} to {differing[-1]}" if len(differing) else "none"
        print(f"| frames {first} to {last - 1} | {which} | {apart.max()} |", flush=True)


def _row(rows: list[list[str]], name: str) -> list[str]:
    return next(row for row in rows if row[0] == name)


if __name__ == "__main__":
    raise SystemExit(main())
