from __future__ import annotations

import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from inpaintbench import storage
from inpaintbench.compute import Compute, Device, Shared, as_stored

FRAMES = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
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


def stored(folder: Path, made: Counted, frames: np.ndarray = FRAMES, key: str = "key", **compute: Any) -> np.ndarray:
    return Shared(folder=folder, compute=Compute(**compute)).stored(frames, key, made)


def test_stored_arrays_outlive_their_item(tmp_path: Path) -> None:
    made = Counted()
    again = Shared(folder=tmp_path)
    found = [
        stored(tmp_path, made),
        stored(tmp_path, made, FRAMES.copy()),
        *(again.stored(FRAMES, "key", made) for _ in range(2)),
    ]
    assert [one.dtype for one in found] == [np.float32] * 4
    np.testing.assert_array_equal(found, [ARRAY] * 4)
    assert found[2] is found[3]
    assert made.calls == 1
    assert len(list(tmp_path.rglob("*.npy"))) == 1


def test_other_frames_another_key_or_way_to_compute_is_another_array(tmp_path: Path) -> None:
    made, other = Counted(), FRAMES.copy()
    other[-1, -1, -1, -1] += 1
    ways: list[dict[str, Any]] = [
        {}, {"frames": other}, {"frames": FRAMES.reshape(1, 4, 2, 3)}, {"key": "other key"}, {"precision": "bf16"},
        {"random_weights": 0}, {"random_weights": 1},
    ]  # fmt: skip
    for _ in range(2):
        assert [stored(tmp_path, made, **way)[0, 0] for way in ways] == list(range(len(ways)))
    assert stored(tmp_path, made, device="cpu", batch_bytes=1)[0, 0] == 0


@pytest.mark.parametrize("kept", [0, 5, 60, 130, -1])
def test_a_torn_file_is_made_anew(tmp_path: Path, kept: int) -> None:
    made = Counted()
    stored(tmp_path, made)
    [path] = tmp_path.rglob("*.npy")
    path.write_bytes(path.read_bytes()[:kept])
    assert [stored(tmp_path, made)[0, 0] for _ in range(2)] == [1, 1]
    assert made.calls == 2


def test_another_thing_in_its_place_is_made_anew_and_never_unpickled(tmp_path: Path) -> None:
    made = Counted()
    stored(tmp_path, made)
    [path] = tmp_path.rglob("*.npy")
    np.save(path, np.array([{"code": "in a pickle"}], dtype=object), allow_pickle=True)
    assert stored(tmp_path, made)[0, 0] == 1
    path.write_bytes(b"PK\x03\x04 looks like an archive")
    assert stored(tmp_path, made)[0, 0] == 2
    path.write_bytes(as_stored(np.full((1, 2), np.nan, np.float32)))
    assert stored(tmp_path, made)[0, 0] == 3


def test_what_cannot_be_stored_is_made_all_the_same(tmp_path: Path) -> None:
    made, blocked = Counted(), tmp_path / "a file"
    blocked.touch()
    assert [stored(blocked, made)[0, 0] for _ in range(2)] == [0, 1]
    shared = Shared()
    assert shared.stored(FRAMES, "key", made) is shared.stored(FRAMES, "key", made)
    assert made.calls == 3
    assert not list(tmp_path.rglob("*.npy"))


def test_processes_that_want_the_same_make_it_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(slowly, [tmp_path] * 4))
    assert len(list(tmp_path.glob("made *"))) == 1
    np.testing.assert_array_equal(found, [ARRAY] * 4)


def test_what_is_made_may_ask_for_more(tmp_path: Path) -> None:
    """As many keys as there could be locks, were they shared."""
    shared, made = Shared(folder=tmp_path), Counted()
    for number in range(300):
        shared.stored(FRAMES, f"outer {number}", lambda number=number: shared.stored(FRAMES, f"inner {number}", made))
    assert made.calls == 300
    assert not list(tmp_path.rglob("*.lock"))


def test_who_holds_an_array_and_who_holds_the_item_do_not_wait_for_each_other(tmp_path: Path) -> None:
    shared, inside = Shared(folder=tmp_path), threading.Event()

    def make() -> np.ndarray:
        inside.set()
        time.sleep(0.2)
        return ARRAY + np.float32(shared.once("number", lambda: 1))

    def ask() -> None:
        inside.wait()
        shared.once("other", lambda: shared.stored(FRAMES, "key", make, held=False))

    threads = [threading.Thread(target=lambda: shared.stored(FRAMES, "key", make, held=False), daemon=True)]
    threads.append(threading.Thread(target=ask, daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


def test_locks_of_killed_processes_go_and_those_that_are_held_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_added", 1 << 62)
    left, held = tmp_path / "locks" / "left.lock", tmp_path / "locks" / "held.lock"
    with storage.locked(held):
        left.touch()
        storage.make_room(tmp_path)
        assert (left.exists(), held.exists()) == (False, True)


def test_a_lock_that_was_removed_while_somebody_waited_is_taken_anew(tmp_path: Path) -> None:
    lock, order = tmp_path / "a.lock", list[str]()

    def second() -> None:
        with storage.locked(lock):
            order.append("second")
            assert lock.exists()

    waiting = threading.Thread(target=second)
    with storage.locked(lock):
        waiting.start()
        time.sleep(0.2)
        lock.unlink()
        order.append("first")
    waiting.join(20)
    assert order == ["first", "second"]


def slowly(folder: Path) -> np.ndarray:
    def make() -> np.ndarray:
        (folder / f"made {time.time_ns()}").touch()
        time.sleep(0.5)
        return ARRAY

    return stored(folder, make)  # type: ignore[arg-type]


def test_what_was_not_asked_for_the_longest_goes_when_the_folder_has_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE_SIZE", "1KB")  # four of them
    made = Counted()
    for key in "abcdefgh":
        stored(tmp_path, made, key=key)
        stored(tmp_path, made, key="a")
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.npy")) <= 1000
    before = made.calls
    stored(tmp_path, made, key="a")
    stored(tmp_path, made, key="h")
    assert made.calls == before == 8
    stored(tmp_path, made, key="b")
    assert made.calls == 9


def test_the_mark_tells_what_changes_numbers() -> None:
    assert Compute(pose="stored:x", pose_identity="12ab").mark == "+pose-12ab"
    assert Compute().mark == ""
    assert Compute(device="cuda", batch_bytes=5).mark == ""
    assert Compute(precision="tf32").mark == "+tf32"
    assert Compute(precision="bf16", random_weights=0).mark == "+bf16+random-weights-0"


def test_no_device_is_offered_that_has_no_double_precision() -> None:
    assert set(get_args(Device)) == {"auto", "cpu", "cuda"}
