"""A folder with two versions of a dataset, another dataset, and six runs; and a server that shows it."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from engines import browser as browser
from made_once import once
from program import run_here
from publishing_data import make_dataset

from inpaintbench import video
from inpaintbench.export.freeze import freeze
from inpaintbench.steps import LEVEL_OF, PAIR_OF
from inpaintbench.types import Attribute, Clip, Corruption, Item, Slice, Source
from inpaintbench.workbench.server import Server
from inpaintbench.workspace import Blobs

RUNS = ("a", "b", "c", "d", "e", "f")


def _world(folder: Path) -> None:
    folder.mkdir()
    drawn = np.random.default_rng
    for name, changed in (("waves", ()), ("later", (2,)), ("other", (0, 1, 2))):
        with mock.patch("numpy.random.default_rng", lambda place, changed=changed: drawn(place + 50 * (place in changed))):
            made = make_dataset(folder / "made", name=name)
        shutil.move(made, folder / name)
        shutil.rmtree(folder / "made")
    for name, methods in (("a", ("telea", "blank")), ("b", ("telea,radius_pixels=9", "navier_stokes"))):
        words = [word for method in methods for word in ("--method", method)]
        done = run_here("eval", "run", folder / "waves", "--run", folder / "runs" / name, *words, "--report", "--workers", "0")
        assert done.returncode == 0, done.stderr
    for name in RUNS[2:]:
        shutil.copytree(folder / "runs" / "b", folder / "runs" / name)
    for name in ("later", "other"):
        done = run_here(
            "eval", "run", folder / name, "--run", folder / f"of_{name}", "--method", "telea", "--report", "--workers", "0"
        )
        assert done.returncode == 0, done.stderr


def _pairs(folder: Path) -> None:
    """A smooth film each of eight sources, under a small and a large hole."""
    blobs, items, attributes, made = Blobs(folder / "blobs"), [], [], ([], [], [])
    for place in range(8):
        rows, columns = np.mgrid[:48, :64]
        wave = 128 + 100 * np.sin((rows + place) / 4) * np.cos(columns / (4 + place))
        frames = np.repeat(wave[None, ..., None], 3, axis=0).repeat(3, axis=-1).astype(np.uint8)
        clip, _ = blobs.put(".mp4", lambda path, frames=frames: video.write_lossless(path, frames, fps=25.0))
        made[0].append(Source(f"s{place}", f"film%20{place}.mp4", "0" * 64, 1, "folder", licence="CC-BY-4.0"))
        made[1].append(
            Clip(f"c{place}", f"s{place}", 0, 3, 25.0, 64, 48, 3, clip, *video.decoded_hashes(blobs.path(clip)), 0, 99.0)
        )
        for level, side in (("low", 8), ("high", 28)):
            hole = np.zeros((3, 48, 64), dtype=np.bool_)
            hole[:, 8 : 8 + side, 8 : 8 + side] = True
            track, _ = blobs.put(".mp4", lambda path, hole=hole: video.write_hole(path, hole, fps=25.0))
            name = f"{place}{level}"
            digest = hashlib.sha256(hole.tobytes()).hexdigest()
            made[2].append(Corruption(f"h{name}", f"c{place}", "box", {}, 0, None, track, digest))
            items.append(Item(f"i{name}", f"c{place}", f"h{name}"))
            for fact, value in ((LEVEL_OF + "size", level), (PAIR_OF + "size", f"p{place}")):
                attributes.append(Attribute(f"h{name}", fact, value, None, "test", "1"))
    members = {level: tuple(f"i{place}{level}" for place in range(8)) for level in ("low", "high")}
    freeze(
        folder / "data", name="pairs", blobs=blobs, items=items, left_out={}, sources=made[0], clips=made[1],
        slices=[Slice(f"size-{level}", f"size == {level!r}", ids) for level, ids in members.items()],
        corruptions=made[2], attributes=attributes, recipe={"recipe": "pairs"},
        facts={"axes": [{"name": "size", "levels": ["low", "high"], "property": "size of the hole"}]},
    )  # fmt: skip
    shutil.rmtree(folder / "blobs")
    words = ("--method", "telea", "--method", "navier_stokes", "--report", "--workers", "0")
    done = run_here("eval", "run", folder / "data", "--run", folder / "run", *words)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def pairs(shared: Path) -> Path:
    """``run`` (telea, navier_stokes) on ``data``, whose items are eight pairs of the axis ``size``. Not to be written to."""
    return once(shared, "workbench_pairs", _pairs)


@pytest.fixture(scope="session")
def world(shared: Path) -> Path:
    """Runs ``runs/a`` (telea, blank) to ``runs/f`` (telea, navier_stokes) on ``waves``; ``of_later`` on ``later``, of which one
    item has other pixels, and ``of_other`` on ``other``, of which all have. Not to be written to."""
    return once(shared, "workbench", _world)


@pytest.fixture
def own(world: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(world, tmp_path / "world"))


@pytest.fixture(scope="module")
def paired_server(pairs: Path) -> Iterator[Server]:
    yield from _served(pairs)


@pytest.fixture(scope="module")
def server(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from _served(Path(shutil.copytree(world, tmp_path_factory.mktemp("served") / "world")))


def _served(folder: Path) -> Iterator[Server]:
    listening = Server([folder])
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield listening
    listening.shutdown()
    listening.server_close()
    thread.join()
