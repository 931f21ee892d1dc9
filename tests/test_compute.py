from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from inpaintbench.compute import Compute, Device, Shared, as_stored

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


class Counted:
    """Gives ``ARRAY`` plus how often it was asked before."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> np.ndarray:
        self.calls += 1
        return ARRAY + np.float32(self.calls - 1)


def test_what_was_found_out_once_is_not_found_out_again() -> None:
    shared, made = Shared(), Counted()
    first = shared.once(("network", 3), made)
    assert shared.once(("network", 3), made) is first
    assert made.calls == 1
    assert shared.once(("network", 4), made) is not first
    assert Shared().once(("network", 3), made) is not first


def test_even_none_is_remembered_and_a_failure_is_not() -> None:
    shared, calls = Shared(), []
    assert shared.once("nothing", lambda: calls.append(1)) is None
    assert shared.once("nothing", lambda: calls.append(1)) is None
    assert len(calls) == 1
    with pytest.raises(ZeroDivisionError):
        shared.once("broken", lambda: 1 / 0)
    assert shared.once("broken", lambda: "mended") == "mended"


def test_views_side_by_side_make_it_once_and_what_is_made_may_ask_for_more() -> None:
    shared, calls, start = Shared(), [], threading.Barrier(4)

    def make() -> int:
        calls.append(1)
        time.sleep(0.02)
        return int(shared.once("inner", lambda: 20)) + 1

    def ask(_: int) -> int:
        start.wait()
        return int(shared.once("outer", make))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [21] * 4
    assert len(calls) == 1


def test_stored_arrays_outlive_their_item(tmp_path: Path) -> None:
    made = Counted()
    first = Shared(truth_id="truth", folder=tmp_path / "features").stored("network constants", made)
    again = Shared(truth_id="truth", folder=tmp_path / "features")
    np.testing.assert_array_equal(again.stored("network constants", made), first)
    np.testing.assert_array_equal(again.stored("network constants", made), ARRAY)
    assert made.calls == 1
    assert again.stored("network constants", made).dtype == np.float32
    assert [path.suffix for path in (tmp_path / "features").iterdir()] == [".npy"]


def test_another_truth_key_or_way_to_compute_is_another_array(tmp_path: Path) -> None:
    made = Counted()
    Shared(truth_id="truth", folder=tmp_path).stored("key", made)
    others = [
        Shared(truth_id="other", folder=tmp_path),
        Shared(truth_id="truth", folder=tmp_path, compute=Compute(precision="bf16")),
        Shared(truth_id="truth", folder=tmp_path, compute=Compute(random_weights=0)),
        Shared(truth_id="truth", folder=tmp_path, compute=Compute(random_weights=1)),
    ]
    found = [shared.stored("key", made)[0, 0] for shared in others]
    assert found == [1, 2, 3, 4]
    assert Shared(truth_id="truth", folder=tmp_path).stored("other key", made)[0, 0] == 5
    same = Shared(truth_id="truth", folder=tmp_path, compute=Compute(device="cpu", batch_bytes=1))
    assert same.stored("key", made)[0, 0] == 0


@pytest.mark.parametrize("kept", [0, 5, 60, 130, -1])
def test_a_torn_file_is_made_anew(tmp_path: Path, kept: int) -> None:
    made = Counted()
    Shared(truth_id="truth", folder=tmp_path).stored("key", made)
    [path] = tmp_path.glob("*.npy")
    path.write_bytes(path.read_bytes()[:kept])
    assert Shared(truth_id="truth", folder=tmp_path).stored("key", made)[0, 0] == 1
    assert Shared(truth_id="truth", folder=tmp_path).stored("key", made)[0, 0] == 1
    assert made.calls == 2


def test_another_thing_in_its_place_is_made_anew_and_never_unpickled(tmp_path: Path) -> None:
    made = Counted()
    Shared(truth_id="truth", folder=tmp_path).stored("key", made)
    [path] = tmp_path.glob("*.npy")
    np.save(path, np.array([{"code": "in a pickle"}], dtype=object), allow_pickle=True)
    assert Shared(truth_id="truth", folder=tmp_path).stored("key", made)[0, 0] == 1
    path.write_bytes(b"PK\x03\x04 looks like an archive")
    assert Shared(truth_id="truth", folder=tmp_path).stored("key", made)[0, 0] == 2
    for strange in (np.full((1, 2), np.nan, np.float32), np.ones((1, 2))):
        path.write_bytes(as_stored(strange))
        assert np.isfinite(Shared(truth_id="truth", folder=tmp_path).stored("key", made)).all()
    assert made.calls == 5


@pytest.mark.parametrize("known", [{}, {"truth_id": "truth"}, {"folder": "features"}])
def test_nothing_is_stored_where_truth_or_folder_is_unknown(tmp_path: Path, known: dict[str, str]) -> None:
    given = {name: tmp_path / value if name == "folder" else value for name, value in known.items()}
    shared, made = Shared(**given), Counted()  # type: ignore[arg-type]
    assert shared.stored("key", made) is shared.stored("key", made)
    assert made.calls == 1
    assert not list(tmp_path.rglob("*.npy"))


def test_the_mark_tells_what_changes_numbers() -> None:
    assert Compute(pose="stored:x", pose_identity="12ab").mark == "+pose-12ab"
    assert Compute().mark == ""
    assert Compute(device="cuda", batch_bytes=5).mark == ""
    assert Compute(precision="tf32").mark == "+tf32"
    assert Compute(precision="bf16", random_weights=0).mark == "+bf16+random-weights-0"


def test_no_device_is_offered_that_has_no_double_precision() -> None:
    assert set(get_args(Device)) == {"auto", "cpu", "cuda"}
