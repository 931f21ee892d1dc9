from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world
from worlds import photograph

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.eval.methods.each_frame import Exemplar, Telea
from inpaintbench.types import Frames, Hole

HEIGHT, WIDTH = 112, 128


class TestContract(MethodContract):
    name = "exemplar"


def grain(down: int, across: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(down).integers(0, 256, (down, across, 3), np.uint8)


def waves(down: int, across: int) -> npt.NDArray[np.uint8]:
    rows, columns = np.mgrid[:down, :across]
    turns = 2 * np.pi * (rows / down + np.arange(3)[:, None, None] / 3), 2 * np.pi * columns / across
    return np.rint(128 + 60 * np.sin(turns[0]) + 60 * np.cos(turns[1])).astype(np.uint8).transpose(1, 2, 0)


def bricks(down: int, across: int) -> npt.NDArray[np.uint8]:
    tile = np.full((down, across, 3), (180, 70, 40), np.uint8)
    tile[0] = tile[: down // 2, 0] = tile[down // 2 :, across // 2] = (200, 200, 190)
    return tile


def tiled(tile: npt.NDArray[np.uint8], *, height: int = HEIGHT, width: int = WIDTH) -> Frames:
    return np.tile(tile, (-(-height // len(tile)), -(-width // tile.shape[1]), 1))[None, :height, :width]


def box() -> Hole:
    hole = np.zeros((1, HEIGHT, WIDTH), np.bool_)
    hole[0, 35:80, 40:100] = True
    return hole


def disc_at_the_border() -> Hole:
    hole = np.zeros((1, HEIGHT, WIDTH), np.uint8)
    cv2.circle(hole[0], (70, 15), 28, 1, -1)
    return hole.astype(np.bool_)


def patches(*, height: int = HEIGHT, width: int = WIDTH, side: int = 16, share: float = 0.35, seed: int = 4) -> Hole:
    cells = np.random.default_rng(seed).random((-(-height // side), -(-width // side))) < share
    return np.kron(cells, np.ones((side, side), np.bool_))[None, :height, :width]


@pytest.mark.parametrize("hole", [box(), disc_at_the_border(), patches()], ids=["box", "disc", "patches"])
@pytest.mark.parametrize(
    "tile",
    [grain(2, 3), grain(7, 5), grain(13, 24), waves(8, 8), waves(21, 26), bricks(12, 20), bricks(1, 17), bricks(26, 30)],
    ids=lambda tile: f"{tile.shape[0]}x{tile.shape[1]}",
)
def test_continues_a_periodic_texture_exactly(tile: npt.NDArray[np.uint8], hole: Hole) -> None:
    truth = tiled(tile)
    np.testing.assert_array_equal(inpaint(Exemplar(), corrupted(truth, hole), hole), truth)


@pytest.mark.parametrize("tile", [grain(5, 7), grain(8, 8), bricks(8, 12)], ids=["grain", "grain even", "bricks"])
def test_continues_a_texture_that_fills_only_half_the_picture(tile: npt.NDArray[np.uint8]) -> None:
    truth = tiled(tile)
    truth[0, :, WIDTH // 2 :] = photograph("coffee", width=WIDTH // 2, height=HEIGHT)
    hole = np.zeros((1, HEIGHT, WIDTH), np.bool_)
    hole[0, 30:60, 15:45] = True
    np.testing.assert_array_equal(inpaint(Exemplar(), corrupted(truth, hole), hole), truth)


def picture(name: str = "coffee") -> Frames:
    return photograph(name, width=WIDTH, height=HEIGHT)[None]


def test_seeds_give_other_fillings_and_the_same_seed_the_same() -> None:
    frames = corrupted(picture(), patches())
    found = [inpaint(Exemplar(seed=seed), frames, patches()) for seed in (0, 1, 2, 0)]
    assert len({one.tobytes() for one in found}) == 3
    np.testing.assert_array_equal(found[0], found[3])


def test_numba_and_numpy_give_the_same_bytes_in_any_process() -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    program = (
        "import hashlib; from tests.eval.methods.test_exemplar import *; cv2.setNumThreads(2);"
        "found = inpaint(Exemplar(seed=3, backend='numpy'), corrupted(picture(), patches()), patches());"
        "print(hashlib.sha256(found).hexdigest())"
    )
    root = Path(__file__).parents[3]
    environment = os.environ | {
        "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests' / 'helpers'}",
        "PYTHONHASHSEED": "7",
        "OMP_NUM_THREADS": "2",
    }
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    found = inpaint(Exemplar(seed=3, backend="numba"), corrupted(picture(), patches()), patches())
    assert told.stdout.strip() == hashlib.sha256(found).hexdigest()


@pytest.mark.parametrize(
    "constants",
    [{"patch_pixels": 3}, {"patch_pixels": 21, "levels": 1}, {"levels": 1}, {"levels": 2, "iterations": 1}, {"iterations": 4}],
    ids=str,
)
def test_constants_matter_and_backends_agree_on_them(constants: dict[str, int]) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    frames, hole = corrupted(picture("chelsea")[:, :64, :72], box()[:, 10:74, 10:82]), box()[:, 10:74, 10:82]
    hole = hole.copy()
    hole[:, :, 55:] = False
    hole[:, 55:] = False
    plain, fast = (inpaint(Exemplar(**constants, backend=backend), frames, hole) for backend in ("numpy", "numba"))
    np.testing.assert_array_equal(plain, fast)
    assert (fast != inpaint(Exemplar(), frames, hole)).any()


def test_a_filling_looks_the_same_alone_and_in_a_clip() -> None:
    hole = wandering_hole()
    frames = corrupted(world(), hole)
    together = inpaint(Exemplar(), frames, hole)
    np.testing.assert_array_equal(inpaint(Exemplar(), frames[4:5], hole[4:5]), together[4:5])


def test_without_a_whole_patch_to_copy_it_fills_like_telea() -> None:
    hole = np.zeros((1, 40, 50), np.bool_)
    hole[:, ::5] = hole[:, :, ::5] = True
    frames = corrupted(picture()[:, :40, :50], hole)
    np.testing.assert_array_equal(inpaint(Exemplar(), frames, hole), inpaint(Telea(), frames, hole))


def test_frames_that_are_all_hole_stay() -> None:
    hole = wandering_hole()
    hole[3] = True
    assert (inpaint(Exemplar(), corrupted(world(), hole, fill=9), hole)[3] == 9).all()


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        ({"patch_pixels": 4}, "patch_pixels is 4, choose an odd number from 3 to 21"),
        ({"patch_pixels": 23}, "patch_pixels is 23"),
        ({"levels": 0}, "levels is 0, choose a whole number from 1 up"),
        ({"iterations": 0}, "iterations is 0"),
        ({"backend": "cuda"}, "no exemplar backend 'cuda': choose one of auto, numpy, numba"),
    ],
)
def test_constants_out_of_range_are_refused(constants: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Exemplar(**constants)  # type: ignore[arg-type]


@pytest.mark.real
@pytest.mark.parametrize("name", ["burano", "crimson", "seattle"])
def test_keeps_the_texture_of_real_photos_where_smooth_fillings_lose_it(assets: Path, name: str) -> None:
    truth = video.read_frames(assets / "photos" / "scenery-cc0-hhoppe" / f"{name}_512.png")[:, 200:456, 128:384]
    hole = patches(height=256, width=256, side=32, share=0.4, seed=1)
    ours, smooth = (inpaint(method, corrupted(truth, hole), hole) for method in (Exemplar(), Telea()))
    inner = cv2.erode(hole[0].astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    detail = [np.abs(cv2.Laplacian(one[0], cv2.CV_64F))[inner].mean() for one in (truth, ours, smooth)]
    assert detail[1] > 0.4 * detail[0]
    assert detail[1] > 2 * detail[2]
