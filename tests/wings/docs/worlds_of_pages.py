"""What single pages need beside the things of every page."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from footage import HEIGHT, WIDTH, write_sources
from made_once import once
from PIL import Image
from tests.docs import things
from tests.docs.pages import ROOT, blocks_of, words_of
from tests.docs.things import RECIPES, Maker, copied, program, run_of
from tests.wings.editboard.given import world, write_list
from tests.wings.leaderboard.made import card

from inpaintbench import frozen
from inpaintbench.annotate.study import load
from inpaintbench.types import Clip, Source
from inpaintbench.workspace import Workspace

RATERS = ("ann", "bob", "cleo")


# Studies


def _answered(folder: Path, shared: Path) -> None:
    """A study of pairs that three raters answered, with its dataset and run beside it; it remembers where those lie."""
    stays = folder.with_name("stays")
    _answer_all(stays, shared)
    shutil.copytree(stays, folder)


def _answer_all(folder: Path, shared: Path) -> None:
    folder.mkdir()
    shutil.copytree(once(shared, "devil", lambda path: RECIPES["devil"](path, shared)) / "exports" / "devil", folder / "DATASET")
    things.GIVEN["RUN"](folder / "RUN", shared)
    text = 'title = "Pairs"\n[subjects]\ndataset = "DATASET"\nruns = ["RUN"]\nmethods = ["telea", "mine.fill"]\nmost = 2\n'
    text += '[[questions]]\nleaf = "pairwise"\nname = "quality"\nraters_per_task = 3\n[screening.side_bias]\n'
    (folder / "study.toml").write_text(text)
    program("annotate", "prepare", "study.toml", "--out", "STUDY", "--workers", "0", cwd=folder)
    rows = [
        {"rater": rater, "task_id": task.task_id, "shown": task.candidates, "given": {"better": "place-0"}, "seconds": 5}
        for task in load(folder / "STUDY").tasks
        for rater in RATERS
    ]
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    program("annotate", "import", "STUDY", "votes.jsonl", cwd=folder)
    program("annotate", "resolve", "STUDY", cwd=folder)
    program("annotate", "export", "STUDY", "--out", "ANSWERS.parquet", cwd=folder)


def _study(part: str) -> Maker:
    return copied("study", _answered, part)


def _answers(path: Path, shared: Path) -> None:
    rows = [f"r{number},{row['item_id']},quality,telea,mine.fill,left" for row in _devil_rows(shared) for number in range(2)]
    path.write_text("annotator,group,dimension,left,right,choice\n" + "\n".join(rows) + "\n")


def _scores(path: Path, shared: Path) -> None:
    rows = [f"{row['item_id']},{name},psnr,{value}" for row in _devil_rows(shared) for name, value in _METHODS.items()]
    path.write_text("item,method,metric,value\n" + "\n".join(rows) + "\n")


_METHODS = {"telea": 20.0, "mine.fill": 10.0}


def _devil_rows(shared: Path) -> list[dict[str, str]]:
    root = once(shared, "devil", lambda path: RECIPES["devil"](path, shared)) / "exports" / "devil"
    return [dict(row) for row in frozen.load(root).items]


# Single pages


def _edited(path: Path, shared: Path) -> None:
    """``items.csv`` with the folders of frames that it names."""
    write_list(path.parent, world(path.parent), name=path.name)


def _votes(path: Path, shared: Path) -> None:
    root = once(shared, "reinpaint", lambda folder: RECIPES["reinpaint"](folder, shared)) / "exports" / "reinpaint"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["subject_id", "choice"])
        writer.writerows([row["item_id"], "telea"] for row in frozen.load(root).items)


def _submissions(path: Path, shared: Path) -> None:
    """What was handed in: the submission that the page has just made."""
    path.mkdir()
    shutil.copy(path.parent / "mine.zip", path)


def _edited_export(path: Path, shared: Path) -> None:
    """The layout ``editboard`` of the small editing benchmark, with the clips themselves as edits."""
    root = once(shared, "editing", lambda folder: RECIPES["editing"](folder, shared)) / "exports" / "editing"
    program("export", "convert", root, "--layout", "editboard", "--out", path)
    with (path / "script.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            shutil.copytree(path / row["original_video_path"], path / row["edited_video_path"])


def _curated(folder: Path, shared: Path) -> None:
    """A workspace with one film of two clips, measured, and answers about them."""
    films = folder.with_name("films")
    write_sources(films / "beach", count=1, frames=135).joinpath("pan 0.mp4").rename(films / "beach" / "waves.mp4")
    small = ("--normalizer", f"cover,width={WIDTH},height={HEIGHT}", "--workers", "0")
    program("curation", "clips", "--sources", films, "--out", folder, *small)
    names = [word for name in ("cut_score", "camera_motion", "sharpness") for word in ("--attribute", name)]
    program("curation", "measure", folder, *names, "--workers", "0")
    program("curation", "duplicates", folder, "--workers", "0")
    answers = folder.with_name("answers.csv")
    clips = Workspace(folder).table("clips", Clip)
    answers.write_text("".join(["clip,question,answer\n", *(f"{clip.clip_id},keep_reject,keep\n" for clip in clips)]))
    program("curation", "answers", folder, answers)


def _network(folder: Path, shared: Path) -> None:
    root = once(shared, "fingerprint", lambda path: RECIPES["fingerprint"](path, shared)) / "exports" / "fingerprint"
    program("eval", "train", "residual_encoder", root, "--out", folder, "--steps", "1", "--set", "width=4", "--set", "batch=1")


def _as_published(folder: Path, shared: Path) -> None:
    things.GIVEN["RUN"](folder, shared)
    root = once(shared, "devil", lambda path: RECIPES["devil"](path, shared)) / "exports" / "devil"
    program("eval", "run", "--for=scores", root, "--run", folder, "--protocol", "devil/as-published", "--workers", "0")


def _with_a_film_to_take_out(folder: Path, shared: Path) -> None:
    """The workspace of every page, where the first of its films has the name that the page takes out."""
    things.GIVEN["WORKSPACE"](folder, shared)
    workspace = Workspace(folder, create=False)
    [step] = workspace.steps("sources")
    first, *others = workspace.table("sources", Source, step=step)
    workspace.write_table("sources", step, [replace(first, uri="films/a%20b.mp4"), *others], Source)


def _more_films(path: Path, shared: Path) -> None:
    for film in (things.films(path, 3) / f"pan {number}.mp4" for number in range(3)):
        film.rename(film.with_name(f"more {film.name}"))


def _another(folder: Path, shared: Path) -> None:
    """A workspace of another film, of the size that pages are tried with."""
    small = ("--size", "128x80", "--workers", "0")
    program("build", "devil", "--sources", things.films(folder.with_name("another film"), 1), "--out", folder, *small)


def tutorial(page: str, name: str) -> Maker:
    """A folder that the builder's tutorial leaves."""

    def make(folder: Path, shared: Path) -> None:
        folder.mkdir()
        blocks = blocks_of(page)
        (folder / "films.py").write_text(next(block.text for block in blocks if block.title == "films.py"))
        with contextlib.chdir(folder):
            exec(compile((folder / "films.py").read_text(), "films.py", "exec"), {"__name__": "__main__"})
        build = next(words_of(line) for block in blocks for line in block.commands() if " build devil " in line)
        program(*build[1:], cwd=folder)

    return copied("tutorial", make, name)


