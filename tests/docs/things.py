"""Small real things that stand where the pages say FOLDER, WORKSPACE, DATASET or mine.py.

A thing is made when a command first names it and nothing of that name lies there yet. What takes longer than a second to make is
made once for all pages, and copied.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from footage import HEIGHT, WIDTH, write_sources
from made_once import once
from PIL import Image
from pose_files import lsp_file, mpii_file, mpii_person
from program import run_here
from skimage import data as photographs
from web_server import Answer, WebServer

from inpaintbench import frozen, video

FRAMES = 45
PHOTOGRAPHS: Any = photographs
Maker = Callable[[Path, Path], None]
"""Of a path that does not exist yet, and the folder of what was made once."""

MINE = """
import cv2
import numpy as np


def fill(frames, hole):
    return np.stack([cv2.inpaint(f, h.astype(np.uint8), 3, cv2.INPAINT_NS) for f, h in zip(frames, hole)])


def edit(frames, hole):
    return 255 - frames
"""


def program(*words: str | Path, cwd: Path | None = None) -> None:
    """Run inpaintbench in this process; it has to succeed."""
    done = run_here(*words, cwd=cwd)
    assert done.returncode == 0, f"{words}: {done.stderr}"


def copied(name: str, make: Maker, part: str = "") -> Maker:
    """A copy of what was made once, or of a part of it."""

    def copy(path: Path, shared: Path) -> None:
        made = once(shared, name, lambda folder: make(folder, shared)) / part
        if made.is_dir():
            shutil.copytree(made, path, dirs_exist_ok=True)
        else:
            shutil.copy(made, path)

    return copy


# Footage


def films(folder: Path, count: int = 2) -> Path:
    """Pans over photographs."""
    return Path(write_sources(folder, count=count, frames=FRAMES))


def _one_film(path: Path, shared: Path) -> None:
    films(path, 1)


def _subtitled(path: Path, shared: Path) -> None:
    write_sources(path, count=1, frames=130)
    film = next(path.iterdir())
    film.with_suffix(".srt").write_text("1\n00:00:00,500 --> 00:00:04,500\nWhat subtitles hide\n")


def _pictures(path: Path, shared: Path) -> None:
    path.mkdir()
    for name, picture in (("cat", PHOTOGRAPHS.chelsea()), ("coffee", PHOTOGRAPHS.coffee())):
        Image.fromarray(picture[:256, :256]).save(path / f"{name}.png")


def _clips(path: Path, shared: Path) -> None:
    for name, picture in (("bear", PHOTOGRAPHS.chelsea()), ("dogs", PHOTOGRAPHS.coffee())):
        (path / name).mkdir(parents=True)
        (path / f"{name}_mask").mkdir()
        for number in range(4):
            Image.fromarray(picture[number : 128 + number, :128]).save(path / name / f"{number:05d}.jpg", quality=95)
            mask = np.zeros((128, 128), np.uint8)
            mask[40:90, 30 + number : 80 + number] = 255
            Image.fromarray(mask).save(path / f"{name}_mask" / f"{number:05d}.png")


def _people(path: Path, shared: Path) -> None:
    """Photographs in ``images`` and ``lsp/images``, joints in the two MATLAB files beside them."""
    folder, places = path.parent, ((6, 500.0, 700.0), (9, 520.0, 320.0), (0, 330.0, 980.0), (8, 700.0, 420.0))
    photograph = Image.fromarray(PHOTOGRAPHS.astronaut()).resize((1024, 1024))
    for name in ("images/one.jpg", "lsp/images/im0001.jpg"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        photograph.save(folder / name)
    person = mpii_person(places, x1=430, y1=150, x2=590, y2=310)
    mpii_file(path, [("one.jpg", [person])], train=[1])
    joints = np.stack([np.linspace(250, 750, 14), np.linspace(140, 900, 14), np.ones(14)])[..., None]
    lsp_file(folder / "joints.mat", joints)


# Benchmarks and runs


def devil(folder: Path, shared: Path) -> None:
    """The workspace of a small benchmark, of films that were fetched under a licence."""
    with site(folder.parent) as address_list:
        program("curation", "fetch", "urls", address_list, "--out", folder, "--allow-private", "--workers", "0")
        small = ("--size", f"{WIDTH}x{HEIGHT}", "--per-slice", "1", "--workers", "0")
        program("build", "devil", "--source", "fetched", "--out", folder, *small)


@contextlib.contextmanager
def site(folder: Path, count: int = 2) -> Iterator[Path]:
    """A list of the addresses of ``count`` films, on a web site of this machine."""
    with WebServer() as server:
        found = sorted(films(folder / ".site", count).iterdir())
        addresses = [server.say(f"/{place}.mp4", Answer(film.read_bytes())) for place, film in enumerate(found)]
        path = folder / "list.csv"
        path.write_text("\n".join(["url,licence,author", *(f"{address},CC-BY-4.0,Ann" for address in addresses)]) + "\n")
        yield path


def _reinpaint(folder: Path, shared: Path) -> None:
    pictures = folder.with_name(f"{folder.name}.pictures")
    _pictures(pictures, shared)
    small = ("--size", "64", "--patch", "8", "--second-masks", "2", "--workers", "0")
    program("build", "reinpaint", "--sources", pictures, "--out", folder, *small)


def _decaption(folder: Path, shared: Path) -> None:
    films_, small = folder.with_name(f"{folder.name}.films"), ("--side", "64", "--workers", "0")
    _subtitled(films_, shared)
    program("build", "decaption", "--sources", films_, "--out", folder, *small)


def _fingerprint(folder: Path, shared: Path) -> None:
    program("build", "fingerprint", "--fingers", "11", "--size", "137x200", "--out", folder, "--workers", "0")


def _editing(folder: Path, shared: Path) -> None:
    clips = folder.with_name(f"{folder.name}.clips")
    _clips(clips, shared)
    prompts = clips.with_suffix(".csv")
    prompts.write_text(PROMPTS)
    small = ("--side", "96", "--workers", "0")
    program("build", "editing", "--clips", clips, "--prompts", prompts, "--out", folder, *small)


PROMPTS = """clip,source_prompt,task,target_prompt,object
bear,a brown cat,SOSA,a white cat,
bear,a brown cat,SOSA,a blue cat,
dogs,a cup,SE,a cup in the style of an oil painting,
dogs,a cup,SE,a pencil drawing of a cup,
"""


def run_of(recipe: str, *methods: str, score: bool = True) -> Maker:
    """A copy of a run folder on the small benchmark of a recipe."""

    def make(folder: Path, shared: Path) -> None:
        root = once(shared, recipe, lambda workspace: RECIPES[recipe](workspace, shared)) / "exports" / recipe
        given = [word for name in methods for word in ("--method", name)]
        (folder.parent / "mine.py").write_text(MINE)  # of this run alone: another process may be writing its own
        program("eval", "run", root, "--run", folder, *given, "--workers", "0", cwd=folder.parent)
        if score:
            program("eval", "run", "--for=scores", root, "--run", folder, "--workers", "0")

    return copied(f"run-{recipe}-{'-'.join(methods)}".replace(":", "."), make)


RECIPES: Mapping[str, Callable[[Path, Path], None]] = {
    "devil": devil, "reinpaint": _reinpaint, "decaption": _decaption, "fingerprint": _fingerprint, "editing": _editing,
}  # fmt: skip


def saved(path: Path, shared: Path) -> None:
    """Results made elsewhere: the truth itself, inverted."""
    root = once(shared, "devil", lambda workspace: devil(workspace, shared)) / "exports" / "devil"
    path.mkdir()
    for truth in (root / "truth").iterdir():
        frames = 255 - video.read_frames(truth)
        for item in _items(root, truth.name):
            video.write_lossless(path / f"{item}.mp4", frames, fps=25.0)


def _items(root: Path, truth: str) -> list[str]:
    return [row["item_id"] for row in frozen.load(root).items if row["truth_file_name"].endswith(truth)]


def _text(text: str) -> Maker:
    def write(path: Path, shared: Path) -> None:
        path.write_text(text)

    return write


RULES = '[[rule]]\nattribute = "cut_score"\nat_most = 0.3\n'

GIVEN: dict[str, Maker] = {
    "FOLDER": _one_film,
    "RESULTS": saved,
    "FILMS": _subtitled,
    "PICTURES": _pictures,
    "CLIPS": _clips,
    "prompts.csv": _text(PROMPTS),
    "annotations.mat": _people,
    "mpii_human_pose_v1_u12_1.mat": _people,
    "mine.py": _text(MINE),
    "rules.toml": _text(RULES),
    "OWNER/NAME": copied("devil", devil, "exports/devil"),
    "RUN": run_of("devil", "telea", "mine:fill"),
    "WORKSPACE": copied("devil", devil),
    "DATASET": copied("devil", devil, "exports/devil"),
    **{f"WORKSPACE/exports/{name}": copied(name, make, f"exports/{name}") for name, make in RECIPES.items()},
}
"""Name -> how it is made, on every page that does not say otherwise."""
