"""Datasets of strangers who mean harm: one sentence, nothing read or written outside, no control character shown."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile import CORPUS, SHOWN, TRICKS
from made_once import once
from program import run_here
from publishing_data import make_dataset

from inpaintbench.errors import InpaintBenchError
from inpaintbench.workbench.finding import Folders
from inpaintbench.workbench.joining import of_dataset

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# What a command has no reason to look at, and so does not find: who copies files does not decode them, and `eval run` takes
# what it can of the items.
UNSEEN = {
    "convert": ("lists of films", "playlists", "a hole of another size", "a file that is listed outside"),
    "run": ("a hole of another size", "a file that is listed outside"),
}
# What this process opened, as Python tells: a hook stays for good, so it notes names only while somebody listens.
OPENED: list[str] = []
LISTENING: list[bool] = []


def _hear(event: str, given: tuple[object, ...]) -> None:
    if LISTENING and event in ("open", "os.listdir", "os.rename", "os.remove", "shutil.copyfile"):
        OPENED.extend(str(one) for one in given if isinstance(one, str | os.PathLike))


sys.addaudithook(_hear)


@pytest.fixture
def world(shared: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with a good dataset to be spoilt, and one beside it that nobody may touch."""
    made = once(shared, "hostile", lambda folder: make_dataset(folder) and None)
    shutil.copytree(made / "small", tmp_path / "dataset")
    (tmp_path / "outside").mkdir()
    yield tmp_path
    LISTENING.clear()
    OPENED.clear()


def spoilt(world: Path, make: Callable[[Path, Path], None]) -> dict[str, tuple[float, int]]:
    """Spoil the dataset; what lies outside with its times of access, which are set back so that any reading shows."""
    make(world / "dataset", world / "outside")
    for path in (world / "outside").rglob("*"):
        os.utime(path, (1e9, 1e9))
    LISTENING.append(True)
    return seen(world)


def shown_head(world: Path) -> str:
    """What the page of `view` gets of the dataset as text."""
    packed = of_dataset(Folders([world]), "0/dataset").packed
    return str(json.loads(packed[4 : 4 + int.from_bytes(packed[:4], "little")]))


def seen(world: Path) -> dict[str, tuple[float, int]]:
    found = {path: path.lstat() for path in (world / "outside").rglob("*") if path.is_file()}
    return {path.name: (state.st_atime, state.st_size) for path, state in found.items()}


def commands(world: Path, *more: str) -> Iterator[tuple[str | Path, ...]]:
    dataset = world / "dataset"
    yield "eval", "run", dataset, "--run", world / "run", "--method", "blank", "--workers", "0", *more
    yield "export", "convert", dataset, "--layout", "webdataset", "--out", world / "converted"
    yield "export", "verify", dataset


def check_nothing_outside(world: Path, before: dict[str, tuple[float, int]]) -> None:
    outside = str(world / "outside")
    assert not [
        name for name in OPENED if name.startswith(outside) or os.path.realpath(name).startswith((outside, "/etc/passwd"))
    ]
    assert seen(world) == before
    assert {path.name for path in world.iterdir()} <= {"dataset", "outside", "run", "converted"}
    assert not list(world.parent.glob("**/*escape*"))
    LISTENING.clear()


def test_times_of_access_tell_of_reading(world: Path) -> None:
    """What the other tests rely on for decoders, whose openings Python does not hear of."""
    (world / "outside" / "film").write_text("x")
    before = spoilt(world, lambda *_: None)
    os.system(f"cat {world / 'outside' / 'film'} > /dev/null")
    if seen(world) == before:
        pytest.skip("this file system keeps no times of access")
    (world / "outside" / "film").read_text()
    assert str(world / "outside" / "film") in OPENED


def test_the_good_one_is_good(world: Path) -> None:
    for words in commands(world):
        done = run_here(*words)
        assert (done.returncode, done.stderr.count("inpaintbench: ")) == (0, 0), done.stderr


@pytest.mark.parametrize("kind", CORPUS)
def test_a_hostile_dataset_is_one_sentence(kind: str, world: Path) -> None:
    before = spoilt(world, CORPUS[kind])
    for words in commands(world, *(["--report"] if "members" in kind else [])):
        done = run_here(*words)
        said = done.stdout + done.stderr
        assert "Traceback" not in said, said
        assert "fault of this program" not in said, said
        assert not CONTROLS.search(said), ascii(said)
        assert done.returncode == (0 if kind in UNSEEN.get(words[1], ()) else 1), (words, said)
        assert len(done.stderr) < 4000
    try:
        page = shown_head(world)
    except InpaintBenchError:
        page = ""
    assert not CONTROLS.search(page)
    check_nothing_outside(world, before)


@pytest.mark.parametrize("kind", SHOWN)
def test_words_of_strangers_stay_words(kind: str, world: Path) -> None:
    before = spoilt(world, SHOWN[kind])
    said = ""
    for words in commands(world, "--report"):
        done = run_here(*words)
        said += done.stdout + done.stderr
        assert "Traceback" not in said, said
        assert "fault of this program" not in said, said
    scored = (world / "dataset", "--run", world / "run", "--csv")
    said += run_here("eval", "table", *scored).stdout
    said += run_here("eval", "table", "--for=rows", *scored, "--out", world / "run" / "s.csv").stdout
    assert not CONTROLS.search(said), ascii(said)
    for path in [*(world / "run").rglob("*"), world / "converted" / "README.md", world / "converted" / "NOTICE"]:
        if path.is_file() and path.suffix in (".html", ".csv", ".json", ".md", ".svg", ".jsonl", ".txt", ""):
            text = path.read_text().replace("\r\n", "\n")
            assert not CONTROLS.search(text), (path, ascii(CONTROLS.search(text)))
    assert not CONTROLS.search(shown_head(world))
    check_nothing_outside(world, before)


def test_the_corpus_is_as_large_as_is_promised() -> None:
    assert len(CORPUS) >= 40
    assert CONTROLS.search(TRICKS)