def _matched(path: Path, shared: Path) -> None:
    """Two pictures of the same names in each of three folders; masks have a white square."""
    path.mkdir()
    for number, name in enumerate("ab"):
        picture = np.full((48, 64, 3), 60 + 40 * number, np.uint8)
        if path.name == "MASKS":
            picture[:] = 0
        if path.name != "TRUTH":
            picture[10:30, 20:40] = 255
        Image.fromarray(picture).save(path / f"{name}.png")


def _some_clips(path: Path, shared: Path) -> None:
    """Folders of frames; ``MASKS`` has masks of the same names."""
    everything = path.with_name(f".{path.name}")
    things.GIVEN["CLIPS"](everything, shared)
    path.mkdir()
    for name in ("bear", "dogs"):
        (everything / (f"{name}_mask" if path.name == "MASKS" else name)).rename(path / name)


def _films_of_objects(path: Path, shared: Path) -> None:
    """Folders of frames: two films with a square and its shadow, without both, or the masks of the square."""
    for seed, name in enumerate(("bus", "dog")):
        frames = np.random.default_rng(seed).integers(90, 220, (3, HEIGHT, WIDTH, 3), np.uint8)
        there = np.zeros(frames.shape[:3], bool)
        there[:, 10:24, 12:28] = True
        if path.name == "CLIPS":
            frames[:, 24:30, 12:40] //= 2
            frames[there] = (200, 40, 30)
        folder = path / name
        folder.mkdir(parents=True)
        for place, frame in enumerate(255 * there.astype(np.uint8) if path.name == "MASKS" else frames):
            Image.fromarray(frame).save(folder / f"{place:05d}.png")


