"""Small real studies for tests and benches: proxies that play, and as many tasks as are wanted."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from inpaintbench import video
from inpaintbench.annotate import study as studies
from inpaintbench.annotate.study import Proxy, Study, StudyTask, Tile

WIDTH, HEIGHT, FRAMES, FPS = 160, 96, 30, 25.0


def frames_of(seed: int, *, width: int = WIDTH, frames: int = FRAMES) -> np.ndarray:
    """``uint8[T, H, width, 3]``: a drifting texture."""
    texture = np.random.default_rng(seed).integers(0, 255, (HEIGHT // 8 + frames, width // 8, 3), dtype=np.uint8)
    whole = np.kron(texture, np.ones((8, 8, 1), np.uint8))
    return np.stack([whole[step * 2 : step * 2 + HEIGHT] for step in range(frames)])


def write_proxy(folder: Path, *, seed: int, roles: list[tuple[str, str | None]], still: bool = False) -> Proxy:
    """A proxy with the tiles ``(role, candidate)`` side by side."""
    count = 1 if still else FRAMES
    pixels = np.concatenate([frames_of(100 * seed + place, frames=count) for place in range(len(roles))], axis=2)
    made = folder / f"made{'.png' if still else '.mp4'}"
    (video.write_lossless if still else video.write_browser)(made, pixels, fps=FPS)
    name = hashlib.sha256(made.read_bytes()).hexdigest()[:32] + made.suffix
    made.rename(folder / name)
    tiles = tuple(Tile(role, who, place * WIDTH, 0, WIDTH, HEIGHT) for place, (role, who) in enumerate(roles))
    return Proxy(name, count, FPS, WIDTH * len(roles), HEIGHT, tiles)


def write_study(
    folder: Path, questions: list[dict[str, Any]], *, subjects: int = 6, methods: tuple[str, ...] = ("deep", "flow", "patch"),
    still: bool = False, proxies: int = 4, gold: int = 0, **fields: Any,
) -> Study:  # fmt: skip
    """Write a prepared study with ``subjects`` tasks a question (pairs: one for each pair of methods of a subject)."""
    (folder / studies.PROXIES).mkdir(parents=True)
    labelling = questions[0]["leaf"] in ("scene_motion", "camera_motion", "keep_reject")
    where = {"workspace": "W"} if labelling else {"dataset": "D", "runs": ["R"]}
    file = studies.parse_study(
        {"title": "A study", "subjects": where, "questions": questions, **fields}, where="made here", folder=folder
    )
    found: dict[str, Proxy] = {}
    tasks: list[StudyTask] = []
    for spec in file.questions:
        subject = studies.build_question(spec).subject
        for place in range(subjects):
            for candidates in _candidates(subject, methods):
                key = (place % proxies, candidates)
                if str(key) not in found:
                    roles: list[tuple[str, str | None]] = [("candidate", one) for one in candidates] or [("clip", None)]
                    if candidates:
                        roles += [("original", None), ("input", None)]
                    found[str(key)] = write_proxy(folder / studies.PROXIES, seed=len(found), roles=roles, still=still)
                name = f"subject{place:05}"
                right = ("keep",) if place < gold and spec.leaf == "keep_reject" else ()
                tasks.append(
                    StudyTask(
                        studies.task_id(spec.label, name, candidates), spec.label, name, f"source{place // 3}", candidates,
                        found[str(key)].name, caption=name, gold=right,
                    )
                )  # fmt: skip
    made = Study(studies.study_id(file, tuple(tasks)), file, tuple(tasks), {one.name: one for one in found.values()})
    studies.save(made, folder)
    return made


def _candidates(subject: str, methods: tuple[str, ...]) -> list[tuple[str, ...]]:
    if subject == "clip":
        return [()]
    if subject == "one":
        return [(name,) for name in methods]
    if subject == "set":
        return [methods]
    return [(one, other) for place, one in enumerate(methods) for other in methods[place + 1 :]]
