"""A small study of everything raters can be asked, from footage that needs no download."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import frozen, video
from inpaintbench.annotate import study as studies
from inpaintbench.annotate.preparing.pictures import Grid, Picture, layout, outline
from inpaintbench.annotate.preparing.proxies import Player, tiles_of
from inpaintbench.annotate.study import DEMO_WORKSPACE, PROXIES, Proxy, Study, StudyFile, StudyTask, Tile
from inpaintbench.curation.sources.embedded import FRAMES_PER_SECOND, Shot, film, shots
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.scoring.predict import run
from inpaintbench.types import Frames, Hole, canonical_json, item_rng
from inpaintbench.view import ItemView, composite

WIDTH, HEIGHT, FRAMES, CLIPS = 256, 144, 30, 3
# Quick ones that look different.
COMPARED = ("blank", "telea", "temporal_median")
# A file that lies in the folder while the study is made.
UNFINISHED = "unfinished-demo"
QUESTIONS = (
    {"leaf": "pairwise", "name": "quality", "title": "Which one looks better?"},
    {"leaf": "scene_motion"},
    {"leaf": "best_of", "title": "Which one is the most natural?"},
    {"leaf": "keep_reject"},
    {"leaf": "mean_opinion"},
    {"leaf": "camera_motion"},
)
RATERS = ("You", "Somebody else")
WELCOME = (
    "A study to try out: three short films made of photographs, with parts filled in by three simple methods. "
    "Nothing leaves this machine."
)


def write_demo_study(folder: Path) -> Study:
    """Make the study in ``folder``, which holds nothing else; about a second. What a killed run has left there is replaced."""
    (folder / PROXIES).mkdir(parents=True, exist_ok=True)
    (folder / UNFINISHED).touch()
    file = StudyFile.model_validate(
        {
            "title": "A first look",
            "welcome": WELCOME,
            "subjects": {"workspace": DEMO_WORKSPACE},
            "questions": [{**question, "raters_per_task": len(RATERS)} for question in QUESTIONS],
        }
    )
    tasks: list[StudyTask] = []
    proxies: dict[str, Proxy] = {}
    for shot in shots(CLIPS, width=WIDTH, height=HEIGHT, frames=FRAMES):
        own, made = _tasks(file, shot, folder / PROXIES)
        tasks += own
        proxies |= made
    # In the order of the questions, so that the first minutes show every kind.
    order = [question.label for question in file.questions]
    mixed = tuple(sorted(tasks, key=lambda task: order.index(task.question)))
    study = Study(studies.study_id(file, tuple(tasks)), file, mixed, proxies)
    studies.save(study, folder)
    (folder / UNFINISHED).unlink()
    return study


def is_free(folder: Path) -> bool:
    """Return whether the study may be made there: nothing is in it, or what a killed run has left."""
    return not folder.exists() or not any(folder.iterdir()) or (folder / UNFINISHED).exists()


def _tasks(file: StudyFile, shot: Shot, folder: Path) -> tuple[list[StudyTask], dict[str, Proxy]]:
    """One video of a film holds all that its tasks show; each task knows the tiles that are its own."""
    truth = film(shot, width=WIDTH, height=HEIGHT).frames
    # An ellipse that wanders through the view.
    phase = float(item_rng(0, "hole", shot.name).uniform(0, 2 * np.pi))
    ellipses = np.zeros((FRAMES, HEIGHT, WIDTH), np.uint8)
    for index in range(FRAMES):
        turn = phase + 2 * np.pi * index / FRAMES
        centre = (int(WIDTH * (0.5 + 0.25 * np.cos(turn))), int(HEIGHT * (0.5 + 0.2 * np.sin(2 * turn))))
        cv2.ellipse(ellipses[index], centre, (WIDTH // 9, HEIGHT // 5), 30.0, 0, 360, 1, -1)
    shown = _pictures(truth, ellipses.astype(np.bool_))
    drawn = item_rng(0, "tiles", shot.name).permutation(len(COMPARED))
    order = [("original", None), ("input", None), *(("candidate", COMPARED[place]) for place in drawn), ("outline", None)]
    grid = layout(len(order), width=WIDTH, height=HEIGHT, largest_side=max(WIDTH, HEIGHT))
    sheets: list[Picture] = [grid.sheet([shown[player][index] for player in order]) for index in range(FRAMES)]
    made = folder / "made.mp4"
    video.write_browser(made, sheets, fps=FRAMES_PER_SECOND)
    tiles = tiles_of(grid, order)
    tasks, proxies = [], {}
    for spec in file.questions:
        subject = studies.build_question(spec).subject
        chosen = {"clip": (), "one": COMPARED[1:2], "pair": COMPARED[1:], "set": COMPARED}[subject]
        proxy = _proxy(made, grid, [tile for tile in map(partial(_seen, chosen=chosen), tiles) if tile])
        proxies[proxy.name] = proxy
        task = studies.task_id(spec.label, shot.name, chosen)
        tasks.append(StudyTask(task, spec.label, shot.name, shot.photograph, chosen, proxy.name, caption=shot.name))
    made.unlink()
    return tasks, proxies


def _seen(tile: Tile, *, chosen: Sequence[str]) -> Tile | None:
    """A tile as a task of these candidates has it; clips are films before anything was cut out."""
    if not chosen:
        return replace(tile, role="clip") if tile.role == "original" else None
    return tile if tile.candidate is None or tile.candidate in chosen else None


def _pictures(truth: Frames, hole: Hole) -> dict[Player, Frames]:
    size = (WIDTH, HEIGHT)
    given = frozen.filled(truth, hole, fill=0)
    parts = {"input": lambda: given, "hole": lambda: hole}
    view = ItemView(item_id="demo", frames=FRAMES, height=HEIGHT, width=WIDTH, fps=FRAMES_PER_SECOND, parts=parts)
    shown: dict[Player, Frames] = {("original", None): truth, ("input", None): given}
    shown["outline", None] = np.stack([outline(mask, size=size) for mask in hole])
    for name in COMPARED:
        shown["candidate", name] = composite(truth, hole, run(METHODS.get(name)(), view))
    return shown


def _proxy(made: Path, grid: Grid, tiles: Sequence[Tile]) -> Proxy:
    """A name of its own for these tiles of a video."""
    content = canonical_json([hashlib.sha256(made.read_bytes()).hexdigest(), [asdict(tile) for tile in tiles]])
    name = f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.mp4"
    shutil.copyfile(made, made.with_name(name))
    return Proxy(name, FRAMES, FRAMES_PER_SECOND, *grid.size, tuple(tiles))