def _a_set_of_pairs(path: Path, shared: Path) -> None:
    """The same as BeyondMasks lays it out."""
    for name, part in (("CLIPS", "objects_added"), ("MASKS", "masks"), ("TRUTHS", "object_not_present")):
        _films_of_objects(path / name, shared)
        (path / name).rename(path / part)


_BUILDER = "docs/tutorials/builder.md"


def _missed_rim(folder: Path, shared: Path) -> None:
    """The worked example with two of its films, to save time."""
    shutil.copytree(ROOT / "examples" / "missed_rim", folder, ignore=shutil.ignore_patterns("pages", "[bcfh]*.mp4", "palms.mp4"))


OF_PAGE: Mapping[str, Mapping[str, Maker | None]] = {
    "docs/alignment.md": {
        "ANSWERS.csv": _answers, "SCORES.csv": _scores, "ANSWERS.parquet": copied("study", _answered, "ANSWERS.parquet"),
        "RUN": _study("RUN"),
    },
    "docs/annotate.md": {"STUDY": _study("STUDY"), "RUN": _study("RUN"), "DATASET": _study("DATASET")},
    "docs/evaluation.md": {"ANSWERS.csv": _answers, "FOLDER": things.saved},
    "docs/chalearn.md": {"RUN": run_of("decaption", "blank", score=False)},
    "docs/curation.md": {"WORKSPACE": copied("curated", _curated)},
    "docs/devil_paper.md": {"RUN": copied("as-published", _as_published)},
    "docs/growing.md": {"RUN": None, "MORE": _more_films, "SECOND": copied("another", _another)},
    "docs/methods.md": {"TRUTH": _matched, "MASKS": _matched, "MINE": _matched},
    "docs/hold_back.md": {"FOLDER": things.saved},
    "docs/layouts.md": {"FOLDER": _edited_export},
    "docs/worked_example.md": {"examples/missed_rim": _missed_rim},
    "docs/takedowns.md": {"WORKSPACE": _with_a_film_to_take_out},
    "docs/training.md": {"NETWORK": copied("network", _network), "RUN": None},
    "docs/removal.md": {
        "RUN": None, "CLIPS": _films_of_objects, "MASKS": _films_of_objects, "TRUTHS": _films_of_objects,
        "FOLDER": _a_set_of_pairs,
    },
    "docs/benchmark.md": {"CLIPS": _some_clips, "MASKS": _some_clips, "RUN": None},
    "docs/editboard.md": {"items.csv": _edited},
    "docs/editing.md": {"RUN": run_of("editing", "edit_recolour")},
    "docs/leaderboard.md": {"RUN": run_of("devil", "mine=mine:fill"), "SUBMISSIONS": _submissions},
    "docs/reinpainting.md": {
        "DATASET": copied("reinpaint", RECIPES["reinpaint"], "exports/reinpaint"), "VOTES.csv": _votes,
        "RUN": run_of("reinpaint", "telea", score=False),
    },
    "docs/how-to/recipes.md": {"WORKSPACE": tutorial(_BUILDER, "pans"), "ANSWERS.csv": _answers},
    "docs/how-to/use_from_python.md": {"pans": tutorial(_BUILDER, "pans")},
    "docs/tutorials/method_author.md": {"pans": tutorial(_BUILDER, "pans"), "RUN": None},
    "docs/tutorials/reader.md": {"pans": tutorial(_BUILDER, "pans"), "RUN": None},
}  # fmt: skip
"""Page -> name -> how it is made there."""


def _card(folder: Path) -> None:
    (folder / "card.toml").write_bytes(card())


def _answer(folder: Path) -> None:
    """Raters answer: the study that the page has just made is exchanged for one with answers."""
    shutil.rmtree(folder / "STUDY")


DONE_BY_HAND: Mapping[tuple[str, str], Callable[[Path], None]] = {
    ("docs/annotate.md", "inpaintbench annotate invite STUDY Boss --admin"): _answer,
    ("docs/leaderboard.md", "inpaintbench eval submit --new-card card.toml"): _card,
    ("docs/tutorials/method_author.md", "inpaintbench eval submit --new-card card.toml"): _card,
}
"""What the page tells its reader to do after a command: (page, command) -> in the page's folder."""
